// Command apidiff compares the OpenAPI document of the API with the last released one, and fails if a client of the release could break,
// or if the version of the document does not say what has changed. docs/users/api-versions.md has the rules.
//
//	apidiff RELEASED CURRENT          compare two documents
//	apidiff -keep RELEASED CURRENT    write the current document, without its prose, as the released one
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
)

// additions are changes that oasdiff counts as breaks, but that clients must accept.
var additions = map[string]checker.Level{
	checker.ResponsePropertyEnumValueAddedId: checker.INFO, // closed sets of values may grow
	checker.ResponsePropertyOneOfAddedId:     checker.INFO, // so may the events whose payloads the log of webhooks has
}

func main() {
	keep := flag.Bool("keep", false, "write the current document as the released one")
	flag.Parse()
	err := errors.New("usage: apidiff [-keep] RELEASED CURRENT")
	switch {
	case flag.NArg() != 2:
	case *keep:
		err = release(flag.Arg(0), flag.Arg(1))
	default:
		err = compareFiles(flag.Arg(0), flag.Arg(1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apidiff:", err)
		os.Exit(1)
	}
}

func compareFiles(released, current string) error {
	before, err := os.ReadFile(released)
	if err != nil {
		return err
	}
	after, err := os.ReadFile(current)
	if err != nil {
		return err
	}
	return compare(before, after)
}

// compare returns an error that lists the breaks, or names the version that the current document needs.
func compare(released, current []byte) error {
	before, err := parseDocument("released", released)
	if err != nil {
		return err
	}
	after, err := parseDocument("current", current)
	if err != nil {
		return err
	}
	changes, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), before, after)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	all := checker.CheckBackwardCompatibilityUntilLevel(checker.NewConfig(checker.GetAllChecks(), checker.WithSeverityLevels(additions)),
		changes, sources, checker.INFO)
	var breaks []string
	added := 0
	for _, c := range all {
		switch {
		case c.GetSection() == "info": // about the version, which is judged below
		case c.GetLevel() >= checker.WARN:
			breaks = append(breaks, fmt.Sprintf("%s %s: %s (%s)", c.GetOperation(), c.GetPath(),
				c.GetUncolorizedText(checker.NewDefaultLocalizer()), c.GetId()))
		default:
			added++
		}
	}
	return judge(before.Spec.Info.Version, after.Spec.Info.Version, breaks, added)
}

// judge compares versions with what has changed.
func judge(released, current string, breaks []string, added int) error {
	was, err := parse(released)
	if err != nil {
		return err
	}
	is, err := parse(current)
	if err != nil {
		return err
	}
	slices.Sort(breaks)
	switch {
	case is.compare(was) < 0:
		return fmt.Errorf("the version went back from %s to %s", released, current)
	case len(breaks) > 0 && is.major == was.major:
		return fmt.Errorf("clients of %s can break:\n  %s\nKeep the old form beside the new one, and deprecate it. docs/users/api-versions.md "+
			"says how", released, strings.Join(breaks, "\n  "))
	case added > 0 && is.compare(version{was.major, was.minor + 1, 0}) < 0:
		return fmt.Errorf("the document has %d additions since %s; set documentVersion to %d.%d.0", added, released, was.major, was.minor+1)
	}
	return nil
}

type version struct{ major, minor, patch int }

func parse(text string) (v version, err error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return v, fmt.Errorf("the version %q is not semantic", text)
	}
	for i, to := range []*int{&v.major, &v.minor, &v.patch} {
		if *to, err = strconv.Atoi(parts[i]); err != nil {
			return v, fmt.Errorf("the version %q is not semantic", text)
		}
	}
	return v, nil
}

func (v version) compare(o version) int {
	return cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor), cmp.Compare(v.patch, o.patch))
}

// parseDocument reads a document. Both are reduced in the same way, so that prose is no change.
func parseDocument(name string, text []byte) (*load.SpecInfo, error) {
	reduced, err := reduce(text)
	if err != nil {
		return nil, fmt.Errorf("%s document: %w", name, err)
	}
	info, err := load.NewSpecInfoFromData(openapi3.NewLoader(), reduced, name+".json")
	if err != nil {
		return nil, fmt.Errorf("%s document: %w", name, err)
	}
	return info, nil
}

func release(released, current string) error {
	text, err := os.ReadFile(current)
	if err != nil {
		return err
	}
	if text, err = reduce(text); err != nil {
		return err
	}
	return os.WriteFile(released, text, 0o644)
}

// reduce removes prose and the build from a document, and writes each path and each schema in one line.
func reduce(text []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if info, ok := doc["info"].(map[string]any); ok {
		doc["info"] = map[string]any{"title": info["title"], "version": info["version"]}
	}
	delete(doc, "servers")
	delete(doc, "tags")
	stripProse(doc, false)
	var b bytes.Buffer
	if err := writeLines(&b, doc, 2); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// stripProse removes what only people read. named says that the members of v have names that the API chooses, such as properties.
func stripProse(v any, named bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if !named {
				switch key {
				case "example", "examples":
					delete(v, key)
					continue
				case "description", "summary":
					if _, text := value.(string); text {
						delete(v, key)
						continue
					}
				}
			}
			stripProse(value, !named && slices.Contains(nameMaps, key))
		}
	case []any:
		for _, one := range v {
			stripProse(one, false)
		}
	}
}

// nameMaps are the members of a document whose own members have chosen names.
var nameMaps = []string{"properties", "paths", "webhooks", "schemas", "responses", "headers", "content", "securitySchemes", "$defs"}

// writeLines writes an object with a line for each member, to a depth.
func writeLines(b *bytes.Buffer, v any, depth int) error {
	object, ok := v.(map[string]any)
	if !ok || depth == 0 {
		text, err := json.Marshal(v)
		b.Write(text)
		return err
	}
	b.WriteString("{")
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n%q: ", key)
		next := depth - 1
		if key == "components" {
			next++ // its schemas are one deeper
		}
		if err := writeLines(b, object[key], next); err != nil {
			return err
		}
	}
	b.WriteString("\n}")
	return nil
}

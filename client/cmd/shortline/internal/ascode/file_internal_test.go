package ascode

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client"
)

func readText(text string) (*source, error) {
	known := map[string]string{"PW": "hidden-word"}
	return readSource("links.yaml", []byte(text), &secrets{func(name string) string { return known[name] }})
}

// Every mistake is named with its place, and no message has the text of a password.
func TestFile_mistakes_are_named(t *testing.T) {
	const head = "version: 1\nlinks:\n"
	for _, c := range []struct{ text, want string }{
		{"", "links.yaml is empty"},
		{"links: []", "links.yaml:1:1: the file must begin with version: 1"},
		{"version: 2", "must begin with version: 1"},
		{"version: 1\nlinks: 5", "links.yaml:2:8: links must be a list"},
		{"version: 1\n---\nversion: 1", "more than one document"},
		{"version: 1\nowner: Big Team", "links.yaml:2:8: owner must be"},
		{"version: 1\nlinx: []", `links.yaml:2:1: the file has no "linx" (did you mean links?)`},
		{head + "  - {slug: a, destination: b, tilte: c}", `links.yaml:3:31: a link has no "tilte" (did you mean title?)`},
		{head + "  - {slug: a, slug: b, destination: c}", `links.yaml:3:15: "slug" stands here twice; the first is in line 3`},
		{head + "  - {destination: b}", "links.yaml:3:5: a link needs a slug or an externalId"},
		{head + "  - {slug: a}", "links.yaml:3:5: a link needs a destination"},
		{head + "  - text", "links.yaml:3:5: a link must be a mapping"},
		{head + "  - {slug: a, destination: b, maxClicks: many}", "links.yaml:3:42: maxClicks must be a whole number"},
		{head + "  - {slug: a, destination: b, active: 'no'}", "active must be true or false"},
		{head + "  - {slug: a, destination: b, expiresAt: tomorrow}", "expiresAt must be a time such as"},
		{head + "  - {slug: a, destination: b, password: hidden-word}", "links.yaml:3:41: a password does not belong in a file"},
		{head + "  - {slug: a, destination: b, password: {env: NONE}}", "the environment has no NONE"},
		{head + "  - {slug: a, destination: b, password: {file: /does/not/exist}}", "/does/not/exist: no such file"},
		{head + "  - {slug: a, destination: b, tags: ['managed-by:x']}", "tags that begin with managed-by: are for owners"},
		{head + "  - {slug: a, destination: b, rules: [{name: r}]}", "a rule needs name, destination and when"},
		{head + "  - {slug: a, destination: b, rules: [{name: r, destination: c, when: {contry: DE}}]}", "(did you mean country?)"},
		{head + "  - {slug: a, destination: b, rules: [{name: r, destination: c, when: {country: {is: DE}}}]}", `country has no "is"`},
		{head + "  - {slug: a, destination: b, rules: [{name: r, destination: c, when: {day_of_week: [someday]}}]}", "a day must be one of mon"},
		{head + "  - {slug: a, destination: b, variants: [{name: r}]}", "a variant needs name and destination"},
		{"version: 1\nlinks: [\n", "links.yaml: "},
		{"version: 1\nlinks: &a [*a]", "links.yaml"},
	} {
		_, err := readText(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden-word") {
			t.Errorf("%q: %v instead of %s", c.text, err, c.want)
		}
	}
}

// A small file that stands for billions of values is refused quickly.
func TestFile_aliases_are_bounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nowner: x\nlinks:\n  - &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		fmt.Fprintf(&b, "  - &a%d [%s*a%d]\n", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	if _, err := readText(b.String()); err == nil || !strings.Contains(err.Error(), "the file stands for more than") {
		t.Errorf("%v", err)
	}
	deep := "version: 1\nlinks: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if _, err := readText(deep); err == nil || !strings.Contains(err.Error(), "levels") {
		t.Errorf("%v", err)
	}
}

func TestFile_anchors_and_merge_keys(t *testing.T) {
	s, err := readText(`version: 1
links:
  - &first {slug: one, destination: https://example.com/, tags: &tags [a, b], title: One}
  - {<<: *first, slug: two, tags: *tags}
`)
	if err != nil {
		t.Fatal(err)
	}
	if one := s.links[1]; one.item["title"] != "One" || one.item["customSlug"] != "two" || !slices.Equal(one.item["tags"].([]string), []string{"a", "b"}) {
		t.Errorf("%v", one.item)
	}
}

// A stamp depends on what the file says of a link, and not on the text of a password.
func TestStamp_is_of_the_file_without_secrets(t *testing.T) {
	one := func(text string) (*entry, string) {
		s, err := readText("version: 1\nowner: o\nlinks:\n  - " + text)
		if err != nil {
			t.Fatal(err)
		}
		stamp, err := s.links[0].stamp()
		if err != nil {
			t.Fatal(err)
		}
		return s.links[0], stamp
	}
	e, plain := one("{slug: a, destination: b}")
	if _, same := one("destination: b # a comment\n    slug: a\n    title: null"); same != plain {
		t.Error("the same link has another stamp")
	}
	if _, other := one("{slug: a, destination: b, title: c}"); other == plain {
		t.Error("another link has the same stamp")
	}
	if _, secret := one("{slug: a, destination: b, password: {env: PW}}"); secret == plain {
		t.Error("a link with a password has the same stamp")
	}
	item, err := e.labelled("o")
	if err != nil {
		t.Fatal(err)
	}
	if own, stamp := splitNotes(item["notes"].(string)); own != "" || stamp != plain {
		t.Errorf("%q %q", own, stamp)
	}
	if own, stamp := splitNotes("Call Ann.\n" + item["notes"].(string)); own != "Call Ann." || stamp != plain {
		t.Errorf("%q %q", own, stamp)
	}
}

// Conditions keep their meaning in the readable form, also those that have none.
func TestConditions_are_lossless(t *testing.T) {
	for _, text := range []string{
		`{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`,
		`{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE","007"]},{"type":"country","operator":"not_equals","value":"yes"}]}`,
		`{"operator":"OR","conditions":[{"type":"day_of_week","operator":"in","value":[1,7]},{"type":"day_of_week","operator":"equals","value":3}]}`,
		`{"operator":"AND","conditions":[{"type":"day_of_week","operator":"not_in","value":{"days":[1],"timezone":"Europe/Berlin"}}]}`,
		`{"operator":"AND","conditions":[{"type":"day_of_week","operator":"in","value":[9]}]}`,
		`{"operator":"AND","conditions":[{"type":"percentage","operator":"less_than","value":12.5}]}`,
		`{"operator":"AND","conditions":[{"type":"query","operator":"contains","value":{"name":"a","value":"1e3"}}]}`,
		`{"operator":"AND","conditions":[{"type":"query","operator":"in","value":{"name":"a","value":["x","null"]}}]}`,
		`{"operator":"AND","conditions":[{"type":"time","operator":"between","value":{"start":"09:00","end":"18:00"}}]}`,
		`{"operator":"AND","conditions":[{"type":"date","operator":"after","value":"2026-12-24"}]}`,
		`{"logicalOperator":"AND","items":[{"type":"country","operator":"equals","value":"DE"}]}`,
		`{"operator":"and","conditions":[{"type":"country","operator":"EQUALS","value":"DE"}]}`,
		`{"operator":"AND","conditions":[{"operator":"OR","conditions":[{"type":"os","operator":"equals","value":"iOS"}]},{"type":"os","operator":"equals","value":"x"}]}`,
		`{"operator":"AND","conditions":[{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}]}`,
		`{"operator":"AND","conditions":[{"type":"new_kind","operator":"new_operator","value":{"a":[1,{"b":null}]}}]}`,
		`{"operator":"AND","conditions":[]}`,
	} {
		var group client.ConditionGroup
		if err := json.Unmarshal([]byte(text), &group); err != nil {
			t.Fatal(err)
		}
		v, err := readable(group)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		written, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var n yaml.Node
		if err := yaml.Unmarshal(written, &n); err != nil {
			t.Fatal(err)
		}
		r := &reader{}
		back, err := json.Marshal(r.when(n.Content[0]))
		if err != nil || len(r.problems) > 0 || !sameJSON([]byte(text), back) {
			t.Errorf("%s\nas\n%s\nis %s: %v %v", text, written, back, err, r.problems)
		}
	}
}

// Batches keep the limits of the server.
func TestBatches_keep_limits(t *testing.T) {
	secret, long := map[string]any{"password": "secret"}, map[string]any{"notes": strings.Repeat("x", 2000)}
	wide := map[string]any{"rules": make([]int, 200)}
	for _, c := range []struct {
		item map[string]any
		n    int
		want []int
	}{
		{map[string]any{}, 2500, []int{1000, 1000, 500}}, {secret, 65, []int{30, 30, 5}}, {long, 1100, []int{1000, 100}},
		{wide, 300, []int{237, 63}},
	} {
		items := make([]map[string]any, c.n)
		for i := range items {
			items[i] = c.item
		}
		list, err := batches(items)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		next := 0
		for _, b := range list {
			if b.first != next {
				t.Errorf("a batch begins at %d instead of %d", b.first, next)
			}
			next += len(b.items)
			sizes = append(sizes, len(b.items))
		}
		if !slices.Equal(sizes, c.want) {
			t.Errorf("%v instead of %v", sizes, c.want)
		}
	}
}

// The schema has the keys that files may have. docs/public/schemas/links.json is its published copy.
func TestSchema_has_all_keys(t *testing.T) {
	text, err := os.ReadFile("links.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]object `json:"properties"`
		Defs       map[string]object `json:"$defs"`
	}
	var schema object
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	link := schema.Defs["link"].Properties
	for what, c := range map[string]struct {
		got  map[string]object
		want []string
	}{
		"file": {schema.Properties, fileKeys}, "link": {link, keysOf(plainFields, otherKeys...)},
		"utm": {link["utm"].Properties, keysOf(utmFields)}, "preview": {link["preview"].Properties, keysOf(previewFields)},
		"conditions": {schema.Defs["readable"].Properties, append([]string{"all", "any"}, kinds...)},
		"comparison": {schema.Defs["comparison"].Properties, operators},
	} {
		if got := slices.Sorted(maps.Keys(c.got)); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%s: the schema has %v, and the program %v", what, got, c.want)
		}
	}
}

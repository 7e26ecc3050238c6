// Command licences writes what the programs are made of and under which licences to docs/licences.md, and fails
// when one of those is not on its list. With -check it only compares.
//
// It looks at the packages that are linked into programs on Linux, at the licence files in their folders and those
// above up to the module's, and recognises a licence by its own sentences. What is in a module beside Go packages
// and what we keep copies of stands in a list of its own here.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// programs are folders of modules, each with the package that is shipped and the name it is known by.
var programs = []struct{ name, dir, pkg string }{
	{"edge", "edge", "./cmd/edge"},
	{"control", "control", "./cmd/control"},
	{"standalone", "control/cmd/standalone", "."},
}

// sentences tell one licence from all others, in lower case and with single spaces. The first that is found wins
// among those of one family, so the longer texts come first. What is not here is not allowed.
var sentences = []struct{ licence, text string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"ISC", "distribute this software for any purpose with or without fee is hereby granted, provided that"},
	{"0BSD", "distribute this software for any purpose with or without fee is hereby granted. the software"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"BSD-3-Clause", "neither the name"},
	{"BSD-3-Clause", "the names of its contributors may not be used"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms, with or without modification, are permitted provided"},
	{"public domain", "has been dedicated to the public domain"},
}

// refused are sentences of licences that ask for more than a notice.
var refused = regexp.MustCompile(`gnu (lesser |affero |library )?general public license|server side public license|business source license|commons clause|elastic license|polyform`)

// pictures are licence files of logos, which no program contains.
var pictures = regexp.MustCompile(`(?i)-logo$`)

// others are what a program contains that no package has a licence file for.
var others = []struct{ name, licence, where string }{
	{"Go's runtime and standard library", "BSD-3-Clause", "all"},
	{"DuckDB, linked in by its Go module", "MIT", "standalone"},
	{"SQLite, within modernc.org/sqlite", "public domain", "control, standalone"},
	{"libwebp, within github.com/chai2010/webp", "BSD-3-Clause", "control, standalone"},
	{"crawler-user-agents (shared/visitor/crawlers.tsv)", "MIT", "all"},
	{"swagger-ui-dist (control/internal/api/docs)", "Apache-2.0", "control, standalone"},
	{"DB-IP city database; not in any program, fetched by `make geo`", "CC-BY-4.0: name DB-IP where it is used", "-"},
}

type module struct {
	Path, Version, Dir string
	Replace            *module
}

// part is a module in use.
type part struct {
	module
	licences []string
	used     []string
}

func main() {
	root := flag.String("root", "../..", "the repository's `folder`")
	check := flag.Bool("check", false, "compare docs/licences.md with what it should be")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	parts := map[string]*part{}
	var problems []error
	for _, p := range programs {
		if err := collect(parts, p.name, filepath.Join(root, p.dir), p.pkg); err != nil {
			return err
		}
	}
	var names []string
	for path, p := range parts {
		names = append(names, path)
		slices.Sort(p.licences)
		if len(p.licences) == 0 {
			problems = append(problems, fmt.Errorf("%s %s: no licence file that is known and allowed, in %s", p.Path, p.Version, p.Dir))
		}
		for _, l := range p.licences {
			if strings.HasPrefix(l, "?") {
				problems = append(problems, fmt.Errorf("%s %s: %s is of no licence that is known and allowed", p.Path, p.Version, l[1:]))
			}
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	slices.Sort(names)
	page := filepath.Join(root, "docs", "licences.md")
	text := render(names, parts)
	if !check {
		return os.WriteFile(page, text, 0o644)
	}
	if is, err := os.ReadFile(page); err != nil || !bytes.Equal(is, text) {
		return fmt.Errorf("docs/licences.md is not up to date: cd .ci/tools && GOWORK=off go run ./licences (%v)", err)
	}
	return nil
}

// collect adds the modules that a program is made of. Packages of the standard library have none.
func collect(parts map[string]*part, program, dir, pkg string) error {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", pkg)
	list.Dir, list.Stderr = dir, os.Stderr
	list.Env = append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=-mod=readonly -buildvcs=false")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list in %s: %w", dir, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var found struct {
			Dir    string
			Module *module
		}
		if err := d.Decode(&found); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		m := found.Module
		if m == nil || strings.HasPrefix(m.Path, "github.com/shortline/shortline/") {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		p := parts[m.Path]
		if p == nil {
			p = &part{module: *m}
			parts[m.Path] = p
		}
		if !slices.Contains(p.used, program) {
			p.used = append(p.used, program)
		}
		for at := found.Dir; strings.HasPrefix(at, m.Dir); at = filepath.Dir(at) {
			p.read(at)
		}
	}
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-._].*)?$`)

// read recognises the licence files of one folder.
func (p *part) read(dir string) {
	entries, _ := os.ReadDir(dir) // of a package that go list has just read
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || pictures.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		found := recognise(string(b))
		if err != nil || len(found) == 0 {
			rel, _ := filepath.Rel(p.Dir, filepath.Join(dir, e.Name()))
			found = []string{"?" + rel}
		}
		for _, l := range found {
			if !slices.Contains(p.licences, l) {
				p.licences = append(p.licences, l)
			}
		}
	}
}

var notLetters = regexp.MustCompile(`[\s*#/;]+`)

// recognise names the licences of a text, none if there is one that is refused or none that is known.
func recognise(text string) (found []string) {
	text = notLetters.ReplaceAllString(strings.ToLower(text), " ")
	if !strings.Contains(text, "mozilla public license") && refused.MatchString(text) { // MPL names the GPL as a possible second one
		return nil
	}
	for _, s := range sentences {
		bsd := strings.HasPrefix(s.licence, "BSD")
		if strings.Contains(text, strings.ReplaceAll(s.text, "/", " ")) && !slices.Contains(found, s.licence) &&
			!(bsd && slices.ContainsFunc(found, func(l string) bool { return strings.HasPrefix(l, "BSD") })) &&
			!(s.text == "neither the name" && !strings.Contains(text, "redistribution and use in source")) {
			found = append(found, s.licence)
		}
	}
	return found
}

func render(names []string, parts map[string]*part) []byte {
	var b bytes.Buffer
	b.WriteString("# Licences\n\nWhat the programs contain, for Linux, and its licences. Written by `.ci/tools/licences`, which refuses a licence that\nasks for more than a notice, or (MPL) for the source of files that we would have changed; `make check` compares. Shortline itself is under Apache-2.0.\n\n")
	b.WriteString("| module | version | licence | in |\n|---|---|---|---|\n")
	for _, name := range names {
		p := parts[name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Path, p.Version, strings.Join(p.licences, ", "), strings.Join(p.used, ", "))
	}
	b.WriteString("\nAlso:\n\n| what | licence | in |\n|---|---|---|\n")
	for _, o := range others {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", o.name, o.licence, o.where)
	}
	return b.Bytes()
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sentences identify licences, in lower case and with single spaces. The first match in a family wins, so longer texts
// come first. Licences that are not listed are not allowed.
var sentences = []struct{ licence, text string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"ISC", "distribute this software for any purpose with or without fee is hereby granted, provided that"},
	{"0BSD", "distribute this software for any purpose with or without fee is hereby granted. the software"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"CC0-1.0", "released into the public domain with cc0 1.0"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"BSD-3-Clause", "neither the name"},
	{"BSD-3-Clause", "the names of its contributors may not be used"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms, with or without modification, are permitted provided"},
	{"public domain", "has been dedicated to the public domain"},
	{"CC0-1.0", "cc0 1.0 universal"}, // every right is waived, as far as the law permits
}

// refused are sentences of licences that ask for more than a notice.
var refused = regexp.MustCompile(
	`gnu (lesser |affero |library )?general public license|server side public license|business source license|commons clause|elastic ` +
		`license|polyform`)

// pictures are licence files of logos, which no program contains.
var pictures = regexp.MustCompile(`(?i)-logo$`)

type module struct {
	Path, Version, Dir string
	Replace            *module
}

// part is a linked module.
type part struct {
	module
	licences []string
	used     []string
	files    map[string]string // what must go with it, by path within the module
}

// collect lists the modules of a program in the order of their paths. The standard library belongs to no module. A
// module without a known and allowed licence is an error.
func collect(program, dir, pkg, goos, goarch string) ([]*part, error) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", pkg)
	list.Dir, list.Stderr = dir, os.Stderr
	list.Env = append(os.Environ(), "GOWORK=off", "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=1", "GOFLAGS=-mod=readonly -buildvcs=false")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	parts := map[string]*part{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var found struct {
			Dir    string
			Module *module
		}
		if err := d.Decode(&found); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
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
			p = &part{module: *m, used: []string{program}, files: map[string]string{}}
			parts[m.Path] = p
		}
		for at := found.Dir; strings.HasPrefix(at, m.Dir); at = filepath.Dir(at) {
			if err := p.read(at); err != nil {
				return nil, err
			}
		}
	}
	var inOrder []*part
	var problems []error
	for _, path := range sorted(parts) {
		p := parts[path]
		inOrder = append(inOrder, p)
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
	return inOrder, errors.Join(problems...)
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-._].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notices?|patents|copyright)([-._].*)?$`)
)

// read reads the licence files and notices of one folder and recognises the licences.
func (p *part) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		licence := licenceFile.MatchString(e.Name())
		if e.IsDir() || !licence && !noticeFile.MatchString(e.Name()) || pictures.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		rel, err := filepath.Rel(p.Dir, filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if _, seen := p.files[rel]; seen {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		p.files[rel] = string(b)
		if !licence {
			continue
		}
		found := recognise(string(b))
		if len(found) == 0 {
			found = []string{"?" + rel}
		}
		for _, l := range found {
			if !slices.Contains(p.licences, l) {
				p.licences = append(p.licences, l)
			}
		}
	}
	return nil
}

var notLetters = regexp.MustCompile(`[\s*#/;>]+`)

// recognise returns the licences of a text. It returns none if the text contains a refused licence or no known one.
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

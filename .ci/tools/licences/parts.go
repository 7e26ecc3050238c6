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

	"github.com/google/licensecheck"
)

// allowed are the licences that ask for no more than a notice, or (MPL) for the source of changed files, by their SPDX names.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense"}

// named are files without the text of a known licence, by module and path, with what they say.
var named = map[string]string{"modernc.org/sqlite LICENSE-SQLITE": "public domain"}

// leastKnown is the share of a licence file, in per cent, that must be text of known licences. The rest are names and notices.
const leastKnown = 50

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
		found := p.recognise(rel, string(b))
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

// recognise returns the licences of a file. It returns none if one of them is not allowed, or if too much of the text is of no
// known licence.
func (p *part) recognise(file, text string) (found []string) {
	if licence := named[p.Path+" "+file]; licence != "" {
		return []string{licence}
	}
	c := licensecheck.Scan([]byte(text))
	for _, m := range c.Match {
		if c.Percent < leastKnown || !slices.Contains(allowed, m.ID) {
			return nil
		}
		if !slices.Contains(found, m.ID) {
			found = append(found, m.ID)
		}
	}
	return found
}

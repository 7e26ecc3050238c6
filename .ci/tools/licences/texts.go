package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// other is a part of a program that has no licence file in a package.
type other struct {
	name, licence string
	in            []string
	// texts are patterns of files: in the repository, after "go:" in the folder of Go itself, after "PATH:" in the folder of
	// the module of that path. {version} is that module's. Each pattern has a file, or nothing is written.
	texts []string
}

var (
	each   = []string{"edge", "control", "standalone"}
	planes = []string{"control", "standalone"}
)

const own = ".ci/tools/licences/texts/"

var others = []other{
	{"Go's runtime and standard library", "BSD-3-Clause", append([]string{"shortline"}, each...), []string{"go:LICENSE", "go:PATENTS"}},
	{"DuckDB, linked in by its Go module", "MIT", []string{"standalone"}, []string{"github.com/duckdb/duckdb-go-bindings:LICENSE"}},
	{"what DuckDB contains (brotli, fmt, ICU, mbed TLS, RE2, zstd and others)", "MIT, BSD, Apache-2.0, BSL-1.0, Unicode, zlib",
		[]string{"standalone"},
		[]string{"github.com/duckdb/duckdb-go-bindings:" + own + "duckdb-{version}.txt"}},
	{"SQLite, within modernc.org/sqlite", "public domain", planes, []string{"modernc.org/sqlite:LICENSE-SQLITE"}},
	{"libwebp, within github.com/chai2010/webp", "BSD-3-Clause", planes, []string{"github.com/chai2010/webp:internal/libwebp-*/COPYING",
		"github.com/chai2010/webp:internal/libwebp-*/PATENTS"}},
	{"Swagger UI and the packages in its bundle, within github.com/swaggest/swgui", "Apache-2.0, MIT, BSD, ISC, 0BSD", planes,
		[]string{"github.com/swaggest/swgui:LICENSE", "github.com/swaggest/swgui:" + own + "swagger-ui-{version}.txt"}},
	{"crawler-user-agents (shared/visitor/crawlers.tsv)", "MIT", each, []string{"shared/visitor/crawlers.LICENSE"}},
	{"zxcvbn's list of common passwords (control/internal/manage/accounts/commonpasswords.txt.gz)", "MIT", planes,
		[]string{"control/internal/manage/accounts/commonpasswords.LICENSE"}},
	{"GNU C library, linked in whole on Linux", "LGPL-2.1", []string{"control"}, []string{own + "lgpl-2.1.txt", own + "glibc.txt"}},
	{"DB-IP city database; not in any program, fetched by `make geo`", "CC-BY-4.0: name DB-IP where it is used", nil, nil},
}

// read returns the texts of the parts that are linked in addition to these modules.
func (o other) read(root string, linked []*part) (texts []string, err error) {
	for _, pattern := range o.texts {
		dir := root
		from, file, elsewhere := strings.Cut(pattern, ":")
		switch {
		case !elsewhere:
			file = pattern
		case from == "go":
			out, err := exec.Command("go", "env", "GOROOT").Output()
			if err != nil {
				return nil, fmt.Errorf("go env: %w", err)
			}
			dir = strings.TrimSpace(string(out))
		default:
			at := slices.IndexFunc(linked, func(p *part) bool { return p.Path == from })
			if at < 0 {
				return nil, fmt.Errorf("%s: %s is not linked in any more", o.name, from)
			}
			if dir = linked[at].Dir; strings.HasPrefix(file, own) {
				dir = root
			}
			file = strings.ReplaceAll(file, "{version}", linked[at].Version)
		}
		found, err := filepath.Glob(filepath.Join(dir, file))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s: no text %s (%v)", o.name, file, err)
		}
		for _, path := range found {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			texts = append(texts, string(b))
		}
	}
	return texts, nil
}

// shelf stores each text once.
type shelf struct {
	texts  []string
	owners [][]string
	at     map[string]int
}

var blank = regexp.MustCompile(`\s+`)

// put adds an owner's text and returns its number. Texts that differ only in white space share a number.
func (s *shelf) put(owner, text string) int {
	key := strings.TrimSpace(blank.ReplaceAllString(text, " "))
	i, known := s.at[key]
	if !known {
		i = len(s.texts)
		s.at[key] = i
		s.texts, s.owners = append(s.texts, text), append(s.owners, nil)
	}
	if !slices.Contains(s.owners[i], owner) {
		s.owners[i] = append(s.owners[i], owner)
	}
	return i + 1
}

// render returns the text that is distributed with a program: its parts, then every licence and notice once.
func render(root, program string, linked []*part) ([]byte, error) {
	s := shelf{at: map[string]int{}}
	var head, b bytes.Buffer
	entry := func(what, licence string, numbers []int) {
		slices.Sort(numbers)
		fmt.Fprintf(&head, "  %s: %s %s\n", what, licence, strings.ReplaceAll(fmt.Sprint(slices.Compact(numbers)), " ", ", "))
	}
	for _, p := range linked {
		var numbers []int
		var names []string
		for name := range p.files {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			numbers = append(numbers, s.put(p.Path+" "+p.Version, p.files[name]))
		}
		entry(p.Path+" "+p.Version, strings.Join(p.licences, ", "), numbers)
	}
	for _, o := range others {
		if !slices.Contains(o.in, program) {
			continue
		}
		texts, err := o.read(root, linked)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("%s: is in %s without a text", o.name, program)
		}
		var numbers []int
		for _, text := range texts {
			numbers = append(numbers, s.put(o.name, text))
		}
		entry(o.name, o.licence, numbers)
	}
	fmt.Fprintf(&b,
		"The program %s of Shortline is under the Apache License, Version 2.0. It contains the following, under licences whose\ntexts come "+
			"after it, by the numbers in brackets.\n\n%s", program, head.Bytes())
	for i, text := range s.texts {
		fmt.Fprintf(&b, "\n\n%s\n[%d] %s\n\n%s\n", strings.Repeat("=", 80), i+1, strings.Join(s.owners[i], "\n    "),
			strings.TrimSpace(tidy(text)))
	}
	return b.Bytes(), nil
}

var atEnd = regexp.MustCompile(`[ \t\r\f]+\n`)

// tidy removes invisible characters at the ends of lines.
func tidy(text string) string { return atEnd.ReplaceAllString(text+"\n", "\n") }

// Command width refuses lines of Go and Markdown that are wider than 140 columns. A tab counts as four, as in .editorconfig.
//
// A line of Go may be wider if a string literal reaches the border: texts of tests and tags of structs keep their form. A line of Markdown
// may be wider in a table, in a block of code, or if it cannot be divided.
package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	widest  = 140 // columns of a line
	closing = 3   // columns for what follows a literal at the end of a line, such as a plus
)

func main() {
	root := "../.."
	list := exec.Command("git", "-C", root, "ls-files", "*.go", "*.md")
	files, err := list.Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "width:", err)
		os.Exit(1)
	}
	found := false
	for name := range strings.FieldsSeq(string(files)) {
		if strings.Contains(name, "/testdata/") || strings.HasPrefix(name, "docs/benchmarks/") ||
			strings.Contains(name, "/licences/texts/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted, but not yet for git
		}
		wide := wideProse
		if filepath.Ext(name) == ".go" {
			wide = wideGo
		}
		for _, line := range wide(string(text)) {
			found = true
			fmt.Printf("%s:%d has more than %d columns\n", name, line, widest)
		}
	}
	if found {
		os.Exit(1)
	}
}

// columns returns the width of a text.
func columns(text string) int { return utf8.RuneCountInString(text) + 3*strings.Count(text, "\t") }

// wideGo returns the numbers of the lines that are too wide.
func wideGo(text string) (wide []int) {
	lines := strings.Split(text, "\n")
	crossed := map[int]bool{}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", -1, len(text)), []byte(text), nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind != token.STRING {
			continue
		}
		at := files.Position(pos)
		column := columns(lines[at.Line-1][:at.Column-1])
		for i, part := range strings.Split(literal, "\n") {
			crossed[at.Line+i] = crossed[at.Line+i] || column+columns(part) >= widest-closing
			column = 0
		}
	}
	for i, line := range lines {
		if columns(line) > widest && !crossed[i+1] {
			wide = append(wide, i+1)
		}
	}
	return wide
}

// divisible is a line of prose with a space where it could be divided.
var divisible = regexp.MustCompile(`^\s*[^\s|#<!][^|]*\S \S`)

// wideProse is wideGo for Markdown.
func wideProse(text string) (wide []int) {
	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if !code && columns(line) > widest && divisible.MatchString(line) &&
			!strings.HasPrefix(strings.TrimSpace(line), "|") {
			wide = append(wide, i+1)
		}
	}
	return wide
}

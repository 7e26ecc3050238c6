package imports

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// Limits of a file.
const (
	MaxFile     = 10 << 20 // bytes
	maxRows     = 100_000
	maxColumns  = 200
	maxHeading  = 200 // characters in the name of a column
	fileField   = "file"
	reasonTitle = "Import problem" // of the column with reasons in a file of failed rows
)

// table is a parsed file.
type table struct {
	delimiter  rune
	header     []string // as in the file
	headerLine int      // from 1
	columns    []string // names that differ
	rows       []row
}

// hasColumn reports whether the table has a column of a name without spaces and case.
func (t *table) hasColumn(name string) bool {
	return slices.ContainsFunc(t.columns, func(column string) bool { return simple(column) == name })
}

// row is a row of a file that is not blank. It may have fewer cells than the file has columns.
type row struct {
	line  int // of its first cell in the file, from 1
	cells []string
}

func (r *row) cell(column int) string {
	if column >= len(r.cells) {
		return ""
	}
	return r.cells[column]
}

func refuse(format string, args ...any) error { return problem.OfField(fileField, format, args...) }

// parse reads a CSV file with a header row. Its errors are for the caller of the API.
func parse(content []byte) (*table, error) {
	if err := checkText(content); err != nil {
		return nil, err
	}
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	t := &table{delimiter: detect(content)}
	if err := checkWidth(content, byte(t.delimiter)); err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(content))
	r.Comma, r.FieldsPerRecord = t.delimiter, -1
	for {
		cells, err := r.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return t, t.check()
		case errors.As(err, &broken) && errors.Is(err, csv.ErrQuote) && broken.Line >= broken.StartLine:
			return nil, refuse("has a quotation mark that is not closed, or not doubled inside a quoted cell, in the row of line %d",
				broken.StartLine)
		case errors.As(err, &broken):
			return nil, refuse("is not valid CSV in line %d: a quotation mark must enclose the whole cell", broken.Line)
		case err != nil:
			return nil, fmt.Errorf("read CSV: %w", err)
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue
		}
		if t.header == nil {
			if err := t.head(cells); err != nil {
				return nil, err
			}
			t.headerLine, _ = r.FieldPos(0)
			continue
		}
		if len(t.rows) == maxRows {
			return nil, refuse("has more than %d rows; split it", maxRows)
		}
		line, _ := r.FieldPos(0)
		t.rows = append(t.rows, row{line, cells})
	}
}

// checkText refuses what is not text in UTF-8.
func checkText(content []byte) error {
	line := func(at int) int { return bytes.Count(content[:at], []byte("\n")) + 1 }
	switch at := bytes.IndexByte(content, 0); {
	case len(content) > MaxFile:
		return problem.New(problem.TooLarge, "The file is larger than %d MB.", MaxFile>>20)
	case bytes.HasPrefix(content, []byte{0xFF, 0xFE}), bytes.HasPrefix(content, []byte{0xFE, 0xFF}):
		return refuse("is in UTF-16; save it as CSV in UTF-8")
	case at >= 0:
		return refuse("has a NUL byte in line %d; it must be CSV in UTF-8", line(at))
	}
	for at := 0; at < len(content); {
		r, n := utf8.DecodeRune(content[at:])
		if r == utf8.RuneError && n == 1 {
			return refuse("is not in UTF-8 (line %d); save it as CSV in UTF-8, not in the encoding of the system, such as Latin-1",
				line(at))
		}
		at += n
	}
	return nil
}

// detect returns the delimiter that occurs most often in the first row, outside quotes.
func detect(content []byte) rune {
	counts := map[rune]int{}
	quoted := false
	for _, c := range bytes.TrimLeft(content, "\r\n") {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[rune(c)]++
		}
	}
	best := ','
	for _, c := range ";\t" {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}

// checkWidth refuses rows of many cells before they take memory.
func checkWidth(content []byte, delimiter byte) error {
	line, cells, quoted := 1, 1, false
	for _, c := range content {
		switch {
		case c == '"':
			quoted = !quoted
		case c == delimiter && !quoted:
			if cells++; cells > maxColumns {
				return refuse("has more than %d columns in line %d", maxColumns, line)
			}
		case c == '\n':
			if line++; !quoted {
				cells = 1
			}
		}
	}
	return nil
}

// head reads the header row. Names that occur twice get a number.
func (t *table) head(cells []string) error {
	t.header = cells
	seen := map[string]bool{}
	for i, title := range cells {
		name := strings.TrimSpace(title)
		if utf8.RuneCountInString(name) > maxHeading {
			return refuse("has a column whose name is longer than %d characters; the first row must name the columns", maxHeading)
		}
		if name == "" {
			name = fmt.Sprintf("Column %d", i+1)
		}
		unique := name
		for n := 2; seen[unique]; n++ {
			unique = fmt.Sprintf("%s (%d)", name, n)
		}
		seen[unique] = true
		t.columns = append(t.columns, unique)
	}
	return nil
}

// check refuses tables that cannot be imported.
func (t *table) check() error {
	switch {
	case t.header == nil:
		return refuse("is empty; the first row must name the columns")
	case len(t.rows) == 0:
		return refuse("has no rows after the one with the names of the columns")
	}
	for i, name := range t.columns {
		if !isPassword(name) {
			continue
		}
		for _, r := range t.rows {
			if !isFlag(r.cell(i)) {
				return refuse(
					"has passwords in the column %q; passwords in plain text are not imported, so remove the column and set passwords afterwards",
					problem.Clip(name))
			}
		}
	}
	return nil
}

package imports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
	"github.com/shortline/shortline/control/internal/store"
)

// Mapping holds the name of a column for each field. A field that is missing or "" is not imported.
type Mapping map[string]string

// reader turns rows into links.
type reader struct {
	mapping      Mapping
	table        *table
	used         []use
	tagSeparator string // "": it depends on the cell
	dates        dates
}

type use struct {
	field  *field
	column int
	others []int // columns whose cells count if the one of the column is blank, the best one first
}

// record is a row of a file as a link.
type record struct {
	links.Imported
	tagSeparator string
	dates        dates
	state        string // the status in the file, in upper case
	host         string // of the address in the file; "" if there is none
	slugFrom     int    // the column of the address
	// warnings say what of the row the link will not have.
	warnings []problem.Field
}

func (e *record) warn(field, format string, args ...any) {
	e.warnings = append(e.warnings, problem.Field{Field: field, Message: fmt.Sprintf(format, args...)})
}

// reader checks a mapping against a table.
func (m Mapping) reader(t *table) (*reader, error) {
	r := &reader{mapping: Mapping{}, table: t}
	if t.hasColumn("longurl") && (t.hasColumn("shortcode") || t.hasColumn("shorturl") && t.hasColumn("visits")) {
		r.tagSeparator = "|" // exports of Shlink, and files for its import
	}
	var v problem.Fields
	for _, name := range slices.Sorted(maps.Keys(m)) {
		path := "mapping." + name
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		column := slices.Index(t.columns, m[name])
		switch {
		case name == "password":
			v.Add(path, "cannot be imported: passwords in plain text are not accepted; set them afterwards")
		case at < 0:
			v.Add(path, "is not a field that can be imported; the fields are %s", strings.Join(Fields(), ", "))
		case m[name] == "":
		case column < 0:
			v.Add(path, "names the column %q, which the file does not have", problem.Clip(m[name]))
		default:
			r.mapping[name] = m[name]
			r.used = append(r.used, use{field: &fields[at], column: column})
		}
	}
	if r.mapping[originalURL] == "" && len(v) == 0 {
		v.Add("mapping."+originalURL, "is required: name the column with the destinations")
	}
	for i := range r.used {
		if u := &r.used[i]; u.field.name == slugField && slices.Contains(customAddresses, simple(t.columns[u.column])) {
			u.others = r.addresses()
		}
	}
	return r, v.Err()
}

// addresses returns the columns with the addresses that a service made, unless they fill another field.
func (r *reader) addresses() (columns []int) {
	for _, alias := range madeAddresses {
		for i, name := range r.table.columns {
			if simple(name) == alias && !r.uses(i) {
				columns = append(columns, i)
			}
		}
	}
	return columns
}

// uses reports whether a column fills a field.
func (r *reader) uses(column int) bool {
	return slices.ContainsFunc(r.used, func(u use) bool { return u.column == column })
}

// cell returns the cell of a row that fills the field, without the space around it, and its column.
func (u *use) cell(from *row) (text string, column int) {
	for _, column := range append([]int{u.column}, u.others...) {
		text = strings.TrimSpace(spreadsheet.Plain(from.cell(column)))
		if u.field.name == slugField && isBlankSlug(text) {
			text = ""
		}
		if text != "" {
			return text, column
		}
	}
	return "", u.column
}

// readRow returns the link of a row, and what is wrong with the form of its cells.
func (r *reader) readRow(from *row) (out record, problems []problem.Field) {
	out.Texts, out.tagSeparator, out.dates = map[string]string{}, r.tagSeparator, r.dates
	for i := range r.used {
		u := &r.used[i]
		cell, column := u.cell(from)
		if cell == "" {
			continue
		}
		if u.field.name == slugField {
			out.slugFrom = column
		}
		if wrong := u.field.set(cell, &out); wrong != "" {
			problems = append(problems, problem.Field{Field: u.field.name, Message: wrong})
		}
	}
	if field, wrong := out.checkState(); wrong != "" {
		problems = append(problems, problem.Field{Field: field, Message: wrong})
	}
	for _, c := range from.cells[min(len(r.table.columns), len(from.cells)):] {
		if strings.TrimSpace(c) != "" {
			problems = append(problems,
				problem.Field{
					Message: "has more cells than the file has columns; a cell that contains the delimiter needs quotation marks"})
			break
		}
	}
	return out, problems
}

// problemsOf turns the problems of a row into those of an import, with the columns and the cells.
func (r *reader) problemsOf(from *row, problems []problem.Field) []store.ImportProblem {
	list := make([]store.ImportProblem, len(problems))
	for i, p := range problems {
		name, _, _ := strings.Cut(p.Field, ".") // tags.0
		if name == "customSlug" {
			name = slugField
		}
		list[i] = store.ImportProblem{Line: from.line, Part: i + 1, Field: name, Message: p.Message}
		for n := range r.used {
			if u := &r.used[n]; u.field.name == name {
				_, column := u.cell(from)
				list[i].Column, list[i].Value = r.table.columns[column], problem.Clip(from.cell(column))
			}
		}
	}
	return list
}

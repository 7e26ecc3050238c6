package imports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// shownHosts limits the hosts of addresses that warnings name.
const shownHosts = 20

// losses collects what an import would lose, without an error in a row.
type losses struct {
	reader    *reader
	how       links.Conflicts
	own       string // host name of BASE_URL
	unslugged int    // new links whose row has no slug
	fallbacks map[int]int
	hosts     map[string]int // rows by the host of an address that the link will not have
	ignored   []loss         // by column
	list      []store.ImportProblem
}

// loss is the content of a column that fills no field.
type loss struct {
	rows  int
	first string
}

func newLosses(r *reader, how links.Conflicts, own string) *losses {
	return &losses{
		reader: r, how: how, own: own, fallbacks: map[int]int{}, hosts: map[string]int{}, ignored: make([]loss, len(r.table.columns)),
	}
}

// addRow looks at a row that was planned.
func (l *losses) addRow(from *row, e *record, d *links.Draft) {
	isNew := d.Outcome == links.RowCreates || d.Outcome == links.RowRenames
	if !isNew && d.Outcome != links.RowUpdates {
		return
	}
	if isNew && e.CustomSlug == "" {
		l.unslugged++
	}
	custom := slices.IndexFunc(l.reader.used, func(u use) bool { return u.field.name == slugField && len(u.others) > 0 })
	if custom >= 0 && e.CustomSlug != "" && e.slugFrom != l.reader.used[custom].column {
		l.fallbacks[e.slugFrom]++
	}
	host := d.Hostname()
	if host == "" {
		host = l.own
	}
	if e.host != "" && !strings.EqualFold(e.host, host) {
		l.hosts[e.host]++
	}
	for i, name := range l.reader.table.columns {
		cell := from.cell(i)
		if l.reader.uses(i) || e.CustomSlug != "" && e.slugFrom == i || !hasContent(cell) || !isNew && isPasswordFlag(name) {
			continue
		}
		if l.ignored[i].rows++; l.ignored[i].first == "" {
			l.ignored[i].first = problem.Clip(cell)
		}
	}
	for _, w := range e.warnings {
		if isNew || w.Field != "status" { // a link that exists keeps its count of clicks
			l.list = append(l.list, l.reader.problemsOf(from, []problem.Field{w})...)
		}
	}
	l.list = l.list[:min(len(l.list), shownProblems)]
}

// hasContent reports whether a cell of a column that is left out says something.
func hasContent(cell string) bool {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "", "0", "false", "no", "null", "[]", "{}":
		return false
	}
	return true
}

// isPasswordFlag reports whether a column says which links have a password.
func isPasswordFlag(column string) bool {
	return isPassword(column) || slices.Contains([]string{"haspassword", "passwordprotected", "ispasswordprotected"}, simple(column))
}

// warnings returns what was collected: first what concerns the whole file, then the rows in their order.
func (l *losses) warnings(updates int) []store.ImportProblem {
	t, out := l.reader.table, []store.ImportProblem{}
	add := func(field, column, value, format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		out = append(out, store.ImportProblem{Line: t.headerLine, Field: field, Column: column, Value: value, Message: message})
	}
	slugs := l.reader.mapping[slugField]
	switch {
	case slugs == "" && l.unslugged > 0:
		add(slugField, "", "", "no column is mapped to the slug, so all slugs are generated, and the old addresses are lost")
	case l.unslugged > 0:
		add(slugField, slugs, "", "slugs are generated; rows without one: %d", l.unslugged)
	}
	for _, column := range slices.Sorted(maps.Keys(l.fallbacks)) {
		name := t.columns[column]
		add(slugField, name, "", "the slug comes from the column %q where %q is empty; rows: %d", name, slugs, l.fallbacks[column])
	}
	for _, host := range slices.Sorted(maps.Keys(l.hosts))[:min(len(l.hosts), shownHosts)] {
		add(slugField, slugs, host, "addresses on %q become links on another domain, only the slug is kept; rows: %d",
			host, l.hosts[host])
	}
	if more := len(l.hosts) - shownHosts; more > 0 {
		add(slugField, slugs, "", "other hosts whose addresses become links on another domain: %d", more)
	}
	if l.reader.mapping[createdAt] != "" && l.how == links.Overwrite && updates > 0 {
		add(createdAt, l.reader.mapping[createdAt], "", "links that exist keep the date of their creation; rows: %d", updates)
	}
	for i, lost := range l.ignored {
		name := t.columns[i]
		switch {
		case lost.rows == 0 || name == reasonTitle:
		case isPasswordFlag(name):
			add("", name, lost.first,
				"links with a password become open to everybody, because passwords are not imported (column %q); rows: %d",
				name, lost.rows)
		default:
			add("", name, lost.first, "the column %q is not imported; rows with content: %d", name, lost.rows)
		}
	}
	out = append(out, l.list...)
	return out[:min(len(out), shownProblems)]
}

package imports

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/isotime"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
	"github.com/shortline/shortline/control/internal/store"
)

// field is a field of a link that a column can fill.
type field struct {
	name string
	// aliases are names of columns that other services use, in lower case and without other characters than letters and
	// digits. Earlier ones are better.
	aliases []string
	// set writes a cell that is not empty. It returns what is wrong with it, or "".
	set func(cell string, to *links.Imported) string
}

const originalURL = "originalUrl"

// fields are all fields, in the order of suggestions.
var fields = append([]field{
	{originalURL, []string{"originalurl", "longurl", "destinationurl", "destination", "targeturl", "target", "longlink", "fullurl", "redirecturl", "url"},
		func(cell string, to *links.Imported) string { to.OriginalURL = &cell; return "" }},
	{"slug", []string{"slug", "customslug", "keyword", "shortcode", "slashtag", "backhalf", "custombackhalf", "alias", "key", "address", "shorturl", "shortlink", "link"}, setSlug},
	{"domain", []string{"domain", "domainname", "hostname"}, func(cell string, to *links.Imported) string { to.Domain = &cell; return "" }},
	{"tags", []string{"tags", "labels", "tag"}, setTags},
	{"status", []string{"status"}, setStatus},
	{"createdAt", []string{"createdat", "created", "datecreated", "creationdate", "createdon", "createddate", "timestamp"}, func(cell string, to *links.Imported) string {
		return setTime(cell, &to.CreatedAt)
	}},
	{"startsAt", []string{"startsat", "validsince", "validfrom", "startdate"}, func(cell string, to *links.Imported) string {
		to.StartsAt = new(int64)
		return setTime(cell, to.StartsAt)
	}},
	{"expiresAt", []string{"expiresat", "expires", "expiration", "expirationdate", "expirydate", "expirationtime", "validuntil"}, func(cell string, to *links.Imported) string {
		to.ExpiresAt = new(int64)
		return setTime(cell, to.ExpiresAt)
	}},
	{"maxClicks", []string{"maxclicks", "maxvisits", "clicklimit"}, func(cell string, to *links.Imported) string {
		to.MaxClicks = new(int64)
		return setNumber(cell, to.MaxClicks)
	}},
	{"redirectCode", []string{"redirectcode", "redirecttype"}, func(cell string, to *links.Imported) string {
		to.RedirectCode = new(int64)
		return setNumber(cell, to.RedirectCode)
	}},
	{"trackConversions", []string{"trackconversions"}, func(cell string, to *links.Imported) string {
		to.TrackConversions = new(bool)
		return setTruth(cell, to.TrackConversions)
	}},
	{"stickiness", []string{"stickiness"}, func(cell string, to *links.Imported) string { to.Stickiness = &cell; return "" }},
}, texts()...)

// texts returns the optional texts of links, except for images, which are uploaded.
func texts() (list []field) {
	aliases := map[string][]string{
		"title": {"title", "name", "pagetitle"}, "notes": {"notes", "note", "comments", "comment", "description"}, "expiredUrl": {"expiredurl", "expirationurl"},
	}
	for _, f := range store.LinkTexts {
		if f.Name == "ogImage" {
			continue
		}
		names := aliases[f.Name]
		if names == nil {
			names = []string{simple(f.Name)}
		}
		list = append(list, field{f.Name, names, func(cell string, to *links.Imported) string { to.Texts[f.Name] = cell; return "" }})
	}
	return list
}

// Fields returns the names of all fields that columns can fill.
func Fields() (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// setSlug accepts a whole short URL, too.
func setSlug(cell string, to *links.Imported) string {
	if _, rest, ok := strings.Cut(cell, "://"); ok {
		cell = strings.TrimRight(rest, "/")
		cell = cell[strings.LastIndexByte(cell, '/')+1:]
	}
	to.CustomSlug = cell
	return ""
}

func setTags(cell string, to *links.Imported) string {
	separator := ","
	if strings.Contains(cell, ";") {
		separator = ";"
	}
	names := []string{}
	for _, name := range strings.Split(cell, separator) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	to.Tags = &names
	return ""
}

// setStatus accepts all states that an export can have. Those that follow from other fields stand for ACTIVE.
func setStatus(cell string, to *links.Imported) string {
	status := strings.ToUpper(cell)
	switch status {
	case store.StatusExpired, store.StatusScheduled, store.StatusExhausted:
		status = store.StatusActive
	}
	to.Status = &status
	return ""
}

func setTime(cell string, to *int64) string {
	ms, err := isotime.Parse(cell)
	if err != nil {
		return "must be a date or time in ISO 8601, such as 2027-01-31T12:00:00Z"
	}
	*to = ms
	return ""
}

func setNumber(cell string, to *int64) string {
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil {
		return "must be a whole number"
	}
	*to = n
	return ""
}

func setTruth(cell string, to *bool) string {
	switch strings.ToLower(cell) {
	case "true", "yes", "1":
		*to = true
	case "false", "no", "0":
	default:
		return "must be true or false"
	}
	return ""
}

// simple reduces the name of a column to what aliases have.
func simple(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

func isPassword(column string) bool {
	return slices.Contains([]string{"password", "passwd", "pwd", "passwort", "linkpassword", "motdepasse"}, simple(column))
}

// suggest returns the field for each column, "" for none. Each field occurs at most once.
func suggest(columns []string) []string {
	out := make([]string, len(columns))
	for _, f := range fields {
		best, rank := -1, len(f.aliases)
		for i, name := range columns {
			if at := slices.Index(f.aliases, simple(name)); out[i] == "" && at >= 0 && at < rank {
				best, rank = i, at
			}
		}
		if best >= 0 {
			out[best] = f.name
		}
	}
	return out
}

// Mapping holds the name of a column for each field. A field that is missing or "" is not imported.
type Mapping map[string]string

// reader turns rows into links.
type reader struct {
	mapping Mapping
	width   int // number of columns
	used    []use
}

type use struct {
	field  *field
	column int
}

// reader checks a mapping against a table.
func (m Mapping) reader(t *table) (*reader, error) {
	r := &reader{mapping: Mapping{}, width: len(t.columns)}
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
			r.used = append(r.used, use{&fields[at], column})
		}
	}
	if r.mapping[originalURL] == "" && len(v) == 0 {
		v.Add("mapping."+originalURL, "is required: name the column with the destinations")
	}
	return r, v.Err()
}

// read returns the link of a row, and what is wrong with the form of its cells.
func (r *reader) read(from *row) (out links.Imported, problems []problem.Field) {
	out.Texts = map[string]string{}
	for _, u := range r.used {
		cell := strings.TrimSpace(spreadsheet.Plain(from.cell(u.column)))
		if cell == "" {
			continue
		}
		if wrong := u.field.set(cell, &out); wrong != "" {
			problems = append(problems, problem.Field{Field: u.field.name, Message: wrong})
		}
	}
	for _, c := range from.cells[min(r.width, len(from.cells)):] {
		if strings.TrimSpace(c) != "" {
			problems = append(problems, problem.Field{Message: "has more cells than the file has columns; a cell that contains the delimiter needs quotation marks"})
			break
		}
	}
	return out, problems
}

// told turns the problems of a row into those of an import, with the columns and the cells.
func (r *reader) told(from *row, problems []problem.Field) []store.ImportProblem {
	list := make([]store.ImportProblem, len(problems))
	for i, p := range problems {
		name, _, _ := strings.Cut(p.Field, ".") // tags.0
		if name == "customSlug" {
			name = "slug"
		}
		list[i] = store.ImportProblem{Line: from.line, Part: i + 1, Field: name, Message: p.Message}
		for _, u := range r.used {
			if u.field.name == name {
				list[i].Column, list[i].Value = r.mapping[name], problem.Clip(from.cell(u.column))
			}
		}
	}
	return list
}

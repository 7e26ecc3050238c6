package imports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/shortline/shortline/control/internal/store"
)

// field is a field of a link that a column can fill.
type field struct {
	name string
	// aliases are names of columns that other services use, in lower case and without other characters than letters and
	// digits. Earlier ones are better.
	aliases []string
	// set writes a cell that is not empty. It returns what is wrong with it, or "".
	set func(cell string, to *record) string
}

// Names of fields.
const (
	originalURL = "originalUrl"
	slugField   = "slug"
	createdAt   = "createdAt"
)

// fields are all fields, in the order of suggestions. The aliases come from the layouts in layouts_test.go.
var fields = append([]field{
	{originalURL, []string{
		"originalurl", "longurl", "destinationurl", "destination", "targeturl", "target", "longlink", "originallink", "fullurl",
		"redirecturl", "url",
	}, func(cell string, to *record) string { to.OriginalURL = &cell; return "" }},
	{slugField, append(append([]string{"slug", "customslug"}, customAddresses...), append([]string{
		"keyword", "shortcode", "slashtag", "path", "alias", "key", "address", "shortid",
	}, madeAddresses...)...), setSlug},
	{"domain", []string{"domain", "domainname", "domainfullname", "hostname"}, func(cell string, to *record) string {
		to.Domain = &cell
		return ""
	}},
	{"tags", []string{"tags", "labels", "tag"}, setTags},
	{"status", []string{"status"}, setStatus},
	{createdAt, []string{
		"createdat", "created", "datecreated", "creationdate", "createdon", "createddate", "timestamp",
	}, func(cell string, to *record) string { return to.setTime(cell, &to.CreatedAt) }},
	{"startsAt", []string{"startsat", "validsince", "metavalidsince", "validfrom", "startdate"}, func(cell string, to *record) string {
		to.StartsAt = new(int64)
		return to.setTime(cell, to.StartsAt)
	}},
	{"expiresAt", []string{
		"expiresat", "expireat", "expires", "expiration", "expirationdate", "expirydate", "expirationtime", "validuntil", "metavaliduntil",
		"expirein",
	}, func(cell string, to *record) string {
		to.ExpiresAt = new(int64)
		return to.setTime(cell, to.ExpiresAt)
	}},
	{"maxClicks", []string{"maxclicks", "maxvisits", "metamaxvisits", "clicklimit", "clickslimit"}, func(cell string, to *record) string {
		to.MaxClicks = new(int64)
		return setNumber(cell, to.MaxClicks)
	}},
	{"redirectCode", []string{"redirectcode", "redirecttype"}, setRedirectCode},
	{"trackConversions", []string{"trackconversions", "trackconversion"}, func(cell string, to *record) string {
		to.TrackConversions = new(bool)
		return setTruth(cell, to.TrackConversions)
	}},
	{"stickiness", []string{"stickiness"}, func(cell string, to *record) string { to.Stickiness = &cell; return "" }},
	{"forwardPath", []string{"forwardpath", "forwardextrapath"}, func(cell string, to *record) string {
		to.ForwardPath = new(bool)
		return setTruth(cell, to.ForwardPath)
	}},
}, texts()...)

// Some services list the address that a person chose beside the one that they made. A link without the former has the latter.
var (
	customAddresses = []string{"custombackhalf", "custombitlink", "custombitlinks", "customlink", "customurl", "keywordlink"}
	madeAddresses   = []string{"backhalf", "shorturl", "shortlink", "bitlink", "bitlinkid", "link"}
)

// texts returns the optional texts of links, except for images, which are uploaded.
func texts() (list []field) {
	aliases := map[string][]string{
		"title": {"title", "name", "pagetitle"}, "notes": {"notes", "note", "comments", "comment", "description"},
		"expiredUrl": {"expiredurl", "expireurl", "expirationurl"},
	}
	for _, f := range store.LinkTexts {
		if f.Name == "ogImage" {
			continue
		}
		names := aliases[f.Name]
		if names == nil {
			names = []string{simple(f.Name)}
		}
		list = append(list, field{f.Name, names, func(cell string, to *record) string { to.Texts[f.Name] = cell; return "" }})
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

// setStatus accepts all states that an export can have. A link that is SCHEDULED is active. One that is EXPIRED or EXHAUSTED may
// be either, so its status stays; checkState makes sure that another field makes it so.
func setStatus(cell string, to *record) string {
	to.state = strings.ToUpper(cell)
	switch status := to.state; status {
	case store.StatusExpired, store.StatusExhausted:
	case store.StatusScheduled:
		status = store.StatusActive
		fallthrough
	default:
		to.Status = &status
	}
	return ""
}

// checkState returns what is wrong with the status of a record, of which all cells were read, and with which field. Without the field
// that made a link EXPIRED, SCHEDULED or EXHAUSTED, it would lead visitors at once.
func (e *record) checkState() (field, wrong string) {
	without := ""
	switch e.state {
	case store.StatusExpired:
		if e.ExpiresAt == nil {
			without = "expiresAt"
		} else if *e.ExpiresAt > store.Now() {
			return "expiresAt", "must not lie in the future, because the status is EXPIRED"
		}
	case store.StatusScheduled:
		if e.StartsAt == nil {
			without = "startsAt"
		}
	case store.StatusExhausted:
		if e.MaxClicks == nil || *e.MaxClicks == 0 {
			without = "maxClicks"
			break
		}
		e.warn("status", "clicks are not imported, so the link leads visitors until it has maxClicks new clicks")
	}
	if without == "" {
		return "", ""
	}
	return "status", fmt.Sprintf("is %s, but the row has no %s, so the link would lead visitors; map it, or use ACTIVE or INACTIVE",
		e.state, without)
}

func (e *record) setTime(cell string, to *int64) string {
	ms, wrong := e.dates.parseDate(cell)
	if wrong != "" {
		return wrong
	}
	if ms == 0 {
		return "is the start of 1970, which files use for no time; leave the cell empty"
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

// setRedirectCode refuses 0, which would stand for the default.
func setRedirectCode(cell string, to *record) string {
	to.RedirectCode = new(int64)
	if wrong := setNumber(cell, to.RedirectCode); wrong != "" {
		return wrong
	}
	if *to.RedirectCode == 0 {
		return "must be 301, 302, 307 or 308"
	}
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

// isFlag reports whether a cell of a column for passwords only says whether there is one. Kutt writes such cells.
func isFlag(cell string) bool {
	return slices.Contains([]string{"", "true", "false", "yes", "no", "1", "0", "null"}, strings.ToLower(strings.TrimSpace(cell)))
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

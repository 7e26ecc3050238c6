package ascode

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
)

// source is what files say.
type source struct {
	owner  string // "": none
	links  []*entry
	shared []*shared
}

// entry is a link of a file.
type entry struct {
	at       place
	name     string         // for people
	item     map[string]any // for PUT /api/urls/bulk, without the label of the owner
	given    map[string]any // fields that the file has, for the digest
	password bool           // the item has one
}

// ownerForm are the names of owners. With the prefix, a name is a tag of at most 40 characters.
var ownerForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,28}$`)

var fileKeys = []string{"version", "owner", "tags", "domains", "links", "$schema"}

// readSources reads files. All have the same owner, and no link is in them twice.
func readSources(a *app.App, names []string) (*source, error) {
	var all *source
	first := map[string]place{}
	var problems []error
	for _, name := range names {
		text, err := a.ReadFile(name)
		if err != nil {
			return nil, fileError(err)
		}
		s, err := readSource(name, text, &secrets{a.Getenv})
		if err != nil {
			return nil, fileError(err)
		}
		if all == nil {
			all = &source{owner: s.owner}
		}
		if all.owner != s.owner {
			return nil, fileError(fmt.Errorf("%s belongs to %q, but %s to %q; apply them one by one", names[0], all.owner, name, s.owner))
		}
		all.links = append(all.links, s.links...)
		all.shared = append(all.shared, s.shared...)
		for _, one := range s.shared {
			if before, twice := first[one.key()]; twice {
				problems = append(problems, fmt.Errorf("%s: the %s is in %s, too", one.at, one.key(), before))
			}
			first[one.key()] = one.at
		}
		for _, one := range s.links {
			for _, key := range one.keys() {
				if before, twice := first[key]; twice {
					problems = append(problems, fmt.Errorf("%s: %s is the same link as in %s", one.at, one.name, before))
					break
				}
				first[key] = one.at
			}
		}
	}
	if err := onlyDefault(all.shared); err != nil {
		problems = append(problems, err)
	}
	return all, fileError(firstProblems(problems))
}

// fileError gives an error of a file the exit code 1, because 2 can mean that there are changes.
func fileError(err error) error {
	if err == nil {
		return nil
	}
	return &app.Exit{Code: app.CodeError, Err: err}
}

// keys are what names the link.
func (e *entry) keys() (out []string) {
	if id, has := e.item["externalId"]; has {
		out = append(out, fmt.Sprint("external id ", id))
	}
	if slug, has := e.item["customSlug"]; has {
		out = append(out, strings.ToLower(fmt.Sprint(e.item["domain"]))+"/"+fmt.Sprint(slug))
	}
	return out
}

// readSource reads one file.
func readSource(name string, text []byte, secrets *secrets) (*source, error) {
	r := &reader{file: name}
	root, err := r.parse(text)
	if err != nil {
		return nil, err
	}
	out := &source{}
	version := 0
	r.members(root, "the file", fileKeys, func(key string, n *yaml.Node) {
		switch key {
		case "version":
			version = r.number(n, "version")
		case "owner":
			if out.owner = r.scalar(n, "owner"); !ownerForm.MatchString(out.owner) {
				r.reject(n, "owner must be 1 to 29 lower-case letters, digits, - or _, such as marketing")
			}
		case "tags", "domains":
			for i := range sections {
				if sections[i].key != key {
					continue
				}
				for _, one := range r.elements(n, key) {
					if s := r.shared(one, &sections[i]); s != nil {
						out.shared = append(out.shared, s)
					}
				}
			}
		case "links":
			for _, one := range r.elements(n, "links") {
				if link := r.link(one, secrets); link != nil {
					out.links = append(out.links, link)
				}
			}
		}
	})
	if version != 1 && len(r.problems) == 0 {
		r.reject(root, "the file must begin with version: 1")
	}
	return out, firstProblems(r.problems)
}

// mostProblems is how many problems of a file are shown.
const mostProblems = 20

// firstProblems returns the first problems as an error; nil if there are none.
func firstProblems(list []error) error {
	if len(list) == 0 {
		return nil
	}
	if len(list) > mostProblems {
		list = append(list[:mostProblems:mostProblems], fmt.Errorf("and %s more", output.Number(int64(len(list)-mostProblems))))
	}
	return app.Problems(list)
}

// kind is the kind of value that a field has.
type kind int

const (
	text kind = iota
	number
	boolean
	moment
)

// field is a field of a link whose value goes to the API as it is.
type field struct {
	key, api string
	kind     kind
	missing  any // what the API gets for a link whose file leaves the field out
}

var plainFields = []field{
	{"slug", "customSlug", text, nil}, {"domain", "domain", text, nil}, {"externalId", "externalId", text, nil},
	{"destination", "originalUrl", text, nil}, {"title", "title", text, nil}, {"notes", "notes", text, nil},
	{"startsAt", "startsAt", moment, nil}, {"expiresAt", "expiresAt", moment, nil}, {"expiredUrl", "expiredUrl", text, nil},
	{"maxClicks", "maxClicks", number, nil}, {"redirectCode", "redirectCode", number, 302},
	{"trackConversions", "trackConversions", boolean, false}, {"stickiness", "stickiness", text, "none"},
	{"forwardPath", "forwardPath", boolean, false},
	{"defaultUrl", "defaultUrl", text, nil}, {"smartRouting", "isSmartRouting", boolean, nil}, {"abTesting", "isABTesting", boolean, nil},
}

var utmFields = []field{
	{"source", "utmSource", text, nil}, {"medium", "utmMedium", text, nil}, {"campaign", "utmCampaign", text, nil},
	{"term", "utmTerm", text, nil}, {"content", "utmContent", text, nil}, {"id", "utmId", text, nil},
	{"sourcePlatform", "utmSourcePlatform", text, nil},
}

var previewFields = []field{
	{"title", "ogTitle", text, nil}, {"description", "ogDescription", text, nil}, {"card", "twitterCardType", text, nil},
}

// otherKeys are the members of a link that need more than one line to read.
var otherKeys = []string{"tags", "active", "password", "utm", "preview", "rules", "variants"}

func keysOf(fields []field, more ...string) (out []string) {
	for _, f := range fields {
		out = append(out, f.key)
	}
	return append(out, more...)
}

// link reads a link.
func (r *reader) link(n *yaml.Node, secrets *secrets) *entry {
	e := &entry{at: r.at(n), item: map[string]any{}, given: map[string]any{}}
	ok := r.members(n, "a link", keysOf(plainFields, otherKeys...), func(key string, value *yaml.Node) {
		switch key {
		case "tags":
			e.given["tags"] = r.tags(value)
		case "active":
			if !r.boolean(value, "active") {
				e.given["status"] = "INACTIVE"
			}
		case "password":
			r.password(e, value, secrets)
		case "utm":
			r.fieldsOf(e, value, "utm", utmFields)
		case "preview":
			r.fieldsOf(e, value, "preview", previewFields)
		case "rules":
			if rules := r.rules(value); len(rules) > 0 {
				e.given["rules"] = rules
			}
		case "variants":
			if variants := r.variants(value); len(variants) > 0 {
				e.given["variants"] = variants
			}
		default:
			r.field(e, key, value, plainFields)
		}
	})
	if !ok {
		return nil
	}
	slug, id := e.given["customSlug"], e.given["externalId"]
	if slug == nil && id == nil {
		r.reject(n, "a link needs a slug or an externalId; otherwise each apply would create another one")
	}
	if e.given["originalUrl"] == nil {
		r.reject(n, "a link needs a destination")
	}
	e.addDefaults()
	return e
}

// addDefaults makes the item: a field that the file leaves out gets its default.
func (e *entry) addDefaults() {
	for _, fields := range [][]field{plainFields, utmFields, previewFields} {
		for _, f := range fields {
			e.item[f.api] = f.missing
		}
	}
	e.item["tags"], e.item["rules"], e.item["variants"], e.item["status"] = []string{}, []rule{}, []variant{}, "ACTIVE"
	rules, _ := e.given["rules"].([]rule)
	variants, _ := e.given["variants"].([]variant)
	e.item["isSmartRouting"], e.item["isABTesting"] = len(rules) > 0, false
	for _, one := range variants {
		if one.IsActive {
			e.item["isABTesting"] = true
		}
	}
	for name, v := range e.given {
		if name != passwordFrom {
			e.item[name] = v
		}
	}
	for _, name := range []string{"customSlug", "domain", "externalId"} { // null would mean another link
		if e.item[name] == nil {
			delete(e.item, name)
		}
	}
	slug, domain := text1(e.item["customSlug"]), text1(e.item["domain"])
	switch {
	case slug == "":
		e.name = "ext:" + text1(e.item["externalId"])
	case domain == "":
		e.name = slug
	default:
		e.name = domain + "/" + slug
	}
}

// text1 returns a text, or "" for nothing.
func text1(v any) string {
	s, _ := v.(string)
	return s
}

func (r *reader) fieldsOf(e *entry, n *yaml.Node, what string, fields []field) {
	if isNull(n) {
		return
	}
	r.members(n, what, keysOf(fields), func(key string, value *yaml.Node) { r.field(e, key, value, fields) })
}

// field reads a plain field. null is the same as leaving it out.
func (r *reader) field(e *entry, key string, n *yaml.Node, fields []field) {
	if isNull(n) {
		return
	}
	for _, f := range fields {
		if f.key != key {
			continue
		}
		var v any
		switch f.kind {
		case text:
			s := strings.TrimSpace(r.scalar(n, key))
			if s == "" {
				return
			}
			v = s
		case number:
			v = r.number(n, key)
		case boolean:
			v = r.boolean(n, key)
		case moment:
			v = r.moment(n, key)
		}
		e.given[f.api] = v
	}
}

func (r *reader) tags(n *yaml.Node) []string {
	out := r.texts(n, "tags")
	for _, one := range out {
		if strings.HasPrefix(strings.ToLower(one), ownerTag("")) {
			r.reject(n, "tags that begin with %s are for owners; use owner: at the beginning of the file", ownerTag(""))
		}
	}
	return out
}

// rule and variant are parts of a link as the API takes them.
type rule struct {
	Name       string `json:"name"`
	TargetURL  string `json:"targetUrl"`
	Priority   int    `json:"priority"`
	IsActive   bool   `json:"isActive"`
	Conditions any    `json:"conditions"`
}

type variant struct {
	Name      string `json:"name"`
	TargetURL string `json:"targetUrl"`
	Weight    int    `json:"weight"`
	IsActive  bool   `json:"isActive"`
}

func (r *reader) rules(n *yaml.Node) []rule {
	out := []rule{}
	ranked := false
	for _, one := range r.elements(n, "rules") {
		next := rule{IsActive: true}
		r.members(one, "a rule", []string{"name", "destination", "when", "priority", "active"}, func(key string, value *yaml.Node) {
			switch key {
			case "name":
				next.Name = r.scalar(value, key)
			case "destination":
				next.TargetURL = r.scalar(value, key)
			case "when":
				next.Conditions = r.when(value)
			case "priority":
				next.Priority, ranked = r.number(value, key), true
			case "active":
				next.IsActive = r.boolean(value, key)
			}
		})
		if next.Name == "" || next.TargetURL == "" || next.Conditions == nil {
			r.reject(one, "a rule needs name, destination and when")
		}
		out = append(out, next)
	}
	if !ranked {
		rank(out)
	}
	return out
}

// rank gives rules the priorities of their order: the first is asked first.
func rank(rules []rule) {
	for i := range rules {
		rules[i].Priority = len(rules) - 1 - i
	}
}

func (r *reader) variants(n *yaml.Node) []variant {
	out := []variant{}
	for _, one := range r.elements(n, "variants") {
		next := variant{IsActive: true, Weight: defaultWeight}
		r.members(one, "a variant", []string{"name", "destination", "weight", "active"}, func(key string, value *yaml.Node) {
			switch key {
			case "name":
				next.Name = r.scalar(value, key)
			case "destination":
				next.TargetURL = r.scalar(value, key)
			case "weight":
				next.Weight = r.number(value, key)
			case "active":
				next.IsActive = r.boolean(value, key)
			}
		})
		if next.Name == "" || next.TargetURL == "" {
			r.reject(one, "a variant needs name and destination")
		}
		out = append(out, next)
	}
	return out
}

const defaultWeight = 50

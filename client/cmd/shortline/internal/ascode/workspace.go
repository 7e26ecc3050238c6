package ascode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// section is a list of a file with objects that the links of all owners share: tags or domains. Apply creates and changes them, but
// never deletes one, because the links of others may need it.
type section struct {
	key, what string  // of the file, and for people
	path      string  // of the API
	name      field   // what names an object
	fields    []field // the others; one that the file leaves out stays as it is
}

var sections = []section{
	{"tags", "tag", "/api/tags", field{"name", "name", text, nil}, []field{{"color", "color", text, nil}}},
	{"domains", "domain", "/api/domains", field{"host", "hostname", text, nil}, []field{
		{"rootUrl", "rootUrl", text, nil}, {"notFoundUrl", "notFoundUrl", text, nil}, {"expiredUrl", "expiredUrl", text, nil},
		{"hsts", "hsts", number, nil}, {"brandName", "brandName", text, nil}, {"brandLogoUrl", "brandLogoUrl", text, nil},
		{"default", "isDefault", boolean, nil},
	}},
}

// shared is a tag or a domain of a file.
type shared struct {
	at     place
	of     *section
	name   string
	values map[string]any // that the file gives, by their names in the API; nil clears one
}

func (s *shared) key() string { return s.of.what + " " + strings.ToLower(s.name) }

// shared reads an object of a section.
func (r *reader) shared(n *yaml.Node, of *section) *shared {
	out := &shared{at: r.at(n), of: of, values: map[string]any{}}
	fields := append([]field{of.name}, of.fields...)
	if !r.members(n, "a "+of.what, keysOf(fields), func(key string, value *yaml.Node) {
		if key == of.name.key {
			out.name = strings.TrimSpace(r.scalar(value, key))
			return
		}
		e := &entry{given: out.values}
		if r.field(e, key, value, of.fields); isNull(value) {
			r.clear(out, key, value)
		}
	}) {
		return nil
	}
	if out.name == "" {
		r.reject(n, "a %s needs %s", of.what, of.name.key)
	}
	if of.what == "tag" && ownerOf([]string{out.name}) != "" {
		r.reject(n, "tags that begin with %s are for owners", ownerTag(""))
	}
	for _, v := range out.values { // the server stores addresses in ASCII; another form would differ from it each time
		if s := text1(v); strings.Contains(s, "://") && strings.ContainsFunc(s, func(c rune) bool { return c > '~' }) {
			r.reject(n, "%q must be written in ASCII", s)
		}
	}
	return out
}

// clear reads null, which empties a text.
func (r *reader) clear(s *shared, key string, n *yaml.Node) {
	for _, f := range s.of.fields {
		if f.key != key {
			continue
		}
		if f.kind != text || s.of.what == "tag" {
			r.reject(n, "%s must not be null; leave it out to keep it", key)
			return
		}
		s.values[f.api] = nil
	}
}

// sharedStep is what becomes of a tag or a domain.
type sharedStep struct {
	Action  string                   `json:"action"`
	Kind    string                   `json:"kind"` // tag or domain
	Name    string                   `json:"name"`
	Changes map[string]client.Change `json:"changes,omitempty"`

	of   *section
	id   string
	body map[string]any
}

// findShared compares the tags and domains of files with those of the workspace.
func (p *plan) findShared(ctx context.Context, r *remote.Remote, list []*shared) error {
	for i := range sections {
		of := &sections[i]
		if !slices.ContainsFunc(list, func(s *shared) bool { return s.of == of }) {
			continue
		}
		present, err := sharedOf(ctx, r, of)
		if err != nil {
			return err
		}
		for _, one := range list {
			if one.of != of {
				continue
			}
			s, err := one.step(present)
			if err != nil {
				return err
			}
			if s.Action != unchanged {
				p.shared = append(p.shared, s)
			}
		}
	}
	return nil
}

// sharedOf reads the objects of a section.
func sharedOf(ctx context.Context, r *remote.Remote, of *section) (list []map[string]any, err error) {
	rows, err := r.List(ctx, of.path, nil, 0, nil)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(rows.JSON()))
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("the list of %s cannot be read: %w", of.key, err)
	}
	return list, nil
}

// step compares an object of a file with those that exist.
func (s *shared) step(present []map[string]any) (sharedStep, error) {
	out := sharedStep{Action: create, Kind: s.of.what, Name: s.name, of: s.of, body: map[string]any{s.of.name.api: s.name}}
	for _, row := range present {
		if strings.EqualFold(text1(row[s.of.name.api]), s.name) {
			out.Action, out.id, out.Changes, out.body = unchanged, text1(row["id"]), map[string]client.Change{}, map[string]any{}
			for name, v := range s.values {
				if isEqual(row[name], v) {
					continue
				}
				c := client.Change{}
				var err, err2 error
				c.Old, err = json.Marshal(row[name])
				c.New, err2 = json.Marshal(v)
				if err := errors.Join(err, err2); err != nil {
					return out, err
				}
				out.Action, out.Changes[name], out.body[name] = change, c, v
			}
			return out, nil
		}
	}
	for name, v := range s.values {
		if v != nil {
			out.body[name] = v
		}
	}
	return out, nil
}

// isEqual compares a value of the API with one of a file. Colours are the same in upper and lower case.
func isEqual(was, is any) bool {
	if before, isText := was.(string); isText && strings.HasPrefix(before, "#") {
		return strings.EqualFold(before, text1(is))
	}
	return was == is || was != nil && is != nil && fmt.Sprint(was) == fmt.Sprint(is) // numbers have two types
}

// newDomain reports whether a plan creates a domain, so that no link can be compared on it.
func (p *plan) newDomain(host string) bool {
	return host != "" && slices.ContainsFunc(p.shared, func(s sharedStep) bool {
		return s.Action == create && s.Kind == "domain" && strings.EqualFold(s.Name, host)
	})
}

// writeShared creates and changes the tags and domains of a plan. Links come after them.
func (w *applying) writeShared(ctx context.Context, p *plan) error {
	for i := range p.shared {
		if ctx.Err() != nil {
			w.app.Say("interrupted: %s of %s tags and domains were written; apply again to continue", figure(i), figure(len(p.shared)))
			return context.Canceled
		}
		s := &p.shared[i]
		method, path := http.MethodPost, s.of.path
		if s.Action == change {
			method, path = http.MethodPut, s.of.path+remote.Path(s.id)
		}
		if _, err := w.remote.Send(context.WithoutCancel(ctx), method, path, s.body); err != nil {
			return fmt.Errorf("%s %s: %w", s.Kind, s.Name, err)
		}
		w.shared++
	}
	return nil
}

// writtenShared returns the tags and domains of the workspace as a file has them.
func writtenShared(ctx context.Context, r *remote.Remote) (out ordered, err error) {
	for i := range sections {
		of := &sections[i]
		present, err := sharedOf(ctx, r, of)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(present, func(a, b map[string]any) int {
			return strings.Compare(text1(a[of.name.api]), text1(b[of.name.api]))
		})
		list := []any{}
		for _, row := range present {
			name := text1(row[of.name.api])
			if of.what == "tag" && ownerOf([]string{name}) != "" {
				continue
			}
			one := ordered{{of.name.key, name}}
			for _, f := range of.fields {
				if v := row[f.api]; v != nil && v != "" && v != false && v != json.Number("0") {
					one = append(one, member{f.key, v})
				}
			}
			list = append(list, one)
		}
		out = append(out, member{of.key, list})
	}
	return out, nil
}

// onlyDefault refuses files with two default domains.
func onlyDefault(list []*shared) error {
	var first *shared
	for _, one := range list {
		if one.values["isDefault"] != true {
			continue
		}
		if first != nil {
			return fmt.Errorf("%s: %s is the default domain already, in %s", one.at, first.name, first.at)
		}
		first = one
	}
	return nil
}

// Package refs finds the objects that arguments name. A link can be named by its short URL, by domain/slug, by its slug alone, by
// its id, or by ext: and its external id.
package refs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// About explains to users how they can name a link.
const About = `LINK is a short URL (https://sho.rt/fair), a domain and a slug (sho.rt/fair), a slug (fair), an id,
or ext: and an external id (ext:crm-42).`

var idForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsID reports whether a text has the form of an id.
func IsID(text string) bool { return idForm.MatchString(text) }

// Object is an object as the server sends it.
type Object struct {
	Raw []byte
	Row output.Row
	ID  string
}

// ObjectOf parses an object.
func ObjectOf(raw []byte) (Object, error) {
	row, err := output.Decode[output.Row](raw)
	if err != nil {
		return Object{}, fmt.Errorf("the response cannot be read: %w", err)
	}
	return Object{raw, row, row.Text("id")}, nil
}

// Name returns how people know a link: its domain and slug.
func Name(link output.Row) string {
	_, name, found := strings.Cut(link.Text("shortUrl"), "://")
	if !found {
		return link.Text("domain") + "/" + link.Text("slug")
	}
	return name
}

// Link returns the link that an argument names.
func Link(ctx context.Context, r *remote.Remote, text string) (Object, error) {
	return findLink(ctx, r, text, false)
}

// Trashed returns the link in the trash that an argument names.
func Trashed(ctx context.Context, r *remote.Remote, text string) (Object, error) {
	return findLink(ctx, r, text, true)
}

// ID returns the id of the link that an argument names. It asks the server only if the argument is not an id.
func ID(ctx context.Context, r *remote.Remote, text string) (string, error) {
	if IsID(text) {
		return text, nil
	}
	link, err := Link(ctx, r, text)
	return link.ID, err
}

func findLink(ctx context.Context, r *remote.Remote, text string, trashed bool) (Object, error) {
	external, isExternal := strings.CutPrefix(text, "ext:")
	switch {
	case text == "":
		return Object{}, missing("A link must not be empty.")
	case IsID(text) && !trashed:
		return readObject(ctx, r, remote.Path("api", "urls", text))
	case isExternal && !trashed:
		return readObject(ctx, r, remote.Path("api", "urls", "by-external-id", external))
	}
	domain, slug := Split(text)
	query := url.Values{"search": {slug}}
	if trashed {
		query.Set("status", "DELETED")
		if IsID(text) || isExternal {
			query.Del("search")
		}
	} else if domain != "" {
		query.Set("domain", domain)
	}
	list, err := r.List(ctx, "/api/urls", query, 0, nil)
	if err != nil {
		return Object{}, err
	}
	return choose(list.Rows, text, external, domain, slug)
}

// choose returns the only row that the argument names. Search also finds links that contain the slug elsewhere.
func choose(rows []json.RawMessage, text, external, domain, slug string) (Object, error) {
	var found []Object
	for _, raw := range rows {
		one, err := ObjectOf(raw)
		if err != nil {
			return one, err
		}
		switch {
		case one.ID == text, external != "" && one.Row.Text("externalId") == external:
			return one, nil
		case one.Row.Text("slug") == slug && (domain == "" || sameDomain(one.Row, domain)):
			found = append(found, one)
		}
	}
	switch len(found) {
	case 0:
		return Object{}, missing(fmt.Sprintf("There is no link %s.", text))
	case 1:
		return found[0], nil
	}
	var names []string
	for _, one := range found {
		names = append(names, Name(one.Row))
	}
	return Object{}, &client.APIError{
		Status: http.StatusConflict, Message: fmt.Sprintf("Several links are called %s: %s. Name the domain too.", text, strings.Join(names, ", ")),
	}
}

func sameDomain(link output.Row, domain string) bool {
	host, _, _ := strings.Cut(Name(link), "/")
	return strings.EqualFold(host, domain) || strings.EqualFold(link.Text("domain"), domain)
}

// Split divides an argument into a domain, which may be empty, and a slug.
func Split(text string) (domain, slug string) {
	if _, rest, found := strings.Cut(text, "://"); found {
		text = rest
	}
	text, _, _ = strings.Cut(text, "?")
	text, _, _ = strings.Cut(text, "#")
	if before, after, found := strings.Cut(text, "/"); found && after != "" {
		return before, after
	}
	return "", strings.TrimSuffix(text, "/")
}

func readObject(ctx context.Context, r *remote.Remote, path string) (Object, error) {
	raw, err := r.Get(ctx, path, nil)
	if err != nil {
		return Object{}, err
	}
	return ObjectOf(raw)
}

func missing(message string) error {
	return &client.APIError{Status: http.StatusNotFound, Message: message}
}

// Named returns the row of a list that an argument names by its id or by one of the fields. what is for the error, such as tag.
func Named(ctx context.Context, r *remote.Remote, path, text, what string, fields ...string) (Object, error) {
	list, err := r.List(ctx, path, nil, 0, nil)
	if err != nil {
		return Object{}, err
	}
	var found []Object
	var names []string
	for _, raw := range list.Rows {
		one, err := ObjectOf(raw)
		if err != nil {
			return one, err
		}
		if one.ID == text {
			return one, nil
		}
		for _, field := range fields {
			names = append(names, one.Row.Text(field))
			if strings.EqualFold(one.Row.Text(field), text) {
				found = append(found, one)
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return Object{}, missing(fmt.Sprintf("There is no %s %s%s.", what, text, Like(text, names)))
	case 1:
		return found[0], nil
	}
	return Object{}, &client.APIError{
		Status: http.StatusConflict, Message: fmt.Sprintf("Several objects are called %s. Use the id of the %s.", text, what),
	}
}

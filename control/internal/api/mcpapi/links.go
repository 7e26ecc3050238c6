package mcpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// linkArg is the schema of an argument that names a link.
const linkArg = `"link":{"type":"string","maxLength":2100,"description":"Id, short URL or slug."}`

// linkFields are the schemas of the fields of a link.
const linkFields = `
	"title":{"type":"string"},"notes":{"type":"string","description":"Visitors never see them."},
	"tags":{"type":"array","maxItems":20,"items":{"type":"string"},"description":"Names; unknown ones are created."},
	"startsAt":{"type":["string","null"],"description":"RFC 3339."},"expiresAt":{"type":["string","null"],"description":"RFC 3339."},
	"expiredUrl":{"type":["string","null"],"description":"Where visitors go afterwards."},
	"maxClicks":{"type":["integer","null"]},"redirectCode":{"enum":[301,302,307,308]},
	"password":{"type":["string","null"],"description":"Visitors must enter it."},
	"externalId":{"type":["string","null"]},"trackConversions":{"type":"boolean"},
	"utmSource":{"type":["string","null"]},"utmMedium":{"type":["string","null"]},"utmCampaign":{"type":["string","null"]},
	"utmTerm":{"type":["string","null"]},"utmContent":{"type":["string","null"]}`

// linkFilter are the schemas of the arguments that select links.
const linkFilter = `"search":{"type":"string","description":"Text in title, destination or slug."},
	"status":{"enum":["ACTIVE","INACTIVE","EXPIRED","SCHEDULED","EXHAUSTED","SUSPENDED"]},
	"tag":{"type":"array","items":{"type":"string"},"description":"All of them."},
	"domain":{"type":"string"},"bundleId":{"type":"string"},"utmCampaign":{"type":"string"}`

func linkTools() []*tool {
	return []*tool{
		{
			name: "create_link", title: "Create a short link",
			about:    "Shortens a URL.",
			input:    `"originalUrl":{"type":"string","description":"http or https."},"customSlug":{"type":"string","description":"3 to 50 of A-Z a-z 0-9 _ -; random if left out."},"domain":{"type":"string"},` + linkFields,
			output:   `"link":{"type":"object"}`,
			required: []string{"originalUrl"}, operations: []string{"createURL"},
			run: createLink,
		},
		{
			name: "find_links", title: "Find links",
			about:      "Lists links, newest first, with status and clicks.",
			input:      linkFilter + `,"sortBy":{"enum":["createdAt","updatedAt","clickCount","title"]},"sortOrder":{"enum":["asc","desc"]},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Default 20."},"after":{"type":"string","description":"nextCursor of the previous page."}`,
			output:     `"links":{"type":"array","items":{"type":"object"}},"total":{"type":"integer"},"nextCursor":{"type":"string"}`,
			operations: []string{"listURLs"},
			hints:      hints{readOnly: true, idempotent: true},
			run:        findLinks,
		},
		{
			name: "get_link", title: "Get a link",
			about:      "One link, optionally with its routing rules, A/B variants, changes and goals.",
			input:      linkArg + `,"include":{"type":"array","items":{"enum":["rules","variants","history","goals"]}}`,
			output:     `"link":{"type":"object"},"rules":{"type":"object"},"variants":{"type":"object"},"history":{"type":["object","array"]},"goals":{"type":["object","array"]}`,
			required:   []string{"link"},
			operations: []string{"getURL", "listURLs", "listRoutingRules", "listVariants", "urlHistory", "listGoals"},
			hints:      hints{readOnly: true, idempotent: true},
			run:        getLink,
		},
		{
			name: "update_link", title: "Change a link",
			about: "Changes only the given fields; null clears one. `tags` replaces all tags. status INACTIVE switches the link off.",
			input: linkArg + `,"originalUrl":{"type":"string","description":"New destination."},"status":{"enum":["ACTIVE","INACTIVE"]},` +
				linkFields,
			output:   `"link":{"type":"object"}`,
			required: []string{"link"}, operations: []string{"patchURL", "listURLs"},
			hints: hints{destructive: true, idempotent: true},
			run:   updateLink,
		},
	}
}

func createLink(t *task) (map[string]any, error) {
	link, err := t.show(t.e("createURL"), ask{body: t.args})
	return map[string]any{"link": link}, err
}

// linkQuery has the arguments of linkFilter.
type linkQuery struct {
	Search      string   `json:"search,omitempty"`
	Status      string   `json:"status,omitempty"`
	Tag         []string `json:"tag,omitempty"`
	Domain      string   `json:"domain,omitempty"`
	BundleID    string   `json:"bundleId,omitempty"`
	UTMCampaign string   `json:"utmCampaign,omitempty"`
}

func (q *linkQuery) values() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{"search": q.Search, "status": q.Status, "domain": q.Domain, "bundleId": q.BundleID,
		"utmCampaign": q.UTMCampaign} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if len(q.Tag) > 0 {
		v["tag"] = q.Tag
	}
	return v
}

func findLinks(t *task) (map[string]any, error) {
	in := struct {
		linkQuery
		SortBy, SortOrder, After string
		Limit                    int
	}{Limit: 20}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	q := in.values()
	q.Set("limit", strconv.Itoa(in.Limit))
	for name, text := range map[string]string{"sortBy": in.SortBy, "sortOrder": in.SortOrder, "after": in.After} {
		if text != "" {
			q.Set(name, text)
		}
	}
	page, err := t.show(t.e("listURLs"), ask{query: q})
	if err != nil {
		return nil, err
	}
	members, _ := page.(map[string]any)
	out := map[string]any{"links": members["data"], "total": members["total"]}
	if next, ok := members["nextCursor"].(string); ok {
		out["nextCursor"] = next
	}
	return out, nil
}

func getLink(t *task) (map[string]any, error) {
	var in struct {
		Link    string
		Include []string
	}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	id, err := t.linkID(in.Link)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if out["link"], err = t.show(t.e("getURL"), ofLink(id)); err != nil {
		return nil, err
	}
	parts := map[string]string{"rules": "listRoutingRules", "variants": "listVariants", "history": "urlHistory", "goals": "listGoals"}
	for _, part := range in.Include {
		if out[part], err = t.show(t.e(parts[part]), ofLink(id)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func updateLink(t *task) (map[string]any, error) {
	var fields map[string]json.RawMessage
	if err := t.decode(&fields); err != nil {
		return nil, err
	}
	id, err := t.linkArg(fields)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, invalid("Give at least one field to change.")
	}
	a := ofLink(id)
	a.body = fields
	link, err := t.show(t.e("patchURL"), a)
	return map[string]any{"link": link}, err
}

// ofLink is a request about one link.
func ofLink(id string) ask { return ask{path: map[string]string{"id": id}} }

// linkArg takes the argument link out of the others and returns the id of the link.
func (t *task) linkArg(fields map[string]json.RawMessage) (string, error) {
	var name string
	if err := json.Unmarshal(fields["link"], &name); err != nil {
		return "", invalid("link must be a text.")
	}
	delete(fields, "link")
	return t.linkID(name)
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// linkID returns the id of the link that a model has named by its id, its short URL or its slug.
func (t *task) linkID(name string) (string, error) {
	name = strings.TrimSpace(name)
	if uuidForm.MatchString(name) {
		return strings.ToLower(name), nil
	}
	host, slug := "", strings.TrimPrefix(name, "/")
	if address := name; strings.Contains(strings.TrimPrefix(name, "/"), "/") {
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		u, err := url.Parse(address)
		if err != nil {
			return "", invalid("link must be an id, a short URL or a slug.")
		}
		host, slug = u.Hostname(), strings.Trim(u.Path, "/")
	}
	if slug == "" || strings.Contains(slug, "/") {
		return "", invalid("link must be an id, a short URL or a slug.")
	}
	return t.linkBySlug(host, slug)
}

// foundLink is a row of the list of links, as far as tools decide with it.
type foundLink struct {
	ID, Slug, Domain, ShortURL, Status string
	Title                              *string
	OriginalURL                        string
	ClickCount                         int64
}

// maxSearched is how many pages of links with the slug somewhere in their texts are looked at.
const maxSearched = 10

func (t *task) linkBySlug(host, slug string) (string, error) {
	q := url.Values{"search": {slug}, "limit": {"100"}}
	if host != "" {
		q.Set("domain", host)
	}
	found := map[string]string{} // id by short URL
	for range maxSearched {
		var page struct {
			Data       []foundLink
			NextCursor string
		}
		if err := t.readInto(t.e("listURLs"), ask{query: q}, &page); err != nil {
			return "", err
		}
		for _, l := range page.Data {
			if l.Slug == slug {
				found[l.ShortURL] = l.ID
			}
		}
		if page.NextCursor == "" {
			break
		}
		q.Set("after", page.NextCursor)
	}
	switch len(found) {
	case 0:
		return "", &failure{Status: http.StatusNotFound, Code: "LINK_NOT_FOUND",
			Message: "There is no link with this slug in the workspace. Slugs are case-sensitive; find_links searches for parts of them."}
	case 1:
		for _, id := range found {
			return id, nil
		}
	}
	addresses := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
	return "", &failure{Status: http.StatusConflict, Code: "LINK_AMBIGUOUS",
		Message: fmt.Sprintf("Several domains have this slug. Name the link by its short URL: %s.", addresses)}
}

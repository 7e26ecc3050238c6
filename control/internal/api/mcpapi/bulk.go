package mcpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/api/kit"
)

const (
	// confirmArg and confirmOutput are the schemas of the second call of a change.
	confirmArg    = `"confirm":{"type":"string","maxLength":1000,"description":"Token of the first call, after the user has agreed."}`
	confirmOutput = `"wouldHappen":{"type":"object"},"confirmation":{"type":"object"}`

	selectLinks = `"links":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"string"},"description":"Ids, short URLs or slugs."},
		"filter":{"type":"object","description":"Instead of links: all that match.","minProperties":1,"additionalProperties":false,"properties":{` + linkFilter + `}}`

	// maxSelected is the limit of the API for one bulk operation, and shownLinks the number of links that a first call lists.
	maxSelected = 1000
	shownLinks  = 20
)

func bulkTools() []*tool {
	return []*tool{
		{
			name: "bulk_update", title: "Change many links",
			about: "One change of up to 1,000 links, all or none. The first call changes nothing and answers with what would happen and a token.",
			input: selectLinks + `,"change":{"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{
				"status":{"enum":["ACTIVE","INACTIVE"]},"addTags":{"type":"array","items":{"type":"string"}},
				"removeTags":{"type":"array","items":{"type":"string"}},"bundleId":{"type":"string","description":"Adds them to the bundle."},
				"expiresAt":{"type":["string","null"]},"utm":{"type":"object","description":"utmSource, utmMedium, … or null."}}},` +
				confirmArg,
			output:     `"updated":{"type":"integer"},` + confirmOutput,
			required:   []string{"change"},
			operations: []string{"bulkUpdateURLs", "listURLs", "getURL"}, needed: 2,
			hints: hints{destructive: true, idempotent: true},
			run:   bulkUpdate,
		},
		{
			name: "delete_links", title: "Delete links",
			about: "Moves links to the trash; visitors then get 404. The first call deletes nothing and answers with what would happen and a " +
				"token. restoreURL (call_operation) brings a link back.",
			input:      selectLinks + `,` + confirmArg,
			output:     `"deleted":{"type":"integer"},` + confirmOutput,
			operations: []string{"bulkDeleteURLs", "listURLs", "getURL"}, needed: 2,
			hints: hints{destructive: true, idempotent: true},
			run:   deleteLinks,
		},
		{
			name: "manage_tags", title: "Manage tags",
			about: "Creates, renames, recolours or deletes a tag. Deleting takes it from all links and needs a second call.",
			input: `"action":{"enum":["create","update","delete"]},"tag":{"type":"string","description":"Present name or id."},` +
				`"name":{"type":"string","description":"New name."},"color":{"type":"string","description":"#RRGGBB"},` + confirmArg,
			output:     `"tag":{"type":"object"},"deleted":{"type":"boolean"},` + confirmOutput,
			required:   []string{"action"},
			operations: []string{"createTag", "updateTag", "deleteTag", "listTags"}, needed: 3,
			hints: hints{destructive: true},
			run:   manageTags,
		},
	}
}

// confirmed decides about a change that needs a second call. Without a token it returns the answer of the first call.
func (t *task) confirmed(token string, change any, wouldHappen map[string]any) (answer map[string]any, err error) {
	place := t.tool.name + "|" + identity(t.principal)
	if token != "" {
		return nil, t.server.confirm.redeem(t.request.Context(), place, token, change)
	}
	token, expires, err := t.server.confirm.offer(place, change)
	if err != nil {
		return nil, err
	}
	return map[string]any{"wouldHappen": wouldHappen, "confirmation": map[string]any{"token": token,
		"expiresAt": expires.UTC().Format(time.RFC3339), "next": "Nothing has changed yet. Show this to the user. If the user agrees, repeat " +
			"the call with the same arguments and this token as confirm."}}, nil
}

// selection are the links that a bulk tool works on.
type selection struct {
	Links   []string
	Filter  *linkQuery
	Confirm string
}

// selected returns the ids of the links, sorted, and a description of them.
func (t *task) selected(in *selection) (ids []string, about map[string]any, err error) {
	if (in.Filter == nil) == (len(in.Links) == 0) {
		return nil, nil, invalid("Give either links or a filter.")
	}
	var found []foundLink
	if in.Filter != nil {
		found, err = t.matching(in.Filter)
	} else {
		found, err = t.named(in.Links, in.Confirm != "")
	}
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, &failure{Status: http.StatusNotFound, Code: "LINK_NOT_FOUND", Message: "No link matches."}
	}
	slices.SortFunc(found, func(a, b foundLink) int { return cmp.Compare(a.ID, b.ID) })
	found = slices.CompactFunc(found, func(a, b foundLink) bool { return a.ID == b.ID })
	var clicks int64
	list := []any{}
	for i, l := range found {
		ids = append(ids, l.ID)
		clicks += l.ClickCount
		if i < shownLinks {
			list = append(list, mark("", map[string]any{"id": l.ID, "shortUrl": l.ShortURL, "status": l.Status,
				"originalUrl": l.OriginalURL, "clickCount": l.ClickCount}))
		}
	}
	about = map[string]any{"count": len(ids), "clicksSoFar": clicks, "links": list}
	if len(ids) > shownLinks {
		about["notListed"] = len(ids) - shownLinks
	}
	return ids, about, nil
}

func (t *task) matching(filter *linkQuery) (found []foundLink, err error) {
	q := filter.values()
	q.Set("limit", "100")
	for {
		var page struct {
			Data       []foundLink
			Total      int
			NextCursor string
		}
		if err := t.readInto(t.e("listURLs"), ask{query: q}, &page); err != nil {
			return nil, err
		}
		if page.Total > maxSelected {
			return nil, invalid(fmt.Sprintf("The filter selects %d links; at most %d can be changed at once.", page.Total, maxSelected))
		}
		found = append(found, page.Data...)
		if page.NextCursor == "" || len(found) > maxSelected {
			return found, nil
		}
		q.Set("after", page.NextCursor)
	}
}

// named returns the links with the given names; only their ids if nothing else is asked for.
func (t *task) named(names []string, only bool) (found []foundLink, err error) {
	for _, name := range names {
		id, err := t.linkID(name)
		if err != nil {
			return nil, err
		}
		l := foundLink{ID: id}
		if only { // the token shows that the first call has read them
			found = append(found, l)
			continue
		}
		if err := t.readInto(t.e("getURL"), ofLink(id), &l); err != nil {
			return nil, err
		}
		found = append(found, l)
	}
	return found, nil
}

func bulkUpdate(t *task) (map[string]any, error) {
	var in struct {
		selection
		Change map[string]json.RawMessage
	}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	ids, about, err := t.selected(&in.selection)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"urlIds": ids}
	operations := map[string]string{"addTags": "tags", "removeTags": "removeTags", "bundleId": "bundle", "expiresAt": "expiration",
		"status": "status", "utm": "utm"}
	for name, value := range in.Change {
		body["operation"], body["value"] = operations[name], value
		about["change"] = map[string]any{name: value}
	}
	if answer, err := t.confirmed(in.Confirm, body, about); answer != nil || err != nil {
		return answer, err
	}
	if _, err := t.do(t.e("bulkUpdateURLs"), ask{body: body}); err != nil {
		return nil, err
	}
	return map[string]any{"updated": len(ids)}, nil
}

func deleteLinks(t *task) (map[string]any, error) {
	var in selection
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	ids, about, err := t.selected(&in)
	if err != nil {
		return nil, err
	}
	about["change"] = "These links are moved to the trash, or deleted for good if this installation has no trash."
	body := map[string]any{"urlIds": ids}
	if answer, err := t.confirmed(in.Confirm, body, about); answer != nil || err != nil {
		return answer, err
	}
	if _, err := t.do(t.e("bulkDeleteURLs"), ask{body: body}); err != nil {
		return nil, err
	}
	return map[string]any{"deleted": len(ids)}, nil
}

// foundTag is a tag as far as the tool decides with it.
type foundTag struct {
	ID, Name string
	URLCount int
}

func (t *task) tag(name string) (*foundTag, error) {
	q := url.Values{"limit": {"100"}}
	if !uuidForm.MatchString(name) {
		q.Set("search", name)
	}
	for page := 1; page <= maxSearched; page++ {
		q.Set("page", fmt.Sprint(page))
		var list struct {
			Data       []foundTag
			TotalPages int
		}
		if err := t.readInto(t.e("listTags"), ask{query: q}, &list); err != nil {
			return nil, err
		}
		for i := range list.Data {
			if sameTag(&list.Data[i], name) {
				return &list.Data[i], nil
			}
		}
		if page >= list.TotalPages {
			break
		}
	}
	return nil, &failure{Status: http.StatusNotFound, Code: "TAG_NOT_FOUND", Message: "The workspace has no such tag."}
}

func manageTags(t *task) (map[string]any, error) {
	var in struct{ Action, Tag, Name, Color, Confirm string }
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	body := map[string]any{}
	for name, text := range map[string]string{"name": in.Name, "color": in.Color} {
		if text != "" {
			body[name] = text
		}
	}
	if in.Action == "create" {
		if in.Name == "" {
			body["name"] = in.Tag
		}
		tag, err := t.show(t.e("createTag"), ask{body: body})
		return map[string]any{"tag": tag}, err
	}
	if in.Tag == "" {
		return nil, invalid("Give the tag.")
	}
	found, err := t.tag(in.Tag)
	if err != nil {
		return nil, err
	}
	a := ask{path: map[string]string{"id": found.ID}}
	if in.Action == "update" {
		a.body = body
		tag, err := t.show(t.e("updateTag"), a)
		return map[string]any{"tag": tag}, err
	}
	about := map[string]any{"deletedTag": map[string]any{untrusted: found.Name}, "takenFromLinks": found.URLCount}
	if answer, err := t.confirmed(in.Confirm, []string{"delete", found.ID}, about); answer != nil || err != nil {
		return answer, err
	}
	if _, err := t.do(t.e("deleteTag"), a); err != nil {
		return nil, err
	}
	return map[string]any{"deleted": true}, nil
}

// operation returns an operation that the caller may use.
func (t *task) operation(id string) (*operation, error) {
	op := t.server.index().byID[id]
	if op == nil || !t.offers(op.endpoint) {
		return nil, &failure{Status: http.StatusNotFound, Code: "OPERATION_NOT_FOUND",
			Message: "There is no such operation for this key. search_operations finds those that there are."}
	}
	return op, nil
}

// offers reports whether the caller can use an operation with call_operation.
func (c *caller) offers(e *kit.Endpoint) bool {
	return (!c.readOnly || safe(e)) && c.server.kit.Permits(c.principal, e)
}

func callOperation(t *task) (map[string]any, error) {
	var in struct {
		Operation, Confirm string
		Path               map[string]string
		Query              map[string]json.RawMessage
		Body               json.RawMessage
	}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	op, err := t.operation(in.Operation)
	if err != nil {
		return nil, err
	}
	e := op.endpoint
	a := ask{path: in.Path}
	if a.query, err = queryOf(in.Query); err != nil {
		return nil, err
	}
	if in.Body != nil {
		if e.Method == http.MethodGet {
			return nil, invalid("This operation takes no body.")
		}
		a.body = in.Body
	}
	if needsConfirmation(e) {
		change := []any{e.ID, in.Path, a.query, in.Body}
		about := map[string]any{"operation": e.ID, "summary": e.Summary, "description": op.spec.Description,
			"path": in.Path, "query": a.query}
		if in.Body != nil {
			about["body"] = in.Body
		}
		if answer, err := t.confirmed(in.Confirm, change, about); answer != nil || err != nil {
			return answer, err
		}
	}
	result, err := t.show(e, a)
	return map[string]any{"result": result}, err
}

package ascode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// The actions of steps.
const (
	create    = "create"
	change    = "update"
	remove    = "delete"
	unchanged = "unchanged"
	refused   = "refused"
)

// step says what apply will do with one link, and why. Plans print it, also as JSON.
type step struct {
	Action     string                   `json:"action"`
	Link       string                   `json:"link"`
	ExternalID string                   `json:"externalId,omitempty"`
	To         string                   `json:"destination,omitempty"` // of a new link
	Changes    map[string]client.Change `json:"changes,omitempty"`
	Rules      []client.PartChange      `json:"rules,omitempty"`
	Variants   []client.PartChange      `json:"variants,omitempty"`
	Drift      string                   `json:"drift,omitempty"`   // what was changed by hand
	Problem    string                   `json:"problem,omitempty"` // why the step is not possible
	Conflict   bool                     `json:"conflict,omitempty"`

	item  map[string]any
	id    string
	etag  string
	owned bool // it has the tag of the owner
}

// plan is what apply would do.
type plan struct {
	owner string
	steps []step
	// Extra are links of the owner that no file has.
	extra []step
	// Shared are changes of tags and domains.
	shared []sharedStep
}

// owned is a link of the owner, as the list has it.
type owned struct {
	ID         string   `json:"id"`
	ShortURL   string   `json:"shortUrl"`
	ExternalID string   `json:"externalId"`
	Tags       []string `json:"tags"`
}

// makePlan compares files with the server.
func makePlan(ctx context.Context, a *app.App, r *remote.Remote, s *source) (*plan, error) {
	p := &plan{owner: s.owner}
	if err := p.findShared(ctx, r, s.shared); err != nil {
		return nil, err
	}
	var items []map[string]any
	var compared []*entry
	for _, one := range s.links {
		item, err := one.labelled(s.owner)
		if err != nil {
			return nil, err
		}
		if p.newDomain(text1(item["domain"])) {
			p.steps = append(p.steps, step{Action: create, Link: one.name, ExternalID: text1(item["externalId"]),
				To: text1(item["originalUrl"]), item: item})
			continue
		}
		items, compared = append(items, item), append(compared, one)
	}
	results, err := dryRun(ctx, r, items, func(n int) {
		a.Progress("comparing %s of %s links …", output.Number(int64(n)), output.Number(int64(len(items))))
	})
	a.Done()
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for i := range results {
		next := stepOf(s, compared[i], items[i], &results[i])
		p.steps, kept[next.id] = append(p.steps, next), true
	}
	if err := p.findDrift(ctx, r); err != nil {
		return nil, err
	}
	return p, p.findExtra(ctx, r, kept)
}

// findExtra finds the links of the owner that no file has. Mostly there are none, and then a number suffices to know.
func (p *plan) findExtra(ctx context.Context, r *remote.Remote, kept map[string]bool) error {
	if p.owner == "" {
		return nil
	}
	known := 0
	for i := range p.steps {
		if p.steps[i].owned {
			known++
		}
	}
	query := ownerQuery(p.owner)
	query.Set("limit", "1")
	raw, err := r.Get(ctx, "/api/urls", query)
	if err != nil {
		return err
	}
	var page struct {
		Total   int   `json:"total"`
		IsExact *bool `json:"totalIsExact"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return fmt.Errorf("the list of links cannot be read: %w", err)
	}
	if page.Total == known && (page.IsExact == nil || *page.IsExact) {
		return nil
	}
	list, err := linksOf(ctx, r, p.owner)
	if err != nil {
		return err
	}
	for _, one := range list {
		if !kept[one.ID] && ownerOf(one.Tags) == p.owner {
			p.extra = append(p.extra, step{Action: remove, Link: shortName(one.ShortURL), ExternalID: one.ExternalID, id: one.ID})
		}
	}
	slices.SortFunc(p.extra, func(a, b step) int { return cmp.Compare(a.Link, b.Link) })
	return nil
}

func ownerQuery(owner string) url.Values {
	return url.Values{"tag": {ownerTag(owner)}, "fields": {"id,shortUrl,externalId,tags"}, "sortBy": {"createdAt"}}
}

// linksOf lists the links of an owner.
func linksOf(ctx context.Context, r *remote.Remote, owner string) ([]owned, error) {
	rows, err := r.List(ctx, "/api/urls", ownerQuery(owner), 0, nil)
	if err != nil {
		return nil, err
	}
	var out []owned
	if err := json.Unmarshal(rows.JSON(), &out); err != nil {
		return nil, fmt.Errorf("the list of links cannot be read: %w", err)
	}
	return out, nil
}

func shortName(address string) string {
	if _, name, found := strings.Cut(address, "://"); found {
		return name
	}
	return address
}

// stepOf says what the result of the dry run means.
func stepOf(s *source, e *entry, item map[string]any, got *client.UpsertedLink) step {
	out := step{Link: e.name, ExternalID: text1(e.item["externalId"]), item: item}
	if got.ShortURL != nil {
		out.Link = shortName(*got.ShortURL)
	}
	if got.ID != nil {
		out.id = *got.ID
	}
	if got.ETag != nil {
		out.etag = *got.ETag
	}
	var before []string
	tags, retagged := got.Changes["tags"]
	_ = json.Unmarshal(tags.Old, &before) // of another type: there are none
	out.owned = got.ID != nil && got.Result != client.UpsertedLinkResultRefused && (!retagged || ownerOf(before) == s.owner)
	switch got.Result {
	case client.UpsertedLinkResultCreated:
		out.Action, out.To = create, text1(e.item["originalUrl"])
		return out
	case client.UpsertedLinkResultUnchanged:
		out.Action = unchanged
		return out
	case client.UpsertedLinkResultUpdated:
		out.Action = change
	default:
		out.Action, out.Problem = refused, e.at.String()+": "+refusal(got.Error)
		if got.Error != nil {
			out.Conflict = got.Error.StatusCode == http.StatusConflict || got.Error.StatusCode == http.StatusPreconditionFailed
		}
		return out
	}
	out.Changes, out.Rules, out.Variants = got.Changes, got.RoutingRules, got.Variants
	if onlyStamp(&out) { // such as a time in another form; the history tells of drift also with an old stamp
		out.Action, out.Changes = unchanged, nil
		return out
	}
	if retagged {
		switch owner := ownerOf(before); {
		case owner != s.owner && owner != "":
			out.Action, out.Conflict = refused, true
			out.Problem = fmt.Sprintf("%s: the link belongs to the owner %s", e.at, owner)
			out.Changes, out.Rules, out.Variants = nil, nil, nil
			return out
		case owner == "" && s.owner != "" && differs(&out, s.owner):
			out.Drift = "the link exists and has no owner"
		}
	}
	return out
}

// differs reports whether more than the label of the owner changes.
func differs(s *step, owner string) bool {
	if len(s.Rules)+len(s.Variants) > 0 {
		return true
	}
	for name, c := range s.Changes {
		if name != "tags" && name != "notes" && name != "externalId" && name != "password" {
			return true
		}
		if name == "notes" {
			if before, after := notesOf(c); before != after {
				return true
			}
		}
		if name == "tags" && !slices.Equal(tagsWithout(c.Old, owner), tagsWithout(c.New, owner)) {
			return true
		}
	}
	return false
}

// onlyStamp reports whether nothing but the stamp would change.
func onlyStamp(s *step) bool {
	notes, has := s.Changes["notes"]
	if !has || len(s.Changes) > 1 || len(s.Rules)+len(s.Variants) > 0 {
		return false
	}
	before, after := notesOf(notes)
	return before == after
}

func notesOf(c client.Change) (before, after string) {
	before, _ = splitNotes(textOf(c.Old))
	after, _ = splitNotes(textOf(c.New))
	return before, after
}

func textOf(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text) // null is ""
	return text
}

func tagsWithout(raw json.RawMessage, owner string) []string {
	var tags []string
	_ = json.Unmarshal(raw, &tags) // null is none
	return slices.DeleteFunc(tags, func(one string) bool { return strings.EqualFold(one, ownerTag(owner)) })
}

// keyOf returns the key of a file for a field of the API.
func keyOf(api string) string {
	for prefix, fields := range map[string][]field{"": plainFields, "utm.": utmFields, "preview.": previewFields} {
		for _, f := range fields {
			if f.api == api {
				return prefix + f.key
			}
		}
	}
	if api == "status" {
		return "active"
	}
	return api
}

func refusal(e *client.ItemError) string {
	if e == nil {
		return "the server refused the link"
	}
	if len(e.Errors) == 0 {
		return e.Message
	}
	var out []string
	for _, one := range e.Errors {
		path := strings.Split(one.Field, ".")
		if len(path) > 2 && path[0] == "items" {
			path = path[2:]
		}
		path[0] = keyOf(path[0])
		if last := len(path) - 1; path[last] == "targetUrl" {
			path[last] = "destination"
		}
		out = append(out, strings.Join(path, ".")+": "+one.Message)
	}
	return strings.Join(out, "; ")
}

// count counts the steps with an action.
func (p *plan) count(action string) (n int) {
	for i := range p.steps {
		if p.steps[i].Action == action {
			n++
		}
	}
	return n
}

func (p *plan) drifted() (n int) {
	for i := range p.steps {
		if p.steps[i].Drift != "" {
			n++
		}
	}
	return n
}

// problem returns the error if the server refuses links.
func (p *plan) problem() error {
	n, code := 0, app.CodeConflict
	for i := range p.steps {
		if s := &p.steps[i]; s.Action == refused {
			if n++; !s.Conflict {
				code = app.CodeError
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &app.Exit{Code: code, Err: fmt.Errorf("%s cannot be applied; nothing was changed", links(n))}
}

func links(n int) string {
	if n == 1 {
		return "1 link"
	}
	return output.Number(int64(n)) + " links"
}

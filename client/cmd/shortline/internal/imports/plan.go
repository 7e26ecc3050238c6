package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// The ways to treat a slug that is taken.
const (
	skip      = "skip"
	rename    = "rename"
	overwrite = "overwrite"
)

const (
	mostItems   = 1000
	mostBody    = 1 << 20 // bytes of the items of a request; the server takes 2 MiB
	mostSlug    = 50      // bytes of a slug
	mostRenames = 100     // numbers that are tried after a slug
)

// answer is what the server says about an item.
type answer struct {
	Result       string                     `json:"result"`
	ID           *string                    `json:"id"`
	ShortURL     *string                    `json:"shortUrl"`
	ExternalID   *string                    `json:"externalId"`
	ETag         *string                    `json:"etag"`
	Changes      map[string]json.RawMessage `json:"changes"`
	RoutingRules []json.RawMessage          `json:"routingRules"`
	Error        *struct {
		StatusCode int    `json:"statusCode"`
		Message    string `json:"message"`
		Errors     []struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		} `json:"errors"`
	} `json:"error"`
}

// sameBaseline reports whether the link would get another baseline that differs only in its date.
func (a *answer) sameBaseline() bool {
	var change struct{ Old, New *baseline }
	if json.Unmarshal(a.Changes["clickBaseline"], &change) != nil || change.Old == nil || change.New == nil {
		return false
	}
	change.Old.Until = change.New.Until
	return *change.Old == *change.New
}

// field returns the first field that the answer refuses, without its place in the request.
func (a *answer) field() string {
	if a.Error == nil || len(a.Error.Errors) == 0 {
		return ""
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(a.Error.Errors[0].Field, "items."), ".")
	return name
}

// reason returns why the item is refused, without its place in the request.
func (a *answer) reason() string {
	if a.Error == nil {
		return ""
	}
	var texts []string
	for _, one := range a.Error.Errors {
		_, name, _ := strings.Cut(strings.TrimPrefix(one.Field, "items."), ".")
		texts = append(texts, strings.TrimSpace(name+" "+one.Message))
	}
	if len(texts) == 0 {
		return a.Error.Message
	}
	return strings.Join(texts, "; ")
}

// upsert sends items and returns an answer for each. A written request is not interrupted, so that the server's state is known.
func (e *engine) upsert(ctx context.Context, rows []*row, dry bool) ([]answer, error) {
	items := make([]map[string]any, len(rows))
	for i, one := range rows {
		items[i] = one.item
	}
	query := url.Values{}
	if dry {
		query.Set("dryRun", "true")
	} else {
		ctx = context.WithoutCancel(ctx)
	}
	res, err := e.remote.Do(ctx, remote.Request{Method: http.MethodPut, Path: "/api/urls/bulk", Query: query,
		Body: map[string]any{"items": items}})
	if err != nil {
		return nil, err
	}
	var got struct {
		Items []answer `json:"items"`
	}
	if err := json.Unmarshal(res.Body, &got); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(got.Items) != len(rows) {
		return nil, fmt.Errorf("the server answered %d items with %d results", len(rows), len(got.Items))
	}
	return got.Items, nil
}

// plan asks the server what would become of rows, and decides about conflicts until every row is settled. It writes nothing.
func (e *engine) plan(ctx context.Context, rows []*row) error {
	for {
		var open []*row
		for _, one := range rows {
			if !one.settled && !e.twice(one) {
				open = append(open, one)
			}
		}
		if len(open) == 0 {
			return nil
		}
		answers, err := e.upsert(ctx, open, true)
		if err != nil {
			return err
		}
		for i, one := range open {
			e.decide(one, &answers[i])
		}
	}
}

// twice settles a row whose address an earlier row of this run has. It reports whether it has.
func (e *engine) twice(one *row) bool {
	for {
		key := one.key()
		if key == "" {
			return false
		}
		first, taken := e.seen[key]
		if !taken || first == one.Row {
			e.seen[key] = one.Row
			return false
		}
		if e.conflicts != rename || !one.renumber() {
			one.conclude(Skipped, "row "+fmt.Sprint(first)+" has the same address")
			return true
		}
	}
}

// key returns the address that a row asks for, or "".
func (r *row) key() string {
	slug, named := r.item["customSlug"].(string)
	if !named {
		return ""
	}
	domain, named := r.item["domain"].(string)
	if !named {
		domain = "-" // the default of the workspace; no host is called that
	}
	return domain + "/" + slug
}

// decide settles a row by the answer to a dry run, or changes its item for the next one.
func (e *engine) decide(one *row, a *answer) {
	own, _ := one.item["externalId"].(string)
	if a.sameBaseline() { // asked again, but nobody has clicked
		delete(one.item, "clickBaseline")
		if delete(a.Changes, "clickBaseline"); len(a.Changes)+len(a.RoutingRules) == 0 {
			a.Result = "UNCHANGED"
		}
	}
	switch {
	case a.Result == "CREATED":
		one.settled, one.Outcome = true, Created
		if one.renamed {
			one.Outcome, one.Reason = Renamed, "the slug "+quoted(one.slug)+" is taken"
		}
	case a.Result == "UNCHANGED":
		one.settled, one.Outcome = true, Unchanged
	case a.Result == "UPDATED" && (a.Changes["externalId"] == nil || e.conflicts == overwrite):
		one.settled, one.Outcome = true, Updated
		if a.ETag != nil && (own == "" || a.Changes["externalId"] != nil) {
			one.item["ifMatch"] = *a.ETag // nobody may change the foreign link meanwhile
		}
	case a.Result == "UPDATED": // a link that was made here has the slug
		e.conflict(one)
	case a.field() == "customSlug" && a.Error.StatusCode == http.StatusConflict:
		e.conflict(one)
	case own != "" && deref(a.ExternalID) == own && (a.field() == "customSlug" || a.field() == "domain") && one.item["customSlug"] != nil:
		delete(one.item, "customSlug") // an earlier run has renamed it
		delete(one.item, "domain")
	default:
		one.refuse(a.reason())
	}
	if a.ShortURL != nil {
		one.ShortURL = *a.ShortURL
	}
	one.LinkID = deref(a.ID)
}

// conflict treats a slug that is taken.
func (e *engine) conflict(one *row) {
	switch {
	case e.conflicts == rename:
		if !one.renumber() {
			one.refuse("the slug and its numbers are taken")
		}
	case e.conflicts == overwrite && one.item["externalId"] != nil:
		delete(one.item, "externalId") // the link keeps its own
	case e.conflicts == overwrite:
		one.refuse("the slug belongs to another workspace")
	default:
		one.conclude(Skipped, "the slug is taken")
	}
}

// renumber gives a row the next number after its slug. It reports whether there is one.
func (r *row) renumber() bool {
	r.tried = max(r.tried+1, 2)
	suffix := fmt.Sprintf("-%d", r.tried)
	base := r.slug
	for len(base)+len(suffix) > mostSlug {
		_, size := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-size]
	}
	r.item["customSlug"], r.renamed = base+suffix, true
	return r.tried <= mostRenames
}

// writeRows sends the rows that are to be created or changed, and notes what the server says.
func (e *engine) writeRows(ctx context.Context, rows []*row) error {
	var list []*row
	for _, one := range rows {
		switch {
		case one.written:
		case one.guarded && (one.Outcome == Created || one.Outcome == Renamed):
			one.item["status"] = "INACTIVE"
			list = append(list, one)
		case one.Outcome == Created || one.Outcome == Renamed || one.Outcome == Updated:
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil
	}
	answers, err := e.upsert(ctx, list, false)
	if err != nil {
		return err
	}
	for i, one := range list {
		a := &answers[i]
		one.LinkID, one.ShortURL = deref(a.ID), deref(a.ShortURL)
		switch {
		case a.Result == "REFUSED": // somebody was faster than this run
			one.refuse(a.reason())
		case a.Result == "UPDATED" && one.Outcome == Created:
			one.Outcome = Updated
		}
	}
	return nil
}

package linkapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// bulkItem is a createURL whose destination may be missing, and whose times may be anything. Then the item fails, but not the
// whole request.
type bulkItem struct {
	OriginalURL kit.Opt[string]       `json:"originalUrl,omitempty" doc:"Required; an item without it fails."`
	CustomSlug  kit.Opt[string]       `json:"customSlug,omitempty"`
	Domain      kit.Opt[string]       `json:"domain,omitempty"`
	StartsAt    kit.Opt[kit.TimeText] `json:"startsAt,omitempty" doc:"When the link starts to work. Before that, visitors get 404."`
	ExpiresAt   kit.Opt[kit.TimeText] `json:"expiresAt,omitempty" doc:"When the link stops working."`
	URLFields
}

// creation converts an item with its problems.
func (b *bulkItem) creation() links.Creation {
	out := links.Creation{Input: b.input(b.OriginalURL), CustomSlug: b.CustomSlug.Value, Domain: kit.Given(b.Domain, "")}
	out.StartsAt = kit.TextMillis(b.StartsAt, "startsAt", &out.Problems)
	out.ExpiresAt = kit.TextMillis(b.ExpiresAt, "expiresAt", &out.Problems)
	return out
}

// BulkCreated reports the result of each item of a bulk creation.
type BulkCreated struct {
	Total        int           `json:"total"`
	SuccessCount int           `json:"successCount"`
	FailureCount int           `json:"failureCount"`
	Succeeded    []BulkSuccess `json:"succeeded"`
	Failed       []BulkFailure `json:"failed"`
}

// BulkSuccess is an item whose link was created.
type BulkSuccess struct {
	Index int `json:"index"`
	URL   URL `json:"url"`
}

// BulkFailure is an item whose link was not created.
type BulkFailure struct {
	Index int    `json:"index"`
	Error string `json:"error"`
	Field string `json:"field"`
}

// BulkUpdated lists the links of a bulk update.
type BulkUpdated struct {
	UpdatedCount int      `json:"updatedCount"`
	UpdatedIDs   []string `json:"updatedIds"`
	Message      string   `json:"message"`
}

// BulkDeleted lists the links of a bulk deletion.
type BulkDeleted struct {
	DeletedCount int      `json:"deletedCount"`
	DeletedIDs   []string `json:"deletedIds"`
}

// URLsTransferred lists the links that were moved to another workspace.
type URLsTransferred struct {
	TransferredCount int      `json:"transferredCount"`
	TransferredIDs   []string `json:"transferredIds"`
	WorkspaceID      string   `json:"workspaceId"`
}

type bulkUpdate struct {
	URLIDs    []string        `json:"urlIds" doc:"1 to 1,000 ids; all are changed or none."`
	Status    kit.Opt[string] `json:"status,omitempty" values:"linkSwitch"`
	Operation json.RawMessage `json:"operation,omitempty" doc:"status, bundle, tags, expiration or utm, together with value; or an object {type, …} that contains status, bundleId, tags, expiresAt, the utm fields, or value."`
	Value     json.RawMessage `json:"value,omitempty" doc:"New value for the operation."`
}

func (s *server) registerURLBulk() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/bulk", ID: "bulkCreateURLs", Summary: "Create many short URLs", Tag: "URLs"}.
		About("1 to 1,000 links. Each is created independently: the response lists failed links with index and reason. A request can set 30 different passwords; a link with one more fails, and the same password again is free. If the service would have more links than its limit, the whole request gets 409 and creates nothing.").
		Example(`{"urls":[{"originalUrl":"https://example.com/a"},{"originalUrl":"https://example.com/b","customSlug":"launch-b"}]}`).Fails(http.StatusConflict), s.bulkCreateURLs)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPatch, Path: "/api/urls/bulk", ID: "bulkUpdateURLs", Summary: "Change many short URLs, all or none", Tag: "URLs"}.
		About("1 to 1,000 links: `status`; or `operation: \"bundle\"` with the bundle's id as `value`; or `operation: \"tags\"` with a list of names as `value`, which adds the tags; or `operation: \"removeTags\"`, which removes them; or `operation` as an object of type status, bundle, tags, removeTags, expiration or utm. If a link does not exist, the response is 404 and nothing changes.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"],"status":"INACTIVE"}`), s.bulkUpdateURLs)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: "/api/urls/bulk", ID: "bulkDeleteURLs", Summary: "Delete many short URLs, all or none", Tag: "URLs", Status: http.StatusOK}.
		About("1 to 1,000 links. If a link does not exist, the response is 404 and nothing is deleted.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"]}`),
		func(ctx context.Context, in *struct {
			Body struct {
				URLIDs []string `json:"urlIds" doc:"1 to 1,000 ids."`
			}
		}) (*kit.Body[BulkDeleted], error) {
			return kit.Respond(func(ids []string) BulkDeleted { return BulkDeleted{len(ids), ids} })(s.Links.DeleteMany(ctx, kit.Principal(ctx), in.Body.URLIDs))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/transfer", ID: "transferURLs", Summary: "Move short URLs to another workspace, all or none", Tag: "URLs", Status: http.StatusOK}.
		About("1 to 1,000 links, with their rules, variants and clicks. They keep their slugs and leave the bundles and tags of their old workspace. The caller needs the role EDITOR in both workspaces. If a link or the workspace does not exist, the response is 404 and nothing changes. Webhooks of both workspaces that subscribe to `url.updated` get it, with the change `workspaceId`.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"],"workspaceId":"01970000-0000-7000-8000-000000000000"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			Body struct {
				URLIDs      []string `json:"urlIds" doc:"1 to 1,000 ids; all are moved or none."`
				WorkspaceID string   `json:"workspaceId" doc:"Id or slug of the workspace that is to own the links. The caller needs the role EDITOR there too."`
			}
		}) (*kit.Body[URLsTransferred], error) {
			ids, to, err := s.Links.Transfer(ctx, kit.Principal(ctx), in.Body.URLIDs, in.Body.WorkspaceID)
			if err != nil {
				return nil, err
			}
			return kit.NewBody(URLsTransferred{len(ids), ids, to}), nil
		})
}

func (s *server) bulkCreateURLs(ctx context.Context, in *struct {
	Body struct {
		URLs []bulkItem `json:"urls" doc:"1 to 1,000 items; each succeeds or fails on its own."`
	}
}) (*kit.Body[BulkCreated], error) {
	items := make([]links.Creation, len(in.Body.URLs))
	for i := range items {
		items[i] = in.Body.URLs[i].creation()
	}
	made, failed, err := s.Links.CreateMany(ctx, kit.Principal(ctx), items)
	if err != nil {
		return nil, err
	}
	out := BulkCreated{Total: len(items), SuccessCount: len(made), FailureCount: len(failed), Succeeded: make([]BulkSuccess, len(made)), Failed: make([]BulkFailure, len(failed))}
	for i := range made {
		u := s.urlOf(made[i].URL)
		u.WorkspaceID = kit.Principal(ctx).Workspace.ID
		out.Succeeded[i] = BulkSuccess{made[i].Index, u}
	}
	for i, f := range failed {
		out.Failed[i] = BulkFailure{f.Index, f.Message, f.Field}
	}
	return kit.NewBody(out), nil
}

func (s *server) bulkUpdateURLs(ctx context.Context, in *struct{ Body bulkUpdate }) (*kit.Body[BulkUpdated], error) {
	change, err := in.Body.input()
	if err != nil {
		return nil, err
	}
	ids, err := s.Links.UpdateMany(ctx, kit.Principal(ctx), in.Body.URLIDs, change)
	if err != nil {
		return nil, err
	}
	noun := "URLs"
	if len(ids) == 1 {
		noun = "URL"
	}
	return kit.NewBody(BulkUpdated{len(ids), ids, fmt.Sprintf("%d %s updated.", len(ids), noun)}), nil
}

// input unifies the forms of a bulk update: {status}, {operation: "type", value}, {operation: {type, …}}.
func (b *bulkUpdate) input() (links.Input, error) {
	switch {
	case b.Operation == nil && b.Value != nil:
		return links.Input{}, problem.OfField("operation", "is required beside value")
	case b.Operation == nil && !b.Status.Set:
		return links.Input{}, problem.OfField("status", "is required, or an operation")
	case b.Operation == nil:
		return links.Input{Status: kit.Given(b.Status, "")}, nil
	case b.Status.Set:
		return links.Input{}, problem.OfField("status", "can't be given beside an operation")
	}
	if b.Operation[0] == '"' {
		var name string
		if err := json.Unmarshal(b.Operation, &name); err != nil {
			return links.Input{}, problem.OfField("operation", "is not a text")
		}
		if name == "utm" {
			return operation("value", name, nil, b.Value)
		}
		return operation("value", name, b.Value, nil)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b.Operation, &members); err != nil || members == nil {
		return links.Input{}, problem.OfField("operation", "must be a text or an object")
	}
	if b.Value != nil {
		return links.Input{}, problem.OfField("value", "belongs inside the operation")
	}
	var name string
	if err := json.Unmarshal(members["type"], &name); err != nil {
		return links.Input{}, problem.OfField("operation.type", "must be one of status, bundle, tags, removeTags, expiration, utm")
	}
	delete(members, "type")
	if name == "utm" && members["value"] == nil {
		rest, _ := json.Marshal(members) // cannot fail: the values are valid JSON
		return operation("operation", name, nil, rest)
	}
	own := map[string]string{"status": "status", "bundle": "bundleId", "tags": "tags", "removeTags": "tags", "expiration": "expiresAt", "utm": "value"}[name]
	value := members["value"]
	if v := members[own]; v != nil {
		value = v
	}
	delete(members, "value")
	delete(members, own)
	for _, left := range slices.Sorted(maps.Keys(members)) {
		return links.Input{}, problem.OfField("operation."+left, "is not a known property")
	}
	if name == "utm" {
		return operation("operation.value", name, nil, value)
	}
	return operation("operation."+own, name, value, nil)
}

// operation builds the input of one operation. path is the location of its value in the request. Campaign fields are
// an object.
func operation(path, name string, value, utm json.RawMessage) (in links.Input, err error) {
	null := value == nil || bytes.Equal(value, []byte("null")) || bytes.Equal(value, []byte(`""`))
	var s string
	switch name {
	case "status":
		if json.Unmarshal(value, &s) != nil {
			return in, problem.OfField(path, "must be ACTIVE or INACTIVE")
		}
		in.Status = &s
	case "bundle":
		if null || json.Unmarshal(value, &s) != nil {
			return in, problem.OfField(path, "must be the id of a bundle")
		}
		in.BundleIDs = &[]string{s}
	case "tags", "removeTags":
		var names []string
		if null || json.Unmarshal(value, &names) != nil {
			return in, problem.OfField(path, "must be a list of names")
		}
		if name == "tags" {
			in.Tags = &names
		} else {
			in.NoTags = names
		}
	case "expiration":
		var at kit.Time
		if value == nil {
			return in, problem.OfField(path, "is required; null removes the expiry")
		}
		if !null && json.Unmarshal(value, &at) != nil {
			return in, problem.OfField(path, "must be a date or time in ISO 8601, or null")
		}
		ms := int64(at)
		in.ExpiresAt = &ms
	case "utm":
		var members map[string]json.RawMessage
		if utm == nil || json.Unmarshal(utm, &members) != nil || len(members) == 0 {
			return in, problem.OfField(path, "must have at least one utm field")
		}
		in.Texts = map[string]string{}
		var v problem.Fields
		for _, member := range slices.Sorted(maps.Keys(members)) {
			var o kit.Opt[string]
			switch f := store.LinkText(member); {
			case f == nil || !f.UTM:
				v.Add(path+"."+member, "is not a known property")
			case json.Unmarshal(members[member], &o) != nil:
				v.Add(path+"."+member, "must be a text or null")
			default:
				in.Texts[member] = o.Value
			}
		}
		return in, v.Err()
	default:
		return in, problem.OfField("operation", "must be one of status, bundle, tags, removeTags, expiration, utm")
	}
	return in, nil
}

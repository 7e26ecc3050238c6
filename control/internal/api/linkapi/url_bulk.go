package linkapi

import (
	"bytes"
	"encoding/json"
	"maps"
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

// linkInput unifies the forms of a bulk update: {status}, {operation: "type", value}, {operation: {type, …}}.
func (b *bulkUpdate) linkInput() (links.Input, error) {
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
	own := map[string]string{"status": "status", "bundle": "bundleId", "tags": "tags", "removeTags": "tags", "expiration": "expiresAt",
		"utm": "value"}[name]
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

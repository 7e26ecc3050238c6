package mcpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
)

// safePosts are operations that change nothing although their method is POST.
var safePosts = []string{"explainURL", "explainNewURL", "replayURL", "urlQRCodeWithLogo", "previewImport"}

// safe reports whether an operation changes nothing.
func safe(e *kit.Endpoint) bool {
	return e.Method == http.MethodGet || slices.Contains(safePosts, e.ID)
}

// confirmed are operations that affect many objects, cannot be undone, or let others see data, although their method is not DELETE.
var confirmed = []string{"createInvitation", "upsertURLs", "rotateWebhookSecret", "createWebhook", "updateWebhook",
	"putConversionSettings", "bulkUpdateURLs", "transferURLs", "startImport", "retryWebhookFailures", "rotateConversionKey",
	"updateWorkspace", "setMemberRole", "putSetting", "suspendURL", "suspendDomain", "setUserName", "resolveAbuseReport"}

// needsConfirmation reports whether call_operation needs a second call for an operation.
func needsConfirmation(e *kit.Endpoint) bool {
	return e.Method == http.MethodDelete || slices.Contains(confirmed, e.ID)
}

// privateTags are the resources that no model may use: who may sign in, and credentials.
var privateTags = []string{"Account", "Passkeys", "Single sign-on", "API keys", "Identity providers", "Users", "Privacy", "MCP", ""}

// callable reports whether call_operation offers an operation: it takes and returns JSON, and is not about accounts or credentials.
func callable(e *kit.Endpoint) bool {
	private := slices.Contains(privateTags, e.Tag) && e.ID != "getMe"
	return e.ID != "" && (e.Need == kit.SignedIn || e.Need == kit.Admin) && !private && !e.SessionOnly && !e.Escalates && !e.SignsIn &&
		!e.Raw && e.Files == nil && e.Timeout >= 0 && !strings.HasSuffix(e.ID, "Alias")
}

// operation is an operation as search_operations finds it.
type operation struct {
	endpoint *kit.Endpoint
	spec     *huma.Operation
	words    string // in lower case
}

// index has the operations that call_operation offers.
type index struct {
	byID    map[string]*operation
	list    []*operation // by id
	schemas map[string]any
}

func newIndex(k *kit.Kit) *index {
	doc := k.Document()
	specs := map[string]*huma.Operation{}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
			if op != nil {
				specs[op.OperationID] = op
			}
		}
	}
	x := &index{byID: map[string]*operation{}, schemas: map[string]any{}}
	for e := range k.Declared() {
		spec := specs[e.ID]
		if !callable(e) || spec == nil || spec.Deprecated {
			continue
		}
		op := &operation{e, spec, strings.ToLower(e.ID + " " + e.Tag + " " + e.Summary + " " + e.Path + " " + spec.Description)}
		x.byID[e.ID] = op
		x.list = append(x.list, op)
	}
	slices.SortFunc(x.list, func(a, b *operation) int { return strings.Compare(a.endpoint.ID, b.endpoint.ID) })
	for name, schema := range doc.Components.Schemas.Map() {
		x.schemas[name] = plainJSON(schema)
	}
	return x
}

// plainJSON returns a value as decoded JSON.
func plainJSON(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic("BUG: a schema cannot be written: " + err.Error())
	}
	return out
}

// matching returns the operations that have the words of a question, best first. Words in the id, the resource or the summary count more
// than words in the description.
func (x *index) matching(question string, sees func(*kit.Endpoint) bool) (found []*operation) {
	words := strings.Fields(strings.ToLower(question))
	points := map[*operation]int{}
	for _, op := range x.list {
		if !sees(op.endpoint) {
			continue
		}
		title := strings.ToLower(op.endpoint.ID + " " + op.endpoint.Tag + " " + op.endpoint.Summary)
		for _, w := range words {
			w = strings.TrimSuffix(w, "s")
			switch {
			case strings.Contains(title, w):
				points[op] += 3
			case strings.Contains(op.words, w):
				points[op]++
			}
		}
		if points[op] > 0 || len(words) == 0 {
			found = append(found, op)
		}
	}
	slices.SortStableFunc(found, func(a, b *operation) int { return points[b] - points[a] })
	return found
}

// brief describes an operation in a line.
func (op *operation) brief() map[string]any {
	return map[string]any{"operation": op.endpoint.ID, "method": op.endpoint.Method, "path": op.endpoint.Path,
		"summary": op.endpoint.Summary, "changesData": !safe(op.endpoint), "needsConfirmation": needsConfirmation(op.endpoint)}
}

// maxSchemaDepth is how deep the schema of a request is shown.
const maxSchemaDepth = 6

// details describes an operation with its parameters and the schema of its body.
func (x *index) details(op *operation) map[string]any {
	out := op.brief()
	out["description"] = op.spec.Description
	path, query := map[string]any{}, map[string]any{}
	for _, p := range op.spec.Parameters {
		about := p.Description
		if p.Schema != nil && p.Schema.Type != "" {
			about = strings.TrimSpace(p.Schema.Type + ". " + about)
		}
		if p.Required {
			about = "Required. " + about
		}
		switch p.In {
		case "path":
			path[p.Name] = about
		case "query":
			query[p.Name] = about
		}
	}
	if len(path) > 0 {
		out["pathParameters"] = path
	}
	if len(query) > 0 {
		out["queryParameters"] = query
	}
	if op.spec.RequestBody != nil {
		if m := op.spec.RequestBody.Content["application/json"]; m != nil {
			out["body"] = x.inline(plainJSON(m.Schema), 0)
			if op.endpoint.ExampleBody() != "" {
				out["bodyExample"] = json.RawMessage(op.endpoint.ExampleBody())
			}
		}
	}
	return out
}

// inline replaces references in a schema by what they name.
func (x *index) inline(v any, depth int) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = x.inline(v[i], depth)
		}
		return out
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, kit.SchemaPrefix)
			if depth >= maxSchemaDepth {
				return map[string]any{"description": "like " + name}
			}
			return x.inline(x.schemas[name], depth+1)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			if name != "examples" && name != "example" {
				out[name] = x.inline(member, depth)
			}
		}
		return out
	}
	return v
}

package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// serverFields are names of fields that only the service sets, and of fields of other endpoints.
var serverFields = []string{
	"id", "num", "userId", "user", "owner", "ownerId", "urlId", "slug", "shortUrl", "revision", "createdAt", "updatedAt", "clickCount",
	"hasPassword", "passwordHash", "password_hash",
	"role", "isAdmin", "admin", "email", "status", "isActive", "twoFactorEnabled", "totpSecret", "sessionId", "key", "keyHash", "prefix",
	"lastUsedAt", "matchCount", "lastMatchedAt",
	"totalSent", "totalSuccess", "totalFailed", "lastError", "hasSecret", "hasClientSecret", "callbackUrl", "urlCount",
	"totalClicks", "urls",
	"order", "scope",
	"__proto__", "constructor", "$schema", "Name", "ORIGINALURL",
}

// spellings returns a field's name in the styles of other languages and libraries, and likely guesses.
func spellings(name string) []string {
	var snake strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(c))
	}
	return []string{name, snake.String(), strings.ToUpper(name[:1]) + name[1:], strings.ToUpper(name), "_" + name, "-" + name,
		"user." + name, name + " "}
}

// writes lists the endpoints that accept or reject a JSON body, with the field names of the interface document.
func (w *world) writes() (rows []row, known map[string]map[string]bool) {
	known = map[string]map[string]bool{}
	files := map[string]bool{} // endpoints that take a file instead
	doc := w.openapi()
	for path, methods := range doc.Paths {
		for method, op := range methods {
			names := map[string]bool{}
			endpoint := strings.ToUpper(method) + " " + placeholder.ReplaceAllString(path, "{}")
			if op.RequestBody != nil {
				_, takesJSON := op.RequestBody.Content["application/json"]
				files[endpoint] = !takesJSON
				doc.fields(w, op.RequestBody.Content["application/json"].Schema, names)
			}
			known[endpoint] = names
		}
	}
	rows = slices.DeleteFunc(table(w.t), func(r row) bool { return r.method == "GET" || files[r.endpoint()] })
	return rows, known
}

// fields adds the names of the fields of a body to names. A body may be one of several forms.
func (doc openapi) fields(w *world, schema map[string]any, names map[string]bool) {
	if ref, ok := schema["$ref"].(string); ok {
		var named map[string]any
		w.ok(json.Unmarshal(doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], &named))
		doc.fields(w, named, names)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		names[name] = true
	}
	forms, _ := schema["oneOf"].([]any)
	for _, form := range forms {
		if one, ok := form.(map[string]any); ok {
			doc.fields(w, one, names)
		}
	}
}

// properties lists the names of the fields of all objects in the document.
func (doc openapi) properties() []string {
	names := map[string]bool{}
	for _, text := range doc.Components.Schemas {
		var schema struct{ Properties map[string]any }
		if json.Unmarshal(text, &schema) == nil {
			for name := range schema.Properties {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Every endpoint rejects unknown fields by name, and a rejected request has no effect. The caller is an administrator,
// who may set the most fields. Make test tries some of the fields at each endpoint, make proof all of them in all spellings.
func TestAssignment_of_unknown_fields(t *testing.T) {
	walk(t, whole, func(t *testing.T, w *world) {
		th, tried := w.thingsOf(w.root), 0
		rows, known := w.writes()
		refused := func(r row, body, field string) {
			t.Helper()
			tried++
			for _, k := range r.kinds() {
				th.id(k)
			}
			r.body = body
			before := w.trace()
			got := w.send(r, th.id, as(w.root))
			if got.StatusCode != 400 || !strings.Contains(got.text, fmt.Sprintf(`"field":%q`, field)) {
				t.Errorf("%s with %s: %d %s", r.endpoint(), body, got.StatusCode, got.text)
			}
			if w.trace() != before {
				t.Errorf("the rejected request %s with %s changed the data", r.endpoint(), body)
			}
		}
		names := serverFields
		if testkit.Size(false, true) {
			seen := map[string]bool{}
			for _, name := range serverFields {
				for _, s := range spellings(name) {
					seen[s] = true
				}
			}
			names = slices.Sorted(maps.Keys(seen))
		}
		responses := slices.DeleteFunc(w.openapi().properties(), func(name string) bool { return slices.Contains(names, name) })
		t.Logf("%d more names of fields in the document", len(responses))
		for n, r := range rows {
			// The fields of all objects in the document, such as those that only responses have.
			some := append(thinned(names, 6, n), thinned(responses, 60, n)...)
			for _, name := range some {
				if known[r.endpoint()][name] {
					continue
				}
				inner := strings.TrimSuffix(strings.TrimPrefix(r.body, "{"), "}")
				if inner != "" {
					inner += ","
				}
				refused(r, fmt.Sprintf(`{%s%q:"x"}`, inner, name), name)
			}
		}
		bulk := row{method: "POST", path: "/api/urls/bulk"}
		for _, name := range []string{"id", "userId", "slug", "clickCount", "createdAt", "passwordHash"} {
			refused(bulk, fmt.Sprintf(`{"urls":[{"originalUrl":"https://example.com/"},{"originalUrl":"https://example.com/",%q:"x"}]}`,
				name),
				"urls.1."+name)
			patch := row{method: "PATCH", path: "/api/urls/bulk"}
			refused(patch, fmt.Sprintf(`{"urlIds":[%q],"operation":{"type":"utm","utmSource":"a",%q:"x"}}`, th.id("url"), name),
				"operation."+name)
		}
		t.Logf("%d requests rejected, %d fields at each endpoint", tried, len(names))
		if tried < testkit.Size(500, 10_000) {
			t.Errorf("only %d requests", tried)
		}
	})
}

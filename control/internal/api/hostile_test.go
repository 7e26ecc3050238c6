package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// hostileValues are JSON values of the wrong type, size or form for most fields.
var hostileValues = []string{
	`null`, `true`, `false`, `0`, `-1`, `1.5`, `1e308`, `-9223372036854775809`, `18446744073709551616`, `""`, `" "`, `"x"`, `[]`, `[null]`,
	`["x"]`, `[[[[]]]]`, `{}`, `{"a":{"b":[]}}`,
	`"'; DROP TABLE urls; --"`, `"%s%n%d"`, `"../../etc/passwd"`, `"<script>alert(1)</script>"`, `"\r\nX-Evil: 1"`, `"\ud800"`,
	`"\u202e\u0000"`, `"\ufeff"`, `"` + "\xff\xfe" + `"`,
	`"javascript:alert(1)"`, `"https://sho.rt/x"`, `"http://127.0.0.1"`, `"2026-13-45"`, `"9999-12-31T23:59:59Z"`, `"0001-01-01"`,
	`"ACTIVE "`,
	`"00000000-0000-0000-0000-000000000000"`,
	`"` + strings.Repeat("A", 70_000) + `"`, `"` + strings.Repeat("😀", 300) + `"`, `[` + strings.Repeat(`1,`, 20_000) + `1]`,
	strings.Repeat("[", 25) + strings.Repeat("]", 25),
	`{"operator":"AND","conditions":null}`, `{"operator":"AND","conditions":[null,1,"x",[]]}`, `{"operator":{},"conditions":{}}`,
	`{"logicalOperator":"AND","items":[{"type":[],"operator":{},"value":null}]}`,
	`{"operator":"AND","conditions":[{"type":"ip","operator":"in","value":["10.0.0.0/33",{},"::1%e"]},{"type":"continent","operator":"equals","value":7},{"type":"query","operator":"in","value":{"name":[],"value":{}}},
		{"type":"date","operator":"between","value":{"start":"0000-00-00","end":1e308}},{"type":"visitor","operator":"in","value":[null]},{"type":"percentage","operator":"less_than","value":1e308}]}`,
	`{"type":"status","status":[]}`, `{"type":"utm","utmSource":{}}`, `{"type":"expiration","expiresAt":[]}`, `{"type":{"type":"status"}}`,
	`{"__proto__":{"x":1},"constructor":"y"}`,
}

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

// bodies returns the names of the fields of bodies by endpoint, and the endpoints that take a file instead of JSON.
func (doc openapi) bodies(w *world) (known map[string]map[string]bool, files map[string]bool) {
	known, files = map[string]map[string]bool{}, map[string]bool{}
	for endpoint, op := range doc.operations() {
		known[endpoint] = map[string]bool{}
		if op.RequestBody != nil {
			_, takesJSON := op.RequestBody.Content["application/json"]
			files[endpoint] = !takesJSON
			doc.fields(w, op.RequestBody.Content["application/json"].Schema, known[endpoint])
		}
	}
	return known, files
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

// names reports whether a 400 names the field, a part of it, or the whole body.
func names(r *reply, field string) bool {
	list, _ := r.at("errors").([]any)
	if len(list) == 0 {
		return strings.HasPrefix(r.str("message"), "The request body") || r.at("code") == "LIMIT" // such as of variants
	}
	if field == "isAbTest" {
		field = "isABTesting"
	}
	for _, e := range list {
		f, _ := e.(map[string]any)["field"].(string)
		if f == "" || strings.HasPrefix(f, "body") {
			return false
		}
		related := map[string]string{"templateId": "templateKey", "templateKey": "templateId", "value": "operation", "operation": "value",
			"status": "operation"}
		if f == field || strings.HasPrefix(f, field+".") || f == related[field] || strings.HasPrefix(f, related[field]+".") ||
			f == "isAbTest" &&
				field == "isABTesting" {
			return true
		}
	}
	// An error in an operation names the field of the link that the value is for.
	return field == "operation" || field == "value"
}

// trace returns a number that changes with every change of the data.
func (w *world) trace() (n int) {
	w.t.Helper()
	w.ok(w.store.Row(w.t.Context(),
		`SELECT (SELECT revision FROM config_head) + (SELECT count(*) FROM audit_logs) + (SELECT count(*) FROM urls)`).Scan(&n))
	return n
}

// FuzzCredential sends any credential. The response is a success or a documented error, never a 5xx.
func FuzzCredential(f *testing.F) {
	w := newWorld(f, storetest.Open(f), nil)
	for _, credential := range []string{"", "sl_x", "eyJhbGciOiJub25lIn0.e30.", "\xff"} {
		f.Add(credential)
	}
	f.Fuzz(func(t *testing.T, credential string) {
		at := *w
		at.t = t
		for _, o := range []option{with("Authorization", "Bearer "+credential), with("X-API-Key", "sl_"+credential)} {
			if q := at.do("GET", "/api/auth/me", "", o); q.StatusCode >= 400 {
				q.want(401)
			}
		}
	})
}

// FuzzEndpoint sends any body and query to any endpoint of the interface, as JSON or as a form of several parts: links,
// rules, bundles, webhooks, providers, images, reports. For every input, the response is a success or a 4xx.
func FuzzEndpoint(f *testing.F) {
	w := newWorld(f, storetest.Open(f), whole)
	who := w.person("ADMIN")
	th := w.thingsOf(who.token)
	rows := slices.DeleteFunc(table(f), func(r row) bool {
		// Skip requests that end the test's own sessions or delete its objects, and streams that never end.
		return r.method == "DELETE" || strings.Contains(r.path, "/logout") || strings.Contains(r.path, "/stream") ||
			strings.Contains(r.path, "/2fa")
	})
	for i := range rows {
		rows[i] = rows[i].fill(th.id)
		f.Add(uint16(i), rows[i].body, "page=1&limit=-1&startDate=2026-01-01&endDate=2025-01-01&format=csv&includeClicks=true", i%2 == 0)
	}
	image := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n"
	for i, r := range rows {
		if strings.Contains(r.path, "og-image") {
			f.Add(uint16(i), image+"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xff\xff\xff\r\n--b--\r\n", "", true)
			f.Add(uint16(i), image, "a=%zz", true)
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, body, query string, form bool) {
		at := *w
		at.t = t
		r := rows[int(which)%len(rows)]
		path, _, _ := strings.Cut(r.path, "?")
		options := []option{as(who.token)}
		if form {
			options = append(options, with("Content-Type", "multipart/form-data; boundary=b"))
		}
		if r.method == "GET" {
			body = ""
		}
		if q := at.do(r.method, path+"?"+clean(query), body, options...); q.StatusCode >= 500 {
			t.Fatalf("%s: %d %s\n%s", q.what, q.StatusCode, q.text, at.logs)
		} else if q.StatusCode >= 400 {
			q.want(q.StatusCode)
		}
	})
}

// clean removes characters that no client can send in a request line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r == '#' {
			return -1
		}
		return r
	}, s)
}

func FuzzTime(f *testing.F) {
	for _, s := range []string{"2027-01-31", "2027-01-31T12:00:00Z", "2027-01-31 12:00+0530", "2027-01-31t12:00:00.123456789z",
		"2027-01-31T12:00:00,5-03", "", "0000-00-00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var v, again api.Time
		if json.Unmarshal(quoted, &v) != nil {
			return
		}
		text, err := json.Marshal(v)
		testkit.Must(t, err)
		if err := json.Unmarshal(text, &again); err != nil || again != v {
			t.Fatalf("%q parses to %d, is formatted as %s, and parses again to %d: %v", s, v, text, again, err)
		}
		if y := time.UnixMilli(int64(v)).UTC().Year(); s != "" && (y < -1 || y > 10000) {
			t.Fatalf("%q is in the year %d", s, y)
		}
	})
}

package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store/storetest"
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

// For any value in any field, the response is never a 500. A rejection is a 400, 404, 409 or 413 and has no effect.
// A 400 names the field.
func TestHostile_bodies(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	base := "/api/urls/" + id
	variant := w.do("POST", base+"/variants", `{"name":"A","targetUrl":"https://a.example"}`, as(w.ann)).want(201).str("id")
	rule := w.do("POST", base+"/routing-rules", ruleBody("r", formA), as(w.ann)).want(201).str("id")
	var link []string
	_, known := w.writes()
	for name := range known["PATCH /api/urls/{}"] {
		link = append(link, name)
	}
	if len(link) < 25 {
		t.Fatalf("the document has only the fields %v", link)
	}
	for _, e := range []struct {
		method, path string
		valid        map[string]string
		fields       []string
	}{
		{"POST", "/api/urls", map[string]string{"originalUrl": `"https://example.com"`}, append([]string{"customSlug"}, link...)},
		{"PATCH", base, map[string]string{}, link},
		{"PATCH", "/api/urls/bulk", map[string]string{"urlIds": `["` + id + `"]`, "status": `"ACTIVE"`},
			[]string{"urlIds", "status", "operation", "value"}},
		{"PATCH", "/api/urls/bulk", map[string]string{"urlIds": `["` + id + `"]`, "operation": `"utm"`}, []string{"operation", "value"}},
		{"PATCH", "/api/urls/bulk", map[string]string{"urlIds": `["` + id + `"]`, "operation": `"expiration"`}, []string{"value"}},
		{"DELETE", "/api/urls/bulk", map[string]string{}, []string{"urlIds"}},
		{"POST", "/api/urls/bulk", map[string]string{}, []string{"urls"}},
		{"PATCH", "/api/urls/bulk", map[string]string{"urlIds": `["` + id + `"]`, "operation": `"tags"`}, []string{"value"}},
		{"PATCH", "/api/urls/bulk", map[string]string{"urlIds": `["` + id + `"]`, "operation": `"removeTags"`}, []string{"value"}},
		{"POST", base + "/variants", map[string]string{"name": `"x"`, "targetUrl": `"https://x.example"`},
			[]string{"name", "targetUrl", "weight", "isActive"}},
		{"PUT", base + "/variants/" + variant, map[string]string{}, []string{"name", "targetUrl", "weight", "isActive"}},
		{"POST", base + "/routing-rules", map[string]string{"name": `"x"`, "targetUrl": `"https://x.example"`, "conditions": formB},
			[]string{"name", "targetUrl", "priority", "isActive", "conditions"}},
		{"PUT", base + "/routing-rules/" + rule, map[string]string{}, []string{"name", "targetUrl", "priority", "isActive", "conditions"}},
		{"POST", base + "/routing-rules/from-template", map[string]string{"templateKey": `"MOBILE_ONLY"`,
			"targetUrl": `"https://x.example"`},
			[]string{"templateKey", "templateId", "name", "targetUrl", "priority"}},
		{"PATCH", base + "/routing-rules/settings", map[string]string{}, []string{"isSmartRouting", "defaultUrl"}},
	} {
		for n, field := range append(slices.Clone(e.fields), "unknown") {
			for _, value := range thinned(hostileValues, 10, n) {
				members := []string{fmt.Sprintf("%q:%s", field, value)}
				for name, v := range e.valid {
					if name != field {
						members = append(members, fmt.Sprintf("%q:%s", name, v))
					}
				}
				body := "{" + strings.Join(members, ",") + "}"
				before := w.trace()
				r := w.do(e.method, e.path, body, as(w.ann))
				short := body[:min(len(body), 300)]
				switch r.StatusCode {
				case 200, 201:
					if field == "unknown" {
						t.Fatalf("%s accepted an unknown field: %s", r.what, short)
					}
					continue
				case 400:
					if !names(r, field) {
						t.Errorf("%s with %s: the error names no field: %s", r.what, short, r.text)
					}
				case 404, 409, 413:
				default:
					t.Fatalf("%s with %s: status %d: %s", r.what, short, r.StatusCode, r.text)
				}
				if w.trace() != before {
					t.Errorf("%s with %s was rejected but changed the data", r.what, short)
				}
			}
		}
	}
	if strings.Contains(w.logs.String(), `"level":"ERROR"`) {
		t.Error("the log contains an error")
	}
}

// names reports whether a 400 names the field, a part of it, or the whole body.
func names(r *reply, field string) bool {
	list, _ := r.at("errors").([]any)
	if len(list) == 0 {
		return strings.HasPrefix(r.str("message"), "The request body")
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

// FuzzLinks sends any body for a link, a variant or a rule. The response is a success or a documented 4xx.
func FuzzLinks(f *testing.F) {
	w := newWorld(f, storetest.Open(f), withLinks)
	id := w.create("abc")
	for _, v := range hostileValues {
		if len(v) < 1000 {
			f.Add(`{"originalUrl":` + v + `,"title":` + v + `,"expiresAt":` + v + `}`)
			f.Add(`{"urlIds":` + v + `,"operation":` + v + `,"value":` + v + `}`)
			f.Add(`{"name":"x","targetUrl":"https://x.example","conditions":` + v + `}`)
		}
	}
	f.Fuzz(func(t *testing.T, body string) {
		at := *w
		at.t = t
		for _, e := range []struct{ method, path string }{
			{"POST", "/api/urls"}, {"POST", "/api/urls/bulk"}, {"PATCH", "/api/urls/bulk"}, {"PUT", "/api/urls/" + id},
			{"POST", "/api/urls/" + id + "/variants"},
			{"POST", "/api/urls/" + id + "/routing-rules"}, {"POST", "/api/urls/" + id + "/routing-rules/from-template"},
			{"PATCH", "/api/urls/" + id + "/routing-rules/settings"},
		} {
			r := at.do(e.method, e.path, body, as(at.ann))
			if r.StatusCode >= 500 {
				t.Fatalf("%s: %d %s\n%s", r.what, r.StatusCode, r.text, at.logs)
			}
			if r.StatusCode >= 400 {
				r.want(r.StatusCode)
			}
		}
	})
}

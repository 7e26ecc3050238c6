package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// hostileTexts are hostile values for any text field.
var hostileTexts = []string{
	"", " ", "\t", "\n", "\x00", "a\x00b", "\x7f", "\x1b[31m", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80",
	"abc\x80", "\ufeff",
	"\ufffd", "\uffff",
	"\u202e\u202dtxt.exe", "\u2066\u2069", "\u200b", "\u200d\u200d", "e" + strings.Repeat("\u0301", 200), "İıſK", "ｆｕｌｌ", "😀",
	"👩‍👩‍👧‍👦", strings.Repeat("😀", 300), "ﷺ", "௵", "𝕳",
	"'", "''", `"`, `\`, "`", ";", "--", "/*", "%", "_", "' OR '1'='1", "'; DROP TABLE urls; --", "1; SELECT pg_sleep(10)",
	"' UNION SELECT password_hash FROM users --", "$1", "?", ":id", "{{7*7}}", "${jndi:ldap://x/a}",
	"$(sleep 9)", "|id", "() { :;}; echo", "%s%n%d%x", "%00", "%2e%2e%2f", "..", "../../etc/passwd", `..\..\windows`, "/etc/passwd",
	"file:///etc/passwd", "con", "a/b", ".", "*", "(?:a+)+$", "[",
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "data:text/html,x", "\r\nX-Evil: 1",
	"x\nSet-Cookie: a=b", "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///x'>]>",
	"0", "-0", "-1", "1.5", "1e309", "NaN", "Infinity", "0x10", "007", "2147483648", "9223372036854775807", "9223372036854775808",
	"-9223372036854775809", "99999999999999999999999999", "null", "true", "undefined", "[]", "{}", `{"a":1}`,
	"2026-13-45", "0000-00-00", "9999-12-31T23:59:59Z", "10000-01-01", "-0001-01-01T00:00:00Z", "2026-02-30", "2026-06-30T23:59:60Z",
	"1970-01-01T00:00:00+99:99", "now",
	"00000000-0000-0000-0000-000000000000", "urn:uuid:01970000-0000-7000-8000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "me",
	"bulk", "stats", "settings",
	"http://127.0.0.1/", "http://[::1]/", "http://0x7f.1/", "http://2130706433/", "https://sho.rt/x", "//evil.example", "http://a@b@c/",
	"http://%00/", "http://x:99999/", "http://" + strings.Repeat("a.", 150) + "x/", "https://xn--/", "http://exa mple/",
	"Europe/Nowhere", "../UTC", "utmSource", "ACTIVE", "active", "AND", "#GGGGGG", "#fff", strings.Repeat("A", 256),
	strings.Repeat("(", 2000),
	strings.Repeat("x", 5000),
}

// longTexts are for bodies only.
var longTexts = []string{strings.Repeat("A", 70_000), strings.Repeat("\\\"", 40_000), strings.Repeat("é", 100_000)}

// moreTexts returns the hostile texts in disguise: as part of a URL, repeated or surrounded. They are for long runs.
func moreTexts() (out []string) {
	for _, text := range hostileTexts {
		if len(text) < 1000 {
			out = append(out, "https://example.com/"+text, text+text, "x"+text+"x")
		}
	}
	return append(out, strings.Repeat("9", 400), strings.Repeat("0x", 400), strings.Repeat("%", 3000), strings.Repeat("\u202e", 500),
		strings.Repeat("' OR ", 500))
}

// moreValues are large and deeply nested values for the bodies of long runs.
var moreValues = []string{
	`"` + strings.Repeat("A", 1<<20) + `"`, `"` + strings.Repeat("\\u0000", 20_000) + `"`, strings.Repeat("[", 100_000) +
		strings.Repeat("]", 100_000), strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
	strings.Repeat("[", 100_000), `{"operator":"AND","conditions":` + strings.Repeat(`[{"operator":"OR","conditions":`, 10_000) + "[]" +
		strings.Repeat("}]", 10_000) + "}", strings.Repeat("9", 100_000), "1e" + strings.Repeat("9", 1000),
	"[" + strings.Repeat(`"x",`, 30_000) + `"x"]`, "{" + strings.Repeat(`"a":1,`, 30_000) + `"a":1}`,
}

// asJSON returns a text as a JSON string. Invalid UTF-8 stays unchanged.
func asJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// parameters lists the names of the parameters in a part of the request, such as query or header, by endpoint. The choice
// of a workspace has a test of its own.
func (doc openapi) parameters(in string) map[string][]string {
	found := map[string][]string{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.In == in && p.Name != "X-Workspace" {
					e := strings.ToUpper(method) + " " + placeholder.ReplaceAllString(path, "{}")
					found[e] = append(found[e], p.Name)
				}
			}
		}
	}
	return found
}

// nested returns bodies of a row's endpoint with {HOSTILE} in a field of an object within the body.
func (doc openapi) nested(r row) (bodies []string) {
	switch r.endpoint() + " " + r.body {
	case `POST /api/urls/bulk {"urls":[{"originalUrl":"https://example.com/"}]}`:
		var item struct{ Properties map[string]any }
		if err := json.Unmarshal(doc.Components.Schemas["BulkItem"], &item); err != nil || len(item.Properties) < 20 {
			panic(fmt.Sprint("the document has no schema of an item: ", err))
		}
		for _, name := range slices.Sorted(maps.Keys(item.Properties)) {
			valid := `"originalUrl":"https://example.com/",`
			if name == "originalUrl" {
				valid = ""
			}
			bodies = append(bodies, fmt.Sprintf(`{"urls":[{%s%q:{HOSTILE}}]}`, valid, name))
		}
	case `PATCH /api/urls/bulk {"urlIds":["{url}"],"status":"INACTIVE"}`:
		for _, part := range []string{`"type"`, `"type":"status","status"`, `"type":"bundle","bundleId"`, `"type":"tags","tags"`,
			`"type":"expiration","expiresAt"`, `"type":"tags","value"`, `"type":"utm","value"`,
			`"type":"utm","utmSource"`, `"type":"utm","utmMedium"`, `"type":"utm","utmCampaign"`, `"type":"utm","utmTerm"`,
			`"type":"utm","utmContent"`, `"type":"utm","utmId"`, `"type":"utm","utmSourcePlatform"`} {
			bodies = append(bodies, fmt.Sprintf(`{"urlIds":["{url}"],"operation":{%s:{HOSTILE}}}`, part))
		}
	}
	return bodies
}

// For any text in any place of any request, the response is not a 5xx, and a rejected request has no effect. In make test, each
// place gets some of the texts, and neighbouring places get different ones. In make proof, each place gets every text, and the
// texts of an additional list, and the responses are fast.
func TestHostile_everywhere(t *testing.T) {
	walk(t, whole, func(t *testing.T, w *world) {
		const every = 45 // in make test
		soon := testkit.Size(time.Hour, 5*time.Second)
		texts, odd := hostileTexts, hostileValues
		if testkit.Size(false, true) {
			texts, odd = append(moreTexts(), texts...), append(slices.Clone(odd), moreValues...)
		}
		doc := w.openapi()
		ofLinks := []string{"{url}", "{variant}", "{rule}", "{bundle}", "{bundled}", "{tag}", "{template}"}
		literals := []string{"", ".", "me", "bulk", "stats", "settings"} // of paths, or that leave a part of the path empty
		queries, headers := doc.parameters("query"), doc.parameters("header")
		_, known := w.writes()
		sent, refused, busy, slowest := 0, 0, 0, time.Duration(0)
		state := w.trace()
		var th *things
		var credential option
		reported := 0
		try := func(r row, id func(string) string, what, value string, more ...option) *reply {
			t.Helper()
			for _, k := range r.kinds() {
				if k != "HOSTILE" && th.ids[k] == "" {
					th.id(k) // created first, so that the measured time excludes it
					state = w.trace()
				}
			}
			sent++
			began := time.Now()
			options := append([]option{credential}, more...)
			got := w.send(r, id, options...)
			took := time.Since(began)
			for again := 0; again < 4 && (took > soon || got.StatusCode == http.StatusServiceUnavailable); again++ {
				// A hostile value is slow every time; a busy machine or database is slow once.
				busy++
				began = time.Now()
				got = w.send(r, id, options...)
				took = time.Since(began)
			}
			slowest = max(slowest, took)
			if got.StatusCode >= 500 || took > soon {
				t.Errorf("%s with %s %.100q: %d after %v: %s", r.endpoint(), what, value, got.StatusCode, took, got.text)
			}
			if got.StatusCode >= 400 && got.str("message") == "" {
				t.Errorf("%s with %s %.100q: not the documented error body: %.300s", r.endpoint(), what, value, got.text)
			}
			if got.StatusCode < 300 && r.method == "DELETE" {
				clear(th.ids)
			}
			after := w.trace()
			if got.StatusCode >= 400 && r.who != "P" { // a failed sign-in adds a row to the audit log
				refused++
				if after != state {
					t.Errorf("%s with %s %.100q: rejected with %d, but it changed the data", r.endpoint(), what, value, got.StatusCode)
				}
			}
			state = after
			return got
		}
		for n, r := range table(t) {
			if r.endpoint() == "POST /api/auth/logout" || r.who == "S" && r.body == "" {
				continue
			}
			if strings.HasSuffix(r.endpoint(), "/password") {
				continue // would be rate-limited as guessing, see TestPassword
			}
			user := w.person("ADMIN") // a new user for each row, because the resources of a user are limited
			th, credential = w.thingsOf(user.token), as(user.token)
			state = w.trace()
			pick := func(list []string, salt int) []string {
				if strings.Contains(r.path, "/analytics/") {
					// Reports share their parameters, and each question to DuckDB takes milliseconds. Together they get every text.
					reported++
					return thinned(list, 3*every, reported)
				}
				return thinned(list, every, n+salt)
			}
			for i, kind := range placeholder.FindAllString(r.path, -1) {
				for _, text := range pick(texts, i) {
					q := r
					q.path = strings.Replace(r.path, kind, url.PathEscape(text), 1)
					got := try(q, th.id, kind, text)
					if got.StatusCode < 300 && slices.Contains(ofLinks, kind) && !slices.Contains(literals, text) &&
						!strings.Contains(text, "..") {
						t.Errorf("%s finds a %s with the id %.100q: %s", r.endpoint(), kind, text, got.text)
					}
				}
			}
			for i, name := range queries[r.endpoint()] {
				for _, text := range pick(texts, i) {
					q := r
					path, _, _ := strings.Cut(r.path, "?")
					q.path = path + "?" + url.QueryEscape(name) + "=" + url.QueryEscape(text)
					if name == "q" {
						q.path += "&field=utmSource"
					}
					got := try(q, th.id, name, text)
					if errs, _ := got.at("errors").([]any); got.StatusCode == 400 && len(errs) == 0 {
						t.Errorf("%s with %s %.100q: the error names no field: %s", r.endpoint(), name, text, got.text)
					}
				}
			}
			for i, name := range headers[r.endpoint()] {
				for _, text := range pick(texts, i) {
					try(r, th.id, name, text, with(name, text))
				}
			}
			values := func(i int) (list []string) {
				for _, text := range append(pick(texts, i), pick(longTexts, i)...) {
					list = append(list, asJSON(text))
				}
				return append(list, pick(odd, i)...)
			}
			// Insert the hostile value last, so that no part of it is treated as a placeholder.
			hostile := func(body, what, v string) {
				q := r
				q.body = body
				try(q, func(kind string) string {
					if kind == "HOSTILE" {
						return v
					}
					return th.id(kind)
				}, what, v)
			}
			for i, place := range doc.nested(r) {
				for _, v := range values(i) {
					hostile(place, place, v)
				}
			}
			for i, name := range slices.Sorted(maps.Keys(known[r.endpoint()])) {
				body := map[string]json.RawMessage{}
				w.ok(json.Unmarshal([]byte(cmp.Or(r.body, "{}")), &body))
				delete(body, name)
				var rest strings.Builder
				for _, k := range slices.Sorted(maps.Keys(body)) {
					fmt.Fprintf(&rest, ",%q:%s", k, body[k])
				}
				for _, v := range values(i) {
					hostile(fmt.Sprintf("{%q:{HOSTILE}%s}", name, rest.String()), name, v)
				}
			}
		}
		t.Logf("%d requests, %d rejected without effect, slowest %v, %d repeated because the machine was busy", sent, refused,
			slowest, busy)
		if busy > sent/20 {
			t.Error("the machine is too busy to measure response times")
		}
		if busy == 0 && strings.Contains(w.logs.String(), `"level":"ERROR"`) {
			t.Error("the log contains an error")
		}
		if sent < testkit.Size(50_000/every, 100_000) {
			t.Errorf("only %d requests", sent)
		}
	})
}

// A choice of workspace that no workspace has gets 404, whatever the text is, also from an API key and an administrator.
func TestHostile_choices_of_workspace(t *testing.T) {
	w := small(t, whole)
	key, _ := w.newKey(w.ann)
	for _, text := range append(thinned(moreTexts(), 10, 0), hostileTexts...) {
		for who, caller := range map[string]option{"a user": as(w.ann), "a key": as(key), "an administrator": as(w.root)} {
			want := http.StatusNotFound
			if strings.TrimSpace(text) == "" {
				want = http.StatusOK // no choice
			}
			for _, path := range []string{"/api/urls", "/api/auth/me"} {
				if r := w.do("GET", path, "", caller, with("X-Workspace", text)); r.StatusCode != want {
					t.Errorf("%s by %s in %.60q: %d, want %d: %s", path, who, text, r.StatusCode, want, r.text)
				}
			}
		}
	}
	if strings.Contains(w.logs.String(), `"level":"ERROR"`) {
		t.Error("the log contains an error")
	}
}

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
	for endpoint, op := range doc.operations() {
		for _, p := range op.Parameters {
			if p.In == in && p.Name != "X-Workspace" {
				found[endpoint] = append(found[endpoint], p.Name)
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
		for _, operation := range []string{"utm", "expiration", "tags", "removeTags", "bundle", "status"} {
			bodies = append(bodies, fmt.Sprintf(`{"urlIds":["{url}"],"operation":%q,"value":{HOSTILE}}`, operation))
		}
		for _, part := range []string{`"type"`, `"type":"status","status"`, `"type":"bundle","bundleId"`, `"type":"tags","tags"`,
			`"type":"expiration","expiresAt"`, `"type":"tags","value"`, `"type":"utm","value"`,
			`"type":"utm","utmSource"`, `"type":"utm","utmMedium"`, `"type":"utm","utmCampaign"`, `"type":"utm","utmTerm"`,
			`"type":"utm","utmContent"`, `"type":"utm","utmId"`, `"type":"utm","utmSourcePlatform"`} {
			bodies = append(bodies, fmt.Sprintf(`{"urlIds":["{url}"],"operation":{%s:{HOSTILE}}}`, part))
		}
	}
	return bodies
}

// attack sends requests that must have no effect if they are rejected.
type attack struct {
	*world
	t                             *testing.T
	doc                           openapi
	known                         map[string]map[string]bool // names of the fields of bodies, by endpoint
	th                            *things
	caller                        option
	state                         int // of the data
	soon, slowest                 time.Duration
	sent, refused, busy, reported int
	row                           int // number of the endpoint in the table
}

const hostileStep = 45 // places get every 45th text in make test

// pick returns some of a list; salt differs between the places of one endpoint.
func (a *attack) pick(r row, list []string, salt int) []string {
	if strings.Contains(r.path, "/analytics/") {
		// Reports share their parameters, and each question to DuckDB takes milliseconds. Together they get every text.
		a.reported++
		return thinned(list, 3*hostileStep, a.reported)
	}
	return thinned(list, hostileStep, a.row+salt)
}

// try sends the request of a row.
func (a *attack) try(r row, id func(string) string, what, value string, more ...option) *reply {
	a.t.Helper()
	for _, k := range r.kinds() {
		if k != "HOSTILE" && a.th.ids[k] == "" {
			a.th.id(k) // created first, so that the measured time excludes it
			a.state = a.trace()
		}
	}
	a.sent++
	began := time.Now()
	options := append([]option{a.caller}, more...)
	got := a.send(r, id, options...)
	took := time.Since(began)
	for again := 0; again < 4 && (took > a.soon || got.StatusCode == http.StatusServiceUnavailable); again++ {
		// A hostile value is slow every time; a busy machine or database is slow once.
		a.busy++
		began = time.Now()
		got = a.send(r, id, options...)
		took = time.Since(began)
	}
	a.slowest = max(a.slowest, took)
	if got.StatusCode >= 500 || took > a.soon {
		a.t.Errorf("%s with %s %.100q: %d after %v: %s", r.endpoint(), what, value, got.StatusCode, took, got.text)
	}
	if got.StatusCode >= 400 && got.str("message") == "" {
		a.t.Errorf("%s with %s %.100q: not the documented error body: %.300s", r.endpoint(), what, value, got.text)
	}
	if got.StatusCode < 300 && r.method == "DELETE" {
		clear(a.th.ids)
	}
	after := a.trace()
	if got.StatusCode >= 400 && (r.who != "P" || got.StatusCode == 400) { // a failed sign-in adds a row to the audit log
		a.refused++
		if after != a.state {
			a.t.Errorf("%s with %s %.100q: rejected with %d, but it changed the data", r.endpoint(), what, value, got.StatusCode)
		}
	}
	a.state = after
	return got
}

// address puts texts into the path, the query and the headers of a request.
func (a *attack) address(r row, texts []string) {
	ofLinks := []string{"{url}", "{variant}", "{rule}", "{bundle}", "{bundled}", "{tag}", "{template}"}
	literals := []string{"", ".", "me", "bulk", "stats", "settings"} // of paths, or that leave a part of the path empty
	for i, kind := range placeholder.FindAllString(r.path, -1) {
		for _, text := range a.pick(r, texts, i) {
			q := r
			q.path = strings.Replace(r.path, kind, url.PathEscape(text), 1)
			got := a.try(q, a.th.id, kind, text)
			if got.StatusCode < 300 && slices.Contains(ofLinks, kind) && !slices.Contains(literals, text) && !strings.Contains(text, "..") {
				a.t.Errorf("%s finds a %s with the id %.100q: %s", r.endpoint(), kind, text, got.text)
			}
		}
	}
	for i, name := range a.doc.parameters("query")[r.endpoint()] {
		for _, text := range a.pick(r, texts, i) {
			q := r
			path, _, _ := strings.Cut(r.path, "?")
			q.path = path + "?" + url.QueryEscape(name) + "=" + url.QueryEscape(text)
			if name == "q" {
				q.path += "&field=utmSource"
			}
			got := a.try(q, a.th.id, name, text)
			if errs, _ := got.at("errors").([]any); got.StatusCode == 400 && len(errs) == 0 {
				a.t.Errorf("%s with %s %.100q: the error names no field: %s", r.endpoint(), name, text, got.text)
			}
		}
	}
	for i, name := range a.doc.parameters("header")[r.endpoint()] {
		for _, text := range a.pick(r, texts, i) {
			a.try(r, a.th.id, name, text, with(name, text))
		}
	}
}

// body puts texts and odd JSON values into every field of a body.
func (a *attack) body(r row, texts, odd []string) {
	values := func(i int) (list []string) {
		for _, text := range append(a.pick(r, texts, i), a.pick(r, longTexts, i)...) {
			list = append(list, asJSON(text))
		}
		return append(list, thinned(odd, 10, a.row+i)...)
	}
	// The hostile value is inserted last, so that no part of it is treated as a placeholder.
	hostile := func(body, v string) *reply {
		q := r
		q.body = body
		return a.try(q, func(kind string) string {
			if kind == "HOSTILE" {
				return v
			}
			return a.th.id(kind)
		}, body, v)
	}
	for i, place := range a.doc.nested(r) {
		for _, v := range values(i) {
			got := hostile(place, v)
			named := slices.Contains(moreValues, v) || names(got, "value")
			if strings.HasSuffix(place, `"value":{HOSTILE}}`) && got.StatusCode == 400 && !named {
				a.t.Errorf("%s with %s %.100q: the error does not name the value: %s", r.endpoint(), place, v, got.text)
			}
		}
	}
	for i, name := range slices.Sorted(maps.Keys(a.known[r.endpoint()])) {
		body := map[string]json.RawMessage{}
		a.ok(json.Unmarshal([]byte(cmp.Or(r.body, "{}")), &body))
		delete(body, name)
		var rest strings.Builder
		for _, k := range slices.Sorted(maps.Keys(body)) {
			fmt.Fprintf(&rest, ",%q:%s", k, body[k])
		}
		for _, v := range values(i) {
			got := hostile(fmt.Sprintf("{%q:{HOSTILE}%s}", name, rest.String()), v)
			guesses := got.StatusCode == 429 && name == "password" && strings.HasPrefix(r.path, "/api/auth/")
			if r.allowed < 300 && got.StatusCode >= 300 && !slices.Contains([]int{400, 404, 409, 413}, got.StatusCode) && !guesses {
				a.t.Errorf("%s with %s %.100q: %d %s", r.endpoint(), name, v, got.StatusCode, got.text)
			}
			// If the other fields are right, the error names this one, or the whole body if no decoder takes it.
			if r.allowed != 400 && got.StatusCode == 400 && !slices.Contains(moreValues, v) && !names(got, name) {
				a.t.Errorf("%s with %s %.100q: the error does not name the field: %s", r.endpoint(), name, v, got.text)
			}
		}
	}
}

// unknown adds fields that an endpoint does not have: those of the service, and those of all objects in the document, such as
// responses have. Each is refused by its name.
func (a *attack) unknown(r row, fields []string) {
	responses := slices.DeleteFunc(a.doc.properties(), func(name string) bool { return slices.Contains(fields, name) })
	refused := func(body, name, field string) {
		q := r
		q.body = body
		if got := a.try(q, a.th.id, name, "x"); got.StatusCode != 400 || !strings.Contains(got.text, fmt.Sprintf(`"field":%q`, field)) {
			a.t.Errorf("%s with %s: %d %s", r.endpoint(), body, got.StatusCode, got.text)
		}
	}
	for _, name := range append(thinned(fields, 6, a.row), thinned(responses, 60, a.row)...) {
		if a.known[r.endpoint()][name] {
			continue
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(r.body, "{"), "}")
		if inner != "" {
			inner += ","
		}
		refused(fmt.Sprintf(`{%s%q:"x"}`, inner, name), name, name)
	}
	within := map[string][2]string{
		"POST /api/urls/bulk":  {`{"urls":[{"originalUrl":"https://example.com/"},{"originalUrl":"https://example.com/",%q:"x"}]}`, "urls.1."},
		"PATCH /api/urls/bulk": {`{"urlIds":["{url}"],"operation":{"type":"utm","utmSource":"a",%q:"x"}}`, "operation."},
	}
	if place, ok := within[r.endpoint()]; ok {
		for _, name := range []string{"id", "userId", "slug", "clickCount", "createdAt", "passwordHash"} {
			refused(fmt.Sprintf(place[0], name), name, place[1]+name)
		}
	}
}

// For any text in any place of any request, the response is not a 5xx, and a rejected request has no effect. Fields that an
// endpoint does not have are refused by their names. In make test, each place gets some of the texts, and neighbouring places get
// different ones. In make proof, each place gets every text, and the texts of an additional list, and the responses are fast.
func TestHostile_everywhere(t *testing.T) {
	walk(t, whole, func(t *testing.T, w *world) {
		texts, odd, fields := hostileTexts, hostileValues, serverFields
		if testkit.Size(false, true) {
			texts, odd = append(moreTexts(), texts...), append(slices.Clone(odd), moreValues...)
			fields = nil
			for _, name := range serverFields {
				fields = append(fields, spellings(name)...)
			}
			slices.Sort(fields)
			fields = slices.Compact(fields)
		}
		a := &attack{world: w, t: t, doc: w.openapi(), soon: testkit.Size(time.Hour, 5*time.Second)}
		known, files := a.doc.bodies(w)
		a.known = known
		for n, r := range table(t) {
			p := w.person("ADMIN") // a new user for each row, because the resources of a user are limited
			a.row, a.th, a.caller = n, w.thingsOf(p.token), as(p.token)
			a.state = w.trace()
			if r.method != "GET" && !files[r.endpoint()] {
				a.unknown(r, fields)
			}
			// Sessions end, and passwords would be rate-limited as guessing, see TestPassword.
			if r.endpoint() == "POST /api/auth/logout" || r.who == "S" && r.body == "" || strings.HasSuffix(r.endpoint(), "/password") {
				continue
			}
			a.address(r, texts)
			a.body(r, texts, odd)
		}
		t.Logf("%d requests, %d rejected without effect, slowest %v, %d repeated because the machine was busy", a.sent, a.refused,
			a.slowest, a.busy)
		if a.busy > a.sent/20 {
			t.Error("the machine is too busy to measure response times")
		}
		if a.busy == 0 && strings.Contains(w.logs.String(), `"level":"ERROR"`) {
			t.Error("the log contains an error")
		}
		if a.sent < testkit.Size(2000, 110_000) {
			t.Errorf("only %d requests", a.sent)
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

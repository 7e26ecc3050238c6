package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/api"
)

func TestBodies(t *testing.T) {
	w := small(t, nil)
	const path = "/api/settings/system/x"
	root := as(w.root)
	for name, q := range map[string]struct {
		body   string
		option option
		status int
		field  string
	}{
		"malformed":         {`{"value":`, root, 400, ""},
		"two values":        {`{} {}`, root, 400, ""},
		"an array":          {`[1]`, root, 400, ""},
		"null":              {`null`, root, 400, ""},
		"a string":          {`"x"`, root, 400, ""},
		"invalid number":    {`{"value":01}`, root, 400, ""},
		"huge number":       {`{"value":1e999}`, root, 400, ""},
		"deep":              {`{"value":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, root, 400, ""},
		"deep enough":       {`{"value":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`, root, 200, ""},
		"NUL in a value":    {`{"value":{"a":["\u0000"]}}`, root, 400, "value.a.0"},
		"NUL in a name":     {`{"value":{"a\u0000":1}}`, root, 400, "value.a"},
		"too large":         {`{"value":"` + strings.Repeat("x", 1<<20) + `"}`, root, 413, ""},
		"large":             {`{"value":"` + strings.Repeat("x", 60<<10) + `"}`, root, 200, ""},
		"too many values":   {`{"value":[` + strings.Repeat("1,", 50_000) + `1]}`, root, 413, ""},
		"many values":       {`{"value":[` + strings.Repeat("1,", 20_000) + `1]}`, root, 200, ""},
		"a duplicate name":  {`{"value":1,"value":2}`, root, 200, ""},
		"invalid UTF-8":     {"{\"value\":\"\xff\"}", root, 200, ""},
		"a lone surrogate":  {`{"value":"\ud800"}`, root, 200, ""},
		"a byte order mark": {"\ufeff{}", root, 400, ""},
		"spaces only":       {"  \n", root, 400, "value"},
		"a charset": {`{"value":1}`, func(r *http.Request) {
			root(r)
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
		}, 200, ""},
		"no type": {`{"value":1}`, func(r *http.Request) { root(r); r.Header.Del("Content-Type") }, 200, ""},
		"a form": {`value=1`, func(r *http.Request) {
			root(r)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}, 415, ""},
		"text that is JSON":        {`{"value":1}`, func(r *http.Request) { root(r); r.Header.Set("Content-Type", "text/plain") }, 415, ""},
		"no body with a JSON type": {``, func(r *http.Request) { root(r); r.Header.Set("Content-Type", "application/json") }, 400, "value"},
		"gzip":                     {"\x1f\x8b", func(r *http.Request) { root(r); r.Header.Set("Content-Encoding", "gzip") }, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.do("PUT", path, q.body, q.option).want(q.status)
			if q.field != "" {
				r.wantField(q.field)
			}
		})
	}
	t.Run("endpoint without a body", func(t *testing.T) {
		key := w.do("POST", "/api/api-keys", `{"name":"x"}`, root).want(201).str("id")
		w.do("DELETE", "/api/api-keys/"+key, `{"force":true}`, root).wantField("force")
		w.do("DELETE", "/api/api-keys/"+key, ``, root, with("Content-Type", "application/json")).want(204)
		w.do("GET", "/api/auth/me", `garbage`, root).want(200)
	})
}

func TestAddresses(t *testing.T) {
	w := small(t, nil)
	root := as(w.root)
	w.do("GET", "/api/nothing", "").want(404)
	w.do("GET", "/api/users/", "", root).want(404)
	r := w.do("PUT", "/api/users", "{}", root).want(405)
	if allow := r.Header.Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
		t.Fatalf("Allow: %q", allow)
	}
	w.do("GET", "/api/users?search=%00", "", root).wantField("search")
	w.do("GET", "/api/users?search=%ff", "", root).wantField("search")
	w.do("GET", "/api/users/%00", "", root).want(404)
	w.do("GET", "/api/users/%ff", "", root).want(404)
	if r := w.do("HEAD", "/api/auth/me", "", root); r.StatusCode != 200 {
		t.Fatalf("HEAD: %d", r.StatusCode)
	}
}

func TestHeaders(t *testing.T) {
	w := small(t, nil)
	for _, r := range []*reply{w.do("GET", "/api/auth/me", "", as(w.ann)).want(200), w.do("GET", "/api/auth/me", "").want(401),
		w.do("GET", "/api/x", "").want(404)} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'",
		} {
			if got := r.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q", r.what, name, got)
			}
		}
		if r.Header.Get("X-Request-ID") == "" {
			t.Errorf("%s: no request id", r.what)
		}
	}
	if r := w.do("GET", "/api/auth/me", "", with("X-Request-ID", "abc-123")); r.Header.Get("X-Request-ID") != "abc-123" ||
		!strings.Contains(w.logs.String(), `"request_id":"abc-123"`) {
		t.Fatal("the request id is not both echoed and logged")
	}
	if r := w.do("GET", "/api/auth/me", "", with("X-Request-ID", "a b\"")); r.Header.Get("X-Request-ID") == "a b\"" {
		t.Fatal("a hostile request id is echoed")
	}
	r := w.do("PUT", "/api/auth/me", `{"name":"x"}`, as(w.ann), with("X-Request-ID", "the-request"),
		with("User-Agent", "agent\xff")).want(200)
	if r.Header.Get("X-Config-Revision") == "" {
		t.Error("no revision after a change")
	}
	var meta, agent, ip string
	w.ok(w.store.Row(t.Context(), `SELECT metadata, user_agent, ip_address FROM audit_logs ORDER BY seq DESC LIMIT 1`).Scan(&meta,
		&agent, &ip))
	if !strings.Contains(meta, `"requestId":"the-request"`) || !strings.Contains(meta, `"method":"PUT"`) ||
		!strings.Contains(meta, `"path":"/api/auth/me"`) || agent != "agent\uFFFD" || ip != "192.0.2.1" {
		t.Fatalf("origin in the audit log: %s %q %q", meta, agent, ip)
	}
}

func TestCrossOrigin(t *testing.T) {
	w := small(t, nil)
	cookie := with("Cookie", "access_token="+w.ann)
	origin := func(o string) option { return with("Origin", o) }
	name := `{"name":"x"}`
	w.do("PUT", "/api/auth/me", name, cookie).want(200)
	w.do("PUT", "/api/auth/me", name, cookie, origin("https://sho.rt")).want(200)
	w.do("PUT", "/api/auth/me", name, cookie, origin("https://app.example.com")).want(200)
	w.do("PUT", "/api/auth/me", name, cookie, with("Sec-Fetch-Site", "same-origin")).want(200)
	w.do("PUT", "/api/auth/me", name, cookie, with("Sec-Fetch-Site", "cross-site")).want(403)
	w.do("PUT", "/api/auth/me", name, cookie, with("Sec-Fetch-Site", "same-site")).want(403)
	for _, o := range []string{"https://evil.example", "null", "https://sho.rt.evil.example", "https://app.example.com:444"} {
		w.do("PUT", "/api/auth/me", name, cookie, origin(o)).want(403)
		w.do("GET", "/api/auth/me", "", cookie, origin(o)).want(200)
		w.do("PUT", "/api/auth/me", name, as(w.ann), origin(o)).want(200)
		if r := w.do("GET", "/api/auth/me", "", cookie, origin(o)); r.Header.Get("Access-Control-Allow-Origin") != "" ||
			r.Header.Get("Vary") != "Origin" {
			t.Errorf("%s may read the response: %v", o, r.Header)
		}
	}
	r := w.do("GET", "/api/auth/me", "", cookie, origin("https://app.example.com")).want(200)
	if r.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" ||
		r.Header.Get("Access-Control-Allow-Credentials") != "true" ||
		!strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "X-RateLimit-Remaining") ||
		!strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Content-Disposition") {
		t.Fatalf("%v", r.Header)
	}
	r = w.do("OPTIONS", "/api/auth/me", "", origin("https://app.example.com"), with("Access-Control-Request-Method", "PUT")).want(204)
	if !strings.Contains(r.Header.Get("Access-Control-Allow-Methods"), "PUT") ||
		!strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "X-API-Key") {
		t.Fatalf("preflight: %v", r.Header)
	}
	if r := w.do("OPTIONS", "/api/auth/me", "", origin("https://evil.example"), with("Access-Control-Request-Method", "PUT")); r.Header.Get(
		"Access-Control-Allow-Methods") != "" {
		t.Fatalf("preflight from an unknown origin: %v", r.Header)
	}
}

func TestCredentials(t *testing.T) {
	w := small(t, nil)
	key := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.bob)).want(201).str("key")
	get := func(options ...option) *reply { return w.do("GET", "/api/auth/me", "", options...) }
	get(with("X-API-Key", key), as(w.ann)).want(200).shows("id", w.bobID)
	get(as(w.ann), with("Cookie", "access_token="+w.bob)).want(200).shows("id", w.annID)
	// An invalid credential is not skipped.
	get(with("X-API-Key", ""), as(w.ann)).want(401)
	get(with("X-API-Key", "sl_x"), as(w.ann)).want(401)
	get(with("X-API-Key", w.ann)).want(401)
	get(as("nonsense"), with("Cookie", "access_token="+w.bob)).want(401)
	get(with("Authorization", "Basic YTpi"), with("Cookie", "access_token="+w.bob)).want(401)
	get(with("Authorization", "bearer "+w.ann)).want(200)
	if r := get(with("Cookie", "access_token=old")).want(401); r.cookie("access_token") == nil {
		t.Error("an invalid cookie is not deleted")
	}
	get(as(key[:63] + "!")).want(401)
	// Tokens with another algorithm, with no algorithm, or signed with another secret.
	head, rest, _ := strings.Cut(w.ann, ".")
	claims, _, _ := strings.Cut(rest, ".")
	for _, forged := range []string{
		"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + claims + ".", head + "." + claims + ".", head + "." + claims + ".AAAA", w.ann + "x",
		strings.Repeat("a", 10_000),
	} {
		get(as(forged)).want(401)
	}
}

func TestRateLimits(t *testing.T) {
	each := func(t *testing.T, w *world) {
		w.do("GET", "/api/auth/me", "", from("198.51.100.9:1")).want(401)
		ann, _ := w.signIn(userMail)
		for i := 1; i <= 10; i++ {
			r := w.do("GET", "/api/auth/me", "", as([]string{ann, w.ann}[i%2])).want(200)
			if r.Header.Get("X-RateLimit-Limit") != "10" || r.Header.Get("X-RateLimit-Remaining") != fmt.Sprint(10-i) ||
				len(r.Header.Get("X-RateLimit-Reset")) != 10 {
				t.Fatalf("request %d: %v", i, r.Header)
			}
		}
		r := w.do("GET", "/api/auth/me", "", as(w.ann)).want(429)
		if r.Header.Get("X-RateLimit-Remaining") != "0" || r.Header.Get("Retry-After") == "" || r.Header.Get("X-RateLimit-Reset") == "" {
			t.Fatalf("%v", r.Header)
		}
		w.do("GET", "/api/auth/me", "", as(w.bob)).want(200) // each user has a separate count
		for i := range 2 {                                   // and each limit has one
			if r := w.do("POST", "/api/api-keys", `{}`, as(w.ann)).want(400); r.Header.Get("X-RateLimit-Limit") != "2" ||
				r.Header.Get("X-RateLimit-Remaining") != fmt.Sprint(1-i) {
				t.Fatalf("%v", r.Header)
			}
		}
		w.do("POST", "/api/api-keys", `{}`, as(w.ann)).want(429)
		// Callers without a user are counted by address, or by /64 for IPv6.
		for i := range 10 {
			w.do("GET", "/api/nothing", "", from(fmt.Sprintf("[2001:db8:1:2::%x]:1", i))).want(404)
		}
		w.do("GET", "/api/nothing", "", from("[2001:db8:1:2:ffff::1]:1")).want(429)
		w.do("GET", "/api/nothing", "", from("[2001:db8:1:3::1]:1")).want(404)
	}
	limits := func(_ *world, c *api.Config, _ *api.Deps) { c.Limits = api.Limits{Default: 10, APIKeys: 2} }
	eachWith(t, limits, each)
}

func TestDocument_pages(t *testing.T) {
	w := small(t, nil)
	r := w.do("GET", "/api/openapi.json", "").want(200)
	for path, kind := range map[string]string{"/api": "text/html", "/api/": "text/html", "/api/docs.js": "text/javascript",
		"/api/docs.css": "text/css", "/api/swagger-ui.js": "text/javascript", "/api/swagger-ui.css": "text/css"} {
		if r := w.do("GET", path, ""); r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), kind) ||
			!strings.Contains(r.Header.Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	// Only a key that was used for another request gets 422. Requests with invalid fields get 400.
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
			Responses  map[string]any
		}
	}
	w.ok(json.Unmarshal([]byte(r.text), &document))
	for path, operations := range document.Paths {
		for method, op := range operations {
			repeatable := slices.Contains(op.Parameters, struct{ Name string }{"Idempotency-Key"})
			if _, has := op.Responses["422"]; has != repeatable {
				t.Errorf("%s %s: 422 is documented: %v, Idempotency-Key: %v", method, path, has, repeatable)
			}
		}
	}
}

func TestMetrics_and_words(t *testing.T) {
	registry := prometheus.NewRegistry()
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Registry = registry })
	for body, want := range map[string]string{
		`{"email":1,"password":"x"}`:                    "must be a string",
		`{"email":"a","password":"x","role":"KING"}`:    "must be one of ADMIN, USER",
		`{"email":"a","password":"12345678","x":{}}`:    "is not a known property",
		`{"password":"12345678"}`:                       "is required",
		`{"email":"a","password":"12345678","name":[]}`: "must be a string",
	} {
		if r := w.do("POST", "/api/users", body, as(w.root)).want(400); !strings.Contains(r.text, `"message":"`+want+`"`) {
			t.Errorf("%s: %s", body, r.text)
		}
	}
	for query, want := range map[string]string{"page=0": "must be at least 1", "limit=101": "must be at most 100",
		"page=x": "must be a whole number", "search=" + strings.Repeat("x", 256): "must have at most 255 characters"} {
		w.do("GET", "/api/users?"+query, "", as(w.root)).want(400).says(`"message":"` + want + `"`)
	}
	w.do("BREW", "/api/auth/me", "")
	families, err := registry.Gather()
	w.ok(err)
	seen := map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				seen[f.GetName()+" "+l.GetName()+" "+l.GetValue()] = true
			}
		}
	}
	for _, want := range []string{"shortline_api_requests_total code 4xx", "shortline_api_requests_total method POST",
		"shortline_api_requests_total method other", "shortline_api_request_duration_seconds method GET"} {
		if !seen[want] {
			t.Errorf("no %s: %v", want, seen)
		}
	}
}

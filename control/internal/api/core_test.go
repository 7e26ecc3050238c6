package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
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
		"huge number":       {`{"value":{"a":[1,1e999]}}`, root, 400, "value.a.1"},
		"long number":       {`{"value":` + strings.Repeat("9", 400) + `}`, root, 400, "value"},
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
	w.do("HEAD", "/api/auth/me", "", root).want(200)
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
		w.do("GET", "/api/auth/me", "", cookie, origin(o)).headed("Access-Control-Allow-Origin", "").headed("Vary", "Origin")
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

// A page of a listed origin can send every header of a request that the document names, and read every header of an answer.
func TestCrossOrigin_documented_headers(t *testing.T) {
	w := small(t, nil)
	c, err := theContract()
	testkit.Must(t, err)
	asking := with("Access-Control-Request-Method", "POST")
	r := w.do("OPTIONS", "/api/urls", "", with("Origin", "https://app.example.com"), asking).want(204)
	sent := strings.Split(r.Header.Get("Access-Control-Allow-Headers"), ", ")
	read := strings.Split(r.Header.Get("Access-Control-Expose-Headers"), ", ")
	for path, item := range c.paths {
		if !strings.HasPrefix(path, "/api/") {
			continue // edges serve it
		}
		for method := range member(item) {
			parameters, _ := member(item, method)["parameters"].([]any)
			for _, p := range parameters {
				name, _ := member(p)["name"].(string)
				if member(p)["in"] == "header" && !slices.Contains(sent, name) {
					t.Errorf("%s %s: a page cannot send %s", method, path, name)
				}
			}
			for status := range member(item, method, "responses") {
				for name := range member(item, method, "responses", status, "headers") {
					if !slices.Contains(read, name) && name != "Location" && name != "Set-Cookie" { // no page sees these
						t.Errorf("%s %s: a page cannot read %s", method, path, name)
					}
				}
			}
		}
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
			w.do("POST", "/api/api-keys", `{}`, as(w.ann)).want(400).headed("X-RateLimit-Limit", "2").
				headed("X-RateLimit-Remaining", fmt.Sprint(1-i))
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

func TestB6_document_pages(t *testing.T) {
	w := small(t, nil)
	for path, kind := range map[string]string{"/api": "text/html", "/api/": "text/html", "/api/docs.js": "text/javascript",
		"/api/docs.css": "text/css", "/api/swagger-ui.js": "text/javascript", "/api/swagger-ui.css": "text/css"} {
		if r := w.do("GET", path, ""); r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), kind) ||
			!strings.Contains(r.Header.Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	for accepted, encoding := range map[string]string{"gzip;q=0": "", "zstd, GZip; q=0.5": "gzip", "identity": ""} {
		got := w.do("GET", "/api/openapi.json", "", with("Accept-Encoding", accepted)).want(200).Header
		if got.Get("Content-Encoding") != encoding {
			t.Errorf("%s: %v", accepted, got)
		}
	}
	tag := w.do("GET", "/api/openapi.json", "").want(200).Header.Get("ETag")
	w.do("GET", "/api/openapi.json", "", with("If-None-Match", tag)).want(304)
	// Only a key that was used for another request gets 422. Requests with invalid fields get 400.
	doc := w.openapi()
	for endpoint, op := range doc.operations() {
		_, documented := op.Responses["422"]
		if keyed := slices.Contains(doc.parameters("header")[endpoint], idempotent); documented != keyed {
			t.Errorf("%s: 422 is documented: %v, a key is: %v", endpoint, documented, keyed)
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
		w.do("POST", "/api/users", body, as(w.root)).want(400).says(`"message":"` + want + `"`)
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

// series returns the samples of a metric by labels, such as code=2xx,route=/api. For a histogram it returns the counts.
func series(t *testing.T, r *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	testkit.Must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			out[strings.Join(labels, ",")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() +
				float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

func TestMetrics_count_by_route_and_never_by_path(t *testing.T) {
	metrics := prometheus.NewRegistry()
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Registry = metrics; c.Limits.APIKeys = 1 })
	for _, id := range []string{"one", "two", "three"} {
		w.do("GET", "/api/users/"+id, "", as(w.root)).want(404)
		w.do("GET", "/api/made-up/"+id, "").want(404)
		w.do("BREW", "/api/users", "")
	}
	for range 3 {
		w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann))
	}
	requests := series(t, metrics, "shortline_api_requests_total")
	if got := requests["code=4xx,method=GET,route=/api/users/{id}"]; got != 3 {
		t.Errorf("%v requests for unknown users were counted, want 3: %v", got, requests)
	}
	if got := requests["code=4xx,method=other,route=other"]; got != 6 {
		t.Errorf("%v requests with invented paths or methods were counted, want 6: %v", got, requests)
	}
	for labels := range requests {
		if strings.Contains(labels, "made-up") || strings.Contains(labels, "BREW") {
			t.Errorf("a label contains text of the request: %s", labels)
		}
	}
	if got := series(t, metrics, "shortline_api_request_duration_seconds")["method=GET,route=/api/users/{id}"]; got != 3 {
		t.Errorf("%v durations, want 3", got)
	}
	if got := series(t, metrics, "shortline_api_rate_limited_total")["limit=api_keys"]; got != 2 {
		t.Errorf("%v rejected requests, want 2", got)
	}
	if got := series(t, metrics, "shortline_api_requests_in_flight")[""]; got != 0 {
		t.Errorf("%v requests in flight after all responses", got)
	}
}

// A disconnected caller does not count as an error of the service, because the alert on 5xx would fire.
func TestMetrics_of_a_disconnected_caller(t *testing.T) {
	metrics := prometheus.NewRegistry()
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Registry = metrics })
	canceled, leave := context.WithCancel(t.Context())
	leave()
	r := w.do("GET", "/api/users", "", as(w.root), func(r *http.Request) { *r = *r.WithContext(canceled) })
	requests := series(t, metrics, "shortline_api_requests_total")
	if got := requests["code=4xx,method=GET,route=/api/users"]; r.StatusCode != 499 || got != 1 {
		t.Errorf("status %d, counted as %v: %s", r.StatusCode, requests, r.text)
	}
}

func TestMetrics_of_the_database_pools(t *testing.T) {
	t.Parallel()
	pools := func(st *store.Store) map[string]float64 {
		metrics := prometheus.NewRegistry()
		metrics.MustRegister(st)
		return series(t, metrics, "shortline_store_connections_max")
	}
	if got := pools(storetest.OpenPostgres(t)); len(got) != 1 || got["pool=all"] == 0 {
		t.Errorf("pools of PostgreSQL: %v", got)
	}
	if got := pools(storetest.Open(t)); len(got) != 2 || got["pool=write"] != 1 {
		t.Errorf("pools of SQLite: %v", got)
	}
}

func TestTraces(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Traces = provider })
	before := len(recorder.Ended())

	const trace = "0af7651916cd43dd8448eb211c80319c"
	header := func(r *http.Request) {
		r.Header.Set("Traceparent", "00-"+trace+"-b7ad6b7169203331-01")
		r.Header.Set("X-Request-Id", "asked-for-this")
	}
	w.do("GET", "/api/users?search=hunter2&limit=5", "", as(w.root), header).want(200)

	var request sdk.ReadOnlySpan
	var all strings.Builder
	statements := 0
	for _, s := range recorder.Ended()[before:] {
		if s.SpanContext().TraceID().String() != trace {
			t.Errorf("span %s is in another trace", s.Name())
		}
		all.WriteString(s.Name())
		for _, a := range s.Attributes() {
			all.WriteString(" " + string(a.Key) + "=" + a.Value.String())
		}
		switch {
		case s.Name() == "GET /api/users":
			request = s
		case strings.HasPrefix(s.Name(), "sqlite "):
			statements++
		}
	}
	if request == nil || statements == 0 {
		t.Fatalf("%d statements; spans: %s", statements, all.String())
	}
	for _, want := range []string{"shortline.request_id=asked-for-this", "http.route=/api/users", "http.response.status_code=200",
		"db.query.text=SELECT"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no span contains %s: %s", want, all.String())
		}
	}
	for _, secret := range []string{"hunter2", w.root} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("a span contains %s", secret)
		}
	}
	lines := strings.Split(strings.TrimSpace(w.logs.String()), "\n")
	var line struct {
		RequestID string `json:"request_id"`
		TraceID   string `json:"trace_id"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || line.TraceID != trace ||
		line.RequestID != "asked-for-this" {
		t.Errorf("the log line is %s (%v)", lines[len(lines)-1], err)
	}
}

// The message of an error must name the first problem, because some clients show only the message. reply.want checks
// this for every 400 in the tests of this package.
func TestAPI5_MessageCarriesTheFirstProblem(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	for _, c := range []struct{ method, path, body, message string }{
		// Problems that a use case finds.
		{"POST", "/api/urls", `{"originalUrl":"ftp://example.com"}`, "originalUrl: must be an http or https address"},
		{"PUT", "/api/urls/" + id, `{"originalUrl":"ftp://example.com","title":"` + strings.Repeat("x", 256) + `"}`,
			"originalUrl: must be an http or https address"},
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"api"}`, "customSlug: is a reserved word"},
		{"POST", "/api/urls/" + id + "/routing-rules",
			`{"name":"x","targetUrl":"https://x.example",` +
				`"conditions":{"logicalOperator":"AND","items":[{"type":"moon","operator":"equals","value":"x"}]}}`,
			"conditions.items.0.type: "},
		// Problems that the framework finds.
		{"POST", "/api/urls", `{"originalUrl":1}`, "originalUrl: must be a string"},
		{"POST", "/api/urls", `{}`, "originalUrl: is required"},
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","colour":"red"}`, "colour: is not a known property"},
		{"GET", "/api/urls?page=0", "", "page: must be at least 1"},
		// Problems that middleware finds.
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","title":"\u0000"}`, "title: must not contain the character NUL"},
	} {
		r := w.do(c.method, c.path, c.body, as(w.ann)).want(400)
		if !strings.HasPrefix(r.str("message"), c.message) || strings.Contains(r.text, "alidation failed") {
			t.Errorf("%s %s: %s, want the message %q", r.what, c.body, r.text, c.message)
		}
	}
	r := w.do("PUT", "/api/urls/"+id, `{"originalUrl":"ftp://example.com","title":"`+strings.Repeat("x", 256)+`"}`, as(w.ann)).
		wantField("originalUrl", "title")
	r.shows("errors.2", nil)
}

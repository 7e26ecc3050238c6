package redirect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
)

// conversionRecorder is a ConversionSink that accepts what is good, and keeps it. Package conversions tests the real one.
type conversionRecorder struct {
	full atomic.Bool

	mu   sync.Mutex
	took []conversion.Conversion
}

func (l *conversionRecorder) all() []conversion.Conversion {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.took)
}

func (l *conversionRecorder) Take(check conversion.Checker, workspace uint64, items []conversion.Item) ([]*conversion.Problem, error) {
	if l.full.Load() {
		return nil, errors.New("full")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	problems := make([]*conversion.Problem, len(items))
	for i := range items {
		c, p := check.Check(&items[i])
		if problems[i] = p; p == nil {
			c.Workspace = workspace
			l.took = append(l.took, c)
		}
	}
	return problems, nil
}

const shop = "https://shop.example"

func shopWorld(t *testing.T, to *conversionRecorder, adjust ...func(*redirect.Config, *redirect.Deps)) *world {
	t.Helper()
	return newWorld(t, trackedLinks(), append([]func(*redirect.Config, *redirect.Deps){tracking(t, epoch,
		snapshot.ConversionSource{Key: "pk_shop", Workspace: 9, Hosts: []string{"shop.example", "*.pages.example"}},
		snapshot.ConversionSource{Key: "pk_other", Workspace: 8, Hosts: []string{"other.example"}},
	), func(_ *redirect.Config, d *redirect.Deps) { d.Conversions = to }}, adjust...)...)
}

// clicked visits a link and returns the click id.
func (w *world) clicked(t *testing.T) string {
	t.Helper()
	location := w.get("/plain").Header.Get("Location")
	_, id, ok := strings.Cut(strings.TrimSuffix(location, "#f"), "sl_click=")
	if !ok {
		t.Fatal(location)
	}
	return id
}

func (w *world) convert(target, body string, headers ...string) answer {
	return w.ask(http.MethodPost, target, body, append([]string{"Origin", shop, "Content-Type", "text/plain;charset=UTF-8"}, headers...)...)
}

// verdicts returns the verdicts of an answer, each with the field to blame.
func verdicts(t *testing.T, a answer) string {
	t.Helper()
	var out struct {
		Accepted, Rejected int
		Results            []struct {
			Index          int
			Verdict, Field string
		}
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	var list []string
	for i, r := range out.Results {
		if list = append(list, strings.TrimSpace(r.Verdict+" "+r.Field)); r.Index != i {
			t.Errorf("index %d at %d", r.Index, i)
		}
	}
	if out.Accepted+out.Rejected != len(list) {
		t.Errorf("%d accepted, %d rejected of %d", out.Accepted, out.Rejected, len(list))
	}
	return strings.Join(list, ", ")
}

func TestConvert_takes_every_form(t *testing.T) {
	t.Parallel()
	to := new(conversionRecorder)
	w := shopWorld(t, to)
	id := w.clicked(t)
	one := fmt.Sprintf(`"clickId":%q,"name":"buy"`, id)
	for _, c := range []struct{ target, body, want string }{
		{"/c", `{"key":"pk_shop",` + one + `,"value":49.9,"currency":"EUR"}`, "accepted"},
		{"/c?key=pk_shop", `{` + one + `}`, "accepted"},
		{"/c?key=pk_shop", ` [{` + one + `},{"clickId":"x","name":"buy"},{` + one + `,"value":-1}]`,
			"accepted, malformed clickId, invalid value"},
		{"/c", `{"key":"pk_shop","items":[{` + one + `},{` + one + `,"currency":"???"}]}`, "accepted, invalid currency"},
	} {
		got := w.convert(c.target, c.body)
		if v := verdicts(t, got); v != c.want || got.Header.Get("Access-Control-Allow-Origin") != shop ||
			got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s %v, want %s", c.body, v, got.Header, c.want)
		}
	}
	if got := w.convert("/c?key=pk_shop", `{`+one+`}`, "Content-Type", "application/json", "Origin", "http://a.pages.example:8080", "Host",
		"any.example"); verdicts(t, got) != "accepted" {
		t.Error(got.body)
	}
	if took := to.all(); len(took) != 5 || took[0].Workspace != 9 || took[0].Value != 499_000 || took[0].Click.Link != 1 {
		t.Errorf("%+v", took)
	}
	if s := w.handler.Stats(); s.Sold != 5 || s.Unsold != 3 || s.Sales != 5 {
		t.Errorf("%+v", s)
	}
	to.full.Store(true)
	if got := w.convert("/c?key=pk_shop", `{`+one+`}`); got.StatusCode != http.StatusServiceUnavailable ||
		got.Header.Get("Retry-After") != "60" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
}

func TestConvert_refuses(t *testing.T) {
	t.Parallel()
	to := new(conversionRecorder)
	w := shopWorld(t, to)
	id := w.clicked(t)
	good := fmt.Sprintf(`{"clickId":%q,"name":"buy"}`, id)
	for name, c := range map[string]struct {
		target, body string
		headers      []string
		status       int
		text         string
	}{
		"no origin":        {"/c?key=pk_shop", good, []string{"Origin", ""}, 403, "sites"},
		"opaque origin":    {"/c?key=pk_shop", good, []string{"Origin", "null"}, 403, "sites"},
		"wrong origin":     {"/c?key=pk_shop", good, []string{"Origin", "https://evil.example"}, 403, "sites"},
		"another's origin": {"/c?key=pk_shop", good, []string{"Origin", "https://other.example"}, 403, "sites"},
		"another's key":    {"/c?key=pk_other", good, nil, 403, "key"},
		"unknown key":      {"/c?key=pk", good, nil, 403, "key"},
		"no key":           {"/c", good, nil, 400, `"field":"key"`},
		"no JSON":          {"/c?key=pk_shop", "clickId=" + id, nil, 400, "not valid JSON"},
		"nothing":          {"/c?key=pk_shop", "", nil, 400, "not valid JSON"},
		"null":             {"/c?key=pk_shop", "[]", nil, 400, `"field":"items"`},
		"two values":       {"/c?key=pk_shop", good + good, nil, 400, "not valid JSON"},
		"unknown member":   {"/c?key=pk_shop", `{"clickId":"x","nam":"buy"}`, nil, 400, `"field":"nam"`},
		"wrong type":       {"/c?key=pk_shop", `[{"clickId":"x","name":7}]`, nil, 400, `"field":"name"`},
		"both forms":       {"/c?key=pk_shop", `{"items":[` + good + `],"name":"x"}`, nil, 400, `"field":"items"`},
		"101 items":        {"/c?key=pk_shop", "[" + strings.Repeat(good+",", 100) + good + "]", nil, 400, `"field":"items"`},
		"a form":           {"/c?key=pk_shop", good, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "JSON"},
		"17 KiB":           {"/c?key=pk_shop", strings.Repeat(" ", 17<<10) + good, nil, 413, "large"},
	} {
		got := w.convert(c.target, c.body, c.headers...)
		if got.StatusCode != c.status || !strings.Contains(got.body, c.text) {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" && (c.status == 403 || allowed != shop) {
			t.Errorf("%s: allows %q", name, allowed)
		}
	}
	if got := w.raw("POST /c HTTP/1.1\r\nHost: a\r\nOrigin: " + shop + "\r\nContent-Length: 10000000\r\n\r\n{"); !strings.HasPrefix(got,
		"HTTP/1.1 413") {
		t.Errorf("10 MB: %s", got)
	}
	if took := to.all(); len(took) != 0 {
		t.Errorf("%+v", took)
	}
}

func TestConvert_answers_preflights_and_nothing_else(t *testing.T) {
	t.Parallel()
	w := shopWorld(t, new(conversionRecorder))
	got := w.ask(http.MethodOptions, "/c", "", "Origin", shop, "Access-Control-Request-Method", "POST")
	if got.StatusCode != 204 || got.Header.Get("Access-Control-Allow-Origin") != shop ||
		got.Header.Get("Access-Control-Allow-Methods") != "POST" || got.Header.Get("Access-Control-Allow-Headers") != "Content-Type" ||
		got.body != "" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	if got := w.ask(http.MethodOptions, "/c", "", "Origin", "https://evil.example"); got.StatusCode != 403 ||
		got.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
		if got := w.ask(m, "/c", "", "Origin", shop); got.StatusCode != 404 || got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d", m, got.StatusCode)
		}
	}
	w = newWorld(t, trackedLinks(), tracking(t, epoch))
	for _, target := range []string{"/c", "/sl.js"} {
		if got := w.ask(http.MethodPost, target, "{}", "Origin", shop); got.StatusCode != 404 {
			t.Errorf("%s without conversions: %d", target, got.StatusCode)
		}
	}
}

func TestConvert_limits(t *testing.T) {
	t.Parallel()
	to := new(conversionRecorder)
	w := shopWorld(t, to, trusting, func(c *redirect.Config, _ *redirect.Deps) { c.ConversionLimit, c.ConversionKeyLimit = 5, 8 })
	item := fmt.Sprintf(`{"clickId":%q,"name":"a"}`, w.clicked(t))
	batch := "[" + item + strings.Repeat(","+item, 2) + "]"
	from := func(ip, body string) answer { return w.convert("/c?key=pk_shop", body, "X-Forwarded-For", ip) }
	for i, c := range []struct {
		ip, body string
		status   int
	}{
		{"203.0.113.1", batch, 202},
		{"203.0.113.1", batch, 429}, // 6 of 5
		{"203.0.113.2", batch, 202},
		{"203.0.113.3", batch, 429}, // 9 of 8 of the key
		{"203.0.113.3", item, 202},
		{"203.0.113.4", strings.Replace(batch, item, item+","+item+","+item+","+item, 1), 400}, // could never be sent
	} {
		got := from(c.ip, c.body)
		if got.StatusCode != c.status || (got.Header.Get("Retry-After") != "") != (c.status == 429) {
			t.Errorf("%d: %d %v %s", i, got.StatusCode, got.Header, got.body)
		}
	}
	w.advance(time.Minute)
	if got := from("203.0.113.1", batch); got.StatusCode != 202 {
		t.Errorf("a minute later: %d", got.StatusCode)
	}
	// Requests that are refused for another reason count for the client.
	for range 5 {
		w.convert("/c", "no JSON", "X-Forwarded-For", "203.0.113.9")
	}
	if got := w.convert("/c", "no JSON", "X-Forwarded-For", "203.0.113.9"); got.StatusCode != 429 {
		t.Errorf("%d", got.StatusCode)
	}
}

// Invented click ids count for their sender only, not against the key, which every page shows.
func TestLow_invented_clicks_use_up_no_key(t *testing.T) {
	t.Parallel()
	w := shopWorld(t, new(conversionRecorder), trusting, func(c *redirect.Config, _ *redirect.Deps) {
		c.ConversionLimit, c.ConversionKeyLimit = 10, 3
	})
	from := func(ip, items string) answer { return w.convert("/c?key=pk_shop", items, "X-Forwarded-For", ip) }
	invented, sound := `{"clickId":"x","name":"a"}`, fmt.Sprintf(`{"clickId":%q,"name":"a"}`, w.clicked(t))
	for i := range 5 {
		if got := from(fmt.Sprintf("203.0.113.%d", i), "["+invented+","+invented+"]"); got.StatusCode != 202 {
			t.Errorf("invented ids, sender %d: %d", i, got.StatusCode)
		}
	}
	for i, want := range []int{202, 202, 429} { // 2, 3, 5 of 3
		items := []string{sound + "," + sound, invented + "," + sound, sound + "," + sound}[i]
		if got := from(fmt.Sprintf("203.0.113.1%d", i), "["+items+"]"); got.StatusCode != want {
			t.Errorf("request %d: %d, want %d", i, got.StatusCode, want)
		}
	}
	for i, want := range []int{202, 202, 202, 429} { // 3, 6, 9, 12 of 10
		if got := from("203.0.113.99", "["+invented+","+invented+","+invented+"]"); got.StatusCode != want {
			t.Errorf("one sender's request %d: %d, want %d", i, got.StatusCode, want)
		}
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	w := shopWorld(t, new(conversionRecorder), func(c *redirect.Config, _ *redirect.Deps) { c.StrictHosts = true })
	got := w.get("/sl.js", "Host", "any.example")
	tag := got.Header.Get("ETag")
	if got.StatusCode != 200 || len(got.body) > 1024 || len(got.body) < 500 || tag == "" ||
		got.Header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
		got.Header.Get("Cache-Control") != "public, max-age=86400" || got.Header.Get("Access-Control-Allow-Origin") != "*" ||
		got.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("%d, %d bytes, %v", got.StatusCode, len(got.body), got.Header)
	}
	if strings.Contains(got.body, "\n") || strings.Contains(got.body, "//") {
		t.Errorf("not packed: %s", got.body)
	}
	if again := w.get("/sl.js", "If-None-Match", "W/"+tag); again.StatusCode != 304 || again.body != "" {
		t.Errorf("%d %s", again.StatusCode, again.body)
	}
	if head := w.ask(http.MethodHead, "/sl.js", ""); head.StatusCode != 200 || head.ContentLength != int64(len(got.body)) {
		t.Errorf("HEAD: %d %d", head.StatusCode, head.ContentLength)
	}
}

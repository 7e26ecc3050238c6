package redirect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/link"
)

// reportRecorder keeps reports and answers as a test says.
type reportRecorder struct {
	mu    sync.Mutex
	got   []abuse.Report
	fault error
}

func (d *reportRecorder) Accept(_ context.Context, r abuse.Report) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault != nil {
		return d.fault
	}
	d.got = append(d.got, r)
	return nil
}

// reports returns the reports that were accepted.
func (d *reportRecorder) reports() []abuse.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.got)
}

// fail makes Accept return an error; nil lets it accept reports.
func (d *reportRecorder) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = err
}

func reportWorld(t *testing.T) (*world, *reportRecorder) {
	d := &reportRecorder{}
	w := newWorld(t, []link.Record{{Key: "abc", Destination: "https://example.com"}, {Key: "off", Destination: "https://example.com",
		Inactive: true}},
		func(_ *redirect.Config, deps *redirect.Deps) { deps.Reports = d })
	return w, d
}

func post(w *world, path, body string, headers ...string) answer {
	w.t.Helper()
	return w.ask("POST", path, body, append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", browser},
		headers...)...)
}

func TestReport_form(t *testing.T) {
	t.Parallel()
	w, d := reportWorld(t)
	for _, path := range []string{"/abc/report", "/off/report"} { // a link that is off may still be reported
		a := w.ask("GET", path, "", "Accept", browser)
		if a.StatusCode != 200 || !strings.Contains(a.body, `action="`+path+`"`) || strings.Contains(a.body, "<script") ||
			!strings.Contains(a.Header.Get("Content-Security-Policy"), "form-action 'self'") {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
	}
	if a := w.ask("GET", "/abc/report", "", "Accept", browser, "Accept-Language", "de"); !strings.Contains(a.body, "Diesen Link melden") ||
		!strings.Contains(a.body, `lang="de"`) || strings.Contains(a.body, "Choose") || strings.Contains(a.body, "Send") {
		t.Errorf("in German: %s", a.body)
	}
	if a := w.ask("GET", "/none/report", "", "Accept", browser); a.StatusCode != 404 {
		t.Errorf("a link that does not exist: %d", a.StatusCode)
	}
	if a := w.ask("GET", "/abc+", "", "Accept", browser); !strings.Contains(a.body, `href="/abc/report"`) {
		t.Errorf("who looks where the link leads cannot report it: %s", a.body)
	}
	if a := w.ask("PUT", "/abc/report", ""); a.StatusCode != 405 || a.Header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PUT: %d, Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
	a := post(w, "/abc/report", url.Values{"reason": {"PHISHING"}, "text": {"asks for <b>passwords</b>\r\nand more"},
		"email": {"me@example.com"}}.Encode(), "Origin", "https://sho.rt")
	if a.StatusCode != 303 || a.Header.Get("Location") != "/abc/report?sent=1" {
		t.Fatalf("%d %q", a.StatusCode, a.Header.Get("Location"))
	}
	if a := w.ask("GET", "/abc/report?sent=1", "", "Accept", browser); a.StatusCode != 200 || !strings.Contains(a.body, "Thank you") ||
		!strings.Contains(a.body, "You can close this page.") {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	got := d.reports()
	want := abuse.Report{Link: 1, Reason: "PHISHING", Text: "asks for <b>passwords</b>\nand more", Email: "me@example.com",
		Client: got[0].Client}
	if len(got) != 1 || got[0] != want || !want.Client.IsLoopback() {
		t.Errorf("%+v", got)
	}
}

// A report that is not valid is not sent, and the form keeps what was typed. A page of another site cannot send reports.
func TestReport_refused(t *testing.T) {
	t.Parallel()
	w, d := reportWorld(t)
	a := post(w, "/abc/report", url.Values{"text": {`"><script>alert(1)</script>`}, "email": {"nobody"}}.Encode())
	if a.StatusCode != 400 || !strings.Contains(a.body, "Choose a reason.") ||
		!strings.Contains(a.body, "This is not an e-mail address.") ||
		!strings.Contains(a.body, "&lt;script&gt;") || strings.Contains(a.body, "<script>") {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if a := w.ask("POST", "/abc/report", `{"reason":"SPAM","email":"x"}`, "Content-Type", "application/json"); a.StatusCode != 400 ||
		!strings.Contains(a.body, `"field":"email"`) {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if a := w.ask("POST", "/abc/report", `{"reason":"SPAM","more":1}`, "Content-Type", "application/json"); a.StatusCode != 400 {
		t.Errorf("an unknown member: %d", a.StatusCode)
	}
	if a := w.ask("POST", "/abc/report", "reason=SPAM", "Content-Type", "text/plain"); a.StatusCode != 415 {
		t.Errorf("another media type: %d", a.StatusCode)
	}
	for _, from := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		if a := post(w, "/abc/report", "reason=SPAM", from[:]...); a.StatusCode != 403 {
			t.Errorf("%s: %d", from, a.StatusCode)
		}
	}
	if a := post(w, "/abc/report", "reason=SPAM&text="+strings.Repeat("x", 17<<10)); a.StatusCode != 413 {
		t.Errorf("a large body: %d", a.StatusCode)
	}
	if a := post(w, "/abc/report", "reason=SPAM&text="+strings.Repeat("%F0%9F%98%80", 1000)); a.StatusCode != 303 {
		t.Errorf("the longest text: %d", a.StatusCode)
	}
	if n := len(d.reports()); n != 1 {
		t.Errorf("%d reports arrived", n)
	}
}

// While the control plane cannot take a report, the visitor is told and keeps the text. A client can send five a minute.
func TestReport_limits_and_faults(t *testing.T) {
	t.Parallel()
	w, d := reportWorld(t)
	for fault, want := range map[error]int{errors.New("down"): 503, abuse.ErrUnsupported: 503, fmt.Errorf("x: %w", abuse.ErrBusy): 429,
		abuse.ErrUnknown: 404} {
		d.fail(fault)
		a := post(w, "/abc/report", "reason=SPAM&text=keep+this")
		if a.StatusCode != want || want == 503 &&
			(!strings.Contains(a.body, "keep this") || !strings.Contains(a.body, "could not be sent") ||
				a.Header.Get("Retry-After") == "") {
			t.Errorf("%v: %d %s", fault, a.StatusCode, a.body)
		}
	}
	d.fail(nil)
	if a := w.ask("POST", "/abc/report", `{"reason":"SPAM"}`, "Content-Type", "application/json"); a.StatusCode != http.StatusAccepted {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if a := post(w, "/abc/report", "reason=SPAM"); a.StatusCode != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("the sixth report of a minute: %d", a.StatusCode)
	}
	if s := w.handler.Stats(); s.Reports != 1 || s.ReportsFailed != 2 {
		t.Errorf("%+v", s)
	}
}

func TestMissing_is_counted_for_slugs_only(t *testing.T) {
	t.Parallel()
	table := missing.New(missing.Config{})
	w := newWorld(t, []link.Record{{Key: "abc", Destination: "https://example.com"}}, func(_ *redirect.Config, d *redirect.Deps) {
		d.Missing = table
	})
	for _, r := range []string{"GET /abc", "GET /nope", "GET /nope?x=1", "HEAD /nope", "POST /nope", "GET /nope/info", "GET /wp-login.php",
		"GET /a", "GET /console", "GET /%6eope", "GET /nope/"} {
		method, path, _ := strings.Cut(r, " ")
		w.ask(method, path, "")
	}
	b := table.Batch()
	if b == nil || len(b.Slugs) != 1 || b.Slugs[0].Slug != "nope" || b.Slugs[0].Count != 4 {
		t.Errorf("%+v", b)
	}
}

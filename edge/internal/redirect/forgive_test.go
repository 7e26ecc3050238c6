package redirect_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// brokenLinks are the links of testdata/broken-addresses.txt.
func brokenLinks() (list []link.Record) {
	for _, slug := range []string{"spring", "my-link", "office", "fish", "fly-er", "cliff", "waffle", "faster", "a--b"} {
		list = append(list, link.Record{Key: slug, Destination: "https://example.com/" + slug})
	}
	return list
}

// bare sends a GET for a path whose bytes a client would change.
func (w *world) bare(path string) (status, location string) {
	w.t.Helper()
	got := w.raw("GET " + path + " HTTP/1.1\r\nHost: sho.rt\r\nUser-Agent: " + desktop + "\r\nConnection: close\r\n\r\n")
	head, _, _ := strings.Cut(got, "\r\n\r\n")
	_, status, _ = strings.Cut(head, " ")
	for line := range strings.Lines(head) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Location: "); ok {
			location = v
		}
	}
	return status[:3], location
}

// Each address leads where a person would expect, with one click and without another redirect, or is missing.
func TestForgive_corpus(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/broken-addresses.txt")
	testkit.Must(t, err)
	w := newWorld(t, brokenLinks())
	addresses, clicks := 0, 0
	for line := range strings.Lines(string(b)) {
		path, want, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		addresses++
		status, location := w.bare(path)
		location, _, _ = strings.Cut(location, "?")
		switch {
		case want == "missing" && status != "404", want != "missing" && (status != "302" || location != "https://example.com/"+want):
			t.Errorf("%s: %s to %q instead of %s", path, status, location, want)
		case want != "missing":
			clicks++
		}
	}
	if addresses < 200 {
		t.Errorf("only %d addresses", addresses)
	}
	if got := len(w.clicks(clicks)); got != clicks {
		t.Errorf("%d clicks of %d visits", got, clicks)
	}
}

func TestForgive_query(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokenLinks())
	for path, want := range map[string]string{
		"/spring.?a=1":                     "?a=1",
		"/spring%3Fa=1&b=2":                "?a=1&b=2",
		"/spring%253Fa=1":                  "?a=1",
		"/spring&amp;utm_source=mail&b=2":  "?utm_source=mail&b=2",
		"/spring%3Fa=1?c=3":                "?c=3",
		"/spring%3F%22%3Ehere":             "",
		"/spring&quot;%20class=button":     "",
		"/spring%3Fa=%0D%0AX-Injected:%20": "?a=%0D%0AX-Injected:%20",
	} {
		if status, location := w.bare(path); status != "302" || location != "https://example.com/spring"+want {
			t.Errorf("%s: %s to %q", path, status, location)
		}
	}
}

// Slugs that stay missing count as missing, by the slug that was probably meant.
func TestForgive_missing_slugs_are_counted(t *testing.T) {
	t.Parallel()
	counts := missing.New(missing.Config{})
	w := newWorld(t, brokenLinks(), func(_ *redirect.Config, d *redirect.Deps) { d.Missing = counts })
	for _, path := range []string{"/summer", "/summer.", "/summer/", "/summer%E2%80%8B", "/summer)%20and", "/spring.", "/spring/a", "/x.php",
		"/admin/", "/su"} {
		w.bare(path)
	}
	b := counts.Batch()
	if b == nil || len(b.Slugs) != 1 || b.Slugs[0].Slug != "summer" || b.Slugs[0].Count != 5 {
		t.Errorf("%+v", b)
	}
}

func TestForgive_other_methods_and_endpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t, append(brokenLinks(), link.Record{Key: "locked", Destination: "https://example.com/", PasswordHash: secret()}))
	if a := w.ask(http.MethodHead, "/spring.", ""); a.StatusCode != http.StatusFound || a.Header.Get("Location") != "https://example.com/spring" {
		t.Errorf("HEAD: %d %v", a.StatusCode, a.Header)
	}
	if a := w.ask(http.MethodPost, "/spring.", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("POST: %d", a.StatusCode)
	}
	if a := w.get("/locked).", "Accept", browser); a.StatusCode != http.StatusOK || !strings.Contains(a.body, `action="/locked/verify"`) {
		t.Errorf("form: %d %s", a.StatusCode, a.body)
	}
}

// A request for a link that exists costs nothing more, and one that is forgiven allocates nothing of its own.
func TestForgive_allocates_nothing(t *testing.T) {
	call := newCaller(t)
	for _, target := range []string{"/plain", "/plain.", "/pl%E2%80%8Bain%2C", "/plain_"} {
		c := call(target)
		c.handle(c.ctx)
		if status := c.ctx.Response.StatusCode(); status != http.StatusFound {
			t.Fatalf("%s: %d", target, status)
		}
		if n := testing.AllocsPerRun(100, func() { c.handle(c.ctx) }); n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}

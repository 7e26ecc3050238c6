package redirect_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

// A destination of the greatest length leaves whole, from a link, a rule, a variant and an address after expiry, over the loop that
// answers simple requests and over the server.
func TestRedirect_long_destinations(t *testing.T) {
	t.Parallel()
	long := func(name string) string {
		begin := "https://example.com/" + name + "?q="
		return begin + strings.Repeat("x", link.MaxDestination-len(begin))
	}
	w := newWorld(t, []link.Record{
		{Key: "long", Destination: long("link")},
		{Key: "longutm", Destination: long("utm"), UTM: link.UTM{Source: "news"}},
		{Key: "longrule", Destination: long("orig"), SmartRouting: true, Rules: []link.Rule{ruleFor(1, long("rule"), onPhone)}},
		{Key: "longvariant", Destination: long("orig"), ABTesting: true,
			Variants: []link.Variant{{ID: link.ID{9}, Target: long("variant"), Weight: 1}}},
		{Key: "longexpired", Destination: long("orig"), ExpiresAt: epoch.UnixMilli(), ExpiredURL: long("expired")},
	})
	for target, want := range map[string]string{
		"/long": long("link"), "/longutm?a=b": long("utm") + "&utm_source=news&a=b", "/longrule": long("rule"),
		"/longvariant": long("variant"), "/longexpired": long("expired"),
	} {
		for _, padding := range []string{"", "100-continue"} { // the server answers requests that expect something
			headers := []string{"User-Agent", phone}
			if padding != "" {
				headers = append(headers, "Expect", padding)
			}
			a := w.get(target, headers...)
			if got := a.Header.Get("Location"); a.StatusCode != 302 || got != want {
				t.Errorf("%s: %d, %d bytes; want %d", target, a.StatusCode, len(got), len(want))
			}
		}
	}
	var requests, answers strings.Builder
	for i := range 40 {
		fmt.Fprintf(&requests, "GET /long?n=%d HTTP/1.1\r\nHost: sho.rt\r\n", i)
		if i == 39 {
			requests.WriteString("Connection: close\r\n")
		}
		requests.WriteString("\r\n")
	}
	answers.WriteString(w.raw(requests.String()))
	if n := strings.Count(answers.String(), "Location: "+long("link")+"&n="); n != 40 {
		t.Errorf("%d of 40 pipelined answers", n)
	}
}

// Destinations with other schemes leave as they are stored. A form cannot redirect there, so the visitor gets a page.
func TestRedirect_other_schemes(t *testing.T) {
	t.Parallel()
	const intent = "intent://x#Intent;scheme=myapp;S.browser_fallback_url=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D%22%3E;end"
	w := newWorld(t, []link.Record{
		{Key: "mailto", Destination: "mailto:a@example.com?subject=x", UTM: link.UTM{Source: "news"}},
		{Key: "call", Destination: "tel:+15550123"},
		{Key: "app", Destination: "myapp://sho.rt/open?x=1"},
		{Key: "intent", Destination: intent},
		{Key: "hiddenapp", Destination: "myapp://open?x=1&y=2", PasswordHash: secret()},
		{Key: "hiddenintent", Destination: intent, PasswordHash: secret()},
		{Key: "hiddenscript", Destination: "javascript:alert(1)", PasswordHash: secret()}, // which no control plane sends
	})
	for target, want := range map[string]string{
		"/mailto?q=1": "mailto:a@example.com?subject=x", "/call?utm_source=a": "tel:+15550123", "/app": "myapp://sho.rt/open?x=1",
		"/app?y=2": "myapp://sho.rt/open?x=1&y=2", "/intent": intent,
	} {
		if a := w.get(target); a.StatusCode != 302 || a.Header.Get("Location") != want {
			t.Errorf("%s: %d %q", target, a.StatusCode, a.Header.Get("Location"))
		}
	}
	for slug, want := range map[string]string{"hiddenapp": "myapp://open?x=1&y=2", "hiddenintent": intent} {
		a := w.submit("/"+slug+"/verify", "correct horse")
		if a.StatusCode != 200 || !strings.Contains(a.body, `<a class="button" href="`+html.EscapeString(want)+`">`) {
			t.Errorf("%s: %d %s", slug, a.StatusCode, a.body)
		}
		if a := w.get("/" + slug); strings.Contains(a.body, "myapp") {
			t.Errorf("the form of %s shows where the link leads", slug)
		}
		if a := w.guess(slug, "correct horse"); a.StatusCode != 200 {
			t.Errorf("%s as JSON: %d", slug, a.StatusCode)
		}
	}
	if a := w.submit("/hiddenscript/verify", "correct horse"); a.StatusCode != 404 || strings.Contains(a.body, "alert") {
		t.Errorf("a script: %d %s", a.StatusCode, a.body)
	}
}

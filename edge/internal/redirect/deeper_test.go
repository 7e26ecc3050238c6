package redirect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

func TestDeeper_paths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{
		{Key: "docs", Destination: "https://example.com/manual/?lang=en#top", Forward: true},
		{Key: "bare", Destination: "https://example.com", Forward: true},
		{Key: "plain", Destination: "https://example.com/"},
		{Key: "ended", Destination: "https://example.com/", Forward: true, ExpiresAt: 1},
		{Key: "mail", Destination: "mailto:somebody@example.com", Forward: true},
		{Key: "rules", Destination: "https://example.com/", Forward: true, SmartRouting: true, Rules: []link.Rule{
			ruleFor(1, "https://desktop.example/x", one("device", "equals", `"DESKTOP"`))}},
	})
	for _, c := range []struct{ path, status, location string }{
		{"/docs", "302", "https://example.com/manual/?lang=en#top"},
		{"/docs/", "302", "https://example.com/manual/?lang=en#top"},
		{"/docs/a/b", "302", "https://example.com/manual/a/b?lang=en#top"},
		{"/docs/a/b/", "302", "https://example.com/manual/a/b/?lang=en#top"},
		{"/docs/a?lang=de&x=1", "302", "https://example.com/manual/a?lang=en&x=1#top"},
		{"/docs/a%2Fb%20c", "302", "https://example.com/manual/a%2Fb%20c?lang=en#top"},
		{"/docs/a.b/...", "302", "https://example.com/manual/a.b/...?lang=en#top"},
		{"/docs//evil.example/", "302", "https://example.com/manual//evil.example/?lang=en#top"},
		{"/docs/info/x", "302", "https://example.com/manual/info/x?lang=en#top"},
		{"/docs/verify/x", "302", "https://example.com/manual/verify/x?lang=en#top"},
		{"/docs/a/verify", "302", "https://example.com/manual/a/verify?lang=en#top"},
		{"/bare/a", "302", "https://example.com/a"},
		{"/rules/a", "302", "https://desktop.example/x/a"},
		{"/mail/a", "302", "mailto:somebody@example.com"},
		{"/ended/a", "410", ""},
		{"/plain/a", "404", ""},
		{"/docs/..", "404", ""},
		{"/docs/../admin", "404", ""},
		{"/docs/a/%2e%2E/admin", "404", ""},
		{"/docs/a/%252e%252e/admin", "404", ""},
		{"/docs/%2e%2e/%zz", "404", ""},
		{"/docs/a%2F..%2Fadmin", "404", ""},
		{"/docs/a/..%5Cadmin", "404", ""},
		{"/docs/a/..;x=y/admin", "404", ""},
		{"/docs/./a", "404", ""},
		{"/docs/a%00", "404", ""},
		{"/docs/a%0D%0AX-Injected:y", "404", ""},
	} {
		if status, location := w.bare(c.path); status != c.status || location != c.location {
			t.Errorf("%s: %s to %q instead of %s to %q", c.path, status, location, c.status, c.location)
		}
	}
}

// The form for the password keeps the path.
func TestDeeper_password(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "locked", Destination: "https://example.com/x", PasswordHash: secret(), Forward: true}})
	form := w.get("/locked/a/b?q=1", "Accept", browser)
	if !strings.Contains(form.body, `action="/locked/a/b/verify?q=1"`) {
		t.Fatalf("%d %s", form.StatusCode, form.body)
	}
	const kind = "application/x-www-form-urlencoded"
	wrong := w.ask(http.MethodPost, "/locked/a/b/verify?q=1", "password=wrong", "Content-Type", kind)
	if to := wrong.Header.Get("Location"); to != "/locked/a/b?error=invalid_password&q=1" {
		t.Errorf("wrong: %d to %s", wrong.StatusCode, to)
	}
	right := w.ask(http.MethodPost, "/locked/a/b/verify?q=1", "password=correct+horse", "Content-Type", kind)
	if to := right.Header.Get("Location"); to != "https://example.com/x/a/b?q=1" {
		t.Errorf("right: %d to %s", right.StatusCode, to)
	}
	climbs := w.ask(http.MethodPost, "/locked/../verify", "password=correct+horse", "Content-Type", kind)
	if climbs.StatusCode == http.StatusSeeOther {
		t.Error("a path that climbs is forwarded")
	}
}

package redirect_test

import (
	"net/http"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/visitor"
)

func limited(n int, free bool) func(*redirect.Config, *redirect.Deps) {
	return func(c *redirect.Config, _ *redirect.Deps) {
		c.RateLimit, c.FreeRedirects = n, free
		c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1")
	}
}

func from(ip string) []string { return []string{"X-Forwarded-For", ip} }

func TestRateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "plain", Destination: "https://example.com/"}, {Key: "off", Destination: "https://example.com/",
		Inactive: true}}, limited(6, false))
	const client = "198.51.100.7"
	for i, c := range []struct {
		target string
		status int
	}{{"/plain", 302}, {"/plain", 302}, {"/nothing", 404}, {"/off", 410}, {"/plain/info", 200}, {"/plain", 302}} {
		if got := w.get(c.target, from(client)...); got.StatusCode != c.status {
			t.Errorf("request %d: %d, want %d", i, got.StatusCode, c.status)
		}
	}
	for _, target := range []string{"/plain", "/nothing", "/off", "/plain/info"} {
		if got := w.get(target, from(client)...); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "10" {
			t.Errorf("%s over the limit: %d, Retry-After %q", target, got.StatusCode, got.Header.Get("Retry-After"))
		} else if !strings.Contains(got.body, `"statusCode":429`) || got.Header.Get("Location") != "" {
			t.Errorf("%s over the limit: %s", target, got.body)
		}
	}
	if got := w.ask(http.MethodPost, "/plain/verify", `{"password":"x"}`,
		append(from(client), "Content-Type", "application/json")...); got.StatusCode != http.StatusTooManyRequests {
		t.Errorf("verify over the limit: %d", got.StatusCode)
	}
	if got := w.get("/plain", append(from(client), "Accept", browser)...); !strings.Contains(got.body, "Too many requests") ||
		!strings.Contains(got.body, "<html") {
		t.Errorf("a browser over the limit gets %s", got.body)
	}
	if got := w.get("/healthz", from(client)...); got.StatusCode != http.StatusOK {
		t.Errorf("health over the limit: %d", got.StatusCode)
	}
	if got := w.get("/plain", from("198.51.100.8")...); got.StatusCode != http.StatusFound {
		t.Errorf("another client: %d", got.StatusCode)
	}
	w.advance(10 * time.Second)
	if got := w.get("/plain", from(client)...); got.StatusCode != http.StatusFound {
		t.Errorf("after the wait: %d", got.StatusCode)
	}
	if got := w.get("/plain", from(client)...); got.StatusCode != http.StatusTooManyRequests {
		t.Errorf("and once more: %d", got.StatusCode)
	}
	w.advance(-time.Hour) // a clock that is set back must not lock clients out
	if got := w.get("/plain", from(client)...); got.StatusCode != http.StatusFound {
		t.Errorf("after the clock was set back: %d", got.StatusCode)
	}
	if s := w.handler.Stats(); s.Limited != 7 {
		t.Errorf("%d limited, want 7", s.Limited)
	}
	w.clicks(6)
}

func TestRateLimit_counts_an_IPv6_network_as_one(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "plain", Destination: "https://example.com/"}}, limited(2, false))
	for i, c := range []struct {
		ip     string
		status int
	}{{"2001:db8:1:2::1", 302}, {"2001:db8:1:2:ffff::9", 302}, {"2001:db8:1:2::77", 429}, {"2001:db8:1:3::1", 302}} {
		if got := w.get("/plain", from(c.ip)...); got.StatusCode != c.status {
			t.Errorf("%d, %s: %d, want %d", i, c.ip, got.StatusCode, c.status)
		}
	}
}

func TestRateLimit_leaves_redirects_out(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "plain", Destination: "https://example.com/"}, {Key: "off", Destination: "https://example.com/",
		Inactive: true}}, limited(2, true))
	for i, c := range []struct {
		target string
		status int
	}{{"/plain", 302}, {"/plain", 302}, {"/plain", 302}, {"/nothing", 404}, {"/off", 410}, {"/nothing", 429}, {"/off", 429},
		{"/plain", 302}} {
		if got := w.get(c.target); got.StatusCode != c.status {
			t.Errorf("request %d: %d, want %d", i, got.StatusCode, c.status)
		}
	}
}

func TestRateLimit_does_not_allocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, perMinute := range []int{1, 1_000_000_000} {
		at := newCaller(t, func(c *redirect.Config, _ *redirect.Deps) {
			c.RateLimit = perMinute
			c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1")
		})
		for _, target := range []string{"/plain", "/nothing", "/off"} {
			caller := at(target)
			caller.call()
			if got := caller.call(); (got == http.StatusTooManyRequests) != (perMinute == 1) {
				t.Fatalf("%s at %d a minute: %d", target, perMinute, got)
			}
			if n := testing.AllocsPerRun(500, func() { caller.call() }); n != 0 && !raceEnabled {
				t.Errorf("%s at %d a minute: %v allocations", target, perMinute, n)
			}
		}
	}
}

// BenchmarkRateLimit measures the cost of a limit per redirect. Compare off with BenchmarkServe/plain.
func BenchmarkRateLimit(b *testing.B) {
	for name, perMinute := range map[string]int{"off": 0, "under": 1_000_000_000_000, "over": 1} {
		b.Run(name, func(b *testing.B) {
			caller := newCaller(b, func(c *redirect.Config, _ *redirect.Deps) { c.RateLimit = perMinute })("/plain")
			b.ReportAllocs()
			for b.Loop() {
				caller.call()
			}
		})
	}
}

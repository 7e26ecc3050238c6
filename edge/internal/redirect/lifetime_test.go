package redirect_test

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const over = "https://example.com/over?a=b"

func withQuota(t *testing.T) func(*redirect.Config, *redirect.Deps) {
	q, err := quota.Open(quota.Config{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	testkit.Must(t, err)
	return func(_ *redirect.Config, d *redirect.Deps) { d.Quota = q }
}

func TestLink_does_not_exist_before_its_start(t *testing.T) {
	t.Parallel()
	starts := epoch.Add(time.Hour).UnixMilli()
	w := newWorld(t, []link.Record{{Key: "later", Destination: "https://example.com/", StartsAt: starts, PasswordHash: secret()}})
	requests := []struct{ method, path string }{{"GET", "/later"}, {"HEAD", "/later"}, {"PUT", "/later"}, {"GET", "/later/info"},
		{"POST", "/later/verify"}}
	for _, q := range requests {
		if got := w.ask(q.method, q.path, ""); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s before the start: %d, want 404", q.method, q.path, got.StatusCode)
		}
	}
	w.advance(time.Hour)
	for _, q := range requests {
		if got := w.ask(q.method, q.path, ""); got.StatusCode == http.StatusNotFound {
			t.Errorf("%s %s at the start: 404", q.method, q.path)
		}
	}
	w.clicks(0)
}

func TestLink_redirects_with_its_code(t *testing.T) {
	t.Parallel()
	for code, cache := range map[uint16]string{
		0: "private, no-store", 301: "private, max-age=0", 307: "private, no-store", 308: "private, max-age=0",
	} {
		w := newWorld(t, []link.Record{{Key: "coded", Destination: "https://example.com/a", Code: code}})
		want := int(code)
		if code == 0 {
			want = http.StatusFound
		}
		for _, method := range []string{"GET", "HEAD"} {
			got := w.ask(method, "/coded?x=1", "")
			if got.StatusCode != want || got.Header.Get("Location") != "https://example.com/a?x=1" ||
				got.Header.Get("Cache-Control") != cache {
				t.Errorf("code %d, %s: %d %v", code, method, got.StatusCode, got.Header)
			}
		}
		w.clicks(1)
	}
}

func TestLink_that_ended_leads_to_its_expired_URL(t *testing.T) {
	t.Parallel()
	ended := epoch.Add(-time.Second).UnixMilli()
	w := newWorld(t, []link.Record{
		{Key: "with", Destination: "https://example.com/", ExpiresAt: ended, ExpiredURL: over, PasswordHash: secret(), Code: 301},
		{Key: "without", Destination: "https://example.com/", ExpiresAt: ended},
		{Key: "looping", Destination: "https://example.com/", ExpiresAt: ended, ExpiredURL: "https://sho.rt/looping"},
		{Key: "disabled", Destination: "https://example.com/", ExpiresAt: ended, ExpiredURL: over, Inactive: true},
	})
	for _, q := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/with?x=1", 302}, {"HEAD", "/with", 302}, {"GET", "/with/info", 410},
		{"GET", "/without", 410}, {"HEAD", "/without", 410}, {"GET", "/looping", 410}, {"GET", "/disabled", 410},
	} {
		got := w.ask(q.method, q.path, "")
		if got.StatusCode != q.want || (q.want == 302) != (got.Header.Get("Location") == over) {
			t.Errorf("%s %s: %d to %q, want %d", q.method, q.path, got.StatusCode, got.Header.Get("Location"), q.want)
		}
		if q.want == 302 && got.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s %s: Cache-Control %q", q.method, q.path, got.Header.Get("Cache-Control"))
		}
	}
	form := w.ask("POST", "/with/verify", "password=x", "Content-Type", "application/x-www-form-urlencoded")
	if form.StatusCode != 302 || form.Header.Get("Location") != over {
		t.Errorf("form: %d %v", form.StatusCode, form.Header)
	}
	if json := w.ask("POST", "/with/verify", `{"password":"x"}`, "Content-Type", "application/json"); json.StatusCode != 410 {
		t.Errorf("JSON: %d, want 410", json.StatusCode)
	}
	w.clicks(0)
	if s := w.handler.Stats(); s.Ended != 3 {
		t.Errorf("%d visits ended, want 3", s.Ended)
	}
}

func TestLink_with_a_limit_counts_people(t *testing.T) {
	t.Parallel()
	limit := link.Limit{Since: 9, Clicks: 2}
	w := newWorld(t, []link.Record{
		{Key: "limited", Destination: "https://example.com/", Limit: limit, ExpiredURL: over, Preview: link.Preview{Title: "x"}},
		{Key: "looping", Destination: "https://sho.rt/", Limit: limit},
		{Key: "secret", Destination: "https://example.com/", Limit: limit, PasswordHash: secret()},
	}, withQuota(t))
	for range 3 { // none of these counts against the limit
		for _, got := range []answer{
			w.ask("HEAD", "/limited", ""), w.get("/limited", "User-Agent", "Googlebot/2.1"), w.get("/limited", "Sec-Purpose", "prefetch"),
		} {
			if got.StatusCode != 302 || got.Header.Get("Location") != "https://example.com/" {
				t.Fatalf("%d %v", got.StatusCode, got.Header)
			}
		}
		if got := w.get("/limited", "User-Agent", crawler); got.StatusCode != 200 {
			t.Fatalf("preview: %d", got.StatusCode)
		}
		if got := w.get("/looping"); got.StatusCode != 508 {
			t.Fatalf("loop: %d", got.StatusCode)
		}
	}
	for range 2 {
		if got := w.get("/limited"); got.Header.Get("Location") != "https://example.com/" {
			t.Fatalf("%d %v", got.StatusCode, got.Header)
		}
	}
	for name, got := range map[string]answer{
		"person": w.get("/limited"), "bot": w.get("/limited", "User-Agent", "Googlebot/2.1"),
		"crawler": w.get("/limited", "User-Agent", crawler),
		"HEAD":    w.ask("HEAD", "/limited", ""), "prefetch": w.get("/limited", "Sec-Purpose", "prefetch"),
	} {
		if got.StatusCode != 302 || got.Header.Get("Location") != over {
			t.Errorf("%s after the limit: %d %v", name, got.StatusCode, got.Header)
		}
	}
	if got := w.get("/limited/info"); got.StatusCode != 410 {
		t.Errorf("info after the limit: %d", got.StatusCode)
	}
	password := func() answer {
		return w.ask("POST", "/secret/verify", `{"password":"correct horse"}`, "Content-Type", "application/json")
	}
	if got := w.ask("POST", "/secret/verify", `{"password":"wrong"}`, "Content-Type", "application/json"); got.StatusCode != 401 {
		t.Errorf("wrong password: %d", got.StatusCode)
	}
	for range 2 {
		if got := password(); got.StatusCode != 200 {
			t.Errorf("password: %d", got.StatusCode)
		}
	}
	if got := password(); got.StatusCode != 410 {
		t.Errorf("password after the limit: %d", got.StatusCode)
	}
	if got := w.get("/secret"); got.StatusCode != 410 {
		t.Errorf("form after the limit: %d", got.StatusCode)
	}
	w.clicks(3*2 + 2 + 2)
}

func TestLink_with_a_limit_is_exact_under_concurrency(t *testing.T) {
	t.Parallel()
	const clicks = 500
	w := newWorld(t, []link.Record{{Key: "limited", Destination: "https://example.com/", Limit: link.Limit{Since: 9, Clicks: clicks}}},
		withQuota(t))
	var followed, gone atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for range 50 {
				switch w.get("/limited").StatusCode {
				case 302:
					followed.Add(1)
				case 410:
					gone.Add(1)
				}
			}
		})
	}
	group.Wait()
	if followed.Load() != clicks || gone.Load() != 500 {
		t.Errorf("%d visitors followed the link and %d did not, want 500 each", followed.Load(), gone.Load())
	}
	w.clicks(clicks)
}

package redirect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
	"golang.org/x/crypto/bcrypt"
)

func protected() []link.Record {
	return []link.Record{
		{Key: "hidden", Destination: "https://example.com/h?a=1", PasswordHash: secret(), UTM: link.UTM{Source: "news"}},
		{Key: "other", Destination: "https://example.com/o", PasswordHash: secret()},
		{Key: "open", Destination: "https://example.com/open"},
		{Key: "off", Destination: "https://example.com/off", PasswordHash: secret(), Inactive: true},
		{Key: "routed", Destination: "https://example.com/orig", PasswordHash: secret(), SmartRouting: true,
			Rules: []link.Rule{ruleFor(1, "https://m.example.com/", onPhone)}},
		{Key: "loop", Destination: "https://sho.rt/plain", PasswordHash: secret()},
	}
}

func (w *world) guess(slug, password string, headers ...string) answer {
	w.t.Helper()
	body, _ := json.Marshal(map[string]string{"password": password})
	return w.ask(http.MethodPost, "/"+slug+"/verify", string(body), append([]string{"Content-Type", "application/json"}, headers...)...)
}

func (w *world) submit(target, password string, headers ...string) answer {
	w.t.Helper()
	return w.ask(http.MethodPost, target, url.Values{"password": {password}}.Encode(),
		append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", browser}, headers...)...)
}

func TestVerify_json(t *testing.T) {
	t.Parallel()
	w := newWorld(t, protected())
	right := w.guess("hidden", "correct horse")
	const location = "https://example.com/h?a=1&utm_source=news"
	if right.StatusCode != 200 ||
		right.body !=
			`{"success":true,"originalUrl":"https://example.com/h?a=1\u0026utm_source=news","redirectUrl":"https://example.com/h?a=1\u0026utm_source=news"}` {
		t.Errorf("right = %d %s", right.StatusCode, right.body)
	}
	for _, c := range []struct {
		name, slug, media, body string
		status                  int
		holds                   string
	}{
		{"wrong", "hidden", "application/json", `{"password":"x"}`, 401, "password"},
		{"missing", "hidden", "application/json", `{}`, 400, `"field":"password"`},
		{"null", "hidden", "application/json", `{"password":null}`, 400, `"field":"password"`},
		{"empty body", "hidden", "", ``, 400, `"field":"password"`},
		{"not a string", "hidden", "application/json", `{"password":7}`, 400, "must be a string"},
		{"unknown property", "hidden", "application/json", `{"password":"x","more":1}`, 400, `"field":"more"`},
		{"over 72 bytes", "hidden", "application/json", `{"password":"` + strings.Repeat("x", 73) + `"}`, 400, "72"},
		{"malformed", "hidden", "application/json", `{"password":`, 400, ""},
		{"two values", "hidden", "application/json", `{"password":"x"}{}`, 400, ""},
		{"media type", "hidden", "text/plain", `x`, 415, ""},
		{"no password on the link", "open", "application/json", `{"password":"x"}`, 400, "no password"},
		{"unknown", "nothing", "application/json", `{"password":"x"}`, 404, ""},
		{"inactive", "off", "application/json", `{"password":"x"}`, 410, ""},
		{"too large", "hidden", "application/json", `{"password":"` + strings.Repeat("x", 5000) + `"}`, 413, ""},
		{"loop", "loop", "application/json", `{"password":"correct horse"}`, 508, ""},
	} {
		a := w.ask(http.MethodPost, "/"+c.slug+"/verify", c.body, "Content-Type", c.media)
		if a.StatusCode != c.status || !strings.Contains(a.body, c.holds) {
			t.Errorf("%s = %d %s", c.name, a.StatusCode, a.body)
		}
		if strings.Contains(a.body, location) {
			t.Errorf("%s shows the destination", c.name)
		}
	}
	if e := w.clicks(1); e[0].Link != 1 || e[0].UTM.Source != "news" {
		t.Errorf("click = %+v", e)
	}
}

func TestVerify_form(t *testing.T) {
	t.Parallel()
	w := newWorld(t, protected())
	page := w.get("/hidden?x=1&y=%22%3E", "Accept", browser)
	if !strings.Contains(page.body, `action="/hidden/verify?x=1&amp;y=%22%3E"`) {
		t.Fatalf("page = %s", page.body)
	}
	if csp := page.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' https: http:") ||
		!strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("policy = %q", csp)
	}
	wrong := w.submit("/hidden/verify?x=1", "no")
	if wrong.StatusCode != 303 || wrong.Header.Get("Location") != "/hidden?error=invalid_password&x=1" {
		t.Errorf("wrong = %d %q", wrong.StatusCode, wrong.Header.Get("Location"))
	}
	again := w.get(wrong.Header.Get("Location"), "Accept", browser)
	if !strings.Contains(again.body, `role="alert"`) || !strings.Contains(again.body, `action="/hidden/verify?x=1"`) {
		t.Errorf("again = %s", again.body)
	}
	if long := w.submit("/hidden/verify", strings.Repeat("x", 73)); long.StatusCode != 303 {
		t.Errorf("over 72 bytes = %d", long.StatusCode)
	}
	right := w.submit("/hidden/verify?x=1", "correct horse", "Referer", "https://sho.rt/hidden")
	if right.StatusCode != 303 || right.Header.Get("Location") != "https://example.com/h?a=1&utm_source=news&x=1" ||
		right.Header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("right = %d %v", right.StatusCode, right.Header)
	}
	routed := w.submit("/routed/verify", "correct horse", "User-Agent", phone)
	if routed.Header.Get("Location") != "https://m.example.com/" {
		t.Errorf("routed = %v", routed.Header)
	}
	if e := w.clicks(2); e[0].Referer != "" || e[1].Rule != (link.ID{1}) {
		t.Errorf("clicks = %+v", e)
	}
}

func TestVerify_lock_grows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, protected(), func(c *redirect.Config, _ *redirect.Deps) { c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1") })
	from := func(ip string) []string { return []string{"X-Forwarded-For", ip} }
	for i := range 5 {
		if a := w.guess("hidden", fmt.Sprint(i), from("192.0.2.1")...); a.StatusCode != 401 {
			t.Fatalf("guess %d = %d", i, a.StatusCode)
		}
	}
	want := []int{30, 60, 120, 240, 480, 900, 900}
	for i, seconds := range want {
		a := w.guess("hidden", "correct horse", from("192.0.2.1")...)
		if a.StatusCode != 429 || a.Header.Get("Retry-After") != strconv.Itoa(seconds) {
			t.Fatalf("lock %d = %d, Retry-After %q, want %d", i, a.StatusCode, a.Header.Get("Retry-After"), seconds)
		}
		w.advance(time.Duration(seconds)*time.Second - time.Millisecond)
		if a := w.guess("hidden", "x", from("192.0.2.1")...); a.StatusCode != 429 || a.Header.Get("Retry-After") != "1" {
			t.Fatalf("a moment before lock %d ends = %d", i, a.StatusCode)
		}
		w.advance(time.Millisecond)
		if i < len(want)-1 {
			if a := w.guess("hidden", "x", from("192.0.2.1")...); a.StatusCode != 401 {
				t.Fatalf("after lock %d = %d", i, a.StatusCode)
			}
		}
	}
	if a := w.guess("hidden", "x", from("192.0.2.2")...); a.StatusCode != 401 {
		t.Errorf("another address is locked too: %d", a.StatusCode)
	}
	if a := w.guess("other", "x", from("192.0.2.1")...); a.StatusCode != 401 {
		t.Errorf("another link is locked too: %d", a.StatusCode)
	}
	if a := w.guess("hidden", "correct horse", from("192.0.2.1")...); a.StatusCode != 200 {
		t.Errorf("right after the lock = %d", a.StatusCode)
	}
	for i := range 5 {
		if a := w.guess("hidden", "x", from("192.0.2.1")...); a.StatusCode != 401 {
			t.Errorf("guess %d after a right one = %d", i, a.StatusCode)
		}
	}
	if a := w.submit("/hidden/verify", "x", from("192.0.2.1")...); a.StatusCode != 429 || !strings.Contains(a.body, "<html") {
		t.Errorf("a locked form = %d %s", a.StatusCode, a.body)
	}
	w.advance(time.Hour)
	for i := range 5 {
		if a := w.guess("hidden", "x", from("192.0.2.1")...); a.StatusCode != 401 {
			t.Errorf("guess %d after an hour = %d", i, a.StatusCode)
		}
	}
}

func TestVerify_an_IPv6_household_is_one_guesser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, protected(), func(c *redirect.Config, _ *redirect.Deps) { c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1") })
	for i := range 6 {
		want := 401
		if i == 5 {
			want = 429
		}
		if a := w.guess("hidden", "x", "X-Forwarded-For", fmt.Sprintf("2001:db8::%x", i+1)); a.StatusCode != want {
			t.Errorf("guess %d = %d, want %d", i, a.StatusCode, want)
		}
	}
}

// A flood of attempts from many addresses must not run many hashes or use much memory, and redirects must keep working.
func TestVerify_a_flood_is_bounded(t *testing.T) {
	t.Parallel()
	slow, err := bcrypt.GenerateFromPassword([]byte("correct horse"), 10)
	testkit.Must(t, err)
	links := append(protected(), link.Record{Key: "slow", Destination: "https://example.com/", PasswordHash: string(slow)})
	w := newWorld(t, links, behindProxy, func(c *redirect.Config, _ *redirect.Deps) { c.HashWait = 0 })
	began := time.Now()
	var group sync.WaitGroup
	var mu sync.Mutex
	status := map[int]int{}
	for i := range 200 {
		group.Go(func() {
			a := w.guess("slow", "x", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
			mu.Lock()
			defer mu.Unlock()
			status[a.StatusCode]++
			if a.StatusCode == 429 && a.Header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		})
	}
	for range 20 {
		if a := w.get("/open"); a.StatusCode != 302 {
			t.Errorf("redirect in the flood = %d", a.StatusCode)
		}
	}
	group.Wait()
	s := w.handler.Stats()
	// Comparisons run one at a time and take at least 20 ms each, which bounds their number in the elapsed time.
	if most := uint64(time.Since(began)/(20*time.Millisecond)) + 9; s.Hashes > most || s.Busy == 0 || status[401]+status[429] != 200 ||
		int(s.Hashes) != status[401] {
		t.Errorf("stats %+v, answers %v in %v", s, status, time.Since(began))
	}
	if s.LockoutClients != status[401] {
		t.Errorf("%d clients are in the lockout table after %d failures", s.LockoutClients, status[401])
	}
}

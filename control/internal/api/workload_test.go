package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A replay whose visits and conditions are too many is refused before it computes. Fewer visits are decided.
func TestS1_a_replay_has_a_budget(t *testing.T) {
	withPast(t, func(t *testing.T, w *pastWorld) {
		id := w.create("bomb")
		var rules []string
		for i := range 12 {
			rules = append(rules, fmt.Sprintf(`{"name":"r%d","targetUrl":"https://a.example/","conditions":%s}`, i,
				needles(100, 10, 100*i)))
		}
		draft := `{"draft":{"rules":[` + strings.Join(rules, ",") + `]}`
		w.visited(id, 1000, pastDay, analytics.Row{Country: "DE", Device: "DESKTOP", Referer: "https://news.example/" +
			strings.Repeat("0", 900)})
		path := "/api/urls/" + id + "/explain/replay"
		w.do("POST", path, draft+`}`, as(w.ann)).wantField("limit").says("at most ")
		w.do("POST", path, draft+`,"limit":100}`, as(w.ann)).want(200).shows("visitors", 100)
		w.do("POST", path, `{"draft":{}}`, as(w.ann)).want(200).shows("visitors", 1000)
	})
}

// leaving is a click store whose caller disconnects when all visits are read.
type leaving struct {
	analytics.Store
	leave context.CancelFunc
}

func (l leaving) Clicks(ctx context.Context, s analytics.Scope, limit int, f func(*analytics.Row) error) error {
	defer l.leave()
	return l.Store.Clicks(ctx, s, limit, f)
}

// A replay stops when its caller has disconnected.
func TestS1_a_replay_looks_at_the_context(t *testing.T) {
	var service *explain.Service
	w := newWorld(t, usual(t), func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		service = deps.Explain
	})
	p := &pastWorld{world: w, clicks: w.clicks}
	id := w.create("left")
	p.visited(id, 10, pastDay, analytics.Row{Country: "DE"})
	u, err := w.store.UserByID(t.Context(), w.annID)
	w.ok(err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := service.Replaying(leaving{w.clicks, cancel}).Replay(ctx, auth.PrincipalOf(u), id, explain.Draft{}, explain.Ask{Limit: 10})
	if err == nil || r.Visitors != 0 {
		t.Errorf("%d visits were decided for nobody: %v", r.Visitors, err)
	}
}

// A user computes one thing at a time, and is told so when that takes long.
func TestS2_computations_take_turns(t *testing.T) {
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		cfg.Computing = work.NewComputing(500 * time.Millisecond)
		whole(w, cfg, deps)
		cfg.Timeout = time.Second
	})
	id := w.create("busy")
	path := "/api/urls/" + id
	file := w.uploadLinks("url\nhttps://a.example/\n")
	requests := [][3]string{
		{"POST", path + "/explain/replay", `{"draft":{}}`}, {"POST", path + "/explain", `{}`},
		{"POST", "/api/urls/explain", `{"draft":{"originalUrl":"https://a.example/"}}`},
		{"GET", path + "/qrcode", ""}, {"GET", path + "/qrcode?format=svg", ""}, {"GET", path + "/qrcode?format=pdf", ""},
		{"POST", "/api/urls", `{"originalUrl":"https://a.example/","password":"secret"}`},
		{"PATCH", path, `{"password":"secret"}`},
		{"POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://a.example/","password":"secret"}]}`},
		{"POST", "/api/imports/" + file + "/dry-run", `{"mapping":{"originalUrl":"url"}}`},
	}
	release := w.server.TakeComputing(w.annID)
	for _, r := range requests {
		refused := w.do(r[0], r[1], r[2], as(w.ann)).want(http.StatusServiceUnavailable)
		if refused.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", refused.what)
		}
	}
	if picture.Available {
		w.upload(id, w.ann, "file", pngFile(8, 8)).want(http.StatusServiceUnavailable)
	}
	w.do("GET", path, "", as(w.ann)).want(200)
	release()
}

// A user with many reports and exports leaves slots to others.
func TestS2_reports_take_turns(t *testing.T) {
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.Timeout = 4 * time.Second
	})
	release := w.server.TakeReports(w.annID)
	for _, path := range []string{"/api/analytics/overview", "/api/analytics/export"} {
		w.do("GET", path, "", as(w.ann)).want(http.StatusServiceUnavailable).says("Try again shortly.")
		w.do("GET", path, "", as(w.bob)).want(200)
	}
	release()
	w.do("GET", "/api/analytics/overview", "", as(w.ann)).want(200)
}

// A user with many large requests leaves slots to others.
func TestS7_large_requests_of_one_user(t *testing.T) {
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.Timeout = 2 * time.Second
	})
	var anns []string
	for range api.LargePerUser {
		anns = append(anns, w.annID)
	}
	release := w.server.TakeTurns(anns...)
	bulk := `{"urls":[` + strings.Repeat(`{"originalUrl":"https://example.com/`+strings.Repeat("x", 1000)+`"},`, 80) +
		`{"originalUrl":"https://example.com/"}]}`
	w.do("POST", "/api/urls/bulk", bulk, as(w.ann)).want(http.StatusServiceUnavailable)
	w.do("POST", "/api/urls/bulk", bulk, as(w.bob)).want(201)
	release()
	w.do("POST", "/api/urls/bulk", bulk, as(w.ann)).want(201)
}

// The largest bulk with passwords is 30 different ones; further ones fail, and say why.
func TestS7_the_largest_bulk_with_passwords(t *testing.T) {
	w := small(t, whole)
	var items []string
	for i := range 32 {
		items = append(items, fmt.Sprintf(`{"originalUrl":"https://example.com/%s","password":"secret %d"}`,
			strings.Repeat("x", 2000), i%31))
	}
	r := w.do("POST", "/api/urls/bulk", `{"urls":[`+strings.Join(items, ",")+`]}`, as(w.ann)).want(201)
	r.shows("successCount", 31, "failureCount", 1, "failed.0.index", 30, "failed.0.field", "password").
		says("at most 30 different passwords")
}

// gone is a response whose client has disconnected.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, fmt.Errorf("write tcp: broken pipe") }

// A response to a closed connection logs no stack.
func TestLow_closed_connections_log_no_stack(t *testing.T) {
	w := small(t, nil)
	r := httptest.NewRequest(http.MethodGet, "http://sho.rt/api/auth/me", nil)
	r.Header.Set("Authorization", "Bearer "+w.ann)
	w.server.Handler().ServeHTTP(gone{httptest.NewRecorder()}, r)
	if logs := w.logs.String(); !strings.Contains(logs, "broken pipe") || strings.Contains(logs, "goroutine ") {
		t.Error(logs)
	}
}

// Another site cannot sign a browser in to an account of its own.
func TestLow_foreign_sites_sign_nobody_in(t *testing.T) {
	w := newWorld(t, usual(t), teams)
	_, token := w.invite(w.newTeam("Growth"), "zoe@example.com", "EDITOR", w.ann)
	for path, body := range map[string]string{
		"/api/auth/login":                 login(userMail, password, ""),
		"/api/auth/passkeys/login/finish": `{"credential":{}}`,
		"/api/invitations/accept":         fmt.Sprintf(`{"token":%q%s}`, token, newcomer),
	} {
		for _, foreign := range []option{with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "cross-site")} {
			if r := w.do("POST", path, body, foreign).want(403); len(r.Cookies()) > 0 {
				t.Errorf("%s sets a cookie", path)
			}
		}
	}
	w.do("POST", "/api/auth/login", login(userMail, password, ""), with("Origin", baseURL)).want(200)
}

// Workspaces of teams do not multiply the limits of a user without bound.
func TestS9_workspaces_do_not_multiply_limits(t *testing.T) {
	const limit, most = 10, 3 * 10
	st := usual(t)
	w := newWorld(t, st, whole)
	key, _ := w.newKey(w.ann)
	var ids []string
	for i := range 5 {
		ids = append(ids, w.newTeam(fmt.Sprint("Team ", i)))
	}
	limited := replica(w, st, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.Limits.Default = limit
	})
	passed := 0
	for i, id := range ids {
		for range limit {
			if r := limited.do("GET", "/api/urls", "", as(w.ann), within(id)); r.StatusCode == 200 {
				passed++
			} else {
				r.want(429).headed("X-RateLimit-Limit", fmt.Sprint(most))
			}
		}
		if i == 0 { // a workspace has a limit of its own, too
			limited.do("GET", "/api/urls", "", as(w.ann), within(id)).want(429).headed("X-RateLimit-Limit", fmt.Sprint(limit))
		}
	}
	if passed != most {
		t.Errorf("%d requests passed, want %d", passed, most)
	}
	// The personal workspace is counted apart, for sessions and keys together. So is another user.
	for i := range limit {
		limited.do("GET", "/api/urls", "", as([]string{w.ann, key}[i%2])).want(200)
	}
	limited.do("GET", "/api/urls", "", as(w.ann)).want(429)
	limited.do("GET", "/api/urls", "", as(key)).want(429)
	limited.do("GET", "/api/urls", "", as(w.bob)).want(200)
}

// largeLogin returns a request without authentication, with a body that is large enough to need a slot.
func largeLogin() *http.Request {
	body := `{"email":"a@example.com","password":"x","more":"` + strings.Repeat("x", 70<<10) + `"}`
	r := httptest.NewRequest(http.MethodPost, "http://sho.rt/api/auth/login", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// Decoding a large body needs many times its size in memory, so a limited number is decoded at a time. Small bodies do
// not wait.
func TestLarge_bodies_take_turns(t *testing.T) {
	w := small(t, func(_ *world, cfg *api.Config, _ *api.Deps) { cfg.Timeout = 500 * time.Millisecond })
	var others []string
	for i := range api.LargeBodies {
		others = append(others, fmt.Sprint("other ", i))
	}
	release := w.server.TakeTurns(others...)
	began := time.Now()
	rec := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(rec, largeLogin())
	if d := time.Since(began); rec.Code != http.StatusServiceUnavailable || d < 400*time.Millisecond {
		t.Errorf("while all slots are taken: %d after %v", rec.Code, d)
	}
	w.do("POST", "/api/auth/login", `{"email":"a@example.com","password":"x"}`).want(401)
	release()
	for range 20 { // each request releases its slot
		rec = httptest.NewRecorder()
		w.server.Handler().ServeHTTP(rec, largeLogin())
		if rec.Code != http.StatusBadRequest { // the body has an unknown property
			t.Fatalf("afterwards: %d %s", rec.Code, rec.Body)
		}
	}
}

// A client that does not read the response to a large body does not keep its slot.
func TestLarge_bodies_with_unread_responses(t *testing.T) {
	w := small(t, func(_ *world, cfg *api.Config, _ *api.Deps) { cfg.Timeout = 2 * time.Second })
	hold := make(chan struct{})
	writing := make(chan struct{}, 20)
	over := make(chan struct{}, 20)
	for range 20 {
		go func() {
			w.server.Handler().ServeHTTP(&stuck{httptest.NewRecorder(), writing, hold}, largeLogin())
			over <- struct{}{}
		}()
	}
	testkit.Eventually(t, "all responses have started", func() bool { return len(writing) == 20 })
	close(hold)
	for range 20 {
		<-over
	}
}

// stuck is a response whose client does not read until hold is closed.
type stuck struct {
	*httptest.ResponseRecorder
	writing chan<- struct{}
	hold    <-chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	select {
	case s.writing <- struct{}{}:
	default:
	}
	<-s.hold
	return len(b), nil
}

// The response to a body with tens of thousands of problems has the first thousand and the total number.
func TestLarge_lists_of_problems_are_cut(t *testing.T) {
	w := small(t, nil)
	var body strings.Builder
	body.WriteString(`{"email":"a@example.com","password":"x"`)
	const problems = 49_000
	for i := range problems {
		fmt.Fprintf(&body, `,"p%05d":1`, i)
	}
	body.WriteString("}")
	r := w.do("POST", "/api/auth/login", body.String()).want(http.StatusBadRequest).shows("errors.#", 1000)
	if !strings.Contains(r.str("message"), fmt.Sprintf("first 1000 of %d problems", problems)) {
		t.Error(r.str("message"))
	}
}

package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/work"
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
	requests := [][3]string{
		{"POST", path + "/explain/replay", `{"draft":{}}`}, {"POST", path + "/explain", `{}`},
		{"POST", "/api/urls/explain", `{"draft":{"originalUrl":"https://a.example/"}}`},
		{"GET", path + "/qrcode", ""}, {"GET", path + "/qrcode?format=svg", ""}, {"GET", path + "/qrcode?format=pdf", ""},
		{"POST", "/api/urls", `{"originalUrl":"https://a.example/","password":"secret"}`},
		{"PATCH", path, `{"password":"secret"}`},
		{"POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://a.example/","password":"secret"}]}`},
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

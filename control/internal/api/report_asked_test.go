package api_test

import (
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
)

// Standalone learns when somebody looks at reports, and only then: lists of links, and callers without access, do not count.
func TestA6_reports_are_noticed(t *testing.T) {
	var asked atomic.Int64
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.ReportAsked = func() { asked.Add(1) }
	})
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(w.ann)).want(201).str("id")
	w.do("GET", "/api/urls", "", as(w.ann)).want(200)
	w.do("GET", "/api/analytics/overview", "").want(401)
	if n := asked.Load(); n != 0 {
		t.Fatalf("%d reports", n)
	}
	for i, path := range []string{
		"/api/analytics/overview", "/api/analytics/urls/" + id, "/api/analytics/urls/" + id + "/recent-clicks",
		"/api/analytics/urls/" + id + "/export?format=csv",
	} {
		if w.do("GET", path, "", as(w.ann)).want(200); asked.Load() != int64(i+1) {
			t.Errorf("%s: %d reports", path, asked.Load())
		}
	}
}

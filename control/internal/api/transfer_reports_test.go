package api_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// newMoves creates a world whose reports are cached.
func newMoves(t *testing.T, st *store.Store) *clickWorld {
	t.Helper()
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
	testkit.Must(t, err)
	cache, err := report.NewCache(report.CacheConfig{})
	testkit.Must(t, err)
	w := &clickWorld{clicks: clicks}
	w.world = newWorld(t, st, func(world *world, cfg *api.Config, deps *api.Deps) {
		withLinks(world, cfg, deps)
		deps.Reports = report.New(st, clicks, func() time.Time { return reportDay }).Caching(cache)
		cfg.Limits = api.Limits{}
	})
	w.in = ingest.New(ingest.Config{Every: time.Millisecond, Stored: []func([]analytics.Row){cache.Clicked}}, st, clicks, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.in.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done; cache.Close(); _ = clicks.Close() })
	return w
}

// figures are what the reports of a workspace say: clicks and links of the overview, clicks of its list of links, clicks
// of bots, clicks in the list of top links.
func (w *clickWorld) figures(options ...option) string {
	w.t.Helper()
	o := w.do("GET", "/api/analytics/overview?limit=100", "", options...).want(200)
	sum := 0.0
	for i := range o.at("topUrls").([]any) {
		sum += o.num(fmt.Sprintf("topUrls.%d.clicks", i))
	}
	bots := w.do("GET", "/api/analytics/bots", "", options...).want(200)
	top := 0.0
	r := w.do("GET", "/api/analytics/top-urls?limit=100&startDate=2026-02-10&endDate=2026-03-11", "", options...).want(200)
	list, _ := r.json.([]any)
	if list == nil {
		list, _ = r.at("data").([]any)
	}
	for _, l := range list {
		m := l.(map[string]any)
		for _, name := range []string{"clicks", "clickCount", "totalClicks"} {
			if n, ok := m[name].(float64); ok {
				top += n
				break
			}
		}
	}
	return fmt.Sprint(o.num("totalClicks"), o.num("uniqueVisitors"), o.num("totalUrls"), sum, bots.num("totalBotClicks"), top)
}

// Reports of both workspaces are right before and after a transfer, with clicks that arrive late and still name the old
// workspace, after a transfer back, and after the link is deleted. Cached reports never hide any of this.
func TestTransfer_reports_follow(t *testing.T) {
	w := newMoves(t, usual(t))
	a, b, c := w.create("aaa"), w.create("bbb"), w.create("ccc")
	team := w.team("the-team")
	own, err := w.store.WorkspaceFor(t.Context(), w.annID, w.annID)
	w.ok(err)
	for i, id := range []string{a, a, a, b, b, c} {
		w.click(id, fmt.Sprintf("2026-03-0%dT12:00:00Z", 1+i), byte(i), nil)
	}
	w.click(a, "2026-03-08T12:00:00Z", 9, bot)
	check := func(when, personal, teams string) {
		t.Helper()
		for range 2 { // the second report comes from the cache
			if got := w.figures(as(w.ann)); got != personal {
				t.Errorf("%s: personal: %s, want %s", when, got, personal)
			}
			if got := w.figures(as(w.ann), in(team)); got != teams {
				t.Errorf("%s: team: %s, want %s", when, got, teams)
			}
		}
	}
	all := w.figures(as(w.root))
	check("before", "6 6 3 6 1 6", "0 0 0 0 0 0")
	w.do("POST", "/api/urls/transfer", transferring(team.ID, a, b), as(w.ann)).want(200)
	check("after", "1 1 1 1 0 1", "5 5 2 5 1 5")
	// An edge that was offline ships a click that names the old workspace. An edge that has got the change names the new one.
	w.click(a, "2026-03-09T12:00:00Z", 20, func(e *click.Event) { e.Owner = own.Num })
	check("a late click", "1 1 1 1 0 1", "6 6 2 6 1 6")
	w.click(a, "2026-03-10T12:00:00Z", 21, nil)
	check("a new click", "1 1 1 1 0 1", "7 7 2 7 1 7")
	w.do("POST", "/api/urls/transfer", transferring(own.ID, b), as(w.ann), in(team)).want(200)
	check("one is back", "3 3 2 3 0 3", "5 5 1 5 1 5")
	w.click(b, "2026-03-10T13:00:00Z", 22, func(e *click.Event) { e.Owner = team.Num })
	check("a late click of the link that is back", "4 4 2 4 0 4", "5 5 1 5 1 5")
	w.do("DELETE", "/api/urls/"+a, "", as(w.ann), in(team)).want(204)
	check("deleted", "4 4 2 4 0 4", "5 5 0 0 1 0")
	if now := w.figures(as(w.root)); now == all {
		t.Errorf("an administrator's figures do not change: %s", now)
	}
	export := w.do("GET", "/api/analytics/export?format=json&includeClicks=true", "", as(w.ann)).want(200)
	if n := len(export.at("clicks").([]any)); n != 4 {
		t.Errorf("%d clicks in the export, want 4", n)
	}
}

// While links move back and forth, every report shows either the state before a move or the one after it, with all its
// figures. While clicks arrive too, none is lost or counted in both workspaces at the end.
func TestTransfer_reports_meanwhile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newMoves(t, st)
		a, b, c := w.create("aaa"), w.create("bbb"), w.create("ccc")
		team := w.team("the-team")
		for i, id := range []string{a, a, a, b, b, c} {
			w.click(id, fmt.Sprintf("2026-03-0%dT12:00:00Z", 1+i), byte(i), nil)
		}
		shuttle := func(rounds int) {
			for range rounds {
				w.do("POST", "/api/urls/transfer", transferring(team.ID, a, b), as(w.ann)).want(200)
				w.do("POST", "/api/urls/transfer", transferring(w.annID, a, b), as(w.ann), in(team)).want(200)
			}
		}
		overview := func(options ...option) string {
			o := w.do("GET", "/api/analytics/overview?limit=100", "", options...).want(200)
			sum, days := 0.0, 0.0
			for i := range o.at("topUrls").([]any) {
				sum += o.num(fmt.Sprintf("topUrls.%d.clicks", i))
			}
			for i := range o.at("timeSeries").([]any) {
				days += o.num(fmt.Sprintf("timeSeries.%d.clicks", i))
			}
			return fmt.Sprint(o.num("totalClicks"), days, o.num("browsers.0.clicks"), sum, o.num("totalUrls"))
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]int{}
		for _, side := range []struct {
			name    string
			options []option
			states  []string
		}{
			{"personal", []option{as(w.ann)}, []string{"6 6 6 6 3", "1 1 1 1 1"}},
			{"team", []option{as(w.ann), in(team)}, []string{"0 0 0 0 0", "5 5 5 5 2"}},
			{"administrator", []option{as(w.root)}, []string{"6 6 6 6 3"}},
		} {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					got := overview(side.options...)
					mu.Lock()
					seen[side.name+" "+got]++
					mu.Unlock()
					ok := false
					for _, s := range side.states {
						ok = ok || got == s
					}
					if !ok {
						t.Errorf("%s: %s, want one of %q", side.name, got, side.states)
						return
					}
				}
			})
		}
		shuttle(40)
		close(stop)
		wg.Wait()
		t.Log(seen)
		// Clicks that name either workspace arrive during transfers.
		own, err := w.store.WorkspaceFor(t.Context(), w.annID, w.annID)
		w.ok(err)
		wg.Go(func() {
			for i := range 60 {
				w.click([]string{a, b}[i%2], "2026-03-09T12:00:00Z", byte(100+i), func(e *click.Event) {
					e.Owner = []uint64{own.Num, team.Num}[i/2%2]
				})
			}
		})
		shuttle(10)
		wg.Wait()
		if got := overview(as(w.ann)); got != "66 66 66 66 3" {
			t.Errorf("personal: %s", got)
		}
		if got := overview(as(w.ann), in(team)); got != "0 0 0 0 0" {
			t.Errorf("team: %s", got)
		}
	})
}

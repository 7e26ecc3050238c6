package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

func TestValue_is_exact(t *testing.T) {
	t.Parallel()
	for v, want := range map[report.Value]string{0: "0", 1: "0.0001", 10_000: "1", 499_000: "49.9", 12_345_678: "1234.5678",
		9_223_372_036_854_775_807: "922337203685477.5807"} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%d: %s %v, want %s", int64(v), got, err, want)
		}
	}
}

// Every figure of a goal equals a count in memory, and a new conversion makes a cached report outdated.
func TestReports_of_a_goal_equal_a_count_in_memory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, report.CacheConfig{})
		rows := analyticstest.Clicks(3, 1500, time.Now().Add(-48*time.Hour), 2)
		for i := range rows {
			rows[i].Link, rows[i].Owner = w.links[ann].Num, w.who[ann].Scope()
		}
		w.ok(w.clicks.Insert(t.Context(), analytics.Batch{Rows: rows}))
		list := analyticstest.Conversions(3, rows)
		w.ok(w.clicks.InsertConversions(t.Context(), list))
		a := report.Ask{Goal: "purchase", Series: "people,bots", IncludeBots: true, Limit: 100, Compare: "previous"}
		r, _, err := w.Link(t.Context(), w.who[ann], w.links[ann].ID, a)
		w.ok(err)
		// The oracle: the first copy of each conversion counts.
		best := map[analytics.ConversionKey]analytics.Conversion{}
		for _, c := range list {
			if k, ok := best[c.Key()]; !ok || c.Version() > k.Version() {
				best[c.Key()] = c
			}
		}
		figures := func(clicks int64, in func(*analytics.Row) bool) string {
			var n int64
			sums := map[string]int64{}
			for _, c := range best {
				if c.Name == a.Goal && in(&c.Row) {
					n++
					sums[c.Currency] += c.Value
				}
			}
			if sums[""] == 0 {
				delete(sums, "")
			}
			return fmt.Sprint(n, percent.Of(n, clicks), sums)
		}
		check := func(what string, got *report.Won, clicks int64, in func(*analytics.Row) bool) {
			t.Helper()
			if got == nil {
				t.Errorf("%s has no figures", what)
				return
			}
			sums := map[string]int64{}
			for _, a := range got.Revenue {
				sums[a.Currency] = int64(a.Amount)
			}
			if want := figures(clicks, in); fmt.Sprint(got.Conversions, got.ConversionRate, sums) != want {
				t.Errorf("%s: %v, want %s", what, *got, want)
			}
		}
		check("summary", r.Overview.Won, r.TotalClicks, func(*analytics.Row) bool { return true })
		if r.Overview.Conversions == 0 {
			t.Error("the test has no conversions")
		}
		day := func(r *analytics.Row) string { return time.UnixMilli(r.Time).UTC().Format(time.DateOnly) }
		for i, d := range r.TimeSeries {
			check(d.Date, d.Won, d.Clicks, func(r *analytics.Row) bool { return day(r) == d.Date })
			check("bots "+d.Date, r.Series.Bots[i].Won, r.Series.Bots[i].Clicks, func(r *analytics.Row) bool {
				return day(r) == d.Date && r.Bot
			})
		}
		for _, c := range r.Countries {
			check(c.Name, c.Won, c.Clicks, func(r *analytics.Row) bool {
				return r.Country == c.Name || r.Country == "" && c.Name == "Unknown"
			})
		}
		for _, c := range r.UTMSources {
			check(c.Value, c.Won, c.Clicks, func(r *analytics.Row) bool { return r.UTM.Source == c.Value })
		}
		for _, c := range r.Referers {
			check(c.Referer, c.Won, c.Clicks, func(r *analytics.Row) bool {
				return r.Referer == c.Referer || r.Referer == "" && c.Referer == "Direct"
			})
		}
		check("comparison", r.Comparison.Figures.Overview.Won, 0, func(*analytics.Row) bool { return false })
		o, err := w.Overview(t.Context(), w.who[ann], a)
		w.ok(err)
		check("overview", o.Overview.Won, o.TotalClicks, func(*analytics.Row) bool { return true })
		g, err := w.Groups(t.Context(), w.who[ann], "domain", a)
		w.ok(err)
		check("domains", g.Won, g.TotalClicks, func(*analytics.Row) bool { return true })
		a.Goal = report.AllGoals
		all, _, err := w.Link(t.Context(), w.who[ann], w.links[ann].ID, a)
		w.ok(err)
		a.Goal = "purchase"
		if n := all.Overview.Conversions; n != int64(len(best)) || n <= r.Overview.Conversions {
			t.Errorf("all goals have %d conversions, want %d", n, len(best))
		}
		w.newConversionIsSeen(t.Context(), a, rows[0], r.Overview.Conversions)
		a.Goal = ""
		r, _, err = w.Link(t.Context(), w.who[ann], w.links[ann].ID, a)
		w.ok(err)
		if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), "onversion") ||
			strings.Contains(string(text), "revenue") {
			t.Errorf("a report without a goal has conversions: %s %v", text, err)
		}
	})
}

func (w *world) newConversionIsSeen(ctx context.Context, a report.Ask, row analytics.Row, before int64) {
	w.Helper()
	c := analyticstest.Conversions(3, []analytics.Row{row, row, row, row, row, row, row, row})[0]
	c.Name, c.ExternalID, c.Repeatable = a.Goal, "another", true
	w.ok(w.clicks.InsertConversions(ctx, []analytics.Conversion{c}))
	w.cache.Clicked([]analytics.Row{row})
	r, _, err := w.Link(ctx, w.who[ann], w.links[ann].ID, a)
	w.ok(err)
	if r.Overview.Conversions != before+1 {
		w.Errorf("%d conversions after one more than %d", r.Overview.Conversions, before)
	}
}

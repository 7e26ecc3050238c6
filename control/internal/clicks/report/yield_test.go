package report_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// yieldOracle counts in memory.
type yieldOracle struct {
	rows []analytics.Row
	best map[analytics.ConversionKey]analytics.Conversion // of conversions with the same key, the one that counts
}

func newYieldOracle(rows []analytics.Row, list []analytics.Conversion) yieldOracle {
	o := yieldOracle{rows, map[analytics.ConversionKey]analytics.Conversion{}}
	for _, c := range list {
		if known, ok := o.best[c.Key()]; !ok || c.Version() > known.Version() {
			o.best[c.Key()] = c
		}
	}
	return o
}

// figures returns clicks, conversions, rate and revenue of what in selects.
func (o yieldOracle) figures(goal string, in func(*analytics.Row) bool) string {
	var clicks, n int64
	sums := map[string]int64{}
	for i := range o.rows {
		if in(&o.rows[i]) {
			clicks++
		}
	}
	for _, c := range o.best {
		if (goal == "" || c.Name == goal) && in(&c.Row) {
			n++
			if c.Value > 0 || c.Currency != "" {
				sums[c.Currency] += c.Value
			}
		}
	}
	return fmt.Sprint(clicks, n, percent.Of(n, clicks), sums)
}

func yieldText(y report.Yield) string {
	sums := map[string]int64{}
	for _, a := range y.Revenue {
		sums[a.Currency] = int64(a.Amount)
	}
	return fmt.Sprint(y.Clicks, y.Conversions, y.ConversionRate, sums)
}

// converted counts clicks with a conversion of a goal.
func (o yieldOracle) converted(goal string, in func(*analytics.Row) bool) int64 {
	clicks := map[conversion.ClickID]bool{}
	for _, c := range o.best {
		if (goal == "" || c.Name == goal) && in(&c.Row) {
			clicks[c.Click] = true
		}
	}
	return int64(len(clicks))
}

// check compares a report with counts in memory.
func (o yieldOracle) check(t *testing.T, goal string, y *report.Yields, links map[uint64]store.Link, tags map[string][]uint64) {
	t.Helper()
	same := func(what string, got report.Yield, in func(*analytics.Row) bool) {
		t.Helper()
		if want := o.figures(goal, in); yieldText(got) != want {
			t.Errorf("goal %q, %s: %s, want %s", goal, what, yieldText(got), want)
		}
	}
	all := func(*analytics.Row) bool { return true }
	same("all", y.Yield, all)
	if n := o.converted(goal, all); len(y.Funnel) != 2 || y.Funnel[0].Count != y.Clicks || y.Funnel[1].Count != n ||
		y.Funnel[1].Rate != percent.Of(n, y.Clicks) {
		t.Errorf("funnel %v, want %d", y.Funnel, n)
	}
	for _, g := range y.Goals {
		n := o.converted(g.Name, all)
		want := o.figures(g.Name, all)
		got := yieldText(report.Yield{Clicks: y.Clicks, Conversions: g.Conversions, ConversionRate: percent.Of(g.Conversions, y.Clicks),
			Revenue: g.Revenue})
		if got != want || g.ConvertedClicks != n || g.ConversionRate != percent.Of(n, y.Clicks) {
			t.Errorf("goal %+v: want %s, %d", g, want, n)
		}
	}
	unknown := func(name, value string) bool { return value == name || value == "" && name == "Unknown" }
	for _, c := range y.Campaigns {
		same("campaign "+c.Name, c.Yield, func(r *analytics.Row) bool { return unknown(c.Name, r.UTM.Campaign) })
	}
	for _, c := range y.UTMSources {
		same("utm source "+c.Name, c.Yield, func(r *analytics.Row) bool { return unknown(c.Name, r.UTM.Source) })
	}
	for _, c := range y.Sources {
		same("source "+c.Name, c.Yield, func(r *analytics.Row) bool {
			site := analytics.SiteOf(r.Referer)
			return site == c.Name || (site == "" || site == analytics.OtherSite) && analytics.SiteName(site) == c.Name
		})
	}
	for _, l := range y.Links {
		same("link "+l.Slug, l.Yield, func(r *analytics.Row) bool { return links[r.Link].ID == l.ID })
	}
	for _, g := range y.Tags {
		same("tag "+g.Name, g.Yield, func(r *analytics.Row) bool { return slices.Contains(tags[g.Name], r.Link) })
	}
	if min(len(y.Goals), len(y.Campaigns), len(y.UTMSources), len(y.Sources), len(y.Links), len(y.Tags)) == 0 {
		t.Errorf("goal %q: an empty list in %+v", goal, y)
	}
	for _, list := range [][]report.NamedYield{y.Campaigns, y.UTMSources, y.Sources, y.Tags} {
		if !slices.IsSortedFunc(list, func(a, b report.NamedYield) int { return cmp.Compare(b.Conversions, a.Conversions) }) {
			t.Errorf("the order of %v", list)
		}
	}
}

// The conversions of a workspace are equal on both click stores, and equal to a count in memory.
func TestYields_equal_a_count_in_memory(t *testing.T) {
	const owner = 1
	st := grouped(t)
	found, err := st.LinksByNum(t.Context(), []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	testkit.Must(t, err)
	var nums []uint64
	for num, u := range found {
		if u.Workspace == owner {
			nums = append(nums, num)
		}
	}
	slices.Sort(nums)
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	rows := analyticstest.Clicks(9, 1200, start, 3)
	for i := range rows {
		rows[i].Link, rows[i].Owner = nums[i%len(nums)], owner
	}
	list := analyticstest.Conversions(9, rows)
	tags := map[string][]uint64{}
	testkit.Must(t, st.EachGrouped(t.Context(), store.ByTag, owner, func(g store.LinkGroup, link uint64) {
		tags[g.Name] = append(tags[g.Name], link)
	}))
	o, texts := newYieldOracle(rows, list), map[string]string{}
	who := auth.Principal{Role: auth.User, Workspace: auth.Workspace{Num: owner, Role: auth.Viewer}}
	for name, clicks := range stores(t) {
		testkit.Must(t, load(t.Context(), clicks, rows))
		testkit.Must(t, clicks.InsertConversions(t.Context(), list))
		s := report.New(st, clicks, nil).On("sho.rt")
		for _, goal := range []string{"", "purchase"} {
			a := report.Ask{Range: report.Range{Start: "2026-06-25", End: "2026-07-10"}, IncludeBots: true, Limit: 100, Goal: goal,
				Compare: "previous"}
			y, err := s.Yields(t.Context(), who, a)
			testkit.Must(t, err)
			if y.Clicks != int64(len(rows)) || y.Comparison == nil || y.Comparison.Figures.Clicks != 0 {
				t.Fatalf("%d clicks of %d, comparison %+v", y.Clicks, len(rows), y.Comparison)
			}
			o.check(t, goal, y, found, tags)
			part, err := json.Marshal(y)
			testkit.Must(t, err)
			texts[name] += string(part)
			y, err = s.Yields(t.Context(), auth.Principal{Role: auth.User, Workspace: auth.Workspace{Num: 2, Role: auth.Viewer}}, a)
			testkit.Must(t, err)
			if y.Clicks+y.Conversions+y.Funnel[1].Count != 0 || len(y.Goals)+len(y.Links)+len(y.Tags)+len(y.Sources) != 0 {
				t.Errorf("another workspace sees %+v", y)
			}
		}
	}
	if texts["duckdb"] != texts["clickhouse"] {
		t.Errorf("the stores differ:\n%s\n%s", texts["duckdb"], texts["clickhouse"])
	}
}

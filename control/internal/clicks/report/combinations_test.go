package report_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// combinationsEnv makes TestReports_equal_a_count_in_memory ask for every combination, with two million clicks.
const combinationsEnv = "SHORTLINE_COMBINATIONS"

// generated are clicks from December 2024 to October 2026, in the order of time.
func generated(n int) []analytics.Row {
	rows := analyticstest.Clicks(17, n, time.Date(2024, 12, 1, 0, 0, 0, 0, time.UTC), 700)
	slices.SortFunc(rows, func(a, b analytics.Row) int { return cmp.Compare(a.Time, b.Time) })
	for i := range rows {
		rows[i].Seq = uint64(i + 1)
	}
	return rows
}

// span is a range in a zone, for some intervals.
type span struct {
	zone       string
	start, end string
	intervals  []string
}

var (
	short = []string{"minute", "hour"}
	month = []string{"hour", "day", "week", "month"}
	long  = []string{"", "day", "week", "month"}
)

// spans cover days of 23 and 25 hours, clocks that change by half an hour, offsets of 30 and 45 minutes, ends of years,
// leap days, and ranges without clicks.
var spans = []span{
	{"America/New_York", "2026-03-08T00:30:00-05:00", "2026-03-08T06:30:00-04:00", short}, {"America/New_York", "2025-11-02T04:30:17Z", "2025-11-02T08:00:00Z", short},
	{"Australia/Lord_Howe", "2026-04-05T00:00:00", "2026-04-05T05:30:00", short}, {"Australia/Lord_Howe", "2025-10-05T01:15", "2025-10-05T04:00", short},
	{"Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-01T06:00:00Z", short}, {"UTC", "2031-01-01T00:00:00Z", "2031-01-01T01:00:00Z", short},
	{"America/New_York", "2026-03-01", "2026-03-31", month}, {"America/New_York", "2025-10-15", "2025-11-14", month}, {"Australia/Lord_Howe", "2026-04-04", "2026-04-06", month},
	{"Asia/Kolkata", "2025-12-20", "2026-01-10", month}, {"Pacific/Chatham", "2026-04-01", "2026-04-30", month}, {"America/Santiago", "2025-09-07", "2025-09-07", month},
	{"Europe/Berlin", "2025-03-15", "2026-03-14", long}, {"UTC", "2026-02-28", "2026-03-01", month}, {"Asia/Kathmandu", "2025-11-01", "2026-10-31", long}, {"UTC", "2019-05-01", "2019-05-20", month},
	{"Europe/Dublin", "2024-02-29", "2025-02-27", long},
}

// filters are the filters of the test with the naive meaning of each.
var filters = []struct {
	name string
	set  report.Filters
	keep func(r *analytics.Row) bool
}{
	{"none", report.Filters{}, func(*analytics.Row) bool { return true }},
	{"country", report.Filters{Country: []string{"de", "US"}}, func(r *analytics.Row) bool { return r.Country == "DE" || r.Country == "US" }},
	{"country", report.Filters{Country: []string{"Unknown"}}, func(r *analytics.Row) bool { return r.Country == "" }},
	{"device", report.Filters{Device: []string{"mobile"}}, func(r *analytics.Row) bool { return r.Device == "MOBILE" }},
	{"os", report.Filters{OS: []string{"iOS", "Android"}}, func(r *analytics.Row) bool { return r.OS == "iOS" || r.OS == "Android" }},
	{"browser", report.Filters{Browser: []string{"Chrome"}}, func(r *analytics.Row) bool { return r.Browser == "Chrome" }},
	{"referer", report.Filters{Referer: []string{"instagram.com", "t.co"}}, func(r *analytics.Row) bool {
		return strings.Contains(r.Referer, "instagram") || strings.Contains(r.Referer, "t.co/") || strings.Contains(r.Referer, "twitter") || r.Referer == "https://x.com/"
	}},
	{"referer", report.Filters{Referer: []string{"Direct"}}, func(r *analytics.Row) bool { return r.Referer == "" }},
	{"language", report.Filters{Language: []string{"DE", "zh"}}, func(r *analytics.Row) bool { return r.Language == "de" || r.Language == "zh" }},
	{"variantId", report.Filters{VariantID: []string{"01000000-0000-0000-0000-000000000001"}}, func(r *analytics.Row) bool { return r.Variant[0] == 1 && r.Variant[15] == 1 }},
	{"ruleId", report.Filters{RuleID: []string{"02000000-0000-0000-0000-000000000002", "none"}}, func(r *analytics.Row) bool { return r.Rule.IsZero() || r.Rule[15] == 2 }},
	{"domain", report.Filters{Domain: []string{"other.example", "SHO.RT"}}, func(*analytics.Row) bool { return true }},
	{"domain", report.Filters{Domain: []string{"other.example"}}, func(*analytics.Row) bool { return false }},
	{"tag", report.Filters{Tag: []string{"Third", "nothing"}}, func(r *analytics.Row) bool { return r.Link%3 == 0 }},
	{"bot", report.Filters{Bot: []string{"true"}}, func(r *analytics.Row) bool { return r.Bot }},
	{"bot", report.Filters{Bot: []string{"Googlebot"}}, func(r *analytics.Row) bool { return r.BotName == "Googlebot" }},
	{"bot", report.Filters{Bot: []string{"true", "false"}}, func(*analytics.Row) bool { return true }},
}

// both joins two filters on different properties.
func both(a, b report.Filters) (f report.Filters) {
	text := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return data
	}
	for _, part := range []report.Filters{a, b} {
		set := map[string][]string{}
		if err := json.Unmarshal(text(part), &set); err != nil {
			panic(err)
		}
		maps.DeleteFunc(set, func(_ string, v []string) bool { return v == nil })
		if err := json.Unmarshal(text(set), &f); err != nil {
			panic(err)
		}
	}
	return f
}

// TestReports_equal_a_count_in_memory compares combinations of filter, interval, comparison and store with a naive
// count. Without combinationsEnv it asks for a random part of them, in which every filter, interval, comparison and
// range occurs.
func TestReports_equal_a_count_in_memory(t *testing.T) {
	t.Parallel()
	n, full := 50_000, os.Getenv(combinationsEnv) != ""
	if full {
		n = 2_000_000
	}
	rows := generated(n)
	for name, open := range map[string]func(t *testing.T) analytics.Store{
		"duckdb": func(t *testing.T) analytics.Store {
			s, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"clickhouse": func(t *testing.T) analytics.Store {
			s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clicks := open(t)
			t.Cleanup(func() { _ = clicks.Close() })
			for part := range slices.Chunk(rows, 20_000) {
				if err := clicks.Insert(t.Context(), analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}}); err != nil {
					t.Fatal(err)
				}
			}
			if built, ok := clicks.(interface {
				Rebuild(ctx context.Context, before time.Time) error
			}); ok {
				if err := built.Rebuild(t.Context(), time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)); err != nil { // the rest is read from the clicks
					t.Fatal(err)
				}
			}
			c := &combinations{T: t, o: &oracle{rows: rows, periods: map[string]map[int64]label{}}, Service: report.New(tagged(t), clicks, func() time.Time { return time.Date(2026, 10, 20, 0, 0, 0, 0, time.UTC) }).On("sho.rt")}
			c.all(full)
		})
	}
}

// tagged returns a database with the links of the generated clicks. Every third link has the tag third, every other
// link the tag even.
func tagged(t *testing.T) *store.Store {
	st := storetest.Open(t)
	if err := st.Tx(t.Context(), func(tx *store.Tx) error {
		u := store.User{ID: store.NewID(), Email: "root@example.com", Role: "ADMIN", Active: true}
		num, err := tx.InsertUser(t.Context(), u)
		if err != nil {
			return err
		}
		list, tags := make([]*store.Link, 40), map[uint64][]string{}
		for i := range list {
			list[i] = &store.Link{ID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i+1), UserID: u.ID, Slug: fmt.Sprint("link", i+1), OriginalURL: "https://example.com", Active: true}
		}
		if err := tx.InsertLinks(t.Context(), list); err != nil {
			return err
		}
		for _, l := range list {
			if l.Num%3 == 0 {
				tags[l.Num] = append(tags[l.Num], "third")
			}
			if l.Num%2 == 0 {
				tags[l.Num] = append(tags[l.Num], "even")
			}
		}
		return tx.SetTags(t.Context(), num, tags)
	}); err != nil {
		t.Fatal(err)
	}
	return st
}

type combinations struct {
	*testing.T
	*report.Service
	o *oracle
}

var root1 = auth.Principal{Role: auth.Admin}

func (c *combinations) all(full bool) {
	r := rand.New(rand.NewPCG(3, 5))
	i := 0
	for s, of := range spans {
		for j, interval := range of.intervals {
			for k, compare := range []string{"", "previous", "year"} {
				for f := range filters {
					i++
					// In the short form: half of a Latin square, in which filters shift with the range and the comparison.
					if !full && ((f+s+5*k+3*j)%len(filters) != 0 || (s+k+j)%2 != 0) {
						continue
					}
					second := r.IntN(len(filters))
					if filters[second].name == filters[f].name || r.IntN(3) == 0 {
						second = 0
					}
					c.one(i, of, interval, compare, f, second)
				}
			}
		}
	}
}

// one asks one question of one link, of an owner, or of all links.
func (c *combinations) one(i int, of span, interval, compare string, f, second int) {
	c.Helper()
	zone, err := time.LoadLocation(of.zone)
	if err != nil {
		c.Fatal(err)
	}
	a := report.Ask{Range: report.Range{Start: of.start, End: of.end, Zone: of.zone, Interval: interval}, IncludeBots: i%4 == 1, Filters: both(filters[f].set, filters[second].set), Compare: compare}
	what := fmt.Sprintf("%+v, filters %s and %s", a, filters[f].name, filters[second].name)
	keep := func(r *analytics.Row) bool {
		return filters[f].keep(r) && filters[second].keep(r) && (!r.Bot || a.IncludeBots || len(a.Bot) > 0)
	}
	ask := func(a report.Ask) (*report.Report, error) {
		o, err := c.Overview(c.Context(), root1, a)
		if err != nil {
			return nil, err
		}
		return &o.Report, nil
	}
	if i%3 == 1 {
		of := uint64(1 + i%5)
		everyone := keep
		keep = func(r *analytics.Row) bool { return r.Link == of && everyone(r) }
		ask = func(a report.Ask) (*report.Report, error) {
			return c.Link(c.Context(), root1, fmt.Sprintf("00000000-0000-0000-0000-%012d", of), a)
		}
	} else if i%3 == 2 && len(a.Tag) == 0 {
		everyone := keep
		keep = func(r *analytics.Row) bool { return r.Owner == 2 && everyone(r) }
		ask = func(a report.Ask) (*report.Report, error) {
			o, err := c.Overview(c.Context(), auth.PrincipalOf(store.User{ID: "other", Num: 2, Role: "USER"}), a)
			if err != nil {
				return nil, err
			}
			return &o.Report, nil
		}
	}
	if i%7 == 0 {
		a.Series = "people,bots"
	}
	got, err := ask(a)
	if err != nil {
		c.Errorf("%s: %v", what, err)
		return
	}
	from, to := limits(c.T, of, zone, "")
	want := c.o.count(from, to, zone, interval, keep)
	if wrong := want.differs(got); wrong != "" {
		c.Errorf("%s: %s", what, wrong)
	}
	if compare != "" {
		from, to := limits(c.T, of, zone, compare)
		if wrong := c.o.count(from, to, zone, interval, keep).differs(&got.Comparison.Figures); wrong != "" {
			c.Errorf("%s: compared: %s", what, wrong)
		}
	}
	if a.Series != "" {
		for bots, series := range map[bool][]report.DayFigures{false: got.Series.People, true: got.Series.Bots} {
			want := c.o.count(from, to, zone, interval, func(r *analytics.Row) bool {
				bot := r.Bot
				one := *r
				if len(a.Bot) == 0 {
					one.Bot = false
				}
				return bot == bots && keep(&one)
			})
			if !slices.Equal(series, want.series) {
				c.Errorf("%s: series of bots %t differs", what, bots)
			}
		}
	}
	if i%3 == 0 {
		c.others(a, want, what)
	}
}

// others asks the reports without a series.
func (c *combinations) others(a report.Ask, want expected, what string) {
	c.Helper()
	heat, err := c.Heatmap(c.Context(), root1, "", a)
	if err != nil {
		c.Errorf("%s: %v", what, err)
		return
	}
	for d, day := range heat.Weekdays {
		if !slices.Equal(day.Hours, want.hours[d][:]) {
			c.Errorf("%s: %s is %v, want %v", what, day.Weekday, day.Hours, want.hours[d])
		}
	}
	groups, err := c.Groups(c.Context(), root1, "tag", a)
	if err != nil || groups.TotalClicks != want.clicks || len(groups.Groups) != 2 {
		c.Errorf("%s: groups %+v, %v, want %d clicks", what, groups, err, want.clicks)
		return
	}
	for _, g := range groups.Groups {
		if g.Clicks != want.tags[g.Name] {
			c.Errorf("%s: %d clicks with the tag %s, want %d", what, g.Clicks, g.Name, want.tags[g.Name])
		}
	}
}

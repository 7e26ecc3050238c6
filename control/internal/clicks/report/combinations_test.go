package report_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// combinationsEnv makes TestReports_equal_a_count_in_memory ask for every combination, with two million clicks. Its number
// is the seed of the order. timeEnv limits the time of the questions, such as 30m; the combinations asked until then are a
// random sample.
const (
	combinationsEnv = "SHORTLINE_COMBINATIONS"
	timeEnv         = "SHORTLINE_COMBINATIONS_TIME"
)

// generated are clicks from December 2024 to October 2026, in the order of time. A third of them is within the ranges of a few
// hours, which would otherwise have hardly any. In the short form, another third is at most three hours away from the limit of
// a range, and the rest is on every 30th day: a day costs DuckDB the same with one click as with a thousand.
func generated(t *testing.T, n int) []analytics.Row {
	const hours = 700 * 24
	first := time.Date(2024, 12, 1, 0, 0, 0, 0, time.UTC)
	rows := analyticstest.Clicks(17, n, first, hours/24)
	r := rand.New(rand.NewPCG(17, 3))
	around := func(of span, shifts ...string) (from, to int64) {
		zone, err := time.LoadLocation(of.zone)
		testkit.Must(t, err)
		return limits(t, of, zone, shifts...)
	}
	for i := range rows {
		days := time.UnixMilli(rows[i].Time).Sub(first) / (24 * time.Hour)
		switch {
		case i%3 == 0:
			from, to := around(spans[i/3%shortSpans])
			rows[i].Time = from + r.Int64N(to-from)
		case testkit.Size(0, 1) == 1:
		case i%3 == 1:
			from, to := around(spans[r.IntN(len(spans))], []string{"", "previous", "weekday", "year"}[r.IntN(4)])
			at := time.UnixMilli([]int64{from, to}[r.IntN(2)]).Add(time.Duration(r.IntN(7)-3) * time.Hour)
			if at.After(first) && at.Before(first.Add(hours*time.Hour)) {
				rows[i].Time = at.UnixMilli() + r.Int64N(2) - 1
				continue
			}
			fallthrough
		default:
			rows[i].Time -= (days % 30 * 24 * time.Hour).Milliseconds()
		}
	}
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

// shortSpans is how many of the first spans last some hours and have clicks.
const shortSpans = 5

// spans cover days of 23 and 25 hours, clocks that change by half an hour, offsets of 30 and 45 minutes, ends of years,
// leap days, and ranges without clicks.
var spans = []span{
	{"America/New_York", "2026-03-08T00:30:00-05:00", "2026-03-08T06:30:00-04:00", short},
	{"America/New_York", "2025-11-02T04:30:17Z", "2025-11-02T08:00:00Z", short},
	{"Australia/Lord_Howe", "2026-04-05T00:00:00", "2026-04-05T05:30:00", short},
	{"Australia/Lord_Howe", "2025-10-05T01:15", "2025-10-05T04:00", short},
	{"Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-01T06:00:00Z", short},
	{"UTC", "2031-01-01T00:00:00Z", "2031-01-01T01:00:00Z", short},
	{"America/New_York", "2026-03-01", "2026-03-31", month}, {"America/New_York", "2025-10-15", "2025-11-14", month},
	{"Australia/Lord_Howe", "2026-04-04", "2026-04-06", month},
	{"Asia/Kolkata", "2025-12-20", "2026-01-10", month}, {"Pacific/Chatham", "2026-04-01", "2026-04-30", month},
	{"America/Santiago", "2025-09-07", "2025-09-07", month},
	{"Europe/Berlin", "2025-03-15", "2026-03-14", long}, {"UTC", "2026-02-28", "2026-03-01", month},
	{"Asia/Kathmandu", "2025-11-01", "2026-10-31", long}, {"UTC", "2019-05-01", "2019-05-20", month},
	{"Europe/Dublin", "2024-02-29", "2025-02-27", long},
}

// filters are the filters of the test with the naive meaning of each.
var filters = []struct {
	name string
	set  report.Filters
	keep func(r *analytics.Row) bool
}{
	{"none", report.Filters{}, func(*analytics.Row) bool { return true }},
	{"country", report.Filters{Country: []string{"de", "US"}}, func(r *analytics.Row) bool {
		return r.Country == "DE" || r.Country == "US"
	}},
	{"country", report.Filters{Country: []string{"Unknown"}}, func(r *analytics.Row) bool { return r.Country == "" }},
	{"region", report.Filters{Region: []string{"Bayern", "Unknown"}}, func(r *analytics.Row) bool {
		return r.Region == "Bayern" || r.Region == ""
	}},
	{"city", report.Filters{City: []string{"São Paulo", "London"}}, func(r *analytics.Row) bool {
		return r.City == "São Paulo" || r.City == "London"
	}},
	{"utmSource", report.Filters{UTMSource: []string{"mail"}, UTMTerm: []string{"Unknown"}}, func(r *analytics.Row) bool {
		return r.UTM.Source == "mail" && r.UTM.Term == ""
	}},
	{"utmMedium", report.Filters{UTMMedium: []string{"cpc"}, UTMContent: []string{"y", "z"}}, func(r *analytics.Row) bool {
		return r.UTM.Medium == "cpc" && r.UTM.Content == "y"
	}},
	{"utmCampaign", report.Filters{UTMCampaign: []string{"Spring"}}, func(r *analytics.Row) bool { return r.UTM.Campaign == "Spring" }},
	{"device", report.Filters{Device: []string{"mobile"}}, func(r *analytics.Row) bool { return r.Device == "MOBILE" }},
	{"os", report.Filters{OS: []string{"iOS", "Android"}}, func(r *analytics.Row) bool { return r.OS == "iOS" || r.OS == "Android" }},
	{"browser", report.Filters{Browser: []string{"Chrome"}}, func(r *analytics.Row) bool { return r.Browser == "Chrome" }},
	{"referer", report.Filters{Referer: []string{"instagram.com", "t.co"}}, func(r *analytics.Row) bool {
		return strings.Contains(r.Referer, "instagram") || strings.Contains(r.Referer, "t.co/") || strings.Contains(r.Referer, "twitter") ||
			r.Referer == "https://x.com/"
	}},
	{"referer", report.Filters{Referer: []string{"Direct"}}, func(r *analytics.Row) bool { return r.Referer == "" }},
	{"language", report.Filters{Language: []string{"DE", "zh"}}, func(r *analytics.Row) bool {
		return r.Language == "de" || r.Language == "zh"
	}},
	{"variantId", report.Filters{VariantID: []string{"01000000-0000-0000-0000-000000000001"}}, func(r *analytics.Row) bool {
		return r.Variant[0] == 1 && r.Variant[15] == 1
	}},
	{"ruleId", report.Filters{RuleID: []string{"02000000-0000-0000-0000-000000000002", "none"}}, func(r *analytics.Row) bool {
		return r.Rule.IsZero() || r.Rule[15] == 2
	}},
	{"domain", report.Filters{Domain: []string{"other.example", "SHO.RT"}}, func(r *analytics.Row) bool {
		return domainOf(int(r.Link)) == ""
	}},
	{"domain", report.Filters{Domain: []string{"other.example"}}, func(*analytics.Row) bool { return false }},
	{"domain", report.Filters{Domain: []string{"GO.example.com"}}, func(r *analytics.Row) bool {
		return domainOf(int(r.Link)) == "go.example.com"
	}},
	{"domain", report.Filters{Domain: []string{"sho.rt", "b\u00fccher.example.com"}}, func(r *analytics.Row) bool {
		return domainOf(int(r.Link)) != "go.example.com"
	}},
	{"tag", report.Filters{Tag: []string{"Fifth", "nothing"}}, func(r *analytics.Row) bool { return r.Link%5 == 0 }},
	{"bundleId", report.Filters{BundleID: []string{bundleOf(0, "fourth"), bundleOf(1, "fourth"), bundleOf(2, "fourth"),
		bundleOf(7, "fourth")}}, func(r *analytics.Row) bool { return r.Link%4 == 1 }},
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

// domains are the custom domains of each user. The last one has no links.
var domains = []string{"go.example.com", "xn--bcher-kva.example.com", "empty.example.com"}

// domainOf returns the domain of a link; "" is the default one.
func domainOf(link int) string {
	switch {
	case link%7 == 1:
		return domains[0]
	case link%7 == 2:
		return domains[1]
	}
	return ""
}

// links is the number of links with clicks. Link n belongs to user 1 + n%3.
const links = 40

// groupings are the tags and bundles of each user, with the links in each.
var groupings = map[string]map[string]func(link int) bool{
	"tag":    {"fifth": func(link int) bool { return link%5 == 0 }, "even": func(link int) bool { return link%2 == 0 }},
	"bundle": {"below": func(link int) bool { return link <= 13 }, "fourth": func(link int) bool { return link%4 == 1 }},
}

// TestReports_equal_a_count_in_memory compares reports with a naive count. With combinationsEnv it asks for every
// combination of filter, range, interval, comparison, store, and of a link, a user or everyone. Every second filter
// occurs together with every filter. Without combinationsEnv it asks for a part, in which every filter, interval,
// comparison and range occurs.
func TestReports_equal_a_count_in_memory(t *testing.T) {
	t.Parallel()
	n, full := testkit.Size(6000, 50_000), os.Getenv(combinationsEnv) != ""
	if full {
		n = 2_000_000
	}
	rows := generated(t, n)
	st := grouped(t)
	c := &combinations{T: t, o: newOracle(rows), stores: map[string]*report.Service{}}
	var loading sync.WaitGroup
	for name, clicks := range stores(t) {
		c.stores[name] = report.New(st, clicks, func() time.Time { return time.Date(2026, 10, 20, 0, 0, 0, 0, time.UTC) }).On("sho.rt")
		loading.Go(func() {
			if err := load(t.Context(), clicks, rows); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	loading.Wait()
	if t.Failed() {
		return
	}
	rows = nil
	c.all(full)
}

func linkID(n int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", n) }

type combinations struct {
	*testing.T
	o      *oracle
	stores map[string]*report.Service
}

// combination is what one report is asked for.
type combination struct {
	of                span
	interval, compare string
	f, second         int // filters
	scope             int // everyone, a link, or a user
	number            int // of the link or user
	bots              bool
	by                string // the grouping of a report on several links
}

// Values of combination.scope: whose clicks a report is about. scopes is their number.
const (
	ofEveryone = iota
	ofLink
	ofUser
	scopes
)

// all asks for the combinations in a random order, so that a part of them is a random sample.
func (c *combinations) all(full bool) {
	list := combined(full)
	seed, _ := strconv.ParseUint(os.Getenv(combinationsEnv), 10, 64)
	rand.New(rand.NewPCG(seed, 5)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	end, limited := time.Time{}, os.Getenv(timeEnv) != ""
	if limited {
		d, err := time.ParseDuration(os.Getenv(timeEnv))
		if err != nil {
			c.Fatalf("%s: %v", timeEnv, err)
		}
		end = time.Now().Add(d)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !limited || time.Now().Before(end) {
				n := next.Add(1)
				if n > int64(len(list)) {
					next.Add(-1)
					return
				}
				c.one(n, list[n-1])
				if n%200 == 0 {
					c.Logf("%s: %d combinations compared", time.Now().UTC().Format(time.TimeOnly), n)
				}
			}
		})
	}
	workers.Wait()
	asked := next.Load()
	c.Logf("compared %d of %d combinations in %d stores, with %d of %d pairs of parameters", asked, len(list), len(c.stores),
		len(pairs(list[:asked])), len(pairs(list)))
}

// combined returns every combination if full is true. Otherwise it returns the part that the test asks for in CI.
func combined(full bool) (list []combination) {
	seconds := make([]int, len(filters))
	for s, of := range spans {
		for j, interval := range of.intervals {
			for k, compare := range []string{"", "previous", "weekday", "year"} {
				for f := range filters {
					for scope := range scopes {
						// In the short form: half of a Latin square, in which filters shift with the range and the comparison.
						if !full && ((f+s+5*k+3*j)%len(filters) != 0 || (s+k+j)%2 != 0 || (s+2*k+j)%scopes != scope) {
							continue
						}
						q := combination{of: of, interval: interval, compare: compare, f: f, scope: scope, bots: (s+k+j+f+scope)%4 == 1,
							by: []string{"tag", "bundle", "domain"}[(s+j+k+f)%3]}
						switch scope {
						case ofLink:
							q.number = 1 + len(list)%5
						case ofUser:
							q.number = 1 + len(list)/3%3
						}
						// filters[0] means that there is no filter, so a combination with second 0 has at most one filter.
						if seconds[f]++; filters[seconds[f]%len(filters)].name != filters[f].name {
							q.second = seconds[f] % len(filters)
						}
						list = append(list, q)
					}
				}
			}
		}
	}
	return list
}

// pairs returns all pairs of parameters that occur together.
func pairs(list []combination) map[string]bool {
	found := map[string]bool{}
	for _, q := range list {
		parts := []string{q.of.zone + q.of.start, "interval " + q.interval, "compare " + q.compare, fmt.Sprint("filter ", q.f),
			fmt.Sprint("second ", q.second), fmt.Sprint("scope ", q.scope), fmt.Sprint("bots ", q.bots), "by " + q.by}
		for i := range parts {
			for j := range i {
				found[parts[i]+", "+parts[j]] = true
			}
		}
	}
	return found
}

// truth has the expected figures of one period: of all clicks, of people only and of bots only.
type truth struct{ all, people, bots *expected }

// count makes the figures of a combination's range after shifts.
func (c *combinations) count(q combination, zone *time.Location, shifts ...string) truth {
	mask := uint32(1<<q.f | 1<<q.second)
	within := func(k *coded) bool {
		return k.kept&mask == mask && (q.scope != ofLink || int(k.link) == q.number) && (q.scope != ofUser || 1+int(k.link)%3 == q.number)
	}
	keep := func(k *coded) bool {
		return within(k) && (!k.bot || q.bots || filters[q.f].name == "bot" || filters[q.second].name == "bot")
	}
	from, to := limits(c.T, q.of, zone, shifts...)
	of := truth{
		c.o.count(from, to, zone, q.interval, keep),
		c.o.count(from, to, zone, q.interval, func(k *coded) bool { return !k.bot && within(k) }),
		c.o.count(from, to, zone, q.interval, func(k *coded) bool { return k.bot && within(k) }),
	}
	from, to = limits(c.T, q.of, zone, append(shifts, "previous")...)
	of.all.before = c.o.clicksIn(from, to, keep)
	return of
}

// one compares the answers of all stores to one combination.
// one asks both stores for a combination and compares their answers with the count. In make test, each combination goes to one
// of them: n is its number.
func (c *combinations) one(n int64, q combination) {
	zone, err := time.LoadLocation(q.of.zone)
	if err != nil {
		c.Error(err)
		return
	}
	want, compared := c.count(q, zone), truth{}
	if q.compare != "" {
		compared = c.count(q, zone, q.compare)
	}
	var asking sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(c.stores)) {
		if testkit.Size(n%2 != int64(i), false) {
			continue
		}
		s := c.stores[name]
		asking.Go(func() {
			for _, wrong := range []string{c.report(s, q, want, compared), c.heatmap(s, q, want, compared),
				c.groups(s, q, want, compared)} {
				if wrong != "" {
					c.Errorf("%s, %+v, filters %+v and %+v: %s", name, q, filters[q.f].set, filters[q.second].set, wrong)
				}
			}
		})
	}
	asking.Wait()
}

func (q combination) ask() report.Ask {
	return report.Ask{Range: report.Range{Start: q.of.start, End: q.of.end, Zone: q.of.zone, Interval: q.interval}, IncludeBots: q.bots,
		Filters: both(filters[q.f].set, filters[q.second].set), Compare: q.compare}
}

func (q combination) who() auth.Principal {
	if q.scope == ofUser {
		return auth.PrincipalOf(store.User{ID: "other", Num: uint64(q.number), Role: "USER"})
	}
	return auth.Principal{Role: auth.Admin}
}

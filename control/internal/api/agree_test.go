package api_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// All endpoints must return the same number for the same clicks: reports, exports, bundles, counters, lists, A/B tests
// and rules. The tests below compare the numbers with a simple count of their own. They do so for users and an
// administrator, in time zones with offsets of half hours, and over days with clock changes.

func TestAgree_duckdb(t *testing.T) {
	t.Parallel()
	s, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
	testkit.Must(t, err)
	agree(t, s, func() {}, nil, testkit.Size(agreements[1:2], agreements), testkit.Size(nil, agreements[:1]))
}

// visit is one generated click, as the test counts it.
type visit struct {
	link  string // slug
	owner string
	at    time.Time
	bot   bool
	click.Event
}

// agreeWorld is a world with generated clicks.
type agreeWorld struct {
	*world
	t        *testing.T
	ids      map[string]string // ids of links by slug
	owner    map[string]string // user name by slug
	gone     map[string]bool   // slugs of deleted links
	variants []string          // variants of link "tested"; the second is deleted later
	rules    []string          // rules of link "routed"; the second is deleted later
	bundle   string            // id of ann's bundle
	visits   []visit
}

// question is a period, a zone and whether bots count.
type question struct {
	zone       string
	start, end string
	bots       bool
	links      bool // also query each link
	few        bool // export only without bots
}

func (q question) query() string {
	return fmt.Sprintf("?timezone=%s&startDate=%s&endDate=%s&includeBots=%v&limit=100", q.zone, q.start, q.end, q.bots)
}

var agreements = []question{
	{zone: "UTC", start: "2026-02-10", end: "2026-03-11", links: true},
	{zone: "Asia/Kathmandu", start: "2025-03-12", end: "2026-03-11"},
	{zone: "America/New_York", start: "2025-10-20", end: "2026-03-09"},
	{zone: "America/Santiago", start: "2025-09-01", end: "2025-09-10"},
	{zone: "Australia/Lord_Howe", start: "2025-10-04", end: "2025-10-05"},
	{zone: "Pacific/Chatham", start: "2026-03-08", end: "2026-03-08"},
}

// agree checks questions after the first clicks, after more clicks, and after deletions.
func agree(t *testing.T, clicks analytics.Store, rebuild func(), first, more, last []question) {
	t.Cleanup(func() { _ = clicks.Close() })
	st := storetest.Open(t)
	cache, err := report.NewCache(report.CacheConfig{})
	testkit.Must(t, err)
	t.Cleanup(cache.Close)
	now := func() time.Time { return reportDay }
	a := &agreeWorld{t: t, ids: map[string]string{}, owner: map[string]string{}, gone: map[string]bool{}}
	a.world = newWorld(t, st, func(w *world, cfg *api.Config, deps *api.Deps) {
		withLinks(w, cfg, deps)
		deps.Reports = report.New(st, clicks, now).Caching(cache)
		deps.Bundles = bundles.New(st, clicks, now)
		cfg.Limits = api.Limits{}
	})
	in := ingest.New(ingest.Config{Every: time.Millisecond, Stored: []func([]analytics.Row){cache.Clicked}}, st, clicks, nil)
	runs(t, in.Run)
	a.links()

	r := rand.New(rand.NewPCG(7, 11))
	a.deliver(in, r, 1, 700)
	rebuild()
	a.check("after the first clicks", first)
	a.deliver(in, r, 2, 150) // some of them fall into quarter hours that are already aggregated
	a.check("after more clicks", more)
	for _, path := range []string{a.ids["gone"], a.ids["tested"] + "/variants/" + a.variants[1], a.ids["routed"] + "/routing-rules/" +
		a.rules[1]} {
		a.do("DELETE", "/api/urls/"+path, "", as(a.root)).want(204)
	}
	a.gone["gone"] = true
	rebuild()
	a.deliver(in, r, 3, 40)
	a.check("after deletions", last)
}

// links creates links of ann (one plain, one with variants, one with rules, one to be deleted) and two links of bob.
func (a *agreeWorld) links() {
	create := func(slug, owner, token, more string) {
		a.ids[slug] = a.do("POST", "/api/urls", `{"originalUrl":"https://example.com/`+slug+`","customSlug":"`+slug+`"`+more+
			`}`, as(token)).
			want(201).str("id")
		a.owner[slug] = owner
	}
	for _, slug := range []string{"plain", "tested", "routed", "gone"} {
		create(slug, "ann", a.ann, "")
	}
	create("bob-1", "bob", a.bob, "")
	create("bob-2", "bob", a.bob, "")
	for _, name := range []string{"a", "b", "c"} {
		a.variants = append(a.variants, a.do("POST", "/api/urls/"+a.ids["tested"]+"/variants", `{"name":"`+name+
			`","targetUrl":"https://example.com/`+name+`","weight":20}`, as(a.ann)).want(201).str("id"))
		a.rules = append(a.rules, a.do("POST", "/api/urls/"+a.ids["routed"]+"/routing-rules", `{"name":"`+name+`","targetUrl":"https://m.example.com",
			"conditions":{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}}`, as(a.ann)).want(201).str("id"))
	}
	a.bundle = a.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"all","urlIds":[%q,%q,%q]}`, a.ids["plain"], a.ids["tested"],
		a.ids["routed"]), as(a.ann)).want(201).str("id")
}

// instants around midnight in several time zones, including days with clock changes.
var momentous = []string{
	"2026-03-08T04:59:59Z", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z", "2026-03-09T04:00:00Z", // New York: a day of 23 hours
	"2025-11-02T03:59:59Z", "2025-11-02T04:00:00Z", "2025-11-03T04:59:59Z", "2025-11-03T05:00:00Z", // New York: a day of 25 hours
	"2025-09-07T03:59:59Z", "2025-09-07T04:00:00Z", "2025-09-08T02:59:59Z", "2025-09-08T03:00:00Z", // Santiago: a day without midnight
	"2025-10-04T13:29:59Z", "2025-10-04T13:30:00Z", "2025-10-05T12:59:59Z", "2025-10-05T13:00:00Z", // Lord Howe: a day of 23.5 hours
	"2026-03-10T18:14:59Z", "2026-03-10T18:15:00Z", "2026-03-11T00:00:00Z", "2026-03-11T14:59:59Z", // Kathmandu, UTC
}

// deliver delivers n generated clicks of a lane, in several batches.
func (a *agreeWorld) deliver(in *ingest.Ingester, r *rand.Rand, edge uint64, n int) {
	pick := func(list ...string) string { return list[int(float64(len(list))*r.Float64()*r.Float64())] }
	slugs := slices.DeleteFunc(slices.Sorted(maps.Keys(a.ids)), func(s string) bool { return a.gone[s] })
	nums := map[string][2]uint64{}
	for _, slug := range slugs {
		l, err := a.store.FullLink(a.t.Context(), a.ids[slug])
		a.ok(err)
		nums[slug] = [2]uint64{l.Num, l.Workspace}
	}
	var records []byte
	first := uint64(1)
	for i := 1; i <= n; i++ {
		v := visit{link: slugs[r.IntN(len(slugs))]}
		v.owner = a.owner[v.link]
		switch r.IntN(4) {
		case 0: // within the week of the bundle's trend
			v.at = reportDay.Add(-time.Duration(r.Int64N(int64(8 * 24 * time.Hour))))
		case 1:
			at, err := time.Parse(time.RFC3339, momentous[r.IntN(len(momentous))])
			a.ok(err)
			v.at = at
		default:
			v.at = reportDay.Add(-time.Duration(r.Int64N(int64(380 * 24 * time.Hour))))
		}
		v.Event = click.Event{Seq: uint64(i), Time: v.at.UnixMilli(), Link: nums[v.link][0], Owner: nums[v.link][1],
			IP:        netip.AddrFrom4([4]byte{192, 0, 2, byte(r.IntN(60))}),
			UserAgent: pick(safari, chrome, "", crawler), Referer: pick("", "https://news.example/", "=cmd()"),
			UTM: link.UTM{Source: pick("", "mail", "social"), Medium: pick("", "cpc"), Campaign: pick("", "spring", "Spring"),
				Term:    pick("", "x"),
				Content: pick("", "y")}}
		v.bot = v.UserAgent == crawler || v.UserAgent == ""
		switch {
		case v.link == "tested" && r.IntN(5) > 0:
			v.Variant = link.ID(uuid.MustParse(a.variants[r.IntN(len(a.variants))]))
		case v.link == "routed" && r.IntN(5) > 0:
			v.Rule = link.ID(uuid.MustParse(a.rules[r.IntN(len(a.rules))]))
		}
		a.visits = append(a.visits, v)
		records = click.AppendRecord(records, &v.Event)
		if i == n || r.IntN(60) == 0 {
			b := &click.Batch{Lane: click.Lane{Edge: edge}, First: first, Count: int(uint64(i) + 1 - first), Records: records}
			a.ok(in.Deliver(a.t.Context(), b))
			if r.IntN(4) == 0 {
				a.ok(in.Deliver(a.t.Context(), b)) // a repeated delivery, which must change nothing
			}
			records, first = nil, uint64(i)+1
		}
	}
}

package api_test

import (
	"encoding/csv"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Figures are tested in package report. This test shows that each parameter reaches the report.
func TestAnalytics_filters_intervals_and_comparisons(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id, other := w.create("filter-1"), w.create("filter-2")
	w.do("PUT", "/api/urls/"+id, `{"tags":["Spring"]}`, as(w.ann)).want(200)
	w.click(id, "2026-03-11T01:30:00Z", 1, func(e *click.Event) {
		e.AcceptLanguage, e.Referer = "de-CH,de;q=0.9", "https://l.instagram.com/?u=1"
	})
	w.click(id, "2026-03-11T01:31:00Z", 2, func(e *click.Event) { e.AcceptLanguage, e.UserAgent = "fr", chrome })
	w.click(id, "2026-03-11T02:00:00Z", 2, bot)
	w.click(other, "2026-03-11T02:00:00Z", 3, nil)
	w.click(other, "2026-03-10T02:00:00Z", 3, nil)
	for query, want := range map[string]float64{
		"": 4, "language=de": 1, "language=de&language=fr": 2, "language=Unknown": 2, "device=mobile": 3, "os=iOS&language=fr": 0,
		"browser=Chrome":            1,
		"referer=www.instagram.com": 1, "referer=Direct": 3, "country=US": 0, "country=Unknown": 4, "tag=spring": 2,
		"tag=spring&tag=nothing": 2,
		"tag=nothing":            0,
		"domain=sho.rt":          4, "domain=other.example": 0, "bot=true": 1, "bot=Googlebot": 1, "bot=true&bot=false": 5,
		"bot=false&includeBots=true": 4, "includeBots=true": 5,
		"variantId=none": 4, "ruleId=6b7f2c50-0000-4000-8000-000000000000": 0, "startDate=2026-03-11&endDate=2026-03-11&interval=hour": 3,
		"startDate=2026-03-11T01:30:30Z&endDate=2026-03-11T02:00:00Z&interval=minute": 1,
	} {
		w.do("GET", "/api/analytics/overview?"+query, "", as(w.ann)).want(200).shows("totalClicks", want)
	}
	r := w.do("GET", "/api/analytics/urls/"+id+
		"?startDate=2026-03-11&endDate=2026-03-11&interval=hour&compare=previous&series=people,bots&timezone=Asia/Kathmandu", "",
		as(w.ann)).want(200)
	r.shows("timeSeries.0.at", "2026-03-11T00:00:00+05:45", "timeSeries.#", 24, "timeSeries.7.clicks", 2, "series.bots.7.clicks", 1,
		"comparison.startDate", "2026-03-10", "comparison.figures.totalClicks", 0, "sites.0.site", "Direct", "sites.1.name", "Instagram",
		"languages.0.name", "de")
	w.do("GET", "/api/analytics/overview?startDate=2026-03-11&endDate=2026-03-11&compare=weeks&goal=*", "", as(w.ann)).want(200).
		shows("comparison.startDate", "2026-02-11", "comparison.endDate", "2026-03-04", "comparison.periods", 4, "comparison.figures.timeSeries.#", 1)
	w.do("GET", "/api/analytics/heatmap", "", as(w.ann)).want(200).
		shows("weekdays.2.weekday", "WEDNESDAY", "weekdays.2.hours.1", 2, "totalClicks", 4)
	w.do("GET", "/api/analytics/groups", "", as(w.ann)).want(200).
		shows("groups.0.name", "Spring", "groups.0.clicks", 2, "groups.0.uniqueVisitors", 2, "totalClicks", 4)
	w.do("GET", "/api/analytics/groups?by=domain", "", as(w.ann)).want(200).shows("groups.0.name", "sho.rt", "groups.0.clicks", 4)
	many := strings.Repeat("&country=DE", 21)
	for query, field := range map[string]string{
		"interval=second": "interval", "interval=minute&timeRange=last_7_days": "interval",
		"interval=hour&timeRange=last_90_days":                                      "interval",
		"timeRange=last_hour":                                                       "timeRange",
		"interval=minute&startDate=2026-03-11":                                      "interval",
		"interval=hour&startDate=2026-03-11T02:00:00Z&endDate=2026-03-11T02:00:00Z": "endDate", "interval=hour&startDate=x": "startDate",
		"compare=month": "compare", "compare=weeks&timeRange=last_90_days": "compare", "series=cats": "series", "country=Germany": "country", many[1:]: "country", "device=WATCH": "device",
		"language=de-CH":         "language",
		"referer=not%20a%20site": "referer", "variantId=x": "variantId", "ruleId=" + url.QueryEscape("' OR 1"): "ruleId",
		"domain=a%20b":           "domain",
		"bot=true&bot=Googlebot": "bot", "os=" + strings.Repeat("x", 256): "os",
	} {
		w.do("GET", "/api/analytics/overview?"+query, "", as(w.ann)).want(400).says(`"field":"` + field + `"`)
	}
	w.do("GET", "/api/analytics/groups?by=color", "", as(w.ann)).want(400)
	w.do("GET", "/api/analytics/top-urls?compare=year", "", as(w.ann)).want(400)
	w.do("GET", "/api/analytics/top-urls?compare=previous&timeRange=last_7_days", "", as(w.ann)).want(200).shows("0.comparedClickCount", 0)
}

// The names of the A/B test totals that existing dashboards read.
func TestAPI3_ABTestTotals(t *testing.T) {
	w := newClickWorld(t, usual(t))
	aliases := []string{"tests", "totalAbTestUrls", "totalTestClicks", "controlGroupClicks", "variantClicks", "controlGroupPercentage",
		"variantPercentage", "topPerformingVariants"}
	r := w.do("GET", "/api/analytics/ab-tests", "", as(w.bob)).want(200).has("", aliases...)
	if r.num("controlGroupClicks") != 0 || r.num("variantPercentage") != 0 || fmt.Sprint(r.at("topPerformingVariants")) != "[]" {
		t.Errorf("without tests: %s", r.text)
	}
	one, two, other := w.create("one"), w.create("two"), w.create("other")
	a, b, c, gone := w.variant(one, "a"), w.variant(one, "b"), w.variant(two, "c"), w.variant(two, "gone")
	rule := w.do("POST", "/api/urls/"+one+"/routing-rules",
		`{"name":"r","targetUrl":"https://r.example",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}}`, as(w.ann)).
		want(201).str("id")
	visit := func(n int, url string, change func(*click.Event)) {
		for range n {
			w.click(url, "2026-03-10T12:00:00Z", 1, change)
		}
	}
	drawn := func(id string) func(*click.Event) {
		return func(e *click.Event) { e.Variant = link.ID(uuid.MustParse(id)) }
	}
	visit(1, one, drawn(a))
	visit(3, one, drawn(b))
	visit(2, two, drawn(c))
	visit(5, two, drawn(gone))
	visit(4, one, nil) // no variant and no rule
	visit(1, two, nil)
	visit(7, one, func(e *click.Event) { e.Rule = link.ID(uuid.MustParse(rule)) })
	visit(1, one, bot)
	visit(6, other, nil) // a link without a test
	w.do("DELETE", "/api/urls/"+two+"/variants/"+gone, "", as(w.ann)).want(204)

	r = w.do("GET", "/api/analytics/ab-tests", "", as(w.ann)).want(200).has("", aliases...).has("topPerformingVariants.0", "urlDomain",
		"urlSlug", "variantName", "clicks", "clickThroughRate")
	r.shows("totalAbTestUrls", 2, "totalTestClicks", 6, "variantClicks", 6, "controlGroupClicks", 5, "variantPercentage", 54.5, "controlGroupPercentage", 45.5)
	if got := fmt.Sprint(r.at("topPerformingVariants")); got !=
		"[map[clickThroughRate:75 clicks:3 urlDomain:sho.rt urlSlug:one variantName:b] map[clickThroughRate:100 clicks:2 urlDomain:sho.rt "+
			"urlSlug:two variantName:c] map[clickThroughRate:25 clicks:1 urlDomain:sho.rt urlSlug:one variantName:a]]" {
		t.Error(got)
	}
	w.do("GET", "/api/analytics/ab-test?limit=1", "", as(w.root)).want(200).has("", aliases...).
		shows("topPerformingVariants.0.variantName", "b", "topPerformingVariants.1", nil)
}

// Only an ADMIN sees the owners of other users' links.
func TestAPI3_OwnersOfLinks(t *testing.T) {
	w := small(t, withLinks)
	w.do("PUT", "/api/auth/me", `{"name":"Ann A."}`, as(w.ann)).want(200)
	anns := w.create("anns")
	bobs := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"bobs"}`, as(w.bob)).want(201).str("id")
	roots := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"roots"}`, as(w.root)).want(201).has("",
		urlNames...).str("id")
	with := append([]string{"createdByName", "createdByEmail"}, urlNames...)
	owner := func(r *reply, at, name, email string) {
		t.Helper()
		if at != "" {
			at += "."
		}
		r.shows(at+"createdByName", name, at+"createdByEmail", email)
	}
	owner(w.do("GET", "/api/urls/"+anns, "", as(w.root)).want(200).has("", with...), "", "Ann A.", userMail)
	owner(w.do("GET", "/api/urls/"+bobs, "", as(w.root)).want(200).has("", with...), "", "", otherMail)
	owner(w.do("PUT", "/api/urls/"+anns, `{"title":"x"}`, as(w.root)).want(200).has("", with...), "", "Ann A.", userMail)
	w.do("GET", "/api/urls/"+roots, "", as(w.root)).want(200).has("", urlNames...)
	w.do("GET", "/api/urls/"+anns, "", as(w.ann)).want(200).has("", urlNames...)
	list := w.do("GET", "/api/urls?sortBy=createdAt&sortOrder=asc", "", as(w.root)).want(200).has("data.0", with...).has("data.1", with...).
		has("data.2", urlNames...)
	owner(list, "data.0", "Ann A.", userMail)
	owner(list, "data.1", "", otherMail)
	w.do("GET", "/api/urls", "", as(w.ann)).want(200).has("data.0", urlNames...)
}

// 201 of 400 clicks are 50.25 %, which is exactly halfway between two rounded values. Every response must round it up.
func TestArch1_PercentagesAgree(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("halves")
	at := "/api/urls/" + id
	const condition = `"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`
	rules, variants := [2]string{}, [2]string{}
	for i := range 2 {
		rules[i] = w.do("POST", at+"/routing-rules",
			fmt.Sprintf(`{"name":"r%d","targetUrl":"https://r%d.example","priority":%d,%s}`, i, i, 9-i,
				condition), as(w.ann)).want(201).str("id")
		variants[i] = w.do("POST", at+"/variants", fmt.Sprintf(`{"name":"v%d","targetUrl":"https://v%d.example"}`, i, i), as(w.ann)).
			want(201).str("id")
	}
	l, err := w.store.FullLink(t.Context(), id)
	w.ok(err)
	batch := click.Batch{Lane: click.Lane{Edge: 7}, First: 1}
	add := func(n int, change func(*click.Event)) {
		for range n {
			batch.Count++
			e := click.Event{Seq: uint64(batch.Count), Time: reportDay.UnixMilli(), Link: l.Num, Owner: l.Workspace,
				IP: netip.MustParseAddr("192.0.2.1"), UserAgent: safari}
			change(&e)
			batch.Records = click.AppendRecord(batch.Records, &e)
		}
	}
	arm := func(i int) func(*click.Event) {
		return func(e *click.Event) {
			e.Rule, e.Variant = link.ID(uuid.MustParse(rules[i])), link.ID(uuid.MustParse(variants[i]))
			if i == 1 {
				e.UserAgent, e.Referer, e.UTM.Source = chrome, "https://news.example/", "mail"
			}
		}
	}
	add(201, arm(1))
	add(199, arm(0))
	w.ok(w.in.Deliver(t.Context(), &batch))
	testkit.Eventually(w.t, "counters hold all clicks", func() bool {
		return w.do("GET", at+"/routing-rules", "", as(w.ann)).want(200).num("totalMatches") == 400 &&
			w.do("GET", at+"/variants", "", as(w.ann)).
				want(200).num("totalClicks") == 400
	})

	pair := func(path, what, low, high string) {
		t.Helper()
		r := w.do("GET", path, "", as(w.ann)).want(200)
		if r.num(low) != 49.8 || r.num(high) != 50.3 {
			t.Errorf("%s: %v and %v, want 49.8 and 50.3: %s", what, r.num(low), r.num(high), r.text)
		}
	}
	report := "/api/analytics/urls/" + id
	pair(at+"/routing-rules", "list of rules", "stats.0.matchPercentage", "stats.1.matchPercentage")
	pair(at+"/variants", "list of variants", "stats.0.clickThroughRate", "stats.1.clickThroughRate")
	pair(report+"/routing", "report of rules", "rules.0.matchPercentage", "rules.1.matchPercentage")
	pair(report+"/ab-test", "report of a test", "variants.0.percentage", "variants.1.percentage")
	pair("/api/analytics/ab-tests", "report of tests", "tests.0.variants.0.actualPercentage", "tests.0.variants.1.actualPercentage")
	pair(report, "report, browsers", "browsers.1.percentage", "browsers.0.percentage")
	pair(report, "report, referers", "referers.1.percentage", "referers.0.percentage")
	w.do("GET", report, "", as(w.ann)).want(200).shows("utmSources.0.percentage", 50.3)
	sheet := csv.NewReader(strings.NewReader(w.do("GET", report+"/export", "", as(w.ann)).want(200).text))
	sheet.Comment, sheet.FieldsPerRecord = '#', -1
	rows, err := sheet.ReadAll()
	w.ok(err)
	for _, want := range [][]string{{"Chrome", "201", "50.3"}, {"Safari", "199", "49.8"}, {"https://news.example/", "201", "50.3"},
		{"mail", "201", "50.3"}} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("the export has no row %v", want)
		}
	}
}

// Everybody who reads reports learns how far they reach: each region for itself, and all together as far as the one that is most
// behind.
func TestFreshness(t *testing.T) {
	w := small(t, stored(func(w *world) analytics.Store { return w.clicks }))
	w.do("GET", "/api/analytics/freshness", "").want(401)
	fresh := func() *reply { return w.do("GET", "/api/analytics/freshness", "", as(w.ann)).want(200) }
	r := fresh().has("", "completeUntil", "lagSeconds", "regions")
	r.shows("completeUntil", nil, "lagSeconds", 0, "regions.#", 0)
	progress := func(region string, behind time.Duration) {
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error { return tx.NoteProgress(t.Context(), "p", ingest.Clicks, region, behind) }))
	}
	_, err := presence.New(presence.Config{Now: time.Now}, w.store).Report(t.Context(), snapshot.Status{Edge: "a", Region: "eu"})
	w.ok(err)
	progress("us", time.Hour)
	r = fresh().has("regions.1", "region", "completeUntil", "lagSeconds")
	if r.at("completeUntil") != nil || r.num("lagSeconds") != 0 || r.str("regions.0.region") != "eu" ||
		r.at("regions.0.completeUntil") != nil || r.str("regions.1.region") != "us" || r.num("regions.1.lagSeconds") < 3599 {
		t.Errorf("nobody has read the region eu yet: %s", r.text)
	}
	progress("eu", time.Second)
	r = fresh()
	if r.str("completeUntil") != r.str("regions.1.completeUntil") || r.num("lagSeconds") < 3599 || r.num("regions.0.lagSeconds") > 60 ||
		r.str("regions.0.completeUntil") <= r.str("completeUntil") {
		t.Errorf("%s", r.text)
	}
}

// Trends have a number for each of 30 days, for the links that the caller sees.
func TestTrends(t *testing.T) {
	w := small(t, stored(func(w *world) analytics.Store { return w.clicks }))
	first, second := w.create("first"), w.create("second")
	bobs := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, as(w.bob)).want(201).str("id")
	path := fmt.Sprintf("/api/analytics/trends?urlIds=%s&urlIds=%s&urlIds=%s&urlIds=%s&urlIds=nonsense", second, first, second, bobs)
	w.do("GET", path, "", as(w.ann)).want(200).has("", "startDate", "endDate", "trends").has("trends.0", "urlId", "clicks").
		shows("trends.0.urlId", second, "trends.1.urlId", first, "trends.2", nil, "trends.0.clicks.#", 30)
	u, err := w.store.LinkByID(t.Context(), first)
	w.ok(err)
	var rows []analytics.Row
	for seq, c := range []struct {
		days int
		bot  bool
	}{{0, false}, {0, false}, {0, true}, {1, false}, {29, false}, {30, false}} {
		rows = append(rows, analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 4, Epoch: 1}, Seq: uint64(seq + 1)},
			Time: time.Now().AddDate(0, 0, -c.days).UnixMilli(),
			Link: u.Num, Owner: u.Workspace, IP: netip.MustParseAddr("203.0.113.9"), Bot: c.bot})
	}
	w.ok(w.clicks.Insert(t.Context(), analytics.Batch{Rows: rows}))
	r := w.do("GET", path, "", as(w.ann)).want(200)
	want := make([]any, 30)
	for i := range want {
		want[i] = 0.0
	}
	want[0], want[28], want[29] = 1.0, 1.0, 2.0
	if got := r.at("trends.1.clicks"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the trend is %v, want %v", got, want)
	}
	w.do("GET", "/api/analytics/trends?urlIds="+bobs, "", as(w.ann)).want(200).shows("trends.0", nil)
	w.do("GET", "/api/analytics/trends", "", as(w.ann)).want(400).wantField("urlIds")
	w.do("GET", "/api/analytics/trends?"+strings.Repeat("urlIds=x&", 101), "", as(w.ann)).want(400).wantField("urlIds")
	w.do("GET", path+"&timezone=Mars/Base", "", as(w.ann)).want(400).wantField("timezone")
}

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

// Administrators see which slugs visitors asked for in vain; nobody else does.
func TestMissingSlugs(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		today := presence.Day(time.Now())
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			for day, seq := today-40, uint64(1); day <= today; day, seq = day+20, seq+1 {
				if err := tx.CountMissing(t.Context(), "e", "r", seq, day, day*24*3600*1000,
					[]store.Missing{{Slug: "abc", Count: 3}, {Slug: "xyz", Count: seq}}); err != nil {
					return err
				}
			}
			return nil
		}))
		const path = "/api/analytics/missing"
		w.do("GET", path, "").want(401)
		w.do("GET", path, "", as(w.ann)).want(200).shows("total", 0)
		w.do("GET", path, "", as(w.root)).want(200).has("", "data", "total", "page", "pageSize", "totalPages").
			has("data.0", "host", "slug", "count", "firstAt", "lastAt").
			shows("total", 2, "data.0.slug", "abc", "data.0.count", 6, "data.0.host", "sho.rt", "data.1.count", 5)
		day := func(ago int64) string { return time.Unix((today-ago)*24*3600, 0).UTC().Format(time.DateOnly) }
		w.do("GET", path+"?from="+day(40)+"&limit=1", "", as(w.root)).want(200).shows("data.0.count", 9, "totalPages", 2)
		w.do("GET", path+"?from="+day(40)+"&to="+day(40), "", as(w.root)).want(200).shows("data.0.count", 3)
		w.create("abc")
		w.do("GET", path, "", as(w.root)).want(200).shows("total", 1, "data.0.slug", "xyz")
		for _, bad := range []string{"?from=yesterday", "?to=2026-13-01", "?from=2026-02-02&to=2026-01-01", "?from=2020-01-01", "?limit=0",
			"?page=x"} {
			w.do("GET", path+bad, "", as(w.root)).want(400)
		}
	})
}

// Members see which slugs visitors asked for on domains of their workspace, but nobody else's. A domain that another
// workspace took over begins without any.
func TestMissingSlugs_of_custom_domains(t *testing.T) {
	w := small(t, whole)
	const path, name = "/api/analytics/missing", "go.example.com"
	numbers := map[string]uint64{}
	for who, of := range map[string]option{"ann": as(w.ann), "bob": as(w.bob)} {
		d, err := w.store.DomainByID(t.Context(), w.do("POST", "/api/domains", `{"hostname":"`+name+`"}`, of).want(201).str("id"))
		w.ok(err)
		numbers[who] = d.Num
	}
	today := presence.Day(time.Now())
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.CountMissing(t.Context(), "e", "r", 1, today, time.Now().UnixMilli(),
			[]store.Missing{{Slug: "abc", Count: 5}, {Domain: numbers["ann"], Slug: "abc", Count: 3},
				{Domain: numbers["ann"], Slug: "new", Count: 2}, {Domain: numbers["bob"], Slug: "abc", Count: 1},
				{Domain: 1 << 40, Slug: "gone", Count: 9}})
	}))
	see := func(want string, options ...option) {
		t.Helper()
		r := w.do("GET", path, "", options...).want(200)
		got := ""
		for _, m := range r.at("data").([]any) {
			m := m.(map[string]any)
			got += fmt.Sprint(m["host"], "/", m["slug"], " ", m["count"], ", ")
		}
		if got != want || int(r.num("total")) != strings.Count(want, ",") {
			t.Errorf("%s, want %s", r.text, want)
		}
	}
	see(name+"/abc 3, "+name+"/new 2, ", as(w.ann))
	see(name+"/abc 1, ", as(w.bob))
	see("", as(w.root), in(w.team("the-team")))
	see("sho.rt/abc 5, "+name+"/abc 3, "+name+"/new 2, "+name+"/abc 1, ", as(w.root))
	w.create("new") // on another domain
	r := w.do("GET", path, "", as(w.ann)).want(200)
	w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com","customSlug":%q,"domain":%q}`, r.str("data.0.slug"),
		r.str("data.0.host")), as(w.ann)).want(201)
	see(name+"/new 2, ", as(w.ann))
	see(name+"/abc 1, ", as(w.bob))
}

package api_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// reportDay is the current day for reports: three days after New York switched to daylight saving time.
var reportDay = time.Date(2026, 3, 11, 15, 0, 0, 0, time.UTC)

// clickWorld is a world with a click store that gets clicks as a shipper delivers them. Reports are cached.
type clickWorld struct {
	*world
	clicks analytics.Store
	in     *ingest.Ingester
	seq    uint64
}

func newClickWorld(t *testing.T, st *store.Store) *clickWorld {
	t.Helper()
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
	testkit.Must(t, err)
	return clickWorldOn(t, st, clicks)
}

func clickWorldOn(t *testing.T, st *store.Store, clicks analytics.Store) *clickWorld {
	t.Helper()
	cache, err := report.NewCache(report.CacheConfig{})
	testkit.Must(t, err)
	t.Cleanup(func() { cache.Close(); _ = clicks.Close() })
	w := &clickWorld{clicks: clicks}
	w.world = newWorld(t, st, func(world *world, cfg *api.Config, deps *api.Deps) {
		withLinks(world, cfg, deps)
		deps.Reports = report.New(st, clicks, func() time.Time { return reportDay }).On("sho.rt").Caching(cache)
		deps.Bundles = bundles.New(st, clicks, func() time.Time { return reportDay })
		cfg.Limits = api.Limits{}
	})
	w.in = ingest.New(ingest.Config{Every: time.Millisecond, Stored: []func([]analytics.Row){cache.Clicked}}, st, clicks, nil)
	testkit.Run(t, w.in.Run)
	return w
}

const (
	safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 " +
		"Safari/604.1"
	chrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"
	crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// click delivers one click of a link at a time in RFC 3339, from an address that ends in host.
func (w *clickWorld) click(id, at string, host byte, change func(*click.Event)) {
	w.t.Helper()
	l, err := w.store.FullLink(w.t.Context(), id)
	w.ok(err)
	when, err := time.Parse(time.RFC3339, at)
	w.ok(err)
	w.seq++
	e := click.Event{Seq: w.seq, Time: when.UnixMilli(), Link: l.Num, Owner: l.Workspace, IP: netip.AddrFrom4([4]byte{192, 0, 2, host}),
		UserAgent: safari}
	if change != nil {
		change(&e)
	}
	w.ok(w.in.Deliver(w.t.Context(), &click.Batch{Lane: click.Lane{Edge: 1}, First: e.Seq, Count: 1, Records: click.AppendRecord(nil, &e)}))
}

func bot(e *click.Event) { e.UserAgent = crawler }

// The report of a link shows the clicks at another service, and counts only its own. It is fresh although figures are cached.
func TestAnalytics_click_baseline(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("moved")
	w.click(id, "2026-03-08T04:30:00Z", 1, nil)
	address := "/api/analytics/urls/" + id
	w.do("GET", address, "", as(w.ann)).want(200).shows("baseline", nil, "totalClicks", 1.0)
	w.upsert(`{"customSlug":"moved","clickBaseline":{"count":1234,"until":"2025-03-04T05:06:07Z","source":"Bitly"}}`).wantResults("UPDATED")
	w.do("GET", address, "", as(w.ann)).want(200).shows("baseline.count", 1234.0, "baseline.until", "2025-03-04T05:06:07.000Z",
		"baseline.source", "Bitly", "totalClicks", 1.0, "overview.totalClicks", 1.0)
}

func TestAnalytics_shapes_and_figures(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("camp-1")
	w.click(id, "2026-03-08T04:30:00Z", 1, nil) // 7 March in New York, standard time
	w.click(id, "2026-03-09T03:30:00Z", 1, nil) // 8 March in New York, because of daylight saving time
	w.click(id, "2026-03-09T04:30:00Z", 2, func(e *click.Event) {
		e.UserAgent, e.Referer, e.UTM = chrome, "https://news.example/", link.UTM{Source: "mail", Campaign: "=cmd()"}
	})
	w.click(id, "2026-03-11T23:59:59Z", 3, nil)
	w.click(id, "2026-03-10T00:00:00Z", 9, bot)
	w.click(id, "2026-02-10T00:00:00Z", 1, nil) // the first day of the 30 that end on 11 March
	w.click(id, "2026-02-09T23:59:59Z", 1, nil) // before these 30 days

	r := w.do("GET", "/api/analytics/urls/"+id, "", as(w.ann)).want(200)
	r.has("", "overview", "totalClicks", "uniqueVisitors", "uniqueVisitorsIsExact", "error", "timeSeries", "countries", "regions", "cities",
		"browsers", "operatingSystems", "devices", "referers",
		"utmSources", "utmMediums", "utmCampaigns", "utmTerms", "utmContents", "languages", "sites", "baseline")
	r.has("overview", "totalClicks", "uniqueVisitors", "uniqueVisitorsIsExact", "error", "averageClicksPerDay", "growthRate").
		has("timeSeries.0", "date", "clicks", "uniqueVisitors", "uniqueVisitorsIsExact", "error")
	r.has("browsers.0", "name", "clicks", "percentage").has("referers.0", "referer", "clicks", "percentage").has("utmSources.0", "value",
		"clicks", "percentage")
	r.shows(
		"totalClicks", 5, "uniqueVisitors", 3, "overview.totalClicks", 5, "overview.averageClicksPerDay", 0.17, "overview.growthRate", 400,
		"timeSeries.0.date", "2026-02-10", "timeSeries.0.clicks", 1, "timeSeries.1.clicks", 0, "timeSeries.29.date", "2026-03-11",
		"timeSeries.30", nil, "countries.0.name", "Unknown", "countries.0.percentage", 100, "browsers.0.name", "Safari",
		"browsers.0.clicks", 4, "browsers.1.percentage", 20, "devices.0.name", "MOBILE", "operatingSystems.1.name", "Windows",
		"referers.0.referer", "Direct",
		"referers.1.referer", "https://news.example/", "utmSources.0.value", "mail", "utmSources.1", nil, "utmMediums.0", nil)
	const newYork = "?timezone=America/New_York&startDate=2026-03-07&endDate=2026-03-09&includeBots=true"
	w.do("GET", "/api/analytics/urls/"+id+newYork, "", as(w.ann)).want(200).
		shows("timeSeries.0.clicks", 1, "timeSeries.1.clicks", 1, "timeSeries.2.clicks", 2, "totalClicks", 4)

	r = w.do("GET", "/api/analytics/urls/"+id+"/bots", "", as(w.ann)).want(200).has("", "totalBotClicks", "botPercentage", "botTypes").
		has("botTypes.0", "botName", "clicks", "percentage")
	r.shows("totalBotClicks", 1, "botPercentage", 16.7, "botTypes.0.botName", "Googlebot", "botTypes.0.percentage", 100)
	for _, path := range []string{"recent-clicks", "clicks/recent"} {
		r = w.do("GET", "/api/analytics/urls/"+id+"/"+path+"?limit=2", "", as(w.ann)).want(200).has("", "clicks", "total")
		r.has("clicks.0", "id", "timestamp", "createdAt", "ip", "ipAddress", "country", "region", "city", "device", "os",
			"browser", "referer",
			"isBot", "botName",
			"utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent", "utmId", "utmSourcePlatform", "variantId", "routingRuleId")
		r.shows("total", 6, "clicks.0.timestamp", "2026-03-11T23:59:59.000Z", "clicks.0.ip", "192.0.2.3", "clicks.1.utmSource", "mail",
			"clicks.2", nil)
	}
	w.do("GET", "/api/analytics/urls/"+id+"/recent-clicks?includeBots=true", "", as(w.ann)).want(200).shows("total", 7)
}

// A report names links that still exist. Its other figures include the clicks of deleted links.
func TestAnalytics_links_with_the_most_clicks(t *testing.T) {
	w := newClickWorld(t, usual(t))
	kept, gone := w.create("kept"), w.create("gone")
	other := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"bobs"}`, as(w.bob)).want(201).str("id")
	for i, id := range []string{kept, gone, other, kept} {
		w.click(id, reportDay.Format(time.RFC3339), byte(i), nil)
	}
	w.do("DELETE", "/api/urls/"+gone, "", as(w.ann)).want(204)
	w.do("GET", "/api/analytics/overview", "", as(w.ann)).want(200).has("topUrls.0", "id", "domain", "slug", "title", "clicks").
		shows("totalClicks", 3, "totalUrls", 1, "topUrls.0.clicks", 2, "topUrls.1", nil)
	for _, query := range []string{"?timeRange=last_365_days", "?includeBots=true"} {
		w.do("GET", "/api/analytics/top-urls"+query, "", as(w.root)).want(200).
			has("0", "id", "domain", "slug", "shortUrl", "title", "originalUrl", "clickCount", "status", "createdAt").
			shows("0.slug", "kept", "1.slug", "bobs", "2", nil)
	}
}

func TestAnalytics_tests_and_routing(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("tested")
	var variants []string
	for _, name := range []string{"a", "b"} {
		variants = append(variants, w.do("POST", "/api/urls/"+id+"/variants", `{"name":"`+name+`","targetUrl":"https://example.com/`+name+
			`","weight":30}`, as(w.ann)).want(201).str("id"))
	}
	rule := w.do("POST", "/api/urls/"+id+"/routing-rules",
		`{"name":"mobile","targetUrl":"https://m.example.com",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}}`, as(w.ann)).
		want(201).str("id")
	idOf := func(text string) link.ID { return link.ID(uuid.MustParse(text)) }
	for i := range 8 {
		w.click(id, "2026-03-10T12:00:00Z", byte(i%3), func(e *click.Event) {
			switch {
			case i < 3:
				e.Variant = idOf(variants[0])
			case i < 4:
				e.Variant = idOf(variants[1])
			case i < 6:
				e.Rule = idOf(rule)
			case i == 6:
				e.Rule = idOf(rule)
				bot(e)
			}
		})
	}
	w.do("GET", "/api/analytics/ab-tests", "", as(w.ann)).want(200).
		has("tests.0", "urlId", "domain", "slug", "totalClicks", "startDate", "variants").
		has("tests.0.variants.0", "id", "name", "clicks", "percentage", "actualPercentage", "uniqueVisitors", "uniqueVisitorsIsExact",
			"error", "weight").
		shows("tests.0.variants.0.clicks", 3, "tests.0.variants.0.percentage", 75,
			"tests.0.variants.0.uniqueVisitors", 3, "tests.0.variants.1.actualPercentage", 25, "tests.0.variants.1.weight", 30)
	w.do("GET", "/api/analytics/urls/"+id+"/ab-test", "", as(w.ann)).want(200).shows("urlId", id, "totalClicks", 4)
	r := w.do("GET", "/api/analytics/urls/"+id+"/routing", "", as(w.ann)).want(200).has("", "urlId", "isSmartRouting", "totalMatches",
		"totalClicks", "matchRate", "rules", "timeSeries", "geoDistribution", "deviceDistribution").
		has("rules.0", "ruleId", "ruleName", "targetUrl", "matchCount", "matchPercentage", "isActive").has("timeSeries.0", "date", "ruleId",
		"ruleName", "matches")
	r.shows("totalMatches", 2, "totalClicks", 7, "matchRate", 28.6, "rules.0.matchCount", 2, "isSmartRouting", true,
		"timeSeries.0.date", "2026-03-10", "timeSeries.0.matches", 2, "deviceDistribution.0.name", "MOBILE")
}

func TestAnalytics_exports(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("camp-1")
	w.click(id, "2026-03-09T04:30:00Z", 2, func(e *click.Event) {
		e.Referer, e.UTM = `@evil,"quoted"`, link.UTM{Source: "=1+1", Medium: "a\nb"}
	})
	r := w.do("GET", "/api/analytics/urls/"+id+"/export?startDate=2026-03-01&endDate=2026-03-10&includeClicks=true", "",
		as(w.ann)).want(200)
	r.headed("Content-Disposition", `attachment; filename="analytics_camp-1_2026-03-01_2026-03-10.csv"`).
		headed("Content-Type", "text/csv; charset=utf-8")
	text, marked := strings.CutPrefix(r.text, "\uFEFF")
	if !marked || !strings.HasPrefix(text, "# Export Time: ") ||
		!strings.Contains(text, "# Date Range: 2026-03-01 to 2026-03-10\r\n# URL Slug: camp-1\r\n") {
		t.Error(text)
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comment, reader.FieldsPerRecord = '#', -1
	rows, err := reader.ReadAll()
	w.ok(err)
	has := func(cells ...string) {
		t.Helper()
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row[:min(len(row), len(cells))], cells) }) {
			t.Errorf("no row %q in\n%s", cells, text)
		}
	}
	for _, title := range []string{"Overview", "Daily Clicks", "Top Countries", "Browsers", "Operating Systems", "Devices", "Referrers",
		"UTM Sources", "UTM Mediums", "UTM Campaigns", "Click Records"} {
		has(title)
	}
	has("Metric", "Value")
	has("Total Clicks", "1")
	has("2026-03-09", "1", "1")
	has("2026-03-10", "0", "0")
	has(`'@evil,"quoted"`, "1", "100")
	has("'=1+1", "1", "100")
	has("a\nb", "1", "100")
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
				t.Errorf("a spreadsheet would evaluate %q as a formula", cell)
			}
		}
	}
	r = w.do("GET", "/api/analytics/export?format=json&timeRange=last_7_days", "", as(w.ann)).want(200).has("", "exportDate", "dateRange",
		"urlSlug", "urlDomain", "summary", "data")
	r.shows("dateRange.start", "2026-03-05", "dateRange.end", "2026-03-11", "urlSlug", nil, "data.4.clicks", 1).
		headed("Content-Disposition", `attachment; filename="analytics_all_2026-03-05_2026-03-11.json"`)
	r = w.do("GET", "/api/analytics/export?format=json&includeClicks=true&urlId="+id, "", as(w.ann)).want(200).has("", "exportDate",
		"dateRange", "urlSlug", "urlDomain", "summary", "data", "clicks")
	r.shows("urlSlug", "camp-1", "clicks.0.utmSource", "=1+1")
	w.do("GET", "/api/analytics/export?format=xml", "", as(w.ann)).want(400)
}

func TestAnalytics_refusals(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("mine")
	for query, field := range map[string]string{
		"startDate=2026-03-10&endDate=2026-03-09": "endDate", "startDate=2025-01-01&endDate=2026-01-01": "endDate",
		"timezone=Mars/Olympus": "timezone", "timezone=Local": "timezone",
		"startDate=yesterday": "startDate", "endDate=2026-02-30": "endDate", "timeRange=last_week": "timeRange",
	} {
		for _, path := range []string{"/overview", "/bots", "/ab-tests", "/export", "/top-urls", "/urls/" + id + "/recent-clicks",
			"/urls/" + id,
			"/urls/" + id + "/routing"} {
			w.do("GET", "/api/analytics"+path+"?"+query, "", as(w.ann)).wantField(field)
		}
	}
	for _, query := range []string{
		"startDate=2025-01-01&endDate=2025-12-31", "startDate=2025-03-11T15:00:00Z&endDate=2026-03-11T15:00:00.000Z",
		"timeRange=last_365_days",
		"timeRange=custom", "timezone=Asia/Kathmandu",
		"startDate=2026-03-10T23:00:00%2B08:00", "startDate=2026-03-10T23:00:00+08:00", "startDate=&endDate=", "unknown=1",
		"startDate=2200-01-01&endDate=2200-01-02", "endDate=1970-01-05",
	} {
		w.do("GET", "/api/analytics/overview?"+query, "", as(w.ann)).want(200)
	}
	for _, limit := range []string{"0", "101", "x"} {
		w.do("GET", "/api/analytics/top-urls?limit="+limit, "", as(w.ann)).want(400)
	}
}

// An export that fails halfway must not look complete.
func TestAnalytics_broken_export_is_cut_off(t *testing.T) {
	t.Parallel()
	e := errors.New("gone")
	st := storetest.Open(t)
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	defer clicks.Close()
	w := newWorld(t, st, func(world *world, cfg *api.Config, deps *api.Deps) {
		withLinks(world, cfg, deps)
		deps.Reports = report.New(st, brokenClicks{clicks, e}, nil)
	})
	defer func() {
		if recover() == nil {
			t.Error("the connection was not aborted")
		}
	}()
	w.do("GET", "/api/analytics/export?includeClicks=true", "", as(w.ann))
}

type brokenClicks struct {
	analytics.Store
	err error
}

func (b brokenClicks) Clicks(context.Context, analytics.Scope, int, func(*analytics.Row) error) error {
	return b.err
}

// awayClicks fails at every question of a report.
type awayClicks struct{ brokenClicks }

func (b awayClicks) Lines(context.Context, analytics.Query) ([]analytics.Line, error) {
	return nil, b.err
}

func (b awayClicks) Breakdown(context.Context, analytics.Scope, []analytics.Dimension, int) (map[analytics.Dimension][]analytics.Count,
	error) {
	return nil, b.err
}

// A report gets 503 while the click store is not available. Only the log has the cause.
func TestReports_while_the_click_store_is_away(t *testing.T) {
	cause := errors.New("code: 242, message: Table is in readonly mode at 10.0.0.7")
	away := &problem.Error{Kind: problem.Unavailable, Message: "The click store is not available at the moment.",
		RetryAfter: 5 * time.Second}
	w := small(t, func(world *world, cfg *api.Config, deps *api.Deps) {
		withLinks(world, cfg, deps)
		deps.Reports = report.New(world.store, awayClicks{brokenClicks{err: fmt.Errorf("query clicks: %w", errors.Join(cause, away))}},
			func() time.Time { return reportDay }).On("sho.rt")
	})
	r := w.do("GET", "/api/analytics/overview", "", as(w.ann)).want(503)
	if r.Header.Get("Retry-After") != "5" || strings.Contains(r.text, "10.0.0.7") || !strings.Contains(r.text, away.Message) {
		t.Errorf("%v %s", r.Header, r.text)
	}
	if !strings.Contains(w.logs.String(), "10.0.0.7") {
		t.Errorf("the log lacks the cause: %s", w.logs)
	}
}

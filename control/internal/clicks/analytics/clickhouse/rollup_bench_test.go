package clickhouse_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// clicksEnv sets the number of clicks in BenchmarkReports; the budget applies to 100000000. Clicks and rollups need
// about 50 bytes of disk each. clicksDirEnv names a folder that keeps them for the next run.
const (
	clicksEnv    = "SHORTLINE_CLICKS"
	clicksDirEnv = "SHORTLINE_CLICKS_DIR"
)

// benchStore returns the number of clicks to measure, and a server with an open store. The caller fills the store, unless an earlier run
// has filled it in the folder of SHORTLINE_CLICKS_DIR.
func benchStore(b *testing.B) (n int, server *clickhousetest.Server, s *clickhouse.Store) {
	b.Helper()
	n = 1_000_000
	if v, err := strconv.Atoi(os.Getenv(clicksEnv)); err == nil {
		n = v
	}
	dir := os.Getenv(clicksDirEnv)
	if dir == "" {
		dir = b.TempDir()
	}
	clickhouse.UseRealLimits()
	server = clickhousetest.Start(b, dir)
	s = open(b, clickhouse.Config{URL: server.URL("default")})
	b.Cleanup(func() { _ = s.Close() })
	return n, server, s
}

// generate returns SQL that generates n clicks of 30 days in the engine: ten thousand links of 300 owners, with every
// thirteenth click on the first link.
const generate = `INSERT INTO clicks (edge, epoch, lane, seq, ts, link, owner, variant, rule, ip, visitor, country, region, city, device,
	os, browser,
	referer, user_agent, bot, bot_name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, geo_version, language)
WITH cityHash64(number, 1) AS a, cityHash64(number, 2) AS b, cityHash64(number, 3) AS c,
toInt64(exp((a %% 1000003) / 1000003 * 9.2103)) AS l,
	toUInt32(pow((b %% 1000003) / 1000003, 2) * 1300000) AS v, toUInt32(pow((c %% 1009) / 1009, 3) * 60) AS k, toUInt32(pow((intDiv(c,
	1009) %% 1009) / 1009, 3) * 400) AS m, intDiv(c, 2000003) AS d
SELECT 7, 1, number %% 4, intDiv(number, 4) + 1, fromUnixTimestamp64Milli(toInt64(%d + intDiv(number * 2592000000, %d))), l, 1 + l %% 300,
	if(l %% 10 = 3, concat('00000000-0000-0000-0000-00000000000', toString(d %% 3)), ''), if(l %% 10 = 4,
	concat('10000000-0000-0000-0000-00000000000', toString(d %% 3)), ''),
	toIPv6(concat('::ffff:', IPv4NumToString(toUInt32(167772160 + v)))), reinterpretAsInt64(cityHash64(v)),
	concat('C', toString(k)), concat('Region ', toString(k * 3 + m %% 3)), concat('City ', toString(k), ' ', toString(m)), ['DESKTOP',
	'MOBILE', 'TABLET'][1 + v %% 3],
	['Windows', 'iOS', 'Android', 'macOS', 'Linux'][1 + v %% 5], ['Chrome', 'Safari', 'Firefox', 'Edge', 'Opera'][1 + v %% 7 %% 5],
	['', 'https://search.example/', 'https://t.example/x', 'https://news.example/a', 'https://social.example/'][1 + d %% 5],
	concat('Mozilla/5.0 (X11; Linux x86_64) Browser/', toString(90 + v %% 40)), d %% 20 = 0, if(d %% 20 = 0, ['Googlebot', 'bingbot',
	'Other'][1 + d %% 3], ''),
	['', 'mail', 'social', 'ads'][1 + d %% 11 %% 4], ['', 'cpc', 'email'][1 + d %% 13 %% 3], ['', 'spring', 'summer',
	'black friday'][1 + d %% 17 %% 4], ['', 'a'][1 + d %% 19 %% 2], ['', 'b', 'c'][1 + d %% 23 %% 3], 'g', ['en', '', 'de', 'fr',
	'zh'][1 + d %% 29 %% 5]
FROM numbers(%d, %d)`

// generateConversions returns SQL that generates conversions of about three of a hundred clicks.
const generateConversions = `INSERT INTO conversions (ts, link, owner, variant, rule, country, region, city, device, os, browser,
	referer, bot,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, tag, goal, value, currency, attributed, version)
SELECT ts, link, owner, variant, rule, country, region, city, device, os, browser, referer, bot,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, cityHash64(lane, seq), 'purchase', 499000 + seq % 1000,
	if(seq % 5 = 0, 'USD', 'EUR'), 1, 1
FROM clicks WHERE cityHash64(lane, seq) % 33 = 0`

// handWrittenQuestion is a part of a report with hand-written queries for the same. They have places for two conditions: the clicks
// that count, to which also belongs, and the period. Without hand, raw takes its place.
type handWrittenQuestion struct {
	name            string
	ask             func(analytics.Scope) error
	also, hand, raw string
}

func handWritten(b *testing.B, s *clickhouse.Store) []handWrittenQuestion {
	lines := func(q analytics.Query, more analytics.Scope) func(analytics.Scope) error {
		return func(scope analytics.Scope) error {
			q.Scope = scope
			q.Bots, q.Match = more.Bots, more.Match
			_, err := s.Lines(b.Context(), q)
			return err
		}
	}
	breakdown := func(dims []analytics.Dimension, match ...analytics.Match) func(analytics.Scope) error {
		return func(scope analytics.Scope) error {
			scope.Match = match
			_, err := s.Breakdown(b.Context(), scope, dims, 11)
			return err
		}
	}
	dims := []analytics.Dimension{analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS, analytics.Browser,
		analytics.Referer,
		analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent, analytics.Language}
	var names, sets []string
	for _, d := range dims {
		names, sets = append(names, d.String()), append(sets, "("+d.String()+")")
	}
	grouped := func(count, from string) string {
		return "SELECT " + strings.Join(names, ", ") + ", " + count + " FROM " + from + " WHERE %s AND %s GROUP BY GROUPING SETS (" +
			strings.Join(sets, ", ") + ") FORMAT Null"
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(b, err)
	countries := analytics.Match{By: analytics.Country, Values: []string{"C1", "C2"}}
	site := analytics.Match{By: analytics.Site, Values: []string{"search.example", "t.example"}}
	german := analytics.Match{By: analytics.Language, Values: []string{"de"}}
	const people, visits, counts, raw = "NOT bot", " FROM rollup_visits WHERE %s AND %s", " FROM rollup_counts WHERE %s AND %s",
		" FROM clicks FINAL WHERE %s AND %s"
	const berlinSlot, berlinTime = "toDateTime(slot * 900, 'Europe/Berlin')", "toTimeZone(ts, 'Europe/Berlin')"
	const bySlot, byTime = "SELECT intDiv(slot, 96) AS d, sum(clicks), uniqExact(visitor)",
		"SELECT toDate(ts) AS d, count(), uniqExact(visitor)"
	const top, rawTop = "SELECT link, sum(clicks) AS n", "SELECT link, count() AS n"
	days := analytics.Query{Every: analytics.Days, Visitors: true}
	won := func(q analytics.Query) func(analytics.Scope) error {
		return func(scope analytics.Scope) error {
			q.Scope = scope
			_, err := s.ConversionLines(b.Context(), q, "purchase")
			return err
		}
	}
	wonBy := func(scope analytics.Scope) error {
		_, err := s.ConversionBreakdown(b.Context(), scope, append(dims, analytics.Site), "purchase")
		return err
	}
	const goals = " FROM conversions FINAL WHERE goal = 'purchase' AND %s AND %s"
	goalSets := "(currency, " + strings.Join(names, "), (currency, ") + ")"
	return []handWrittenQuestion{
		{"goal_days", won(analytics.Query{Every: analytics.Days}), people, "",
			"SELECT toDate(ts) AS d, currency, count(), sum(value)" + goals +
				" GROUP BY d, currency ORDER BY d"},
		{"goal_links", won(analytics.Query{ByLink: true}), people, "", "SELECT link, currency, count(), sum(value)" + goals +
			" GROUP BY link, currency"},
		{"goal_breakdown", wonBy, people, "", "SELECT currency, " + strings.Join(names, ", ") + ", count(), sum(value)" + goals +
			" GROUP BY GROUPING SETS (" + goalSets + ") FORMAT Null"},
		{"totals", lines(analytics.Query{Visitors: true}, analytics.Scope{}), people, "SELECT sum(clicks), uniqExact(visitor)" + visits,
			"SELECT count(), uniqExact(visitor)" + raw},
		{"days", lines(days, analytics.Scope{}), people, bySlot + visits + " GROUP BY d ORDER BY d",
			byTime + raw + " GROUP BY d ORDER BY d"},
		{"count", lines(analytics.Query{}, analytics.Scope{}), people, "SELECT sum(clicks)" + counts, "SELECT count()" + raw},
		{"top_links", lines(analytics.Query{ByLink: true, TopFirst: true, Limit: 10}, analytics.Scope{}), people,
			top + counts + " GROUP BY link ORDER BY n DESC LIMIT 10", rawTop + raw + " GROUP BY link ORDER BY n DESC LIMIT 10"},
		{"breakdown", breakdown(append(dims, analytics.Site)), people, grouped("sum(clicks)", "rollup_visits"),
			grouped("count()", "clicks FINAL")},
		{"hours", lines(analytics.Query{Every: analytics.Hours, Zone: berlin, Visitors: true}, analytics.Scope{}), people,
			"SELECT intDiv(slot, 4) AS h, sum(clicks), uniqExact(visitor)" + visits + " GROUP BY h ORDER BY h",
			"SELECT toStartOfHour(ts) AS h, count(), uniqExact(visitor)" + raw + " GROUP BY h ORDER BY h"},
		{"weeks", lines(analytics.Query{Every: analytics.Weeks, Zone: berlin, Visitors: true}, analytics.Scope{}), people,
			"SELECT toMonday(" +
				berlinSlot + ") AS w, sum(clicks), uniqExact(visitor)" + visits + " GROUP BY w ORDER BY w", "SELECT toMonday(" +
				berlinTime +
				") AS w, count(), uniqExact(visitor)" + raw + " GROUP BY w ORDER BY w"},
		{"heatmap", lines(analytics.Query{Every: analytics.WeekHours, Zone: berlin}, analytics.Scope{}), people, "SELECT toDayOfWeek(" +
			berlinSlot + ") AS d, toHour(" + berlinSlot + ") AS h, sum(clicks)" + counts + " GROUP BY d, h", "SELECT toDayOfWeek(" +
			berlinTime +
			") AS d, toHour(" + berlinTime + ") AS h, count()" + raw + " GROUP BY d, h"},
		{"groups", lines(analytics.Query{ByLink: true}, analytics.Scope{}), people, top + counts + " GROUP BY link",
			rawTop + raw + " GROUP BY link"},
		{"days_of_bots", lines(days, analytics.Scope{Bots: analytics.OnlyBots}), "bot", bySlot + visits + " GROUP BY d ORDER BY d",
			byTime + raw + " GROUP BY d ORDER BY d"},
		{"days_by_country", lines(days, analytics.Scope{Match: []analytics.Match{countries}}), people + " AND country IN ('C1', 'C2')",
			bySlot + visits + " GROUP BY d ORDER BY d", byTime + raw + " GROUP BY d ORDER BY d"},
		{"days_by_site", lines(days, analytics.Scope{Match: []analytics.Match{site}}),
			people + " AND referer IN ('https://search.example/', 'https://t.example/x')", bySlot + visits + " GROUP BY d ORDER BY d",
			byTime + raw + " GROUP BY d ORDER BY d"},
		{"days_by_two_filters", lines(days, analytics.Scope{Match: []analytics.Match{countries, german}}),
			people + " AND country IN ('C1', 'C2') AND language = 'de'", bySlot + visits + " GROUP BY d ORDER BY d",
			byTime + raw + " GROUP BY d ORDER BY d"},
		{"breakdown_by_site", breakdown(append(dims, analytics.Site), site),
			people + " AND referer IN ('https://search.example/', 'https://t.example/x')", grouped("sum(clicks)", "rollup_visits"),
			grouped("count()", "clicks FINAL")},
	}
}

// BenchmarkReports compares reports about 30 days of a large link, a typical one, an owner and everything with manual queries of the
// rollup and of the clicks, which count visitors exactly, alternating between them. It prints the ratios of the medians. On a busy
// machine the ratio of the fastest runs is more useful, because a report has two statements, and waits for other load twice.
func BenchmarkReports(b *testing.B) {
	n, server, s := benchStore(b)
	ask := func(text string) time.Duration {
		start := time.Now()
		if _, err := server.Ask(b.Context(), text); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		return time.Since(start)
	}
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	from, to := first.UnixMilli(), first.AddDate(0, 0, 30).UnixMilli()
	load := time.Duration(0)
	if kept, err := server.Ask(b.Context(), "SELECT count() FROM clicks"); err != nil || strings.TrimSpace(kept) != strconv.Itoa(n) {
		ask("TRUNCATE TABLE clicks")
		ask("TRUNCATE TABLE conversions")
		for at := 0; at < n; at += 5_000_000 {
			load += ask(fmt.Sprintf(generate, from, n, at, min(5_000_000, n-at)))
		}
		ask(generateConversions)
		ask("INSERT INTO rollup_marks SELECT DISTINCT toUInt32(intDiv(toUnixTimestamp64Milli(ts), 900000)), 0, 1 FROM clicks")
	}
	start := time.Now()
	testkit.Must(b, s.Rebuild(b.Context(), distant))
	built := time.Since(start)
	size, err := server.Ask(b.Context(),
		"SELECT table, sum(rows), formatReadableSize(sum(bytes_on_disk)) FROM system.parts WHERE active AND (table = 'clicks' OR table LIKE "+
			"'rollup%') GROUP BY table ORDER BY table")
	b.Logf("%d clicks: made in %v, rolled up in %v (%.0f clicks/s)\n%s (%v)", n, load.Round(time.Second), built.Round(time.Second),
		float64(n)/built.Seconds(), size, err)

	link, typical, owner := analytics.Scope{From: from, To: to, Links: []uint64{1}},
		analytics.Scope{From: from, To: to, Links: []uint64{500}},
		analytics.Scope{From: from, To: to, Owner: 2}
	period := fmt.Sprintf("slot >= %d AND slot < %d", from/900_000, to/900_000)
	rawPeriod := fmt.Sprintf("ts >= fromUnixTimestamp64Milli(%d) AND ts < fromUnixTimestamp64Milli(%d)", from, to)
	for _, c := range []struct {
		name, filter string
		scope        analytics.Scope
	}{{"link", "link = 1", link}, {"typical", "link = 500", typical}, {"everything", "1 = 1", analytics.Scope{From: from, To: to}},
		{"owner", "owner = 2", owner}} {
		for _, r := range handWritten(b, s) {
			if r.hand != "" {
				r.hand = fmt.Sprintf(r.hand, c.filter+" AND "+r.also, period)
				if c.scope.Owner != 0 {
					r.hand = strings.NewReplacer("rollup_visits", "rollup_owner_visits", "rollup_counts", "rollup_owner_counts").
						Replace(r.hand)
				}
			}
			r.raw = fmt.Sprintf(r.raw, c.filter+" AND "+r.also, rawPeriod)
			r.hand = cmp.Or(r.hand, r.raw)
			b.Run(c.name+"/"+r.name, func(b *testing.B) {
				var ours, hand, raw []time.Duration
				for b.Loop() {
					for range 5 {
						start := time.Now()
						testkit.Must(b, r.ask(c.scope))
						ours = append(ours, time.Since(start))
						hand = append(hand, ask(r.hand))
						raw = append(raw, ask(r.raw))
					}
				}
				middle := func(list []time.Duration) float64 {
					slices.Sort(list)
					return float64(list[len(list)/2])
				}
				b.ReportMetric(middle(ours)/middle(hand), "x-hand-written")
				b.ReportMetric(middle(ours)/middle(raw), "x-raw")
				b.ReportMetric(float64(ours[0])/float64(hand[0]), "x-hand-written-best")
				b.ReportMetric(middle(ours)/1e6, "ms")
				b.ReportMetric(float64(ours[0])/1e6, "ms-best")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

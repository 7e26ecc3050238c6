package clickhouse_test

import (
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
)

// clicksEnv sets the number of clicks in BenchmarkReports; the budget applies to 100000000. Clicks and rollups need
// about 50 bytes of disk each. clicksDirEnv names a folder that keeps them for the next run.
const (
	clicksEnv    = "SHORTLINE_CLICKS"
	clicksDirEnv = "SHORTLINE_CLICKS_DIR"
)

// generate returns SQL that generates n clicks of 30 days in the engine: ten thousand links of 300 owners, with every
// thirteenth click on the first link.
const generate = `INSERT INTO clicks (edge, epoch, lane, seq, ts, link, owner, variant, rule, ip, visitor, country, region, city, device, os, browser,
	referer, user_agent, bot, bot_name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, geo_version)
WITH cityHash64(number, 1) AS a, cityHash64(number, 2) AS b, cityHash64(number, 3) AS c, toInt64(exp((a %% 1000003) / 1000003 * 9.2103)) AS l,
	toUInt32(pow((b %% 1000003) / 1000003, 2) * 1300000) AS v, toUInt32(pow((c %% 1009) / 1009, 3) * 60) AS k, toUInt32(pow((intDiv(c, 1009) %% 1009) / 1009, 3) * 400) AS m, intDiv(c, 2000003) AS d
SELECT 7, 1, number %% 4, intDiv(number, 4) + 1, fromUnixTimestamp64Milli(toInt64(%d + intDiv(number * 2592000000, %d))), l, 1 + l %% 300,
	if(l %% 10 = 3, concat('00000000-0000-0000-0000-00000000000', toString(d %% 3)), ''), if(l %% 10 = 4, concat('10000000-0000-0000-0000-00000000000', toString(d %% 3)), ''),
	toIPv6(concat('::ffff:', IPv4NumToString(toUInt32(167772160 + v)))), reinterpretAsInt64(cityHash64(v)),
	concat('C', toString(k)), concat('Region ', toString(k * 3 + m %% 3)), concat('City ', toString(k), ' ', toString(m)), ['DESKTOP', 'MOBILE', 'TABLET'][1 + v %% 3],
	['Windows', 'iOS', 'Android', 'macOS', 'Linux'][1 + v %% 5], ['Chrome', 'Safari', 'Firefox', 'Edge', 'Opera'][1 + v %% 7 %% 5],
	['', 'https://search.example/', 'https://t.example/x', 'https://news.example/a', 'https://social.example/'][1 + d %% 5],
	concat('Mozilla/5.0 (X11; Linux x86_64) Browser/', toString(90 + v %% 40)), d %% 20 = 0, if(d %% 20 = 0, ['Googlebot', 'bingbot', 'Other'][1 + d %% 3], ''),
	['', 'mail', 'social', 'ads'][1 + d %% 11 %% 4], ['', 'cpc', 'email'][1 + d %% 13 %% 3], ['', 'spring', 'summer', 'black friday'][1 + d %% 17 %% 4], ['', 'a'][1 + d %% 19 %% 2], ['', 'b', 'c'][1 + d %% 23 %% 3], 'g'
FROM numbers(%d, %d)`

// BenchmarkReports compares reports about 30 days of one link and of one owner with manual queries of the rollup and of
// the clicks, alternating between them. It prints the ratios of the medians. On a busy machine the ratio of the fastest
// runs is more useful, because a report has two statements, and waits for other load twice.
func BenchmarkReports(b *testing.B) {
	n := 1_000_000
	if v, err := strconv.Atoi(os.Getenv(clicksEnv)); err == nil {
		n = v
	}
	dir := os.Getenv(clicksDirEnv)
	if dir == "" {
		dir = b.TempDir()
	}
	server := clickhousetest.Start(b, dir)
	s := open(b, clickhouse.Config{URL: server.URL("default")})
	defer s.Close()
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
		for at := 0; at < n; at += 5_000_000 {
			load += ask(fmt.Sprintf(generate, from, n, at, min(5_000_000, n-at)))
		}
		ask("INSERT INTO rollup_marks SELECT DISTINCT toUInt32(intDiv(toUnixTimestamp64Milli(ts), 900000)), 0, 1 FROM clicks")
	}
	start := time.Now()
	if err := s.Rebuild(b.Context(), distant); err != nil {
		b.Fatal(err)
	}
	built := time.Since(start)
	size, err := server.Ask(b.Context(), "SELECT table, sum(rows), formatReadableSize(sum(bytes_on_disk)) FROM system.parts WHERE active AND table IN ('clicks', 'rollup_visits', 'rollup_counts') GROUP BY table ORDER BY table")
	b.Logf("%d clicks: made in %v, rolled up in %v (%.0f clicks/s)\n%s (%v)", n, load.Round(time.Second), built.Round(time.Second), float64(n)/built.Seconds(), size, err)

	link, owner := analytics.Scope{From: from, To: to, Links: []uint64{1}}, analytics.Scope{From: from, To: to, Owner: 2}
	dims := []analytics.Dimension{analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS, analytics.Browser, analytics.Referer,
		analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent}
	var sets []string
	for _, d := range dims {
		sets = append(sets, "("+d.String()+")")
	}
	period := fmt.Sprintf("slot >= %d AND slot < %d AND NOT bot", from/900_000, to/900_000)
	rawPeriod := fmt.Sprintf("ts >= fromUnixTimestamp64Milli(%d) AND ts < fromUnixTimestamp64Milli(%d) AND NOT bot", from, to)
	line := func(q analytics.Query) func() error {
		return func() error { _, err := s.Lines(b.Context(), q); return err }
	}
	for _, c := range []struct {
		name, filter string
		scope        analytics.Scope
	}{{"link", "link = 1", link}, {"owner", "owner = 2 AND link IN (SELECT link FROM rollup_owners WHERE owner = 2)", owner}} {
		for _, r := range []struct {
			name      string
			f         func() error
			hand, raw string
		}{
			{"totals", line(analytics.Query{Scope: c.scope, Visitors: true}), "SELECT sum(clicks), uniqExact(visitor) FROM rollup_visits WHERE %s AND %s", "SELECT count(), uniqExact(visitor) FROM clicks FINAL WHERE %s AND %s"},
			{"days", line(analytics.Query{Scope: c.scope, Every: analytics.Days, Visitors: true}), "SELECT intDiv(slot, 96) AS d, sum(clicks), uniqExact(visitor) FROM rollup_visits WHERE %s AND %s GROUP BY d ORDER BY d", "SELECT toDate(ts) AS d, count(), uniqExact(visitor) FROM clicks FINAL WHERE %s AND %s GROUP BY d ORDER BY d"},
			{"count", line(analytics.Query{Scope: c.scope}), "SELECT sum(clicks) FROM rollup_counts WHERE %s AND %s", "SELECT count() FROM clicks FINAL WHERE %s AND %s"},
			{"top_links", line(analytics.Query{Scope: c.scope, ByLink: true, TopFirst: true, Limit: 10}), "SELECT link, sum(clicks) AS n FROM rollup_counts WHERE %s AND %s GROUP BY link ORDER BY n DESC LIMIT 10", "SELECT link, count() AS n FROM clicks FINAL WHERE %s AND %s GROUP BY link ORDER BY n DESC LIMIT 10"},
			{"breakdown", func() error { _, err := s.Breakdown(b.Context(), c.scope, dims, 11); return err },
				"SELECT " + strings.ReplaceAll(strings.Trim(strings.Join(sets, ","), "()"), "),(", ",") + ", sum(clicks) FROM rollup_visits WHERE %s AND %s GROUP BY GROUPING SETS (" + strings.Join(sets, ",") + ") FORMAT Null",
				"SELECT " + strings.ReplaceAll(strings.Trim(strings.Join(sets, ","), "()"), "),(", ",") + ", count() FROM clicks FINAL WHERE %s AND %s GROUP BY GROUPING SETS (" + strings.Join(sets, ",") + ") FORMAT Null"},
		} {
			b.Run(c.name+"/"+r.name, func(b *testing.B) {
				var ours, hand, raw []time.Duration
				for b.Loop() {
					for range 5 {
						start := time.Now()
						if err := r.f(); err != nil {
							b.Fatal(err)
						}
						ours = append(ours, time.Since(start))
						hand = append(hand, ask(fmt.Sprintf(r.hand, c.filter, period)))
						raw = append(raw, ask(fmt.Sprintf(r.raw, strings.ReplaceAll(c.filter, " AND link IN (SELECT link FROM rollup_owners WHERE owner = 2)", ""), rawPeriod)))
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

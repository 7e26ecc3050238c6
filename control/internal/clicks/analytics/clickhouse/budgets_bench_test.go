package clickhouse_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// generateSparse returns SQL that generates clicks of 30 days. Every tenth click is on the first link. The others are on n / 20 links,
// which belong to 300 workspaces in turn. There are 6 visitors for 100 clicks, in random order.
const generateSparse = `INSERT INTO clicks (edge, epoch, lane, seq, ts, link, owner, ip, visitor, country, region, city, device, os,
	browser,
	referer, user_agent, utm_source, utm_medium, utm_campaign, geo_version, language)
WITH cityHash64(number, 1) AS a, cityHash64(number, 2) AS b, cityHash64(number, 3) AS c, if(number %% 10 = 0, 1,
2 + toInt64(a %% %[2]d)) AS l,
	b %% %[3]d AS v, toUInt32(pow((v %% 1009) / 1009, 3) * 60) AS k, v %% 50 AS m
SELECT 7, 1, number %% 4, intDiv(number, 4) + 1, fromUnixTimestamp64Milli(toInt64(%[1]d + intDiv(number * 2592000000, %[4]d))), l,
1 + l %% 300,
	toIPv6(concat('::ffff:', IPv4NumToString(toUInt32(167772160 + v)))), reinterpretAsInt64(cityHash64(v)),
	concat('C', toString(k)), concat('Region ', toString(k * 3 + m %% 3)), concat('City ', toString(k), ' ', toString(m)), ['DESKTOP',
	'MOBILE', 'TABLET'][1 + v %% 3],
	['Windows', 'iOS', 'Android', 'macOS', 'Linux'][1 + v %% 5], ['Chrome', 'Safari', 'Firefox', 'Edge', 'Opera'][1 + v %% 7 %% 5],
	['', 'https://search.example/', 'https://t.example/x', 'https://news.example/a', 'https://social.example/'][1 + c %% 5],
	concat('Mozilla/5.0 (X11; Linux x86_64) Browser/', toString(90 + v %% 40)),
	['', 'mail', 'social', 'ads'][1 + l %% 4], ['', 'cpc', 'email'][1 + l %% 3], ['', 'spring', 'summer', 'autumn'][1 + l %% 7 %% 4], 'g',
	['en', '', 'de', 'fr', 'zh'][1 + v %% 29 %% 5]
FROM numbers(%[5]d, %[6]d)`

// sparse returns a server with generated clicks and their rollups. Folders that an earlier run filled are used again.
func sparse(b *testing.B) (*clickhousetest.Server, *clickhouse.Store) {
	b.Helper()
	n, server, s := benchStore(b)
	ask := asker(b, server)
	if ask("SELECT count() FROM clicks") != strconv.Itoa(n) {
		ask("TRUNCATE TABLE clicks")
		start := time.Now()
		for at := 0; at < n; at += 5_000_000 {
			ask(fmt.Sprintf(generateSparse, firstSparse.UnixMilli(), n/20, n*6/100, n, at, min(5_000_000, n-at)))
		}
		ask("INSERT INTO rollup_marks SELECT DISTINCT toUInt32(intDiv(toUnixTimestamp64Milli(ts), 900000)), 0, 1 FROM clicks")
		b.Logf("%d clicks were made in %v", n, time.Since(start).Round(time.Second))
	}
	start := time.Now()
	testkit.Must(b, s.Rebuild(b.Context(), distant))
	b.Logf("the rollups were built in %v\n%s", time.Since(start).Round(time.Second),
		ask("SELECT table, sum(rows), formatReadableSize(sum(bytes_on_disk)), count() FROM system.parts WHERE active AND database = 'default' "+
			"AND rows > 1000 GROUP BY table ORDER BY table"))
	return server, s
}

var firstSparse = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// asker returns a function that asks a server and ends the benchmark if it fails.
func asker(b *testing.B, server *clickhousetest.Server) func(string) string {
	return func(text string) string {
		b.Helper()
		out, err := server.Ask(b.Context(), text)
		if err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		return out
	}
}

// BenchmarkRest measures the processor time of a server with many clicks that nobody reads or adds to, in percent of a processor, with
// two processes that look for rollups to build. It begins when the server has merged what was stored.
func BenchmarkRest(b *testing.B) {
	server, s := sparse(b)
	other := open(b, clickhouse.Config{URL: server.URL("default")})
	b.Cleanup(func() { _ = other.Close() })
	ask := asker(b, server)
	look := time.NewTicker(5 * time.Second)
	defer look.Stop()
	for still := 0; still < 6; still++ {
		if ask("SELECT count() FROM system.merges") != "0" {
			still = -1
		}
		<-look.C
	}
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
		before, start := server.Processor(b), time.Now()
		var both errgroup.Group
		for _, s := range []*clickhouse.Store{s, other} {
			both.Go(func() error { return s.Jobs("main").Run(ctx) })
		}
		if err := both.Wait(); err != nil {
			b.Error(err)
		}
		cancel()
		b.ReportMetric(100*float64(server.Processor(b)-before)/float64(time.Since(start)), "%-of-a-processor")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBudgets measures the statements of whole reports about 30 days: of a link with few clicks, of one with a tenth of all clicks
// and of a workspace. The budgets of 100, 300 and 500 ms apply to 200000000 clicks. Merges do not run meanwhile.
func BenchmarkBudgets(b *testing.B) {
	server, s := sparse(b)
	asker(b, server)("SYSTEM STOP MERGES")
	period := analytics.Scope{From: firstSparse.UnixMilli(), To: firstSparse.AddDate(0, 0, 30).UnixMilli()}
	few, many, workspace := period, period, period
	few.Links, many.Links, workspace.Owner = []uint64{1000}, []uint64{1}, 100
	for _, c := range []struct {
		name  string
		scope analytics.Scope
	}{{"link_with_few_clicks", few}, {"link_with_a_tenth", many}, {"workspace", workspace}} {
		analyticstest.Report(b, s, c.name, c.scope)
	}
}

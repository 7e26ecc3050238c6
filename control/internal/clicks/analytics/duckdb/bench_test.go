package duckdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func BenchmarkInsert(b *testing.B) {
	for name, batch := range map[string]int{"batch=1000": 1000, "batch=10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				path := filepath.Join(b.TempDir(), "clicks")
				s := open(b, path)
				b.ReportMetric(analyticstest.Load(b, s, 100_000, batch), "clicks/s")
				if wal, err := os.Stat(path + ".wal"); err == nil {
					b.ReportMetric(float64(wal.Size())/1e6, "MB-log")
				}
				testkit.Must(b, s.Close())
			}
		})
	}
}

// clicksEnv sets the number of clicks in BenchmarkQueries and BenchmarkVaried. clicksDirEnv names a folder that keeps them for the next
// run.
const (
	clicksEnv    = "SHORTLINE_CLICKS"
	clicksDirEnv = "SHORTLINE_CLICKS_DIR"
)

// BenchmarkQueries measures the queries of reports on a million clicks, all in the period, against a budget of 100 ms
// each. The clicks are of 40 links and 650 addresses.
func BenchmarkQueries(b *testing.B) {
	queries(b, "clicks", func(s *duckdb.Store, n int) { b.Logf("%.0f clicks/s", analyticstest.Load(b, s, n, 10_000)) })
}

// generate returns SQL that generates n clicks of 30 days in the engine, similar to those of the benchmark of
// ClickHouse: ten thousand links of 300 owners, 800,000 visitors of ten million clicks, and 15,000 cities.
const generate = `INSERT INTO clicks BY NAME
SELECT CAST(7 AS UBIGINT) AS edge, CAST(1 AS UINTEGER) AS epoch, CAST(0 AS UTINYINT) AS lane, CAST(i + 1 AS UBIGINT) AS seq,
1767225600000 + (i * 2592000000) // %[3]d AS ts, l AS link, 1 + l %% 300 AS owner,
	CASE WHEN l %% 10 = 3 THEN '00000000-0000-0000-0000-00000000000' || (d %% 3) ELSE '' END AS variant, CASE
	WHEN l %% 10 = 4 THEN '10000000-0000-0000-0000-00000000000' || (d %% 3) ELSE '' END AS rule,
	'10.' || (v >> 16) || '.' || ((v >> 8) & 255) || '.' || (v & 255) AS ip, CAST(CAST(hash(v) AS HUGEINT) - 9223372036854775808 AS BIGINT) AS
	visitor,
	CASE k WHEN 1 THEN 'DE' ELSE 'C' || k END AS country, 'Region ' || (k * 3 + m %% 3) AS region, 'City ' || k || ' ' || m AS city,
	['DESKTOP', 'MOBILE', 'TABLET'][1 + v %% 3] AS device,
	['Windows', 'iOS', 'Android', 'macOS', 'Linux'][1 + v %% 5] AS os, ['Chrome', 'Safari', 'Firefox', 'Edge',
	'Opera'][1 + v %% 7 %% 5] AS browser,
	['', 'https://search.example/', 'https://t.co/x', 'https://news.example/a', 'https://l.instagram.com/'][1 + d %% 5] AS referer,
	'Mozilla/5.0 (X11; Linux x86_64) Browser/' || (90 + v %% 40) AS user_agent,
	d %% 20 = 0 AS bot, CASE WHEN d %% 20 = 0 THEN ['Googlebot', 'bingbot', 'Other'][1 + d %% 3] ELSE '' END AS bot_name,
	['', 'mail', 'social', 'ads'][1 + d %% 11 %% 4] AS utm_source, ['', 'cpc', 'email'][1 + d %% 13 %% 3] AS utm_medium, ['', 'spring',
	'summer', 'black friday'][1 + d %% 17 %% 4] AS utm_campaign,
	['', 'a'][1 + d %% 19 %% 2] AS utm_term, ['', 'b', 'c'][1 + d %% 23 %% 3] AS utm_content, '' AS utm_id, '' AS utm_source_platform,
	'g' AS geo_version, ['en', 'de', 'zh', 'pt', ''][1 + v %% 9 %% 5] AS language
FROM (SELECT i, CAST(exp((a %% 1000003) / 1000003 * 9.2103) AS BIGINT) AS l, CAST(pow((b %% 1000003) / 1000003,
2) * 1300000 AS BIGINT) AS v, CAST(pow((c %% 1009) / 1009, 3) * 60 AS BIGINT) AS k,
	CAST(pow(((c // 1009) %% 1009) / 1009, 3) * 400 AS BIGINT) AS m, CAST(c // 2000003 AS BIGINT) AS d
	FROM (SELECT i, hash(i, 1) >> 1 AS a, hash(i, 2) >> 1 AS b, hash(i, 3) >> 1 AS c FROM range(%[1]d, %[2]d) AS numbers(i)))`

// BenchmarkVaried is like BenchmarkQueries, with many more links, visitors and values.
func BenchmarkVaried(b *testing.B) {
	queries(b, "varied", func(s *duckdb.Store, n int) {
		for at := 0; at < n; at += 500_000 {
			testkit.Must(b, s.Run(b.Context(), fmt.Sprintf(generate, at, min(at+500_000, n), n)))
		}
	})
}

// queries measures queries on a file that load fills, unless an earlier run has.
func queries(b *testing.B, name string, load func(s *duckdb.Store, n int)) {
	dir := os.Getenv(clicksDirEnv)
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, name)
	s := open(b, path)
	n := 1_000_000
	if v, err := strconv.Atoi(os.Getenv(clicksEnv)); err == nil {
		n = v
	}
	stored, err := s.RawLines(b.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
	testkit.Must(b, err)
	if stored[0].Clicks == 0 {
		load(s, n)
		// The store does not know which days another program wrote to while it was open.
		testkit.Must(b, s.Close())
		s = open(b, path)
	}
	size := func() float64 {
		testkit.Must(b, s.Run(b.Context(), "CHECKPOINT"))
		file, err := os.Stat(path)
		testkit.Must(b, err)
		return float64(file.Size()) / 1e6
	}
	before, start, used := size(), time.Now(), analyticstest.Processor(b)
	testkit.Must(b, s.Rebuild(b.Context(), distant))
	b.Logf("rollup built in %s, %s of processor time; the file grew from %.0f to %.0f MB", time.Since(start).Round(time.Millisecond),
		(analyticstest.Processor(b) - used).Round(time.Millisecond), before, size())
	analyticstest.Queries(b, s, 100*time.Millisecond)
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	month := analytics.Scope{From: start.UnixMilli(), To: start.AddDate(0, 0, 30).UnixMilli()}
	one, workspace := month, month
	one.Links, workspace.Owner = []uint64{1}, 1
	for name, scope := range map[string]analytics.Scope{"report_of_a_link": one, "report_of_a_workspace": workspace,
		"report_of_everything": month} {
		analyticstest.Report(b, s, name, scope)
	}
}

// BenchmarkMoved measures reports after a million links have moved.
func BenchmarkMoved(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "clicks"))
	analyticstest.Load(b, s, 1_000_000, 10_000)
	analyticstest.Moved(b, s)
}

package store_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// metropolis creates n links in the workspace of the user ann, whose number it returns, and a fifth as many in another.
// Tags, campaigns and states have many sizes; some depend on the age of a link.
func metropolis(b testing.TB, s *store.Store, n int) (ann uint64) {
	b.Helper()
	ctx := context.Background()
	exec := func(tx *store.Tx, query string, args ...any) {
		b.Helper()
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			b.Fatal(err)
		}
	}
	err := s.Tx(ctx, func(tx *store.Tx) error {
		for _, name := range []string{"ann", "bob", "cem"} {
			num, err := tx.InsertUser(ctx, store.User{ID: name, Email: name, Role: "USER", Active: true})
			if err != nil {
				return err
			}
			if name == "ann" {
				ann = num
			}
		}
		for _, t := range []string{"half", "tenth", "other tenth", "percent", "few", "young", "old"} {
			exec(tx, `INSERT INTO tags (id, workspace_num, name, name_key, color, created_at, updated_at) VALUES (?, ?, ?, ?, '#000', 0, 0)`,
				t, ann, t, t)
		}
		exec(tx, `INSERT INTO bundles (id, user_id, workspace_num, name, color, icon, search_text, created_at, updated_at) VALUES ('bundle', `+
			`'ann', ?, 'B', '#000', 'x', 'b', 0, 0)`, ann)
		return nil
	})
	testkit.Must(b, err)
	const numbers = `WITH RECURSIVE numbers (i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ?) `
	const chunk = 4000 // a statement has ten seconds, also on a busy machine
	for from := 0; from < n+n/5; from += chunk {
		to := min(from+chunk, n+n/5)
		err := s.Tx(ctx, func(tx *store.Tx) error {
			// Hashes of the number i stand for chance.
			exec(tx, numbers+`INSERT INTO urls (id, user_id, workspace_num, domain_num, slug, original_url, title, search_text, active, expires_at,
				starts_at, exhausted_at, suspended_at, max_clicks,
				utm_source, utm_campaign, click_count, created_at, updated_at)
			SELECT 'link-' || i, CASE WHEN i % 6 = 5 THEN 'cem' WHEN i * 7 % 10 < 6 THEN 'ann' ELSE 'bob' END, CASE
			WHEN i % 6 = 5 THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END,
				domain, coalesce(domain || '/', '') || 's' || (i * 7919 % 19999999), 'https://www.example.com/campaigns/' || (i % 97) || '/page-' || i
				|| '?ref=' || (i * 31),
				CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 'spring launch ' || (i * 17 % 1000003)
				WHEN 2 THEN 'summer sale ' || (i * 17 % 1000003) ELSE 'newsletter ' || (i * 17 % 1000003) END,
				CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN 'spring launch ' || (i * 17 % 1000003)
				WHEN 2 THEN 'summer sale ' || (i * 17 % 1000003) ELSE 'newsletter ' || (i * 17 % 1000003) END
					|| chr10 || 'https://www.example.com/campaigns/' || (i % 97) || '/page-' || i || '?ref=' || (i * 31) || chr10 || 's' || (i * 7919 %
					19999999),
				i * 13 % 10 <> 3, CASE WHEN i % 4 = 0 THEN 60000 * (1 + i * 11 % 2000000) END, CASE
				WHEN i * 3 % 100 = 7 THEN 60000 * (1 + i * 19 % 4000000) END, CASE WHEN i % 100 = 9 THEN 5 END, CASE WHEN i % 1000 = 11 THEN 5 END,
				CASE WHEN i % 50 = 9 THEN 10 END,
				CASE i % 4 WHEN 1 THEN 'newsletter' WHEN 2 THEN 'twitter' WHEN 3 THEN 'partner-' || (i % 1000) END,
				CASE WHEN i * 23 % 100 < 20 THEN 'summer' WHEN i * 23 % 100 < 30 THEN 'autumn' WHEN i * 23 % 100 < 31 THEN 'winter'
				WHEN i * 23 % 100 < 60 THEN 'c-' || (i % 5003) END,
				i * 29 % 100003, i, i * 37 % 1000003
			FROM (SELECT i, CAST(CASE WHEN i * 61 % 100 < 20 THEN 7 WHEN i * 61 % 100 < 21 THEN 8
			WHEN i % 10007 = 22 THEN 9 END AS BIGINT) AS domain FROM numbers) AS on_domains,
				(SELECT CAST('
' AS TEXT) AS chr10) AS newline`, from, to, ann+1, ann)
			return nil
		})
		testkit.Must(b, err)
	}
	err = s.Tx(ctx, func(tx *store.Tx) error {
		for tag, which := range map[string]string{"half": `num * 41 % 100 < 50`, "tenth": `num * 43 % 100 < 10`,
			"other tenth": `num * 47 % 101 < 10`, "percent": `num * 53 % 1000 < 10`,
			"few": `num * 59 % 10000 < 5`, "young": `num > ` + fmt.Sprint(n+n/5-3*n/10), "old": `num < ` + fmt.Sprint(3*n/10)} {
			exec(tx, `INSERT INTO url_tags (tag_num, url_num) SELECT (SELECT num FROM tags WHERE id = ?), num FROM urls WHERE workspace_num `+
				`= ? AND `+which, tag, ann)
		}
		exec(tx, `INSERT INTO bundle_urls (bundle_id, url_id, position) SELECT 'bundle', id, num FROM urls WHERE workspace_num = ? AND num % `+
			`1009 = 5 LIMIT 1000`, ann)
		if s.Shared() {
			exec(tx, `ANALYZE urls`)
			exec(tx, `ANALYZE url_tags`)
			exec(tx, `ANALYZE bundle_urls`)
		}
		return nil
	})
	testkit.Must(b, err)
	return ann
}

// cityFilters are filters of the links of metropolis by kind and size.
var cityFilters = map[string]func(*store.LinkFilter){
	"tag half":         func(f *store.LinkFilter) { f.Tags = append(f.Tags, "half") },
	"tag tenth":        func(f *store.LinkFilter) { f.Tags = append(f.Tags, "tenth") },
	"tag other tenth":  func(f *store.LinkFilter) { f.Tags = append(f.Tags, "Other Tenth") },
	"tag percent":      func(f *store.LinkFilter) { f.Tags = append(f.Tags, "percent") },
	"tag few":          func(f *store.LinkFilter) { f.Tags = append(f.Tags, "few") },
	"tag young":        func(f *store.LinkFilter) { f.Tags = append(f.Tags, "young") },
	"tag old":          func(f *store.LinkFilter) { f.Tags = append(f.Tags, "old") },
	"domain default":   func(f *store.LinkFilter) { f.Domains = []uint64{0} },
	"domain fifth":     func(f *store.LinkFilter) { f.Domains = []uint64{7} },
	"domain percent":   func(f *store.LinkFilter) { f.Domains = []uint64{8} },
	"domain two":       func(f *store.LinkFilter) { f.Domains = []uint64{7, 9} },
	"domain few":       func(f *store.LinkFilter) { f.Domains = []uint64{9} },
	"domain mixed":     func(f *store.LinkFilter) { f.Domains = []uint64{0, 8} },
	"bundle":           func(f *store.LinkFilter) { f.Bundle = "bundle" },
	"creator ann":      func(f *store.LinkFilter) { f.CreatedBy = "ann" },
	"creator bob":      func(f *store.LinkFilter) { f.CreatedBy = "bob" },
	"campaign summer":  func(f *store.LinkFilter) { f.Campaign = "summer" },
	"campaign autumn":  func(f *store.LinkFilter) { f.Campaign = "autumn" },
	"campaign c-17":    func(f *store.LinkFilter) { f.Campaign = "c-17" },
	"search many":      func(f *store.LinkFilter) { f.Search = "summer sale" },
	"search all":       func(f *store.LinkFilter) { f.Search = "example" },
	"search few":       func(f *store.LinkFilter) { f.Search = "page-1234" },
	"status ACTIVE":    func(f *store.LinkFilter) { f.Status = store.StatusActive },
	"status INACTIVE":  func(f *store.LinkFilter) { f.Status = store.StatusInactive },
	"status EXPIRED":   func(f *store.LinkFilter) { f.Status = store.StatusExpired },
	"status SCHEDULED": func(f *store.LinkFilter) { f.Status = store.StatusScheduled },
	"status EXHAUSTED": func(f *store.LinkFilter) { f.Status = store.StatusExhausted },
	"status SUSPENDED": func(f *store.LinkFilter) { f.Status = store.StatusSuspended },
	"":                 func(*store.LinkFilter) {},
}

// cityTime is a time at which half of the links with an expiry have expired, in Unix milliseconds.
const cityTime = 60_000 * 1_000_000

// cityPairs calls f with every pair of filters of different kinds, every pair of tags, and every sort.
func cityPairs(workspace uint64, f func(name string, filter store.LinkFilter)) {
	names := slices.Sorted(maps.Keys(cityFilters))
	for i, a := range names {
		for _, b := range names[i+1:] {
			kind, _, _ := strings.Cut(a, " ")
			if other, _, _ := strings.Cut(b, " "); kind == other && kind != "tag" {
				continue
			}
			for _, sort := range slices.Sorted(maps.Keys(store.LinkSorts)) {
				for _, up := range []bool{false, true} {
					filter := store.LinkFilter{Workspace: workspace, Now: cityTime, SortBy: sort, Ascending: up, Limit: 10}
					cityFilters[a](&filter)
					cityFilters[b](&filter)
					f(fmt.Sprintf("%s + %s by %s %v", a, b, sort, up), filter)
				}
			}
		}
	}
}

// cityEnv is the address of a database that metropolis has filled, to measure without filling another one.
const cityEnv = "SHORTLINE_CITY"

// cityLinks returns the number of links to measure with.
func cityLinks() int {
	if n, err := strconv.Atoi(os.Getenv(linksEnv)); err == nil {
		return n
	}
	return 100_000
}

// partEnv is the part of the pairs that benchmarks measure: with 10, every tenth.
const partEnv = "SHORTLINE_PART"

// cityPart returns the value of partEnv; 1 measures all pairs.
func cityPart() int {
	if part, err := strconv.Atoi(os.Getenv(partEnv)); err == nil {
		return part
	}
	return 1
}

// BenchmarkLists measures every pair of filters in every order over SHORTLINE_LINKS links, by default 100,000, in one
// workspace and over all workspaces. It reports percentiles and the maximum over the best of three runs of each, and logs the
// worst. Lists are answered from memory first, then by the database without that memory.
func BenchmarkLists(b *testing.B) {
	n := cityLinks()
	part := cityPart()
	eachCity(b, n, func(b *testing.B, s *store.Store, ann uint64) {
		b.Run("database", func(b *testing.B) { benchmarkPairs(b, s, ann, max(part, 100)) })
		b.Run("load", func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			testkit.Must(b, s.KeepColumns())
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n+n/5), "B/link")
		})
		b.Run("memory", func(b *testing.B) { benchmarkPairs(b, s, ann, part) })
		b.Run("others", func(b *testing.B) {
			if err := s.FoldCounts(b.Context()); err != nil { // as programs do once a minute
				b.Fatal(err)
			}
			var runs []timed
			for name, f := range map[string]store.LinkFilter{
				"search for two letters": {Search: "zq"}, "search that finds all": {Search: "example"},
				"search that finds a fifth": {Search: "summer sale"}, "search that finds few": {Search: "page-12345"},
				"search that finds none": {Search: "no such thing"}, "search for one letter by title": {Search: "a", SortBy: "title"},
				"first page": {},
				"last page":  {Offset: n - 100}, "middle page": {Offset: n / 2},
				"middle page by title": {Offset: n / 2, SortBy: "title"},
			} {
				f.Limit, f.Now = 10, cityTime
				runs = append(runs, best(b, name, func() error { _, _, _, err := s.Links(b.Context(), f); return err }))
			}
			runs = append(runs, best(b, "stats", func() error { _, err := s.LinkStats(b.Context(), 0, cityTime); return err }),
				best(b, "UTM suggestions", func() error { _, err := s.UTMValues(b.Context(), 0, "utmCampaign", "c", 20); return err }))
			report(b, runs)
		})
	})
}

// benchmarkPairs measures one of part pairs of filters.
func benchmarkPairs(b *testing.B, s *store.Store, ann uint64, part int) {
	for name, workspace := range map[string]uint64{"workspace": ann, "everybody": 0} {
		b.Run(name, func(b *testing.B) {
			var runs []timed
			i := 0
			cityPairs(workspace, func(name string, f store.LinkFilter) {
				if i++; i%part == 0 {
					runs = append(runs, best(b, name, func() error { _, _, _, err := s.Links(b.Context(), f); return err }))
				}
			})
			report(b, runs)
		})
	}
}

// cpuTime returns the processor time of this process, which does not contain that of PostgreSQL.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	testkit.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// eachCity runs f on a metropolis of n links in each dialect, or on the one of cityEnv.
func eachCity(b *testing.B, n int, f func(b *testing.B, s *store.Store, ann uint64)) {
	if url := os.Getenv(cityEnv); url != "" {
		s, err := store.Open(b.Context(), store.Config{URL: url})
		testkit.Must(b, err)
		defer s.Close()
		f(b, s, 1)
		return
	}
	b.Run("sqlite", func(b *testing.B) { s := storetest.Open(b); f(b, s, metropolis(b, s, n)) })
	b.Run("postgres", func(b *testing.B) { s := owned(b); f(b, s, metropolis(b, s, n)) })
}

// owned opens a store as the owner of the tables, whom ANALYZE requires.
func owned(b testing.TB) *store.Store {
	b.Helper()
	s, err := store.Open(context.Background(), store.Config{URL: storetest.PostgresURL(b), MaxConns: 8})
	testkit.Must(b, err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}

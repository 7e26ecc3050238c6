package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// chronicle adds n rows to an empty audit log, of actions and users with many sizes, of which some depend on the age of a row.
func chronicle(b testing.TB, s *store.Store, n int) {
	b.Helper()
	ctx := context.Background()
	const chunk = 20_000
	for from := 1; from <= n; from += chunk {
		err := s.Tx(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `WITH RECURSIVE numbers (i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ?)
				INSERT INTO audit_logs (seq, id, user_id, action, entity_type, entity_id, new_value, metadata, created_at, hash, workspace_num)
				SELECT i, 'audit-' || i, CASE WHEN i % 10 < 6 THEN 'ann' WHEN i % 10 < 9 THEN 'user-' || (i % 997) END,
					CASE WHEN i < CAST(? AS BIGINT) THEN 'OLD' WHEN i % 10 < 7 THEN 'URL_CREATED' WHEN i % 10 < 9 THEN 'URL_UPDATED'
					WHEN i % 1000 = 9 THEN 'RARE' ELSE 'LOGIN' END,
					CASE WHEN i % 10 < 9 THEN 'url' ELSE 'user' END, 'entity-' || (i % 100003), '{"title":"a title of usual length","slug":"slug"}', '{}',
					i * 1000, 'hash', CASE WHEN i % 10 < 9 THEN 1 + i % 2 END
				FROM numbers`, from, min(from+chunk, n+1), n/3)
			return err
		})
		testkit.Must(b, err)
	}
	if s.Shared() {
		testkit.Must(b, s.Tx(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, `ANALYZE audit_logs`); return err }))
	}
}

// auditFilters are filters of the rows of chronicle.
func auditFilters(n int) map[string]func(*store.AuditFilter) {
	return map[string]func(*store.AuditFilter){
		"":               func(*store.AuditFilter) {},
		"action most":    func(f *store.AuditFilter) { f.Action = "URL_CREATED" },
		"action old":     func(f *store.AuditFilter) { f.Action = "OLD" },
		"action rare":    func(f *store.AuditFilter) { f.Action = "RARE" },
		"type url":       func(f *store.AuditFilter) { f.EntityType = "url" },
		"type user":      func(f *store.AuditFilter) { f.EntityType = "user" },
		"entity":         func(f *store.AuditFilter) { f.EntityID = "entity-17" },
		"user most":      func(f *store.AuditFilter) { f.UserID = "ann" },
		"user few":       func(f *store.AuditFilter) { f.UserID = "user-17" },
		"period old":     func(f *store.AuditFilter) { f.To = int64(n) / 3 * 1000 },
		"period recent":  func(f *store.AuditFilter) { f.From = int64(n) * 9 / 10 * 1000 },
		"workspace":      func(f *store.AuditFilter) { f.Workspace = 1 },
		"workspace none": func(f *store.AuditFilter) { f.Workspace = 77 },
	}
}

// BenchmarkAudit measures the first page of the audit log with any two filters, in every order, and the
// last page of the whole log.
func BenchmarkAudit(b *testing.B) {
	n := cityLinks()
	eachCity(b, n, func(b *testing.B, s *store.Store, _ uint64) {
		if seq, _, _, err := s.AuditHead(b.Context()); err != nil || seq == 0 {
			chronicle(b, s, n)
		}
		filters := auditFilters(n)
		names := slices.Sorted(maps.Keys(filters))
		b.Run("pairs", func(b *testing.B) {
			var runs []timed
			pair := 0
			for i, one := range names {
				for _, two := range names[i+1:] {
					for _, sort := range slices.Sorted(maps.Keys(store.AuditSorts)) {
						for _, up := range []bool{false, true} {
							if pair++; pair%cityPart() != 0 {
								continue
							}
							f := store.AuditFilter{SortBy: sort, Ascending: up, Limit: 20}
							filters[one](&f)
							filters[two](&f)
							runs = append(runs, best(b, fmt.Sprintf("%s + %s by %s %v", one, two, sort, up), func() error {
								_, _, _, err := s.AuditLogs(b.Context(), f)
								return err
							}))
						}
					}
				}
			}
			report(b, runs)
		})
		b.Run("deep", func(b *testing.B) {
			var runs []timed
			for sort := range store.AuditSorts {
				f := store.AuditFilter{SortBy: sort, Offset: n - 100, Limit: 20}
				runs = append(runs, best(b, "last page by "+sort, func() error { _, _, _, err := s.AuditLogs(b.Context(), f); return err }))
			}
			report(b, runs)
		})
	})
}

// timed is the best of three runs.
type timed struct {
	name      string
	took, cpu time.Duration
}

// best measures f three times.
func best(b *testing.B, name string, f func() error) timed {
	b.Helper()
	t := timed{name, time.Hour, time.Hour}
	for range 3 {
		at, cpu := time.Now(), cpuTime(b)
		testkit.Must(b, f())
		t.took, t.cpu = min(t.took, time.Since(at)), min(t.cpu, cpuTime(b)-cpu)
	}
	return t
}

// report reports percentiles of runs and logs the slowest ones.
func report(b *testing.B, runs []timed) {
	b.ReportMetric(float64(len(runs)), "lists")
	for unit, of := range map[string]func(timed) time.Duration{"ms": func(t timed) time.Duration { return t.took },
		"cpu-ms": func(t timed) time.Duration { return t.cpu }} {
		slices.SortFunc(runs, func(a, b timed) int { return int(of(b) - of(a)) })
		var slowest string
		for _, r := range runs[:min(len(runs), 12)] {
			slowest += fmt.Sprintf("\n%8.1f %s  %s", float64(of(r).Microseconds())/1000, unit, r.name)
		}
		b.Log(slowest)
		for name, part := range map[string]int{"max": 0, "p99": 1, "p95": 5, "p50": 50} {
			b.ReportMetric(float64(of(runs[len(runs)*part/100]).Microseconds())/1000, name+"-"+unit)
		}
	}
}

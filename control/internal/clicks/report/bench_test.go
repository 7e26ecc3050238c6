package report_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// BenchmarkReports measures whole reports on a million clicks, or on as many as SHORTLINE_CLICKS says, and on conversions of three
// percent of them. All are in the period. The budgets of reports by goal apply to 10000000 clicks.
func BenchmarkReports(b *testing.B) {
	n := 1_000_000
	if v, err := strconv.Atoi(os.Getenv("SHORTLINE_CLICKS")); err == nil {
		n = v
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clicks, err := duckdb.Open(b.Context(), duckdb.Config{Path: filepath.Join(b.TempDir(), "clicks")})
	testkit.Must(b, err)
	defer clicks.Close()
	rows := analyticstest.Clicks(1, n, start, 30)
	slices.SortFunc(rows, func(a, b analytics.Row) int { return cmp.Compare(a.Time, b.Time) })
	for i := range rows {
		rows[i].Seq = uint64(i + 1)
	}
	for part := range slices.Chunk(rows, 20_000) {
		testkit.Must(b,
			clicks.Insert(b.Context(),
				analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}}))
	}
	testkit.Must(b, clicks.InsertConversions(b.Context(), purchases(rows)))
	// Usually the program builds the rollup of a day soon after the day has ended.
	testkit.Must(b, clicks.Rebuild(b.Context(), start.AddDate(1, 0, 0)))
	rows = nil
	st := storetest.Open(b)
	user := store.User{ID: store.NewID(), Email: "root@example.com", Role: "ADMIN", Active: true}
	link := store.Link{ID: store.NewID(), UserID: user.ID, Slug: "one", OriginalURL: "https://example.com", Active: true}
	testkit.Must(b, st.Tx(b.Context(), func(tx *store.Tx) error {
		if _, err := tx.InsertUser(b.Context(), user); err != nil {
			return err
		}
		return tx.InsertLinks(b.Context(), []*store.Link{&link})
	}))
	s := report.New(st, clicks, func() time.Time { return start.AddDate(0, 0, 30) })
	root := auth.Principal{UserID: user.ID, Role: auth.Admin}
	ask := report.Ask{Range: report.Range{Zone: "America/New_York"}}
	goal := ask
	goal.Goal = "purchase"
	for name, f := range map[string]func() error{
		"overview":      func() error { _, err := s.Overview(b.Context(), root, ask); return err },
		"one_link":      func() error { _, _, err := s.Link(b.Context(), root, link.ID, ask); return err },
		"overview_goal": func() error { _, err := s.Overview(b.Context(), root, goal); return err },
		"one_link_goal": func() error { _, _, err := s.Link(b.Context(), root, link.ID, goal); return err },
		"recent":        func() error { _, err := s.Recent(b.Context(), root, link.ID, report.Ask{}); return err },
		"bots":          func() error { _, err := s.AllBots(b.Context(), root, ask); return err },
		"routing":       func() error { _, err := s.Routing(b.Context(), root, link.ID, ask); return err },
	} {
		b.Run(name, func(b *testing.B) {
			before := cpu()
			for b.Loop() {
				testkit.Must(b, f())
			}
			b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// purchases returns a conversion for three of a hundred clicks.
func purchases(rows []analytics.Row) []analytics.Conversion {
	var list []analytics.Conversion
	for i := 0; i < len(rows); i += 33 {
		r := rows[i]
		c := conversion.Conversion{Click: conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Identity.Lane, r.Seq)},
			Name: "purchase", Value: 499_000, Currency: []string{"EUR", "USD"}[i%5/4], ReceivedAt: r.Time}
		list = append(list, analytics.Conversion{Conversion: c, Row: r, Attributed: true})
	}
	return list
}

// cpu returns the CPU time of this process. Other load on the machine affects it less than elapsed time.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

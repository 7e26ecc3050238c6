package clickhouse_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// readsClicks are the queries that no rollup can answer, each with the reason.
var readsClicks = map[string]string{
	"link.json, Latest clicks":    "shows single clicks, which rollups do not keep",
	"overview.json, Edge regions": "rollups do not have the edge's region",
}

// panelRows runs a query and returns its rows as text, sorted.
func panelRows(t *testing.T, conn driver.Conn, where, text string) (list []string) {
	t.Helper()
	ctx := driver.Context(context.Background(), driver.WithSettings(driver.Settings{"do_not_merge_across_partitions_select_final": 1}))
	rows, err := conn.Query(ctx, text)
	if err != nil {
		t.Errorf("%s: %v: %s", where, err, text)
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		into := make([]any, len(rows.ColumnTypes()))
		for i, c := range rows.ColumnTypes() {
			into[i] = reflect.New(c.ScanType()).Interface()
		}
		if err := rows.Scan(into...); err != nil {
			t.Errorf("%s: %v", where, err)
			return nil
		}
		line := ""
		for _, v := range into {
			line += fmt.Sprint(reflect.ValueOf(v).Elem().Interface()) + " | "
		}
		list = append(list, line)
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	slices.Sort(list)
	return list
}

// asking is a query with the range and the variables of a dashboard.
type asking struct {
	asked
	from, to      time.Time
	who, interval string
}

// askings returns the queries that read rollups. Every other query that reads clicks must be listed in readsClicks.
func askings(t *testing.T, from, to time.Time) (list []asking) {
	t.Helper()
	reads, found := map[string]bool{}, 0
	for _, q := range questions(t) {
		if q.source != "grafana-clickhouse-datasource" || !strings.Contains(q.text, "clicks FINAL") {
			continue
		}
		if !strings.Contains(q.text, "FROM rollup_visits") && !strings.Contains(q.text, "FROM rollup_counts") {
			reads[q.where] = true
			if readsClicks[q.where] == "" {
				t.Errorf("%s reads clicks one by one, and no reason is given: %s", q.where, q.text)
			}
			continue
		}
		ranges := []asking{{q, from, to.Add(-time.Millisecond), "NOT bot", "1000"},
			{q, from.Add(7 * time.Minute), to.Add(-31 * time.Minute), "1",
				"86400"}, {q, from, from.Add(9 * time.Minute), "1", "30"}}
		for i := range testkit.Size(1, len(ranges)) { // one of them in make test
			list = append(list, ranges[(found+i)%len(ranges)])
		}
		found++
	}
	for where, reason := range readsClicks {
		if !reads[where] {
			t.Errorf("%s is excused (%s) and does not read clicks", where, reason)
		}
	}
	if found < 40 {
		t.Errorf("%d questions read rollups, which can't be all", found)
	}
	return list
}

// Every query of clicks that a rollup can answer uses the rollup and returns the same as the clicks: with some rollups built, some
// out of date and some missing, with all built, and over ranges that begin and end within a quarter hour. At the end, the clicks are
// deleted: answers over whole days stay the same, so they do not read the clicks.
func TestOps8_Dashboards_read_rollups(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 5, 30, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 0, 4)
	rows := analyticstest.Clicks(3, 3000, from, 4)
	for i := range rows {
		rows[i].EdgeRegion = "eu"
	}
	list := askings(t, from, to)
	connected := func() (*clickhouse.Store, driver.Conn) {
		url := pool.Database(t)
		options, err := driver.ParseDSN(url)
		testkit.Must(t, err)
		conn, err := driver.Open(options)
		testkit.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return open(t, clickhouse.Config{URL: url}), conn
	}
	run := func(conn driver.Conn, a asking) []string {
		return panelRows(t, conn, a.where,
			expand(t, a.asked, a.from, a.to, map[string]string{"($who)": "(" + a.who + ")", "${link:raw}": "1",
				"$__interval_s": a.interval}))
	}
	clicks, direct := connected() // nothing is built there: every slot is read from the clicks
	insert(t, clicks, rows...)
	want := make([][]string, len(list))
	for i, a := range list {
		want[i] = run(direct, a)
	}
	s, conn := connected()
	compare := func(when string, asked func(asking) bool) {
		t.Helper()
		for i, a := range list {
			if !asked(a) {
				continue
			}
			if got := run(conn, a); !slices.Equal(got, want[i]) {
				t.Errorf("%s, %s, from %v to %v, who %s:\n%s\nwant\n%s", a.where, when, a.from, a.to, a.who, strings.Join(got, "\n"),
					strings.Join(want[i], "\n"))
			}
		}
	}
	insert(t, s, rows[:2500]...)
	testkit.Must(t, s.Rebuild(t.Context(), from.AddDate(0, 0, 2)))
	insert(t, s, rows[2500:]...) // on all days: most slots are out of date
	insert(t, s, rows[:100]...)  // repetitions
	compare("half built", func(asking) bool { return true })
	testkit.Must(t, s.Rebuild(t.Context(), distant))
	whole := func(a asking) bool { return a.from.Equal(from) && a.interval != "30" }
	compare("all built", func(a asking) bool { return !whole(a) })
	testkit.Must(t, conn.Exec(t.Context(), "TRUNCATE TABLE clicks"))
	compare("without clicks", whole)
}

package clickhouse_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// answers has the results of report queries about a period in a zone. In make test, it has every second, of which first is the first.
func answers(t *testing.T, s *clickhouse.Store, scope analytics.Scope, zone *time.Location, first int) (list []any) {
	t.Helper()
	every := testkit.Size(2, 1)
	for i, q := range []analytics.Query{
		{Visitors: true}, {Every: analytics.Days, Zone: zone, Visitors: true}, {ByLink: true, TopFirst: true, Limit: 5},
		{ByLink: true, By: analytics.Variant, Visitors: true},
		{Every: analytics.Days, Zone: zone, By: analytics.Rule}, {By: analytics.Rule, Last: true}, {By: analytics.BotName, TopFirst: true},
		{By: analytics.Country, Visitors: true, Last: true},
	} {
		if (i+first)%every != 0 {
			continue
		}
		q.Scope = scope
		lines, err := s.Lines(t.Context(), q)
		testkit.Must(t, err)
		list = append(list, lines)
	}
	found, err := s.Breakdown(t.Context(), scope, []analytics.Dimension{analytics.Country, analytics.City, analytics.Referer,
		analytics.UTMCampaign}, 11)
	testkit.Must(t, err)
	return append(list, found)
}

// After the quarter hours are built, reports do not need the clicks, in zones with any offset. Late clicks are counted
// in addition, before and after the next rebuild.
func TestStore_reports_read_no_click_that_a_rollup_serves(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	s := open(t, clickhouse.Config{URL: url})
	estimating := open(t, clickhouse.Config{URL: url, ExactVisitors: 100})
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for part := 0; part < 3; part++ {
		testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: analyticstest.Clicks(uint64(20+part), 800, start, 20)}))
	}
	type question struct {
		scope analytics.Scope
		zone  *time.Location
	}
	var questions []question
	for _, name := range testkit.Size([]string{"Asia/Kathmandu"}, []string{"Asia/Kathmandu", "America/New_York"}) {
		zone, err := time.LoadLocation(name)
		testkit.Must(t, err)
		first := analytics.DayOn(2026, 3, 4)
		scope := analytics.Scope{From: first.Start(zone), To: (first + 12).Start(zone)}
		one, own, bots := scope, scope, scope
		one.Links, own.Owner, bots.Bots = []uint64{2}, 3, analytics.OnlyBots
		questions = append(questions, question{scope, zone}, question{one, zone}, question{own, zone}, question{bots, zone},
			question{analytics.Scope{}, zone})
	}
	ask := func() (list []any) {
		for i, q := range questions {
			list = append(list, answers(t, s, q.scope, q.zone, i))
			if i%testkit.Size(4, 1) == 0 { // of a period, and of all time, in make test
				list = append(list, answers(t, estimating, q.scope, q.zone, i+1))
			}
		}
		return list
	}
	rebuild := func() {
		t.Helper()
		testkit.Must(t, s.Rebuild(t.Context(), distant))
	}
	raw := ask()
	rebuild()
	drift, err := s.Drift(t.Context(), start, start.AddDate(0, 0, 21))
	if err != nil || drift.Clicks != 2400 || drift.Short != 2400 || len(drift.Hours) != 0 || drift.Intervals < 1000 {
		t.Errorf("Drift = %+v, %v", drift, err)
	}

	// The clicks are deleted.
	for _, st := range []string{"CREATE TABLE away AS clicks", "INSERT INTO away SELECT * FROM clicks", "TRUNCATE TABLE clicks"} {
		if _, err := server.Ask(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(ask(), raw) {
		t.Error("without clicks the answers differ: the rollups are wrong or not sufficient")
	}
	if _, err := server.Ask(t.Context(), "INSERT INTO clicks SELECT * FROM away"); err != nil {
		t.Fatal(err)
	}

	// One late click, and one in a slot that had no clicks.
	late := analyticstest.Clicks(30, 2, start.AddDate(0, 0, 5), 1)
	late[1].Bot, late[1].BotName = true, "Latebot"
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: late}))
	dirty := ask()
	if reflect.DeepEqual(dirty, raw) {
		t.Error("late clicks are not counted")
	}
	rebuild()
	if !reflect.DeepEqual(ask(), dirty) {
		t.Error("after the rebuild late clicks are counted differently")
	}

	// A rollup with a wrong row is detected and not used.
	const wrongRow = "INSERT INTO rollup_visits SELECT * REPLACE ('XX' AS country) FROM rollup_visits WHERE link = 3 ORDER BY slot LIMIT 1"
	if _, err := server.Ask(t.Context(), wrongRow); err != nil {
		t.Fatal(err)
	}
	if drift, err = s.Drift(t.Context(), start, start.AddDate(0, 0, 21)); err != nil || len(drift.Hours) != 1 ||
		drift.Short != drift.Clicks+1 {
		t.Errorf("Drift of a rollup with a wrong row = %+v, %v", drift, err)
	}
	ofAll := func() []any { return answers(t, s, analytics.Scope{}, nil, 1) } // by country, among others
	wrong := ofAll()
	rebuild()
	if !reflect.DeepEqual(ofAll(), wrong) || strings.Contains(fmt.Sprint(wrong), "XX") {
		t.Error("a wrong row is still counted")
	}
}

// Several processes rebuild the same slots at the same time.
func TestStore_rebuilds_at_once_are_harmless(t *testing.T) {
	t.Parallel()
	url := pool.Database(t)
	a, b := open(t, clickhouse.Config{URL: url}), open(t, clickhouse.Config{URL: url})
	rows := analyticstest.Clicks(40, 3000, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), 3)
	var wg sync.WaitGroup
	for i, s := range []*clickhouse.Store{a, b} {
		wg.Go(func() {
			for n := range 5 {
				part := rows[(2*n+i)*300 : (2*n+i+1)*300]
				if err := s.Insert(context.Background(), analytics.Batch{Rows: part}); err != nil {
					t.Error(err)
				}
				if err := s.Rebuild(context.Background(), distant); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range []*clickhouse.Store{a, b} {
		testkit.Equal(t, count(t, s), 3000, "clicks")
		if d, err := s.Drift(t.Context(), time.UnixMilli(0), distant); err != nil || len(d.Hours) > 0 {
			t.Errorf("Drift = %+v, %v", d, err)
		}
	}
}

// Run builds slots that have ended and are quiet, and leaves others alone.
func TestStore_run(t *testing.T) {
	t.Parallel()
	s := open(t, clickhouse.Config{URL: pool.Database(t), Every: 20 * time.Millisecond})
	registry := prometheus.NewPedanticRegistry()
	testkit.Must(t, registry.Register(s))
	old, now := row(time.Now().AddDate(0, 0, -3)), row(time.Now())
	old.Time, now.Time, now.Seq = time.Now().AddDate(0, 0, -3).UnixMilli(), time.Now().UnixMilli(), 2
	insert(t, s, old, now)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Jobs("main").Run(ctx) }()
	testkit.Eventually(t, "a slot is built", func() bool {
		st := s.Stats()
		return st.Rebuilt > 0 && st.Waiting == 0 || len(ended) > 0
	})
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v after its context's end", err)
	}
	if st := s.Stats(); st.Rebuilt != 1 || st.Failed != 0 {
		t.Errorf("Stats = %+v, want one slot", st)
	}
	families, err := registry.Gather()
	testkit.Must(t, err)
	got := map[string]float64{}
	for _, f := range families {
		name, ok := strings.CutPrefix(f.GetName(), "shortline_rollup_")
		if !ok {
			continue
		}
		m := f.GetMetric()[0]
		got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	if len(got) != 3 || got["rebuilt_slots_total"] != 1 || got["waiting_slots"] != 0 || got["errors_total"] != 0 {
		t.Errorf("metrics = %v", got)
	}
	testkit.Equal(t, count(t, s), 2, "clicks")
}

// Replaced builds are deleted when they are found for the second time, and nothing else is.
func TestStore_sweep(t *testing.T) {
	t.Parallel()
	server, url := database(t)
	s := open(t, clickhouse.Config{URL: url})
	rows := analyticstest.Clicks(50, 40, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), 1)
	for i := range rows {
		rows[i].Time = rows[0].Time
	}
	var rests []uint64
	for step, want := range []string{"1", "2", "2", "1"} { // the first build of the slot, and of its day, are replaced and deleted
		if step < 2 {
			insert(t, s, rows[20*step:20*step+20]...)
			testkit.Must(t, s.Rebuild(t.Context(), distant))
		} else {
			var err error
			if rests, err = clickhouse.Sweep(s, t.Context(), rests); err != nil {
				t.Fatal(err)
			}
			if len(rests) != 2 && step == 2 || len(rests) != 0 && step == 3 {
				t.Errorf("step %d: rests %v", step, rests)
			}
		}
		for _, table := range []string{"rollup_visits", "rollup_owner_visits", "rollup_sample", "rollup_owner_sample", "rollup_values",
			"rollup_day_values", "rollup_counts", "rollup_owner_counts"} {
			if got, err := server.Ask(t.Context(), "SELECT uniqExact(build) FROM "+table); err != nil || got != want {
				t.Errorf("step %d: %s builds in %s, want %s (%v)", step, got, table, want, err)
			}
		}
		if n, all := count(t, s), int64(min(20*step+20, 40)); n != all {
			t.Errorf("step %d: %d clicks, want %d", step, n, all)
		}
	}
}

// Slots that were written to while a backlog is built do not wait for its end.
func TestSettle_new_slots_do_not_wait_for_a_backlog(t *testing.T) {
	t.Parallel()
	server, url := database(t)
	s := open(t, clickhouse.Config{URL: url})
	settle, left := s.Settler(), 0
	look := func() {
		t.Helper()
		var err error
		if left, err = settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	insert(t, s, analyticstest.Clicks(20, 6000, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 3)...)
	look() // a slot is built when it had no write between two looks
	look()
	backlog := left
	fresh := row(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC))
	fresh.Edge = 99
	insert(t, s, fresh)
	look()
	look()
	newest, err := server.Ask(t.Context(), "SELECT max(slot) FROM rollup_builds")
	if want := fmt.Sprint(fresh.Time / (15 * 60 * 1000)); err != nil || newest != want || left == 0 || left >= backlog {
		t.Errorf("newest slot with a build: %s, want %s; of %d slots, %d are left (%v)", newest, want, backlog, left, err)
	}
	for left > 0 {
		before := left
		if look(); left >= before {
			t.Fatalf("%d of %d slots are left after a look", left, before)
		}
	}
	if d, err := s.Drift(t.Context(), time.UnixMilli(0), distant); err != nil || len(d.Hours) > 0 {
		t.Errorf("Drift = %+v, %v", d, err)
	}
	if st := s.Stats(); st.Waiting != 0 {
		t.Errorf("Stats = %+v, want no slots that wait", st)
	}
}

// The statements are reviewed and kept in files. The engine of the tests parses those for replicated tables, which it cannot run.
func TestF37_schema(t *testing.T) {
	t.Parallel()
	server, _ := scratch(t)
	for name, replicated := range map[string]bool{"single": false, "replicated": true} {
		list, err := clickhouse.Schema(replicated)
		testkit.Must(t, err)
		golden(t, "testdata/schema_"+name+".sql", strings.Join(list, ";\n\n")+";\n")
		for _, statement := range list {
			ask(t, server, "EXPLAIN AST "+statement)
			if !replicated || !strings.Contains(statement, "CREATE ") {
				continue
			}
			// Something that one server has and another one lacks would be missed when the other one answers.
			if !strings.Contains(statement, " ON CLUSTER '{cluster}' ") {
				t.Errorf("only one server runs %s", statement)
			}
			if strings.Contains(statement, "CREATE TABLE ") {
				// A replicated table stores a block again that it has already. Without that, repeated inserts could be lost.
				for _, want := range []string{"ENGINE = Replicated",
					"MergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'",
					"SETTINGS index_granularity = 8192, replicated_deduplication_window = 0, replicated_deduplication_window_for_async_inserts = 0"} {
					if !strings.Contains(statement, want) {
						t.Errorf("%q is missing in %s", want, statement)
					}
				}
			}
		}
	}
}

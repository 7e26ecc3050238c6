package sharded_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var errKilled = errors.New("killed")

// killed is a shard whose inserts fail from the one with a number on, before or after they are stored. 0: none.
type killed struct {
	*clickhouse.Store
	at    int64
	after bool
	calls atomic.Int64
	rows  atomic.Int64 // that reached the shard
}

func (k *killed) Insert(ctx context.Context, b analytics.Batch) error {
	dead := k.at > 0 && k.calls.Add(1) >= k.at
	if dead && !k.after {
		return errKilled
	}
	k.rows.Add(int64(len(b.Rows)))
	err := k.Store.Insert(ctx, b)
	if dead {
		return errKilled
	}
	return err
}

func ok(t *testing.T, err error) {
	t.Helper()
	testkit.Must(t, err)
}

func count(t *testing.T, s analytics.Store, scope analytics.Scope) int64 {
	t.Helper()
	scope.Bots = analytics.Everyone
	lines, err := s.Lines(ctx(), analytics.Query{Scope: scope})
	ok(t, err)
	return lines[0].Clicks
}

// batches are those of ingest: rows of both shards, and the mark of their lane.
func batches(rows []analytics.Row, size int) (list []analytics.Batch) {
	for part := range slices.Chunk(rows, size) {
		last := part[len(part)-1]
		list = append(list, analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: last.Lane, Seq: last.Seq}}})
	}
	return list
}

// TestInsert_kill_points fails an insert at every call to either shard, before and after it is stored. No mark may then cover
// a click that is not stored, and after the batch was delivered again, every click counts once.
func TestInsert_kill_points(t *testing.T) {
	rows := analyticstest.Clicks(21, 300, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 2)
	for _, dying := range []int{0, 1} {
		for _, at := range []int64{3, 4} { // the rows and the marks of the second batch
			for _, after := range []bool{false, true} {
				whole, parts := open(t, databases(t), fixed{})
				k := &killed{Store: parts[dying], at: at, after: after}
				broken := sharded.New([]string{"a", "b"}, fixed{})
				for i, name := range []string{"a", "b"} {
					if i == dying {
						broken.Use(name, k)
					} else {
						broken.Use(name, parts[i])
					}
				}
				failed := false
				for _, b := range batches(rows, 150) {
					if err := broken.Insert(ctx(), b); err != nil {
						failed = errors.Is(err, errKilled)
						break
					}
				}
				if !failed {
					t.Fatalf("shard %d, call %d: nothing failed", dying, at)
				}
				marks, err := whole.Marks(ctx())
				ok(t, err)
				covered := uint64(0)
				for _, m := range marks {
					covered = m.Seq
				}
				if n := stored(t, whole, covered); n != covered {
					t.Errorf("shard %d, call %d, after %v: the mark covers %d clicks, %d are stored", dying, at, after, covered, n)
				}
				for _, b := range batches(rows, 150) {
					ok(t, whole.Insert(ctx(), b))
				}
				if n := count(t, whole, analytics.Scope{}); n != 300 {
					t.Errorf("shard %d, call %d, after %v: %d clicks after the repetition, want 300", dying, at, after, n)
				}
				ok(t, whole.Close())
			}
		}
	}
}

// stored counts the clicks with numbers up to seq.
func stored(t *testing.T, s analytics.Store, seq uint64) (n uint64) {
	t.Helper()
	ok(t, s.Clicks(ctx(), analytics.Scope{Bots: analytics.Everyone}, math.MaxInt, func(r *analytics.Row) error {
		if r.Seq <= seq {
			n++
		}
		return nil
	}))
	return n
}

// A shard that is not open fails the questions about its workspaces with 503, and those about everything. It holds inserts
// back without storing rows in the other shard again and again.
func TestStore_with_a_shard_that_is_not_open(t *testing.T) {
	whole, parts := open(t, databases(t), fixed{})
	rows := analyticstest.Clicks(22, 200, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 2)
	for _, b := range batches(rows, 200) {
		ok(t, whole.Insert(ctx(), b))
	}
	a := &killed{Store: parts[0]}
	s := sharded.New([]string{"a", "b"}, fixed{})
	s.Use("a", a)
	odd := count(t, s, analytics.Scope{Owner: 1}) + count(t, s, analytics.Scope{Owner: 3})
	if odd == 0 {
		t.Error("the workspaces of the open shard have no clicks")
	}
	unavailable := func(what string, err error) {
		t.Helper()
		var p *problem.Error
		if !errors.As(err, &p) || p.Kind != problem.Unavailable {
			t.Errorf("%s: %v, want Unavailable", what, err)
		}
	}
	_, err := s.Lines(ctx(), analytics.Query{Scope: analytics.Scope{Owner: 2}})
	unavailable("a workspace of the other shard", err)
	_, err = s.Lines(ctx(), analytics.Query{})
	unavailable("all workspaces", err)
	more := analyticstest.Clicks(23, 200, time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC), 2)
	for range 3 {
		unavailable("an insert", s.Insert(ctx(), batches(more, 200)[0]))
	}
	if n := a.rows.Load(); n != 0 {
		t.Errorf("%d rows were stored in the open shard", n)
	}
	select {
	case <-s.Opened():
		t.Error("Opened before all shards are open")
	default:
	}
	s.Use("b", parts[1])
	<-s.Opened()
	ok(t, s.Insert(ctx(), batches(more, 200)[0]))
	if n := count(t, s, analytics.Scope{}); n != 400 {
		t.Errorf("%d clicks, want 400", n)
	}
	_, err = sharded.New([]string{"a"}, fixed{}).Lines(ctx(), analytics.Query{Scope: analytics.Scope{Owner: 2}})
	unavailable("a shard that the settings lack", err)
	if err == nil || !strings.Contains(err.Error(), "CLICKHOUSE_URLS lacks it") {
		t.Error(err)
	}
}

// A shard that was emptied gets its clicks back when they are delivered again, although the other shard has marks.
func TestStore_refills_an_emptied_shard(t *testing.T) {
	s, parts := open(t, databases(t), fixed{})
	rows := analyticstest.Clicks(24, 400, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 2)
	for _, b := range batches(rows, 100) {
		ok(t, s.Insert(ctx(), b))
	}
	ok(t, parts[1].Clear(ctx()))
	marks, err := s.Marks(ctx())
	ok(t, err)
	if len(marks) != 0 {
		t.Errorf("marks %v cover clicks that the emptied shard lacks", marks)
	}
	for _, b := range batches(rows, 100) {
		ok(t, s.Insert(ctx(), b))
	}
	if n := count(t, s, analytics.Scope{}); n != 400 {
		t.Errorf("%d clicks, want 400", n)
	}
}

// Gaps are found across whole segments, at their borders, and only where no shard has the click.
func TestGaps_over_many_segments(t *testing.T) {
	s, _ := open(t, databases(t), fixed{})
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lane := click.Lane{Edge: 1 << 63, Epoch: 1, Lane: 2}
	missing := []click.Range{{From: 7, To: 9}, {From: analytics.LaneSegmentSize, To: analytics.LaneSegmentSize},
		{From: 3*analytics.LaneSegmentSize - 2, To: 3*analytics.LaneSegmentSize + 1}}
	var rows []analytics.Row
	for seq := uint64(1); seq < 4*analytics.LaneSegmentSize; seq++ {
		if !slices.ContainsFunc(missing, func(r click.Range) bool { return r.From <= seq && seq <= r.To }) {
			rows = append(rows, analytics.Row{Identity: analytics.Identity{Lane: lane, Seq: seq}, Time: start + int64(seq), Link: 1 + seq%7,
				Owner: 1 + seq%3})
		}
	}
	ok(t, s.Insert(ctx(), analytics.Batch{Rows: rows}))
	got, err := s.Gaps(ctx(), time.UnixMilli(start), 10)
	ok(t, err)
	var want []analytics.Gap
	for _, r := range missing {
		r.Epoch, r.Lane = lane.Epoch, lane.Lane
		want = append(want, analytics.Gap{Edge: lane.Edge, Range: r, Before: start + int64(r.From) - 1, After: start + int64(r.To) + 1})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got, err = s.Gaps(ctx(), time.UnixMilli(start), 2); err != nil || !slices.Equal(got, want[:2]) {
		t.Errorf("at most 2: %v, %v", got, err)
	}
}

// Visitors of both shards count once, also if they are joined in many parts.
func TestLines_joins_visitors_in_parts(t *testing.T) {
	sharded.JoinVisitors(20)
	defer sharded.JoinVisitors(1_000_000)
	s, parts := open(t, databases(t), fixed{})
	rows := analyticstest.Clicks(25, 2000, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 3)
	ok(t, s.Insert(ctx(), analytics.Batch{Rows: rows}))
	distinct := map[int64]bool{}
	for i := range rows {
		if !rows[i].Bot {
			distinct[analytics.Visitor(rows[i].IP)] = true
		}
	}
	for _, when := range []string{"from clicks", "from rollups"} {
		lines, err := s.Lines(ctx(), analytics.Query{Visitors: true})
		ok(t, err)
		if lines[0].Visitors != int64(len(distinct)) {
			t.Errorf("%s: %d visitors, want %d", when, lines[0].Visitors, len(distinct))
		}
		for _, part := range parts {
			ok(t, part.Rebuild(ctx(), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
		}
	}
}

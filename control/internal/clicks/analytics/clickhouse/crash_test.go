package clickhouse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	batchesPerKill = 14
	maxBatch       = 1000 // rows
)

// killsEnv sets the number of kills, which is 10 in make proof.
const killsEnv = "SHORTLINE_KILLS"

// TestStore_kill_loses_nothing_and_repeats_nothing kills the server during inserts, a quarter of which cross the end of
// a month, and during rebuilds of rollups. The writer repeats each insert until it is acknowledged.
func TestStore_kill_loses_nothing_and_repeats_nothing(t *testing.T) {
	t.Parallel()
	kills := testkit.Size(2, 10)
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	ctx := context.Background()
	server := clickhousetest.Start(t, t.TempDir())
	s := open(t, clickhouse.Config{URL: server.URL("default")})

	// One lane: the click at index i has the sequence number i+1. The second half of each 4000 clicks is a month later.
	rows := analyticstest.Clicks(42, maxBatch*batchesPerKill*kills, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 30)
	for i := range rows {
		if i/2000%2 == 1 {
			rows[i].Time += (31 * 24 * time.Hour).Milliseconds()
		}
	}
	// The writer inserts a batch for each order, so that it writes no more on a slow machine than on a fast one.
	orders, acks, retries := make(chan struct{}, batchesPerKill), make(chan int64, batchesPerKill), make(chan int, 1)
	go func() { retries <- write(ctx, s, rows, orders, acks) }()
	order := func(batches int) {
		for range batches {
			orders <- struct{}{}
		}
	}
	var acked int64 // rows
	wait := func(batches int) {
		for range batches {
			acked = <-acks
		}
	}

	var rebuilt, failed atomic.Int64
	over, rebuilder := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(rebuilder)
		pace := time.NewTicker(20 * time.Millisecond)
		defer pace.Stop()
		for {
			if s.Rebuild(ctx, distant) == nil {
				rebuilt.Add(1)
			} else {
				failed.Add(1)
			}
			select {
			case <-over:
				return
			case <-pace.C:
			}
		}
	}()

	r := rand.New(rand.NewPCG(1, 1))
	for kill := range kills {
		first := 1 + r.IntN(6)
		order(batchesPerKill)
		wait(first)
		// A batch takes some milliseconds. The moment of the kill within it is random.
		killAfter(time.Duration(r.IntN(30_000))*time.Microsecond, server.Kill)
		server.Restart(t)
		wait(batchesPerKill - first)
		marks, err := s.Marks(ctx)
		testkit.Must(t, err)
		if n := count(t, s); n != acked || len(marks) != 1 || int64(marks[0].Seq) != n {
			t.Fatalf("kill %d: %d clicks, %d acknowledged, marks %v", kill+1, n, acked, marks)
		}
	}
	close(orders)
	retried := <-retries
	testkit.Eventually(t, "a rebuild succeeds", func() bool { return rebuilt.Load() > 0 })
	close(over)
	<-rebuilder
	for _, when := range []string{"as it is", "rebuilt"} {
		drift, err := s.Drift(ctx, time.UnixMilli(0), distant)
		if err != nil || len(drift.Hours) > 0 || drift.Short != drift.Clicks {
			t.Errorf("Drift %s = %+v, %v", when, drift, err)
		}
		testkit.Must(t, s.Rebuild(ctx, distant))
		if when == "rebuilt" && drift.Clicks != acked {
			t.Errorf("rollups of %d clicks, %d acknowledged", drift.Clicks, acked)
		}
	}
	if rebuilt.Load() == 0 || failed.Load() == 0 {
		t.Errorf("%d rebuilds, %d cut off: nothing was tried", rebuilt.Load(), failed.Load())
	}

	seen := map[analytics.Identity]bool{}
	testkit.Must(t, s.Clicks(ctx, analytics.Scope{Bots: analytics.Everyone}, len(rows)+1, func(row *analytics.Row) error {
		if seen[row.Identity] {
			return fmt.Errorf("%v is there twice", row.Identity)
		}
		seen[row.Identity] = true
		return nil
	}))
	if n := int64(len(seen)); n != acked || n != count(t, s) {
		t.Errorf("%d clicks, %d counted, %d acknowledged", n, count(t, s), acked)
	}
	raw, err := server.Ask(ctx, "SELECT count() FROM clicks")
	t.Logf("%d kills, %d inserts made again, %d rebuilds, %d cut off, %d clicks in %s rows %v", kills, retried, rebuilt.Load(),
		failed.Load(), acked, raw, err)
}

// killAfter calls kill after some time.
func killAfter(d time.Duration, kill func()) {
	<-time.After(d)
	kill()
}

// write inserts the next batch of rows whenever orders sends a value, until orders is closed. It repeats each batch until it is stored,
// and then sends to acks how many rows are stored in all. It returns how often it repeated a batch.
func write(ctx context.Context, s *clickhouse.Store, rows []analytics.Row, orders <-chan struct{}, acks chan<- int64) (retries int) {
	r := rand.New(rand.NewPCG(2, 2))
	pace := time.NewTicker(5 * time.Millisecond) // of attempts while the server is away
	defer pace.Stop()
	at := 0
	for range orders {
		to := at + 1 + r.IntN(maxBatch)
		batch := analytics.Batch{Rows: rows[at:to], Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: uint64(to)}}}
		for s.Insert(ctx, batch) != nil {
			retries++
			<-pace.C
		}
		at = to
		acks <- int64(at)
	}
	return retries
}

func count(t *testing.T, s *clickhouse.Store) int64 {
	t.Helper()
	lines, err := s.Lines(context.Background(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
	testkit.Must(t, err)
	return lines[0].Clicks
}

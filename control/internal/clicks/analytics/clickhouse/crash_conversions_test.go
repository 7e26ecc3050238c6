package clickhouse_test

import (
	"context"
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

// TestConversions_kill_loses_nothing_and_repeats_nothing kills the server while conversions are inserted. Some batches cross the
// end of a month, which the server does not store atomically. The writer repeats each batch until it is acknowledged. After each
// kill, conversions of acknowledged batches are there. At the end, the store has exactly the ledger.
func TestConversions_kill_loses_nothing_and_repeats_nothing(t *testing.T) {
	t.Parallel()
	kills := testkit.Size(2, 10)
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	ctx := context.Background()
	server := clickhousetest.Start(t, t.TempDir())
	s := open(t, clickhouse.Config{URL: server.URL("default")})
	ledger := analyticstest.NewLedger(78, testkit.Size(6000, 20_000))
	for part := range analyticstest.Parted(ledger.Clicks) {
		testkit.Must(t, s.Insert(ctx, analytics.Batch{Rows: part}))
	}

	// The writer begins with the first batch again when it has inserted all, and stops at the end of a round.
	var acked, retries, rounds atomic.Int64
	acks, stop, stopped := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		pace := time.NewTicker(5 * time.Millisecond) // of attempts while the server is away
		defer pace.Stop()
		for {
			for i, b := range ledger.Batches {
				for s.InsertConversions(ctx, b) != nil {
					retries.Add(1)
					<-pace.C
				}
				acked.Store(max(acked.Load(), int64(i+1)))
				select {
				case acks <- struct{}{}:
				default:
				}
			}
			rounds.Add(1)
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	r := rand.New(rand.NewPCG(4, 4))
	for kill := range kills {
		for range 1 + r.IntN(12) {
			<-acks
		}
		before := 0
		killAfter(time.Duration(r.IntN(20_000))*time.Microsecond, func() {
			before = int(acked.Load())
			server.Kill()
		})
		server.Restart(t)
		var keys []analytics.ConversionKey
		for _, b := range ledger.Batches[:before] {
			for i := range b {
				keys = append(keys, b[i].Key())
			}
		}
		stored, err := s.StoredConversions(ctx, keys)
		testkit.Must(t, err)
		for _, k := range keys {
			if !stored[k] {
				t.Fatalf("kill %d: %+v is lost, of %d acknowledged batches", kill+1, k, before)
			}
		}
	}
	close(stop)
	<-stopped
	if retries.Load() == 0 {
		t.Error("no insert was cut off: nothing was tried")
	}
	if err := ledger.Check(ctx, s, len(ledger.Batches)); err != nil {
		t.Error(err)
	}
	raw, err := server.Ask(ctx, "SELECT count() FROM conversions")
	t.Logf("%d kills, %d inserts made again, %d rounds of %d batches, %v in %s rows %v", kills, retries.Load(), rounds.Load(),
		len(ledger.Batches), ledger, raw, err)
}

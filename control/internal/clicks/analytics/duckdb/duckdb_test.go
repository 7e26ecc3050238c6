package duckdb_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// open opens a store, which the end of the test closes.
func open(t testing.TB, path string) *duckdb.Store {
	t.Helper()
	s, err := duckdb.Open(context.Background(), duckdb.Config{Path: path})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	analyticstest.Run(t, 0, func(t *testing.T) analytics.Store { return open(t, filepath.Join(t.TempDir(), "clicks.duckdb")) })
}

func TestStore_estimates_many_visitors(t *testing.T) {
	t.Parallel()
	for part, built := range []bool{false, true} {
		t.Run(fmt.Sprintf("built=%t", built), func(t *testing.T) {
			analyticstest.RunEstimates(t, part, testkit.Size(6, 2), func(t *testing.T) analytics.Store {
				s, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"),
					ExactVisitors: analyticstest.FewVisitors})
				testkit.Must(t, err)
				if built {
					return rebuilding{s}
				}
				return s
			})
		})
	}
}

// rebuilding is a store whose rollup is built after each batch and after an erasure.
type rebuilding struct{ *duckdb.Store }

func (r rebuilding) Insert(ctx context.Context, b analytics.Batch) error {
	return errors.Join(r.Store.Insert(ctx, b), r.Rebuild(ctx, distant))
}

func (r rebuilding) Erase(ctx context.Context, ip netip.Addr) (int64, error) {
	n, err := r.Store.Erase(ctx, ip)
	return n, errors.Join(err, r.Rebuild(ctx, distant))
}

// The log is moved into the file even if queries run continuously. Otherwise opening after a kill would take longer and
// longer.
func TestStore_log_stays_short_beside_readers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks")
	s := open(t, path)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				if _, err := s.Lines(t.Context(), analytics.Query{ByLink: true, Visitors: true}); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	longest, written := int64(0), int64(0)
	rows := analyticstest.Clicks(1, 20_000, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 30)
	for i := range rows {
		rows[i].UserAgent = strings.Repeat(rows[i].ID(), 42)
	}
	for part := range slices.Chunk(rows, 350) {
		if err := s.Insert(t.Context(),
			analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}}); err != nil {
			t.Error(err)
			break
		}
		if wal, err := os.Stat(path + ".wal"); err == nil {
			longest = max(longest, wal.Size())
		}
	}
	close(done)
	wg.Wait()
	if file, err := os.Stat(path); err == nil {
		written = file.Size()
	}
	t.Logf("longest log %.1f MB, file %.1f MB", float64(longest)/1e6, float64(written)/1e6)
	if longest > 32<<20 || longest == 0 || written == 0 {
		t.Errorf("log of %d bytes, file of %d", longest, written)
	}
}

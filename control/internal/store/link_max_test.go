package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Two processes that create links at the same time never create one too many, and they create all that fit.
func TestMaxLinks_holds_for_two_processes(t *testing.T) {
	t.Parallel()
	const most = 23
	url := storetest.PostgresURL(t)
	var stores []*store.Store
	for range 2 {
		s, err := store.Open(t.Context(), store.Config{URL: url, MaxLinks: most})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		stores = append(stores, s)
	}
	ann := addUser(t, stores[0], "ann@example.com", "USER")
	var made, refused atomic.Int64
	var work sync.WaitGroup
	for i := range 40 {
		work.Go(func() {
			var full *store.LinksFull
			err := stores[i%2].Tx(t.Context(), func(tx *store.Tx) error {
				l := newURL(ann, fmt.Sprintf("slug-%d", i))
				if err := tx.InsertLinks(t.Context(), []*store.Link{l}); err != nil {
					return err
				}
				return tx.Touch(t.Context(), l.Num, l.Key())
			})
			switch {
			case err == nil:
				made.Add(1)
			case errors.As(err, &full) && full.Max == most:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	work.Wait()
	if made.Load() != most || refused.Load() != 40-most {
		t.Errorf("%d created, %d refused", made.Load(), refused.Load())
	}
	stats, err := stores[0].LinkStats(t.Context(), 0, time.Now().UnixMilli())
	if err != nil || stats.Total != most {
		t.Errorf("%d links are stored: %v", stats.Total, err)
	}
}

// Far from the limit, links are counted once a minute and not at each creation.
func TestMaxLinks_counts_rarely(t *testing.T) {
	t.Parallel()
	var r store.Room
	now := time.Now()
	counts := func(created int, later time.Duration) bool {
		now = now.Add(later)
		return r.Add(created, 50_000_000, now)
	}
	if !counts(1, 0) {
		t.Error("the first creation does not count")
	}
	r.Set(1_000_000, now)
	for range 100 {
		if counts(1000, time.Millisecond) {
			t.Fatal("counts far from the limit")
		}
	}
	if !counts(1, 2*time.Minute) {
		t.Error("does not count after a while")
	}
	r.Set(48_999_990, now)
	if counts(5, 0) || !counts(10, 0) {
		t.Error("does not count close to the limit")
	}
}

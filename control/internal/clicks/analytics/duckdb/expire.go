package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Expire implements analytics.Store. It deletes whole days of UTC, so some clicks are kept for up to a day longer. A day that
// lost some of its clicks would have to be built again, and the visitors of all later days as well. Freed space in the file is reused, but
// the file does not shrink.
//
// Each day is deleted in a transaction of its own, the oldest first. For each deleted row, the engine needs about ten bytes of memory
// until the end of the transaction. If the memory does not suffice, the engine can fail to roll back. It then refuses every statement
// until the file is opened again.
func (s *Store) Expire(ctx context.Context, before time.Time) error {
	end := max(before.UnixMilli(), 0) / dayMillis
	var ends []int64
	var day int64
	err := s.each(ctx, analytics.Statement{Text: fmt.Sprintf("SELECT DISTINCT ts // %d AS day FROM clicks WHERE ts < %d ORDER BY day",
		dayMillis, end*dayMillis)}, func() error {
		ends = append(ends, day+1)
		return nil
	}, &day)
	if err != nil {
		return fmt.Errorf("look for expired clicks: %w", err)
	}
	ends = slices.Compact(append(ends, end)) // days without clicks may have rollups or conversions
	for _, end := range ends {
		if err := s.expire(ctx, end); err != nil {
			return fmt.Errorf("delete expired clicks: %w", err)
		}
	}
	return nil
}

// expire deletes the clicks of the days before a given one, and their figures.
func (s *Store) expire(ctx context.Context, end int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	r := &s.rollup
	r.mu.Lock()
	days := map[int64]bool{}
	for day := range r.dirty {
		if day < end {
			days[day] = true
		}
	}
	r.visits.outdate(0)
	r.mu.Unlock()
	r.touch(days) // the builder may be building one of them
	until := fmt.Sprintf("< %d", end)
	err := transact(ctx, s.write, slices.Concat(deleteRollup(until, fmt.Sprintf("< %d", end*daySlots)),
		deleteVisits(until, fmt.Sprintf("< %d", end*daySlots)),
		[]string{fmt.Sprintf("DELETE FROM clicks WHERE ts < %d", end*dayMillis), fmt.Sprintf("DELETE FROM conversions WHERE ts < %d",
			end*dayMillis)}))
	if err == nil {
		s.shorten(ctx)
	}
	return err
}

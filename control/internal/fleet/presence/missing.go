package presence

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// KeepMissing is how many days counts of missing slugs are kept.
const KeepMissing = 90

// pruneEvery bounds how far the table of missing slugs can grow beyond its limit: by one batch per edge.
const pruneEvery = time.Minute

// Day returns the number of a time's UTC day since 1970-01-01.
func Day(at time.Time) int64 { return at.Unix() / (24 * 60 * 60) }

// countMissing adds a batch to the counts of the day, and returns its number. It returns 0 if it could not; the edge then
// sends the batch again. A failure must not fail the report, on which more depends.
func (t *Tracker) countMissing(ctx context.Context, edge, run string, batch *snapshot.Missing, now time.Time) uint64 {
	if batch == nil || run == "" {
		return 0
	}
	list := make([]store.Missing, len(batch.Slugs))
	for i, s := range batch.Slugs {
		list[i] = store.Missing{
			Domain: s.Domain, Slug: s.Slug, Count: s.Count, FirstAt: before(now, batch.At, s.First), LastAt: before(now, batch.At, s.Last),
		}
	}
	slices.SortFunc(list, func(a, b store.Missing) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Slug, b.Slug))
	})
	err := t.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.CountMissing(ctx, edge, run, batch.Seq, Day(now), now.UnixMilli(), list)
	})
	if err != nil {
		if ctx.Err() == nil {
			t.cfg.Logger.Warn("missing slugs not counted", "edge", edge, "error", err.Error())
		}
		return 0
	}
	return batch.Seq
}

// before returns the time of a request by this process's clock, in Unix milliseconds. at and then are by the edge's clock, which may
// be wrong, or 0 from an older edge.
func before(now time.Time, at, then int64) int64 {
	if then <= 0 || then > at || at-then > KeepMissing*24*time.Hour.Milliseconds() {
		return now.UnixMilli()
	}
	return now.UnixMilli() - (at - then)
}

// pruneMissing bounds the table of missing slugs. It also prunes yesterday's slugs, because the last batches of a day can
// come after the last pruning.
func (t *Tracker) pruneMissing(ctx context.Context) error {
	today := Day(t.cfg.Now())
	return t.store.Tx(ctx, func(tx *store.Tx) error { return tx.PruneMissing(ctx, today-KeepMissing, today-1) })
}

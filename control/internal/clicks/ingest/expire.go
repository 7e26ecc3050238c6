package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

// expiryMargin is how long clicks stay in the click store after they were counted as expired. A process that has just
// read the older counts still finds these clicks.
const expiryMargin = 24 * time.Hour

// expire deletes clicks that are older than the retention. Counters keep their values: expiring clicks are first
// counted into the database, in one transaction with the moment up to which they are counted. From then on, only later
// clicks are counted in the click store. It therefore does not matter when the click store deletes them, or whether a
// process ends in between. A click that arrives after its time has expired is not counted.
func (in *Ingester) expire(ctx context.Context, now time.Time) error {
	if in.cfg.Retention <= 0 {
		return nil
	}
	day := analytics.DayOf(now.AddDate(0, 0, -in.cfg.Retention).UnixMilli(), nil)
	through := day.Start(nil)
	from, err := in.store.ExpiredThrough(ctx)
	if err != nil {
		return fmt.Errorf("expire clicks: %w", err)
	}
	if through > from {
		period := analytics.Scope{From: from, To: through}
		t, err := in.countClicks(ctx, period, &period, &period)
		if err != nil {
			return fmt.Errorf("count expired clicks: %w", err)
		}
		err = in.store.Tx(ctx, func(tx *store.Tx) error {
			return tx.Expire(ctx, from, store.Expired{Through: through, Links: t.Links, Variants: t.Variants, Rules: t.Rules})
		})
		if errors.Is(err, store.ErrExpiredMeanwhile) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("count expired clicks: %w", err)
		}
		from = through
	}
	if err := in.clicks.Expire(ctx, time.UnixMilli(from).Add(-expiryMargin)); err != nil {
		return fmt.Errorf("delete expired clicks: %w", err)
	}
	return nil
}

// totals returns the counters of expired clicks. They change once a day, and are read again only after a change.
func (in *Ingester) totals(ctx context.Context) (*store.ExpiredTotals, error) {
	through, err := in.store.ExpiredThrough(ctx)
	if err != nil {
		return nil, err
	}
	if known := in.expired.Load(); known != nil && known.Through == through {
		return known, nil
	}
	e, err := in.store.ExpiredTotals(ctx)
	if err != nil {
		return nil, err
	}
	in.expired.Store(&e)
	return &e, nil
}

// plus adds the counters of expired clicks to the entries of a tally. A link without newer clicks keeps its counter.
func plus(t *tally, e *store.ExpiredTotals) {
	add := func(c, more store.Counted) store.Counted {
		c.Count, c.Last = c.Count+more.Count, max(c.Last, more.Last)
		return c
	}
	for i, c := range t.Links {
		t.Links[i] = add(c, e.Links[c.Num])
	}
	for i, c := range t.Variants {
		t.Variants[i] = add(c, e.Variants[c.ID])
	}
	for i, c := range t.Rules {
		t.Rules[i] = add(c, e.Rules[c.ID])
	}
}

package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

// expiryMargin is how long clicks stay in the click store after they were counted as expired: a process that has read the
// counts a moment before still finds them.
const expiryMargin = 24 * time.Hour

// expire deletes clicks that are older than the retention. Counters stay what they are: clicks are counted in the database
// before they may go, in one transaction with the moment up to which that was done, and from then on only later clicks are
// asked of the click store. So it does not matter when the click store deletes, or whether a process ends in between. A click
// that arrives after its time was counted is not counted any more.
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
		t, err := in.count(ctx, analytics.Scope{From: from, To: through}, nil, nil, nil)
		if err != nil {
			return fmt.Errorf("count expired clicks: %w", err)
		}
		err = in.store.Tx(ctx, func(tx *store.Tx) error {
			return tx.Expire(ctx, from, store.Expired{Through: through, Links: t.links, Variants: t.variants, Rules: t.rules})
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

// totals are the counters of expired clicks. They change once a day, so they are read again only when they have.
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

// plus adds counts of expired clicks to a tally. If the tally is not of all links it adds only to what the tally has: a link
// without newer clicks keeps the counter that it has.
func (t *tally) plus(e *store.ExpiredTotals, all bool) {
	t.links = plus(t.links, e.Links, func(c store.Counted) uint64 { return c.Num }, all)
	id := func(c store.Counted) string { return c.ID }
	t.variants, t.rules = plus(t.variants, e.Variants, id, all), plus(t.rules, e.Rules, id, all)
}

func plus[K comparable](list []store.Counted, more map[K]store.Counted, key func(store.Counted) K, all bool) []store.Counted {
	if len(more) == 0 {
		return list
	}
	have := make(map[K]bool, len(list))
	for i := range list {
		c := more[key(list[i])]
		list[i].Count += c.Count
		list[i].Last = max(list[i].Last, c.Last)
		have[key(list[i])] = true
	}
	for k, c := range more {
		if all && !have[k] {
			list = append(list, c)
		}
	}
	return list
}

package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

// Counters may be wrong for two reasons. A process may have ended between storing clicks and counting them: it leaves hours in
// the database (see uncountedHours), whose links are counted again. Anything else, such as a restored backup, is found by comparing all
// counters in turn. The work of both is bounded, however many links there are.

// repairCounters counts the links again that other processes have not counted, and compares some of the counters with the click store.
func (in *Ingester) repairCounters(ctx context.Context) error {
	if err := in.catchUp(ctx, time.Now()); err != nil {
		return err
	}
	from, err := in.store.ComparedTo(ctx)
	if err != nil {
		return fmt.Errorf("compare counters: %w", err)
	}
	next, err := in.compareCounters(ctx, from)
	if err != nil {
		return fmt.Errorf("compare counters: %w", err)
	}
	return in.store.Tx(ctx, func(tx *store.Tx) error { return tx.SetComparedTo(ctx, from, next) })
}

// compareAll compares all counters with the click store.
func (in *Ingester) compareAll(ctx context.Context) error {
	for from := uint64(0); ; {
		next, err := in.compareCounters(ctx, from)
		if err != nil || next == 0 {
			return err
		}
		from = next
	}
}

// compareCounters compares the counters of Config.CompareLinks links with the click store, from a number on, and sets those that
// differ. It returns the number of the next link, or 0 after the last one.
func (in *Ingester) compareCounters(ctx context.Context, from uint64) (next uint64, err error) {
	// A counter that another process sets in between is not compared.
	have, next, err := in.store.CountersFrom(ctx, from, in.cfg.CompareLinks)
	if err != nil {
		return 0, err
	}
	expired, err := in.totals(ctx)
	if err != nil {
		return 0, err
	}
	scope := analytics.Scope{From: expired.Through, LinkFrom: from, LinkTo: next}
	stored, err := in.countClicks(ctx, scope, &scope, &scope)
	if err != nil {
		return 0, err
	}
	link, id := func(c store.Counted) uint64 { return c.Num }, func(c store.Counted) string { return c.ID }
	want := tally{Links: aligned(have.Links, stored.Links, link), Variants: aligned(have.Variants, stored.Variants, id),
		Rules: aligned(have.Rules, stored.Rules, id)}
	plus(&want, expired)
	wrong := tally{Links: differing(want.Links, have.Links), Variants: differing(want.Variants, have.Variants),
		Rules: differing(want.Rules, have.Rules)}
	return next, in.set(ctx, wrong, store.Replace)
}

// aligned returns the stored counters in the order of have: 0 for those that the click store lacks, and without those that the
// database lacks.
func aligned[K comparable](have, stored []store.Counted, key func(store.Counted) K) []store.Counted {
	found := make(map[K]store.Counted, len(stored))
	for _, c := range stored {
		found[key(c)] = c
	}
	list := make([]store.Counted, len(have))
	for i, c := range have {
		f := found[key(c)]
		list[i] = store.Counted{Num: c.Num, ID: c.ID, Count: f.Count, Last: f.Last, Was: c.Count}
	}
	return list
}

// differing returns those of the wanted counters that differ. Both lists have the same order.
func differing(want, have []store.Counted) (list []store.Counted) {
	for i, w := range want {
		if w.Count != have[i].Count || w.Last != have[i].Last {
			list = append(list, w)
		}
	}
	return list
}

// gone is how long a process must not have been seen before its hours are removed.
const gone = 5 * uncountedEvery

// catchUp counts the links again that have clicks in hours that other processes have recorded. At the first call it considers
// all hours, because the process that ran before this one may have ended a moment ago. Later it considers those of processes
// that have ended. A process that lives counts its clicks itself; counting them twice is harmless.
func (in *Ingester) catchUp(ctx context.Context, now time.Time) error {
	list, err := in.store.Uncounted(ctx, in.uncounted.writer)
	if err != nil {
		return fmt.Errorf("look for uncounted clicks: %w", err)
	}
	var ended []store.UncountedHour
	hours := map[int64]bool{}
	for _, h := range list {
		if now.UnixMilli()-h.Seen > gone.Milliseconds() {
			ended = append(ended, h)
		} else if in.uncounted.recovered {
			continue
		}
		hours[h.Hour] = true
	}
	for hour := range hours {
		lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: analytics.Scope{From: hour, To: hour + hourMillis}, ByLink: true})
		if err != nil {
			return fmt.Errorf("look for uncounted clicks: %w", err)
		}
		links := make(map[uint64]touched, len(lines))
		for _, l := range lines {
			links[l.Link] = touched{variants: true, rules: true}
		}
		in.redo(links)
	}
	if err := in.settle(ctx); err != nil {
		return err
	}
	in.uncounted.recovered = true
	if len(ended) == 0 {
		return nil
	}
	return in.store.Tx(ctx, func(tx *store.Tx) error { return tx.RemoveUncounted(ctx, ended) })
}

package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
)

// touched reports which counters of a link may be out of date, in addition to its click counter.
type touched struct{ variants, rules bool }

// touch marks the links of new clicks as dirty. Counters exclude bots, so clicks of bots mark nothing.
func (in *Ingester) touch(rows []analytics.Row) {
	in.mu.Lock()
	for i := range rows {
		if r := &rows[i]; !r.Bot {
			t := in.dirty[r.Link]
			in.dirty[r.Link] = touched{t.variants || !r.Variant.IsZero(), t.rules || !r.Rule.IsZero()}
		}
	}
	some := len(in.dirty) > 0
	in.mu.Unlock()
	if some {
		in.redo(nil)
	}
}

// repairAgain is the delay before counters are set or compared again after a failure.
const repairAgain = 5 * time.Second

// settlePause is the pause after an update of counters, in relation to its duration.
const settlePause = 4

// lastWithin limits the final update of counters, within the time that a process has to stop.
const lastWithin = 3 * time.Second

// Run sets the counters that clicks have changed, at most once per Config.Every. It repairs counters at the start and then once
// per Config.RepairEvery. When ctx ends, it sets the remaining counters and returns.
func (in *Ingester) Run(ctx context.Context) error {
	repair := time.NewTimer(0)
	defer repair.Stop()
	renew := time.NewTicker(uncountedEvery)
	defer renew.Stop()
	for {
		pause := in.cfg.Every
		select {
		case <-in.wake:
			began := time.Now()
			err := in.settle(ctx)
			in.report(ctx, "set counters", err)
			// With very many links, counting is most of the click store's work. It then has more clicks to count at once.
			pause = max(pause, settlePause*time.Since(began))
			if err != nil {
				pause = max(pause, repairAgain)
			}
			backoff.Sleep(ctx, pause)
		case <-repair.C:
			in.report(ctx, "delete expired clicks", in.expire(ctx, time.Now()))
			err := in.repairCounters(ctx)
			in.report(ctx, "compare counters with the click store", err)
			if err != nil {
				repair.Reset(min(repairAgain, in.cfg.RepairEvery))
			} else {
				repair.Reset(in.cfg.RepairEvery)
			}
		case <-renew.C:
			in.report(ctx, "record which clicks are counted", in.releaseHours(ctx, time.Now(), uncountedEvery))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWithin)
			defer cancel()
			err := in.settle(last)
			if err == nil {
				err = in.releaseHours(last, time.Now(), 0)
			}
			in.report(last, "set counters", err)
			return nil
		}
	}
}

func (in *Ingester) report(ctx context.Context, what string, err error) {
	switch {
	case err == nil:
		in.stats.counted.Store(time.Now().UnixMilli())
	case ctx.Err() == nil:
		in.stats.countFailed.Add(1)
		in.cfg.Logger.Error("counters not updated, retrying later", "operation", what, "error", err.Error())
	}
}

// settleLinks is the number of links whose clicks one statement counts.
const settleLinks = 10_000

// settle sets the counters of the dirty links. After an error, the links that remain are dirty again.
func (in *Ingester) settle(ctx context.Context) (err error) {
	in.mu.Lock()
	dirty := in.dirty
	in.dirty = map[uint64]touched{}
	in.mu.Unlock()
	defer func() {
		if err != nil {
			in.redo(dirty)
		}
	}()
	for links := range slices.Chunk(slices.Sorted(maps.Keys(dirty)), settleLinks) {
		var drawn, routed []uint64
		for _, num := range links {
			if dirty[num].variants {
				drawn = append(drawn, num)
			}
			if dirty[num].rules {
				routed = append(routed, num)
			}
		}
		t, err := in.tally(ctx, links, drawn, routed)
		if err != nil {
			return err
		}
		if err := in.set(ctx, t, store.Raise); err != nil {
			return err
		}
		for _, num := range links {
			delete(dirty, num)
		}
	}
	return nil
}

// redo marks links as dirty and wakes Run.
func (in *Ingester) redo(links map[uint64]touched) {
	in.mu.Lock()
	for num, t := range links {
		d := in.dirty[num]
		in.dirty[num] = touched{d.variants || t.variants, d.rules || t.rules}
	}
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// tally has the correct values of counters.
type tally = store.Counters

// tally counts the clicks of links, and those of variants and rules of some of them, including expired clicks.
func (in *Ingester) tally(ctx context.Context, links, drawn, routed []uint64) (t tally, err error) {
	expired, err := in.totals(ctx)
	if err != nil {
		return t, err
	}
	scope := func(links []uint64) *analytics.Scope {
		if len(links) == 0 {
			return nil
		}
		return &analytics.Scope{From: expired.Through, Links: links}
	}
	if t, err = in.countClicks(ctx, *scope(links), scope(drawn), scope(routed)); err != nil {
		return t, err
	}
	plus(&t, expired)
	return t, nil
}

// countClicks returns what the click store has in a scope: the clicks of each link, of each variant and of each rule. The latter two
// have scopes of their own; nil means none.
func (in *Ingester) countClicks(ctx context.Context, links analytics.Scope, drawn, routed *analytics.Scope) (t tally, err error) {
	lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: links, ByLink: true})
	if err != nil {
		return t, err
	}
	for _, l := range lines {
		t.Links = append(t.Links, store.Counted{Num: l.Link, Count: l.Clicks})
	}
	if drawn != nil {
		scope := *drawn
		scope.Drawn = true
		lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: scope, By: analytics.Variant})
		if err != nil {
			return t, err
		}
		for _, l := range lines {
			t.Variants = append(t.Variants, store.Counted{ID: l.Value, Count: l.Clicks})
		}
	}
	if routed != nil {
		scope := *routed
		scope.Routed = true
		lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: scope, By: analytics.Rule, Last: true})
		if err != nil {
			return t, err
		}
		for _, l := range lines {
			t.Rules = append(t.Rules, store.Counted{ID: l.Value, Count: l.Clicks, Last: l.Last})
		}
	}
	return t, nil
}

// set writes counters with a limited number per transaction, so that other writers are not blocked for long.
func (in *Ingester) set(ctx context.Context, t tally, change store.CounterChange) error {
	for _, c := range []struct {
		list []store.Counted
		set  func(*store.Tx, context.Context, []store.Counted, store.CounterChange) error
	}{{t.Links, (*store.Tx).SetClickCounts}, {t.Variants, (*store.Tx).SetVariantCounts}, {t.Rules, (*store.Tx).SetRuleCounts}} {
		for part := range slices.Chunk(c.list, 500) {
			if err := in.store.Tx(ctx, func(tx *store.Tx) error { return c.set(tx, ctx, part, change) }); err != nil {
				return fmt.Errorf("set counters: %w", err)
			}
		}
	}
	return nil
}

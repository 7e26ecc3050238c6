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
		select {
		case in.wake <- struct{}{}:
		default:
		}
	}
}

// healAgain is the delay before counters are set or compared again after a failure.
const healAgain = 5 * time.Second

// lastWithin limits the final update of counters, within the time that a process has to stop.
const lastWithin = 3 * time.Second

// Run sets the counters that clicks have changed, at most once per Config.Every. It compares all counters with the
// click store at the start and then once per Config.HealEvery. When ctx ends, it sets the remaining counters and
// returns.
func (in *Ingester) Run(ctx context.Context) error {
	heal := time.NewTimer(0)
	defer heal.Stop()
	for {
		select {
		case <-in.wake:
		case <-heal.C:
			in.report(ctx, "delete expired clicks", in.expire(ctx, time.Now()))
			err := in.heal(ctx)
			in.report(ctx, "compare counters with the click store", err)
			if err != nil {
				heal.Reset(min(healAgain, in.cfg.HealEvery))
			} else {
				heal.Reset(in.cfg.HealEvery)
			}
			continue
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWithin)
			defer cancel()
			in.report(last, "set counters", in.settle(last))
			return nil
		}
		err := in.settle(ctx)
		in.report(ctx, "set counters", err)
		pause := in.cfg.Every
		if err != nil {
			pause = max(pause, healAgain)
		}
		backoff.Sleep(ctx, pause)
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

// settle sets the counters of the dirty links. After an error, the links are dirty again.
func (in *Ingester) settle(ctx context.Context) (err error) {
	in.mu.Lock()
	dirty := in.dirty
	in.dirty = map[uint64]touched{}
	in.mu.Unlock()
	if len(dirty) == 0 {
		return nil
	}
	defer func() {
		if err == nil {
			return
		}
		in.mu.Lock()
		for num, t := range dirty {
			d := in.dirty[num]
			in.dirty[num] = touched{d.variants || t.variants, d.rules || t.rules}
		}
		in.mu.Unlock()
		select {
		case in.wake <- struct{}{}:
		default:
		}
	}()
	var drawn, routed []uint64
	for num, t := range dirty {
		if t.variants {
			drawn = append(drawn, num)
		}
		if t.rules {
			routed = append(routed, num)
		}
	}
	t, err := in.tally(ctx, slices.Sorted(maps.Keys(dirty)), drawn, routed)
	if err != nil {
		return err
	}
	return in.set(ctx, t)
}

// tally has the correct values of counters.
type tally struct{ links, variants, rules []store.Counted }

// tally counts the clicks of links, variants and rules, including expired clicks. Nil lists mean all links.
func (in *Ingester) tally(ctx context.Context, links, drawn, routed []uint64) (t tally, err error) {
	expired, err := in.totals(ctx)
	if err != nil {
		return t, err
	}
	if t, err = in.count(ctx, analytics.Scope{From: expired.Through}, links, drawn, routed); err != nil {
		return t, err
	}
	t.plus(expired, links == nil)
	return t, nil
}

// count returns what the click store has in a period.
func (in *Ingester) count(ctx context.Context, period analytics.Scope, links, drawn, routed []uint64) (t tally, err error) {
	all := links == nil
	scope := func(links []uint64) analytics.Scope {
		period.Links = links
		return period
	}
	lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: scope(links), ByLink: true})
	if err != nil {
		return t, err
	}
	for _, l := range lines {
		t.links = append(t.links, store.Counted{Num: l.Link, Count: l.Clicks})
	}
	if all || len(drawn) > 0 {
		drawn := scope(drawn)
		drawn.Drawn = true
		lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: drawn, By: analytics.Variant})
		if err != nil {
			return t, err
		}
		for _, l := range lines {
			t.variants = append(t.variants, store.Counted{ID: l.Value, Count: l.Clicks})
		}
	}
	if all || len(routed) > 0 {
		routed := scope(routed)
		routed.Routed = true
		lines, err := in.clicks.Lines(ctx, analytics.Query{Scope: routed, By: analytics.Rule, Last: true})
		if err != nil {
			return t, err
		}
		for _, l := range lines {
			t.rules = append(t.rules, store.Counted{ID: l.Value, Count: l.Clicks, Last: l.Last})
		}
	}
	return t, nil
}

// set writes counters with a limited number per transaction, so that other writers are not blocked for long.
func (in *Ingester) set(ctx context.Context, t tally) error {
	for _, c := range []struct {
		list []store.Counted
		set  func(*store.Tx, context.Context, []store.Counted) error
	}{{t.links, (*store.Tx).SetClickCounts}, {t.variants, (*store.Tx).SetVariantCounts}, {t.rules, (*store.Tx).SetRuleCounts}} {
		for part := range slices.Chunk(c.list, 500) {
			if err := in.store.Tx(ctx, func(tx *store.Tx) error { return c.set(tx, ctx, part) }); err != nil {
				return fmt.Errorf("set counters: %w", err)
			}
		}
	}
	return nil
}

// heal compares every counter with the click store and sets those that differ.
func (in *Ingester) heal(ctx context.Context) error {
	want, err := in.tally(ctx, nil, nil, nil)
	if err != nil {
		return err
	}
	links, variants, rules := map[uint64]store.Counted{}, map[string]store.Counted{}, map[string]store.Counted{}
	err = in.store.Counters(ctx, func(c store.Counted, rule bool) {
		switch {
		case c.Num != 0:
			links[c.Num] = c
		case rule:
			rules[c.ID] = c
		default:
			variants[c.ID] = c
		}
	})
	if err != nil {
		return fmt.Errorf("read counters: %w", err)
	}
	byNum, byID := func(c store.Counted) uint64 { return c.Num }, func(c store.Counted) string { return c.ID }
	return in.set(ctx, tally{differing(want.links, links, byNum), differing(want.variants, variants, byID), differing(want.rules, rules, byID)})
}

// differing returns the counters to set, including those that must become 0. It empties have.
func differing[K comparable](want []store.Counted, have map[K]store.Counted, key func(store.Counted) K) []store.Counted {
	var list []store.Counted
	for _, w := range want {
		if have[key(w)] != w {
			list = append(list, w)
		}
		delete(have, key(w))
	}
	for _, h := range have {
		h.Count, h.Last = 0, 0
		list = append(list, h)
	}
	return list
}

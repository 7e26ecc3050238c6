package quota

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/limit"
)

// Pace and timeouts.
const (
	contactFor         = time.Second            // after the start of an exchange
	busyGap            = 100 * time.Millisecond // between exchanges while clicks come
	calmGap            = 500 * time.Millisecond // for a while after that, so that the edge stays in contact
	restGap            = 5 * time.Second        // otherwise
	calmFor            = 10 * time.Second
	exchangeTimeout    = 2 * time.Second
	lastTimeout        = time.Second // for the exchange at a stop
	retryIfUnsupported = time.Minute // an older control plane may be upgraded
	syncEvery          = 100 * time.Millisecond
	sweepEvery         = 5 * time.Minute
)

// Retry delays are spread, because all edges lose the control plane at once.
var retries = backoff.Policy{First: 100 * time.Millisecond, Most: 2 * time.Second}

// Run shares counts, syncs the file and removes counters of links that have no limit any more, until ctx ends. Then it
// reports what is not reported yet, and returns nil.
func (t *Table) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { t.syncAll(ctx) })
	parts.Go(func() { t.share(ctx) })
	parts.Wait()
	return nil
}

// share makes exchanges and sweeps, which must not run at the same time.
func (t *Table) share(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failures := 0
	var lastActive time.Time
	lastSweep := time.Now()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			t.finish(ctx)
			return
		}
		pause := restGap
		if t.cfg.Exchange != nil {
			active, more, err := t.exchange(ctx)
			if active {
				lastActive = time.Now()
			}
			switch {
			case ctx.Err() != nil:
				t.finish(ctx)
				return
			case err != nil:
				failures++
				pause = t.failure(ctx, err, failures)
			case more:
				pause, failures = 0, 0
			default:
				failures = 0
				pause = t.pace(time.Since(lastActive))
			}
		}
		if time.Since(lastSweep) >= sweepEvery {
			t.sweep()
			lastSweep = time.Now()
		}
		timer.Reset(pause)
		if pause >= calmGap && failures == 0 {
			select {
			case <-t.wakeup:
				timer.Reset(0)
			case <-timer.C:
				timer.Reset(0)
			case <-ctx.Done():
			}
		}
	}
}

// pace returns the pause after an exchange that went well.
func (t *Table) pace(inactive time.Duration) time.Duration {
	switch {
	case inactive < calmGap || t.pending.Load():
		return busyGap
	case inactive < calmFor:
		return calmGap
	}
	t.resting.Store(true)
	return restGap
}

// failure counts and logs a failed exchange and returns the pause after it.
func (t *Table) failure(ctx context.Context, err error, failures int) time.Duration {
	if errors.Is(err, limit.ErrUnsupported) {
		if !t.alone.Swap(true) {
			t.cfg.Logger.Info("limit exchange unsupported", "effect", "this edge counts the clicks of limited links alone")
		}
		t.meet(fleet{edges: 1}) // a restart does not need to ask again
		return retryIfUnsupported
	}
	t.failed.Add(1)
	pause := retries.Spread(failures)
	level := slog.LevelDebug
	if backoff.LogWorthy(failures) {
		level = slog.LevelInfo // not Warn: package agent warns if the control plane is down
	}
	t.cfg.Logger.Log(ctx, level, "limit exchange failed", "error", err, "failures", failures, "pause_seconds", pause.Seconds())
	return pause
}

// finish reports what is not reported yet when the process stops.
func (t *Table) finish(ctx context.Context) {
	if t.cfg.Exchange == nil || t.alone.Load() || !t.pending.Load() && len(t.retry) == 0 {
		return
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
	defer cancel()
	if _, _, err := t.exchange(last); err != nil {
		t.cfg.Logger.Info("limit counts not reported", "error", err)
	}
}

// exchange reports counters and applies the answer. active means that there were counts or totals; more that another
// exchange should follow at once.
func (t *Table) exchange(ctx context.Context) (active, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	began := time.Since(t.start)
	t.resting.Store(false)
	counters, counts := t.collect()
	answer, err := t.cfg.Exchange.ShareCounts(ctx, limit.Report{Edge: t.cfg.Edge, After: t.after, Counts: counts})
	if err == nil && !answer.Valid() {
		err = errors.New("quota: the answer is not valid")
	}
	active = len(counters) > 0 || len(answer.Totals) > 0
	if err != nil {
		t.retry = counters
		return active, false, err
	}
	t.retry = nil
	for i, c := range counters {
		c.queued.Store(false)
		c.setSent(counts[i].Clicks)
		if own, _ := c.own(); own != counts[i].Clicks {
			t.enqueue(c)
		}
	}
	if answer.Next < t.after { // the control plane lost its state
		t.index.Load().all(t.enqueue)
	}
	t.after = answer.Next
	t.applyTotals(answer)
	if !answer.More {
		t.learned = true
		t.meet(fleet{uint32(answer.Edges), uint32(answer.Rank)})
	}
	if t.learned {
		t.alone.Store(false)
		t.contact.Store(int64(began + contactFor))
		t.reached.Store(int64(time.Since(t.start)))
	}
	t.exchanges.Add(1)
	return active, answer.More || len(counters) == limit.MaxCounts, nil
}

// collect returns the counters of the next report and their values: first those of a report that failed, because the
// control plane may know them already.
func (t *Table) collect() ([]*counter, []limit.Count) {
	counters := t.retry
	if len(counters) < limit.MaxCounts {
		t.pending.Store(false)
		for c := t.changed.Swap(nil); c != nil; {
			next := c.next
			if len(counters) < limit.MaxCounts {
				counters = append(counters, c)
			} else {
				c.queued.Store(false)
				t.enqueue(c)
			}
			c = next
		}
	}
	counts := make([]limit.Count, len(counters))
	for i, c := range counters {
		own, _ := c.own()
		counts[i] = limit.Count{Key: limit.Key{Link: c.num, Since: int64(c.since)}, Counter: atomic.LoadUint64(&c.slot.id), Clicks: own}
	}
	return counters, counts
}

// applyTotals stores the clicks of other edges.
func (t *Table) applyTotals(a limit.Answer) {
	for _, total := range a.Totals {
		num, since := total.Link, uint64(total.Since)
		c := t.index.Load().find(num, since)
		if c == nil {
			var err error
			if c, err = t.addLink(num, since); err != nil {
				return // logged; the edge asks again after its next start
			}
		}
		c.setOthers(less(total.Clicks, c.sent()))
	}
	if len(a.Totals) > 0 {
		t.unsaved.Store(true)
	}
}

// meet stores what the edge knows of the fleet.
func (t *Table) meet(f fleet) {
	if *t.fleet.Load() != f {
		t.file.setFleet(f)
		t.fleet.Store(&f)
		t.unsaved.Store(true)
	}
}

// syncAll writes the file to the disk while it changes.
func (t *Table) syncAll(ctx context.Context) {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !t.unsaved.Swap(false) {
			continue
		}
		t.mu.Lock()
		head, chunks := t.file.head, t.file.chunks
		t.mu.Unlock()
		err := flush(head, chunks)
		if err != nil && !failing {
			t.cfg.Logger.Error("limit counters not synced", "error", err)
		}
		failing = err != nil
	}
}

// sweep frees the counters of links that had no limit at this sweep and the one before, if all their clicks are reported. An
// edge may hear of another edge's clicks before it hears of the link.
func (t *Table) sweep() {
	if t.cfg.Limited == nil || t.Stats().Counters == 0 {
		return
	}
	type key struct{ num, since uint64 }
	limited := map[key]bool{}
	if err := t.cfg.Limited(func(link uint64, since int64) { limited[key{link, uint64(since)}] = true }); err != nil {
		t.cfg.Logger.Error("limit counters not swept", "error", err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var kept, gone []*counter
	t.index.Load().all(func(c *counter) {
		own, _ := c.own()
		switch {
		case limited[key{c.num, c.since}]:
			c.idle = false
			kept = append(kept, c)
		case !c.idle || !t.alone.Load() && (own != c.sent() || c.queued.Load()):
			c.idle = true
			kept = append(kept, c)
		default:
			gone = append(gone, c)
		}
	})
	if len(gone) == 0 {
		return
	}
	x := newIndex(len(kept))
	for _, c := range kept {
		x.insertCounter(c)
	}
	t.index.Store(x)
	for _, c := range gone {
		c.slot.drop()
		t.free = append(t.free, c.slot)
	}
	t.unsaved.Store(true)
}

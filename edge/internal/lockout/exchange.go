package lockout

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/lockout"
)

// Pace and timeouts of the calls to the exchange.
const (
	reportGap          = 50 * time.Millisecond // between two reports; attempts in between go into one report
	receiveGap         = 300 * time.Millisecond
	reportTimeout      = 2 * time.Second
	receiveTimeout     = 60 * time.Second
	retryIfUnsupported = time.Minute // an older control plane may be upgraded
)

// Run reports attempts and receives those of other edges until ctx ends, and returns nil. Attempts that are not reported
// by then are lost. Other edges count the client from its first attempt there.
func (t *Table) Run(ctx context.Context) error {
	if t.cfg.Exchange == nil {
		<-ctx.Done()
		return nil
	}
	var parts sync.WaitGroup
	parts.Go(func() { t.repeat(ctx, "report", t.wakeup, reportGap, t.report) })
	parts.Go(func() { t.repeat(ctx, "receive", nil, receiveGap, t.receive) })
	parts.Wait()
	return nil
}

// Retry delays are spread, because all edges lose the control plane at once.
var retries = backoff.Policy{First: 250 * time.Millisecond, Most: 5 * time.Second}

// repeat calls f after each signal (or always, if signal is nil) and pauses after each call. The pause grows with
// consecutive failures.
func (t *Table) repeat(ctx context.Context, operation string, signal <-chan struct{}, gap time.Duration, f func(context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	failures := 0
	for {
		if signal != nil {
			select {
			case <-signal:
			case <-ctx.Done():
				return
			}
		}
		err := f(ctx)
		if ctx.Err() != nil {
			return
		}
		pause := gap
		switch {
		case err == nil:
			failures = 0
		case errors.Is(err, lockout.ErrUnsupported):
			pause = retryIfUnsupported
		default:
			t.failed.Add(1)
			level := slog.LevelDebug
			if failures++; backoff.LogWorthy(failures) {
				level = slog.LevelInfo // not Warn: package agent warns if the control plane is down
			}
			pause = retries.Spread(failures)
			t.cfg.Logger.Log(ctx, level, "lockout exchange failed", "operation", operation, "error", err, "failures", failures,
				"pause_seconds",
				pause.Seconds())
		}
		if err != nil && signal != nil {
			t.wake()
		}
		timer.Reset(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// markDirty schedules a client for the next report. The caller holds the mutex of its shard.
func (t *Table) markDirty(s *shard, c lockout.Client) {
	if t.cfg.Exchange == nil {
		return
	}
	s.dirty[c] = struct{}{}
	t.wake()
}

func (t *Table) wake() {
	select {
	case t.wakeup <- struct{}{}:
	default:
	}
}

// report sends one report. If it cannot hold all clients, it schedules another.
func (t *Table) report(ctx context.Context) error {
	sent, more := t.collect()
	if len(sent) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	states, err := t.cfg.Exchange.ReportAttempts(ctx, lockout.Report{Edge: t.cfg.Edge, Clients: sent})
	if err != nil {
		t.restore(sent)
		return err
	}
	t.reported.Add(uint64(len(sent)))
	t.acknowledge(sent, states)
	if more {
		t.wake()
	}
	return nil
}

// collect moves unreported attempts into the next report. more reports whether clients remain for another one.
func (t *Table) collect() (sent []lockout.Attempts, more bool) {
	now := t.cfg.Now()
	for i := range t.shards {
		s := &t.shards[i]
		s.Lock()
		for c := range s.dirty {
			if len(sent) == lockout.MaxReported {
				more = true
				break
			}
			delete(s.dirty, c)
			e := s.m[c]
			if e == nil || e.unreported == 0 && !e.succeeded {
				continue
			}
			attempts := lockout.Attempts{Client: c, Succeeded: e.succeeded, Count: e.unreported, AgoMs: lockout.Age(e.Last, now)}
			e.inFlight, e.unreported, e.succeeded = &attempts, 0, false
			sent = append(sent, attempts)
		}
		s.Unlock()
	}
	return sent, more
}

// restore puts the attempts of a failed report back, for the next report.
func (t *Table) restore(sent []lockout.Attempts) {
	now := t.cfg.Now()
	for i := range sent {
		c := sent[i].Client
		s := t.shardOf(c)
		s.Lock()
		if e := s.m[c]; e != nil && e.inFlight != nil {
			e.inFlight = nil
			if !e.succeeded { // otherwise the earlier failures are forgotten
				e.unreported += sent[i].Count
				e.succeeded = sent[i].Succeeded
			}
			s.dirty[c] = struct{}{}
			if state := e.deferred; state != nil {
				e.deferred = nil
				e.applyState(state, now)
			}
		}
		s.Unlock()
	}
}

// acknowledge applies the states that answer a report.
func (t *Table) acknowledge(sent []lockout.Attempts, states []lockout.State) {
	now := t.cfg.Now()
	answers := make(map[lockout.Client]*lockout.State, len(states))
	for i := range states {
		if states[i].Valid() {
			answers[states[i].Client] = &states[i]
		}
	}
	for i := range sent {
		c := sent[i].Client
		s := t.shardOf(c)
		s.Lock()
		if e := s.m[c]; e != nil && e.inFlight != nil {
			newest := answers[c]
			if e.deferred != nil && (newest == nil || e.deferred.Version > newest.Version) {
				newest = e.deferred
			}
			e.inFlight, e.deferred = nil, nil
			if newest != nil {
				e.applyState(newest, now)
			}
			s.dropIdle(c, e)
		}
		s.Unlock()
	}
}

// applyState replaces the failures by a received state, plus the failures that no report contained yet.
func (e *entry) applyState(s *lockout.State, now time.Time) {
	e.lastVersion = s.Version
	own := e.unreported
	if !e.succeeded {
		last := now.Add(-time.Duration(s.AgoMs) * time.Millisecond)
		if own > 0 && e.Last.After(last) {
			last = e.Last
		}
		e.Failures = lockout.Failures{Count: s.Count, Last: last}
	} else {
		e.Count = 0
	}
	e.Count = max(0, e.Count+own)
}

// receive makes one call for the states that changed.
func (t *Table) receive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, receiveTimeout)
	defer cancel()
	changes, err := t.cfg.Exchange.StateChanges(ctx, t.after)
	if err != nil {
		return err
	}
	now := t.cfg.Now()
	if changes.Next < t.after { // the control plane lost its state, so earlier versions cannot be compared with new ones
		for i := range t.shards {
			s := &t.shards[i]
			s.Lock()
			for _, e := range s.m {
				e.lastVersion = 0
			}
			s.Unlock()
		}
	}
	t.after = changes.Next
	for i := range changes.States[:min(len(changes.States), lockout.MaxStates)] {
		if s := &changes.States[i]; s.Valid() {
			t.accept(s, now)
		}
	}
	return nil
}

// accept applies one received state unless it is outdated. It defers the state while a report of the client is in flight,
// because the state may or may not contain that report; the answer to the report decides.
func (t *Table) accept(state *lockout.State, now time.Time) {
	s := t.shardOf(state.Client)
	s.Lock()
	defer s.Unlock()
	e := s.m[state.Client]
	switch {
	case e == nil && state.Count == 0, e != nil && state.Version <= e.lastVersion:
		return
	case e == nil:
		e = s.insertClient(state.Client, now)
	case e.inFlight != nil:
		e.deferred = state
		return
	}
	t.received.Add(1)
	e.applyState(state, now)
	s.dropIdle(state.Client, e)
}

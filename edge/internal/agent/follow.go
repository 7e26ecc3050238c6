package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/snapshot"
)

// refusal is the error of a document or delta that arrived and was rejected.
type refusal struct{ err error }

func (r refusal) Error() string { return "refused: " + r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

const (
	// The control plane answers a held request within half a minute, so after this time the connection is dead.
	changesTimeout = 90 * time.Second
	// After this many damaged deltas in a row, a full document is taken instead.
	badDeltasMax = 3
	// With fewer links than this, a document may shrink by any amount.
	shrinkFrom = 100
)

// follow runs step until ctx ends, with a pause after each failure.
func (a *Agent) follow(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		err := a.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			continue
		}
		var r refusal
		if errors.As(err, &r) {
			a.refuse(r.err)
		} else {
			a.stats.sourceErrors.Add(1)
		}
		failures++
		// Spread, so that edges that lost the same control plane do not return to it at once.
		pause := backoff.Policy{First: a.cfg.BackoffMin, Most: a.cfg.BackoffMax}.Spread(failures)
		level := slog.LevelDebug
		if backoff.LogWorthy(failures) {
			level = slog.LevelWarn
		}
		a.cfg.Logger.Log(ctx, level, "link source failed", "error", err, "failures", failures, "pause_seconds", pause.Seconds())
		backoff.Sleep(ctx, pause)
	}
}

// step makes one call to the source.
func (a *Agent) step(ctx context.Context) error {
	if a.mustFull || !a.Ready() {
		return a.full(ctx)
	}
	if bad, until := a.shunned(); bad != (snapshot.Cursor{}) {
		return a.awaitNews(ctx, bad, until)
	}
	if a.wantFull && !time.Now().Before(a.nextFull) {
		// Rate-limited, because deltas must not wait for a document that is not required.
		a.nextFull = time.Now().Add(a.cfg.BackoffMax)
		if err := a.full(ctx); err != nil {
			return err
		}
	}
	return a.changes(ctx)
}

func (a *Agent) changes(ctx context.Context) error {
	asked := time.Now()
	limited, cancel := context.WithTimeout(ctx, changesTimeout)
	defer cancel()
	wire, err := a.cfg.Source.Changes(snapshot.WithAsker(limited, a.cfg.Edge), a.Applied())
	switch {
	case errors.Is(err, snapshot.ErrTooOld):
		a.mustFull = true
		if a.lastFull == a.Applied() {
			return fmt.Errorf("request changes right after a snapshot: %w", err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("request changes: %w", err)
	}
	if wire == nil {
		a.succeed()
		// Do not loop without a pause if the source does not hold requests.
		if held := time.Since(asked); held < a.cfg.BackoffMin {
			backoff.Sleep(ctx, a.cfg.BackoffMin-held)
		}
		return nil
	}
	return a.applyDelta(wire)
}

// applyDelta verifies a delta, applies it to the table and hands it to the writer of the disk. The next step fetches
// a full document if the delta does not apply, or after several damaged ones. A state that has drifted gets one at a limited rate.
func (a *Agent) applyDelta(wire []byte) error {
	d, err := snapshot.DecodeSignedDelta(wire, a.cfg.Keys)
	if err != nil {
		if a.badDeltas++; a.badDeltas >= badDeltasMax {
			a.badDeltas, a.mustFull = 0, true
		}
		return refusal{err}
	}
	a.badDeltas = 0
	err = a.cfg.Table.Apply(&d)
	if errors.Is(err, table.ErrDrift) {
		// An earlier change was missed. This delta is still correct, and may delete a link, so it is applied without its hash.
		a.refuse(err)
		a.cfg.Logger.Error("link state drifted", "error", err)
		a.wantFull = true
		d.After = snapshot.StateHash{}
		wire = snapshot.AppendDelta(nil, &d)
		err = a.cfg.Table.Apply(&d)
	} else if err == nil && !a.wantFull {
		a.refuse(nil)
	}
	if err != nil {
		a.mustFull = true
		return refusal{err}
	}
	a.stats.applied.Add(1)
	a.succeed()
	select {
	case a.unwritten <- wire:
	default:
		a.rewrite.Store(true) // the disk is far behind, so write the whole state later
		wake(a.disturb)
	}
	wake(a.report)
	return nil
}

// full loads a full document if it is valid and plausible.
func (a *Agent) full(ctx context.Context) error {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := fmt.Errorf("no data for %v", a.cfg.Stall)
	watchdog := time.AfterFunc(a.cfg.Stall, func() { cancel(stalled) })
	defer watchdog.Stop()

	body, err := a.cfg.Source.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("request a snapshot: %w", errors.Join(err, context.Cause(ctx)))
	}
	defer func() { _ = body.Close() }() // read only, so the error does not matter
	builder := a.cfg.Table.NewBuilder()
	counted := &watchedReader{r: body, received: func() { watchdog.Reset(a.cfg.Stall) }}
	cur, err := snapshot.DecodeSigned(counted, snapshot.Limits{}, a.cfg.Keys, builder.Add)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return fmt.Errorf("read a snapshot: %w", context.Cause(ctx))
	case err != nil && counted.err != nil:
		return fmt.Errorf("read a snapshot: %w", counted.err)
	case err != nil:
		return refusal{err}
	}
	if err := a.plausible(cur, builder.Len()); err != nil {
		return refusal{err}
	}
	if err := a.cfg.Table.Load(builder, cur); err != nil {
		return refusal{err}
	}
	a.mustFull, a.wantFull, a.badDeltas, a.lastFull = false, false, 0, cur
	a.ready.Store(true)
	a.stats.loaded.Add(1)
	a.succeed()
	a.refuse(nil)
	a.rewrite.Store(true)
	wake(a.disturb)
	wake(a.report)
	_, aside := a.cfg.Table.SetAside()
	a.cfg.Logger.Info("snapshot loaded", "links", a.cfg.Table.Len(), "set_aside", aside, "revision", cur.Revision,
		"incarnation", cur.Incarnation, "seconds", time.Since(start).Seconds())
	return nil
}

// plausible rejects a valid document that should not exist: with an older revision than the served state, or after a mass
// deletion. A document of another incarnation cannot be compared and is accepted.
func (a *Agent) plausible(cur snapshot.Cursor, links int) error {
	at := a.cfg.Table.State()
	if !a.Ready() || cur.Incarnation != at.Cursor.Incarnation {
		return nil
	}
	if cur.Revision < at.Cursor.Revision {
		return fmt.Errorf("snapshot of revision %d, but %d is served", cur.Revision, at.Cursor.Revision)
	}
	if at.Links >= shrinkFrom && links < at.Links/2 {
		return fmt.Errorf("snapshot of %d links, but %d are served", links, at.Links)
	}
	return nil
}

// refuse records why a document was rejected; nil means that the last one was accepted.
func (a *Agent) refuse(err error) {
	reason := ""
	if err != nil {
		reason = err.Error()
		a.stats.refused.Add(1)
		if errors.Is(err, snapshot.ErrUnsigned) {
			a.stats.unsigned.Add(1)
		}
		wake(a.report)
	}
	a.mu.Lock()
	a.refused = reason
	a.mu.Unlock()
}

// succeed records that the served state is that of the control plane. An answer that was rejected, or a document that is
// still to be loaded, is no success: a clock that such answers advance would hide an edge that takes no changes.
func (a *Agent) succeed() { a.stats.success.Store(time.Now().UnixMilli()) }

// watchedReader calls received when data arrives. It keeps the read error, which the decoder may replace by its own.
type watchedReader struct {
	r        io.Reader
	received func()
	err      error
}

func (w *watchedReader) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if n > 0 {
		w.received()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

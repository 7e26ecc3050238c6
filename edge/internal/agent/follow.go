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

// refusal is a document or delta that arrived and was not believed.
type refusal struct{ err error }

func (r refusal) Error() string { return "refused: " + r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

const (
	// A held request is answered within half a minute; one that isn't by now is on a dead connection.
	changesTimeout = 90 * time.Second
	// So many damaged deltas in a row mean that this one doesn't get better.
	badDeltasMax = 3
	// Below so many links a document may shrink at will.
	shrinkFrom = 100
)

// follow is the agent's loop.
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
		// Spread: edges that lost the same control plane must not return to it at once.
		pause := backoff.Policy{First: a.cfg.BackoffMin, Most: a.cfg.BackoffMax}.Spread(failures)
		level := slog.LevelDebug
		if backoff.LogWorthy(failures) {
			level = slog.LevelWarn
		}
		a.cfg.Logger.Log(ctx, level, "source_failed", "error", err, "failures", failures, "pause_seconds", pause.Seconds())
		backoff.Sleep(ctx, pause)
	}
}

// step asks the source once.
func (a *Agent) step(ctx context.Context) error {
	if a.mustFull || !a.Ready() {
		return a.full(ctx)
	}
	if bad, until := a.shunned(); bad != (snapshot.Cursor{}) {
		return a.awaitNews(ctx, bad, until)
	}
	if a.wantFull && !time.Now().Before(a.nextFull) {
		// At most now and then: changes must not wait for a document that is only wanted.
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
		a.contact()
		a.mustFull = true
		if a.lastFull == a.Applied() {
			return fmt.Errorf("ask for changes right after a snapshot: %w", err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("ask for changes: %w", err)
	}
	a.contact()
	if wire == nil {
		// A source that doesn't hold the question is not asked in a tight loop.
		if held := time.Since(asked); held < a.cfg.BackoffMin {
			backoff.Sleep(ctx, a.cfg.BackoffMin-held)
		}
		return nil
	}
	return a.apply(wire)
}

func (a *Agent) apply(wire []byte) error {
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
		// Something was missed before, but what this delta says is true all the same, and may be that a link is gone.
		a.refuse(err)
		a.cfg.Logger.Error("state_drifted", "error", err)
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
	select {
	case a.unwritten <- wire:
	default:
		a.rewrite.Store(true) // the disk is far behind: one whole state instead
		wake(a.disturb)
	}
	wake(a.report)
	return nil
}

// full takes a whole document, if it is to be believed.
func (a *Agent) full(ctx context.Context) error {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := fmt.Errorf("nothing came for %v", a.cfg.Stall)
	watchdog := time.AfterFunc(a.cfg.Stall, func() { cancel(stalled) })
	defer watchdog.Stop()

	body, err := a.cfg.Source.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("ask for a snapshot: %w", errors.Join(err, context.Cause(ctx)))
	}
	defer func() { _ = body.Close() }() // only read from: nothing depends on it
	builder := a.cfg.Table.NewBuilder()
	fed := &fed{r: body, fed: func() { watchdog.Reset(a.cfg.Stall) }}
	cur, err := snapshot.DecodeSigned(fed, a.cfg.Limits, a.cfg.Keys, builder.Add)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return fmt.Errorf("read a snapshot: %w", context.Cause(ctx))
	case err != nil && fed.err != nil:
		return fmt.Errorf("read a snapshot: %w", fed.err)
	case err != nil:
		return refusal{err}
	}
	a.contact()
	if err := a.plausible(cur, builder.Len()); err != nil {
		return refusal{err}
	}
	if err := a.cfg.Table.Load(builder, cur); err != nil {
		return refusal{err}
	}
	a.mustFull, a.wantFull, a.badDeltas, a.lastFull = false, false, 0, cur
	a.ready.Store(true)
	a.stats.loaded.Add(1)
	a.refuse(nil)
	a.rewrite.Store(true)
	wake(a.disturb)
	wake(a.report)
	_, aside := a.cfg.Table.SetAside()
	a.cfg.Logger.Info("snapshot_loaded", "links", a.cfg.Table.Len(), "set_aside", aside, "revision", cur.Revision,
		"incarnation", cur.Incarnation, "seconds", time.Since(start).Seconds())
	return nil
}

// plausible guards against a verified document that should not have been made: of an older revision than what
// is served, or after a mass deletion. Another incarnation is another history, where neither can be judged.
func (a *Agent) plausible(cur snapshot.Cursor, links int) error {
	at := a.cfg.Table.State()
	if !a.Ready() || a.cfg.AllowLoss || cur.Incarnation != at.Cursor.Incarnation {
		return nil
	}
	if cur.Revision < at.Cursor.Revision {
		return fmt.Errorf("snapshot of revision %d, where %d is served", cur.Revision, at.Cursor.Revision)
	}
	if at.Links >= shrinkFrom && links < at.Links/2 {
		return fmt.Errorf("snapshot of %d links, where %d are served", links, at.Links)
	}
	return nil
}

// refuse notes why a document was not taken; nil, that the last one was.
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

func (a *Agent) contact() { a.stats.contact.Store(time.Now().UnixMilli()) }

// fed tells when bytes come, and keeps a reading error apart from what the decoder makes of it.
type fed struct {
	r   io.Reader
	fed func()
	err error
}

func (f *fed) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if n > 0 {
		f.fed()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

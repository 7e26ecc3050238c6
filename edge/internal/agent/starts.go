package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// deadStarts is the number of failed starts in a row after which the next start rolls back to the last proven state.
const deadStarts = 3

// ledger is a JSON file about earlier starts. It decides which state a start loads. Without it an edge starts from the
// newest state.
type ledger struct {
	Dead   int             `json:"dead"`   // starts that ended without a clean stop and before Config.Proof, this one included
	Proven snapshot.Cursor `json:"proven"` // newest state that was served for Config.Proof
	Shun   snapshot.Cursor `json:"shun"`   // state on which starts failed, if not zero: no change is applied until there is a newer one
	Until  int64           `json:"until"`  // or until this time, in Unix milliseconds
}

const ledgerName = "starts"

func readLedger(dir string) (l ledger) {
	text, err := os.ReadFile(filepath.Join(dir, ledgerName))
	if err != nil || json.Unmarshal(text, &l) != nil {
		return ledger{}
	}
	return l
}

// write does not sync, because a start that ended by a power failure need not count.
func (l ledger) write(dir string) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return durable.WriteUnsynced(filepath.Join(dir, ledgerName), text)
}

// within reports whether a cursor is of the same incarnation as limit and not newer.
func within(cur, limit snapshot.Cursor) bool {
	return cur.Incarnation == limit.Incarnation && cur.Revision <= limit.Revision
}

// load loads the local state into the table: all of it, or after failed starts only the part that was proven before.
func (a *Agent) load() (found, error) {
	a.ledger = readLedger(a.cfg.Dir)
	dead := a.ledger.Dead
	if lock, err := durable.Lock(a.cfg.Dir); err == nil { // if another process has the folder, it counts its own starts
		a.ledger.Dead++
		a.counted = true
		if err = errors.Join(a.ledger.write(a.cfg.Dir), durable.Unlock(lock)); err != nil {
			a.cfg.Logger.Warn("start not counted", "error", err)
		}
	}
	if dead < deadStarts || a.ledger.Proven == (snapshot.Cursor{}) {
		// Skip the image on the last attempt before a rollback, in case the image is the cause. Skipping it later, when there
		// is no proven state, did not help.
		return a.disk.load(a.cfg.Table, dead != deadStarts-1)
	}
	f, bad, err := a.disk.loadProven(a.cfg.Table, a.ledger.Proven)
	if err != nil || !f.state {
		a.cfg.Logger.Error("no proven state", "starts", dead, "error", err)
		return a.disk.load(a.cfg.Table, false)
	}
	if bad == (snapshot.Cursor{}) {
		return f, nil
	}
	a.ledger.Shun, a.ledger.Until = bad, time.Now().Add(a.cfg.Shun).UnixMilli()
	now := a.cfg.Table.Cursor().Revision
	a.refuse(fmt.Errorf("%d starts died with revision %d, so this one rolled back to revision %d", dead, bad.Revision, now))
	a.cfg.Logger.Error("link state rolled back", "starts", dead, "shunned", bad.Revision, "revision", now,
		"advice", "read the panics before this start; a change of the link that caused them ends the rollback")
	return f, nil
}

// neverRan removes a start from the ledger that was closed before it ran.
func (a *Agent) neverRan() {
	a.mu.Lock()
	counted := a.counted
	a.counted = false
	a.mu.Unlock()
	if counted {
		a.note(func(l *ledger) { l.Dead = max(0, l.Dead-1) })
	}
}

// settle marks the served state as proven after Config.Proof, repeatedly until ctx ends. Then it records a clean stop.
func (a *Agent) settle(ctx context.Context) {
	tick := time.NewTicker(a.cfg.Proof)
	defer tick.Stop()
	before := a.Applied()
	a.mu.Lock()
	a.counted = false // from here on, settle records the end of this start
	a.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			a.note(func(l *ledger) { l.Dead = 0 })
			return
		case <-tick.C:
		}
		proven := before
		before = a.Applied()
		a.note(func(l *ledger) {
			l.Dead = 0
			if a.Ready() {
				l.Proven = proven
			}
		})
	}
}

// note changes the ledger, and writes it if it is different.
func (a *Agent) note(change func(*ledger)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.ledger
	if change(&a.ledger); a.ledger == was {
		return
	}
	if err := a.ledger.write(a.cfg.Dir); err != nil {
		a.stats.diskErrors.Add(1)
		a.cfg.Logger.Warn("start not counted", "error", err)
	}
}

// shunned returns the state on which starts failed, zero if there is none, and the time until which it is not applied.
func (a *Agent) shunned() (cur snapshot.Cursor, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger.Shun, time.UnixMilli(a.ledger.Until)
}

// awaitNews waits for a revision newer than the one on which starts failed, or for the end of its ban. The next request
// then asks for all changes since the served state in one delta, so a link that was repaired arrives repaired.
func (a *Agent) awaitNews(ctx context.Context, bad snapshot.Cursor, until time.Time) error {
	asked := time.Now()
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	wire, err := a.cfg.Source.Changes(limited, bad) // without WithAsker: bad is not applied
	switch {
	case err == nil && wire == nil && time.Now().Before(until):
		if held := time.Since(asked); held < a.cfg.BackoffMin {
			backoff.Sleep(ctx, a.cfg.BackoffMin-held)
		}
		return nil
	case err != nil && !errors.Is(err, snapshot.ErrTooOld) && time.Now().Before(until):
		return fmt.Errorf("request newer changes: %w", err)
	}
	a.note(func(l *ledger) { l.Shun, l.Until = snapshot.Cursor{}, 0 })
	a.cfg.Logger.Info("rollback ended", "revision", bad.Revision)
	return nil
}

// The other slot holds the newest state that was proven when the present state replaced it, with its log. A rollback loads
// the proven part from either slot.
const (
	otherState = "links.state.before"
	otherLog   = "links.log.before"
)

// setAside copies the present slot to the other slot. The present slot stays complete.
func (d *disk) setAside() error {
	state := filepath.Join(d.dir, otherState)
	if err := os.Remove(state + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(filepath.Join(d.dir, stateName), state+".new"); err != nil {
		return err
	}
	if err := os.Rename(state+".new", state); err != nil {
		return err
	}
	// A crash here leaves this state with the log of an older one. The state contains those deltas, so they are skipped.
	log := make([]byte, d.size)
	if _, err := d.log.ReadAt(log, 0); err != nil {
		return err
	}
	return durable.WriteUnsynced(filepath.Join(d.dir, otherLog), log)
}

// loadProven loads the state on disk up to a cursor. bad is the end of the state on disk, zero if it is not beyond the
// cursor. No record beyond the cursor is loaded or compiled.
func (d *disk) loadProven(t *table.Table, proven snapshot.Cursor) (f found, bad snapshot.Cursor, err error) {
	base, end, err := extent(filepath.Join(d.dir, stateName), d.log)
	if err != nil {
		return f, bad, err
	}
	if !within(end, proven) {
		bad = end
	}
	if within(base, proven) {
		f, err = d.loadSlot(t, stateName, d.log, &proven, false)
		return f, bad, err
	}
	log, err := os.Open(filepath.Join(d.dir, otherLog))
	if err != nil {
		return f, bad, err
	}
	defer func() { _ = log.Close() }() // read only
	if base, _, err := extent(filepath.Join(d.dir, otherState), log); err != nil || !within(base, proven) {
		return f, bad, errors.Join(errors.New("neither slot has a proven state"), err)
	}
	f, err = d.loadSlot(t, otherState, log, &proven, false)
	d.valid, d.base = false, base // of the present slot, which does not continue the loaded state
	return f, bad, err
}

// extent returns the cursors of a state file and of the end of its log, without loading records.
func extent(state string, log io.ReaderAt) (base, end snapshot.Cursor, err error) {
	file, err := os.Open(state)
	if err != nil {
		return base, end, err
	}
	defer func() { _ = file.Close() }() // read only
	if _, err := readStateHeader(file); err != nil {
		return base, end, err
	}
	if base, err = snapshot.Decode(file, snapshot.Limits{}, func(*link.Record) error { return nil }); err != nil {
		return base, end, err
	}
	end = base
	r := bufio.NewReader(io.NewSectionReader(log, 0, 1<<62))
	for {
		wire, err := readFrame(r)
		if err != nil {
			return base, end, nil
		}
		d, err := snapshot.DecodeDelta(wire)
		if err != nil {
			return base, end, nil
		}
		if d.Incarnation == end.Incarnation && d.To > end.Revision {
			end.Revision = d.To
		}
	}
}

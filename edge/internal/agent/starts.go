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
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// deadStarts is how many starts in a row must die young before the next one goes back to the last proven state.
const deadStarts = 3

// ledger is what is known of earlier starts, in a file of JSON. It steers which state a start takes and is no part of
// any: without it an edge starts from the newest state.
type ledger struct {
	Dead   int             `json:"dead"`   // starts that ended neither in good order nor after Config.Proof, this one included
	Proven snapshot.Cursor `json:"proven"` // what was served for Config.Proof without harm, at the latest
	Shun   snapshot.Cursor `json:"shun"`   // what starts died of, if not zero: nothing is taken until there is something newer
	Until  int64           `json:"until"`  // or until then, in Unix milliseconds
}

const ledgerName = "starts"

func readLedger(dir string) (l ledger) {
	text, err := os.ReadFile(filepath.Join(dir, ledgerName))
	if err != nil || json.Unmarshal(text, &l) != nil {
		return ledger{}
	}
	return l
}

// write is not synced: a power cut is no fault of a state.
func (l ledger) write(dir string) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ledgerName)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// within reports whether a cursor is not beyond another.
func within(cur, limit snapshot.Cursor) bool {
	return cur.Incarnation == limit.Incarnation && cur.Revision <= limit.Revision
}

// load puts local state into the table: all of it, or after starts that died young only as much as was proven before.
func (a *Agent) load() (found, error) {
	a.ledger = readLedger(a.cfg.Dir)
	dead := a.ledger.Dead
	if lock, err := lockDir(a.cfg.Dir); err == nil { // another process that has the folder counts its own starts
		a.ledger.Dead++
		a.counted = true
		if err = errors.Join(a.ledger.write(a.cfg.Dir), unlockDir(lock)); err != nil {
			a.cfg.Logger.Warn("start_not_counted", "error", err)
		}
	}
	if dead < deadStarts || a.ledger.Proven == (snapshot.Cursor{}) {
		// The last start before going back does without the image, in case it is that. Later ones, with nowhere to go back to,
		// were none the better for it.
		return a.disk.load(a.cfg.Table, a.cfg.Limits, dead != deadStarts-1)
	}
	f, bad, err := a.disk.loadProven(a.cfg.Table, a.cfg.Limits, a.ledger.Proven)
	if err != nil || !f.state {
		a.cfg.Logger.Error("no_proven_state", "starts", dead, "error", err)
		return a.disk.load(a.cfg.Table, a.cfg.Limits, false)
	}
	if bad == (snapshot.Cursor{}) {
		return f, nil
	}
	a.ledger.Shun, a.ledger.Until = bad, time.Now().Add(a.cfg.Shun).UnixMilli()
	now := a.cfg.Table.Cursor().Revision
	a.refuse(fmt.Errorf("%d starts died with revision %d, so this one went back to revision %d", dead, bad.Revision, now))
	a.cfg.Logger.Error("state_rolled_back", "starts", dead, "shunned", bad.Revision, "revision", now,
		"advice", "see what the panics before this start say; a change of the link that did it ends this")
	return f, nil
}

// neverRan takes back a start that was closed before it ran.
func (a *Agent) neverRan() {
	a.mu.Lock()
	counted := a.counted
	a.counted = false
	a.mu.Unlock()
	if counted {
		a.note(func(l *ledger) { l.Dead = max(0, l.Dead-1) })
	}
}

// settle marks what is served as proven once it has been for Config.Proof, again and again until ctx ends, and then
// notes that this start ended in good order.
func (a *Agent) settle(ctx context.Context) {
	tick := time.NewTicker(a.cfg.Proof)
	defer tick.Stop()
	before := a.Applied()
	a.mu.Lock()
	a.counted = false // from here on how it ends is said below, or it died
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

// note changes the ledger, and writes it if that made a difference.
func (a *Agent) note(change func(*ledger)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.ledger
	if change(&a.ledger); a.ledger == was {
		return
	}
	if err := a.ledger.write(a.cfg.Dir); err != nil {
		a.stats.diskErrors.Add(1)
		a.cfg.Logger.Warn("start_not_counted", "error", err)
	}
}

// shunned is the state that starts died of, zero if nothing is shunned (any more).
func (a *Agent) shunned() (cur snapshot.Cursor, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger.Shun, time.UnixMilli(a.ledger.Until)
}

// awaitNews waits for something newer than what starts died of, or for the end of its ban. A change beyond it is then
// asked for from the state that is served, in one with all before it: a link that was mended meanwhile comes mended.
func (a *Agent) awaitNews(ctx context.Context, bad snapshot.Cursor, until time.Time) error {
	asked := time.Now()
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	wire, err := a.cfg.Source.Changes(limited, bad) // without WithAsker: bad is not applied
	switch {
	case err == nil && wire == nil && time.Now().Before(until):
		a.contact()
		if held := time.Since(asked); held < a.cfg.BackoffMin {
			backoff.Sleep(ctx, a.cfg.BackoffMin-held)
		}
		return nil
	case err != nil && !errors.Is(err, snapshot.ErrTooOld) && time.Now().Before(until):
		return fmt.Errorf("ask for news: %w", err)
	}
	a.note(func(l *ledger) { l.Shun, l.Until = snapshot.Cursor{}, 0 })
	a.cfg.Logger.Info("shunned_state_over", "revision", bad.Revision)
	return nil
}

// The other slot: the newest state that was proven when the present state took its place, with its log. A start that
// goes back takes from either what is proven.
const (
	otherState = "links.state.before"
	otherLog   = "links.log.before"
)

// setAside makes what is on disk the other slot. The present one stays whole.
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
	// A crash here leaves this state with the log of an older one, whose deltas it has and which are passed over.
	log := make([]byte, d.size)
	if _, err := d.log.ReadAt(log, 0); err != nil {
		return err
	}
	path := filepath.Join(d.dir, otherLog)
	if err := os.WriteFile(path+".new", log, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// loadProven puts into the table what is on disk up to a cursor. bad is how far the disk goes, zero if not beyond it. No
// record beyond the cursor gets into the table or is compiled.
func (d *disk) loadProven(t *table.Table, limits snapshot.Limits, proven snapshot.Cursor) (f found, bad snapshot.Cursor, err error) {
	base, end, err := extent(filepath.Join(d.dir, stateName), d.log, limits)
	if err != nil {
		return f, bad, err
	}
	if !within(end, proven) {
		bad = end
	}
	if within(base, proven) {
		f, err = d.loadSlot(t, limits, stateName, d.log, &proven, false)
		return f, bad, err
	}
	log, err := os.Open(filepath.Join(d.dir, otherLog))
	if err != nil {
		return f, bad, err
	}
	defer func() { _ = log.Close() }() // only read from
	if base, _, err := extent(filepath.Join(d.dir, otherState), log, limits); err != nil || !within(base, proven) {
		return f, bad, errors.Join(errors.New("neither slot has a proven state"), err)
	}
	f, err = d.loadSlot(t, limits, otherState, log, &proven, false)
	d.valid, d.base = false, base // of the present slot, where nothing can be appended to what was loaded
	return f, bad, err
}

// extent reads where a state begins and where its log ends, without making anything of the records.
func extent(state string, log io.ReaderAt, limits snapshot.Limits) (base, end snapshot.Cursor, err error) {
	file, err := os.Open(state)
	if err != nil {
		return base, end, err
	}
	defer func() { _ = file.Close() }() // only read from
	if _, err := readStateHeader(file); err != nil {
		return base, end, err
	}
	if base, err = snapshot.Decode(file, limits, func(*link.Record) error { return nil }); err != nil {
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

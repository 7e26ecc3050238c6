// Package agent keeps an edge's table up to date. It loads the last good state from disk before it connects to anything,
// then follows a snapshot.Source, and writes the changes to disk.
//
// The package owns the state on disk and decides whether to accept a document. The table only moves from one verified
// state to the next. A document that is damaged, of an unknown format, older than the present state or suspiciously small
// is rejected as a whole; Status contains the reason, and the old state stays in use until a good document arrives. A
// change is served before it is written to disk. Whenever the process is killed, the next start finds a complete state,
// at worst an older one. The Source handles the transport; the table handles single links that cannot be used.
//
// After three starts that ended within a minute, the next start rolls back to the last state that was served for a minute
// (from the log, or from the other slot). It then takes no changes until there is a newer revision than the one on which
// the starts ended, or until ten minutes have passed.
//
// Known weaknesses: a start that was killed from outside counts as a failed start. The check for a shrunken document does
// not apply to deltas. While a drift is being repaired, the control plane may have no document newer than the edge's
// state; until it has, the edge follows changes and asks again.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config holds the settings and dependencies of an Agent. Dir, Source and Table are required.
type Config struct {
	// Dir is a folder for this agent alone. It is created if it is missing, with mode 0700 because it holds password
	// hashes.
	Dir     string
	Source  snapshot.Source
	Reports snapshot.Reporter // nil: this edge does not report
	Table   *table.Table

	Logger *slog.Logger // nil: slog.Default

	// Edge and Version go into reports.
	Edge, Version string
	// Fill, if set, adds to a report what the agent does not know, such as the address and the spool.
	Fill func(*snapshot.Status)
	// Missing, if set, counts slugs that do not exist, for reports.
	Missing MissingSlugs
	// Twin, if set, is called with an error that wraps snapshot.ErrTwin when another live edge has this edge's id, and
	// with nil when this is over. It must not block.
	Twin func(why error)
	// Repair, if set, carries out orders to ship clicks again. It must not block.
	Repair func(click.Range) snapshot.Repair

	// Keys are the keys of which one must have signed documents and deltas; zero: no signature is required.
	Keys snapshot.Keys

	BackoffMin  time.Duration // 0: 200 ms
	BackoffMax  time.Duration // 0: 10 s
	ReportEvery time.Duration // 0: 10 s
	Stall       time.Duration // timeout while a document sends no data; 0: 30 s
	Proof       time.Duration // how long a state must be served until it counts as proven; 0: 60 s
	Shun        time.Duration // how long a state on which starts failed is not applied again; 0: 10 min
	// LogBytes is the size at which the log of deltas is replaced by a new state file. 0: 8 MiB, or 1/32 of the memory of
	// the links if that is more.
	LogBytes int64
}

// MissingSlugs hands out counts of slugs that do not exist. A batch is repeated until it is acknowledged.
type MissingSlugs interface {
	Batch() *snapshot.Missing // nil: nothing to report now
	Acknowledge(seq uint64)
}

func (c *Config) complete() error {
	var problems []error
	if c.Dir == "" {
		problems = append(problems, errors.New("agent: Dir is missing"))
	}
	if c.Source == nil {
		problems = append(problems, errors.New("agent: Source is missing"))
	}
	if c.Table == nil {
		problems = append(problems, errors.New("agent: Table is missing"))
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	defaults := []struct {
		field *time.Duration
		value time.Duration
	}{{&c.BackoffMin, 200 * time.Millisecond}, {&c.BackoffMax, 10 * time.Second}, {&c.ReportEvery, 10 * time.Second},
		{&c.Stall, 30 * time.Second},
		{&c.Proof, time.Minute}, {&c.Shun, 10 * time.Minute}}
	for _, d := range defaults {
		if *d.field < 0 {
			problems = append(problems, fmt.Errorf("agent: negative duration %v", *d.field))
		}
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return errors.Join(problems...)
}

// Agent is safe for concurrent use. Run may be called once.
type Agent struct {
	cfg   Config
	disk  *disk
	ready atomic.Bool
	stats counters

	// Used only by the reporting goroutine.
	twin    bool              // another edge has this edge's id
	repairs []snapshot.Repair // not reported yet

	// Used only by the following goroutine.
	mustFull  bool            // only a full document can repair the state
	wantFull  bool            // a full document would repair something; deltas are applied in the meantime
	nextFull  time.Time       // earliest time for a wanted document
	lastFull  snapshot.Cursor // of the last document that was loaded
	badDeltas int             // rejected in a row

	unwritten chan []byte   // applied deltas that are not on disk yet
	rewrite   atomic.Bool   // the state file must be rewritten
	disturb   chan struct{} // capacity 1: wakes the keeper
	report    chan struct{} // capacity 1: wakes the reporter
	imaged    chan struct{} // capacity 1: wakes the writer of images

	image    atomic.Pointer[image] // to be written next
	restored bool                  // this start loaded the image; set by New

	mu          sync.Mutex
	ledger      ledger
	counted     bool // the ledger contains this start but not its end
	refused     string
	run, before string // names of this start and of the previous one

	begun   chan struct{} // closed when this agent has locked the folder
	closing sync.Once
}

// queuedDeltas is the number of applied deltas that may wait for the disk. Beyond it the agent writes the whole state
// later instead.
const queuedDeltas = 1024

type counters struct {
	applied, loaded, refused, unsigned, sourceErrors, diskErrors, reportErrors atomic.Uint64

	success, written atomic.Int64
}

// Stats holds counters since the start. Times are Unix milliseconds, 0 for never.
type Stats struct {
	Applied      uint64 // deltas applied
	Loaded       uint64 // full documents loaded, including the one from disk
	Refused      uint64 // documents and deltas rejected
	Unsigned     uint64 // of these, those without a signature by one of the keys
	SourceErrors uint64 // failed calls of the source
	DiskErrors   uint64 // failed writes of state
	ReportErrors uint64
	LastSuccess  int64 // last document or delta that was applied, or answer of the source that there is nothing newer
	LastWritten  int64 // last write of state
	FromImage    bool  // the local state was loaded from its image, which is faster
}

// New loads the state on disk into the table, so that the edge can serve before Run. A missing or damaged state is no
// error: the agent then starts with a document from the source. An error means that the settings or the folder cannot be
// used.
func New(cfg Config) (*Agent, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	a := &Agent{
		cfg:       cfg,
		unwritten: make(chan []byte, queuedDeltas),
		disturb:   make(chan struct{}, 1),
		report:    make(chan struct{}, 1),
		imaged:    make(chan struct{}, 1),
		begun:     make(chan struct{}),
	}
	var err error
	if a.disk, err = openDisk(cfg.Dir, cfg.Version); err != nil {
		return nil, err
	}
	start := time.Now()
	var found found
	if a.distrusted() {
		cfg.Logger.Warn("local state not trusted", "advice",
			"nothing to do if keys were just set or replaced: the edge serves once the control plane has sent a signed document")
	} else if found, err = a.load(); err != nil {
		// Not fatal: the table holds a verified state, or nothing.
		a.stats.diskErrors.Add(1)
		cfg.Logger.Error("local state damaged", "error", err)
	}
	if found.refused != nil && !errors.Is(found.refused, fs.ErrNotExist) {
		cfg.Logger.Info("image rejected", "reason", found.refused)
	}
	a.restored = found.restored
	if found.state {
		a.ready.Store(true)
		a.stats.loaded.Add(1)
		at := cfg.Table.State()
		cfg.Logger.Info("local state loaded", "links", at.Links, "revision", at.Cursor.Revision,
			"incarnation", at.Cursor.Incarnation, "deltas", found.deltas, "image", found.restored,
			"seconds", time.Since(start).Seconds())
	}
	a.wantFull = found.olderSchema
	if found.missing != nil {
		a.image.Store(found.missing)
		wake(a.imaged)
	}
	return a, nil
}

// Ready reports whether the table holds a state, from disk or from the source.
func (a *Agent) Ready() bool { return a.ready.Load() }

// Begun returns a channel that is closed when Run has locked the folder. Run fails if another process has locked it.
func (a *Agent) Begun() <-chan struct{} { return a.begun }

// Applied returns the position of the served state.
func (a *Agent) Applied() snapshot.Cursor { return a.cfg.Table.Cursor() }

// Status returns the content of a report.
func (a *Agent) Status() snapshot.Status {
	at := a.cfg.Table.State()
	s := snapshot.Status{
		Edge:      a.cfg.Edge,
		Version:   a.cfg.Version,
		Cursor:    at.Cursor,
		StateHash: at.Hash.String(),
		Links:     at.Links,
	}
	aside, count := a.cfg.Table.SetAside()
	s.SetAsideCount = count
	for _, l := range aside {
		s.SetAside = append(s.SetAside, l.Slug)
		if s.SetAsideReasons == nil {
			s.SetAsideReasons = make(map[string]string, len(aside))
		}
		s.SetAsideReasons[l.Slug] = l.Reason
	}
	a.mu.Lock()
	s.Refused, s.Run, s.Before = a.refused, a.run, a.before
	a.mu.Unlock()
	if a.cfg.Fill != nil {
		a.cfg.Fill(&s)
	}
	return s
}

// Stats returns the counters.
func (a *Agent) Stats() Stats {
	c := &a.stats
	return Stats{
		Applied:      c.applied.Load(),
		Loaded:       c.loaded.Load(),
		Refused:      c.refused.Load(),
		Unsigned:     c.unsigned.Load(),
		SourceErrors: c.sourceErrors.Load(),
		DiskErrors:   c.diskErrors.Load(),
		ReportErrors: c.reportErrors.Load(),
		LastSuccess:  c.success.Load(),
		LastWritten:  c.written.Load(),
		FromImage:    a.restored,
	}
}

// Run follows the source until ctx ends, then writes the remaining changes to disk for at most 20 seconds and returns nil.
// It returns ErrInUse at once if another process runs an agent on the folder.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.lockFolder(); err != nil {
		return errors.Join(err, a.Close())
	}
	close(a.begun)
	var parts sync.WaitGroup
	followed := make(chan struct{})
	parts.Go(func() {
		defer close(followed)
		a.follow(ctx)
	})
	writing, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	kept := make(chan struct{})
	parts.Go(func() {
		a.keep(ctx, followed)
		time.AfterFunc(lastImage, giveUp)
		close(kept)
	})
	parts.Go(func() { a.images(writing, kept) })
	if a.cfg.Reports != nil {
		parts.Go(func() { a.reports(ctx) })
	}
	parts.Go(func() { a.settle(ctx) })
	parts.Wait()
	return a.Close()
}

// lockFolder locks the folder for this agent.
func (a *Agent) lockFolder() error {
	changed, err := a.disk.own()
	if errors.Is(err, ErrInUse) {
		return err
	}
	run, before, noted := nextRun(a.cfg.Dir)
	a.mu.Lock()
	a.run, a.before = run, before
	a.mu.Unlock()
	if err = errors.Join(err, noted); err != nil {
		// Not fatal: an edge with a broken disk can still serve. At worst its reports are rejected for some time.
		a.stats.diskErrors.Add(1)
		a.cfg.Logger.Error("data folder not usable", "error", err)
	}
	if changed {
		a.image.Store(nil) // it may belong to a state that was replaced
	}
	if a.Ready() {
		if err := a.vouch(); err != nil {
			// Not fatal, but new changes must not count as covered by the old list of keys.
			a.noteTrust(err)
			a.disk.valid = false
		}
	}
	if changed || err != nil || a.Ready() && !a.disk.valid {
		a.rewrite.Store(true)
		wake(a.disturb)
	}
	return nil
}

// Close releases the folder, for an agent that is not run. Run does so at its end. Close may be called more than once.
func (a *Agent) Close() (err error) {
	a.closing.Do(func() {
		a.neverRan()
		err = a.disk.close()
	})
	return err
}

// reports sends a report at every interval, and soon after a change.
func (a *Agent) reports(ctx context.Context) {
	const soon = 250 * time.Millisecond // changes within this time go into one report
	due := time.Now().Add(soon)
	timer := time.NewTimer(soon)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.report:
			if early := time.Now().Add(soon); early.Before(due) {
				due = early
				timer.Reset(soon)
			}
			continue
		case <-timer.C:
		}
		if err := a.sendReport(ctx); err != nil && ctx.Err() == nil {
			a.stats.reportErrors.Add(1)
			a.cfg.Logger.Debug("report failed", "error", err)
		}
		due = time.Now().Add(a.cfg.ReportEvery)
		timer.Reset(a.cfg.ReportEvery)
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

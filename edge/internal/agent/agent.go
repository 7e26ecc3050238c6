// Package agent keeps an edge's table fresh: it loads the last good state from disk before it asks anybody,
// then follows a snapshot.Source, and writes down what it has taken.
//
// It owns the state on disk and the decision whether to believe a document. It promises that the table only
// ever moves from one verified state to the next; that a document which is damaged, of an unknown format,
// from the past or suspiciously small is refused whole, with the reason in Status, while the old state keeps
// serving for as long as it takes; that a change is served before it is written to disk, never after; and that
// whatever moment the process is killed at, the next start finds a whole state, at worst an older one. It leaves
// the wire to the Source, and broken single links to the table.
//
// After three starts that died within a minute the next one goes back to the last state that was served for a minute
// (in the log, or in the slot beside), and takes nothing until there is something newer than what they died of, or ten
// minutes have passed.
//
// Known weaknesses: a start that was killed from outside counts as one that died. The guard
// against shrinking looks at full documents only. While a drift is being repaired the control plane may hold no
// document newer than the edge's state; until it does, the edge follows changes and asks again.
package agent

import (
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

// Config says what to follow and where to keep it. Dir, Source and Table are required.
type Config struct {
	// Dir is a folder for this agent alone. It is made if it is missing. It holds password hashes: mode 0700.
	Dir     string
	Source  snapshot.Source
	Reports snapshot.Reporter // nil: this edge does not report
	Table   *table.Table

	Logger *slog.Logger // nil: slog.Default

	// Edge and Version go into reports.
	Edge, Version string
	// Fill, if set, completes a report with what the agent doesn't know, such as the address and the spool.
	Fill func(*snapshot.Status)
	// Twin, if set, is told that another live edge has this one's identity (an error that wraps snapshot.ErrTwin), and
	// with nil that this is over. It must not wait.
	Twin func(why error)
	// Repair, if set, carries out orders to ship clicks once more. It must not wait.
	Repair func(click.Range) snapshot.Repair

	// AllowLoss takes a full document of the present incarnation even though it is of a lower revision or has less
	// than half of the links. For an operator who means it.
	AllowLoss bool

	Limits snapshot.Limits // of full documents; zero: snapshot's defaults
	// Keys are those that must have signed what comes from the source; zero: nobody need sign anything.
	Keys snapshot.Keys

	BackoffMin  time.Duration // 0: 200 ms
	BackoffMax  time.Duration // 0: 10 s
	ReportEvery time.Duration // 0: 10 s
	Stall       time.Duration // how long a document may bring nothing before it is given up; 0: 30 s
	Proof       time.Duration // how long a state is served until it counts as harmless; 0: 60 s
	Shun        time.Duration // how long a state that starts died of is not taken again; 0: 10 min
	// LogBytes is the length of the log of deltas that makes it a new state file. 0: 8 MiB, or a 32nd of the memory that
	// links take if that is more.
	LogBytes int64
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
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	defaults := []struct {
		field *time.Duration
		value time.Duration
	}{{&c.BackoffMin, 200 * time.Millisecond}, {&c.BackoffMax, 10 * time.Second}, {&c.ReportEvery, 10 * time.Second}, {&c.Stall, 30 * time.Second},
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

// Agent is safe for concurrent use. Run it once.
type Agent struct {
	cfg   Config
	disk  *disk
	ready atomic.Bool
	stats counters

	// For reporting, which is one goroutine's work.
	twin    bool              // another edge has this one's identity
	repairs []snapshot.Repair // not reported yet

	// For following, which is one goroutine's work.
	mustFull  bool            // only a full document helps
	wantFull  bool            // a full document would mend something; changes go on meanwhile
	nextFull  time.Time       // no wanted document before
	lastFull  snapshot.Cursor // of the last document taken
	badDeltas int             // refused in a row

	unwritten chan []byte   // applied deltas on their way to disk
	rewrite   atomic.Bool   // the state file must be written anew
	disturb   chan struct{} // capacity 1: wakes the keeper
	report    chan struct{} // capacity 1: wakes the reporter
	imaged    chan struct{} // capacity 1: wakes the writer of images

	image    atomic.Pointer[image] // to be written next
	restored bool                  // this start took the image; set by New

	mu          sync.Mutex
	ledger      ledger
	counted     bool // this start is in the ledger, and its end is not
	refused     string
	run, before string // names of this start and of the one before

	begun   chan struct{} // closed when the folder is this agent's
	closing sync.Once
}

// queuedDeltas is how many applied deltas may wait for the disk before the agent gives up on them and writes the
// whole state later.
const queuedDeltas = 1024

type counters struct {
	applied, loaded, refused, unsigned, sourceErrors, diskErrors, reportErrors atomic.Uint64

	contact, written atomic.Int64
}

// Stats counts since the start. Times are Unix milliseconds, 0 for never.
type Stats struct {
	Applied      uint64 // deltas
	Loaded       uint64 // full documents, the one from disk among them
	Refused      uint64 // documents and deltas not believed
	Unsigned     uint64 // of these, for want of a signature by one of the keys
	SourceErrors uint64 // calls to the source that failed
	DiskErrors   uint64 // attempts to write state that failed
	ReportErrors uint64
	LastContact  int64 // when the source last answered
	LastWritten  int64 // when state last reached the disk
	FromImage    bool  // the state on disk was taken from its image, which is the fast way
}

// New loads what is on disk into the table, so that it can serve before Run. A state that is missing or
// damaged is no error: the agent then starts with what the source says. An error means that the settings or
// the folder are unusable.
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
		cfg.Logger.Warn("local_state_not_trusted", "advice", "none, where keys were just set or replaced: the edge serves once the control plane has sent a signed document")
	} else if found, err = a.load(); err != nil {
		// Not fatal: what was loaded up to here is a verified state, or nothing.
		a.stats.diskErrors.Add(1)
		cfg.Logger.Error("local_state_damaged", "error", err)
	}
	if found.refused != nil && !errors.Is(found.refused, fs.ErrNotExist) {
		cfg.Logger.Info("image_refused", "reason", found.refused)
	}
	a.restored = found.restored
	if found.state {
		a.ready.Store(true)
		a.stats.loaded.Add(1)
		at := cfg.Table.State()
		cfg.Logger.Info("local_state_loaded", "links", at.Links, "revision", at.Cursor.Revision,
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

// Ready reports that the table holds a state, from disk or from the source.
func (a *Agent) Ready() bool { return a.ready.Load() }

// Begun is closed when Run has taken the folder: until then another process may have it, and Run fails.
func (a *Agent) Begun() <-chan struct{} { return a.begun }

// Applied is the position of what is served.
func (a *Agent) Applied() snapshot.Cursor { return a.cfg.Table.Cursor() }

// Status is what reports say.
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

// Stats gives the counters.
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
		LastContact:  c.contact.Load(),
		LastWritten:  c.written.Load(),
		FromImage:    a.restored,
	}
}

// Run follows the source until ctx is done, then writes down what is not on disk yet, for at most 20 seconds,
// and returns nil. It fails at once, with ErrInUse, where another process runs an agent on the folder.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.begin(); err != nil {
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

// begin makes the folder this agent's.
func (a *Agent) begin() error {
	changed, err := a.disk.own()
	if errors.Is(err, ErrInUse) {
		return err
	}
	run, before, noted := nextRun(a.cfg.Dir)
	a.mu.Lock()
	a.run, a.before = run, before
	a.mu.Unlock()
	if err = errors.Join(err, noted); err != nil {
		// Not fatal: an edge whose disk is broken serves all the same. At worst its reports are refused for a while.
		a.stats.diskErrors.Add(1)
		a.cfg.Logger.Error("folder_not_taken", "error", err)
	}
	if changed {
		a.image.Store(nil) // it is of a state that may be no more
	}
	if a.Ready() {
		if err := a.vouch(); err != nil {
			// Not fatal, but what comes must not be taken for what is vouched for.
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

// Close lets go of the folder, for an agent that is not run after all. Run does so at its end. It may be called again.
func (a *Agent) Close() (err error) {
	a.closing.Do(func() {
		a.neverRan()
		err = a.disk.close()
	})
	return err
}

// reports tells the source about this edge: now and then, and soon after something has changed.
func (a *Agent) reports(ctx context.Context) {
	const soon = 250 * time.Millisecond // changes that come close together are one report
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
		if err := a.tell(ctx); err != nil && ctx.Err() == nil {
			a.stats.reportErrors.Add(1)
			a.cfg.Logger.Debug("report_failed", "error", err)
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

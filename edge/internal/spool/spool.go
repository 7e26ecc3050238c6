// Package spool is the edge's click log. It writes clicks to preallocated, memory-mapped segment files before visitors
// are answered. Readers return them lane by lane, in order, until they are acknowledged.
//
// A spool owns one directory and the identity of every click in it. The edge number is random and belongs to the
// directory. The epoch increases by one at each start. Each lane numbers its clicks from 1 without gaps. The spool
// guarantees:
//
//   - A click for which Append returned true survives a sudden end of the process and, depending on SyncMode, a crash of
//     the machine. A Reader returns it at least once, and again until it is acknowledged.
//   - No two clicks get the same number.
//   - Loss markers report all numbers without a click: clicks dropped for lack of space, and clicks that the disk lost.
//   - Clicks are deleted to make space only after their acknowledgement. Readers return only what was written.
//   - Append does not fail, allocate or wait for the disk (except with SyncAlways, see Put). When the cap is reached or the
//     disk is full, it drops and counts clicks.
//
// Package ship and click.Sink decide where clicks go. The receiver must count repeated clicks once.
//
// Known weaknesses: if not even one page could be allocated at the start, dropped clicks get a marker only if the process
// lives until there is space. A power cut loses clicks as described at SyncMode. Their number is known only if later
// records survive. Files are little-endian, like every machine that we build for.
package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/durable"
)

// SyncMode decides which clicks a power cut or a crash of the system can lose. The end of the process loses none in any
// mode.
type SyncMode string

const (
	// SyncInterval syncs every Config.SyncEvery: a power cut loses at most the clicks of that time.
	SyncInterval SyncMode = "interval"
	// SyncAlways syncs before Append returns. Concurrent appends share one sync. A power cut loses nothing, but each
	// redirect waits for the disk. A click whose sync failed may be lost or not, and Append returns false.
	SyncAlways SyncMode = "always"
	// SyncNone leaves syncing to the system: a power cut loses what was not written back, usually up to 30 s.
	SyncNone SyncMode = "none"
)

// Known reports whether the mode exists. The empty one stands for SyncInterval.
func (m SyncMode) Known() bool {
	return m == "" || m == SyncInterval || m == SyncAlways || m == SyncNone
}

// Config holds the settings of a spool. Dir is required. For all other fields the zero value means the default.
type Config struct {
	Dir            string        // created if missing; only one process may use it
	Lanes          int           // 1 to 64, default: one for each processor, as far as CapBytes has space for them
	SegmentBytes   int64         // size of a segment file, at least 16 KiB, default 64 MiB
	CapBytes       int64         // maximum size of all segments, default 4 GiB; at least two segments per lane
	MinFreePercent int           // part of the disk to keep free, but at most 4 GiB: 1 to 90, default 10; negative: none
	Sync           SyncMode      // default SyncInterval
	SyncEvery      time.Duration // default 100 ms
	RetainFor      time.Duration // how long acknowledged clicks stay, default 24 h; negative: they are deleted at once
	RetainBytes    int64         // maximum size of acknowledged clicks, default a quarter of CapBytes
	Logger         *slog.Logger  // default: no logging

	Msync func(mem []byte) error // replaces the system call in tests of other packages

	disk *disk // tests inject faults here
}

// Defaults of Config.
const (
	defaultSegmentBytes = 64 << 20
	defaultCapBytes     = 4 << 30
	defaultMinFree      = 10
	defaultSyncEvery    = 100 * time.Millisecond
	defaultRetainFor    = 24 * time.Hour

	minSegmentBytes = 16 << 10
	maxLanes        = 64

	// maxKeptFree bounds what MinFreePercent keeps free. A tenth of a large disk is more than other programs need to go on, and an
	// edge that drops clicks while 100 GB are free surprises its operator.
	maxKeptFree = 4 << 30
)

func (c Config) withDefaults() Config {
	c.SegmentBytes = cmp.Or(c.SegmentBytes, defaultSegmentBytes)
	c.CapBytes = cmp.Or(c.CapBytes, defaultCapBytes)
	if c.Lanes == 0 {
		// Half of the cap, because each lane reserves two segments, and full ones must fit as well.
		c.Lanes = max(1, min(runtime.GOMAXPROCS(0), maxLanes, int(c.CapBytes/2/(2*c.SegmentBytes))))
	}
	c.MinFreePercent = cmp.Or(c.MinFreePercent, defaultMinFree)
	c.Sync = cmp.Or(c.Sync, SyncInterval)
	c.SyncEvery = cmp.Or(c.SyncEvery, defaultSyncEvery)
	c.RetainFor = cmp.Or(c.RetainFor, defaultRetainFor)
	c.RetainBytes = cmp.Or(c.RetainBytes, c.CapBytes/4)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.SegmentBytes = (c.SegmentBytes + headerSize - 1) &^ (headerSize - 1)
	return c
}

// Validate fills in the defaults and then reports every invalid setting.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("spool: "+format, args...))
		}
	}
	check(c.Dir != "", "no directory is set")
	check(c.Lanes >= 1 && c.Lanes <= maxLanes, "%d lanes; must be 1 to %d", c.Lanes, maxLanes)
	check(c.SegmentBytes >= minSegmentBytes && c.SegmentBytes <= 1<<30, "segments of %d bytes; must be 16 KiB to 1 GiB", c.SegmentBytes)
	check(c.CapBytes >= 2*int64(c.Lanes)*c.SegmentBytes, "a cap of %d bytes; must be at least two segments per lane", c.CapBytes)
	check(c.MinFreePercent <= 90, "%d%% of the disk to keep free; must be at most 90", c.MinFreePercent)
	check(c.Sync.Known(), "sync mode %q; must be interval, always or none", c.Sync)
	check(c.SyncEvery > 0, "sync interval %v; must be positive", c.SyncEvery)
	return errors.Join(problems...)
}

// Spool is an open directory. Append, Stats and Reship are safe for concurrent use.
type Spool struct {
	cfg     Config
	disk    disk
	log     *slog.Logger
	lock    *os.File
	edge    uint64
	epoch   uint32
	lanes   []*lane
	readers []*Reader
	streams []*stream
	cursors *cursors
	keep    chan struct{} // wakes the keeper, at most one
	closed  bool

	bytes        atomic.Int64 // that segments take on the disk
	late         atomic.Uint64
	faults       atomic.Uint64
	lost         atomic.Uint64
	syncErrors   atomic.Uint64
	cursorErrors atomic.Uint64
	shedding     atomic.Bool // whether the log reports dropped clicks
	lastSync     atomic.Int64
}

// Open locks the directory, recovers the clicks of earlier starts and begins a new epoch. It fails with ErrInUse if
// another process uses the directory. A full disk is not an error: clicks are then dropped until there is space. The
// caller must call Run. It must call Close after Run has returned and after the last append.
func Open(cfg Config) (*Spool, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Spool{cfg: cfg, disk: systemDisk(), log: cfg.Logger, keep: make(chan struct{}, 1)}
	if cfg.disk != nil {
		s.disk = *cfg.disk
	}
	if cfg.Msync != nil {
		s.disk.sync = cfg.Msync
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	lock, err := durable.Lock(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s.lock = lock
	if err := s.open(); err != nil {
		durable.Unlock(lock)
		return nil, fmt.Errorf("open spool %s: %w", cfg.Dir, err)
	}
	return s, nil
}

func (s *Spool) open() error {
	edge, drawn, err := loadEdge(s.cfg.Dir)
	if err != nil {
		return err
	}
	left, err := leftBehind(s.cfg.Dir, s.log)
	if err != nil {
		return err
	}
	if s.cursors, err = openCursors(s.cfg.Dir); err != nil {
		return err
	}
	held := map[cursorLane]bool{}
	var used uint32
	for _, st := range left {
		key := cursorLane{st.lane.Epoch, st.lane.Lane}
		held[key] = true
		st.acked.Store(s.cursors.acked[key])
		used = max(used, st.lane.Epoch)
		for _, g := range st.segments {
			s.bytes.Add(g.size.Load())
		}
	}
	for key := range s.cursors.acked {
		used = max(used, key.epoch)
	}
	if drawn && used > 0 {
		s.log.Error("spool identity unreadable, new one created", "edge", fmt.Sprintf("%016x", edge))
	}
	epoch, err := nextEpoch(s.cfg.Dir, used)
	if err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	s.edge, s.epoch = edge, epoch
	if err := s.cursors.keep(func(key cursorLane) bool { return held[key] }); err != nil {
		s.cursorErrors.Add(1)
		s.log.Error("cannot write spool cursor file", "error", err)
	}

	s.streams = left
	for n := range s.cfg.Lanes {
		id := click.Lane{Edge: edge, Epoch: epoch, Lane: uint8(n)}
		st := &stream{lane: id, live: true}
		l := &lane{
			spool: s, id: id, stream: st, pace: minAhead,
			next: make(chan *segment, 1), refused: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		}
		s.lanes = append(s.lanes, l)
		if s.prepare(l) != nil {
			l.seg, l.off, l.full, l.shed = s.stub(l), headerSize, true, true
		}
		var mine []*stream
		for _, st := range left {
			if int(st.lane.Lane)%s.cfg.Lanes == n {
				mine = append(mine, st)
			}
		}
		s.streams = append(s.streams, st)
		s.readers = append(s.readers, newReader(s, l, append(mine, st)))
	}
	return nil
}

// stub creates a segment without space for records. Its header page tells the next start which numbers were dropped. If
// the disk has not even space for one page, the stub exists only in memory and is lost with the process.
func (s *Spool) stub(l *lane) *segment {
	id := segmentID{Lane: l.id, index: l.wanted}
	g, err := createSegment(s.cfg.Dir, id, headerSize, s.disk, s.cfg.Sync != SyncNone)
	if err == nil {
		l.wanted++
		s.bytes.Add(headerSize)
		l.stream.addSegment(g)
	} else {
		g = newSegment(id, "")
		g.mem = make([]byte, headerSize)
	}
	g.putSeal(g.mem)
	g.sealed.Store(true)
	return g
}

// Edge returns the directory's edge number. It is never 0.
func (s *Spool) Edge() uint64 { return s.edge }

// Epoch returns the number of this start. The first is 1.
func (s *Spool) Epoch() uint32 { return s.epoch }

// Readers returns the readers of the lanes. Only one goroutine may use each. All calls return the same readers.
func (s *Spool) Readers() []*Reader { return s.readers }

// Close seals the current segments, truncates their unused space and unlocks the directory. Clicks that were not
// shipped stay for the next start. After Close, Append returns false.
func (s *Spool) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, l := range s.lanes {
		l.mu.Lock()
		l.closed = true
		if l.seg != nil && !l.full {
			l.full = true
			l.sealCurrent()
		}
		if l.seg != nil {
			l.retired = append(l.retired, l.seg)
		}
		l.mu.Unlock()
		errs = append(errs, s.settle(l))
		select {
		case g := <-l.next:
			l.syncing.Lock()
			errs = append(errs, unmap(g))
			l.syncing.Unlock()
			errs = append(errs, os.Remove(g.path))
		default:
		}
	}
	for _, r := range s.readers {
		r.close()
	}
	s.cursors.close()
	errs = append(errs, durable.Unlock(s.lock))
	return errors.Join(errs...)
}

// State reports whether the spool stores clicks.
type State string

const (
	Healthy  State = "ok"
	Warning  State = "warning"  // unacknowledged clicks take more than four fifths of the cap
	Shedding State = "shedding" // a lane has no space: clicks are being dropped
)

// Stats is a snapshot of the spool's counters and gauges. Counters count from the start of the process.
type Stats struct {
	State    State
	Bytes    int64 // size of the segments on the disk, including reserved space
	CapBytes int64 // maximum of Bytes
	Segments int   // files
	Pending  int64 // numbers not yet acknowledged

	Appended     uint64 // clicks stored
	Dropped      uint64 // clicks dropped for lack of space
	Lost         uint64 // numbers that were stored and that the disk lost
	Damaged      int    // damaged segments that still exist
	Late         uint64 // appends that waited for a new segment
	Faults       uint64 // failed writes to a mapping
	SyncErrors   uint64
	CursorErrors uint64    // acknowledgements that could not be stored
	LastSync     time.Time // start of the last complete sync; zero if none, and with SyncAlways and SyncNone
}

// Stats returns the counters. It uses no lock of the append path.
func (s *Spool) Stats() Stats {
	st := Stats{
		State: Healthy, Bytes: s.bytes.Load(), CapBytes: s.cfg.CapBytes, Lost: s.lost.Load(), Late: s.late.Load(),
		Faults: s.faults.Load(), SyncErrors: s.syncErrors.Load(), CursorErrors: s.cursorErrors.Load(),
	}
	if at := s.lastSync.Load(); at != 0 {
		st.LastSync = time.UnixMilli(at)
	}
	var waiting int64
	for _, stream := range s.streams {
		st.Pending += int64(stream.pending())
		for _, g := range stream.all() {
			st.Segments++
			if g.damaged.Load() {
				st.Damaged++
			}
			if !stream.shipped(g) && g.first.Load() != 0 {
				waiting += g.end.Load()
			}
		}
	}
	if waiting > s.cfg.CapBytes/5*4 {
		st.State = Warning
	}
	if s.shedding.Load() {
		st.State = Shedding
	}
	for _, l := range s.lanes {
		st.Appended += l.written.Load()
		st.Dropped += l.dropped.Load()
	}
	return st
}

// Run maintains the spool until the context ends: it prepares segments, syncs them, and deletes those that were
// retained long enough. It returns nil after a last sync. Without Run, a lane accepts only one segment of clicks.
func (s *Spool) Run(ctx context.Context) error {
	synced := make(chan struct{})
	go func() {
		defer close(synced)
		s.syncLoop(ctx)
	}()
	s.keepLoop(ctx)
	<-synced
	s.syncAll()
	return nil
}

// Package spool is the edge's click log: clicks are in memory-mapped, reserved segment files before the visitor
// is answered, and leave in order, lane by lane, when somebody has acknowledged them.
//
// It owns one directory and the identity of every click in it: the edge's number is drawn once a directory, the
// epoch is one higher at each start, lanes number their clicks from 1 without holes. It promises that
//
//   - a click for which Append returned true survives the end of the process, however sudden, and (SyncMode) the
//     end of the machine; a Reader gives it out until it was acknowledged, and at least once;
//   - a number is never given to two clicks;
//   - numbers that carry no click, for want of room or because the disk lost them, are named by loss markers;
//   - nothing that was not acknowledged is deleted to make room, and what was not written is never given out;
//   - Append neither fails, allocates nor waits for the disk (but see SyncAlways): at the cap, or on a full disk,
//     clicks are dropped and counted.
//
// It leaves to others where clicks go (package ship and click.Sink) and that repeats are counted once.
//
// Known weaknesses: clicks that are dropped when not even one page of disk could be had at the start are named by
// a marker only if the process lives until there is room. A power cut takes what SyncMode says, and the count of
// what it took is known only where later records survive. Files are little-endian, as every machine that we build
// for.
package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/click"
)

// SyncMode says what a power cut or a crash of the system may take. The end of the process takes nothing in any.
type SyncMode string

const (
	// SyncInterval syncs every Config.SyncEvery: a power cut takes at most the clicks of that time.
	SyncInterval SyncMode = "interval"
	// SyncAlways syncs before Append returns, appends that come together sharing one sync: a power cut takes
	// nothing, but a redirect waits for the disk.
	SyncAlways SyncMode = "always"
	// SyncNone leaves it to the system: a power cut takes what was not written back, usually up to 30 s.
	SyncNone SyncMode = "none"
)

// Config holds the settings of a spool. The zero value of each but Dir means its default.
type Config struct {
	Dir            string        // made if missing; used by one process at a time
	Lanes          int           // 1 to 64, default 4
	SegmentBytes   int64         // size of a segment file, at least 16 KiB, default 64 MiB
	CapBytes       int64         // most that segments may take together, default 4 GiB; at least two segments a lane
	MinFreePercent int           // of the disk, kept free by us: 1 to 90, default 10; negative: none
	Sync           SyncMode      // default SyncInterval
	SyncEvery      time.Duration // default 100 ms
	RetainFor      time.Duration // acknowledged clicks stay so long, default 24 h; negative: not at all
	RetainBytes    int64         // and take at most so much, default a quarter of CapBytes
	Logger         *slog.Logger  // default: says nothing

	disk *disk // tests put faults here
}

// Defaults of Config.
const (
	defaultLanes        = 4
	defaultSegmentBytes = 64 << 20
	defaultCapBytes     = 4 << 30
	defaultMinFree      = 10
	defaultSyncEvery    = 100 * time.Millisecond
	defaultRetainFor    = 24 * time.Hour

	minSegmentBytes = 16 << 10
)

func (c Config) withDefaults() Config {
	if c.Lanes == 0 {
		c.Lanes = defaultLanes
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = defaultSegmentBytes
	}
	if c.CapBytes == 0 {
		c.CapBytes = defaultCapBytes
	}
	if c.MinFreePercent == 0 {
		c.MinFreePercent = defaultMinFree
	}
	if c.Sync == "" {
		c.Sync = SyncInterval
	}
	if c.SyncEvery == 0 {
		c.SyncEvery = defaultSyncEvery
	}
	if c.RetainFor == 0 {
		c.RetainFor = defaultRetainFor
	}
	if c.RetainBytes == 0 {
		c.RetainBytes = c.CapBytes / 4
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.SegmentBytes = (c.SegmentBytes + headerSize - 1) &^ (headerSize - 1)
	return c
}

// Validate reports every setting that makes no sense, defaults being filled in first.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("spool: "+format, args...))
		}
	}
	check(c.Dir != "", "no directory is set")
	check(c.Lanes >= 1 && c.Lanes <= 64, "%d lanes, must be 1 to 64", c.Lanes)
	check(c.SegmentBytes >= minSegmentBytes && c.SegmentBytes <= 1<<30, "segments of %d bytes, must be 16 KiB to 1 GiB", c.SegmentBytes)
	check(c.CapBytes >= 2*int64(c.Lanes)*c.SegmentBytes, "a cap of %d bytes is less than two segments a lane", c.CapBytes)
	check(c.MinFreePercent <= 90, "keeping %d%% of the disk free, must be at most 90", c.MinFreePercent)
	check(c.Sync == SyncInterval || c.Sync == SyncAlways || c.Sync == SyncNone, "sync mode %q, must be interval, always or none", c.Sync)
	check(c.SyncEvery > 0, "sync every %v, must be positive", c.SyncEvery)
	return errors.Join(problems...)
}

// Spool is one open directory. Append, Stats and Reship may be called by any number of goroutines.
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
	shedding     atomic.Bool // for the log line at the change
	lastSync     atomic.Int64
}

// Open takes the directory, finds what earlier starts left in it, and begins a new epoch. It fails with
// ErrInUse where another process has the directory. A disk without room is no error: clicks are then dropped
// until there is some. The caller runs Run and, when that has returned and nothing appends any more, Close.
func Open(cfg Config) (*Spool, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Spool{cfg: cfg, disk: systemDisk(), log: cfg.Logger, keep: make(chan struct{}, 1)}
	if cfg.disk != nil {
		s.disk = *cfg.disk
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s.lock = lock
	if err := s.open(); err != nil {
		unlockDir(lock)
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
		s.log.Error("spool identity was unreadable, a new one is drawn", "edge", fmt.Sprintf("%016x", edge))
	}
	epoch, err := nextEpoch(s.cfg.Dir, used)
	if err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	s.edge, s.epoch = edge, epoch
	if err := s.cursors.keep(func(key cursorLane) bool { return held[key] }); err != nil {
		s.cursorErrors.Add(1)
		s.log.Error("spool cursor file can't be written", "error", err)
	}

	s.streams = left
	for n := range s.cfg.Lanes {
		id := click.Lane{Edge: edge, Epoch: epoch, Lane: uint8(n)}
		st := &stream{lane: id, live: true}
		l := &lane{spool: s, id: id, stream: st, next: make(chan *segment, 1), wake: make(chan struct{}, 1), pace: minAhead}
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

// stub makes a segment without room for records: a page that tells the next start what was dropped. On a disk
// without even that it is memory, and tells nobody.
func (s *Spool) stub(l *lane) *segment {
	id := segmentID{Lane: l.id, index: l.wanted}
	g, err := createSegment(s.cfg.Dir, id, headerSize, s.disk, s.cfg.Sync != SyncNone)
	if err == nil {
		l.wanted++
		s.bytes.Add(headerSize)
		l.stream.add(g)
	} else {
		g = newSegment(id, "")
		g.mem = make([]byte, headerSize)
	}
	g.putSeal(g.mem)
	g.sealed.Store(true)
	return g
}

// Edge returns the number of the directory's edge, never 0.
func (s *Spool) Edge() uint64 { return s.edge }

// Epoch returns the number of this start, from 1.
func (s *Spool) Epoch() uint32 { return s.epoch }

// Readers returns the readers of the lanes, each for one goroutine. It returns the same ones each time.
func (s *Spool) Readers() []*Reader { return s.readers }

// Close seals what is in use, gives back the room that was reserved and not used, and releases the directory.
// What was not shipped stays for the next start. Append returns false from then on.
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
	errs = append(errs, unlockDir(s.lock))
	return errors.Join(errs...)
}

// State says whether clicks are being kept.
type State string

const (
	Healthy  State = "ok"
	Warning  State = "warning"  // clicks that were not acknowledged take four fifths of the cap
	Shedding State = "shedding" // a lane has no room: clicks are being dropped
)

// Stats is a moment's account. Counters count from the start of the process.
type Stats struct {
	State        State
	Bytes        int64  // that segments take on the disk, reserved room included
	CapBytes     int64  // most that they may take
	Segments     int    // files
	Pending      int64  // numbers not acknowledged yet
	Appended     uint64 // clicks kept
	Dropped      uint64 // clicks not kept for want of room
	Lost         uint64 // numbers that were kept and that the disk lost
	Damaged      int    // segments with damage that are still there
	Late         uint64 // appends that waited for a segment to be prepared
	Faults       uint64 // writes into a mapping that failed
	SyncErrors   uint64
	CursorErrors uint64    // acknowledgements that could not be written down
	LastSync     time.Time // when all that was then appended was durable; zero before, and in SyncAlways and SyncNone
}

// Stats returns the account. It takes no lock of the append path.
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

// Run keeps the spool in order until the context ends: it prepares segments, syncs, and deletes what was
// retained long enough. It returns nil after a last sync. Without it a lane takes one segment of clicks.
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

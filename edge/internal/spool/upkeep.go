package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	keepEvery   = 100 * time.Millisecond
	retainEvery = 10 // every so many rounds of keepEvery

	// Pages are populated so far ahead of the appends, in bytes: what a lane took in the last round four times
	// over, within these bounds. Populating whole segments would make each sync and each write-back of the
	// system write them whole.
	minAhead = 256 << 10
	maxAhead = 16 << 20

	// So many bytes are populated at a time: what takes a redirect's place on a processor for about as long as a
	// few redirects do. All at once would be a pause of milliseconds where there is one processor.
	aheadStep = 64 << 10

	// Pages behind the appends are let go of when they are so many bytes.
	releaseStep = 1 << 20
)

// kick wakes the keeper.
func (s *Spool) kick() {
	select {
	case s.keep <- struct{}{}:
	default:
	}
}

func (s *Spool) keepLoop(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for round := 0; ; round++ {
		shedding := false
		for _, l := range s.lanes {
			s.supply(l)
			shedding = shedding || l.dropping.Load()
			s.populateAhead(l)
		}
		if was := s.shedding.Swap(shedding); was != shedding {
			if shedding {
				s.log.Error("spool has no room, clicks are being dropped", "bytes", s.bytes.Load(), "cap_bytes", s.cfg.CapBytes)
			} else {
				s.log.Info("spool has room again")
			}
		}
		if round%retainEvery == 0 {
			s.expire()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.keep:
		}
	}
}

// supply sees to it that the lane has a segment to go on with. A lane that was dropping clicks takes it at once,
// so that the marker does not wait for the next click.
//
// The keeper never waits for a lane's lock: its holder may be waiting for the keeper.
func (s *Spool) supply(l *lane) {
	if len(l.next) == 0 {
		if err := s.prepare(l); err != nil {
			if !l.noRoom.Swap(true) && !errors.Is(err, errCap) {
				s.log.Error("spool segment can't be prepared", "lane", l.id.Lane, "error", err)
			}
			return
		}
		l.noRoom.Store(false)
	}
	if l.dropping.Load() && l.mu.TryLock() {
		if l.full && !l.closed {
			l.roll()
		}
		l.mu.Unlock()
	}
}

// errCap says that the cap or the free part of the disk forbids another segment.
var errCap = errors.New("spool: at its cap")

// prepare makes a segment and puts it into l.next. Where there is no room it deletes what is only retained,
// oldest first.
func (s *Spool) prepare(l *lane) error {
	for {
		err := s.mayGrow(s.cfg.SegmentBytes)
		if err == nil {
			id := segmentID{Lane: l.id, index: l.wanted}
			var g *segment
			if g, err = createSegment(s.cfg.Dir, id, s.cfg.SegmentBytes, s.disk, s.cfg.Sync != SyncNone); err == nil {
				l.wanted++
				s.bytes.Add(g.size.Load())
				populate(g.mem[:min(int64(len(g.mem)), minAhead)])
				l.stream.add(g)
				l.next <- g
				return nil
			}
			if !noRoom(err) {
				return err
			}
		}
		if oldest := s.retained(); len(oldest) > 0 {
			s.discard(oldest[0])
			continue
		}
		return err
	}
}

func (s *Spool) mayGrow(size int64) error {
	if s.bytes.Load()+size > s.cfg.CapBytes {
		return errCap
	}
	if s.cfg.MinFreePercent > 0 {
		free, total, err := s.disk.space(s.cfg.Dir)
		if err == nil && free-size < total/100*int64(s.cfg.MinFreePercent) {
			return errCap
		}
	}
	return nil
}

// populateAhead takes the page faults of what the lane will write soon.
func (s *Spool) populateAhead(l *lane) {
	if !l.mu.TryLock() {
		return
	}
	g, off, full := l.seg, l.off, l.full
	l.mu.Unlock()
	if g == nil || full {
		return
	}
	if l.aheadOf != g {
		l.aheadOf, l.ahead, l.paceFrom = g, minAhead, headerSize
	}
	l.pace = min(max(4*(off-l.paceFrom), minAhead), maxAhead)
	l.paceFrom = off
	size := g.size.Load()
	to := min((off+l.pace)&^(headerSize-1), size)
	// Not in small steps: the pages before ahead are there, and a round is soon.
	if to-l.ahead < minAhead/2 && (to < size || to <= l.ahead) {
		return
	}
	for from := max(l.ahead, off&^(headerSize-1)); from < to; from += aheadStep {
		if !l.syncing.TryLock() {
			return // the rest the next time
		}
		if g.mem == nil {
			l.syncing.Unlock()
			return
		}
		l.ahead = min(from+aheadStep, to)
		populate(g.mem[from:l.ahead])
		l.syncing.Unlock()
		runtime.Gosched()
	}
}

// keptSegment is a segment and where it stands.
type keptSegment struct {
	st *stream
	g  *segment
}

// retained lists the segments of which everything was acknowledged and which nobody writes, oldest first.
func (s *Spool) retained() []keptSegment {
	now := time.Now().UnixMilli()
	var list []keptSegment
	for _, st := range s.streams {
		var before int64
		for _, g := range st.all() {
			if !st.shipped(g) || g.mapped.Load() {
				continue
			}
			if g.shippedAt.Load() == 0 {
				at := now
				// Of an earlier start: when it was acknowledged is not written down, but not before its last change.
				if fi, err := os.Stat(g.path); err == nil && !st.live {
					at = min(now, fi.ModTime().UnixMilli())
				}
				// Never before its predecessor, so that a stream loses segments from the front only.
				g.shippedAt.Store(max(at, before))
			}
			before = g.shippedAt.Load()
			list = append(list, keptSegment{st, g})
		}
	}
	slices.SortStableFunc(list, func(a, b keptSegment) int {
		return cmpUint(uint64(a.g.shippedAt.Load()), uint64(b.g.shippedAt.Load()))
	})
	return list
}

// expire deletes what was retained long enough, or takes more than it may.
func (s *Spool) expire() {
	list := s.retained()
	var total int64
	for _, k := range list {
		total += k.g.size.Load()
	}
	limit := time.Now().Add(-max(s.cfg.RetainFor, 0)).UnixMilli()
	for _, k := range list {
		if total <= s.cfg.RetainBytes && k.g.shippedAt.Load() > limit {
			continue
		}
		total -= k.g.size.Load()
		s.discard(k)
	}
}

// discard deletes a segment.
func (s *Spool) discard(k keptSegment) {
	k.st.remove(k.g)
	s.bytes.Add(-k.g.size.Load())
	if err := os.Remove(k.g.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Error("spool segment can't be deleted", "path", k.g.path, "error", err)
	}
}

func (s *Spool) syncLoop(ctx context.Context) {
	tick := time.NewTicker(s.cfg.SyncEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.syncAll()
		}
	}
}

// syncAll syncs what is new in each lane, as the mode wants, and lets go of what is written: segments that are sealed, and
// pages of those that are not.
func (s *Spool) syncAll() {
	began, failures := time.Now().UnixMilli(), s.syncErrors.Load()
	for _, l := range s.lanes {
		if err := s.settle(l); err != nil {
			s.log.Error("spool segment can't be let go", "lane", l.id.Lane, "error", err)
		}
		l.mu.Lock()
		g := l.seg
		l.mu.Unlock()
		if g == nil {
			continue
		}
		l.syncing.Lock()
		if s.cfg.Sync != SyncNone {
			l.syncLocked(g)
		}
		g.release()
		l.syncing.Unlock()
	}
	if s.cfg.Sync == SyncInterval && s.syncErrors.Load() == failures {
		s.lastSync.Store(began)
	}
}

// release lets go of the pages of records that are whole. They stay with the system, dirty or not, where readers find them; they
// only are this process's no more, whose memory would otherwise seem to grow with each click until the segment is full.
// The lane's syncing is held.
func (g *segment) release() {
	to := g.end.Load() &^ (headerSize - 1)
	if g.mem == nil || g.path == "" || to-g.released < releaseStep {
		return
	}
	release(g.mem[g.released:to])
	g.released = to
}

// settle syncs the lane's sealed segments and unmaps them. One that is not full gives back the rest of its room.
func (s *Spool) settle(l *lane) error {
	l.mu.Lock()
	sealed := l.retired
	l.retired = nil
	l.mu.Unlock()
	var errs []error
	for _, g := range sealed {
		l.syncing.Lock()
		if s.cfg.Sync != SyncNone {
			l.syncLocked(g)
		}
		errs = append(errs, unmap(g))
		l.syncing.Unlock()
		g.mapped.Store(false)
		if end := g.end.Load(); g.path != "" && end < g.size.Load() {
			if err := os.Truncate(g.path, end); err != nil {
				errs = append(errs, err)
				continue
			}
			s.bytes.Add(end - g.size.Load())
			g.size.Store(end)
		}
	}
	return errors.Join(errs...)
}

func unmap(g *segment) error {
	mem := g.mem
	g.mem = nil
	if mem == nil || g.path == "" {
		return nil
	}
	return unix.Munmap(mem)
}

package spool

import (
	"cmp"
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
	retainEvery = 10 // rounds of keepEvery between two deletions

	// Pages are populated ahead of the appends: four times the bytes of the lane's last round, within these bounds.
	// If whole segments were populated, each sync and each write-back of the system would write whole segments.
	minAhead = 256 << 10
	maxAhead = 16 << 20

	// aheadStep is how many bytes are populated at a time. One step takes as long as a few redirects. Populating all
	// at once would stop redirects for milliseconds on a machine with one processor.
	aheadStep = 64 << 10

	// releaseStep is how many written bytes are released at a time.
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
				s.log.Error("spool full, dropping clicks", "bytes", s.bytes.Load(), "cap_bytes", s.cfg.CapBytes)
			} else {
				s.log.Info("spool accepts clicks again")
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

// supply makes sure that the lane has a prepared segment. A lane that dropped clicks switches to it at once, so that
// the loss marker does not wait for the next click.
//
// The keeper never waits for a lane's lock, because the holder of the lock may be waiting for the keeper.
func (s *Spool) supply(l *lane) {
	if len(l.next) == 0 {
		if err := s.prepare(l); err != nil {
			if !l.noRoom.Swap(true) && !errors.Is(err, errCap) {
				s.log.Error("cannot prepare spool segment", "lane", l.id.Lane, "error", err)
			}
			select {
			case l.refused <- struct{}{}:
			default:
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

// errCap means that another segment would exceed the cap or leave too little of the disk free.
var errCap = errors.New("spool: the cap is reached")

// prepare creates a segment and puts it into l.next. If there is no space, it deletes retained segments, the oldest
// first.
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
				l.stream.addSegment(g)
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
		if err == nil && free-size < min(total/100*int64(s.cfg.MinFreePercent), maxKeptFree) {
			return errCap
		}
	}
	return nil
}

// populateAhead populates the pages that the lane will write soon.
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
	// Avoid small steps: the pages up to ahead are populated, and the next round comes soon.
	if to-l.ahead < minAhead/2 && (to < size || to <= l.ahead) {
		return
	}
	for from := max(l.ahead, off&^(headerSize-1)); from < to; from += aheadStep {
		if !l.syncing.TryLock() {
			return // the next round does the rest
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

// keptSegment is a segment with its stream.
type keptSegment struct {
	st *stream
	g  *segment
}

// retained lists the segments that are completely acknowledged and no longer written, oldest first.
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
				// The time of acknowledgement of earlier starts is not stored. It was not before the last change.
				if fi, err := os.Stat(g.path); err == nil && !st.live {
					at = min(now, fi.ModTime().UnixMilli())
				}
				// Never earlier than the predecessor's, so that a stream loses segments only from the front.
				g.shippedAt.Store(max(at, before))
			}
			before = g.shippedAt.Load()
			list = append(list, keptSegment{st, g})
		}
	}
	slices.SortStableFunc(list, func(a, b keptSegment) int {
		return cmp.Compare(a.g.shippedAt.Load(), b.g.shippedAt.Load())
	})
	return list
}

// expire deletes segments that were retained long enough, and the oldest ones if all take too much space.
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
		s.log.Error("cannot delete spool segment", "path", k.g.path, "error", err)
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

// syncAll syncs the new records of each lane, if the mode requires it. Then it unmaps sealed segments and releases the
// written pages of current ones.
func (s *Spool) syncAll() {
	began, failures := time.Now().UnixMilli(), s.syncErrors.Load()
	for _, l := range s.lanes {
		if err := s.settle(l); err != nil {
			s.log.Error("segment not released", "lane", l.id.Lane, "error", err)
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

// release removes the pages of complete records from this process's memory. The system keeps them, dirty or not, and
// readers find them there. Without release, the process's memory would seem to grow with each click until the segment
// is full. The caller holds the lane's syncing.
func (g *segment) release() {
	to := g.end.Load() &^ (headerSize - 1)
	if g.mem == nil || g.path == "" || to-g.released < releaseStep {
		return
	}
	release(g.mem[g.released:to])
	g.released = to
}

// settle syncs and unmaps the lane's sealed segments. It truncates the unused space of a segment that is not full.
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

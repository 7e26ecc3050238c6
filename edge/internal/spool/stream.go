package spool

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/click"
)

// stream holds all segments of one lane of one start.
type stream struct {
	lane click.Lane
	live bool    // belongs to this start: more clicks may come
	loss numbers // dropped after the last record, as stored by an earlier process

	last  atomic.Uint64 // highest published number
	acked atomic.Uint64 // all numbers up to this one were acknowledged
	done  atomic.Bool   // belongs to an earlier start, and all of it was acknowledged

	mu       sync.Mutex
	segments []*segment // by index; in a live stream, the last one may not be in use yet
}

// base returns the first number that the stream can still deliver. Segments are deleted only after they were
// acknowledged, so missing numbers at the front are not lost.
func (st *stream) base() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.segments) == 0 || st.segments[0].index == 0 {
		return 1
	}
	return max(st.segments[0].first.Load(), 1)
}

// after returns the first segment with a record and an index of at least index, or nil.
func (st *stream) after(index uint64) *segment {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, g := range st.segments {
		if g.index >= index && g.first.Load() != 0 {
			return g
		}
	}
	return nil
}

func (st *stream) addSegment(g *segment) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.segments = append(st.segments, g)
}

func (st *stream) remove(g *segment) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.segments = slices.DeleteFunc(st.segments, func(other *segment) bool { return other == g })
}

func (st *stream) all() []*segment {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.segments)
}

// shipped reports whether all of the segment was acknowledged.
func (st *stream) shipped(g *segment) bool {
	return g.sealed.Load() && (st.done.Load() || st.live && g.last.Load() <= st.acked.Load() ||
		!st.live && max(g.last.Load(), g.loss.to) <= st.acked.Load())
}

// pending returns how many numbers wait for an acknowledgement.
func (st *stream) pending() uint64 {
	last, acked := st.last.Load(), max(st.acked.Load(), st.base()-1)
	if st.done.Load() || last <= acked {
		return 0
	}
	return last - acked
}

// delivered reports whether every number up to upTo was acknowledged.
func (st *stream) delivered(upTo uint64) bool {
	return st.done.Load() || max(st.acked.Load(), st.base()-1) >= upTo
}

// Delivered waits until every click that was appended before the call is acknowledged. It returns the error of ctx if
// ctx ends first.
func (s *Spool) Delivered(ctx context.Context) error {
	last := make([]uint64, len(s.streams))
	for i, st := range s.streams {
		last[i] = st.last.Load()
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i, st := range s.streams {
		for !st.delivered(last[i]) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// place is a read position in a stream.
type place struct {
	st   *stream
	seg  *segment // nil: before the segment with index from
	from uint64
	file *os.File
	walk walker
	off  int64
	next uint64 // the next expected number
}

// openSegment opens the segment. If that fails, all its records count as missing.
func (p *place) openSegment(g *segment) {
	p.closeSegment()
	p.seg, p.off = g, headerSize
	p.walk.src, p.walk.salt, p.walk.limit = noBytes{}, g.salted, 0
	p.walk.at, p.walk.window = 0, p.walk.window[:0]
	if f, err := os.Open(g.path); err == nil {
		p.file = f
		p.walk.src = f
	}
}

// closeSegment closes the segment and moves the place to the beginning of the next one.
func (p *place) closeSegment() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
	if p.seg != nil {
		p.from = p.seg.index + 1
		p.seg = nil
	}
}

// noBytes reads as an empty file.
type noBytes struct{}

func (noBytes) ReadAt([]byte, int64) (int, error) { return 0, os.ErrClosed }

// peek returns the next valid record with a number of at least p.next, without moving past it. If the stream has no
// such record at the moment, done is true. If records are missing or damaged, the number of the record is above
// p.next.
func (p *place) peek() (r record, done bool) {
	for {
		if p.seg == nil {
			g := p.st.after(p.from)
			if g == nil {
				return record{}, true
			}
			if g.sealed.Load() && g.last.Load() < p.next {
				p.from = g.index + 1
				continue
			}
			p.openSegment(g)
		}
		sealed := p.seg.sealed.Load() // before end, which is final only once sealed is set
		p.walk.limit = p.seg.end.Load()
		for p.off < p.walk.limit {
			r, ok := p.walk.record(p.off)
			if !ok {
				p.seg.damaged.Store(true)
				r, p.off, ok = p.walk.findRecord(p.off, p.next-1)
				if !ok {
					break
				}
			}
			if r.seq >= p.next {
				return r, false
			}
			p.off = r.next
		}
		if !sealed {
			return record{}, true
		}
		p.closeSegment()
	}
}

// pass moves the place past a record that peek returned.
func (p *place) pass(r record) {
	p.off = r.next
	p.next = r.seq + 1
}

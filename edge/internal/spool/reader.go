package spool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/click"
)

// Reader returns the clicks of one lane in batches, in order. It first returns the clicks that earlier starts left in
// the lanes with the same number, then those of this start. Loss markers report the numbers of clicks that were
// dropped or that the disk lost. So every number up to the last one is either delivered or reported by a marker.
//
// Only one goroutine may use a Reader. Reship may be called concurrently.
type Reader struct {
	spool   *Spool
	live    *lane
	streams []*stream // oldest first, the live one last
	current int
	place   place
	batch   click.Batch // the batch that waits for Ack; Count is 0 without one
	records []byte      // the memory of batch.Records

	mu      sync.Mutex
	repairs []repair
	redo    place // the position in repairs[0], if its st is set
}

// repair is a range of one stream that is to be delivered again.
type repair struct {
	st       *stream
	from, to uint64
}

// maxRepairs is the maximum number of queued ranges per lane.
const maxRepairs = 1024

var (
	// ErrNotRetained is wrapped by the error of Reship if no segment with the numbers is left.
	ErrNotRetained = errors.New("spool: the clicks are no longer retained")
	// ErrBusy is returned by Reship if too many ranges are queued. Try again later.
	ErrBusy = errors.New("spool: too many ranges are queued for shipping again")
)

func newReader(s *Spool, l *lane, streams []*stream) *Reader {
	r := &Reader{spool: s, live: l, streams: streams}
	r.rewind()
	return r
}

// rewind moves the reader to the first number of its current stream that was not acknowledged.
func (r *Reader) rewind() {
	st := r.streams[r.current]
	r.place.closeSegment()
	r.place = place{st: st, walk: r.place.walk, next: max(st.acked.Load()+1, st.base())}
}

// Wait waits until Next has a batch. It returns the context's error if the context ends first.
func (r *Reader) Wait(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.ready() {
			return nil
		}
		r.live.waiting.Store(true)
		if r.ready() { // an append may have come before waiting was set
			r.live.waiting.Store(false)
			return nil
		}
		select {
		case <-r.live.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *Reader) ready() bool {
	if r.batch.Count > 0 || r.current < len(r.streams)-1 || r.place.next <= r.live.stream.last.Load() {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.repairs) > 0
}

// Backlog returns a lower bound of the bytes of waiting records. A caller may wait until there are enough for a batch.
func (r *Reader) Backlog() int64 {
	if r.batch.Count > 0 || r.current < len(r.streams)-1 {
		return r.spool.cfg.SegmentBytes
	}
	g := r.place.seg
	if g == nil {
		if g = r.place.st.after(r.place.from); g == nil {
			return 0
		}
		return g.end.Load() - headerSize
	}
	if g.sealed.Load() && r.place.st.after(g.index+1) != nil {
		return r.spool.cfg.SegmentBytes
	}
	return g.end.Load() - r.place.off
}

// Next returns the next batch, or nil if no clicks wait. The batch has at most maxEvents events and maxBytes bytes of
// records, but at least one event. Until Ack, Next returns the same batch again. The reader owns the batch and its
// Records and does not change them until Ack.
func (r *Reader) Next(maxEvents, maxBytes int) *click.Batch {
	if r.batch.Count > 0 {
		return &r.batch
	}
	if r.fillRepair(maxEvents, maxBytes) {
		return &r.batch
	}
	for {
		if r.fill(maxEvents, maxBytes) {
			return &r.batch
		}
		st := r.streams[r.current]
		if st.live {
			return nil
		}
		st.done.Store(true)
		r.current++
		r.rewind()
	}
}

// Ack acknowledges the batch that Next returned: it is stored durably, and Next need not return it again.
func (r *Reader) Ack() {
	b := &r.batch
	if b.Count > 0 && !b.Repair {
		st, last := r.streams[r.current], b.First+uint64(b.Count)-1
		st.acked.Store(last)
		if err := r.spool.cursors.advance(cursorLane{b.Epoch, b.Lane.Lane}, last); err != nil {
			// At worst, the batch is delivered again after a restart.
			r.spool.cursorErrors.Add(1)
		}
		if r.live.noRoom.Load() {
			r.spool.kick()
		}
	}
	*b = click.Batch{}
}

// start begins a batch.
func (r *Reader) start(lane click.Lane, first uint64, repair bool) {
	r.batch = click.Batch{Lane: lane, First: first, Repair: repair}
	r.records = r.records[:0]
}

// readStep is how many records are read at a time, in less than 100 µs. Redirects that arrive meanwhile wait on a machine with one
// processor, and the runtime asks for them only when no goroutine is runnable.
const readStep = 128

// room reports whether another record of the given size fits into the batch.
func (r *Reader) room(bytes, maxEvents, maxBytes int) bool {
	return r.batch.Count == 0 || r.batch.Count < maxEvents && len(r.records)+bytes <= maxBytes
}

func (r *Reader) appendRecord(payload []byte) {
	r.records = append(r.records, payload...)
	r.batch.Records = r.records
	r.batch.Count++
}

// fill makes a batch from the current stream. It returns false if the stream has no waiting records.
func (r *Reader) fill(maxEvents, maxBytes int) bool {
	p := &r.place
	for {
		published := p.st.last.Load() // load this before peek reads the ends of the segments
		rec, done := p.peek()
		if done {
			if r.batch.Count == 0 && published >= p.next {
				// Published records are missing: the end of a segment is damaged, or an earlier process dropped them.
				r.mark(p.next, published)
			}
			return r.batch.Count > 0
		}
		if rec.seq > p.next {
			if r.batch.Count > 0 {
				return true // a batch has no gaps
			}
			if from, to := lossIn(rec); to != rec.seq || from > p.next {
				if to != rec.seq {
					from = rec.seq
				}
				r.mark(p.next, from-1)
				continue
			}
		}
		if !r.room(len(rec.payload), maxEvents, maxBytes) {
			return true
		}
		if r.batch.Count == 0 {
			r.start(p.st.lane, rec.seq, false)
		}
		r.appendRecord(rec.payload)
		if p.pass(rec); r.batch.Count%readStep == 0 {
			time.Sleep(time.Microsecond)
		}
	}
}

// mark begins a batch with a marker for numbers without a record. The same range always gives the same bytes.
func (r *Reader) mark(from, to uint64) {
	st := r.place.st
	marker := click.Event{Seq: to, LostFrom: from, LostTo: to}
	for _, g := range st.all() {
		if marker.Time == 0 || g.first.Load() != 0 && g.first.Load() <= to {
			marker.Time = g.created
		}
	}
	if lost := st.loss; lost.to == 0 || from > lost.to || to < lost.from {
		r.spool.lost.Add(to - from + 1)
		r.spool.log.Error("clicks missing from spool", "epoch", st.lane.Epoch, "lane", st.lane.Lane, "from", from, "to", to)
	}
	r.start(st.lane, to, false)
	r.appendRecord(click.AppendRecord(nil, &marker))
	r.place.next = to + 1
}

// lossIn returns the range of a loss marker, or zeros if the record is a click.
func lossIn(rec record) (from, to uint64) {
	var e click.Event
	d := click.NewDecoder(&click.Batch{First: rec.seq, Count: 1, Records: rec.payload})
	if ok, err := d.Next(&e); !ok || err != nil {
		return 0, 0
	}
	return e.LostFrom, e.LostTo
}

// Reship queues a range of a lane's numbers, both ends included, for another delivery in batches with Repair set. It
// skips numbers that are not yet acknowledged, because they are delivered anyway. It returns how many of the numbers
// are in retained segments, or an error that wraps ErrNotRetained if none is. The queue does not survive a restart.
func (s *Spool) Reship(id click.Lane, from, to uint64) (uint64, error) {
	for _, r := range s.readers {
		for _, st := range r.streams {
			if st.lane == id {
				return r.reship(st, from, to)
			}
		}
	}
	return 0, fmt.Errorf("%w: epoch %d, lane %d", ErrNotRetained, id.Epoch, id.Lane)
}

func (r *Reader) reship(st *stream, from, to uint64) (uint64, error) {
	to = min(to, st.acked.Load())
	var held uint64
	for _, g := range st.all() {
		first, last := max(from, g.first.Load()), min(to, g.last.Load())
		if g.first.Load() != 0 && first <= last {
			held += last - first + 1
		}
	}
	if held == 0 {
		return 0, fmt.Errorf("%w: epoch %d, lane %d, %d to %d", ErrNotRetained, st.lane.Epoch, st.lane.Lane, from, to)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.repairs) >= maxRepairs {
		return 0, ErrBusy
	}
	r.repairs = append(r.repairs, repair{st: st, from: max(from, 1), to: to})
	r.live.poke()
	return held, nil
}

// fillRepair makes a batch from the queued ranges. It returns false if the queue is empty.
func (r *Reader) fillRepair(maxEvents, maxBytes int) bool {
	for {
		r.mu.Lock()
		if len(r.repairs) == 0 {
			r.mu.Unlock()
			return false
		}
		order := r.repairs[0]
		r.mu.Unlock()

		p := &r.redo
		if p.st == nil {
			*p = place{st: order.st, next: order.from}
		}
		for {
			rec, done := p.peek()
			if done || rec.seq > order.to {
				break
			}
			if r.batch.Count > 0 && rec.seq != p.next || !r.room(len(rec.payload), maxEvents, maxBytes) {
				return true
			}
			if r.batch.Count == 0 {
				r.start(order.st.lane, rec.seq, true)
			}
			r.appendRecord(rec.payload)
			p.pass(rec)
		}
		p.closeSegment()
		*p = place{}
		r.mu.Lock()
		r.repairs = r.repairs[1:]
		r.mu.Unlock()
		if r.batch.Count > 0 {
			return true
		}
	}
}

// close closes the files.
func (r *Reader) close() {
	r.place.closeSegment()
	r.redo.closeSegment()
}

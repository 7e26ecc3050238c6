package spool

import (
	"encoding/binary"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/shortline/shortline/shared/click"
)

// lateWait bounds how long an append waits for a segment that is being prepared. Without the wait, a short delay of the
// disk would drop clicks. A disk that hangs costs one such wait per lane. It is a variable for tests.
var lateWait = 250 * time.Millisecond

// lane receives appends. Its lock is held while one event is copied into memory.
type lane struct {
	spool *Spool
	id    click.Lane

	mu      sync.Mutex
	seg     *segment // nil before the first append
	off     int64    // offset of the next record in seg
	full    bool     // seg is full
	retire  bool     // seg is not writable
	shed    bool     // no space: do not wait for a segment
	closed  bool
	seq     uint64     // the last number assigned
	loss    numbers    // dropped since the last record
	retired []*segment // sealed, still mapped

	next     chan *segment // the prepared segment, at most one
	dropping atomic.Bool   // loss is not empty
	noRoom   atomic.Bool   // the last attempt to prepare a segment failed: disk full, or cap reached
	refused  chan struct{} // tells the append that waits for a segment of such a failure; at most one
	wanted   uint64        // index of the next segment; used only by the keeper
	pace     int64         // bytes to populate ahead; used only by the keeper
	ahead    int64         // offset in aheadOf up to which pages are populated; only the keeper uses this and the next two
	aheadOf  *segment
	paceFrom int64 // offset of the lane one round ago

	stream  *stream
	dropped atomic.Uint64
	written atomic.Uint64

	waiting atomic.Bool   // the reader is asleep
	wake    chan struct{} // at most one
	syncing sync.Mutex    // held while a mapping of the lane is synced, populated or released

	_ [64]byte // keeps the next lane's lock out of this lane's cache lines
}

// Append is Put, and waits for the disk with SyncAlways. It reports whether the click is stored.
func (s *Spool) Append(hint uint32, e *click.Event) bool {
	r, ok := s.Put(hint, e)
	return ok && Durable([]Receipt{r})
}

// Receipt names a stored click that must not be confirmed before it is on the disk. The zero value names none.
type Receipt struct {
	lane *lane
	seg  *segment
	end  int64 // of the record
}

// Durable waits until the clicks are on the disk. It returns false if a sync has failed: then they may be lost or not. All clicks
// that were stored before a sync share it.
func Durable(receipts []Receipt) bool {
	for _, r := range receipts {
		if r.lane != nil && !r.lane.syncTo(r.seg, r.end) {
			return false
		}
	}
	return true
}

// Put stores one click, sets its number and lane (e.Seq, e.Lane) and returns true. The click then survives the end of the process
// (for a crash of the machine see SyncMode; only with SyncAlways is there a Receipt). Put returns false if there is no space. Then the
// click is dropped and counted, its number is not used again, and a loss marker will report it. In both cases the redirect can be
// answered.
//
// The hint selects the lane. It should be a cheap number that differs between concurrent callers, such as the number
// of a connection. Put copies what it keeps of e. It does not allocate and makes no system call. Any number of goroutines may
// call it.
func (s *Spool) Put(hint uint32, e *click.Event) (r Receipt, ok bool) {
	n := uint32(len(s.lanes))
	at := hint % n
	l := s.lanes[at]
	if !l.mu.TryLock() {
		// The lock's holder may have been preempted, so try the neighbour lane.
		if near := s.lanes[(at+1)%n]; near.mu.TryLock() {
			l = near
		} else {
			l.mu.Lock()
		}
	}
	r, ok = l.store(e)
	l.mu.Unlock()
	if !ok {
		return s.putElsewhere(l, e)
	}
	return r, true
}

// putElsewhere tries every other lane. If all are full, it drops the click in lane l.
func (s *Spool) putElsewhere(l *lane, e *click.Event) (r Receipt, ok bool) {
	for _, other := range s.lanes {
		if other == l {
			continue
		}
		if r, ok = other.lockAndStore(e, false); ok {
			return r, true
		}
	}
	return l.lockAndStore(e, true)
}

// lockAndStore stores the event if there is space. If the lane is full and last is true, it drops the event before it
// releases the lock, because a number may be dropped only while the lane accepts no clicks.
func (l *lane) lockAndStore(e *click.Event, last bool) (r Receipt, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok = l.store(e); !ok && last {
		l.drop(e)
	}
	return r, ok
}

// store writes and counts the event. The lane is locked.
func (l *lane) store(e *click.Event) (r Receipt, ok bool) {
	if !l.write(e) {
		return r, false
	}
	l.written.Add(1)
	if l.spool.cfg.Sync == SyncAlways {
		r = Receipt{l, l.seg, l.off}
	}
	return r, true
}

// write appends the event if there is space within lateWait. The lane is locked.
func (l *lane) write(e *click.Event) bool {
	// Try twice: if the segment is not writable, use the next one.
	for range 2 {
		if l.closed {
			return false
		}
		if l.seg == nil || l.full || l.retire || l.seg.failed.Load() || l.off+recordHeader+click.MaxRecord > int64(len(l.seg.mem)) {
			if !l.roll() {
				return false
			}
		}
		if l.put(e, l.seq+1) {
			return true
		}
		l.retire = true
	}
	return false
}

// put writes one record after the last one and publishes it. It returns false and publishes nothing if the memory is
// not writable. That happens if the file behind the mapping was cut or the disk fails.
func (l *lane) put(e *click.Event, seq uint64) (ok bool) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			mustBeFault(r)
			l.spool.faults.Add(1)
			ok = false
		}
	}()
	g, mem, off := l.seg, l.seg.mem, l.off
	e.Seq, e.Lane = seq, l.id.Lane
	n := len(click.AppendRecord(mem[off+recordHeader:off+recordHeader], e))
	b := mem[off : off+recordHeader+int64(n)]
	binary.LittleEndian.PutUint64(b[8:], seq)
	binary.LittleEndian.PutUint32(b[4:], recordSum(g.salted, off, b[8:]))
	// This store makes the record valid. The pointer is aligned, because the mapping begins at a page and records
	// begin at multiples of 8 within it. Test runs with the race detector and checkptr would find a violation.
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b[0])), uint32(n))

	l.seq = seq
	l.off = off + int64(recordSize(n))
	if g.first.Load() == 0 {
		g.first.Store(seq)
	}
	g.count.Add(1)
	g.last.Store(seq)
	g.end.Store(l.off)
	// Store this after end: a reader that sees this number also sees the bytes.
	l.stream.last.Store(seq)
	if l.waiting.Load() && l.waiting.CompareAndSwap(true, false) {
		l.poke()
	}
	return true
}

// mustBeFault panics again unless r is the runtime's error for a memory fault.
func mustBeFault(r any) {
	if _, fault := r.(interface{ Addr() uintptr }); !fault {
		panic(r)
	}
}

// poke wakes the lane's reader.
func (l *lane) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// roll seals the current segment and switches to the prepared one. If clicks were dropped, the new segment begins
// with a loss marker. Without a prepared segment, roll returns false and the lane stays full. The lane is locked.
func (l *lane) roll() bool {
	if l.seg != nil && !l.full {
		l.full = true
		l.sealCurrent()
	}
	g := l.nextSegment()
	if g == nil {
		l.shed = true
		return false
	}
	if l.seg != nil && l.seg.mem != nil && l.seg.path != "" {
		l.retired = append(l.retired, l.seg)
	}
	l.seg, l.off = g, headerSize
	l.full, l.retire, l.shed = false, false, false
	l.spool.kick()
	first := l.seq + 1
	if l.loss.to != 0 {
		first = l.loss.to
	}
	if !l.touchHeader(func(h []byte) { putFirst(h, first) }) {
		l.retire = true
	}
	if l.loss.to != 0 && !l.retire {
		marker := click.Event{Time: time.Now().UnixMilli(), LostFrom: l.loss.from, LostTo: l.loss.to}
		if l.put(&marker, l.loss.to) {
			l.loss = numbers{}
			l.dropping.Store(false)
		} else {
			l.retire = true
		}
	}
	return !l.retire
}

// nextSegment returns the prepared segment, or nil.
func (l *lane) nextSegment() *segment {
	select {
	case g := <-l.next:
		return g
	default:
	}
	if l.shed || l.noRoom.Load() {
		return nil
	}
	select {
	case <-l.refused: // an earlier one
	default:
	}
	l.spool.late.Add(1)
	l.spool.kick()
	timer := time.NewTimer(lateWait)
	defer timer.Stop()
	select {
	case g := <-l.next:
		return g
	case <-l.refused:
		return nil
	case <-timer.C:
		return nil
	}
}

// drop counts the event as dropped and stores its number in the header for the next start. The lane is locked.
func (l *lane) drop(e *click.Event) {
	l.dropped.Add(1)
	if l.closed {
		return
	}
	l.seq++
	e.Seq, e.Lane = l.seq, l.id.Lane
	if l.loss.to == 0 {
		l.loss.from = l.seq
		l.dropping.Store(true)
	}
	l.loss.to = l.seq
	if l.seg != nil {
		l.touchHeader(func(h []byte) { putLoss(h, l.loss) })
	}
}

// sealCurrent marks the current segment as complete.
func (l *lane) sealCurrent() {
	l.touchHeader(l.seg.putSeal)
	l.seg.sealed.Store(true)
	if l.waiting.Load() && l.waiting.CompareAndSwap(true, false) {
		l.poke()
	}
}

// touchHeader calls change with the current segment's header page. It returns false if the page is not writable.
func (l *lane) touchHeader(change func(h []byte)) (ok bool) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			mustBeFault(r)
			l.spool.faults.Add(1)
			ok = false
		}
	}()
	change(l.seg.mem[:headerSize])
	l.seg.headNews.Store(true)
	return true
}

// syncTo makes the segment's records before the offset durable, and with them all records that other goroutines have
// written meanwhile. A goroutine that waited for the lock often finds its record already synced. syncTo reports whether they are
// durable.
func (l *lane) syncTo(g *segment, end int64) bool {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if g.synced < end {
		l.syncLocked(g)
	}
	return g.synced >= end
}

// syncLocked syncs the new parts of a segment. A failed sync may have silently discarded changed pages. A later
// successful sync would prove nothing, so the segment is then neither synced nor written again.
func (l *lane) syncLocked(g *segment) {
	end := g.end.Load()
	headNews := g.headNews.Swap(false)
	if g.mem == nil || g.failed.Load() || g.path == "" || (g.synced >= end && !headNews) {
		return
	}
	var err error
	if headNews {
		err = l.spool.disk.sync(g.mem[:headerSize])
	}
	if from := g.synced &^ (headerSize - 1); err == nil && g.synced < end {
		err = l.spool.disk.sync(g.mem[from:min(int64(len(g.mem)), (end+headerSize-1)&^(headerSize-1))])
	}
	if err == nil {
		g.synced = max(g.synced, end)
		return
	}
	g.failed.Store(true)
	l.spool.syncErrors.Add(1)
	l.spool.log.Error("spool sync failed, segment retired", "path", g.path, "error", err)
}

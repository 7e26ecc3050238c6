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

// lateWait bounds how long one append waits for a segment that is being prepared while there is room. Without
// it a moment's delay of the disk would cost clicks; with it a disk that hangs costs one such wait a lane.
const lateWait = 250 * time.Millisecond

// lane is where appends go. Its lock is held for one copy of an event into memory.
type lane struct {
	spool *Spool
	id    click.Lane

	mu      sync.Mutex
	seg     *segment // nil before the first append
	off     int64    // where the next record goes in seg
	full    bool     // seg takes no more
	retire  bool     // seg can't be written
	shed    bool     // no room: don't wait for a segment
	closed  bool
	seq     uint64     // the last number given out
	loss    numbers    // dropped since the last record
	retired []*segment // sealed, still mapped

	next     chan *segment // at most one, prepared
	dropping atomic.Bool   // loss is not empty
	noRoom   atomic.Bool   // the last try to prepare one met a full disk or the cap
	wanted   uint64        // index of the next segment; the keeper's
	pace     int64         // bytes to populate ahead; the keeper's
	ahead    int64         // offset in aheadOf up to which pages are populated; the keeper's, like the next two
	aheadOf  *segment
	paceFrom int64 // where the lane was a round ago

	stream  *stream
	dropped atomic.Uint64
	written atomic.Uint64

	waiting atomic.Bool   // the reader sleeps
	wake    chan struct{} // at most one
	syncing sync.Mutex    // held while a mapping of the lane is synced, populated or given back

	_ [64]byte // keeps the next lane's lock out of this one's cache lines
}

// Append stores one click, gives it its number (e.Seq), and returns true; the click then survives the end of
// the process (see SyncMode for the end of the machine). It returns false when there was no room: the click is
// dropped and counted, its number is not given again, and a loss marker will say so. Either way the redirect can
// be answered.
//
// The hint picks the lane: any cheap number that differs between callers that run at once, such as a
// connection's. Append copies all that it keeps of e, doesn't allocate, and makes no system call, except that
// with SyncAlways it waits for the disk. Any number of goroutines may call it.
func (s *Spool) Append(hint uint32, e *click.Event) bool {
	n := uint32(len(s.lanes))
	at := hint % n
	l := s.lanes[at]
	if !l.mu.TryLock() {
		// Its holder may have lost the processor in the middle: the neighbour will do as well.
		if near := s.lanes[(at+1)%n]; near.mu.TryLock() {
			l = near
		} else {
			l.mu.Lock()
		}
	}
	ok := l.write(e)
	seg, end := l.seg, l.off
	l.mu.Unlock()
	if !ok {
		return s.appendElsewhere(l, e)
	}
	l.appended(seg, end)
	return true
}

// appendElsewhere tries every lane before the click is given up as one of the lane l.
func (s *Spool) appendElsewhere(l *lane, e *click.Event) bool {
	for _, other := range s.lanes {
		if other != l && other.lockAndWrite(e, false) {
			return true
		}
	}
	return l.lockAndWrite(e, true)
}

// lockAndWrite appends the event if there is room. If not, and if it is the last hope, it drops the event before
// the lock is given back: a number may be dropped only while the lane takes no clicks.
func (l *lane) lockAndWrite(e *click.Event, last bool) bool {
	l.mu.Lock()
	ok := l.write(e)
	if !ok && last {
		l.drop(e)
	}
	seg, end := l.seg, l.off
	l.mu.Unlock()
	if ok {
		l.appended(seg, end)
	}
	return ok
}

// appended does what remains to be done for a click that was written, without the lock.
func (l *lane) appended(g *segment, end int64) {
	l.written.Add(1)
	if l.spool.cfg.Sync == SyncAlways {
		l.syncTo(g, end)
	}
}

// write appends the event if there is room, at once or within lateWait. The lane is locked.
func (l *lane) write(e *click.Event) bool {
	// Twice: a segment that turns out to be unwritable is left for the next one.
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

// put writes one record behind the last and publishes it. It returns false if the memory could not be written,
// which is how a file that was cut or a disk that fails shows in a mapping; nothing is published then.
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
	e.Seq = seq
	n := len(click.AppendRecord(mem[off+recordHeader:off+recordHeader], e))
	b := mem[off : off+recordHeader+int64(n)]
	binary.LittleEndian.PutUint64(b[8:], seq)
	binary.LittleEndian.PutUint32(b[4:], recordSum(g.salted, off, b[8:]))
	// The record exists from here on. The pointer is aligned, since the mapping begins at a page and records at
	// multiples of 8 within it; the race detector's and checkptr's runs of the tests would notice otherwise.
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b[0])), uint32(n))

	l.seq = seq
	l.off = off + int64(recordSize(n))
	if g.first.Load() == 0 {
		g.first.Store(seq)
	}
	g.count.Add(1)
	g.last.Store(seq)
	g.end.Store(l.off)
	// After end: a reader that sees this number sees the bytes as well.
	l.stream.last.Store(seq)
	if l.waiting.Load() && l.waiting.CompareAndSwap(true, false) {
		l.poke()
	}
	return true
}

// mustBeFault panics again unless r is what the runtime makes of a memory fault.
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

// roll seals the segment in use and takes the prepared one, beginning it with a loss marker where clicks were
// dropped before. It returns false, with the lane unchanged, if there is none. The lane is locked.
func (l *lane) roll() bool {
	if l.seg != nil && !l.full {
		l.full = true
		l.sealCurrent()
	}
	g := l.take()
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

// take returns the prepared segment, or nil.
func (l *lane) take() *segment {
	select {
	case g := <-l.next:
		return g
	default:
	}
	if l.shed || l.noRoom.Load() {
		return nil
	}
	l.spool.late.Add(1)
	l.spool.kick()
	timer := time.NewTimer(lateWait)
	defer timer.Stop()
	select {
	case g := <-l.next:
		return g
	case <-timer.C:
		return nil
	}
}

// drop counts the event as lost and notes its number where the next start finds it. The lane is locked.
func (l *lane) drop(e *click.Event) {
	l.dropped.Add(1)
	if l.closed {
		return
	}
	l.seq++
	e.Seq = l.seq
	if l.loss.to == 0 {
		l.loss.from = l.seq
		l.dropping.Store(true)
	}
	l.loss.to = l.seq
	if l.seg != nil {
		l.touchHeader(func(h []byte) { putLoss(h, l.loss) })
	}
}

// sealCurrent marks the segment in use as complete.
func (l *lane) sealCurrent() {
	l.touchHeader(l.seg.putSeal)
	l.seg.sealed.Store(true)
	if l.waiting.Load() && l.waiting.CompareAndSwap(true, false) {
		l.poke()
	}
}

// touchHeader lets change write to the header page of the segment in use and reports whether it could.
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

// syncTo makes the records of the segment before the offset durable, together with all that other goroutines
// have written meanwhile: who waits for the lock finds that its record went along.
func (l *lane) syncTo(g *segment, end int64) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if g.synced >= end {
		return
	}
	l.syncLocked(g)
}

// syncLocked syncs what is new in a segment. A failed sync may have thrown the pages' changes away without a
// trace, so that a second one that succeeds proves nothing: the segment is not synced nor written again.
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
	l.spool.log.Error("spool sync failed, the segment is retired", "path", g.path, "error", err)
}

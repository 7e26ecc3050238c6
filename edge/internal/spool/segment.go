package spool

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/click"
)

// A segment is a file of one page of header and then records, all little-endian.
//
// Header: an identity, written when the file is made; the number of the first record, when it is taken into
// use; a seal, when it is full or left behind by a process that is gone; and the numbers that were dropped after
// its last record. The seal and the loss are hints that make recovery quick and exact: without them, or without
// the whole page, the records can still be found and verified, since their checksums are salted with the
// identity, which the file's name repeats.
//
// Record: length of the payload (32 bits), CRC-32C (32 bits) over number and payload, number (64 bits), payload,
// zeros up to a multiple of 8. The length is stored last: where it is 0 there is no record, or not yet.
const (
	segmentMagic = "SLSPOOL\x01"
	headerSize   = 4096
	recordHeader = 16

	headEdge    = 8
	headEpoch   = 16
	headLane    = 20
	headIndex   = 24
	headCreated = 32
	headSum     = 40  // over all before
	headFirst   = 64  // the number and its complement, 64 bits each
	headSeal    = 128 // first, last, count, end: 64 bits each, then their salted checksum
	headLoss    = 192 // from, to, and the complement of their sum: 64 bits each, stored in this order

	// maxPayload bounds a record's payload when reading: a later version's may be longer than ours.
	maxPayload = 16 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// segmentID names one segment among all that a directory ever held.
type segmentID struct {
	click.Lane
	index uint64 // from 0, in order within the lane
}

// salt goes into every checksum in the segment, so that no record can be taken for one of another segment.
func (id segmentID) salt() uint32 {
	b := binary.LittleEndian.AppendUint64(nil, id.Edge)
	b = binary.LittleEndian.AppendUint32(b, id.Epoch)
	b = binary.LittleEndian.AppendUint32(b, uint32(id.Lane.Lane))
	b = binary.LittleEndian.AppendUint64(b, id.index)
	return crc32.Checksum(b, castagnoli)
}

type segment struct {
	segmentID
	salted  uint32 // salt()
	path    string // "" for one that exists in memory only
	created int64  // Unix milliseconds, 0 where the header is lost

	size   atomic.Int64  // bytes it takes on the disk
	first  atomic.Uint64 // number of its first record, 0 while it has none
	last   atomic.Uint64
	count  atomic.Uint64
	end    atomic.Int64 // where the published records end, from the file's start
	sealed atomic.Bool  // end is final

	loss      numbers // dropped after its last record, as a dead process noted it
	damaged   atomic.Bool
	shippedAt atomic.Int64 // Unix milliseconds when the last record was acknowledged, 0 before

	mem      []byte      // the writer's mapping, nil when it has none
	mapped   atomic.Bool // the writer is not done with it
	headNews atomic.Bool // the header changed since the last sync
	synced   int64       // records before this offset are durable; under the lane's syncing
	released int64       // the pages of records before this offset are no more in memory for us; under the lane's syncing
	failed   atomic.Bool // a sync failed: neither synced nor appended to again
}

// createSegment makes a segment's file with all of its blocks reserved, and maps it. Nothing is left behind
// after an error.
func createSegment(dir string, id segmentID, size int64, d disk, durable bool) (g *segment, err error) {
	path := filepath.Join(dir, segmentName(id))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(path)
		}
	}()
	if err := d.allocate(f, size); err != nil {
		return nil, fmt.Errorf("reserve %d bytes for %s: %w", size, path, err)
	}
	g = newSegment(id, path)
	g.created = time.Now().UnixMilli()
	if _, err := f.WriteAt(g.header(), 0); err != nil {
		return nil, err
	}
	if g.mem, err = mapFile(f, size); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	if durable {
		// The file must be there after a power cut, else synced records would be synced into nothing.
		if err := f.Sync(); err != nil {
			return nil, err
		}
		if err := syncDir(dir); err != nil {
			return nil, err
		}
	}
	g.size.Store(size)
	g.mapped.Store(true)
	g.synced, g.released = headerSize, headerSize
	return g, nil
}

func newSegment(id segmentID, path string) *segment {
	g := &segment{segmentID: id, salted: id.salt(), path: path}
	g.end.Store(headerSize)
	return g
}

// header returns a new header page.
func (g *segment) header() []byte {
	h := make([]byte, headerSize)
	copy(h, segmentMagic)
	binary.LittleEndian.PutUint64(h[headEdge:], g.Edge)
	binary.LittleEndian.PutUint32(h[headEpoch:], g.Epoch)
	binary.LittleEndian.PutUint32(h[headLane:], uint32(g.Lane.Lane))
	binary.LittleEndian.PutUint64(h[headIndex:], g.index)
	binary.LittleEndian.PutUint64(h[headCreated:], uint64(g.created))
	binary.LittleEndian.PutUint32(h[headSum:], crc32.Checksum(h[:headSum], castagnoli))
	return h
}

// putSeal writes what the segment holds into a header page.
func (g *segment) putSeal(h []byte) {
	binary.LittleEndian.PutUint64(h[headSeal:], g.first.Load())
	binary.LittleEndian.PutUint64(h[headSeal+8:], g.last.Load())
	binary.LittleEndian.PutUint64(h[headSeal+16:], g.count.Load())
	binary.LittleEndian.PutUint64(h[headSeal+24:], uint64(g.end.Load()))
	binary.LittleEndian.PutUint32(h[headSeal+32:], crc32.Update(g.salted, castagnoli, h[headSeal:headSeal+32]))
}

// takeSeal reads the seal from a header page and reports whether there is one.
func (g *segment) takeSeal(h []byte) bool {
	if crc32.Update(g.salted, castagnoli, h[headSeal:headSeal+32]) != binary.LittleEndian.Uint32(h[headSeal+32:]) {
		return false
	}
	g.first.Store(binary.LittleEndian.Uint64(h[headSeal:]))
	g.last.Store(binary.LittleEndian.Uint64(h[headSeal+8:]))
	g.count.Store(binary.LittleEndian.Uint64(h[headSeal+16:]))
	g.end.Store(int64(binary.LittleEndian.Uint64(h[headSeal+24:])))
	g.sealed.Store(true)
	return true
}

// putFirst writes the number of the first record into a header page.
func putFirst(h []byte, first uint64) {
	binary.LittleEndian.PutUint64(h[headFirst:], first)
	binary.LittleEndian.PutUint64(h[headFirst+8:], ^first)
}

// takeFirst returns the number of the first record, 0 where the header does not say.
func takeFirst(h []byte) uint64 {
	if first := binary.LittleEndian.Uint64(h[headFirst:]); binary.LittleEndian.Uint64(h[headFirst+8:]) == ^first {
		return first
	}
	return 0
}

// putLoss writes a range of dropped numbers, one longer than the range written before, into a header page.
func putLoss(h []byte, loss numbers) {
	binary.LittleEndian.PutUint64(h[headLoss:], loss.from)
	binary.LittleEndian.PutUint64(h[headLoss+8:], loss.to)
	binary.LittleEndian.PutUint64(h[headLoss+16:], ^(loss.from + loss.to))
}

// takeLoss returns the range of dropped numbers after the number last. A process that was killed between two of
// putLoss's stores leaves the check of the range before.
func takeLoss(h []byte, last uint64) numbers {
	loss := numbers{binary.LittleEndian.Uint64(h[headLoss:]), binary.LittleEndian.Uint64(h[headLoss+8:])}
	check := ^binary.LittleEndian.Uint64(h[headLoss+16:])
	if sum := loss.from + loss.to; loss.from <= last || loss.to < loss.from || loss.to-loss.from > maxLoss ||
		check != sum && check != sum-1 && check != 0xffffffffffffffff {
		return numbers{}
	}
	return loss
}

// walker steps over the records of one segment. It believes nothing but checksums, reads through a window, and
// takes what can't be read for zeros.
type walker struct {
	src    io.ReaderAt
	salt   uint32
	limit  int64  // nothing at or after this offset is looked at
	window []byte // the bytes from offset at on
	at     int64
	blind  bool // something could not be read
}

// windowSize is far more than the longest record.
const windowSize = 256 << 10

type record struct {
	seq     uint64
	payload []byte // valid until the walker moves
	next    int64  // offset of what follows
}

// bytes returns up to n bytes from the offset, fewer only at the limit.
func (w *walker) bytes(off int64, n int) []byte {
	n = int(min(int64(n), w.limit-off))
	if n <= 0 {
		return nil
	}
	if off < w.at || off+int64(n) > w.at+int64(len(w.window)) {
		w.fill(off)
	}
	return w.window[off-w.at:][:n]
}

func (w *walker) fill(off int64) {
	if w.window == nil {
		w.window = make([]byte, 0, windowSize)
	}
	w.at = off
	w.window = w.window[:min(int64(cap(w.window)), w.limit-off)]
	if n, err := w.src.ReadAt(w.window, off); err == nil || err == io.EOF {
		clear(w.window[n:])
		return
	}
	w.blind = true
	// One unreadable block must not cost its neighbours.
	for part := 0; part < len(w.window); part += headerSize {
		b := w.window[part:min(part+headerSize, len(w.window))]
		n, _ := w.src.ReadAt(b, off+int64(part))
		clear(b[n:])
	}
}

// record returns the record at the offset, if a valid one is there.
func (w *walker) record(off int64) (record, bool) {
	head := w.bytes(off, recordHeader)
	if len(head) < recordHeader {
		return record{}, false
	}
	n := binary.LittleEndian.Uint32(head)
	if n == 0 || n > maxPayload {
		return record{}, false
	}
	sum := binary.LittleEndian.Uint32(head[4:])
	b := w.bytes(off, recordHeader+int(n))
	if len(b) < recordHeader+int(n) || recordSum(w.salt, off, b[8:]) != sum {
		return record{}, false
	}
	return record{
		seq:     binary.LittleEndian.Uint64(b[8:]),
		payload: b[recordHeader:],
		next:    off + int64(recordSize(int(n))),
	}, true
}

// find returns the first valid record at or after the offset with a number above after, and its offset.
func (w *walker) find(off int64, after uint64) (record, int64, bool) {
	const stride = 64 << 10
	for off < w.limit {
		chunk := w.bytes(off, stride)
		zeros := 0
		for zeros+8 <= len(chunk) && binary.LittleEndian.Uint32(chunk[zeros:]) == 0 {
			zeros += 8
		}
		off += int64(zeros)
		switch {
		case zeros == stride: // most of a segment that was hardly used was never written
			off = max(off, w.dataFrom(off))
			continue
		case len(chunk)-zeros < recordHeader && len(chunk) < stride:
			return record{}, w.limit, false
		}
		head := w.bytes(off, recordHeader)
		if len(head) == recordHeader && binary.LittleEndian.Uint32(head) <= maxPayload && binary.LittleEndian.Uint64(head[8:]) > after {
			if r, ok := w.record(off); ok {
				return r, off, true
			}
		}
		off += 8
	}
	return record{}, w.limit, false
}

// dataFrom returns where, at or after the offset, the file has bytes that were ever written, as far as the system
// can tell.
func (w *walker) dataFrom(off int64) int64 {
	if f, ok := w.src.(*os.File); ok {
		return min(nextData(f, off), w.limit) &^ 7
	}
	return off
}

// recordSum is the checksum of a record at an offset, whose number and payload are b. Offset and length are part
// of the start value: a record that a confused disk wrote to another place is none.
func recordSum(salt uint32, off int64, b []byte) uint32 {
	return crc32.Update(salt+uint32(off)+uint32(len(b))<<20, castagnoli, b)
}

// recordSize is what a record takes in a segment, in bytes.
func recordSize(payload int) int { return (recordHeader + payload + 7) &^ 7 }

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
	"github.com/shortline/shortline/shared/durable"
)

// A segment is a file that consists of a header page and records, all little-endian.
//
// The header holds the identity, written when the file is created; the number of the first record, written when the
// segment comes into use; a seal, written when the segment is full or when a later process recovers it; and the range
// of numbers that were dropped after its last record. The seal and the loss make recovery fast and exact. Without
// them, or without the whole page, recovery can still find and verify the records: their checksums are salted with
// the identity, which is also in the file's name.
//
// A record consists of the payload's length (32 bits), a CRC-32C over number and payload (32 bits), the number (64
// bits), the payload, and zeros up to a multiple of 8. The length is stored last: 0 means that there is no record
// yet.
const (
	segmentMagic = "SLSPOOL\x01"
	headerSize   = 4096
	recordHeader = 16

	headEdge    = 8
	headEpoch   = 16
	headLane    = 20
	headIndex   = 24
	headCreated = 32
	headSum     = 40  // checksum of all preceding bytes
	headFirst   = 64  // the number and its complement, 64 bits each
	headSeal    = 128 // first, last, count, end (64 bits each), and their salted checksum
	headLoss    = 192 // from, to, and the complement of their sum (64 bits each), stored in this order

	// maxPayload bounds a record's payload on reads. A later version may write longer records than this one.
	maxPayload = 16 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// segmentID identifies a segment among all that a directory ever held.
type segmentID struct {
	click.Lane
	index uint64 // counts from 0 within the lane
}

// salt is part of every checksum in the segment, so that a record of another segment is never valid.
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
	path    string // "" if the segment exists only in memory
	created int64  // Unix milliseconds; 0 if the header is lost

	size   atomic.Int64  // bytes on the disk
	first  atomic.Uint64 // number of the first record; 0 without records
	last   atomic.Uint64
	count  atomic.Uint64
	end    atomic.Int64 // offset of the end of the published records
	sealed atomic.Bool  // end is final

	loss      numbers // dropped after the last record, as stored by an earlier process
	damaged   atomic.Bool
	shippedAt atomic.Int64 // Unix milliseconds when the last record was acknowledged; 0 before

	mem      []byte      // the writer's mapping; nil without one
	mapped   atomic.Bool // the writer still uses mem
	headNews atomic.Bool // the header changed since the last sync
	synced   int64       // records before this offset are durable; guarded by the lane's syncing
	released int64       // pages before this offset are released; guarded by the lane's syncing
	failed   atomic.Bool // a sync failed: the segment is neither synced nor appended to again
}

// createSegment creates and maps a segment's file with all of its blocks reserved. After an error it leaves no file
// behind.
func createSegment(dir string, id segmentID, size int64, d disk, survives bool) (g *segment, err error) {
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
	if survives {
		// The file itself must survive a power cut, else its synced records would be lost with it.
		if err := f.Sync(); err != nil {
			return nil, err
		}
		if err := durable.SyncDir(dir); err != nil {
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

// putSeal writes the seal into a header page.
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

// takeFirst returns the number of the first record, or 0 if the header does not contain it.
func takeFirst(h []byte) uint64 {
	if first := binary.LittleEndian.Uint64(h[headFirst:]); binary.LittleEndian.Uint64(h[headFirst+8:]) == ^first {
		return first
	}
	return 0
}

// putLoss writes a range of dropped numbers into a header page. It must be one number longer than the previous range.
func putLoss(h []byte, loss numbers) {
	binary.LittleEndian.PutUint64(h[headLoss:], loss.from)
	binary.LittleEndian.PutUint64(h[headLoss+8:], loss.to)
	binary.LittleEndian.PutUint64(h[headLoss+16:], ^(loss.from + loss.to))
}

// takeLoss returns the range of dropped numbers after the number last. If a process was killed between two stores of
// putLoss, the check word is that of the previous range.
func takeLoss(h []byte, last uint64) numbers {
	loss := numbers{binary.LittleEndian.Uint64(h[headLoss:]), binary.LittleEndian.Uint64(h[headLoss+8:])}
	check := ^binary.LittleEndian.Uint64(h[headLoss+16:])
	if sum := loss.from + loss.to; loss.from <= last || loss.to < loss.from || loss.to-loss.from > maxLoss ||
		check != sum && check != sum-1 && check != 0xffffffffffffffff {
		return numbers{}
	}
	return loss
}

// walker iterates over the records of one segment. It reads through a window and accepts only records with a valid
// checksum. Unreadable bytes count as zeros.
type walker struct {
	src    io.ReaderAt
	salt   uint32
	limit  int64  // the walker reads only before this offset
	window []byte // the bytes from offset at
	at     int64
	blind  bool // some bytes were unreadable
}

// windowSize is much larger than the longest record.
const windowSize = 256 << 10

type record struct {
	seq     uint64
	payload []byte // valid until the walker moves
	next    int64  // offset of the next record
}

// bytes returns n bytes from the offset, or fewer at the limit.
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
	// Read block by block, so that one unreadable block does not hide its neighbours.
	for part := 0; part < len(w.window); part += headerSize {
		b := w.window[part:min(part+headerSize, len(w.window))]
		n, _ := w.src.ReadAt(b, off+int64(part))
		clear(b[n:])
	}
}

// record returns the record at the offset if it is valid.
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

// findRecord returns the first valid record at or after off whose number is above after, and its offset.
func (w *walker) findRecord(off int64, after uint64) (record, int64, bool) {
	const stride = 64 << 10
	for off < w.limit {
		chunk := w.bytes(off, stride)
		zeros := 0
		for zeros+8 <= len(chunk) && binary.LittleEndian.Uint32(chunk[zeros:]) == 0 {
			zeros += 8
		}
		off += int64(zeros)
		switch {
		case zeros == stride: // most of a little-used segment was never written
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

// dataFrom returns the first offset at or after off at which the file has written bytes, as far as the system can tell.
func (w *walker) dataFrom(off int64) int64 {
	if f, ok := w.src.(*os.File); ok {
		return min(nextData(f, off), w.limit) &^ 7
	}
	return off
}

// recordSum returns the checksum of the record at off with the number and payload b. The offset and the length are part
// of the start value, so a record is invalid if the disk wrote it to the wrong place.
func recordSum(salt uint32, off int64, b []byte) uint32 {
	return crc32.Update(salt+uint32(off)+uint32(len(b))<<20, castagnoli, b)
}

// recordSize returns the size of a record in a segment, in bytes.
func recordSize(payload int) int { return (recordHeader + payload + 7) &^ 7 }

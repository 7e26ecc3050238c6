package spool

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/shortline/shortline/shared/click"
)

// maxLoss bounds the range of dropped numbers in a header. A larger range means that the header is damaged.
const maxLoss = 1 << 40

// leftBehind returns the streams of earlier starts in the directory, oldest first. Each of their segments is sealed,
// truncated to its records, and no longer written.
func leftBehind(dir string, log *slog.Logger) ([]*stream, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	byLane := map[click.Lane]*stream{}
	for _, entry := range entries {
		id, ok := parseSegmentName(entry.Name())
		if !ok {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		g, loss, err := reopen(id, path)
		if err != nil {
			// A segment that cannot be opened must not keep the edge from starting. The next start tries again.
			log.Error("cannot open spool segment", "path", path, "error", err)
			continue
		}
		if g == nil {
			continue
		}
		if g.damaged.Load() {
			log.Error("spool segment damaged", "path", path, "first", g.first.Load(), "last", g.last.Load(), "records", g.count.Load())
		}
		st := byLane[g.Lane]
		if st == nil {
			st = &stream{lane: g.Lane}
			byLane[g.Lane] = st
		}
		g.loss = loss
		st.segments = append(st.segments, g)
	}
	streams := make([]*stream, 0, len(byLane))
	for _, st := range byLane {
		slices.SortFunc(st.segments, func(a, b *segment) int { return cmp.Compare(a.index, b.index) })
		newest := st.segments[len(st.segments)-1]
		st.loss = newest.loss
		st.last.Store(max(newest.last.Load(), st.loss.to))
		streams = append(streams, st)
	}
	slices.SortFunc(streams, func(a, b *stream) int {
		return cmp.Or(cmp.Compare(a.lane.Epoch, b.lane.Epoch), cmp.Compare(a.lane.Lane, b.lane.Lane))
	})
	return streams, nil
}

// numbers is a range of sequence numbers, both ends included. If to is 0, the range is empty.
type numbers struct{ from, to uint64 }

// reopen reads a segment of an earlier process. It removes an empty segment and returns nil.
func reopen(id segmentID, path string) (*segment, numbers, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, numbers{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, numbers{}, err
	}
	size := st.Size()
	g := newSegment(id, path)
	g.size.Store(size)

	page := walker{src: f, limit: min(size, headerSize)}
	head := make([]byte, headerSize)
	copy(head, page.bytes(0, headerSize))
	intact := string(head[:len(segmentMagic)]) == segmentMagic &&
		crc32.Checksum(head[:headSum], castagnoli) == binary.LittleEndian.Uint32(head[headSum:]) &&
		identityIn(head) == id
	if intact {
		g.created = int64(binary.LittleEndian.Uint64(head[headCreated:]))
	} else {
		g.damaged.Store(size > 0)
		copy(head, g.header())
		clear(head[headFirst:])
	}
	if intact && g.takeSeal(head) && g.end.Load() >= headerSize {
		// A file that is shorter than its seal says is read to its end. The reader reports the missing numbers.
		if g.end.Load() > size {
			g.damaged.Store(true)
		}
	} else {
		if g.survey(f, size) || page.blind {
			// The segment may be readable at the next start, so change nothing.
			g.damaged.Store(true)
			g.sealed.Store(true)
			return g, takeLoss(head, g.last.Load()), nil
		}
		if first := takeFirst(head); first != 0 && first <= g.first.Load() {
			g.first.Store(first)
		}
		g.seal(f, head)
	}
	loss := takeLoss(head, g.last.Load())
	if g.count.Load() == 0 && loss.to == 0 && g.last.Load() == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, numbers{}, fmt.Errorf("remove an empty segment: %w", err)
		}
		return nil, numbers{}, nil
	}
	if g.first.Load() == 0 { // the segment holds only a loss
		g.first.Store(loss.from)
		g.last.Store(loss.from - 1)
	}
	return g, loss, nil
}

func identityIn(head []byte) segmentID {
	lane := binary.LittleEndian.Uint32(head[headLane:])
	return segmentID{
		Lane: click.Lane{
			Edge:  binary.LittleEndian.Uint64(head[headEdge:]),
			Epoch: binary.LittleEndian.Uint32(head[headEpoch:]),
			Lane:  uint8(min(lane, math.MaxUint8)),
		},
		index: binary.LittleEndian.Uint64(head[headIndex:]),
	}
}

// survey reads all of an unsealed segment to find its records. Zeros or invalid bytes after the last valid record come
// from a write that the end of the process interrupted. Between valid records they are damage. survey returns true if
// parts of the segment were unreadable.
func (g *segment) survey(f *os.File, size int64) (blind bool) {
	w := walker{src: f, salt: g.salted, limit: size}
	g.first.Store(0)
	g.last.Store(0)
	g.count.Store(0)
	off := int64(headerSize)
	g.end.Store(off)
	for {
		r, ok := w.record(off)
		if !ok || r.seq <= g.last.Load() {
			var found bool
			if r, _, found = w.findRecord(off, g.last.Load()); !found {
				return w.blind
			}
			g.damaged.Store(true)
		}
		if g.count.Load() == 0 {
			g.first.Store(r.seq)
		}
		g.last.Store(r.seq)
		g.count.Add(1)
		g.end.Store(r.next)
		off = r.next
	}
}

// seal stores the result of survey in the header and truncates the unused space. If that fails, the next start only
// takes longer. A damaged file keeps all its bytes for inspection.
func (g *segment) seal(f *os.File, head []byte) {
	g.putSeal(head)
	g.sealed.Store(true)
	if _, err := f.WriteAt(head, 0); err != nil || g.damaged.Load() {
		return
	}
	if f.Truncate(g.end.Load()) == nil {
		g.size.Store(g.end.Load())
	}
}

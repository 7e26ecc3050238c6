package table

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
)

// An image holds the links of one state in the form of the arena. All integers are little-endian:
//
//	head      magic "SLNKARNA", format u16, reserved u16
//	sections  links, one after the other; no link crosses the end of a section
//	last      length and rule.AppendZones, then the published form of the links that are set aside: for each its length and a
//	          record in snapshot's wire form
//	table     for each section and then for the last: bytes u32, CRC-32C u32
//	tail      sections u32, links u64, incarnation u64, revision u64, state hash in hexadecimal 32,
//	          SHA-256 of the bond 32, CRC-32C u32 of head, table and tail
//
// The reader finds the tail from the file's size, so an incomplete file has no valid tail. An image contains no
// index. A start rebuilds it in less than a tenth of a second per million links. A stored index would depend on a
// process's random seed and on the position of each link, and a reader could not check it.
const (
	imageMagic   = "SLNKARNA"
	imageFormat  = 5
	imageHead    = 12
	imageSection = 8
	imageTail    = 4 + 8 + 8 + 8 + 32 + sha256.Size + 4

	asideMax = 1 << 30 // bytes of the last section
)

// ErrImage means that an image is damaged, has another format, or has another bond than requested. Load the links from
// another source.
var ErrImage = errors.New("table: no usable image")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Image is one state of a table. It does not change when the table changes, and it keeps the memory of its state
// alive. It is safe for concurrent use.
type Image struct {
	table   *Table
	version *version
	aside   map[string]link.Record
}

// Image returns the current state.
func (t *Table) Image() *Image {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := &Image{table: t, version: t.now.Load(), aside: make(map[string]link.Record, len(t.aside))}
	for slug, a := range t.aside {
		i.aside[slug] = a.record
	}
	return i
}

// Cursor returns the position of the state.
func (i *Image) Cursor() snapshot.Cursor { return i.version.cursor }

// Records calls fn for every link, as it was published, in no particular order. The next call overwrites the record,
// but its strings may be kept. Records stops at the first error of fn and returns it.
func (i *Image) Records(fn func(*link.Record) error) error {
	return i.each(func(b []byte) error {
		e := readEntry(b, i.version.generation)
		r := e.Record()
		if original, ok := i.aside[r.Key]; ok {
			r = original
		}
		return fn(&r)
	})
}

// each calls fn with the bytes of every link.
func (i *Image) each(fn func(b []byte) error) error {
	layers := append(slices.Clip(i.version.upper), i.version.base)
	return survivors(layers, i.table.seed, func(b []byte) error {
		if isTombstone(b) {
			return nil
		}
		return fn(b)
	})
}

// Write writes the image for Restore. Its size is about Table.Bytes. bond identifies everything that the reader must
// share with the writer, such as the program's version. Restore requires the same bond.
func (i *Image) Write(to io.Writer, bond []byte) error {
	w := &imageWriter{out: bufio.NewWriterSize(to, 1<<20)}
	head := append(make([]byte, 0, imageHead), imageMagic...)
	head = binary.LittleEndian.AppendUint16(head, imageFormat)
	head = binary.LittleEndian.AppendUint16(head, 0)
	if _, err := w.out.Write(head); err != nil {
		return err
	}
	links := 0
	err := i.each(func(b []byte) error {
		links++
		if w.size > 0 && w.size+len(b) > chunkMax {
			w.endSection()
		}
		return w.writeSection(b)
	})
	if err != nil {
		return err
	}
	if w.size > 0 {
		w.endSection()
	}
	sections := len(w.table) / imageSection
	wire := rule.AppendZones(nil)
	if err := errors.Join(w.writeSection(binary.AppendUvarint(nil, uint64(len(wire)))), w.writeSection(wire)); err != nil {
		return err
	}
	for _, r := range i.aside {
		wire = snapshot.AppendRecord(wire[:0], &r)
		if err := errors.Join(w.writeSection(binary.AppendUvarint(nil, uint64(len(wire)))), w.writeSection(wire)); err != nil {
			return err
		}
	}
	if w.size > asideMax {
		return errors.New("table: too many links are set aside for an image")
	}
	w.endSection()

	v := i.version
	end := w.table
	end = binary.LittleEndian.AppendUint32(end, uint32(sections))
	end = binary.LittleEndian.AppendUint64(end, uint64(links))
	end = binary.LittleEndian.AppendUint64(end, v.cursor.Incarnation)
	end = binary.LittleEndian.AppendUint64(end, v.cursor.Revision)
	end = append(end, v.hash.String()...)
	sum := sha256.Sum256(bond)
	end = append(end, sum[:]...)
	end = binary.LittleEndian.AppendUint32(end, crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, end))
	if _, err := w.out.Write(end); err != nil {
		return err
	}
	return w.out.Flush()
}

type imageWriter struct {
	out   *bufio.Writer
	table []byte
	size  int // size of the current section; sum is its checksum so far
	sum   uint32
}

func (w *imageWriter) writeSection(b []byte) error {
	w.size += len(b)
	w.sum = crc32.Update(w.sum, castagnoli, b)
	_, err := w.out.Write(b)
	return err
}

// endSection ends a section.
func (w *imageWriter) endSection() {
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(w.size))
	w.table = binary.LittleEndian.AppendUint32(w.table, w.sum)
	w.size, w.sum = 0, 0
}

// imageLayout is the content of an image's table and tail. It is consistent with the file's size.
type imageLayout struct {
	sections []imagePart // the last one holds the links that are set aside
	links    int
	cursor   snapshot.Cursor
	hash     string
}

type imagePart struct {
	at   int64
	size int
	sum  uint32
}

func readLayout(r io.ReaderAt, size int64, bond []byte) (l imageLayout, err error) {
	if size < imageHead+imageSection+imageTail {
		return l, fmt.Errorf("%w: %d bytes", ErrImage, size)
	}
	head, tail := make([]byte, imageHead), make([]byte, imageTail)
	if err := errors.Join(readAt(r, head, 0), readAt(r, tail, size-imageTail)); err != nil {
		return l, err
	}
	if string(head[:8]) != imageMagic {
		return l, fmt.Errorf("%w: wrong magic", ErrImage)
	}
	if format := binary.LittleEndian.Uint16(head[8:]); format != imageFormat {
		return l, fmt.Errorf("%w: format %d", ErrImage, format)
	}
	parts := int64(binary.LittleEndian.Uint32(tail)) + 1
	if parts*imageSection > size-imageHead-imageTail {
		return l, fmt.Errorf("%w: the tail is missing or damaged", ErrImage)
	}
	table := make([]byte, parts*imageSection)
	if err := readAt(r, table, size-imageTail-int64(len(table))); err != nil {
		return l, err
	}
	sum := crc32.Checksum(head, castagnoli)
	sum = crc32.Update(sum, castagnoli, table)
	sum = crc32.Update(sum, castagnoli, tail[:imageTail-4])
	if sum != binary.LittleEndian.Uint32(tail[imageTail-4:]) {
		return l, fmt.Errorf("%w: the tail is missing or damaged", ErrImage)
	}
	if want := sha256.Sum256(bond); !bytes.Equal(want[:], tail[60:60+sha256.Size]) {
		return l, fmt.Errorf("%w: made for another program version or another document", ErrImage)
	}
	at := int64(imageHead)
	for i := range parts {
		p := imagePart{at, int(binary.LittleEndian.Uint32(table[i*imageSection:])), binary.LittleEndian.Uint32(table[i*imageSection+4:])}
		if last := i == parts-1; !last && (p.size == 0 || p.size > chunkMax) || last && p.size > asideMax {
			return l, fmt.Errorf("%w: a section of %d bytes", ErrImage, p.size)
		}
		l.sections = append(l.sections, p)
		at += int64(p.size)
	}
	links := binary.LittleEndian.Uint64(tail[4:])
	if at+int64(len(table))+imageTail != size || links > uint64(size)/entryMin {
		return l, fmt.Errorf("%w: the sizes of the sections do not add up", ErrImage)
	}
	l.links = int(links)
	l.cursor = snapshot.Cursor{Incarnation: binary.LittleEndian.Uint64(tail[12:]), Revision: binary.LittleEndian.Uint64(tail[20:])}
	l.hash = string(tail[28:60])
	return l, nil
}

// readAt fills b, or fails if the file has become shorter.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("%w: read at %d: %w", ErrImage, at, err)
	}
	return nil
}

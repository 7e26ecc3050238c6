package visitor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

// A geoindex file is a cache that holds a geoindex in this machine's byte order. A start maps it into memory in
// milliseconds. Building the geoindex from the databases takes seconds and several times the memory. The file stores the
// size and the modification time of its databases. It is rebuilt when they differ.
//
// Only this package writes these files. It writes to a temporary file and renames it, so a mapped file never changes. A
// mapping stays until the process ends, because callers may keep a Place whose strings point into it. After a
// database was replaced, its old file therefore still occupies address space and disk, but no memory.

// geoindexHead is the header of the file. Its first field also identifies the byte order.
type geoindexHead struct {
	Magic  uint64
	Sum    uint64 // CRC-32C of all that follows
	Length uint64 // of all that follows
}

// geoindexMagic is "SLCHRT2", whose last digit changes with the layout, and the size of a place, which changes with its texts.
const geoindexMagic = 0x32_5452_4843_4c53 | uint64(unsafe.Sizeof(placeText{}))<<56

const geoindexHeadSize = int(unsafe.Sizeof(geoindexHead{}))

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func geoindexPath(dir string, files []string) string {
	h := fnv.New64a()
	for _, f := range files {
		if abs, err := filepath.Abs(f); err == nil {
			f = abs
		}
		h.Write([]byte(f + "\x00"))
	}
	return filepath.Join(dir, fmt.Sprintf("geo-%016x.chart", h.Sum64()))
}

// writeGeoindex writes a geoindex to a file. made are the stamps of its databases.
func writeGeoindex(path string, a *geoindex, made []stamp) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".geo-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails, as intended, once the file has been renamed
	defer f.Close()
	if _, err := f.Seek(int64(geoindexHeadSize), io.SeekStart); err != nil {
		return err
	}
	head := geoindexHead{Magic: geoindexMagic}
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(f, sum)
	section := func(b []byte) {
		var n [8]byte
		binary.NativeEndian.PutUint64(n[:], uint64(len(b)))
		// Every section begins at a multiple of 8.
		for _, part := range [][]byte{n[:], b, make([]byte, -len(b)&7)} {
			if err == nil {
				_, err = out.Write(part)
			}
			head.Length += uint64(len(part))
		}
	}
	section(stampText(made))
	section([]byte(a.version))
	section([]byte(a.names))
	section(raw(a.places))
	for i := range a.tables {
		s := &a.tables[i]
		for _, b := range [][]byte{raw(s.v4.starts), raw(s.v4.places), raw(s.v4.index), raw(s.v6.starts), raw(s.v6.places),
			raw(s.v6.index)} {
			section(b)
		}
	}
	head.Sum = uint64(sum.Sum32())
	if err == nil {
		_, err = f.WriteAt(raw([]geoindexHead{head}), 0)
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readGeoindex maps a file. It fails unless the file is intact and was made from databases with the given stamps.
func readGeoindex(path string, now []stamp) (*geoindex, error) {
	mem, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	a, err := parseGeoindex(mem, now)
	if err != nil {
		unmap(mem) // nothing refers to it yet
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	forget(mem) // the checksum loaded all of it into memory; only the parts in use need to stay
	return a, nil
}

func parseGeoindex(mem []byte, now []stamp) (*geoindex, error) {
	if len(mem) < geoindexHeadSize {
		return nil, errors.New("too short")
	}
	head := *(*geoindexHead)(unsafe.Pointer(&mem[0])) // a mapping begins at a page, so it is aligned
	body := mem[geoindexHeadSize:]
	if head.Magic != geoindexMagic || head.Length != uint64(len(body)) || head.Sum != uint64(crc32.Checksum(body, castagnoli)) {
		return nil, errors.New("damaged, or written on another machine")
	}
	// The checksum matches, so the rest has the form that writeGeoindex gave it.
	next := func() []byte {
		n := int(binary.NativeEndian.Uint64(body))
		b := body[8 : 8+n : 8+n]
		body = body[8+(n+7)&^7:]
		return b
	}
	if !bytes.Equal(next(), stampText(now)) {
		return nil, errors.New("made from other databases")
	}
	a := &geoindex{version: strings.Clone(string(next()))}
	names := next()
	a.names = unsafe.String(unsafe.SliceData(names), len(names))
	a.places = list[placeText](next())
	for len(body) > 0 {
		a.tables = append(a.tables, table{
			v4: ranges[uint32]{list[uint32](next()), list[uint32](next()), list[uint32](next())},
			v6: ranges[uint64]{list[uint64](next()), list[uint32](next()), list[uint32](next())},
		})
	}
	return a, nil
}

func stampText(all []stamp) []byte {
	var b []byte
	for _, s := range all {
		b = fmt.Appendf(b, "%d %d\n", s.size, s.modified.UnixNano())
	}
	return b
}

// raw returns the memory of a slice whose elements contain no pointers.
func raw[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// list is the reverse of raw. b must begin at a multiple of 8, as every section does. No T needs a larger alignment.
func list[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

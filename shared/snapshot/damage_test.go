package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// large returns a document of a little more than size bytes. Its text is not compressible, so its chunks have predictable
// sizes and reading it is fast.
func large(t testing.TB, size int, cur snapshot.Cursor, seed uint64) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var records []link.Record
	for have := 0; have < size; {
		r := plain(len(records))
		text := make([]byte, 8<<10)
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		r.Title = string(text)
		have += len(text)
		records = append(records, r)
	}
	return document(t, cur, records...)
}

// parts splits a document into its header, its chunks and its trailer.
func parts(t testing.TB, whole []byte) [][]byte {
	t.Helper()
	const header = 36
	out := [][]byte{whole[:header]}
	for at := header; ; {
		n := int(binary.LittleEndian.Uint32(whole[at:]))
		if n == 0 {
			return append(out, whole[at:])
		}
		out = append(out, whole[at:at+8+n])
		at += 8 + n
	}
}

// Damages a document of realistic size: truncated, with flipped bits, with parts removed, repeated, exchanged with each other
// and with parts of another revision, and with the header of another format. IMAGES is the number of tries.
func TestDocument_of_many_chunks_any_damage_is_refused(t *testing.T) {
	t.Parallel()
	images, size := testkit.Size(200, 100_000), 2<<20
	if n, err := strconv.Atoi(os.Getenv("IMAGES")); err == nil {
		images = n
	}
	cur := snapshot.Cursor{Incarnation: 7, Revision: 42}
	whole, other := large(t, size, cur, 1), large(t, size, snapshot.Cursor{Incarnation: 7, Revision: 41}, 2)
	if _, at, err := decode(whole, snapshot.Limits{}); err != nil || at != cur {
		t.Fatalf("the document itself: %v, %v", at, err)
	}
	tried := map[string]int{}
	refused := func(kind string, at int, image []byte) {
		t.Helper()
		tried[kind]++
		// Like an edge: records go into a separate table, which is used only if there is no error.
		_, err := snapshot.Decode(bytes.NewReader(image), snapshot.Limits{}, func(*link.Record) error { return nil })
		if !errors.Is(err, snapshot.ErrCorrupt) && !errors.Is(err, snapshot.ErrFormat) {
			t.Fatalf("%s at byte %d of %d: %v", kind, at, len(whole), err)
		}
	}

	a, b := parts(t, whole), parts(t, other)
	if len(a) < 6 || len(a) != len(b) {
		t.Fatalf("%d and %d parts", len(a), len(b))
	}
	join := func(kind string, list ...[]byte) { t.Helper(); refused(kind, 0, bytes.Join(list, nil)) }
	replaced := func(list [][]byte, i int, with ...[]byte) [][]byte {
		return append(append(append([][]byte(nil), list[:i]...), with...), list[i+1:]...)
	}
	for i := range a {
		if i > 0 { // for i = 0 it would be the other document as a whole
			join("all further parts of another revision", append(append([][]byte(nil), a[:i]...), b[i:]...)...)
		}
		join("a part lost", replaced(a, i)...)
		join("a part twice", replaced(a, i, a[i], a[i])...)
		join("a part of another revision", replaced(a, i, b[i])...)
		for j := range a {
			if i < j {
				swapped := append([][]byte(nil), a...)
				swapped[i], swapped[j] = a[j], a[i]
				join("two parts exchanged", swapped...)
			}
		}
	}
	for format := range 20 {
		head := bytes.Clone(a[0])
		binary.LittleEndian.PutUint16(head[8:], uint16(format+2))
		join("another format", replaced(a, 0, head)...)
		binary.LittleEndian.PutUint32(head[32:], crc32.Checksum(head[:32], crc32.MakeTable(crc32.Castagnoli)))
		join("another format, signed off", replaced(a, 0, head)...)
	}
	for _, field := range []int{10, 12, 16, 24} { // schema, reserved, incarnation, revision
		head := bytes.Clone(a[0])
		head[field]++
		join("another header", replaced(a, 0, head)...)
		binary.LittleEndian.PutUint32(head[32:], crc32.Checksum(head[:32], crc32.MakeTable(crc32.Castagnoli)))
		join("another header, signed off", replaced(a, 0, head)...)
	}
	// Every 97th byte, and one bit of as many bytes as are left, evenly spread: further apart where few are to be tried.
	step := max(97, 2*len(whole)/images)
	for at := 0; at < len(whole); at += step {
		refused("a cut", at, whole[:at])
	}
	image := bytes.Clone(whole)
	step = max(1, len(whole)/max(1, images-total(tried)))
	for i := 0; i*step < len(whole); i++ {
		at := i * step
		image[at] ^= 1 << (i % 8)
		refused("a flip", at, image)
		image[at] = whole[at]
	}
	t.Logf("%d damaged documents of %d bytes, none accepted: %s", total(tried), len(whole), fmt.Sprint(tried))
	if total(tried) < images {
		t.Errorf("only %d", total(tried))
	}
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

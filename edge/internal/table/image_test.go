package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var bond = []byte("this program, this document")

func written(t testing.TB, i *table.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.Must(t, i.Write(&b, bond))
	return b.Bytes()
}

func restore(tab *table.Table, image []byte) error {
	return tab.Restore(bytes.NewReader(image), int64(len(image)), bond)
}

// lived is a table with a past: links of all kinds, a base that was folded, changes above it, deletions, and links
// that are set aside with the rules they had and with none.
func lived(t testing.TB, links int) *table.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	tab := empty(t)
	one := func(i int) link.Record {
		l := plain(i)
		switch r.IntN(8) {
		case 0:
			l = everything()
			l.Num, l.Key = uint64(i)+1, plain(i).Key
		case 1:
			l.SmartRouting = true
			l.Rules = []link.Rule{{ID: link.ID{1}, Target: "https://one.example", Conditions: []byte(onlyUTM)}}
		case 2:
			l.Title, l.ExpiresAt = "title", 1893456000123
		case 3:
			l.PasswordHash, l.Inactive = "$2a$10$x", true
		case 4:
			l.SmartRouting, l.Rules = true, manyKinds(i)
		}
		return l
	}
	var all []link.Record
	for i := range links {
		all = append(all, one(i))
	}
	load(t, tab, snapshot.Cursor{Incarnation: 9, Revision: uint64(links)}, all...)
	for step := range 60 {
		if step == 30 {
			tab.Fold()
		}
		at := tab.Cursor().Revision + 1
		l := one(r.IntN(links + 20))
		l.Revision = at
		if step%10 == 9 {
			l.SmartRouting = true
			l.Rules = []link.Rule{{ID: link.ID{7}, Target: "https://no.example", Conditions: []byte(`{"field":"no such thing"}`)}}
		}
		d := snapshot.Delta{Upserts: []link.Record{l}}
		if gone := plain(r.IntN(links)); gone.Key != l.Key {
			d.Deletes = []snapshot.Tombstone{{Num: gone.Num, Key: gone.Key}}
		}
		apply(t, tab, d)
	}
	if _, n := tab.SetAside(); n == 0 {
		t.Fatal("no link is set aside")
	}
	return tab
}

// same compares two tables link by link, in published and in served form.
func same(t testing.TB, got, want *table.Table) {
	t.Helper()
	if got.State() != want.State() {
		t.Fatalf("state %+v instead of %+v", got.State(), want.State())
	}
	links := contents(t, want)
	if !reflect.DeepEqual(contents(t, got), links) {
		t.Fatal("the links differ from those that were written")
	}
	for slug := range links {
		a, ok := got.Lookup([]byte(slug))
		b, _ := want.Lookup([]byte(slug))
		if !ok || !reflect.DeepEqual(a.Record(), b.Record()) || a.Plain() != b.Plain() ||
			!reflect.DeepEqual(choices(got, &a), choices(want, &b)) {
			t.Fatalf("%q is served differently", slug)
		}
	}
	a, n := got.SetAside()
	b, m := want.SetAside()
	slices.SortFunc(a, func(x, y table.Aside) int { return bytes.Compare([]byte(x.Slug), []byte(y.Slug)) })
	slices.SortFunc(b, func(x, y table.Aside) int { return bytes.Compare([]byte(x.Slug), []byte(y.Slug)) })
	if n != m || !reflect.DeepEqual(a, b) {
		t.Fatalf("set aside: %v instead of %v", a, b)
	}
}

func TestRestore_equals_what_was_written(t *testing.T) {
	t.Parallel()
	for _, links := range []int{1, 50, 5000} {
		t.Run(fmt.Sprint(links), func(t *testing.T) {
			t.Parallel()
			tab := lived(t, links)
			again := empty(t)
			load(t, again, snapshot.Cursor{Incarnation: 1, Revision: 1}, plain(77)) // replaces the whole table
			testkit.Must(t, restore(again, written(t, tab.Image())))
			same(t, again, tab)
			// The restored table accepts changes, which also repair links that are set aside, and makes images itself.
			for _, of := range []*table.Table{tab, again} {
				l := plain(3)
				l.Revision = of.Cursor().Revision + 1
				apply(t, of, snapshot.Delta{Upserts: []link.Record{l}})
			}
			same(t, again, tab)
			third := empty(t)
			testkit.Must(t, restore(third, written(t, again.Image())))
			same(t, third, tab)
		})
	}
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		tab := empty(t)
		load(t, tab, snapshot.Cursor{Incarnation: 4, Revision: 2})
		again := empty(t)
		testkit.Must(t, restore(again, written(t, tab.Image())))
		same(t, again, tab)
	})
}

// More than a chunk of links makes several sections, which are read in parallel.
func TestRestore_many_sections(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	var all []link.Record
	for i := range 9_000 {
		l := plain(i)
		l.Title = string(bytes.Repeat([]byte{byte('a' + i%26)}, 8_000))
		all = append(all, l)
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 9_000}, all...)
	image := written(t, tab.Image())
	again := empty(t)
	testkit.Must(t, restore(again, image))
	same(t, again, tab)
	for _, at := range []int{100, len(image) / 2, len(image) * 99 / 100} {
		image[at] ^= 1
		if err := restore(empty(t), image); !errors.Is(err, table.ErrImage) {
			t.Errorf("flipped at %d: %v", at, err)
		}
		image[at] ^= 1
	}
}

func TestImage_stays_as_it_was(t *testing.T) {
	t.Parallel()
	tab, twin := lived(t, 100), lived(t, 100)
	image := tab.Image()
	for i := range 100 {
		l := plain(i)
		l.Revision, l.Destination = tab.Cursor().Revision+1, "https://later.example"
		apply(t, tab, snapshot.Delta{Upserts: []link.Record{l}})
	}
	tab.Fold()
	again := empty(t)
	testkit.Must(t, restore(again, written(t, image)))
	same(t, again, twin)
}

// Offsets from the end of an image that the tests change, and the sizes of its parts.
const (
	tailSize  = 96
	entrySize = 8
)

// parts returns the bounds of an image's sections. The last section ends where the table begins.
func parts(image []byte) (bounds []int) {
	n := int(binary.LittleEndian.Uint32(image[len(image)-tailSize:])) + 1
	at := 12
	for i := range n {
		bounds = append(bounds, at)
		at += int(binary.LittleEndian.Uint32(image[len(image)-tailSize-(n-i)*entrySize:]))
	}
	return append(bounds, at)
}

// seal corrects the checksums of a changed image, as a forger would.
func seal(image []byte) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	if len(image) < 12+tailSize {
		return
	}
	tail := image[len(image)-tailSize:]
	n := int64(binary.LittleEndian.Uint32(tail)) + 1
	if n*entrySize > int64(len(image)-12-tailSize) {
		return
	}
	directory := image[len(image)-tailSize-int(n)*entrySize : len(image)-tailSize]
	for at, rest := 12, directory; len(rest) > 0; rest = rest[entrySize:] {
		size := int(binary.LittleEndian.Uint32(rest))
		if size > len(image)-at {
			break
		}
		binary.LittleEndian.PutUint32(rest[4:], crc32.Checksum(image[at:at+size], castagnoli))
		at += size
	}
	sum := crc32.Update(crc32.Checksum(image[:12], castagnoli), castagnoli, directory)
	binary.LittleEndian.PutUint32(tail[tailSize-4:], crc32.Update(sum, castagnoli, tail[:tailSize-4]))
}

func TestRestore_refuses(t *testing.T) {
	t.Parallel()
	image := written(t, lived(t, 20).Image())
	tab, twin := lived(t, 7), lived(t, 7)
	refused := func(t *testing.T, image []byte) {
		t.Helper()
		if err := restore(tab, image); !errors.Is(err, table.ErrImage) {
			t.Errorf("%v", err)
		}
	}
	if bounds := parts(image); len(bounds) < 3 || bounds[len(bounds)-1] >= len(image) {
		t.Fatal("the test does not know the format", bounds, len(image))
	}
	t.Run("cut anywhere", func(t *testing.T) {
		for n := range image {
			refused(t, image[:n])
		}
		for _, n := range parts(image) { // with a tail that announces more links
			refused(t, append(bytes.Clone(image[:n]), image[len(image)-tailSize:]...))
		}
	})
	t.Run("any byte flipped", func(t *testing.T) {
		for i := range image {
			for _, bits := range []byte{1, 0x80} {
				other := bytes.Clone(image)
				other[i] ^= bits
				refused(t, other)
			}
		}
	})
	t.Run("longer", func(t *testing.T) {
		refused(t, append(bytes.Clone(image), 0))
		refused(t, append([]byte{0}, image...))
		refused(t, append(bytes.Clone(image), image...))
	})
	t.Run("another format", func(t *testing.T) {
		other := bytes.Clone(image)
		other[8]++
		seal(other)
		refused(t, other)
	})
	t.Run("another bond", func(t *testing.T) {
		if err := tab.Restore(bytes.NewReader(image), int64(len(image)), []byte("the next release")); !errors.Is(err, table.ErrImage) {
			t.Error(err)
		}
	})
	t.Run("another state hash or count than its links have", func(t *testing.T) {
		for _, at := range []int{4, 28} { // links, hash
			other := bytes.Clone(image)
			other[len(other)-tailSize+at] ^= 1
			seal(other)
			refused(t, other)
		}
	})
	t.Run("a link twice", func(t *testing.T) {
		twice := empty(t)
		load(t, twice, snapshot.Cursor{Incarnation: 1, Revision: 1}, plain(1), plain(2))
		other := bytes.Replace(written(t, twice.Image()), []byte(plain(2).Key), []byte(plain(1).Key), 1)
		seal(other)
		refused(t, other)
	})
	t.Run("flags that say other than the record", func(t *testing.T) {
		locked := empty(t)
		l := plain(1)
		l.PasswordHash = "$2a$10$x"
		load(t, locked, snapshot.Cursor{Incarnation: 1, Revision: 1}, l)
		other := written(t, locked.Image())
		other[bytes.Index(other, []byte(l.Key))-2] &^= 1 << 2 // remove the flag without which no password is asked for
		seal(other)
		refused(t, other)
	})
	t.Run("a time zone with other offsets", func(t *testing.T) {
		zoned := empty(t)
		l := plain(1)
		l.SmartRouting, l.Rules = true, manyKinds(1)
		load(t, zoned, snapshot.Cursor{Incarnation: 1, Revision: 1}, l)
		other := written(t, zoned.Image())
		other[bytes.LastIndex(other, []byte("Europe/Berlin"))-2] ^= 1 // in the hash of the offsets
		seal(other)
		refused(t, other)
	})
	t.Run("a file that ends while it is read", func(t *testing.T) {
		err := tab.Restore(bytes.NewReader(image[:len(image)-1]), int64(len(image)), bond)
		if !errors.Is(err, table.ErrImage) || !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	same(t, tab, twin)
}

func TestRestore_is_sealed_by_the_test_as_by_the_table(t *testing.T) {
	t.Parallel()
	image := written(t, lived(t, 20).Image())
	other := bytes.Clone(image)
	seal(other)
	if !bytes.Equal(image, other) {
		t.Fatal("an image sealed by this test is rejected for its checksum")
	}
}

// FuzzRestore changes images and corrects their checksums. Each image must be rejected or be usable.
func FuzzRestore(f *testing.F) {
	f.Add(written(f, lived(f, 3).Image()))
	f.Add(written(f, lived(f, 40).Image()))
	f.Add(written(f, empty(f).Image()))
	tab := empty(f)
	f.Fuzz(func(t *testing.T, image []byte) {
		image = bytes.Clone(image)
		seal(image)
		before := tab.State()
		if err := restore(tab, image); err != nil {
			if tab.State() != before {
				t.Fatal("the image was rejected, but the table changed")
			}
			return
		}
		for slug, r := range contents(t, tab) {
			e, ok := tab.Lookup([]byte(slug))
			if !ok || e.Num() != r.Num {
				t.Fatalf("%q is not found", slug)
			}
			tab.Compiled(&e)
			choices(tab, &e)
		}
	})
}

// A restored table has as few objects for the garbage collector as a loaded one. Not parallel, because it counts
// objects.
func TestRestore_leaves_nothing_to_collect(t *testing.T) {
	tab := empty(t)
	const links = 20_000
	fill(t, tab, links, func(*link.Record) {})
	image := written(t, tab.Image())
	again := empty(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	testkit.Must(t, restore(again, image))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapObjects) - int64(before.HeapObjects); n > links/20 {
		t.Errorf("%d objects for %d links", n, links)
	}
	if again.Len() != links {
		t.Error(again.Len())
	}
}

func BenchmarkRestore(b *testing.B) {
	n := links()
	for _, kind := range []string{"plain", "tenth_smart"} {
		b.Run(kind, func(b *testing.B) {
			tab := empty(b)
			fill(b, tab, n, func(r *link.Record) {
				if kind != "plain" && r.Num%10 == 0 {
					r.SmartRouting = true
					r.Rules = []link.Rule{{ID: link.ID{1}, Target: "https://a.example", Conditions: []byte(onlyUTM)},
						{ID: link.ID{2}, Target: "https://b.example", Conditions: []byte(otherUTM)}}
				}
			})
			image := written(b, tab.Image())
			for b.Loop() {
				testkit.Must(b, restore(tab, image))
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)*1e6/float64(n), "ms/million")
			b.ReportMetric(float64(len(image))/float64(n), "bytes/link")
			b.ReportMetric(float64(collection().Microseconds()), "gc-µs")
		})
	}
}

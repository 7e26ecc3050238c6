package table_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

func TestLookupFolded(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, link.Record{Num: 1, Key: "Spring", Destination: "https://one.example"},
		link.Record{Num: 2, Key: "2s/Summer-1_[", Destination: "https://two.example"}, link.Record{Num: 3, Key: "aß/É", Destination: "x"})
	find := func(key string) string {
		if _, exact := tab.Lookup([]byte(key)); exact {
			return "exact"
		}
		e, _ := tab.LookupFolded([]byte(key))
		return e.Slug()
	}
	for key, want := range map[string]string{
		"Spring": "exact", "SPRING": "Spring", "spring": "Spring", "2S/SUMMER-1_[": "2s/Summer-1_[", "2s/summer-1_{": "", "2s/summer\r1_[": "",
		"AÃŸ/É": "", "Aß/É": "aß/É", "aß/é": "", "sprin": "", "springs": "",
	} {
		if got := find(key); got != want {
			t.Errorf("%q: %q instead of %q", key, got, want)
		}
	}
	// A deleted link is not found below its tombstone, and another spelling is found beside it.
	apply(t, tab, snapshot.Delta{Deletes: []snapshot.Tombstone{{Num: 1, Key: "Spring"}}})
	if got := find("SPRING"); got != "" {
		t.Errorf("deleted: %q", got)
	}
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{{Num: 4, Revision: 3, Key: "sPRING", Destination: "https://four.example"}}})
	if got := find("SPRING"); got != "sPRING" {
		t.Errorf("replaced: %q", got)
	}
	tab.Fold()
	if got := find("SPRING"); got != "sPRING" {
		t.Errorf("in a new base: %q", got)
	}
}

// Every key is found exactly, and in any case, by a naive comparison.
func TestLookupFolded_random(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var records []link.Record
	byFolded := map[string]string{}
	for i := range 3000 {
		b := make([]byte, 1+rng.IntN(60))
		for j := range b {
			b[j] = byte(33 + rng.IntN(200))
		}
		key := string(b)
		if folded := link.Fold(key); byFolded[folded] == "" {
			byFolded[folded] = key
			records = append(records, link.Record{Num: uint64(i + 1), Key: key, Destination: "https://example.com"})
		}
	}
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, records...)
	for folded, key := range byFolded {
		if e, ok := tab.Lookup([]byte(key)); !ok || e.Slug() != key {
			t.Fatalf("%q is not found", key)
		}
		if e, ok := tab.LookupFolded([]byte(folded)); !ok || e.Slug() != key {
			t.Fatalf("%q is not found as %q", key, folded)
		}
	}
}

func TestLookupFolded_allocates_nothing(t *testing.T) {
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, link.Record{Num: 1, Key: "Spring", Destination: "https://one.example"})
	key := []byte("SPRING")
	if n := testing.AllocsPerRun(100, func() {
		if _, ok := tab.LookupFolded(key); !ok {
			t.Fatal("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookup_hit(b *testing.B) {
	tab := empty(b)
	var records []link.Record
	for i := range 1000 {
		records = append(records, link.Record{Num: uint64(i + 1), Key: fmt.Sprintf("Spr%04d", i), Destination: "https://one.example"})
	}
	load(b, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, records...)
	find := func(name string, key string, lookup func([]byte) (table.Entry, bool)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			k := []byte(key)
			for b.Loop() {
				lookup(k)
			}
		})
	}
	find("exact", "Spr0007", tab.Lookup)
	find("folded", strings.ToUpper("Spr0007"), tab.LookupFolded)
}

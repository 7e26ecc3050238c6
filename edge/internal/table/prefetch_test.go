package table_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// foresee makes all calls that may precede the lookup of a slug.
func foresee(tab *table.Table, slug []byte) {
	h := tab.Foresee(slug)
	tab.Approach(h)
	if e, ok := tab.Lookup(slug); ok {
		tab.Prepare(&e)
	}
}

// Prefetches must stay within the table's memory while the table changes.
func TestForesee_while_the_table_changes(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	foresee(tab, []byte("nothing"))
	tab.Approach(^uint64(0))
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var kept uint64
			for i := 0; !done.Load(); i++ {
				tab.Approach(kept) // of a state that may have been replaced
				kept = tab.Foresee([]byte(slugOf(i % 4000)))
				foresee(tab, []byte(slugOf(i%4000)))
			}
		})
	}
	for round := range uint64(12) {
		fill(t, tab, int(1+round*251), func(r *link.Record) { r.SmartRouting = r.Num%3 == 0 })
		r := benchLink(3)
		r.Revision = tab.Cursor().Revision + 1
		apply(t, tab, snapshot.Delta{Incarnation: 1, From: r.Revision - 1, To: r.Revision, Upserts: []link.Record{r}})
		tab.Fold()
	}
	done.Store(true)
	readers.Wait()
}

// Not parallel: AllocsPerRun counts the whole process.
func TestForesee_allocates_nothing(t *testing.T) {
	tab := empty(t)
	fill(t, tab, 1000, func(*link.Record) {})
	slug := []byte(slugOf(7))
	if n := testing.AllocsPerRun(100, func() { foresee(tab, slug) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookup_foreseen(b *testing.B) {
	tab := empty(b)
	fill(b, tab, links(), func(*link.Record) {})
	slugs := order(links())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		// As in a server, other work lies between the calls.
		slug := slugs[i%len(slugs)]
		tab.Approach(tab.Foresee(slugs[(i+1)%len(slugs)]))
		if _, ok := tab.Lookup(slug); !ok {
			b.Fatal("a link is gone")
		}
	}
}

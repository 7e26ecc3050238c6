package table

import (
	"hash/maphash"
	"unsafe"
)

// A lookup in a large table waits for memory twice, for the index and then for the link, and the processor has
// nothing else to do meanwhile. Whoever knows the slug before it needs the link calls Foresee then and Approach a
// little later.
//
// Both take positions from the table's present version and only tell the processor what will be wanted: a wrong
// guess costs time, never an answer.

// Foresee begins to fetch where the index says that a slug's link is. It returns what Approach wants, never 0.
func (t *Table) Foresee(slug []byte) (hash uint64) {
	hash = maphash.Bytes(t.seed, slug)
	if index := t.now.Load().base.index; len(index) > 0 {
		prefetch(unsafe.Pointer(&index[slot(hash, len(index))]))
	}
	return hash | 1
}

// Approach begins to fetch the link itself.
func (t *Table) Approach(foreseen uint64) {
	s := t.now.Load().base
	if len(s.index) == 0 {
		return
	}
	// A hash lost its lowest bit, which slot seldom looks at and the tag does: it is left out of the comparison.
	tag := foreseen << 48
	for i, n := slot(foreseen, len(s.index)), 0; n < 3; n++ {
		w := s.index[i]
		if w == 0 {
			return
		}
		if (w^tag)>>49 == 0 {
			// unsafe: the address lies in the chunk, or behind it by less than three cache lines; fetching what is
			// not mapped does nothing.
			prefetchLink(unsafe.Pointer(unsafe.SliceData(s.at(w))))
			return
		}
		if i++; i == len(s.index) {
			i = 0
		}
	}
}

package table

import (
	"unsafe"
)

// A lookup in a large table waits for memory twice: for the index and then for the link. Meanwhile the processor is
// idle. A caller that knows the slug before it needs the link calls Foresee first and Approach a little later.
//
// Both use the table's current version and only give prefetch hints to the processor. A wrong hint costs time but
// never gives a wrong result.

// Foresee prefetches the index slot of a slug. It returns the argument for Approach.
func (t *Table) Foresee(slug []byte) (hash uint64) {
	hash = t.seed.hash(slug)
	if index := t.now.Load().base.index; len(index) > 0 {
		prefetch(unsafe.Pointer(&index[slot(hash, len(index))]))
	}
	return hash
}

// Approach prefetches the link itself.
func (t *Table) Approach(foreseen uint64) {
	s := t.now.Load().base
	if len(s.index) == 0 {
		return
	}
	tag := foreseen << 48
	for i, n := slot(foreseen, len(s.index)), 0; n < 3; n++ {
		w := s.index[i]
		if w == 0 {
			return
		}
		if (w^tag)>>48 == 0 {
			// unsafe: the address is in the chunk, or less than three cache lines behind it. A prefetch of unmapped
			// memory does nothing.
			prefetchLink(unsafe.Pointer(unsafe.SliceData(s.at(w))))
			return
		}
		if i++; i == len(s.index) {
			i = 0
		}
	}
}

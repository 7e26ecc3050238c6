package visitor

import (
	"encoding/binary"
	"net/netip"
)

// atlas is databases turned into ranges of addresses. It is immutable, and has no pointers but to a few large
// blocks, so that the garbage collector does not see its size. Looking up is a binary search among the ranges of
// one sixteenth bit of the address: a few dozen nanoseconds, against hundreds for walking the file's tree and
// decoding the record.
type atlas struct {
	version string
	sheets  []sheet
	places  []placeText // [0] is nowhere
	names   string      // all names, one after the other
}

// sheet is one database.
type sheet struct {
	v4 ranges[uint32]
	v6 ranges[uint64] // of the upper halves of addresses: networks smaller than /64 share the first one's place
}

// placeText is where in atlas.names the texts of a Place are.
type placeText struct {
	at   [4]uint32
	size [4]uint8
}

func (a *atlas) lookup(addr netip.Addr) Place {
	if !addr.IsValid() {
		return Place{}
	}
	addr = addr.Unmap()
	for i := range a.sheets {
		place := uint32(0)
		if addr.Is4() {
			b := addr.As4()
			place = a.sheets[i].v4.find(binary.BigEndian.Uint32(b[:]))
		} else {
			b := addr.As16()
			place = a.sheets[i].v6.find(binary.BigEndian.Uint64(b[:8]))
		}
		if place != 0 {
			p := &a.places[place]
			return Place{Country: a.text(p, 0), RegionCode: a.text(p, 1), RegionName: a.text(p, 2), City: a.text(p, 3)}
		}
	}
	return Place{}
}

func (a *atlas) text(p *placeText, i int) string {
	return a.names[p.at[i]:][:p.size[i]]
}

// ranges maps the numbers from one start to before the next one to a place. Numbers before the first start have
// place 0.
type ranges[K uint32 | uint64] struct {
	starts []K
	places []uint32
	index  []uint32 // upper 16 bits → how many starts are below; one more entry at the end
}

// find returns the place of the last range that starts at or before k.
func (r *ranges[K]) find(k K) uint32 {
	if len(r.starts) == 0 {
		return 0
	}
	top := k >> r.shift()
	low, high := r.index[top], r.index[top+1]
	for low < high {
		if mid := (low + high) / 2; r.starts[mid] <= k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0
	}
	return r.places[low-1]
}

func (r *ranges[K]) shift() uint {
	if ^K(0) == K(^uint32(0)) {
		return 16
	}
	return 48
}

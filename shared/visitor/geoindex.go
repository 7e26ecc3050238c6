package visitor

import (
	"encoding/binary"
	"net/netip"
)

// geoindex holds geo databases as sorted ranges of addresses. It is immutable. It has pointers only to a few large
// blocks, so its size does not slow the garbage collector. A lookup is a binary search among the ranges that share
// the upper 16 bits of the address. It takes a few dozen nanoseconds. Walking the tree of the file and decoding the
// record would take hundreds.
type geoindex struct {
	version string
	tables  []table
	places  []placeText // [0] is the unknown place
	names   string      // all names, concatenated
}

// table holds one database.
type table struct {
	v4 ranges[uint32]
	v6 ranges[uint64] // upper halves of addresses: all networks in a /64 have the place of the first one
}

// placeText locates the four texts of a Place in geoindex.names.
type placeText struct {
	at        [4]uint32
	size      [4]uint8
	continent uint8 // index in continents
}

func (a *geoindex) lookup(addr netip.Addr) Place {
	if !addr.IsValid() {
		return Place{}
	}
	addr = addr.Unmap()
	for i := range a.tables {
		place := uint32(0)
		if addr.Is4() {
			b := addr.As4()
			place = a.tables[i].v4.find(binary.BigEndian.Uint32(b[:]))
		} else {
			b := addr.As16()
			place = a.tables[i].v6.find(binary.BigEndian.Uint64(b[:8]))
		}
		if place != 0 {
			p := &a.places[place]
			return Place{Country: a.text(p, 0), RegionCode: a.text(p, 1), RegionName: a.text(p, 2), City: a.text(p, 3),
				Continent: continents[p.continent&7]}
		}
	}
	return Place{}
}

func (a *geoindex) text(p *placeText, i int) string {
	return a.names[p.at[i]:][:p.size[i]]
}

// ranges maps numbers to places. A range begins at a start and ends before the next start. Numbers before the first
// start have place 0.
type ranges[K uint32 | uint64] struct {
	starts []K
	places []uint32
	index  []uint32 // upper 16 bits → number of lower starts; one additional entry at the end
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

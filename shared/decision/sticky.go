package decision

import (
	"encoding/binary"
	"math"

	"github.com/shortline/shortline/shared/link"
)

// newStickyArms builds the arms of a sticky link for keep: a column has the hash of a variant's id and its weight.
func newStickyArms(variants []link.Variant) Arms {
	columns, sum := make([]column, len(variants)), uint64(0)
	for i := range variants {
		v := &variants[i]
		sum += uint64(v.Weight)
		columns[i] = column{keep: stir(binary.LittleEndian.Uint64(v.ID[:8])) ^ binary.LittleEndian.Uint64(v.ID[8:]), alias: v.Weight}
	}
	if sum == 0 {
		return Arms{}
	}
	return Arms{columns: columns}
}

// keep maps a visitor, as 64 bits that are the same for each visit, to the index of a variant, or to -1 if there is none. It
// is weighted rendezvous hashing (Schindelhauer and Schomaker 2005): each variant has an exponentially distributed score
// with its weight as the rate, and the lowest score wins, which happens in proportion to the weights. A score depends on
// nothing but the visitor, the variant's id and its weight. So all edges agree, and when a single weight changes, visitors
// move to or from that variant only, and no more of them than the shares require. When several weights change, the part of
// visitors that moves is at most 2t/(1+t), where t is the total variation distance of the shares.
//
// The order of the variants does not matter. Stored results of experiments rely on this function, so it must not change.
func (a *Arms) keep(visitor uint64) int {
	chosen, least := -1, math.Inf(1)
	for i := range a.columns {
		c := &a.columns[i]
		if c.alias == 0 {
			continue
		}
		// 53 bits, and a half, so that u is above 0 and below 1.
		u := (float64(stir(visitor^c.keep)>>11) + 0.5) / (1 << 53)
		if score := -math.Log(u) / float64(c.alias); score < least {
			chosen, least = i, score
		}
	}
	return chosen
}

// stir is the finisher of splitmix64 (Steele, Lea, Flood 2014), a bijection in which each bit depends on all bits.
func stir(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

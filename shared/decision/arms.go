package decision

import (
	"math"
	"math/bits"

	"github.com/shortline/shortline/shared/link"
)

// Arms draws one of a link's variants by weight, in constant time: Walker's alias method with Vose's
// construction, in whole numbers so that the chances are exact to 1 in 2^64. The zero Arms draws nothing.
type Arms struct {
	columns []column
}

// column is one of as many equally likely columns as there are variants: it belongs to its own variant up to
// keep, and to another beyond.
type column struct {
	keep  uint64 // out of 2^64; math.MaxUint64 stands for all of it
	alias uint32
}

// newArms makes the table; variants of weight 0 are never drawn, and if all are 0 nothing is.
func newArms(variants []link.Variant) Arms {
	var sum uint64
	for i := range variants {
		sum += uint64(variants[i].Weight)
	}
	n := uint64(len(variants))
	if sum == 0 {
		return Arms{}
	}
	// Each variant's weight times n; a full column is worth sum.
	share := make([]uint64, n)
	var small, large []uint32
	for i := range variants {
		share[i] = uint64(variants[i].Weight) * n
		if share[i] < sum {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	columns := make([]column, n)
	for len(small) > 0 {
		// As long as a column is short of sum another is above it: the shares add up to n times sum exactly.
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		keep, _ := bits.Div64(share[s], 0, sum)
		columns[s] = column{keep: keep, alias: l}
		if share[l] -= sum - share[s]; share[l] < sum {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, l := range large {
		columns[l] = column{keep: math.MaxUint64, alias: l}
	}
	return Arms{columns: columns}
}

// Draw turns 64 random bits into the index of a variant in the link's record, or -1 if there is none to draw.
func (a *Arms) Draw(random uint64) int {
	if len(a.columns) == 0 {
		return -1
	}
	// The product's upper half is the column, the lower half what is left of the randomness.
	hi, lo := bits.Mul64(random, uint64(len(a.columns)))
	if c := &a.columns[hi]; lo >= c.keep {
		return int(c.alias)
	}
	return int(hi)
}

// Odds are a variant's weight and the sum of all weights: Draw gives its index in weight of total cases. The sum is 0
// if there is nothing to draw.
func Odds(variants []link.Variant, i int) (weight, total int64) {
	for j := range variants {
		total += int64(variants[j].Weight)
	}
	return int64(variants[i].Weight), total
}

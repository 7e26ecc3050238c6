package decision

import (
	"math"
	"math/bits"

	"github.com/shortline/shortline/shared/link"
)

// Arms draws one of a link's variants by weight in constant time. It uses Walker's alias method with Vose's
// construction in integers, so the chances are exact to 1 in 2^64. The zero Arms draws nothing. Arms of sticky links are in
// sticky.go.
type Arms struct {
	columns []column
}

// column is one of n equally likely columns for n variants. Below keep it stands for its own variant, and above for
// another one.
type column struct {
	keep  uint64 // out of 2^64; math.MaxUint64 means the whole column
	alias uint32
}

// newArms builds the table. Variants of weight 0 are never drawn; if all weights are 0, nothing is drawn.
func newArms(variants []link.Variant) Arms {
	var sum uint64
	for i := range variants {
		sum += uint64(variants[i].Weight)
	}
	n := uint64(len(variants))
	if sum == 0 {
		return Arms{}
	}
	// share is each variant's weight times n. A full column equals sum.
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
		// If one column is below sum, another one is above: the shares add up to exactly n times sum.
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

// Draw maps 64 random bits to the index of a variant in the link's record, or to -1 if there is none.
func (a *Arms) Draw(random uint64) int {
	if len(a.columns) == 0 {
		return -1
	}
	// The upper half of the product is the column. The lower half is the remaining randomness.
	hi, lo := bits.Mul64(random, uint64(len(a.columns)))
	if c := &a.columns[hi]; lo >= c.keep {
		return int(c.alias)
	}
	return int(hi)
}

// Odds returns a variant's weight and the sum of all weights: Draw returns the variant's index in weight of total
// cases. The sum is 0 if there is nothing to draw.
func Odds(variants []link.Variant, i int) (weight, total int64) {
	for j := range variants {
		total += int64(variants[j].Weight)
	}
	return int64(variants[i].Weight), total
}

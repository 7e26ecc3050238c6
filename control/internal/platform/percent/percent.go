// Package percent computes percentages by one rule, so that two responses about the same clicks never differ in the
// last digit.
package percent

import "math/bits"

// Of returns n of total in percent with one decimal, or 0 if total is 0. It rounds halves away from zero. It computes
// with integers: with floats, 201 of 400 (50.25 %) is 50.2 or 50.3, depending on the order of the operations. n may be
// negative, for growth; total may not.
func Of(n, total int64) float64 {
	if total <= 0 {
		return 0
	}
	if n < 0 {
		return -Of(-n, total)
	}
	// n·1000/total are whole tenths. The product has 128 bits, so it cannot overflow.
	hi, lo := bits.Mul64(uint64(n%total), 1000)
	tenths, rest := bits.Div64(hi, lo, uint64(total))
	if rest >= uint64(total)-rest {
		tenths++
	}
	return float64(uint64(n/total)*1000+tenths) / 10
}

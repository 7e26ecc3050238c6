// Package percent holds the one rule by which shares become percentages, so that two answers about the same clicks
// never differ in the last digit.
package percent

import "math/bits"

// Of is n of total in percent with one decimal; 0 if total is 0. It rounds halves away from zero and computes with
// integers: a float would round 201 of 400 (50.25 %) to 50.2 or 50.3, depending on the order of its operations.
// n may be negative, for growth; total may not.
func Of(n, total int64) float64 {
	if total <= 0 {
		return 0
	}
	if n < 0 {
		return -Of(-n, total)
	}
	// Whole tenths are n·1000/total. The product has 128 bits, so no count overflows it.
	hi, lo := bits.Mul64(uint64(n%total), 1000)
	tenths, rest := bits.Div64(hi, lo, uint64(total))
	if rest >= uint64(total)-rest {
		tenths++
	}
	return float64(uint64(n/total)*1000+tenths) / 10
}

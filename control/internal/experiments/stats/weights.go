package stats

import (
	"math"
	"slices"
	"time"
)

// Weights returns the weights in whole percent that the autopilot gives to the arms. They add up to 100, and no arm has less than
// settings.Floor, or an equal share if there are too many arms for that floor. The part above the floors is shared by the
// probability that each arm is best, which is the mean of Thompson sampling without its noise: Thompson, On the likelihood that one unknown
// probability exceeds another in view of the evidence of two samples (1933); Chapelle and Li, An empirical evaluation of Thompson
// sampling (2011). There are no random numbers, so that the same data give the same weights.
//
// Periods lose half of their influence in each settings.HalfLife before now: Raj and Kalyani, Taming non-stationary bandits (2017).
func Weights(periods []Period, now time.Time, settings Settings) []int {
	return thompson(discounted(periods, now, settings.HalfLife), settings.Floor)
}

// thompson returns the weights for posteriors.
func thompson(arms []beta, floor int) []int {
	k := len(arms)
	if k == 0 {
		return nil
	}
	best, _ := integrate(arms, coarseStep, coarseReach)
	floor = max(min(floor, 100/k), 0)
	return apportion(best, 100-k*floor, floor)
}

// apportion shares out whole percents by the method of largest remainders. The first of equal arms gets more.
func apportion(best []float64, free, floor int) []int {
	weights, order := make([]int, len(best)), make([]int, len(best))
	rest := make([]float64, len(best))
	left := free
	for i, p := range best {
		whole := math.Floor(p * float64(free))
		weights[i], rest[i], order[i] = floor+int(whole), p*float64(free)-whole, i
		left -= int(whole)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rest[a] > rest[b]:
			return -1
		case rest[a] < rest[b]:
			return 1
		}
		return 0
	})
	for n := range max(left, 0) {
		weights[order[n%len(order)]]++
	}
	return weights
}

// discounted adds up all periods into posteriors, with less weight for older periods.
func discounted(periods []Period, now time.Time, halfLife time.Duration) []beta {
	var arms []beta
	for _, p := range periods {
		for len(arms) < len(p.Arms) {
			arms = append(arms, beta{1, 1})
		}
		weight := 1.0
		if age := now.Sub(p.Start); halfLife > 0 && age > 0 {
			weight = math.Exp2(-age.Seconds() / halfLife.Seconds())
		}
		for i, a := range p.Arms {
			n, c := a.counts()
			arms[i].a += weight * c
			arms[i].b += weight * (n - c)
		}
	}
	return arms
}

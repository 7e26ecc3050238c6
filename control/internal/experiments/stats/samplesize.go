package stats

import "math"

// unlimited is the sample size that is returned where no sample is large enough.
const unlimited = math.MaxInt32

// SampleSize returns the visitors that each of two arms needs, so that an experiment with equal weights finds a winner with the
// given power (such as 0.8) under Defaults. base is the rate of the worse arm, uplift the relative difference (0.2 is 20 %).
// Most experiments end earlier. The page docs/developers/experiments.md compares it with simulations.
func SampleSize(base, uplift, power float64) int {
	return sampleSize(base, uplift, power, Defaults().Alpha, 2)
}

// sampleSize finds the number of visitors at which the normal approximation of the evidence passes the bound of Decide with the
// given power. Schoenfeld, The asymptotic properties of nonparametric tests for comparing survival distributions (1981), has the
// drift of logrank tests. Crossing the bound earlier and falling back is not counted, so the true power is higher. For more arms, the
// winner has to beat all others, and each comparison gets its part of the failures.
func sampleSize(base, uplift, power, alpha float64, arms int) int {
	better := base * (1 + uplift)
	if !(base > 0 && uplift > 0 && better < 1 && power > 0 && power < 1 && arms >= 2) {
		return unlimited
	}
	hazard := math.Log(math.Log1p(-better) / math.Log1p(-base))
	reserve := normalQuantile(1 - (1-power)/float64(arms-1))
	bound := math.Log(float64(arms) / alpha)
	enough := func(n float64) bool {
		information := n * (base + better) / 4
		return evidenceAt((hazard*math.Sqrt(information)-reserve)*math.Sqrt(information), information) >= bound
	}
	return smallest(enough)
}

// evidenceAt is the normal approximation of Evidence for a score (events of the better arm above their expected number) and the
// information (the variance of the score).
func evidenceAt(score, information float64) float64 {
	var sums [64]float64
	for g, r := range ratios {
		sums[g] = r.log*score - r.log*r.log*information/2
	}
	return logMixture(&sums)
}

// smallest returns the smallest whole number for which a rule holds that stays true once it is.
func smallest(enough func(n float64) bool) int {
	low, high := 0, 64
	for !enough(float64(high)) {
		if high > unlimited/2 {
			return unlimited
		}
		low, high = high, high*2
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; enough(float64(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

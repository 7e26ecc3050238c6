package stats

import "math"

// SampleRatio checks whether visitors were distributed as the weights say. If not, visitors of one arm are lost or counted
// twice somewhere, and no figure of the experiment can be trusted: Fabijan et al., Diagnosing sample ratio mismatch in online
// controlled experiments (2019).
//
// p is valid at any time: if the weights were followed, the probability that p is ever at most x is at most x. This is the
// sequential multinomial test of Lindon and Malek, Anytime-valid inference for multinomial count data (2022), with a discrete
// mixture of alternatives "one arm gets r times its odds", which allows weights that change between periods. It replaces the
// usual chi-square test, which raises false alarms if it is repeated. ok is false if p is below settings.RatioAlpha. Odds
// that are wrong by less than settings.RatioTolerance raise no alarm.
func SampleRatio(periods []Period, settings Settings) (p float64, ok bool) {
	tolerance := math.Log1p(max(settings.RatioTolerance, 0))
	var evidence []float64
	for arm := range Total(periods) {
		parts := make([]part, 0, len(periods))
		for _, period := range periods {
			if share, visitors, all := assigned(period, arm); share > 0 && share < 1 && all > 0 {
				parts = append(parts, part{share, visitors, all})
			}
		}
		for step := range mismatches {
			shift := 0.001 * math.Pow(1.5, float64(step))
			evidence = append(evidence, mismatch(parts, tolerance, tolerance+shift), mismatch(parts, -tolerance, -tolerance-shift))
		}
	}
	if len(evidence) == 0 {
		return 1, true
	}
	largest := 0.0
	for _, e := range evidence {
		largest = max(largest, e)
	}
	var total float64
	for _, e := range evidence {
		total += math.Exp(e - largest)
	}
	p = min(1, math.Exp(math.Log(float64(len(evidence)))-math.Log(total)-largest))
	return p, p >= settings.RatioAlpha
}

// mismatches is the number of alternatives on each side of an arm's odds, from 0.1 % to a factor of 4.
const mismatches = 19

// part of an arm in a period: its share of the weights, its visitors, and those of all arms.
type part struct{ share, visitors, all float64 }

// mismatch is the logarithm of the likelihood ratio of two hypotheses about the odds of one arm against all others: that
// the logarithm of their error is other, against that it is null. It is a supermartingale if null lies between the true error and other.
func mismatch(parts []part, null, other float64) (log float64) {
	less, lessNull := math.Expm1(other), math.Expm1(null)
	for _, p := range parts {
		log += p.visitors*(other-null) - p.all*math.Log((1+p.share*less)/(1+p.share*lessNull))
	}
	return log
}

// assigned returns the arm's share of the weights, its visitors, and the visitors of all arms with a weight.
func assigned(p Period, arm int) (share, visitors, all float64) {
	if arm >= len(p.Arms) || arm >= len(p.Weights) {
		return 0, 0, 0
	}
	var total float64
	for i, w := range p.Weights {
		if w > 0 && i < len(p.Arms) {
			total += w
			all += float64(max(p.Arms[i].Visitors, 0))
		}
	}
	if total <= 0 || p.Weights[arm] <= 0 {
		return 0, 0, 0
	}
	return p.Weights[arm] / total, float64(max(p.Arms[arm].Visitors, 0)), all
}

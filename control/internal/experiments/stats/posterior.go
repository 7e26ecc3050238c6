package stats

import (
	"math"
	"slices"
)

// Interval is a range that contains a value with a probability of 95 %.
type Interval struct{ Low, High float64 }

// tail is the probability on each side of an interval.
const tail = 0.025

// ProbabilityBest returns for each arm the posterior probability that its rate is the highest. The probabilities add up to 1.
// It integrates the density of each arm times the distribution functions of the others: Scott, A modern Bayesian look at the
// multi-armed bandit (2010), equation 6; for two arms Evan Miller, Formulas for Bayesian A/B testing (2015). The absolute
// error is below 1e-9 (1e-6 above 10^8 visitors). 2 arms take about 50 µs, 20 arms about 2 ms.
func ProbabilityBest(arms []Arm) []float64 {
	best, _ := integrate(posteriors(arms), fineStep, fineReach)
	return best
}

// ExpectedLoss returns for each arm the rate that its choice is expected to give away: the posterior mean of the highest rate
// minus the arm's rate. See Stucchio, Bayesian A/B testing at VWO (2015), section 4. The relative error is below 1e-6.
func ExpectedLoss(arms []Arm) []float64 {
	_, loss := integrate(posteriors(arms), fineStep, fineReach)
	return loss
}

// integrate integrates over the panels of all arms at once. The loss of arm i is the integral of F_i (1 - product of the other F_j),
// which has no cancellation.
func integrate(arms []beta, step, reach float64) (best, loss []float64) {
	k := len(arms)
	best, loss = make([]float64, k), make([]float64, k)
	if k == 0 {
		return best, loss
	}
	ends := panels(arms, step, reach)
	densities, jacobians := tabulate(arms, ends)
	cdf := make([][order]float64, k)
	mass := make([]float64, k)
	suffix := make([]float64, k+1)
	for p := range jacobians {
		for i := range arms {
			f := &densities[p*k+i]
			var sum float64
			for n := range order {
				at := mass[i]
				for j := range order {
					at += rule.cumulative[n][j] * f[j]
				}
				cdf[i][n] = min(max(at, 0), 1)
				sum += rule.weights[n] * f[n]
			}
			mass[i] += sum
		}
		for n := range order {
			suffix[k] = 1
			for i := k - 1; i >= 0; i-- {
				suffix[i] = suffix[i+1] * cdf[i][n]
			}
			prefix := 1.0
			for i := range arms {
				others := prefix * suffix[i+1]
				best[i] += rule.weights[n] * densities[p*k+i][n] * others
				loss[i] += rule.weights[n] * jacobians[p][n] * cdf[i][n] * (1 - others)
				prefix *= cdf[i][n]
			}
		}
	}
	var sum float64
	for i := range best {
		sum += best[i]
		loss[i] = max(loss[i], 0)
	}
	for i := range best {
		best[i] = min(best[i]/sum, 1)
	}
	return best, loss
}

// tabulate returns the densities of all arms at the nodes of all panels, by panel and arm, and the derivative of the rate. Both
// are multiplied by half the width of their panel.
func tabulate(arms []beta, ends []float64) (densities, jacobians [][order]float64) {
	k := len(arms)
	peaks, sums := make([]float64, k), make([]float64, k)
	for i, b := range arms {
		peaks[i] = b.peak()
	}
	densities, jacobians = make([][order]float64, (len(ends)-1)*k), make([][order]float64, len(ends)-1)
	for p := range jacobians {
		half, mid := (ends[p+1]-ends[p])/2, (ends[p+1]+ends[p])/2
		for n := range order {
			x, rest := logs(mid + half*rule.nodes[n])
			jacobians[p][n] = half * math.Exp(x+rest)
			for i, b := range arms {
				if exponent := b.a*x + b.b*rest - peaks[i]; exponent > -80 {
					f := half * math.Exp(exponent)
					densities[p*k+i][n] = f
					sums[i] += rule.weights[n] * f
				}
			}
		}
	}
	for p := range jacobians {
		for i := range arms {
			for n := range order {
				densities[p*k+i][n] /= sums[i]
			}
		}
	}
	return densities, jacobians
}

// RateInterval returns the equal-tailed 95 % credible interval of an arm's rate. See Brown, Cai and DasGupta, Interval
// estimation for a binomial proportion (2001), section 3.1, here with the uniform prior.
func RateInterval(arm Arm) Interval {
	d := newDistribution(posterior(arm))
	return Interval{logistic(d.quantile(tail)), logistic(d.quantile(1 - tail))}
}

// Uplift of a rate over another: 0.2 is a rate that is 20 % higher.
type Uplift struct {
	// Value is observed, or the posterior median if the control arm has no conversions, when an observed uplift does not exist.
	Value float64
	// Interval contains the uplift with a posterior probability of 95 %.
	Interval Interval
}

// UpliftOver compares an arm with the control arm. The interval consists of quantiles of the posterior of the ratio of both
// rates: Nurminen and Mutanen, Exact Bayesian analysis of two proportions (1987).
func UpliftOver(control, arm Arm) Uplift {
	c, a := newDistribution(posterior(control)), newDistribution(posterior(arm))
	u := Uplift{Interval: Interval{ratioQuantile(c, a, tail) - 1, ratioQuantile(c, a, 1-tail) - 1}}
	if control.Rate() > 0 && arm.Visitors > 0 {
		u.Value = arm.Rate()/control.Rate() - 1
	} else {
		u.Value = ratioQuantile(c, a, 0.5) - 1
	}
	return u
}

// ratioQuantile returns the ratio arm/control below which the posterior has the given probability, with a relative error of 1e-9.
func ratioQuantile(control, arm *distribution, probability float64) float64 {
	excess := func(logRatio float64) float64 { return arm.belowMultiple(control, logRatio) - probability }
	center := math.Log(arm.mean() / control.mean())
	spread := math.Sqrt(1/arm.a + 1/control.a)
	low, high := center-spread, center+spread
	atLow, atHigh := excess(low), excess(high)
	for range 60 {
		if atLow <= 0 {
			break
		}
		low -= 2 * spread
		atLow = excess(low)
	}
	for range 60 {
		if atHigh >= 0 {
			break
		}
		high += 2 * spread
		atHigh = excess(high)
	}
	return math.Exp(root(excess, low, high, atLow, atHigh))
}

// belowMultiple returns the probability that the rate of d is less than a multiple of the control arm's rate. The panels resolve
// the density of the control arm and the distribution function of d, which may be much narrower.
func (d *distribution) belowMultiple(control *distribution, logRatio float64) float64 {
	first, last := control.ends[0], control.ends[len(control.ends)-1]
	ends := append(make([]float64, 0, len(control.ends)+len(d.ends)), control.ends...)
	for _, t := range d.ends {
		x, _ := logs(t)
		if t := logitOfLog(x - logRatio); t > first && t < last {
			ends = append(ends, t)
		}
	}
	slices.Sort(ends)
	var sum float64
	for p := range len(ends) - 1 {
		half, mid := (ends[p+1]-ends[p])/2, (ends[p+1]+ends[p])/2
		for n := range order {
			x, rest := logs(mid + half*rule.nodes[n])
			weight := half * rule.weights[n] * math.Exp(control.a*x+control.b*rest-control.scale)
			if weight > 1e-16 {
				sum += weight * d.below(logitOfLog(logRatio+x))
			}
		}
	}
	return sum
}

// logitOfLog returns the logit of a rate whose logarithm is given; it is infinite for rates of 1 and more.
func logitOfLog(x float64) float64 {
	if x >= 0 {
		return math.Inf(1)
	}
	return x - math.Log(-math.Expm1(x))
}

// root finds a zero between low and high by the Illinois method: Dowell and Jarratt, A modified regula falsi method (1971).
func root(f func(float64) float64, low, high, atLow, atHigh float64) float64 {
	mid, side := (low+high)/2, 0
	for range 100 {
		if atHigh > atLow {
			mid = (low*atHigh - high*atLow) / (atHigh - atLow)
		}
		if !(mid > low && mid < high) {
			mid = (low + high) / 2
		}
		at := f(mid)
		if math.Abs(at) < 1e-12 || high-low < 1e-12*(1+math.Abs(mid)) {
			return mid
		}
		if at < 0 {
			low, atLow = mid, at
			if side == -1 {
				atHigh /= 2
			}
			side = -1
		} else {
			high, atHigh = mid, at
			if side == 1 {
				atLow /= 2
			}
			side = 1
		}
	}
	return mid
}

package stats

import "math"

// ratios is the prior of evidence: relative hazards that are spread evenly over their logarithm's scale, so that uplifts of 1 % and of
// 100 % are found at about the same multiple of the smallest possible sample. Uplifts of 4 to 60 % have four fifths of the weight.
var ratios = newRatios()

type ratio struct {
	log, less float64 // log(r), r-1
	weight    float64 // logarithm
}

func newRatios() (all []ratio) {
	const smallest, step, count = 0.005, 1.25, 29
	var common, rare float64
	inside := func(log float64) bool { return log >= 0.035 && log <= 0.5 }
	for i := range count {
		if inside(smallest * math.Pow(step, float64(i))) {
			common++
		} else {
			rare++
		}
	}
	for i := range count {
		log := smallest * math.Pow(step, float64(i))
		w := 0.2 / rare
		if inside(log) {
			w = 0.8 / common
		}
		all = append(all, ratio{log, math.Expm1(log), math.Log(w)})
	}
	return all
}

// Evidence returns the logarithm of the e-value for "arm better converts more often than arm worse".
//
// If better does not convert more often in any period, the probability that the e-value ever exceeds x is at most 1/x (Ville's
// inequality), at any number of looks. The weights may depend on all earlier data. The rates of both arms may change together,
// within a day and between days, and visitors may convert at any time after their click.
//
// The e-value is a mixture of likelihood ratios, one for each relative hazard r. Each conversion of one of both arms is an event
// whose arm is drawn from the visitors of its period that have not converted yet. If n_i and n_j are left, arm i converts with
// probability n_i/(n_i+n_j) under the null hypothesis and n_i r/(n_i r+n_j) under the alternative. The product of their
// ratios is a martingale, because both are known before the event. This is the safe logrank test of ter Schure, Pérez-Ortiz,
// Ly and Grünwald, The anytime-valid logrank test (2024), with periods as strata. For small rates it equals the test of
// Lindon and Malek, Anytime-valid inference for multinomial count data (2022), section 4. Counts do not show the order of events
// within a period; the mean order is used. Its value is at most the mean over all orders by Jensen's inequality.
func Evidence(periods []Period, better, worse int) float64 {
	var sums [64]float64
	var conversions float64
	for _, p := range periods {
		if better >= len(p.Arms) || worse >= len(p.Arms) {
			continue
		}
		ni, ci := p.Arms[better].counts()
		nj, cj := p.Arms[worse].counts()
		if ci+cj == 0 || ni == 0 || nj == 0 {
			continue
		}
		conversions += ci
		shares, weights, points := path(ni, ci, nj, cj)
		for g, r := range ratios {
			sum := 0.0
			for e := range points {
				sum += weights[e] * math.Log1p(shares[e]*r.less)
			}
			sums[g] += ci*r.log - sum
		}
	}
	if conversions == 0 {
		return 0
	}
	return logMixture(&sums)
}

// logMixture is the logarithm of the weighted mean of exp(sums).
func logMixture(sums *[64]float64) float64 {
	largest := math.Inf(-1)
	for g, r := range ratios {
		largest = max(largest, sums[g]+r.weight)
	}
	var total float64
	for g, r := range ratios {
		total += math.Exp(sums[g] + r.weight - largest)
	}
	return largest + math.Log(total)
}

// path returns the share of arm i among the visitors that have not converted before each event, on the straight way from no
// event to all. Few events are listed, more are integrated by three points.
func path(ni, ci, nj, cj float64) (shares, weights [3]float64, points int) {
	c := ci + cj
	at := func(s float64) float64 {
		left := ni + nj - s*c
		if left <= 0 {
			return ni / (ni + nj)
		}
		return min(max((ni-s*ci)/left, 0), 1)
	}
	if c <= 3 {
		for e := range int(c) {
			shares[e], weights[e] = at(float64(e)/c), 1
		}
		return shares, weights, int(c)
	}
	const far = 0.774596669241483377 // nodes of Gauss-Legendre with three points: 0 and ±sqrt(3/5)
	middle := 0.5 - 0.5/c
	shares = [3]float64{at(max(middle-far/2, 0)), at(middle), at(middle + far/2)}
	weights = [3]float64{c * 5 / 18, c * 8 / 18, c * 5 / 18}
	return shares, weights, 3
}

// Package anomaly decides whether the clicks of a link are far above or below what the same hours of the weeks before lead to expect.
// It has no state and asks nobody: callers give it the clicks of each hour.
//
// The method follows the surveillance of infectious diseases, where counts of weeks are compared with the same weeks of earlier years:
//
//   - C. P. Farrington, N. J. Andrews, A. D. Beale, M. A. Catchpole: A statistical algorithm for the early detection of outbreaks of
//     infectious disease. Journal of the Royal Statistical Society A 159 (1996), 547–563: comparable periods as the baseline, variance
//     above that of Poisson, and less weight for earlier outbreaks, which would hide later ones.
//   - A. Noufaily, D. G. Enki, P. Farrington, P. Garthwaite, N. Andrews, A. Charlett: An improved algorithm for outbreak detection in
//     multiple surveillance systems. Statistics in Medicine 32 (2013), 1206–1222: quantiles of the negative binomial distribution, and a
//     higher bound for the residuals from which on weight is taken.
//   - M. Höhle, M. Paul: Count data regression charts for the monitoring of surveillance time series. Computational Statistics & Data
//     Analysis 52 (2008), 4357–4368: negative binomial counts with days and seasons.
//   - A. C. Cameron, P. K. Trivedi: Regression Analysis of Count Data, 2nd edition, Cambridge 2013, chapter 3: variance mu + alpha mu².
//
// A judgement compares the newest 6 and the newest 24 hours with the same hours of the same weekday in each of the eight weeks before.
// Their robust mean is scaled by the present level of the link, which is that of the last week. The dispersion alpha comes from all such
// windows of the link's past, as a robust estimate, so one launch does not raise it. The tail of the negative binomial distribution
// then says how likely at least, or at most, so many clicks are.
//
// Hours without data, such as those of an outage or from before the link was made, are Missing and left out. A link with fewer than four
// comparable weeks, or with few clicks, is not judged: any bound for it would be a guess.
package anomaly

import (
	"math"
	"slices"
)

// Missing marks an hour of which nothing is known.
const Missing = -1

const (
	week      = 7 * 24 // hours
	weeks     = 8      // of the baseline
	leastPast = 4      // weeks, for a judgement
	// History is the number of hours that Judge looks at.
	History = (weeks + 1) * week

	// outlier is the standardised residual from which on an earlier week loses weight.
	outlier  = 2.58
	leastVar = 0.02 // alpha: no link is more regular
)

// Limits say what is unusual. All of them must be reached: clicks that are improbable must also matter to people.
type Limits struct {
	// Chance is the probability below which clicks are unusual. Judgements of following hours share most of their clicks, and real series
	// have heavier tails than the model, so it is far below one in the number of hours of a month. The simulation gives the false alarms.
	Chance float64
	// Rise and Fall are the least differences from the expectation, as shares of it: 1 is twice as many, or none. 0 looks at no side of
	// that name.
	Rise, Fall float64
	// Clicks is the least difference in clicks.
	Clicks float64
}

// The chances of three sensitivities.
const (
	LowChance    = 1e-7
	NormalChance = 1e-5
	HighChance   = 1e-4
)

// Usual are limits that fit most links: at least twice as many clicks as expected, or at most half.
var Usual = Limits{Chance: NormalChance, Rise: 1, Fall: 0.5, Clicks: 20}

// windows are the hours that are judged at a time: a short one for large changes, and a long one for small ones.
var windows = []int{6, 24}

// Direction says on which side of the expectation clicks are.
type Direction int8

// Directions.
const (
	Below  Direction = -1
	Normal Direction = 0
	Above  Direction = 1
)

// Judgement is what the newest hours are like. The zero value is Normal without an expectation.
type Judgement struct {
	Direction Direction
	Hours     int     // of the window
	Clicks    float64 // in the window
	Expected  float64 // 0: the link was not judged
	Chance    float64 // of clicks so far from the expectation, on this side
}

// Judge judges the newest hours of a link. clicks has the number of each hour, the oldest first, or Missing. It returns the least likely
// window, and Normal if none is unusual by the limits.
func Judge(clicks []float64, limits Limits) Judgement {
	clicks = clicks[max(0, len(clicks)-History):]
	var worst Judgement
	for _, hours := range windows {
		j := judge(clicks, hours, limits)
		switch {
		case j.Expected == 0:
		case worst.Expected == 0, j.Direction != Normal && (worst.Direction == Normal || j.Chance < worst.Chance):
			worst = j
		}
	}
	return worst
}

func judge(clicks []float64, hours int, l Limits) Judgement {
	end := len(clicks)
	observed, ok := sum(clicks, end, hours)
	if !ok {
		return Judgement{}
	}
	expected, weight, ok := expectation(clicks, end, hours)
	if !ok {
		return Judgement{}
	}
	alpha := dispersion(clicks, end, hours)
	// The expectation itself is uncertain: it is a mean of few weeks.
	alpha += (1/expected + alpha) / weight
	j := Judgement{Hours: hours, Clicks: observed, Expected: expected}
	if observed >= expected {
		j.Chance = atLeast(observed, expected, alpha)
		if l.Rise > 0 && j.Chance < l.Chance && observed >= (1+l.Rise)*expected && observed-expected >= l.Clicks {
			j.Direction = Above
		}
		return j
	}
	j.Chance = atMost(observed, expected, alpha)
	if l.Fall > 0 && j.Chance < l.Chance && observed <= (1-l.Fall)*expected && expected-observed >= l.Clicks {
		j.Direction = Below
	}
	return j
}

// sum adds the hours before end. ok is false if one of them is missing.
func sum(clicks []float64, end, hours int) (n float64, ok bool) {
	if end < hours {
		return 0, false
	}
	for _, c := range clicks[end-hours : end] {
		if c < 0 {
			return 0, false
		}
		n += c
	}
	return n, true
}

// expectation returns how many clicks the hours before end should have, and the number of weeks from which that is known.
func expectation(clicks []float64, end, hours int) (mu, weight float64, ok bool) {
	past := sameHours(clicks, end, hours)
	if len(past) < leastPast {
		return 0, 0, false
	}
	mu, weight = robustMean(past)
	mu *= level(clicks, end, hours)
	return math.Max(mu, 0.5), weight, true
}

// sameHours returns the clicks in the same hours of the weeks before, the newest week first. Weeks with a missing hour are left out.
func sameHours(clicks []float64, end, hours int) (past []float64) {
	for w := 1; w <= weeks; w++ {
		if n, ok := sum(clicks, end-w*week, hours); end-w*week >= hours && ok {
			past = append(past, n)
		}
	}
	return past
}

// robustMean is a mean in which values far from the others have less weight: the weight of a residual r above outlier is (outlier/r)².
func robustMean(values []float64) (mean, weight float64) {
	mean = median(values)
	spread := 1.4826 * median(distances(values, mean)) // the standard deviation, if the values were normal
	for range 3 {
		scale := math.Max(math.Max(spread, math.Sqrt(math.Max(mean, 1))), 0.1*mean)
		total := 0.0
		weight = 0
		for _, v := range values {
			w := 1.0
			if r := math.Abs(v-mean) / scale; r > outlier {
				w = outlier * outlier / (r * r)
			}
			total, weight = total+w*v, weight+w
		}
		mean = total / weight
	}
	return mean, weight
}

// level is the clicks of the last week before the window, compared with the weeks of the baseline: links grow and fade. It is bounded,
// so that a collapse does not become the expectation before anybody is told.
func level(clicks []float64, end, hours int) float64 {
	now, ok := daily(clicks, end-hours, 7)
	if !ok {
		return 1
	}
	var past []float64
	for w := 1; w <= weeks; w++ {
		if n, ok := daily(clicks, end-hours-w*week, 7); ok {
			past = append(past, n)
		}
	}
	if len(past) == 0 {
		return 1
	}
	base, _ := robustMean(past)
	// Weeks of few clicks say little about the level, so the factor is drawn towards 1 as by 20 more clicks a week.
	const prior = 20.0 / 7
	return math.Min(math.Max((now+prior)/(base+prior), 0.5), 2)
}

// daily is the robust mean of the clicks a day in the days before end. ok is false if fewer than half of them are complete.
func daily(clicks []float64, end, days int) (float64, bool) {
	var list []float64
	for d := range days {
		if n, ok := sum(clicks, end-24*d, 24); end-24*d >= 24 && ok {
			list = append(list, n)
		}
	}
	if 2*len(list) < days {
		return 0, false
	}
	mean, _ := robustMean(list)
	return mean, true
}

// dispersion estimates alpha from the windows of the past: how far each is from the others of its weekday and hours. For a normal
// residual, the median of its square is 0.455 times its variance. Counts have longer tails, so the larger of the median and of a trimmed
// mean is taken.
func dispersion(clicks []float64, end, hours int) float64 {
	var squares []float64
	for back := 6; back < week; back += 6 {
		past := sameHours(clicks, end-back, hours)
		if len(past) < leastPast {
			continue
		}
		mean, _ := robustMean(past)
		if mean < 1 {
			continue
		}
		n := float64(len(past))
		for _, v := range past {
			// n/(n-1) because the mean comes from the same values; minus the variance of Poisson.
			squares = append(squares, ((v-mean)*(v-mean)*n/(n-1)-mean)/(mean*mean))
		}
	}
	if len(squares) == 0 {
		return 1
	}
	slices.Sort(squares)
	trimmed := squares[:len(squares)-len(squares)/20]
	total := 0.0
	for _, s := range trimmed {
		total += s
	}
	return math.Min(math.Max(math.Max(median(squares)/0.455, 1.5*total/float64(len(trimmed))), leastVar), 4)
}

func distances(values []float64, from float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Abs(v - from)
	}
	return out
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

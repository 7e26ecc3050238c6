// Package stats holds the statistics of experiments: which variant of a link converts best, how sure that is, and when an
// experiment may end. All functions are pure: the same data give the same result, bit for bit. They do not keep their
// arguments and are safe for concurrent use. No result is NaN or infinite, whatever the counts are.
//
// Rates have a uniform prior, Beta(1, 1). Posteriors are integrated numerically, not sampled. Decisions may be checked at any
// time and any number of times; docs/adr/0022-experiment-decisions.md has the reasons.
package stats

import (
	"math"
	"time"
)

// Arm counts the visitors of one variant.
type Arm struct {
	Visitors       int64
	Converted      int64   // visitors with at least one conversion; more than Visitors counts as Visitors
	Revenue        float64 // sum over visitors of their revenue, in units of the currency
	RevenueSquares float64 // sum over visitors of the square of their revenue
}

// Rate is the observed conversion rate, or 0 without visitors.
func (a Arm) Rate() float64 {
	n, c := a.counts()
	if n == 0 {
		return 0
	}
	return c / n
}

// counts returns visitors and converted visitors with impossible values corrected.
func (a Arm) counts() (visitors, converted float64) {
	n := max(a.Visitors, 0)
	return float64(n), float64(min(max(a.Converted, 0), n))
}

// Period is a group of visitors that came while the weights were the same, or nearly so. Conversions belong to the period of
// their visitor's click. A comparison within periods stays right when the weights and the rates both change with time, and
// while young visitors have not converted yet. An experiment whose weights never changed needs one period. An experiment with
// the autopilot needs one for each hour.
type Period struct {
	Start time.Time
	// Weights that the variants had, in the order of Arms. A variant with weight 0 is not part of the period. The sample ratio
	// test skips periods without weights.
	Weights []float64
	Arms    []Arm
}

// Settings of decisions and of the autopilot. Defaults has the values whose error rates are published.
type Settings struct {
	// Alpha bounds the probability that an experiment ever names a winner that is not better than every other arm.
	Alpha float64
	// Threshold of caring: a loss below this part of the best rate does not matter.
	Threshold float64
	// MinimumVisitors and MinimumConverted of each pair of arms that a decision compares. They guard against decisions from data
	// that are too few to be checked by eye. The error rates hold without them.
	MinimumVisitors  int64
	MinimumConverted int64
	// Uplift and Power of the sample size after which NoDifference is possible.
	Uplift, Power float64
	// RatioAlpha bounds the probability of a false alarm of the sample ratio test.
	RatioAlpha float64
	// RatioTolerance is the relative error of an arm's odds that the sample ratio test accepts. Edges apply new weights
	// seconds after the control plane has set them, so counts never follow weights exactly.
	RatioTolerance float64
	// Floor is the smallest weight in percent that the autopilot gives to an arm.
	Floor int
	// HalfLife of clicks in the autopilot's eyes, so that it follows rates that drift. 0: clicks never age.
	HalfLife time.Duration
	// Names of the arms in reasons. An arm without a name is called "variant 1", "variant 2", and so on.
	Names []string
}

// Defaults returns the settings that the simulations use.
func Defaults() Settings {
	return Settings{
		Alpha:            0.05,
		Threshold:        0.01,
		MinimumVisitors:  100,
		MinimumConverted: 10,
		Uplift:           0.1,
		Power:            0.8,
		RatioAlpha:       0.001,
		RatioTolerance:   0.002,
		Floor:            5,
		HalfLife:         48 * time.Hour,
	}
}

// Total adds up the arms of all periods. The number of arms is the largest of any period.
func Total(periods []Period) []Arm {
	var total []Arm
	for _, p := range periods {
		for len(total) < len(p.Arms) {
			total = append(total, Arm{})
		}
		for i, a := range p.Arms {
			t := &total[i]
			t.Visitors += a.Visitors
			t.Converted += a.Converted
			t.Revenue += a.Revenue
			t.RevenueSquares += a.RevenueSquares
		}
	}
	return total
}

// normalQuantile is the inverse of the standard normal distribution function.
func normalQuantile(p float64) float64 {
	return math.Sqrt2 * math.Erfinv(2*p-1)
}

// finite replaces NaN and infinities, which only revenue from broken sums can bring in.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

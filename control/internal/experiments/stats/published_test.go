package stats

import (
	"math"
	"testing"
)

// closedForm is the probability that B has the higher rate: Evan Miller, Formulas for Bayesian A/B testing (2015), equation 6.
func closedForm(a, b beta) (sum float64) {
	logBeta := func(x, y float64) float64 {
		p, _ := math.Lgamma(x)
		q, _ := math.Lgamma(y)
		r, _ := math.Lgamma(x + y)
		return p + q - r
	}
	for i := 0.0; i < b.a; i++ {
		sum += math.Exp(logBeta(a.a+i, b.b+a.b) - math.Log(b.b+i) - logBeta(1+i, b.b) - logBeta(a.a, a.b))
	}
	return sum
}

func TestProbabilityBest_equals_the_closed_form(t *testing.T) {
	for _, c := range [][2]Arm{
		{{Visitors: 100, Converted: 5}, {Visitors: 110, Converted: 9}},
		{{Visitors: 5000, Converted: 250}, {Visitors: 400, Converted: 30}},
		{{}, {Visitors: 1, Converted: 1}},
		{{Visitors: 1000, Converted: 999}, {Visitors: 1000, Converted: 1000}},
	} {
		near(t, "probability", ProbabilityBest(c[:])[1], closedForm(posterior(c[0]), posterior(c[1])), 1e-9, 1e-10)
	}
}

// The posterior without conversions is Beta(1, n+1), whose quantiles have a closed form: the rule of three, of Hanley and
// Lippman-Hand, If nothing goes wrong, is everything all right? (1983), in its Bayesian form.
func TestRateInterval_without_conversions(t *testing.T) {
	for _, n := range []int64{0, 1, 10, 1000, 1e9} {
		r := RateInterval(Arm{Visitors: n})
		near(t, "high", r.High, -math.Expm1(math.Log(0.025)/float64(n+1)), 1e-8, 0)
		near(t, "low", r.Low, -math.Expm1(math.Log(0.975)/float64(n+1)), 1e-8, 0)
		mirror := RateInterval(Arm{Visitors: n, Converted: n})
		near(t, "mirrored low", mirror.Low, 1-r.High, 1e-9, 0)
	}
}

// Kohavi, Tang and Xu, Trustworthy online controlled experiments (2020), chapter 21: 821,588 users in one arm and 815,482 in
// the other are a mismatch (p = 1.8e-6 in a chi-square test).
func TestSampleRatio_published_example(t *testing.T) {
	periods := func(a, b int64) []Period {
		return []Period{{Weights: []float64{1, 1}, Arms: []Arm{{Visitors: a}, {Visitors: b}}}}
	}
	s := Defaults()
	s.RatioTolerance = 0
	if p, ok := SampleRatio(periods(821588, 815482), s); ok || p > 1e-3 || p < 1.8e-6 {
		t.Errorf("p = %v, ok = %v", p, ok)
	}
	if p, ok := SampleRatio(periods(818588, 818482), s); !ok || p < 0.5 {
		t.Errorf("p = %v, ok = %v", p, ok)
	}
	s.RatioTolerance = 0.01
	if p, ok := SampleRatio(periods(821588, 815482), s); !ok {
		t.Errorf("within the tolerance: p = %v", p)
	}
}

// Two sets of weights, each followed, but at times of different traffic: the totals alone look wrong.
func TestSampleRatio_weights_change(t *testing.T) {
	periods := []Period{
		{Weights: []float64{90, 10}, Arms: []Arm{{Visitors: 9020}, {Visitors: 980}}},
		{Weights: []float64{5, 95}, Arms: []Arm{{Visitors: 1010}, {Visitors: 18990}}},
		{Weights: []float64{100, 0}, Arms: []Arm{{Visitors: 500}, {Visitors: 3}}}, // late visitors of an arm that was turned off
	}
	if p, ok := SampleRatio(periods, Defaults()); !ok {
		t.Errorf("p = %v", p)
	}
	periods[1].Arms[0].Visitors = 700
	if p, ok := SampleRatio(periods, Defaults()); ok {
		t.Errorf("visitors of one period are missing: p = %v", p)
	}
}

func TestArms_order_does_not_matter(t *testing.T) {
	arms := []Arm{{Visitors: 100, Converted: 5}, {Visitors: 3000, Converted: 200}, {Visitors: 50}, {Visitors: 3000, Converted: 200}}
	best, loss := ProbabilityBest(arms), ExpectedLoss(arms)
	near(t, "equal arms", best[1], best[3], 1e-12, 0)
	for shift := range arms {
		moved := append(append([]Arm{}, arms[shift:]...), arms[:shift]...)
		b, l := ProbabilityBest(moved), ExpectedLoss(moved)
		for i := range moved {
			near(t, "best", b[i], best[(i+shift)%4], 1e-11, 1e-14)
			near(t, "loss", l[i], loss[(i+shift)%4], 1e-11, 1e-16)
		}
	}
}

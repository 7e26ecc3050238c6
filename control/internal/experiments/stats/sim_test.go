package stats

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
)

// The simulations use days with more visitors at noon than at night, and rates that follow the time of day by a tenth.
const (
	days  = 14
	hours = days * 24
)

var profile = func() (p [24]float64) {
	for h := range p {
		p[h] = 1 - 0.8*math.Cos(2*math.Pi*float64(h)/24)
	}
	return p
}()

func visitorsAt(hour int, perDay float64) int64 {
	return int64(math.Round(perDay / 24 * profile[hour%24]))
}

func rateAt(hour int, rate float64) float64 {
	return rate * (1 + 0.1*math.Sin(2*math.Pi*float64(hour)/24))
}

// Delays of conversions: three fifths follow within the hour of the click, the others with an exponential delay of 12 hours on average.
const prompt = 0.6

var hazard = 1 - math.Exp(-1.0/12)

// cohort is the visitors of an hour, with those that will convert later.
type cohort struct {
	period  Period
	pending []int64
	open    int64
}

func (c *cohort) arrive(r *rand.Rand, visitors []int64, rates func(arm int) float64) {
	for i, n := range visitors {
		all := binomial(r, n, rates(i))
		now := binomial(r, all, prompt)
		c.period.Arms[i].Visitors += n
		c.period.Arms[i].Converted += now
		c.pending[i] += all - now
		c.open += all - now
	}
}

// mature converts visitors of earlier hours.
func (c *cohort) mature(r *rand.Rand) {
	for i, n := range c.pending {
		if n > 0 {
			now := binomial(r, n, hazard)
			c.pending[i] -= now
			c.open -= now
			c.period.Arms[i].Converted += now
		}
	}
}

// promising is a screen before Decide: likelihood ratios of binomial events are below exp(z²), so that without a large z there is no
// evidence. It compares the leader with the others by the score and its variance, summed over periods. Then it asks for the evidence,
// because a decision also needs reasons and sample sizes.
func promising(periods []Period, arms []Arm, s Settings) bool {
	best := leader(arms)
	bound := math.Log(float64(len(arms)) / s.Alpha)
	for i := range arms {
		if i == best {
			continue
		}
		var score, information float64
		for _, p := range periods {
			ni, ci := p.Arms[best].counts()
			nj, cj := p.Arms[i].counts()
			if n, c := ni+nj, ci+cj; c > 0 {
				share := ni / n
				score += ci - c*share
				information += c * share * (1 - share) * (1 - c/n/2)
			}
		}
		if score <= 0 || score*score < bound*information {
			return false
		}
	}
	_, weakest := rival(periods, arms, best)
	return weakest >= bound
}

// setup of a simulated experiment.
type setup struct {
	Rate    float64 // of all arms, if rates is nil
	PerDay  float64 // visitors
	Arms    int
	Weights string // even or autopilot
	rates   func(hour, arm int) float64
}

func (c setup) rate(hour, arm int) float64 {
	if c.rates != nil {
		return c.rates(hour, arm)
	}
	return rateAt(hour, c.Rate)
}

func newCohort(arms int) *cohort {
	return &cohort{period: Period{Arms: make([]Arm, arms)}, pending: make([]int64, arms)}
}

// watchEven looks at an experiment with even weights after every hour and returns the first decision for a winner, or nothing.
func watchEven(r *rand.Rand, c setup, s Settings) (d Decision, hour int) {
	all := newCohort(c.Arms)
	weights, visitors := make([]int, c.Arms), make([]int64, c.Arms)
	for i := range weights {
		weights[i] = 1
	}
	periods := []Period{all.period}
	for hour := range hours {
		all.mature(r)
		multinomial(r, visitorsAt(hour, c.PerDay), weights, visitors)
		all.arrive(r, visitors, func(arm int) float64 { return c.rate(hour, arm) })
		if promising(periods, all.period.Arms, s) {
			if d := Decide(periods, s); d.Status == Winner {
				return d, hour
			}
		}
	}
	return Decision{}, hours
}

// autopilot simulates an experiment whose weights the autopilot changes steps times in each hour.
type autopilot struct {
	setup
	Settings
	steps   int
	cohorts []*cohort
	open    int // cohorts before this one have no visitors that will convert
	// Discounted sums of visitors and conversions.
	n, c    []float64
	regret  float64 // conversions that were given away
	neutral float64 // conversions that even weights would have given away, without their noise
	weights []int
}

// hour simulates one hour. The sums of Weights are carried forward instead of added up again.
func (a *autopilot) hour(r *rand.Rand, hour int) {
	k := a.Arms
	now := newCohort(k)
	a.cohorts = append(a.cohorts, now)
	visitors := make([]int64, k)
	arms := make([]beta, k)
	best := 0.0
	mean := 0.0
	for i := range k {
		best = max(best, a.rate(hour, i))
		mean += a.rate(hour, i) / float64(k)
	}
	decay, weight := 1.0, 1.0
	if a.HalfLife > 0 {
		decay = math.Exp2(-1 / (a.HalfLife.Hours() * float64(a.steps)))
	}
	first := a.open
	for i, c := range a.cohorts[first:] {
		if c.open == 0 {
			if i == 0 {
				a.open++
			}
			continue
		}
		before := append([]Arm(nil), c.period.Arms...)
		c.mature(r)
		if a.HalfLife > 0 {
			weight = math.Exp2(-float64(hour-first-i) / a.HalfLife.Hours())
		}
		for j := range before {
			a.c[j] += weight * float64(c.period.Arms[j].Converted-before[j].Converted)
		}
	}
	left := visitorsAt(hour, a.PerDay)
	for step := range a.steps {
		for i := range k {
			a.n[i] *= decay
			a.c[i] *= decay
			arms[i] = beta{1 + a.c[i], 1 + max(a.n[i]-a.c[i], 0)}
		}
		a.weights = thompson(arms, a.Floor)
		n := left / int64(a.steps-step)
		left -= n
		multinomial(r, n, a.weights, visitors)
		before := append([]Arm(nil), now.period.Arms...)
		now.arrive(r, visitors, func(arm int) float64 { return a.rate(hour, arm) })
		for i, v := range visitors {
			a.n[i] += float64(v)
			a.c[i] += float64(now.period.Arms[i].Converted - before[i].Converted)
			a.regret += float64(v) * (best - a.rate(hour, i))
		}
		a.neutral += float64(n) * (best - mean)
	}
}

func (a *autopilot) run(r *rand.Rand, look func(hour int) bool) {
	a.n, a.c = make([]float64, a.Arms), make([]float64, a.Arms)
	for hour := range hours {
		a.hour(r, hour)
		if look != nil && look(hour) {
			return
		}
	}
}

// watchAutopilot looks every hour at an experiment whose weights change every hour.
func watchAutopilot(r *rand.Rand, c setup, s Settings) (d Decision, hour int) {
	a := autopilot{setup: c, Settings: s, steps: 1}
	var periods []Period
	hour = hours
	a.run(r, func(h int) bool {
		periods = append(periods, a.cohorts[h].period)
		if !promising(periods, Total(periods), s) {
			return false
		}
		if next := Decide(periods, s); next.Status == Winner {
			d, hour = next, h
			return true
		}
		return false
	})
	return d, hour
}

// winners counts the experiments with a winner, and those whose winner is the last arm.
func winners(c setup, experiments int, seed uint64) (any, last int, meanHours float64) {
	var all, right, sum atomic.Int64
	watch := watchEven
	if c.Weights == "autopilot" {
		watch = watchAutopilot
	}
	each(experiments, seed, func(_ int, r *rand.Rand) {
		d, hour := watch(r, c, Defaults())
		if d.Status == Winner {
			all.Add(1)
			if d.Best == c.Arms-1 {
				right.Add(1)
			}
		}
		sum.Add(int64(min(hour+1, hours)))
	})
	return int(all.Load()), int(right.Load()), float64(sum.Load()) / float64(experiments)
}

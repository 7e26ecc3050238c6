package stats

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// results of all simulations, as in docs/benchmarks.
type results struct {
	Date        string
	Experiments int // of each setup of A/A tests
	FalseWin    []falseWinners
	Peeking     peeking
	Power       []power
	Coverage    []coverage
	Regret      []regret
	Ratio       []ratioAlarms
}

type falseWinners struct {
	setup
	Winners float64 // part of the experiments
}

// simulateAA runs experiments whose arms are all equal.
func simulateAA(experiments int, full bool) (all []falseWinners) {
	setups := []setup{{0.05, 5000, 2, "even", nil}, {0.05, 5000, 3, "even", nil}, {0.05, 5000, 2, "autopilot", nil}}
	if full {
		setups = nil
		for _, rate := range []float64{0.01, 0.05, 0.2} {
			for _, perDay := range []float64{500, 5000, 50000} {
				for _, arms := range []int{2, 3, 5} {
					setups = append(setups, setup{rate, perDay, arms, "even", nil})
				}
			}
		}
		setups = append(setups, setup{0.05, 500, 2, "autopilot", nil}, setup{0.05, 5000, 2, "autopilot", nil},
			setup{0.05, 50000, 2, "autopilot", nil},
			setup{0.05, 5000, 3, "autopilot", nil}, setup{0.05, 5000, 5, "autopilot", nil})
	}
	for i, c := range setups {
		n := experiments
		if !full && c.Weights == "autopilot" {
			n /= 3
		}
		any, _, _ := winners(c, n, uint64(i))
		all = append(all, falseWinners{c, float64(any) / float64(n)})
	}
	return all
}

// peeking has the part of A/A tests with a false winner until the end of each day, for a classical test at each hour and for Decide.
type peeking struct{ Classical, Ours [days]float64 }

func simulatePeeking(experiments int) (p peeking) {
	var mu sync.Mutex
	each(experiments, 99, func(_ int, r *rand.Rand) {
		all := newCohort(2)
		periods, visitors := []Period{all.period}, make([]int64, 2)
		classical, ours := hours, hours
		for hour := range hours {
			all.mature(r)
			multinomial(r, visitorsAt(hour, 5000), []int{1, 1}, visitors)
			all.arrive(r, visitors, func(int) float64 { return rateAt(hour, 0.05) })
			a, b := all.period.Arms[0], all.period.Arms[1]
			mean := float64(a.Converted+b.Converted) / float64(a.Visitors+b.Visitors)
			z := (a.Rate() - b.Rate()) / math.Sqrt(mean*(1-mean)*(1/float64(a.Visitors)+1/float64(b.Visitors)))
			if classical == hours && a.Visitors >= 100 && b.Visitors >= 100 && math.Abs(z) > 1.96 {
				classical = hour
			}
			if ours == hours && promising(periods, all.period.Arms, Defaults()) && Decide(periods, Defaults()).Status == Winner {
				ours = hour
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for day := range days {
			if classical < (day+1)*24 {
				p.Classical[day] += 1 / float64(experiments)
			}
			if ours < (day+1)*24 {
				p.Ours[day] += 1 / float64(experiments)
			}
		}
	})
	for day := range days {
		p.Classical[day], p.Ours[day] = rounded(p.Classical[day]), rounded(p.Ours[day])
	}
	return p
}

// rounded removes the noise of sums in an order that depends on the processors.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// power at the sample size of SampleSize.
type power struct {
	Base, Uplift float64
	Size, Fixed  int     // visitors per arm
	Power        float64 // part of experiments that found the better arm within Size
	Mean         float64 // part of Size that was used, on average
	Wrong        float64 // part of experiments that chose the worse arm
}

func simulatePower(experiments int, full bool) (all []power) {
	bases, uplifts := []float64{0.05}, []float64{0.2}
	if full {
		bases, uplifts = []float64{0.01, 0.02, 0.05, 0.1, 0.2}, []float64{0.05, 0.1, 0.2, 0.3, 0.5}
	}
	for i, base := range bases {
		for j, uplift := range uplifts {
			n := experiments
			if full && !(base == 0.05 && uplift == 0.2) {
				n /= 5
			}
			size := SampleSize(base, uplift, 0.8)
			c := setup{PerDay: 2 * float64(size) / days, Arms: 2, Weights: "even", rates: func(hour, arm int) float64 {
				return rateAt(hour, base*(1+uplift*float64(arm)))
			}}
			any, right, mean := winners(c, n, uint64(100+10*i+j))
			all = append(all, power{base, uplift, size, fixedSampleSize(base, uplift, 0.05, 0.8), float64(right) / float64(n), mean / hours,
				float64(any-right) / float64(n)})
		}
	}
	return all
}

// coverage of 95 % intervals.
type coverage struct {
	Interval string
	Rates    [2]float64
	Visitors int64
	Covered  float64
}

func simulateCoverage(experiments int) (all []coverage) {
	run := func(name string, rates [2]float64, n int64, seed uint64, covered func(r *rand.Rand) bool) {
		var hits atomic.Int64
		each(experiments, seed, func(_ int, r *rand.Rand) {
			if covered(r) {
				hits.Add(1)
			}
		})
		all = append(all, coverage{name, rates, n, float64(hits.Load()) / float64(experiments)})
	}
	inside := func(i Interval, x float64) bool { return i.Low <= x && x <= i.High }
	for i, c := range []struct {
		rate float64
		n    int64
	}{{0.01, 10000}, {0.05, 2000}, {0.05, 20000}, {0.2, 1000}, {0.2, 100000}} {
		run("rate", [2]float64{c.rate}, c.n, uint64(200+i), func(r *rand.Rand) bool {
			return inside(RateInterval(Arm{Visitors: c.n, Converted: binomial(r, c.n, c.rate)}), c.rate)
		})
	}
	for i, c := range []struct {
		rates [2]float64
		n     int64
	}{{[2]float64{0.01, 0.01}, 10000}, {[2]float64{0.05, 0.06}, 5000}, {[2]float64{0.05, 0.06}, 50000}, {[2]float64{0.2, 0.25}, 1000}} {
		run("uplift", c.rates, c.n, uint64(210+i), func(r *rand.Rand) bool {
			a := Arm{Visitors: c.n, Converted: binomial(r, c.n, c.rates[0])}
			b := Arm{Visitors: c.n, Converted: binomial(r, c.n, c.rates[1])}
			return inside(UpliftOver(a, b).Interval, c.rates[1]/c.rates[0]-1)
		})
	}
	// The value of an order is log-normal with the parameters 3 and 0.8.
	orders := func(r *rand.Rand, n int64, rate float64) (a Arm) {
		a = Arm{Visitors: n, Converted: binomial(r, n, rate)}
		for range a.Converted {
			x := math.Exp(3 + 0.8*r.NormFloat64())
			a.Revenue += x
			a.RevenueSquares += x * x
		}
		return a
	}
	value := math.Exp(3 + 0.32)
	run("revenue per visitor", [2]float64{0.05}, 10000, 220, func(r *rand.Rand) bool {
		return inside(RevenuePerVisitor(orders(r, 10000, 0.05)).Interval, 0.05*value)
	})
	return all
}

// regret of the autopilot, as a part of what even weights give away.
type regret struct {
	Name    string
	Rates   string
	PerDay  float64
	Regret  float64
	Error   float64 // standard error
	Budget  bool    // whether the regret must be at most a half
	Ageless bool    // clicks do not lose influence
}

func simulateRegret(experiments int, full bool) (all []regret) {
	drift := func(hour int) float64 { return float64(hour) / hours }
	list := []struct {
		regret
		arms  int
		rates func(hour, arm int) float64
	}{
		{regret{Name: "clear winner", Rates: "5 %, 7 %", PerDay: 20000, Budget: true}, 2, func(_, a int) float64 {
			return []float64{0.05, 0.07}[a]
		}},
		{regret{Name: "near tie", Rates: "5 %, 5.5 %", PerDay: 20000, Budget: true}, 2, func(_, a int) float64 {
			return []float64{0.05, 0.055}[a]
		}},
		{regret{Name: "drifting rates that cross", Rates: "5 % to 7 %, 7 % to 5 %", PerDay: 20000, Budget: true}, 2,
			func(h, a int) float64 {
				return []float64{0.05 + 0.02*drift(h), 0.07 - 0.02*drift(h)}[a]
			}},
		{regret{Name: "best arm changes on day 8", Rates: "5 %, 7 %", PerDay: 20000, Budget: true}, 2, func(h, a int) float64 {
			return []float64{0.05, 0.07}[(a+h/(hours/2))%2]
		}},
		{regret{Name: "clear winner of three", Rates: "5 %, 5 %, 7 %", PerDay: 20000, Budget: true}, 3, func(_, a int) float64 {
			return []float64{0.05, 0.05, 0.07}[a]
		}},
		{regret{Name: "clear winner, few visitors", Rates: "5 %, 7 %", PerDay: 2000}, 2, func(_, a int) float64 {
			return []float64{0.05, 0.07}[a]
		}},
		{regret{Name: "near tie, few visitors", Rates: "5 %, 5.5 %", PerDay: 5000}, 2, func(_, a int) float64 {
			return []float64{0.05, 0.055}[a]
		}},
		{regret{Name: "nearer tie", Rates: "5 %, 5.2 %", PerDay: 20000}, 2, func(_, a int) float64 { return []float64{0.05, 0.052}[a] }},
	}
	if !full {
		list = list[:4]
	}
	for _, i := range []int{1, 2} {
		if c := list[i]; full {
			c.Name, c.Budget, c.Ageless = c.Name+", without ageing", false, true
			list = append(list, c)
		}
	}
	for i, c := range list {
		parts, settings := make([]float64, experiments), Defaults()
		if c.Ageless {
			settings.HalfLife = 0
		}
		each(experiments, uint64(300+i), func(n int, r *rand.Rand) {
			a := autopilot{setup: setup{PerDay: c.PerDay, Arms: c.arms, rates: func(hour, arm int) float64 {
				return rateAt(hour, c.rates(hour, arm))
			}}, Settings: settings, steps: 12}
			a.run(r, nil)
			parts[n] = a.regret / a.neutral
		})
		var sum, squares float64
		for _, p := range parts {
			sum += p
			squares += p * p
		}
		n := float64(experiments)
		c.Regret = sum / n
		c.Error = math.Sqrt(max(squares/n-c.Regret*c.Regret, 0) / n)
		all = append(all, c.regret)
	}
	return all
}

// ratioAlarms of the sample ratio test within 14 days of hourly looks.
type ratioAlarms struct {
	Arms    int
	Weights string
	PerDay  float64
	Lost    float64 // part of the first arm's visitors
	Alarms  float64
}

func simulateRatio(experiments int, full bool) (all []ratioAlarms) {
	list := []ratioAlarms{{2, "even", 5000, 0, 0}, {3, "changing every hour", 5000, 0, 0}, {2, "even", 5000, 0.1, 0}}
	if full {
		list = []ratioAlarms{
			{2, "even", 500, 0, 0}, {2, "even", 5000, 0, 0}, {2, "even", 500000, 0, 0}, {5, "even", 5000, 0, 0},
			{3, "changing every hour", 5000, 0, 0},
			{2, "even", 5000, 0.03, 0}, {2, "even", 5000, 0.05, 0}, {2, "even", 5000, 0.1, 0}, {3, "changing every hour", 5000, 0.1, 0},
			{2, "even", 50000, 0.02, 0}, {2, "even", 50000, 0.03, 0},
		}
	}
	for i, c := range list {
		n := experiments
		if c.Lost > 0 {
			n = max(experiments/20, 50)
		}
		var alarms atomic.Int64
		each(n, uint64(400+i), func(_ int, r *rand.Rand) {
			if alarmed(r, c) {
				alarms.Add(1)
			}
		})
		c.Alarms = float64(alarms.Load()) / float64(n)
		all = append(all, c)
	}
	return all
}

func alarmed(r *rand.Rand, c ratioAlarms) bool {
	s := Defaults()
	weights, visitors := make([]int, c.Arms), make([]int64, c.Arms)
	for i := range weights {
		weights[i] = 1
	}
	var periods []Period
	score, information := make([]float64, c.Arms), make([]float64, c.Arms)
	for hour := range hours {
		n := visitorsAt(hour, c.PerDay)
		if c.Weights != "even" {
			for i := range weights {
				weights[i] = 5 + r.IntN(60)
			}
		}
		if c.Weights != "even" || hour == 0 {
			p := Period{Weights: make([]float64, c.Arms), Arms: make([]Arm, c.Arms)}
			for i, w := range weights {
				p.Weights[i] = float64(w)
			}
			periods = append(periods, p)
		}
		multinomial(r, n, weights, visitors)
		visitors[0] -= binomial(r, visitors[0], c.Lost)
		now := &periods[len(periods)-1]
		look := false
		var total int64
		for i, v := range visitors {
			now.Arms[i].Visitors += v
			total += v
		}
		for i, v := range visitors {
			share, _, _ := assigned(*now, i)
			score[i] += float64(v) - share*float64(total)
			information[i] += share * (1 - share) * float64(total)
			look = look || score[i]*score[i] > -math.Log(s.RatioAlpha)*information[i]
		}
		if look {
			if _, ok := SampleRatio(periods, s); !ok {
				return true
			}
		}
	}
	return false
}

// fixedSampleSize returns the visitors that each of two arms needs in a classical test that looks at the data once, at the end: two-sided,
// normal approximation. Fleiss, Levin and Paik, Statistical methods for rates and proportions (3rd edition, 2003), equation 4.14
// without the correction for continuity.
func fixedSampleSize(base, uplift, alpha, power float64) int {
	better := base * (1 + uplift)
	if !(base > 0 && uplift > 0 && better < 1 && power > 0 && power < 1 && alpha > 0 && alpha < 1) {
		return unlimited
	}
	mean := (base + better) / 2
	root := normalQuantile(1-alpha/2)*math.Sqrt(2*mean*(1-mean)) + normalQuantile(power)*math.Sqrt(base*(1-base)+better*(1-better))
	return int(min(math.Ceil(root*root/((better-base)*(better-base))), unlimited))
}

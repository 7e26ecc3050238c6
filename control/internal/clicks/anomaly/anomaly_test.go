package anomaly_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/anomaly"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// series makes the clicks of hours like those of real links: days, weekends, clicks in bursts, launches and holes.
type series struct {
	*rand.Rand
	mean  float64 // clicks a day
	alpha float64 // dispersion of hours
	shape float64 // 0: the hours are alike; 1: nights are empty
	trend float64 // growth a week
	mood  float64 // slow changes that last for a day or so, as of news
}

// poisson draws a count, by the method of Knuth for small means, and by a normal approximation for others.
func (s *series) poisson(mean float64) float64 {
	if mean > 50 {
		return math.Max(0, math.Round(mean+math.Sqrt(mean)*s.NormFloat64()))
	}
	n, p := 0.0, s.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= s.Float64()
	}
	return n
}

// gamma draws from a gamma distribution with the mean 1 and the variance alpha (G. Marsaglia, W. W. Tsang 2000).
func (s *series) gamma(alpha float64) float64 {
	shape := 1 / alpha
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(s.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	for {
		x := s.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(s.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * boost * alpha
		}
	}
}

// hours returns the clicks of hours. factor changes the mean of an hour, and may make it anomaly.Missing.
func (s *series) hours(n int, factor func(hour int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		day := 1 - s.shape*math.Cos(2*math.Pi*float64(i%24-3)/24)
		if weekday := i / 24 % 7; weekday > 4 {
			day *= 1 - 0.6*s.shape
		}
		f := factor(i)
		s.mood = 0.97*s.mood + 0.03*s.NormFloat64()
		mean := s.mean / 24 * day * math.Pow(1+s.trend, float64(i)/168) * math.Exp(s.mood) * f
		if out[i] = s.poisson(mean * s.gamma(s.alpha)); f < 0 {
			out[i] = anomaly.Missing
		}
	}
	return out
}

// kinds are the links of the simulation.
func kinds(seed uint64) (list []*series) {
	r := rand.New(rand.NewPCG(seed, 40))
	for _, mean := range []float64{3, 20, 100, 500, 3000, 20000} {
		for _, shape := range []float64{0, 0.5, 0.9} {
			for _, alpha := range []float64{0.02, 0.1, 0.3} {
				list = append(list, &series{Rand: r, mean: mean, alpha: alpha, shape: shape, trend: []float64{-0.05, 0, 0.05}[r.IntN(3)]})
			}
		}
	}
	return list
}

// alarms runs a watch over the hours from a beginning on, and returns the hours in which it fired.
func alarms(clicks []float64, from int, limits anomaly.Limits) (fired []int) {
	var w anomaly.Watch
	for end := from; end <= len(clicks); end++ {
		var c anomaly.Change
		if w, c = w.Next(anomaly.Judge(clicks[:end], limits)); c == anomaly.Fired {
			fired = append(fired, end)
		}
	}
	return fired
}

const month = 30 * 24

// In quiet months, and in those after launches and holes, links have at most one false alarm a month, and hardly any on average.
func TestSimulation_false_alarms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		factor func(hour int) float64
	}{
		{"quiet", func(int) float64 { return 1 }},
		{"two launches in the past", func(hour int) float64 {
			f := 1.0
			for _, launch := range []int{20 * 24, 41*24 + 9} { // clicks of ten days are many, and fade
				if since := hour - launch; since >= 0 {
					f += 15 * math.Exp(-float64(since)/36)
				}
			}
			return f
		}},
		{"outages in the past", func(hour int) float64 {
			switch {
			case hour > 30*24 && hour < 31*24: // nobody could click
				return 0
			case hour > 50*24 && hour < 50*24+10, hour > 70*24 && hour < 70*24+5: // the clicks are lost
				return -1
			}
			return 1
		}},
		{"made six weeks ago", func(hour int) float64 {
			if hour < (9-6)*168 {
				return -1
			}
			return 1 + 4*math.Exp(-float64(hour-3*168)/100)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			links, all, most := 0, 0, 0
			for seed := range uint64(testkit.Size(1, 5)) {
				for i, s := range kinds(seed) {
					if i%testkit.Size(4, 1) != 0 {
						continue
					}
					n := len(alarms(s.hours(anomaly.History+month, c.factor), anomaly.History, anomaly.Usual))
					links, all, most = links+1, all+n, max(most, n)
				}
			}
			t.Logf("%d links, %d false alarms in a month: %.4f for each link, at most %d", links, all, float64(all)/float64(links), most)
			if float64(all)/float64(links) > 0.1 || most > 2 {
				t.Errorf("%d false alarms of %d links, at most %d", all, links, most)
			}
		})
	}
}

// Changes are found, the larger and the more clicks the sooner.
func TestSimulation_time_to_detection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		factor float64
		mean   float64 // clicks a day, at least
		share  float64 // of the changes that must be found
	}{
		{"ten times as many", 10, 20, 0.95}, {"three times as many", 3, 500, 0.8}, {"nothing any more", 0, 100, 0.8},
		{"a quarter", 0.25, 500, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var took []int
			links := 0
			for seed := range uint64(testkit.Size(1, 5)) {
				for i, s := range kinds(seed + 100) {
					if s.mean < c.mean || i%testkit.Size(2, 1) != 0 {
						continue
					}
					begin := anomaly.History + i%24
					clicks := s.hours(begin+72, func(hour int) float64 {
						if hour >= begin {
							return c.factor
						}
						return 1
					})
					links++
					if fired := alarms(clicks, begin-6, anomaly.Usual); len(fired) > 0 {
						took = append(took, fired[0]-begin)
					}
				}
			}
			slices.Sort(took)
			found := float64(len(took)) / float64(links)
			text := "none"
			if len(took) > 0 {
				text = fmt.Sprintf("median %d h, nine of ten %d h", took[len(took)/2], took[len(took)*9/10])
			}
			t.Logf("%d links with at least %.0f clicks a day: %.0f %% found within three days, %s", links, c.mean, 100*found, text)
			if found < c.share {
				t.Errorf("%.0f %% found", 100*found)
			}
		})
	}
}

// The most sensitive rules that people can make keep the bound of one false alarm a month for each link, and insensitive ones fire less.
func TestSimulation_sensitivities(t *testing.T) {
	t.Parallel()
	before := math.Inf(1)
	for _, c := range []struct {
		name   string
		limits anomaly.Limits
		most   float64 // false alarms a month for each link
	}{
		{"high, any difference", anomaly.Limits{Chance: anomaly.HighChance, Rise: 0.1, Fall: 0.1, Clicks: 1}, 1},
		{"high", anomaly.Limits{Chance: anomaly.HighChance, Rise: 1, Fall: 0.5, Clicks: 20}, 0.3},
		{"normal", anomaly.Usual, 0.1},
		{"low", anomaly.Limits{Chance: anomaly.LowChance, Rise: 1, Fall: 0.5, Clicks: 20}, 0.05},
	} {
		links, all, most := 0, 0, 0
		for seed := range uint64(testkit.Size(1, 2)) {
			for i, s := range kinds(seed + 200) {
				if i%testkit.Size(8, 1) != 0 {
					continue
				}
				n := len(alarms(s.hours(anomaly.History+month, func(int) float64 { return 1 }), anomaly.History, c.limits))
				links, all, most = links+1, all+n, max(most, n)
			}
		}
		rate := float64(all) / float64(links)
		t.Logf("%s: %d links, %d false alarms in a month: %.4f for each link, at most %d", c.name, links, all, rate, most)
		if rate > c.most || rate > before {
			t.Errorf("%s: %.4f false alarms a month for each link", c.name, rate)
		}
		before = rate
	}
}

// A side that a rule does not look at is never unusual, and a smaller least difference finds smaller changes.
func TestJudge_limits(t *testing.T) {
	t.Parallel()
	flat := make([]float64, anomaly.History)
	for i := range flat {
		if flat[i] = 100; i >= len(flat)-6 {
			flat[i] = 195
		}
	}
	fallen := slices.Clone(flat)
	for i := len(flat) - 6; i < len(flat); i++ {
		fallen[i] = 40
	}
	for _, c := range []struct {
		clicks []float64
		limits anomaly.Limits
		want   anomaly.Direction
	}{
		{flat, anomaly.Usual, anomaly.Normal},
		{flat, anomaly.Limits{Chance: anomaly.NormalChance, Rise: 0.5, Fall: 0.5, Clicks: 20}, anomaly.Above},
		{flat, anomaly.Limits{Chance: anomaly.NormalChance, Rise: 0.5, Fall: 0.5, Clicks: 571}, anomaly.Normal},
		{flat, anomaly.Limits{Chance: anomaly.NormalChance, Fall: 0.5, Clicks: 20}, anomaly.Normal},
		{fallen, anomaly.Usual, anomaly.Below},
		{fallen, anomaly.Limits{Chance: anomaly.NormalChance, Rise: 1, Clicks: 20}, anomaly.Normal},
		{fallen, anomaly.Limits{Chance: anomaly.NormalChance, Rise: 1, Fall: 0.7, Clicks: 20}, anomaly.Normal},
	} {
		if j := anomaly.Judge(c.clicks, c.limits); j.Direction != c.want {
			t.Errorf("%+v: %+v", c.limits, j)
		}
	}
}

// The tail probabilities agree with sums of the distribution.
func TestJudge_chance(t *testing.T) {
	t.Parallel()
	// Nine weeks with the same clicks each hour, except for the newest six hours.
	flat := func(last float64) []float64 {
		clicks := make([]float64, anomaly.History)
		for i := range clicks {
			if clicks[i] = 10; i >= len(clicks)-6 {
				clicks[i] = last
			}
		}
		return clicks
	}
	for _, c := range []struct {
		last float64
		want anomaly.Direction
	}{{10, anomaly.Normal}, {15, anomaly.Normal}, {25, anomaly.Above}, {100, anomaly.Above}, {6, anomaly.Normal}, {0, anomaly.Below}} {
		if j := anomaly.Judge(flat(c.last), anomaly.Usual); j.Direction != c.want {
			t.Errorf("%v clicks an hour after ten: %+v", c.last, j)
		}
	}
	j := anomaly.Judge(flat(10), anomaly.Usual)
	size, mean, below := 1/(0.02+(1.0/60+0.02)/8), 60.0, 0.0 // the dispersion is the least one, and eight weeks are known
	for k := range 60 {
		lgamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
		n := float64(k)
		below += math.Exp(lgamma(n+size) - lgamma(size) - lgamma(n+1) + size*math.Log(size/(size+mean)) + n*math.Log(mean/(size+mean)))
	}
	if math.Abs(j.Chance-(1-below)) > 1e-9 || j.Expected != mean {
		t.Errorf("%+v, want the chance %v", j, 1-below)
	}
	if j := anomaly.Judge(make([]float64, anomaly.History), anomaly.Usual); j.Direction != anomaly.Normal {
		t.Errorf("a link without clicks: %+v", j)
	}
	if j := anomaly.Judge(nil, anomaly.Usual); j.Expected != 0 {
		t.Errorf("no hours: %+v", j)
	}
}

// An alarm fires once, and is resolved once when the clicks have been as usual for some hours.
func TestWatch(t *testing.T) {
	t.Parallel()
	var w anomaly.Watch
	var got []int
	for i, d := range []anomaly.Direction{1, 0, 1, 1, 1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, -1, 1, -1, -1} {
		var c anomaly.Change
		if w, c = w.Next(anomaly.Judgement{Direction: d}); c != anomaly.Same {
			got = append(got, i, int(c))
		}
	}
	testkit.Equal(t, fmt.Sprint(got), fmt.Sprint([]int{3, int(anomaly.Fired), 13, int(anomaly.Resolved), 18, int(anomaly.Fired)}), "changes")
}

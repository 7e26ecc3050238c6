package stats

import (
	"math"
	"strings"
	"testing"
	"time"
)

func one(weights []float64, counts ...[2]int64) []Period {
	return []Period{{Weights: weights, Arms: armsOf(counts)}}
}

func TestDecide(t *testing.T) {
	s := Defaults()
	s.Names = []string{"Blue", "Green"}
	for _, c := range []struct {
		name    string
		periods []Period
		status  Status
		reason  string
	}{
		{"no data", one(nil, [2]int64{0, 0}, [2]int64{0, 0}), Running, "Too early: Blue has 0 of the 100 visitors"},
		{"one arm", one(nil, [2]int64{1000, 100}), Running, "at least two variants"},
		{"no conversions", one(nil, [2]int64{1000, 0}, [2]int64{1000, 0}), Running, "0 conversions together"},
		{"equal", one(nil, [2]int64{1000, 50}, [2]int64{1000, 50}), Running, "convert equally so far"},
		{"clear", one(nil, [2]int64{10000, 500}, [2]int64{10000, 700}), Winner,
			"Green converts 7 % of its visitors, Blue 5 %. The uplift is +40 %"},
		{"significant for a classical test, but not at any time", one(nil, [2]int64{8158, 408}, [2]int64{8158, 489}), Running,
			"may still be chance"},
		{"the same after a large sample", one(nil, [2]int64{400000, 20000}, [2]int64{400000, 20010}), NoDifference,
			"No variant is noticeably better"},
		{"visitors missing", one([]float64{50, 50}, [2]int64{10000, 500}, [2]int64{9000, 700}), Invalid,
			"has 52.6 % of the visitors, but should have 50 %"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := Decide(c.periods, s); d.Status != c.status || !strings.Contains(d.Reason.String(), c.reason) {
				t.Errorf("%s: %q, want %s: %q", d.Status, d.Reason.String(), c.status, c.reason)
			}
		})
	}
}

// One arm has the better rate in every period, but looks worse in total, because it had most visitors when rates were low.
func TestEvidence_compares_within_periods(t *testing.T) {
	periods := []Period{
		{Arms: armsOf([][2]int64{{9000, 270}, {1000, 20}})},
		{Arms: armsOf([][2]int64{{1000, 300}, {9000, 1800}})},
	}
	total := Total(periods)
	if total[0].Rate() >= total[1].Rate() {
		t.Fatal("the example shows no paradox")
	}
	if e := Evidence(periods, 0, 1); e < math.Log(1000) {
		t.Errorf("evidence for the better arm %v", e)
	}
	if e := Evidence(periods, 1, 0); e > 0 {
		t.Errorf("evidence for the worse arm %v", e)
	}
}

func TestWeights(t *testing.T) {
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	old := Period{Start: now.Add(-20 * 24 * time.Hour), Arms: armsOf([][2]int64{{10000, 1000}, {10000, 500}})}
	fresh := Period{Start: now.Add(-time.Hour), Arms: armsOf([][2]int64{{2000, 100}, {2000, 200}})}
	s := Defaults()
	for _, c := range []struct {
		name    string
		periods []Period
		want    []int
	}{
		{"no data", []Period{{Arms: make([]Arm, 3)}}, []int{34, 33, 33}},
		{"clear winner", []Period{{Start: now, Arms: old.Arms}}, []int{95, 5}},
		{"the old winner is outdated", []Period{old, fresh}, []int{5, 95}},
		{"more arms than floors", []Period{{Arms: make([]Arm, 25)}}, nil},
	} {
		w := Weights(c.periods, now, s)
		sum := 0
		for i, x := range w {
			sum += x
			if len(w) <= 20 && x < s.Floor {
				t.Errorf("%s: weight %d", c.name, x)
			}
			if c.want != nil && x != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, w, c.want)
			}
		}
		if sum != 100 {
			t.Errorf("%s: %v adds up to %d", c.name, w, sum)
		}
	}
}

// R: power.prop.test(p1 = 0.05, p2 = 0.06, power = 0.8) gives n = 8157.6.
func TestFixedSampleSize(t *testing.T) {
	if n := fixedSampleSize(0.05, 0.2, 0.05, 0.8); n != 8158 {
		t.Errorf("n = %d, want 8158", n)
	}
	for _, c := range [][3]float64{{0, 0.2, 0.8}, {0.05, 0, 0.8}, {0.6, 1, 0.8}, {math.NaN(), 0.1, 0.8}, {0.05, 0.1, 1}} {
		if n := SampleSize(c[0], c[1], c[2]); n != unlimited {
			t.Errorf("SampleSize(%v) = %d", c, n)
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0), int64(0), int64(10), int64(10), 0.0, 0.0, uint8(1))
	f.Add(int64(1e9), int64(5e7), int64(1e9), int64(1e9), int64(7), int64(0), 1e300, -1e300, uint8(20))
	f.Add(int64(-1), int64(5), int64(math.MaxInt64), int64(math.MaxInt64), int64(1), int64(2), math.Inf(1), math.NaN(), uint8(0))
	f.Fuzz(func(t *testing.T, n1, c1, n2, c2, n3, c3 int64, revenue, squares float64, weight uint8) {
		arms := []Arm{{n1, c1, revenue, squares}, {n2, c2, squares, revenue}, {n3, c3, revenue, revenue}}
		limit := int64(1e12)
		for i := range arms {
			arms[i].Visitors = min(arms[i].Visitors, limit)
		}
		check := func(what string, values ...float64) {
			for _, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s: %v of %+v", what, values, arms)
				}
			}
		}
		best, loss := ProbabilityBest(arms), ExpectedLoss(arms)
		check("best", best...)
		check("loss", loss...)
		if sum := best[0] + best[1] + best[2]; math.Abs(sum-1) > 1e-9 {
			t.Fatalf("probabilities add up to %v", sum)
		}
		periods := []Period{{Weights: []float64{float64(weight), 30, 20}, Arms: arms}, {Arms: arms[:2]}}
		for i, a := range arms {
			r, v := RateInterval(a), RevenuePerVisitor(a)
			u := UpliftOver(arms[0], a)
			check("rate", r.Low, r.High)
			check("revenue", v.Mean, v.Interval.Low, v.Interval.High)
			check("uplift", u.Value, u.Interval.Low, u.Interval.High)
			check("evidence", Evidence(periods, i, (i+1)%3))
			if !(r.Low >= 0 && r.Low < r.High && r.High <= 1) || u.Interval.Low > u.Interval.High || u.Interval.Low < -1 {
				t.Fatalf("intervals %v %v of %+v", r, u, arms)
			}
		}
		p, _ := SampleRatio(periods, Defaults())
		check("p", p)
		if d := Decide(periods, Defaults()); strings.Contains(d.Reason.String(), "NaN") || strings.Contains(d.Reason.String(), "Inf") ||
			d.Best < 0 {
			t.Fatal(d)
		}
		sum := 0
		for _, w := range Weights(periods, time.Now(), Defaults()) {
			sum += w
		}
		if sum != 100 {
			t.Fatalf("weights add up to %d", sum)
		}
	})
}

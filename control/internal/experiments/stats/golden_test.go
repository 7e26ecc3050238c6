package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// golden is testdata/golden.json, which testdata/golden.py computes with SciPy.
type golden struct {
	Cases []struct {
		Arms      [][2]int64
		Best      []float64
		Loss      []float64
		Intervals [][2]float64
		Ratio     []float64
	}
	Evidence []struct {
		Periods [][][2]int64
		R       []float64
		Logs    []float64
	}
	Revenue struct{ Control, Arm revenueRow }
}

type revenueRow struct {
	N                             int64
	Sum, Squares, Mean, Low, High float64
}

func (r revenueRow) arm() Arm {
	return Arm{Visitors: r.N, Revenue: r.Sum, RevenueSquares: r.Squares}
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	testkit.Must(t, err)
	return g
}

func armsOf(counts [][2]int64) (arms []Arm) {
	for _, c := range counts {
		arms = append(arms, Arm{Visitors: c[0], Converted: c[1]})
	}
	return arms
}

// near compares with a relative and an absolute tolerance.
func near(t *testing.T, what string, got, want, relative, absolute float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)+absolute) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

func TestPosteriors_equal_SciPy(t *testing.T) {
	for _, c := range readGolden(t).Cases {
		arms := armsOf(c.Arms)
		best, loss := ProbabilityBest(arms), ExpectedLoss(arms)
		precision := 1e-8
		if arms[0].Visitors > 1e8 {
			precision = 1e-6
		}
		for i := range arms {
			near(t, "probability best", best[i], c.Best[i], 0, precision)
			near(t, "expected loss", loss[i], c.Loss[i], precision, 1e-13)
			r := RateInterval(arms[i])
			near(t, "low", r.Low, c.Intervals[i][0], precision, 0)
			near(t, "high", r.High, c.Intervals[i][1], precision, 0)
		}
		if c.Ratio != nil {
			u := UpliftOver(arms[0], arms[1])
			near(t, "low uplift", u.Interval.Low+1, c.Ratio[0], 1e-7, 0)
			near(t, "high uplift", u.Interval.High+1, c.Ratio[2], 1e-7, 0)
			if arms[0].Converted == 0 {
				near(t, "median uplift", u.Value+1, c.Ratio[1], 1e-7, 0)
			}
		}
		if t.Failed() {
			t.Fatal(c.Arms)
		}
	}
}

func TestRevenue_equals_NumPy(t *testing.T) {
	g := readGolden(t).Revenue
	for _, row := range []revenueRow{g.Control, g.Arm} {
		r := RevenuePerVisitor(row.arm())
		near(t, "mean", r.Mean, row.Mean, 1e-12, 0)
		near(t, "low", r.Interval.Low, row.Low, 1e-12, 0)
		near(t, "high", r.Interval.High, row.High, 1e-12, 0)
	}
}

// The golden value is the mean over all orders of the exact likelihood ratio. Evidence replaces it by the ratio of the mean order, which
// must be close and, apart from the error of three-point integration, not larger.
func TestEvidence_equals_the_exact_test(t *testing.T) {
	all := ratios
	defer func() { ratios = all }()
	for _, c := range readGolden(t).Evidence {
		var periods []Period
		for _, p := range c.Periods {
			periods = append(periods, Period{Arms: armsOf(p)})
		}
		for i, r := range c.R {
			ratios = []ratio{{log: math.Log(r), less: r - 1}}
			got, want := Evidence(periods, 0, 1), c.Logs[i]
			if got > want+0.01 || got < want-0.06-0.1*math.Abs(want) {
				t.Errorf("%v r=%v: %v, want %v", c.Periods, r, got, want)
			}
		}
	}
}

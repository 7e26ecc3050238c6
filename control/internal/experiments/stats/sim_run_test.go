package stats

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

var full = flag.Bool("full", false, "run all simulations at full size and write docs (make sim)")

// TestSimulation is short without -full, and shorter in make test. The limits of the short form leave three standard errors for chance,
// the full form none.
func TestSimulation(t *testing.T) {
	size := func(short, long int) int {
		if *full {
			return long
		}
		return testkit.Size(max(3, short/4), short)
	}
	began := time.Now()
	step := func(name string) { t.Logf("%6.1f s: %s", time.Since(began).Seconds(), name) }
	r := results{Date: time.Now().UTC().Format(time.DateOnly), Experiments: size(600, 10000)}
	slack := 0.0
	if !*full {
		slack = testkit.Size(0.04, 0.02)
	}

	r.Regret = simulateRegret(size(6, 200), *full)
	step("regret")
	for _, c := range r.Regret {
		if c.Budget && c.Regret > 0.5 {
			t.Errorf("autopilot: %+v, more than half of an even split's regret", c)
		}
	}
	r.Power = simulatePower(size(300, 10000), *full)
	step("power")
	for _, c := range r.Power {
		if c.Power < 0.8-3*slack/2 {
			t.Errorf("power: %+v", c)
		}
	}
	r.Coverage = simulateCoverage(size(400, 10000))
	step("coverage")
	for _, c := range r.Coverage {
		if c.Covered < 0.94-3*slack/2 || c.Covered > 0.96+3*slack/2 {
			t.Errorf("coverage: %+v", c)
		}
	}
	r.Ratio = simulateRatio(size(500, 10000), *full)
	step("sample ratio")
	for _, c := range r.Ratio {
		if c.Lost == 0 && c.Alarms > 0.001+slack/4 {
			t.Errorf("sample ratio: %+v", c)
		}
		if c.Lost >= 0.1 && c.Alarms < 0.95 {
			t.Errorf("sample ratio: %+v", c)
		}
	}
	r.FalseWin = simulateAA(r.Experiments, *full)
	step("A/A")
	for _, c := range r.FalseWin {
		if c.Winners > 0.05+slack {
			t.Errorf("A/A: %+v", c)
		}
	}
	if !*full {
		return
	}
	r.Peeking = simulatePeeking(r.Experiments)
	step("peeking")
	b, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.WriteFile(benchmarks+"experiments-"+r.Date+".json", append(b, '\n'), 0o644)
	}
	if err == nil {
		err = writeDocs(r)
	}
	testkit.Must(t, err)
}

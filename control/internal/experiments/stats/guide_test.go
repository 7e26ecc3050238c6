package stats_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/experiments/stats"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The guide for marketers has sample sizes, rounded to two digits.
func TestGuide_sample_sizes(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(testkit.Source(t, "docs/users/run-an-experiment.md"))
	testkit.Must(t, err)
	uplifts, rows := []float64{0.1, 0.2, 0.5, 1}, 0
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		base, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(cells[0]), " %"), 64)
		if err != nil || len(cells) != 1+len(uplifts) {
			continue
		}
		rows++
		for i, uplift := range uplifts {
			n := stats.SampleSize(base/100, uplift, 0.8)
			unit := 1
			for n/unit >= 100 {
				unit *= 10
			}
			want := (n + unit/2) / unit * unit
			if got := strings.ReplaceAll(strings.TrimSpace(cells[1+i]), ",", ""); got != strconv.Itoa(want) {
				t.Errorf("%v %% and an uplift of %v: the guide says %s, want %d", base, uplift, got, want)
			}
		}
	}
	if rows != 5 {
		t.Errorf("the guide's table has %d rows", rows)
	}
}

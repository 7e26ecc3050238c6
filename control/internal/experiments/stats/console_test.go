package stats

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The console computes sample sizes by itself, so that a plan follows each key. Its test reads the same file.
func TestSampleSize_is_that_of_the_console(t *testing.T) {
	t.Parallel()
	type row struct {
		Rate     float64 `json:"rate"`
		Uplift   float64 `json:"uplift"`
		Power    float64 `json:"power"`
		Variants int     `json:"variants"`
		Visitors int     `json:"visitors"`
	}
	var want, got []row
	for _, rate := range []float64{0.001, 0.02, 0.05, 0.2, 0.4} {
		for _, uplift := range []float64{0.05, 0.2, 0.5} {
			for _, variants := range []int{2, 3, 10} {
				power := 0.8 + float64(variants%2)/10
				want = append(want, row{rate, uplift, power, variants, sampleSize(rate, uplift, power, Defaults().Alpha, variants)})
			}
		}
	}
	file := filepath.Join("testdata", "samplesize.json")
	if os.Getenv("UPDATE") != "" {
		text, err := json.MarshalIndent(want, "", " ")
		testkit.Must(t, err)
		testkit.Must(t, os.WriteFile(file, append(text, '\n'), 0o644))
	}
	text, err := os.ReadFile(file)
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(text, &got))
	if len(got) != len(want) {
		t.Fatalf("the file has %d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the file has %+v, want %+v", got[i], want[i])
		}
	}
}

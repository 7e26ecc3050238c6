package stats

import (
	"math/rand/v2"
	"testing"
)

// Weights are whole percents that add up to 100, and no arm is below the floor.
func TestApportion_adds_up(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		const floor = 5
		arms := 2 + random.IntN(8)
		best, sum := make([]float64, arms), 0.0
		for i := range best {
			best[i] = random.ExpFloat64()
			sum += best[i]
		}
		for i := range best {
			best[i] /= sum
		}
		free := 100 - arms*floor
		weights, total := apportion(best, free, floor), 0
		for i, w := range weights {
			total += w
			if exact := floor + best[i]*float64(free); float64(w) <= exact-1 || float64(w) >= exact+1 {
				t.Errorf("%d percent for an exact share of %v", w, exact)
			}
		}
		if total != 100 {
			t.Fatalf("the weights %v for %v add up to %d", weights, best, total)
		}
	}
}

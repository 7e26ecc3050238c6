package percent_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/percent"
)

func TestArch1_Of(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, total int64
		want     float64
	}{
		{201, 400, 50.3}, {199, 400, 49.8}, {1, 3, 33.3}, {2, 3, 66.7}, {1, 2000, 0.1}, {1, 2001, 0}, {7, 7, 100}, {25, 5, 500},
		{0, 5, 0}, {5, 0, 0}, {0, 0, 0}, {-201, 400, -50.3}, {-1, 1, -100}, {math.MaxInt64, math.MaxInt64, 100},
		{math.MaxInt64 - 1, math.MaxInt64, 100},
	} {
		if got := percent.Of(c.n, c.total); got != c.want {
			t.Errorf("%d of %d is %v, want %v", c.n, c.total, got, c.want)
		}
	}
}

// The result is the nearest tenth. The test computes it with exact fractions.
func TestArch1_Of_agrees_with_exact_fractions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		total := r.Int64N(1<<r.IntN(62)) + 1
		n := r.Int64N(total + 1)
		exact := new(big.Rat).Add(new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(n), big.NewInt(1000)), big.NewInt(total)),
			big.NewRat(1, 2))
		tenths := new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
		if got := percent.Of(n, total); got != float64(tenths)/10 {
			t.Fatalf("%d of %d is %v, want %v", n, total, got, float64(tenths)/10)
		}
	}
}

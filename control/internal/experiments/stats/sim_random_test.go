package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// binomial draws from the binomial distribution: by inversion for small means, otherwise by Hörmann, The generation of binomial random
// variates (1993), algorithm BTRS.
func binomial(r *rand.Rand, n int64, p float64) int64 {
	if p > 0.5 {
		return n - binomial(r, n, 1-p)
	}
	mean := float64(n) * p
	if n <= 0 || p <= 0 {
		return 0
	}
	if mean < 10 {
		u, odds := r.Float64(), p/(1-p)
		f := math.Exp(float64(n) * math.Log1p(-p))
		for k := int64(0); ; k++ {
			if u <= f || k == n {
				return k
			}
			u -= f
			f *= odds * float64(n-k) / float64(k+1)
		}
	}
	spread := math.Sqrt(mean * (1 - p))
	b := 1.15 + 2.53*spread
	a := -0.0873 + 0.0248*b + 0.01*p
	for {
		u, v := r.Float64()-0.5, r.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + mean + 0.5)
		if us >= 0.07 && v <= 0.92-4.2/b {
			return int64(k)
		}
		if k < 0 || k > float64(n) {
			continue
		}
		m := math.Floor((float64(n) + 1) * p)
		v = math.Log(v * (2.83 + 5.1/b) * spread / (a/(us*us) + b))
		if v <= logChoose(n, k)-logChoose(n, m)+(k-m)*math.Log(p/(1-p)) {
			return int64(k)
		}
	}
}

func logChoose(n int64, k float64) float64 {
	a, _ := math.Lgamma(k + 1)
	b, _ := math.Lgamma(float64(n) - k + 1)
	return -a - b
}

// multinomial distributes n visitors by weights.
func multinomial(r *rand.Rand, n int64, weights []int, to []int64) {
	left := 0
	for _, w := range weights {
		left += w
	}
	for i, w := range weights {
		to[i] = n
		if w < left {
			to[i] = binomial(r, n, float64(w)/float64(left))
		}
		n -= to[i]
		left -= w
	}
}

// each runs f for 0 to n-1 on all processors. Every run has its own random numbers, so the result does not depend on the
// number of processors.
func each(n int, seed uint64, f func(i int, r *rand.Rand)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i, rand.New(rand.NewPCG(seed, uint64(i))))
			}
		})
	}
	workers.Wait()
}

func TestBinomial(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n int64
		p float64
	}{{1, 0.3}, {40, 0.05}, {40, 0.9}, {100, 0.3}, {5000, 0.05}, {1000000, 0.5}} {
		const draws = 100000
		var sum, squares float64
		for range draws {
			x := float64(binomial(r, c.n, c.p))
			sum += x
			squares += x * x
		}
		mean, variance := float64(c.n)*c.p, float64(c.n)*c.p*(1-c.p)
		got := sum / draws
		near(t, "mean", got, mean, 0, 4*math.Sqrt(variance/draws))
		near(t, "variance", squares/draws-got*got, variance, 0.03, 0)
	}
}

package load

import (
	"math"
	"time"
)

// Times is a histogram of durations with buckets that grow by a hundredth. The zero value is empty. It is not safe for
// concurrent use.
type Times struct {
	Max time.Duration

	count int64
	steps [2048]int64 // step i counts durations of up to base·growth^i
}

const (
	base   = 10 * time.Microsecond
	growth = 1.01
)

// Add adds a duration.
func (t *Times) Add(d time.Duration) {
	t.count++
	t.Max = max(t.Max, d)
	i := 0
	if d > base {
		i = int(math.Ceil(math.Log(float64(d)/float64(base)) / math.Log(growth)))
	}
	t.steps[min(i, len(t.steps)-1)]++
}

func (t *Times) add(other *Times) {
	t.count += other.count
	t.Max = max(t.Max, other.Max)
	for i, n := range other.steps {
		t.steps[i] += n
	}
}

// Quantile returns the duration that the share q did not exceed, at most a hundredth too long; 0 if there is none.
func (t *Times) Quantile(q float64) time.Duration {
	left := int64(math.Ceil(q * float64(t.count)))
	for i, n := range t.steps {
		if left -= n; left <= 0 && t.count > 0 {
			d := time.Duration(float64(base) * math.Pow(growth, float64(i)))
			return min(d, t.Max).Round(time.Microsecond)
		}
	}
	return t.Max
}

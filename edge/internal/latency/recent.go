package latency

import (
	"sync"
	"time"
)

// Intervals of Recent.
const (
	recentWindow = time.Minute
	recentStep   = 5 * time.Second
)

// Recent computes how long the answers of the last minute took, from the growth of a histogram. The zero value is ready to use. It is
// safe for concurrent use.
type Recent struct {
	mu    sync.Mutex
	marks []mark // in order of time; the first one is where the window begins
}

// mark is the histogram at one time.
type mark struct {
	at time.Time
	Histogram
}

// Quantiles of latencies. A quantile lies between the two bounds of its bucket, as if the answers in that bucket were
// spread evenly. One above the last bound is the last bound.
type Quantiles struct {
	P50, P99 time.Duration // 0 without answers
	Samples  uint64        // answers that were measured, which is one in sixteen
}

// Quantiles takes the histogram as it is now. It returns the quantiles of the answers since the last call that is at least a minute old,
// or else since the first call. The first call counts all answers. Callers should come about every ten seconds.
func (r *Recent) Quantiles(h Histogram, now time.Time) Quantiles {
	latest := mark{now, h}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.marks) == 0 {
		r.marks = append(r.marks, mark{at: now})
	}
	for len(r.marks) > 1 && now.Sub(r.marks[1].at) >= recentWindow {
		r.marks = r.marks[1:]
	}
	q := latest.since(&r.marks[0].Histogram)
	if now.Sub(r.marks[len(r.marks)-1].at) >= recentStep {
		r.marks = append(r.marks, latest)
	}
	return q
}

// since returns the quantiles of the answers in h that are not in before.
func (h *Histogram) since(before *Histogram) Quantiles {
	var grown [len(Bounds)]uint64
	for i := range grown {
		grown[i] = h.Buckets[i] - before.Buckets[i]
	}
	n := h.Count - before.Count
	if n == 0 {
		return Quantiles{}
	}
	return Quantiles{P50: quantile(&grown, n, 50), P99: quantile(&grown, n, 99), Samples: n}
}

// quantile returns a percentile of n answers by their cumulative buckets.
func quantile(cumulative *[len(Bounds)]uint64, n uint64, percent float64) time.Duration {
	rank := float64(n) * percent / 100
	below, from := uint64(0), time.Duration(0)
	for i, upTo := range cumulative {
		if float64(upTo) >= rank {
			share := (rank - float64(below)) / float64(upTo-below)
			return from + time.Duration(share*float64(Bounds[i]-from))
		}
		below, from = upTo, Bounds[i]
	}
	return from
}

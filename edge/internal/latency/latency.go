// Package latency counts how long answers took, in a histogram for each outcome of a request. It also computes quantiles of the last
// minute. Listeners measure the times: see listen.Clock.
package latency

import (
	"sync/atomic"
	"time"
)

// stripes is the number of copies of each histogram. Each connection uses one copy, so that processors do not contend for a
// cache line. It must be a power of two.
const stripes = 32

// Outcome is what became of a request.
type Outcome uint32

// The outcomes.
const (
	Redirect Outcome = iota // 3xx
	Page                    // a page: preview, password form, info, or a fixed path such as robots.txt
	Password                // a password attempt
	NotFound                // 404 and 410
	Refused                 // other 4xx, and 508
	Busy                    // 429 and 503
	Error                   // other 5xx
	Proxied                 // forwarded to the control plane, whatever its answer
	outcomes
)

// outcomeNames are the values of the metric's label.
var outcomeNames = [outcomes]string{"redirect", "page", "password", "not_found", "refused", "busy", "error", "proxied"}

// String returns the value of the metric's label.
func (o Outcome) String() string { return outcomeNames[o] }

// Bounds are the upper bounds of a Histogram's buckets.
var Bounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// durations is a histogram. The last bucket has no upper bound.
type durations struct {
	buckets [len(Bounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// Recorder counts latencies by outcome. The zero value is ready to use. It is safe for concurrent use. Its stripes fill whole cache
// lines.
type Recorder [stripes][outcomes]durations

// Mark returns the mark with which Took counts an answer of a connection. It is not 0.
func Mark(conn uint64, o Outcome) uint32 {
	return uint32(conn%stripes)*uint32(outcomes) + uint32(o) + 1
}

// Took implements listen.Clock: it counts an answer that took d. mark is a result of Mark.
func (r *Recorder) Took(mark uint32, d time.Duration) {
	mark--
	h := &r[mark/uint32(outcomes)][mark%uint32(outcomes)]
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Histogram has the latencies of the answers with one outcome.
type Histogram struct {
	Outcome Outcome
	Buckets [len(Bounds)]uint64 // cumulative: answers within each of Bounds
	Count   uint64
	Sum     time.Duration
}

// Histograms returns the histogram of each outcome, in the order of outcomes. It reads the counters one by one, so they may be
// inconsistent by the answers that are counted meanwhile.
func (r *Recorder) Histograms() []Histogram {
	out := make([]Histogram, outcomes)
	for o := range out {
		a := &out[o]
		a.Outcome = Outcome(o)
		for s := range r {
			d := &r[s][o]
			for b := range d.buckets {
				n := d.buckets[b].Load()
				a.Count += n
				for i := b; i < len(a.Buckets); i++ {
					a.Buckets[i] += n
				}
			}
			a.Sum += time.Duration(d.sum.Load())
		}
	}
	return out
}

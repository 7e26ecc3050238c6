package redirect

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// sampleEvery is how many requests share one measurement. A measurement costs two looks at the clock and two atomic
// additions, about 100 ns: too much for every redirect, which takes a few microseconds. A power of two.
const sampleEvery = 16

// Outcomes of timed answers.
const (
	tRedirect uint32 = iota
	tPage            // a page: preview, password form, info, and what every edge has, such as robots.txt
	tPassword        // a password was checked, or would have been
	tNotFound        // 404 and 410
	tRefused         // any other 4xx, and 508
	tBusy            // 429 and 503
	tError           // any other 5xx
	tProxied         // passed on to the control plane, whatever it answered
	outcomes
)

// outcomeNames are the values of the metric's label.
var outcomeNames = [outcomes]string{"redirect", "page", "password", "not_found", "refused", "busy", "error", "proxied"}

// LatencyBounds are the upper bounds of the buckets of a Latency.
var LatencyBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// durations is one histogram: how many samples fell into each bucket, the last without a bound, and their sum.
type durations struct {
	buckets [len(LatencyBounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// latency holds a histogram for each outcome. Like those of a tally, its stripes fill whole cache lines, and a connection
// keeps to one.
type latency [stripes][outcomes]durations

// handle is Serve with the count and the time of its answer. It stands apart because the compiler's profile of redirects knows
// Serve by its name and its lines.
func (h *Handler) handle(ctx *fasthttp.RequestCtx) {
	h.Serve(ctx)
	h.observe(ctx)
}

// observe counts and times an answer that is about to be written.
func (h *Handler) observe(ctx *fasthttp.RequestCtx) {
	conn, status := ctx.ConnID(), ctx.Response.StatusCode()
	if status >= fasthttp.StatusInternalServerError && status != fasthttp.StatusLoopDetected {
		h.tally.add(conn, cErrors)
	}
	// Connections begin at different requests, so that those with one request each are sampled at the same rate.
	if (conn+ctx.ConnRequestNum())%sampleEvery == 0 {
		o := h.outcome(ctx, status)
		listen.Time(ctx.Conn(), ctx.Time(), uint32(conn%stripes)*outcomes+o+1)
		if h.deps.Tracer != nil && o != tProxied {
			h.span(ctx.Time(), outcomeNames[o], status)
		}
	}
}

// span records an answer that is about to be written. It names no link: who may read traces need not know them.
func (h *Handler) span(began time.Time, outcome string, status int) {
	_, s := h.deps.Tracer.Start(context.Background(), outcome, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began),
		trace.WithAttributes(attribute.Int("http.response.status_code", status)))
	s.End()
}

// outcome names what a request was answered with.
func (h *Handler) outcome(ctx *fasthttp.RequestCtx, status int) uint32 {
	t := split(ctx.Request.Header.RequestURI())
	switch up := h.deps.Upstream; {
	case up != nil && up.Owns(t.path):
		return tProxied
	case status == fasthttp.StatusTooManyRequests || status == fasthttp.StatusServiceUnavailable:
		return tBusy
	case status >= fasthttp.StatusInternalServerError && status != fasthttp.StatusLoopDetected:
		return tError
	case string(t.rest) == "/verify":
		return tPassword
	case status == fasthttp.StatusNotFound || status == fasthttp.StatusGone:
		return tNotFound
	case status >= fasthttp.StatusBadRequest:
		return tRefused
	case status >= fasthttp.StatusMultipleChoices:
		return tRedirect
	}
	return tPage
}

// Took implements listen.Clock.
func (l *latency) Took(mark uint32, d time.Duration) {
	mark--
	h := &l[mark/outcomes][mark%outcomes]
	i := 0
	for i < len(LatencyBounds) && d > LatencyBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Latency is how long sampled answers of one outcome took.
type Latency struct {
	Outcome string
	Buckets [len(LatencyBounds)]uint64 // how many took at most as long as each of LatencyBounds
	Count   uint64
	Sum     time.Duration
}

// Latencies returns the times of one answer in sixteen since the handler was made: from the moment when the server had
// read the head of the request until the kernel had taken the answer, or the first part of one that is streamed.
func (h *Handler) Latencies() []Latency {
	out := make([]Latency, outcomes)
	for o := range out {
		a := &out[o]
		a.Outcome = outcomeNames[o]
		for s := range h.latency {
			d := &h.latency[s][o]
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

package redirect

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// sampleEvery is the sampling interval: one in sampleEvery requests is measured. A measurement reads the clock twice
// and makes two atomic additions, about 100 ns. That is too much for every redirect, which takes a few microseconds.
// It must be a power of two.
const sampleEvery = 16

// Outcomes of measured answers.
const (
	tRedirect uint32 = iota
	tPage            // a page: preview, password form, info, or a fixed path such as robots.txt
	tPassword        // a password attempt
	tNotFound        // 404 and 410
	tRefused         // other 4xx, and 508
	tBusy            // 429 and 503
	tError           // other 5xx
	tProxied         // forwarded to the control plane, whatever its answer
	outcomes
)

// outcomeNames are the values of the metric's label.
var outcomeNames = [outcomes]string{"redirect", "page", "password", "not_found", "refused", "busy", "error", "proxied"}

// LatencyBounds are the upper bounds of a Latency's buckets.
var LatencyBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// durations is a histogram. The last bucket has no upper bound.
type durations struct {
	buckets [len(LatencyBounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// latency holds a histogram per outcome. As in tally, each connection uses one stripe, and stripes fill whole cache
// lines.
type latency [stripes][outcomes]durations

// handle calls Serve, and counts and measures its answer. It is a separate function because the compiler's profile of
// redirects identifies Serve by its name and its lines.
func (h *Handler) handle(ctx *fasthttp.RequestCtx) {
	h.Serve(ctx)
	h.observe(ctx)
}

// observe counts and measures an answer that is about to be written.
func (h *Handler) observe(ctx *fasthttp.RequestCtx) {
	conn, status := ctx.ConnID(), ctx.Response.StatusCode()
	if status >= fasthttp.StatusInternalServerError && status != fasthttp.StatusLoopDetected {
		h.tally.add(conn, cErrors)
	}
	// The first sample differs by connection, so that connections with one request are sampled at the same rate.
	if (conn+ctx.ConnRequestNum())%sampleEvery == 0 {
		h.sample(ctx.Conn(), conn, h.outcome(ctx, status), arrival(ctx), status)
	}
}

// sample measures an answer that is about to be written.
func (h *Handler) sample(c net.Conn, id uint64, outcome uint32, arrived time.Time, status int) {
	listen.Time(c, arrived, uint32(id%stripes)*outcomes+outcome+1)
	if h.deps.Tracer != nil && outcome != tProxied {
		h.span(arrived, outcomeNames[outcome], status)
	}
}

// span records an answer that is about to be written. It contains no slug, because traces have a wider audience.
func (h *Handler) span(began time.Time, outcome string, status int) {
	_, s := h.deps.Tracer.Start(context.Background(), outcome, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began),
		trace.WithAttributes(attribute.Int("http.response.status_code", status)))
	s.End()
}

// outcome returns the outcome of a request.
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

// Latency is the histogram of the sampled answers with one outcome.
type Latency struct {
	Outcome string
	Buckets [len(LatencyBounds)]uint64 // cumulative: answers within each of LatencyBounds
	Count   uint64
	Sum     time.Duration
}

// Latencies returns the latencies of one in sixteen answers since the handler was created. A latency starts when the
// server has read the head of the request. It ends when the kernel has accepted the answer, or the first part of a
// streamed answer.
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

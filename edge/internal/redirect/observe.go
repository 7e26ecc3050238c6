package redirect

import (
	"context"
	"net"
	"time"

	"github.com/shortline/shortline/edge/internal/latency"
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// sampleEvery is the sampling interval: one in sampleEvery requests is measured. A measurement reads the clock twice
// and makes two atomic additions, about 100 ns. That is too much for every redirect, which takes a few microseconds.
// It must be a power of two.
const sampleEvery = 16

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
func (h *Handler) sample(c net.Conn, id uint64, outcome latency.Outcome, arrived time.Time, status int) {
	listen.Time(c, arrived, latency.Mark(id, outcome))
	if h.deps.Tracer != nil && outcome != latency.Proxied {
		h.span(arrived, outcome.String(), status)
	}
}

// span records an answer that is about to be written. It contains no slug, because traces have a wider audience.
func (h *Handler) span(began time.Time, outcome string, status int) {
	_, s := h.deps.Tracer.Start(context.Background(), outcome, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began),
		trace.WithAttributes(attribute.Int("http.response.status_code", status)))
	s.End()
}

// outcome returns the outcome of a request.
func (h *Handler) outcome(ctx *fasthttp.RequestCtx, status int) latency.Outcome {
	t := split(ctx.Request.Header.RequestURI())
	switch up := h.deps.Upstream; {
	case up != nil && up.Owns(t.path):
		return latency.Proxied
	case status == fasthttp.StatusTooManyRequests || status == fasthttp.StatusServiceUnavailable:
		return latency.Busy
	case status >= fasthttp.StatusInternalServerError && status != fasthttp.StatusLoopDetected:
		return latency.Error
	case string(t.rest) == "/verify":
		return latency.Password
	case status == fasthttp.StatusNotFound || status == fasthttp.StatusGone:
		return latency.NotFound
	case status >= fasthttp.StatusBadRequest:
		return latency.Refused
	case status >= fasthttp.StatusMultipleChoices:
		return latency.Redirect
	}
	return latency.Page
}

// Latencies returns the latencies of one in sixteen answers since the handler was created. A latency starts when the
// server has read the head of the request. It ends when the kernel has accepted the answer, or the first part of a
// streamed answer. The index is the outcome.
func (h *Handler) Latencies() []latency.Histogram { return h.latency.Histograms() }

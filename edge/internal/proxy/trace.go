package proxy

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

var w3c propagation.TraceContext

// trace sets the trace context for the upstream. With a tracer, that is a new span, which continues the client's
// trace if its trace context is valid. Without a tracer, a valid trace context is forwarded unchanged. An invalid one
// is dropped.
func (x *exchange) trace(req *http.Request) {
	carrier := propagation.HeaderCarrier(req.Header)
	ctx := context.Background()
	if len(req.Header.Values("Traceparent")) == 1 {
		ctx = w3c.Extract(ctx, carrier)
	}
	req.Header.Del("Traceparent")
	req.Header.Del("Tracestate")
	if t := x.proxy.cfg.Tracer; t != nil {
		// Do not record the path or the method, because a client can write anything there.
		ctx, x.span = t.Start(ctx, "proxy", trace.WithSpanKind(trace.SpanKindServer))
	}
	w3c.Inject(ctx, carrier) // does nothing without a valid context
}

func (x *exchange) endSpan() {
	if x.span == nil {
		return
	}
	if x.status == 0 {
		x.span.SetStatus(codes.Error, "the control plane gave no answer")
	} else {
		x.span.SetAttributes(attribute.Int("http.response.status_code", x.status))
		if x.status >= http.StatusInternalServerError {
			x.span.SetStatus(codes.Error, "")
		}
	}
	x.span.End()
}

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

// trace sets the trace context that the upstream gets: that of a new span, which continues the client's trace if it sent a
// valid one. Without a tracer a valid trace context is passed on as it is. One that is not valid is never passed on.
func (x *exchange) trace(req *http.Request) {
	carrier := propagation.HeaderCarrier(req.Header)
	ctx := context.Background()
	if len(req.Header.Values("Traceparent")) == 1 {
		ctx = w3c.Extract(ctx, carrier)
	}
	req.Header.Del("Traceparent")
	req.Header.Del("Tracestate")
	if t := x.proxy.cfg.Tracer; t != nil {
		// Neither the path nor the method is recorded: a client can write anything there.
		ctx, x.span = t.Start(ctx, "proxy", trace.WithSpanKind(trace.SpanKindServer))
	}
	w3c.Inject(ctx, carrier) // nothing, if there is no valid context
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

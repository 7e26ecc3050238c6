package kit

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// startSpan starts the span of a request, in the caller's trace if the request names one. The span contains neither path
// nor query, because paths contain ids and queries contain tokens.
func (k *Kit) startSpan(ctx context.Context, r *http.Request, requestID string) (context.Context, trace.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	return k.tracer.Start(ctx, "API", trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("shortline.request_id", requestID)))
}

// endSpan adds the route, if there is one, and the status, and ends the span.
func endSpan(span trace.Span, e *Endpoint, status int) {
	if span.IsRecording() {
		if e != nil {
			span.SetName(e.Method + " " + e.Path)
			span.SetAttributes(attribute.String("http.request.method", e.Method), attribute.String("http.route", e.Path))
		}
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= 500 {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	span.End()
}

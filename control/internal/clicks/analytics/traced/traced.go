// Package traced adds trace spans to the click store, so that a trace shows how long an API request waits for a report
// and how long ingest waits for an insert. Spans carry sizes only, never values or SQL.
package traced

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// store delegates the methods that it does not override.
type store struct {
	analytics.Store
	tracer trace.Tracer
}

// New returns s with a span around each insert and each query. A call inside a span becomes its child; other calls
// start a trace of their own. Without tracing, New returns s itself.
func New(s analytics.Store, traces trace.TracerProvider) analytics.Store {
	if _, off := traces.(noop.TracerProvider); off || traces == nil {
		return s
	}
	return &store{s, traces.Tracer("github.com/shortline/shortline/control/internal/clicks/analytics/traced")}
}

func (s *store) start(ctx context.Context, name string, attrs ...attribute.KeyValue) (context.Context, func(error)) {
	ctx, span := s.tracer.Start(ctx, "clicks "+name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, fmt.Sprintf("%T", err))
		}
		span.End()
	}
}

// Insert implements analytics.Store.
func (s *store) Insert(ctx context.Context, b analytics.Batch) error {
	ctx, end := s.start(ctx, "insert", attribute.Int("shortline.rows", len(b.Rows)))
	err := s.Store.Insert(ctx, b)
	end(err)
	return err
}

// Lines implements analytics.Store.
func (s *store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	ctx, end := s.start(ctx, "lines", attribute.Bool("shortline.visitors", q.Visitors),
		attribute.Bool("shortline.by_period", q.Every != analytics.NoInterval))
	list, err := s.Store.Lines(ctx, q)
	end(err)
	return list, err
}

// Breakdown implements analytics.Store.
func (s *store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	ctx, end := s.start(ctx, "breakdown", attribute.Int("shortline.dimensions", len(dims)))
	counts, err := s.Store.Breakdown(ctx, scope, dims, limit)
	end(err)
	return counts, err
}

// Clicks implements analytics.Store.
func (s *store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	ctx, end := s.start(ctx, "clicks", attribute.Int("shortline.limit", limit))
	err := s.Store.Clicks(ctx, scope, limit, f)
	end(err)
	return err
}

// InsertConversions implements analytics.Conversions.
func (s *store) InsertConversions(ctx context.Context, list []analytics.Conversion) error {
	ctx, end := s.start(ctx, "insert conversions", attribute.Int("shortline.rows", len(list)))
	err := s.Store.InsertConversions(ctx, list)
	end(err)
	return err
}

// ConversionLines implements analytics.Conversions.
func (s *store) ConversionLines(ctx context.Context, q analytics.Query, goal string) ([]analytics.ConversionLine, error) {
	ctx, end := s.start(ctx, "conversion lines", attribute.Bool("shortline.by_period", q.Every != analytics.NoInterval))
	list, err := s.Store.ConversionLines(ctx, q, goal)
	end(err)
	return list, err
}

// ConversionBreakdown implements analytics.Conversions.
func (s *store) ConversionBreakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	goal string) (map[analytics.Dimension][]analytics.ConversionLine, error) {
	ctx, end := s.start(ctx, "conversion breakdown", attribute.Int("shortline.dimensions", len(dims)))
	found, err := s.Store.ConversionBreakdown(ctx, scope, dims, goal)
	end(err)
	return found, err
}

// Arms implements analytics.Conversions.
func (s *store) Arms(ctx context.Context, e analytics.Experiment) ([]analytics.ArmLine, error) {
	ctx, end := s.start(ctx, "arms")
	list, err := s.Store.Arms(ctx, e)
	end(err)
	return list, err
}

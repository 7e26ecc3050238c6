package traced_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/analytics/traced"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func open(t *testing.T) analytics.Store {
	t.Helper()
	s, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks.duckdb")})
	testkit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore_is_asked_within_spans(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	s := traced.New(open(t), provider)

	rows := analyticstest.Clicks(1, 20, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 2)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
	ctx, request := provider.Tracer("test").Start(t.Context(), "request")
	lines, err := s.Lines(ctx, analytics.Query{Visitors: true})
	if err != nil || len(lines) != 1 || lines[0].Clicks == 0 {
		t.Fatalf("%+v, %v", lines, err)
	}
	if _, err := s.Breakdown(ctx, analytics.Scope{}, []analytics.Dimension{analytics.Country}, 3); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := s.Clicks(ctx, analytics.Scope{}, 5, func(*analytics.Row) error { n++; return nil }); err != nil || n != 5 {
		t.Fatalf("%d clicks, %v", n, err)
	}
	var names []string
	for _, span := range recorder.Ended() {
		names = append(names, span.Name())
		if within := span.Parent().SpanID() == request.SpanContext().SpanID(); within == (span.Name() == "clicks insert") {
			t.Errorf("%s is within the request: %v", span.Name(), within)
		}
	}
	if want := []string{"clicks insert", "clicks lines", "clicks breakdown", "clicks clicks"}; !slices.Equal(names, want) {
		t.Errorf("spans %v, want %v", names, want)
	}
}

func TestNew_without_traces_is_the_store_itself(t *testing.T) {
	t.Parallel()
	s := open(t)
	if traced.New(s, noop.NewTracerProvider()) != s || traced.New(s, nil) != s {
		t.Error("a store is wrapped for nothing")
	}
}

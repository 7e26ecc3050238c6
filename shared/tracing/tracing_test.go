package tracing_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/tracing"
	"github.com/shortline/shortline/shared/tracing/tracingtest"
)

// run creates a provider, calls f and stops the provider, so that all spans are sent.
func run(t *testing.T, cfg tracing.Config, f func(*tracing.Traces)) {
	t.Helper()
	tr, err := tracing.New(cfg)
	testkit.Must(t, err)
	f(tr)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Must(t, tr.Run(ctx))
}

func TestTraces_reach_a_collector(t *testing.T) {
	t.Parallel()
	r := tracingtest.New(t)
	cfg := tracing.Config{Settings: tracing.Settings{Endpoint: r.URL + "/", Headers: "authorization=Bearer%20x, a=b",
		Service: "control", Ratio: 1}}
	run(t, cfg, func(tr *tracing.Traces) {
		ctx, root := tr.Tracer("test").Start(t.Context(), "root")
		_, end := tracing.Statement(ctx, "sqlite", "select id\n\tFROM urls WHERE slug = ?")
		end(errors.New("a secret"))
		root.End()
	})
	received, requests := r.Spans(), r.Requests()
	if len(received) != 2 || r.Service() != "control" || requests[0].URL.Path != "/v1/traces" ||
		requests[0].Header.Get("Authorization") != "Bearer x" {
		t.Fatalf("%d spans of %q in %v", len(received), r.Service(), requests)
	}
	got, root := received[0], received[1]
	if got.Name != "sqlite SELECT" || string(got.ParentSpanId) != string(root.SpanId) || got.Status.Code != spans.Status_STATUS_CODE_ERROR {
		t.Errorf("the statement's span is %v", got)
	}
	text := got.String()
	if !strings.Contains(text, "select id FROM urls WHERE slug = ?") || strings.Contains(text, "secret") {
		t.Errorf("the statement's span says %s", text)
	}
}

func TestTraces_ratio_goes_for_callers_too(t *testing.T) {
	t.Parallel()
	r := tracingtest.New(t)
	cfg := tracing.Config{Settings: tracing.Settings{TracesEndpoint: r.URL + "/x", Ratio: 0}}
	run(t, cfg, func(tr *tracing.Traces) {
		_, span := tr.Tracer("test").Start(t.Context(), "root")
		span.End()
	})
	if n := len(r.Spans()); n != 0 {
		t.Errorf("%d spans at a ratio of 0", n)
	}
}

func TestTraces_off_cost_nothing(t *testing.T) { // not parallel: it counts allocations
	tr, err := tracing.New(tracing.Config{})
	testkit.Must(t, err)
	ctx, span := tr.Tracer("test").Start(t.Context(), "root")
	defer span.End()
	n := testing.AllocsPerRun(100, func() {
		_, end := tracing.Statement(ctx, "sqlite", "SELECT 1")
		end(nil)
	})
	if n != 0 {
		t.Errorf("%v allocations for a statement without a collector", n)
	}
}

func TestTraces_a_collector_that_is_away_holds_up_nobody(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var log strings.Builder
	metrics := prometheus.NewRegistry()
	cfg := tracing.Config{Settings: tracing.Settings{Endpoint: gone.URL, Ratio: 1}, Registry: metrics,
		Logger: slog.New(slog.NewTextHandler(&log, nil))}
	began := time.Now()
	run(t, cfg, func(tr *tracing.Traces) {
		_, span := tr.Tracer("test").Start(t.Context(), "root")
		span.End()
	})
	testkit.Within(t, 10*time.Second, began, "stopping without the collector")
	families, err := metrics.Gather()
	if err != nil || !strings.Contains(families[0].String(), `value:"failed"} counter:{value:1`) && !strings.Contains(families[0].String(),
		`value:"failed"}  counter:{value:1`) {
		t.Errorf("%v, %v", families, err)
	}
	if strings.Count(log.String(), "sending traces failed") != 1 {
		t.Errorf("the log says %q", log.String())
	}
}

func TestSettings_Validate_reports_every_problem(t *testing.T) {
	t.Parallel()
	err := tracing.Settings{Endpoint: "collector:4318", Headers: "nonsense", Ratio: 2}.Validate()
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_TRACES_SAMPLER_ARG"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	if err := (tracing.Settings{Ratio: 7}).Validate(); err != nil {
		t.Errorf("off, and yet %v", err)
	}
}

// Package tracing sends traces to an OpenTelemetry collector, if one is configured.
//
// It owns the settings, which have OpenTelemetry's names, the exporter, and the sampling rule. A slow or unavailable
// collector does not delay the program: spans wait in a bounded queue and are dropped when the queue is full. Callers
// decide what a span contains. They leave out parameters of statements, query strings and everything that people typed.
//
// Code below the API starts spans with Start, which continues the span in the context. It needs no provider of its own,
// and without a collector it costs one lookup in the context.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/shortline/shortline/shared/config"
)

// Settings of the collector and of sampling. The exporter also reads the other OTEL_EXPORTER_OTLP_… variables, such as
// those for certificates.
type Settings struct {
	Endpoint       string        `env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"OpenTelemetry collector that receives traces by OTLP over HTTP, such as http://collector:4318; empty disables traces"`
	TracesEndpoint string        `env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" help:"full address for traces, if it is not OTEL_EXPORTER_OTLP_ENDPOINT followed by /v1/traces"`
	Headers        config.Secret `env:"OTEL_EXPORTER_OTLP_HEADERS" help:"headers for the collector: name=value, separated by commas"`
	Service        string        `env:"OTEL_SERVICE_NAME" help:"name of this program in traces; empty means shortline-control or shortline-edge"`
	Ratio          float64       `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" help:"fraction of traces to record, 0 to 1"`
}

// On reports whether traces are sent.
func (s Settings) On() bool { return s.address() != "" }

func (s Settings) address() string {
	if s.TracesEndpoint != "" || s.Endpoint == "" {
		return s.TracesEndpoint
	}
	return strings.TrimRight(s.Endpoint, "/") + "/v1/traces"
}

// Validate reports every problem.
func (s Settings) Validate() error {
	if !s.On() {
		return nil
	}
	var problems []error
	if u, err := url.Parse(s.address()); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		problems = append(problems, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT: must be an absolute http or https address"))
	}
	if _, err := s.headers(); err != nil {
		problems = append(problems, err)
	}
	if s.Ratio < 0 || s.Ratio > 1 {
		problems = append(problems, errors.New("OTEL_TRACES_SAMPLER_ARG: must be from 0 to 1"))
	}
	return errors.Join(problems...)
}

// headers parses the list. Values are percent-encoded.
func (s Settings) headers() (map[string]string, error) {
	out := map[string]string{}
	for one := range strings.SplitSeq(s.Headers.Reveal(), ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, value, ok := strings.Cut(one, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: must be name=value, separated by commas")
		}
		out[strings.TrimSpace(name)] = value
	}
	return out, nil
}

// Config of the traces of one process.
type Config struct {
	Settings
	// Name of the program if OTEL_SERVICE_NAME is empty.
	Name string
	// Attributes of the process, in addition to its name and version.
	Attributes []attribute.KeyValue
	// Version of the program, an attribute of every trace.
	Version string
	// Registry gets the metrics; nil means none.
	Registry prometheus.Registerer
	// Logger gets a warning when sending starts to fail; nil means slog.Default().
	Logger *slog.Logger
}

// Traces is a tracer provider and the service that sends its spans. It is safe for concurrent use.
type Traces struct {
	trace.TracerProvider
	sdk *sdk.TracerProvider // nil if traces are off
}

// New returns a provider, which records nothing if no collector is configured. It does not wait for the collector.
func New(cfg Config) (*Traces, error) {
	if !cfg.On() {
		return &Traces{TracerProvider: noop.NewTracerProvider()}, nil
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	headers, err := cfg.headers()
	if err != nil {
		return nil, err
	}
	out, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(cfg.address()), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("create the trace exporter: %w", err)
	}
	e := &exporter{SpanExporter: out, log: cfg.Logger, sent: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "shortline_tracing_spans_total",
		Help: "Spans that the collector accepted (sent) and that could not be delivered to it (failed).",
	}, []string{"result"})}
	e.sent.WithLabelValues("sent")
	e.sent.WithLabelValues("failed")
	if cfg.Registry != nil {
		if err := cfg.Registry.Register(e.sent); err != nil {
			return nil, fmt.Errorf("register the metrics of traces: %w", err)
		}
	}
	// A request joins its caller's trace, but the caller's sampling decision is ignored, because anybody can send one.
	root := sdk.TraceIDRatioBased(cfg.Ratio)
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(e, sdk.WithBatchTimeout(2*time.Second), sdk.WithExportTimeout(10*time.Second)),
		sdk.WithSampler(sdk.ParentBased(root, sdk.WithRemoteParentSampled(root), sdk.WithRemoteParentNotSampled(root))),
		sdk.WithResource(resource.NewSchemaless(append([]attribute.KeyValue{
			attribute.String("service.name", cmp.Or(cfg.Service, cfg.Name)), attribute.String("service.version", cfg.Version),
		}, cfg.Attributes...)...)),
	)
	return &Traces{p, p}, nil
}

// Run waits until ctx ends and then sends the remaining spans, for at most three seconds.
func (t *Traces) Run(ctx context.Context) error {
	<-ctx.Done()
	if t.sdk == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_ = t.sdk.Shutdown(last) // the exporter has counted and logged failures
	return nil
}

// exporter counts spans and logs each outage once.
type exporter struct {
	sdk.SpanExporter
	log     *slog.Logger
	sent    *prometheus.CounterVec
	failing atomic.Bool
}

// ExportSpans implements sdk.SpanExporter. It returns no errors, because the caller would print them.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.sent.WithLabelValues("failed").Add(float64(len(spans)))
		if !e.failing.Swap(true) {
			e.log.Warn("sending traces failed", "error", err.Error())
		}
		return nil
	}
	e.failing.Store(false)
	e.sent.WithLabelValues("sent").Add(float64(len(spans)))
	return nil
}

// scope is the instrumentation scope of all spans.
const scope = "github.com/shortline/shortline"

// Start starts a child of the span in ctx. It does nothing if there is none, or if it is not recorded. The caller must
// call the returned function once, with the error of the operation or nil.
func Start(ctx context.Context, name string, attrs ...attribute.KeyValue) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attrs...))
	return ctx, func(err error) {
		if err != nil {
			// Without its text, which may contain values.
			span.SetStatus(codes.Error, fmt.Sprintf("%T", err))
		}
		span.End()
	}
}

// Statement starts the span of a database statement. The text is recorded, so it must have placeholders instead of values.
func Statement(ctx context.Context, system, text string) (context.Context, func(error)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(error) {}
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		words = []string{"empty"}
	}
	text = strings.Join(words, " ")
	return Start(ctx, system+" "+strings.ToUpper(words[0]), attribute.String("db.system.name", system),
		attribute.String("db.operation.name", strings.ToUpper(words[0])), attribute.String("db.query.text", text[:min(len(text), 2000)]))
}

// Package tracing sends traces of a program's work to an OpenTelemetry collector, if one is set.
//
// It owns the settings, named as OpenTelemetry names them, the exporter and the rule which traces are recorded. It
// promises that a collector which is slow or away holds up nobody: spans wait in a bounded queue and are dropped when
// that is full. What a span may say is up to those who start it; they leave out values of statements, query strings
// and everything that people typed.
//
// A part below the API makes its spans with Start, which continues what the context has. So it needs no provider of
// its own, and without a collector it costs a look into the context.
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

// Settings say where traces go and how many. The exporter also reads the other OTEL_EXPORTER_OTLP_… variables, such
// as those for certificates.
type Settings struct {
	Endpoint       string        `env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"sends traces to this OpenTelemetry collector by OTLP over HTTP, such as http://collector:4318"`
	TracesEndpoint string        `env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" help:"the whole address for traces, where it is not the former with /v1/traces"`
	Headers        config.Secret `env:"OTEL_EXPORTER_OTLP_HEADERS" help:"sent to the collector: name=value, with commas between them"`
	Service        string        `env:"OTEL_SERVICE_NAME" help:"the name of this program in traces; empty means shortline-control or shortline-edge"`
	Ratio          float64       `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" help:"which part of the traces is recorded, 0 to 1"`
}

// On tells whether traces are sent.
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

// headers reads the list, whose values are escaped as in a URL.
func (s Settings) headers() (map[string]string, error) {
	out := map[string]string{}
	for one := range strings.SplitSeq(s.Headers.Reveal(), ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, value, ok := strings.Cut(one, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: must be name=value, with commas between several")
		}
		out[strings.TrimSpace(name)] = value
	}
	return out, nil
}

// Config of the traces of one process.
type Config struct {
	Settings
	// Name of the program where OTEL_SERVICE_NAME gives none.
	Name string
	// Attributes of the process, besides its name and version.
	Attributes []attribute.KeyValue
	// Version of the program, as every trace says it.
	Version string
	// Registry gets the metrics; nil means none.
	Registry prometheus.Registerer
	// Logger is told when sending begins to fail; nil means slog.Default().
	Logger *slog.Logger
}

// Traces is where spans go. It is safe for concurrent use.
type Traces struct {
	trace.TracerProvider
	sdk *sdk.TracerProvider // nil: off
}

// New makes the provider, which records nothing when no collector is set. It does not wait for the collector.
func New(cfg Config) (*Traces, error) {
	if !cfg.On() {
		return &Traces{TracerProvider: noop.NewTracerProvider()}, nil
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	headers, err := cfg.headers()
	if err != nil {
		return nil, err
	}
	out, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(cfg.address()), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("make the exporter of traces: %w", err)
	}
	e := &exporter{SpanExporter: out, log: cfg.Logger, sent: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "shortline_tracing_spans_total", Help: "Spans that the collector took (sent) and that it did not (failed).",
	}, []string{"result"})}
	e.sent.WithLabelValues("sent")
	e.sent.WithLabelValues("failed")
	if cfg.Registry != nil {
		if err := cfg.Registry.Register(e.sent); err != nil {
			return nil, fmt.Errorf("register the metrics of traces: %w", err)
		}
	}
	// A caller's trace is joined, but a caller does not decide that it is recorded: everybody is one.
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

// Run sends what is left when ctx ends, for at most three seconds.
func (t *Traces) Run(ctx context.Context) error {
	<-ctx.Done()
	if t.sdk == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_ = t.sdk.Shutdown(last) // what could not be sent is counted and in the log
	return nil
}

// exporter counts, and tells the log of an outage once.
type exporter struct {
	sdk.SpanExporter
	log     *slog.Logger
	sent    *prometheus.CounterVec
	failing atomic.Bool
}

// ExportSpans implements sdk.SpanExporter. It keeps errors to itself: the caller only prints them.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.sent.WithLabelValues("failed").Add(float64(len(spans)))
		if !e.failing.Swap(true) {
			e.log.Warn("traces could not be sent", "error", err.Error())
		}
		return nil
	}
	e.failing.Store(false)
	e.sent.WithLabelValues("sent").Add(float64(len(spans)))
	return nil
}

// scope is the name under which spans of this program are made.
const scope = "github.com/shortline/shortline"

// Start begins a span under the one in ctx. Where that is not recorded, or there is none, it does nothing. The caller
// ends it with what came of it, once.
func Start(ctx context.Context, name string, attrs ...attribute.KeyValue) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	return ctx, func(err error) {
		if err != nil {
			// Not its text, which may quote values.
			span.SetStatus(codes.Error, fmt.Sprintf("%T", err))
		}
		span.End()
	}
}

// Statement begins the span of a database statement. Its text is recorded as it is, so it must hold placeholders
// where values go.
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

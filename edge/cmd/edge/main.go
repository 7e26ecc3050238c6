// Command edge answers visitors in one region. It gets links from the control plane at CONTROL_URL and sends clicks and
// conversions to Kafka. If both are down, it continues to serve from its own disk, also after a restart.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/peertls"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/tracing"
	"go.opentelemetry.io/otel/attribute"
)

var edgeProgram = cli.Program{
	Name: "edge", About: "edge answers visitors: links from a control plane, clicks to Kafka.",
	New: func() cli.Settings { return new(settings) },
	Run: func(ctx context.Context, s cli.Settings, _, stderr io.Writer) error {
		return run(ctx, s.(*settings), stderr)
	},
}

func main() { edgeProgram.Main() }

// run runs the program. It returns when ctx ends and all parts have stopped, or when a part fails. It starts without the
// control plane and without Kafka.
func run(ctx context.Context, s *settings, stderr io.Writer) (err error) {
	log, err := ops.NewLogger(stderr, s.LogFormat, s.LogLevel)
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	op, err := ops.Listen(s.Operator(), log)
	if err != nil {
		return err
	}
	s.Port.Configure(op)
	for _, warning := range s.Warnings() {
		log.Warn("setting not recommended", "reason", warning)
	}
	peer, err := peertls.Open(s.controlFiles(), log)
	if err != nil {
		return err
	}
	at := s.control()
	at.TLS, at.Logger = peer.Client(), log
	source, err := remote.NewSource(at)
	if err != nil {
		return err
	}
	defer source.Close()
	sink, err := remote.NewSink(s.kafka(log))
	if err != nil {
		return err
	}
	defer sink.Close()
	conversions, err := remote.NewSink(s.conversions(log))
	if err != nil {
		return err
	}
	defer conversions.Close()
	for events, s := range map[string]*remote.Sink{"clicks": sink, "conversions": conversions} {
		if err := prometheus.WrapRegistererWith(prometheus.Labels{"events": events}, op.Registry).Register(s); err != nil {
			return fmt.Errorf("register the metrics of the Kafka sink for %s: %w", events, err)
		}
	}
	if err := errors.Join(op.WatchDisk("data", s.DataDir), op.WatchDisk("spool", filepath.Join(s.DataDir, "spool"))); err != nil {
		return err
	}
	deps := edge.Deps{
		Links: source, Reports: source, Lockout: source, Limits: source, Hosts: source, Abuse: source, ClockAhead: source.ClockAhead,
		Sink: sink, ConversionSink: conversions, Logger: log, Registry: op.Registry,
	}
	traces, err := tracing.New(tracing.Config{
		Settings: s.Tracing, Name: "shortline-edge", Version: ops.Version, Registry: op.Registry, Logger: log,
		Attributes: []attribute.KeyValue{attribute.String("service.instance.id", s.Edge.Name),
			attribute.String("cloud.region", s.Edge.Region)},
	})
	if err != nil {
		return err
	}
	if s.Tracing.On() {
		deps.Tracer = traces.Tracer("github.com/shortline/shortline/edge")
	}
	if s.ProxyAPI {
		deps.UpstreamToken, deps.Upstream = s.EdgeToken, source.Dial
	}
	e, err := edge.New(s.edge(), deps)
	if err != nil {
		return err
	}
	op.AddCheck("links", func(context.Context) error {
		if reasons := e.Unready(); len(reasons) > 0 {
			return errors.New(strings.Join(reasons, ", "))
		}
		return nil
	})
	g := service.Group{Logger: log}
	g.Add("operator's port", op)
	g.Add("traces", traces)
	g.Add("control planes", source)
	g.AddReady("edge", e, e.Started())
	g.Add("kafka", sink)
	g.Add("kafka for conversions", conversions)
	return g.Run(e.Drain(ctx))
}

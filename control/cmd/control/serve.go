package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
)

// run is the program: it returns when ctx ends and everything has stopped, or when a part fails. From the start it
// answers on the operator's port; the rest begins when the stores answer, however long that takes.
func run(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	log, err := ops.NewLogger(stderr, s.LogFormat, s.LogLevel)
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	op, err := ops.Listen(s.Operator(), log)
	if err != nil {
		return err
	}
	s.Port.Configure(op)
	ln, err := s.listen(log)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	g := service.Group{Logger: log, StopTimeout: 10 * time.Second}
	g.Add("operator's port", op)
	g.Add("control", service.Func(func(ctx context.Context) error { return serve(ctx, s, op, ln, log, stdout) }))
	return g.Run(ctx)
}

// serve opens the stores, then runs every part of the roles. It owns ln.
func serve(ctx context.Context, s *settings, op *ops.Server, ln net.Listener, log *slog.Logger, stdout io.Writer) (err error) {
	defer ln.Close()
	var started gate
	op.AddCheck("start", started.check)
	roles, err := app.ParseRoles(s.Roles)
	if err != nil {
		return err
	}
	deps := app.Deps{Registry: op.Registry, Logger: log}
	deps.Store = await(ctx, log, &started, "the database", func(ctx context.Context) (*store.Store, error) {
		return store.Open(ctx, store.Config{URL: s.DatabaseURL.Reveal(), MaxConns: s.DatabaseConns, AuditKeys: s.AuditKeys(), Logger: log})
	})
	if deps.Store == nil {
		return nil
	}
	defer func() { err = errors.Join(err, deps.Store.Close()) }()
	op.AddCheck("database", deps.Store.Ping)
	if owns, err := deps.Store.OwnsAudit(ctx); err == nil && owns {
		log.Warn("the database role of this process can change the audit log; run control migrate with MIGRATE_DATABASE_URL, and give DATABASE_URL a role that owns nothing")
	}

	// Links are managed and published without the store of clicks, so nothing else waits for it.
	clicks := analytics.NewLate()
	defer func() { err = errors.Join(err, clicks.Close()) }()
	deps.Clicks, deps.Opened = clicks, clicks.Opened()
	geo, err := s.openGeo()
	if err != nil {
		return err
	}
	deps.Geo = geo
	key, err := snapshot.ParseSigningKey(s.Signing.Key.Reveal())
	if err != nil {
		return err
	}
	if roles.Publish && !key.IsZero() {
		log.Info("what edges are told of links is signed", "public_key", key.Public())
	}
	control, err := app.New(ctx, app.Config{Settings: s.Settings, Roles: roles, Key: key, Retention: s.ClickHouse.Retention, DataDir: s.DataDir}, deps)
	if err != nil {
		return err
	}
	defer control.Close()

	g := service.Group{Logger: log, StopTimeout: 9 * time.Second}
	g.Add("geo", service.Func(func(ctx context.Context) error { return geo.Run(ctx, log) }))
	control.AddTo(&g)
	if roles.API || roles.Ingest {
		g.Add("ClickHouse", service.Func(func(ctx context.Context) error { return s.openClicks(ctx, clicks, roles, op.Registry, log) }))
	}
	if err := s.consume(&g, control, op, log); err != nil {
		return err
	}
	handler := control.Handler
	if handler == nil {
		handler = http.NotFoundHandler()
	}
	if roles.Publish {
		if handler, err = s.withEdges(control, op, log, handler); err != nil {
			return err
		}
	}
	handler = s.Edges.guard(ln, edgeapi.NewTokens(s.edges(nil).Tokens).Vouch(handler))
	g.Add("http", httpserver.New(ln, handler, log))
	log.Info("control serves", "roles", s.Roles, "address", ln.Addr().String(), "geo", geo.Version())
	if control.AdminPassword != "" {
		// To standard output only, never to the log.
		fmt.Fprintf(stdout, "\n  first admin  %s\n  password     %s\n  (shown this once; change it in the console under Account)\n\n", s.AdminEmail, control.AdminPassword)
	}
	started.openWhen(g.Ready())
	return g.Run(ctx)
}

// consume adds the consumer groups of the roles: each reads every click.
func (s *settings) consume(g *service.Group, control *app.Control, op *ops.Server, log *slog.Logger) error {
	for _, group := range []struct {
		name   string
		sink   click.Sink
		reload func(context.Context) error
	}{{"ingest", control.Sink, control.ReloadMarks}, {"hooks", control.Hooks, nil}} {
		if group.sink == nil {
			continue
		}
		cfg := s.kafka(group.name, log)
		cfg.Reload = group.reload
		from, err := kafkasource.New(cfg, group.sink)
		if err != nil {
			return err
		}
		if err := op.Registry.Register(from); err != nil {
			return fmt.Errorf("register the metrics of the Kafka source: %w", err)
		}
		g.Add("kafka: "+group.name, from)
	}
	return nil
}

// withEdges is a handler that answers edges, and leaves the rest to another.
func (s *settings) withEdges(control *app.Control, op *ops.Server, log *slog.Logger, rest http.Handler) (http.Handler, error) {
	edges, err := edgeapi.New(s.edges(log), edgeapi.Deps{Links: control.Links, Reports: control.Reports, Lockout: control.Lockout})
	if err != nil {
		return nil, err
	}
	if err := op.Registry.Register(edges); err != nil {
		return nil, fmt.Errorf("register the metrics of the edges' API: %w", err)
	}
	held := httpserver.CancelOnStop(edges)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, edgeapi.Prefix) {
			held.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	}), nil
}

// openClicks opens the store of clicks when it is there. Who puts clicks in also keeps its sums up to date.
func (s *settings) openClicks(ctx context.Context, late *analytics.Late, roles app.Roles, metrics prometheus.Registerer, log *slog.Logger) error {
	clicks := await(ctx, log, nil, "ClickHouse", func(ctx context.Context) (*clickhouse.Store, error) { return s.ClickHouse.open(ctx, log) })
	if clicks == nil {
		return nil
	}
	late.Use(clicks)
	if roles.Ingest {
		if err := metrics.Register(clicks); err != nil {
			return fmt.Errorf("register the metrics of rollups: %w", err)
		}
		return clicks.Run(ctx)
	}
	<-ctx.Done()
	return nil
}

// openGeo opens the databases that are set. Without any it knows no places, and says so.
func (s *settings) openGeo() (*visitor.Geo, error) {
	if s.GeoDB == "" {
		slog.Warn("GEO_DB is not set, so the countries of clicks are unknown")
	}
	cache := filepath.Join(s.DataDir, "geo")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the geo folder: %w", err)
	}
	return visitor.OpenGeoWith(visitor.GeoConfig{Path: s.GeoDB, Cache: cache})
}

// await opens what may not be there yet, for as long as it takes. It returns nil when ctx has ended. The
// gate may be nil.
func await[T store.Store | clickhouse.Store](ctx context.Context, log *slog.Logger, started *gate, what string, open func(context.Context) (*T, error)) *T {
	retries := backoff.Policy{First: 200 * time.Millisecond, Most: 5 * time.Second}
	for tries := 1; ; tries++ {
		attempt, cancel := context.WithTimeout(ctx, time.Minute)
		part, err := open(attempt)
		cancel()
		if err == nil {
			return part
		}
		if ctx.Err() != nil {
			return nil
		}
		if started != nil {
			started.waitFor(what)
		}
		if backoff.LogWorthy(tries) {
			log.Warn("waiting for "+what, "tries", tries, "error", err.Error())
		}
		if !backoff.Sleep(ctx, retries.Delay(tries)) {
			return nil
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/control/internal/platform/logrepeat"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/visitor"
)

// run is the program. It returns when ctx has ended and all services have stopped, or when a service fails. The operator's
// port answers from the start. The other services start when the database is available, however long that takes.
func run(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	log, err := ops.NewLogger(stderr, s.LogFormat, s.LogLevel)
	if err != nil {
		return err
	}
	log = logrepeat.New(log)
	slog.SetDefault(log)
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
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

// serve opens the stores and runs the services of all roles. It owns ln.
func serve(ctx context.Context, s *settings, op *ops.Server, ln net.Listener, log *slog.Logger, stdout io.Writer) (err error) {
	defer ln.Close()
	var started gate
	op.AddCheck("start", started.check)
	roles, err := parseRoles(s.Roles)
	if err != nil {
		return err
	}
	if err := op.WatchDisk("data", s.DataDir); err != nil {
		return err
	}
	deps := app.Deps{Registry: op.Registry, Logger: log}
	// Opening the database may take minutes, because it migrates the schema or waits for a replica that does. Connecting
	// and other statements have timeouts of their own.
	deps.Store = await(ctx, log, &started, "the database", noTimeout, func(ctx context.Context) (*store.Store, error) {
		return store.Open(ctx, store.Config{URL: s.DatabaseURL.Reveal(), MaxConns: s.DatabaseConns, AuditKeys: s.AuditKeys(),
			Trash:     s.Trash(),
			ListLinks: s.ListLinks, BaseURL: s.BaseURL, Logger: log})
	})
	if deps.Store == nil {
		return nil
	}
	defer func() { err = errors.Join(err, deps.Store.Close()) }()
	op.AddCheck("database", deps.Store.Ping)
	if owns, err := deps.Store.OwnsAudit(ctx); err == nil && owns {
		log.Warn("database role can change the audit log", "remedy",
			"run control migrate with MIGRATE_DATABASE_URL, and use a role in DATABASE_URL that owns nothing")
	}

	geo, err := s.openGeo()
	if err != nil {
		return err
	}
	deps.Geo = geo
	p, err := s.newPlane(ctx, roles, deps)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.closeStores()) }()

	g := service.Group{Logger: log, StopTimeout: 9 * time.Second}
	g.Add("geo", service.Func(func(ctx context.Context) error { return geo.Run(ctx, log) }))
	p.addTo(&g)
	g.Add("http", httpserver.New(ln, s.Edges.guard(ln, edgeapi.NewTokens(s.edges(nil).Tokens).Vouch(p.handler)), log))
	log.Info("control started", "roles", s.Roles, "address", ln.Addr().String(), "geo", geo.Version())
	if p.admin.Password != "" {
		// To standard output only, never to the log.
		fmt.Fprintf(stdout,
			"\n  first admin  %s\n  password     %s\n  (shown until the first sign-in; change it in the console under Account)\n\n",
			p.admin.Email, p.admin.Password)
	}
	started.openWhen(g.Ready())
	return g.Run(ctx)
}

// openGeo opens the configured databases. Without any, places are unknown, and the log says so.
func (s *settings) openGeo() (*visitor.Geo, error) {
	if s.GeoDB == "" {
		slog.Warn("no geo database, countries are unknown", "setting", "GEO_DB")
	}
	cache := filepath.Join(s.DataDir, "geo")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("create the geo folder: %w", err)
	}
	return visitor.OpenGeoWith(visitor.GeoConfig{Path: s.GeoDB, Cache: cache})
}

// noTimeout is for attempts to open a store that may last.
const noTimeout = time.Duration(math.MaxInt64)

// await calls open until it succeeds, and returns nil if ctx ends first. Each call has a timeout. The gate may be nil.
func await[T store.Store | clickhouse.Store](ctx context.Context, log *slog.Logger, started *gate, what string, timeout time.Duration,
	open func(context.Context) (*T, error)) *T {
	if started != nil {
		started.waitFor(what)
	}
	retries := backoff.Policy{First: 200 * time.Millisecond, Most: 5 * time.Second}
	for tries := 1; ; tries++ {
		attempt, cancel := context.WithTimeout(ctx, timeout)
		part, err := open(attempt)
		cancel()
		if err == nil {
			return part
		}
		if ctx.Err() != nil {
			return nil
		}
		if backoff.LogWorthy(tries) {
			log.Warn("waiting for a store", "store", what, "tries", tries, "error", err.Error())
		}
		if !backoff.Sleep(ctx, retries.Delay(tries)) {
			return nil
		}
	}
}

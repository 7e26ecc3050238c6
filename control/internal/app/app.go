// Package app joins the parts of the control plane into one: store, use cases, API, publishing and ingest.
//
// It owns which part is made of which, in what order they start and stop, and the settings they are made from.
// What differs between programs (which store of clicks, where the API listens, how links reach edges) is theirs.
package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/traced"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/reconcile"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/console"
	fleetlockout "github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/explain"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/tracing"
	"github.com/shortline/shortline/shared/visitor"
)

// Config is what New needs besides settings.
type Config struct {
	Settings
	Roles Roles
	// Direct says that clicks come to Sink only, which then tells webhooks too. Without it they also come to Hooks.
	// It takes all roles.
	Direct bool
	// Key signs what edges are told of links; the zero value signs nothing.
	Key snapshot.SigningKey
	// Retention is for how many days clicks are kept; 0 means for ever.
	Retention int
	DataDir   string // for snapshots, which can be made again, and for images unless they go to an object store
}

// Deps are the parts that programs choose. The caller closes the stores, after Run has returned.
type Deps struct {
	Store    *store.Store
	Clicks   analytics.Store // may be nil without the roles that ask it, api and ingest
	Opened   <-chan struct{} // closed when Clicks is open; nil if it is open already
	Geo      *visitor.Geo    // kept up to date by the caller; nil knows no places
	Registry prometheus.Registerer
	Logger   *slog.Logger
}

// Control is a control plane, ready to run. What no role asks for is nil.
type Control struct {
	// Handler serves /api and the console, under Serve.
	Handler http.Handler
	// Links, Reports and Lockout serve edges. They are nil without the role publish.
	Links   snapshot.Source
	Reports snapshot.Reporter
	Lockout lockout.Exchange
	// Sink is where edges' clicks go, to be stored.
	Sink click.Sink
	// ReloadMarks makes Sink read again how far each lane is stored, for kafkasource.Config.Reload.
	ReloadMarks func(context.Context) error
	// Hooks is where they go too, to be told to webhooks, unless Config.Direct.
	Hooks click.Sink
	// AdminPassword is set when the first admin was made just now without a password given. It can't be had again.
	AdminPassword string

	positions *presence.Positions
	reports   *report.Cache // nil without the role api, as is feed
	feed      *live.Feed
	services  []named
}

// awaitOwnEdge is how long the answer to a change waits at most for the edge in the same process. The edge needs some
// milliseconds; one that needs longer is loading all links, or hangs.
const awaitOwnEdge = 2 * time.Second

type named struct {
	name string
	part service.Service
}

// New makes the parts of every role. The settings have been validated. The caller adds the parts to a group.
func New(ctx context.Context, cfg Config, deps Deps) (*Control, error) {
	c := &Control{}
	traces, err := tracing.New(tracing.Config{Settings: cfg.Tracing, Name: "shortline-control", Version: ops.Version, Registry: deps.Registry, Logger: deps.Logger})
	if err != nil {
		return nil, err
	}
	c.add("traces", traces)
	if deps.Clicks != nil {
		deps.Clicks = traced.New(deps.Clicks, traces.TracerProvider)
	}
	c.add("store", deps.Store)
	var hooks *webhooks.Service
	if cfg.Roles.Webhooks || cfg.Roles.API {
		hooks, err = webhooks.New(webhooks.Config{Settings: cfg.Webhooks, EncryptionKeys: keyRing(cfg.EncryptionKey), Registry: deps.Registry, Logger: deps.Logger}, deps.Store)
		if err != nil {
			return nil, err
		}
	}
	var enrich *ingest.Enricher // shared by both consumer groups
	if cfg.Roles.Ingest || cfg.Roles.Webhooks {
		enrich = ingest.NewEnricher(deps.Geo)
	}
	if cfg.Roles.Webhooks {
		c.add("webhooks", hooks)
		if !cfg.Direct {
			told := ingest.NewObserverSink(hooks, enrich)
			if err := deps.Registry.Register(told); err != nil {
				return nil, fmt.Errorf("register the metrics of webhooks: %w", err)
			}
			c.Hooks = told
		}
	}
	// Who changes links waits for edges, and who publishes hears of them first.
	if cfg.Roles.API || cfg.Roles.Publish {
		c.positions = presence.NewPositions(presence.PositionsConfig{Local: cfg.Direct, Logger: deps.Logger}, deps.Store)
		c.add("edges' positions", c.positions)
	}
	if cfg.Roles.Publish {
		publisher := publish.New(deps.Store, publish.Config{BaseURL: cfg.BaseURL, Dir: cfg.DataDir, Key: cfg.Key, Logger: deps.Logger})
		c.add("publish", publisher)
		tracker := presence.New(presence.Config{Logger: deps.Logger, Positions: c.positions}, deps.Store)
		lockouts := fleetlockout.New(fleetlockout.Config{Logger: deps.Logger}, deps.Store)
		for _, part := range []prometheus.Collector{publisher, tracker, lockouts} {
			if err := deps.Registry.Register(part); err != nil {
				return nil, fmt.Errorf("register the metrics of publishing: %w", err)
			}
		}
		c.add("edges' reports", tracker)
		c.add("lockout", lockouts)
		c.Links, c.Reports, c.Lockout = c.positions.Observe(publisher), tracker, lockouts
	}
	if cfg.Roles.API {
		if err := c.serveAPI(ctx, cfg, deps, hooks, traces); err != nil {
			return nil, err
		}
	} else if err := deps.Registry.Register(deps.Store); err != nil { // the API registers it itself
		return nil, fmt.Errorf("register the metrics of the database: %w", err)
	}
	if cfg.Roles.Ingest {
		if err := c.takeClicks(cfg, deps, enrich, hooks); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// takeClicks makes what stores clicks, and what looks after them.
func (c *Control) takeClicks(cfg Config, deps Deps, enrich *ingest.Enricher, hooks *webhooks.Service) error {
	intake := ingest.Config{Retention: cfg.Retention, Logger: deps.Logger}
	if cfg.Direct {
		intake.Observer = hooks
	}
	if c.reports != nil {
		intake.Stored = append(intake.Stored, c.reports.Clicked, c.feed.Stored)
	}
	in := ingest.New(intake, deps.Store, deps.Clicks, enrich)
	auditor := reconcile.New(reconcile.Config{Logger: deps.Logger}, deps.Store, deps.Clicks)
	for _, part := range []prometheus.Collector{in, auditor} {
		if err := deps.Registry.Register(part); err != nil {
			return fmt.Errorf("register the metrics of ingest: %w", err)
		}
	}
	c.add("ingest", onceOpen(deps.Opened, in))
	c.add("audit of clicks", onceOpen(deps.Opened, auditor))
	c.Sink, c.ReloadMarks = in, in.ReloadMarks
	return nil
}

// onceOpen runs a part once the channel is closed. A nil channel means that the part need not wait.
func onceOpen(opened <-chan struct{}, part service.Service) service.Service {
	if opened == nil {
		return part
	}
	return service.Func(func(ctx context.Context) error {
		select {
		case <-opened:
			return part.Run(ctx)
		case <-ctx.Done():
			return nil
		}
	})
}

// serveAPI makes the use cases and what serves them.
func (c *Control) serveAPI(ctx context.Context, cfg Config, deps Deps, hooks *webhooks.Service, traces trace.TracerProvider) error {
	st := deps.Store
	passwords, err := auth.NewPasswords(0)
	if err != nil {
		return err
	}
	authenticator, err := auth.NewAuthenticator(auth.Config{Secrets: keyRing(cfg.JWTSecret), Lifetime: cfg.JWTTTL, Logger: deps.Logger}, st, passwords)
	if err != nil {
		return err
	}
	c.add("auth", authenticator)
	c.add("counts of failures", service.Func(func(ctx context.Context) error { return audit.WriteCounts(ctx, st, deps.Logger) }))
	watcher := audit.NewWatcher(st, deps.Logger, 0)
	if err := deps.Registry.Register(watcher); err != nil {
		return fmt.Errorf("register the metrics of the audit log: %w", err)
	}
	c.add("head of the audit log", watcher)
	system := settings.New(st)
	signOn, err := sso.New(sso.Config{Settings: cfg.SSO, BaseURL: cfg.BaseURL, EncryptionKeys: keyRing(cfg.EncryptionKey), Logger: deps.Logger}, st, authenticator, system)
	if err != nil {
		return err
	}
	people, err := accounts.New(accounts.Config{EncryptionKeys: keyRing(cfg.EncryptionKey), PasswordSignInOff: signOn.PasswordsOff}, st, authenticator, passwords)
	if err != nil {
		return err
	}
	if c.AdminPassword, err = people.EnsureAdmin(ctx, cfg.AdminEmail, cfg.AdminPassword.Reveal()); err != nil {
		return fmt.Errorf("make the first admin: %w", err)
	}
	own := links.New(links.Config{BaseURL: cfg.BaseURL, Destinations: cfg.Destinations(), OwnSuggestions: !cfg.UTMSuggestionsShared}, st, passwords)
	objects, err := cfg.objects()
	if err != nil {
		return err
	}
	images := media.New(media.Config{Logger: deps.Logger}, st, own, objects)
	c.add("images", images)
	explainer, err := explain.New(explain.Config{BaseURL: cfg.BaseURL, Zone: cfg.Zone()}, st, deps.Geo)
	if err != nil {
		return err
	}
	c.reports, err = report.NewCache(report.CacheConfig{TTL: cfg.AnalyticsCacheTTL, Shared: !cfg.Direct})
	if err != nil {
		return err
	}
	if err := deps.Registry.Register(c.reports); err != nil {
		return fmt.Errorf("register the metrics of reports: %w", err)
	}
	// Other processes take clicks too, unless they come here directly.
	feed := live.Config{Logger: deps.Logger}
	if !cfg.Direct {
		feed.Poll = time.Second
	}
	c.feed = live.New(feed, st, deps.Clicks)
	if err := deps.Registry.Register(c.feed); err != nil {
		return fmt.Errorf("register the metrics of the live feed: %w", err)
	}
	c.add("live feed", c.feed)
	ownEdge := time.Duration(0)
	if cfg.Direct {
		ownEdge = awaitOwnEdge
	}
	server, err := api.New(api.Config{
		OwnEdge: ownEdge,
		BaseURL: cfg.BaseURL, ConsoleURL: cfg.ConsoleURL, CORSOrigins: cfg.CORSOrigin, TrustedProxies: cfg.trusted(), Limits: cfg.Limits, Version: ops.Version, KeysAdminister: cfg.KeysAdminister,
		Logger: deps.Logger, Registry: deps.Registry, Traces: traces,
	}, api.Deps{
		Store: st, Auth: authenticator,
		Accounts: people, Keys: keys.New(st, passwords, cfg.MaxAPIKeys), Settings: system, SSO: signOn,
		Edges: c.positions,
		Links: own, Routing: routing.New(cfg.Destinations(), st), Bundles: bundles.New(st, deps.Clicks, nil), Media: images, Explain: explainer,
		Reports: report.New(st, deps.Clicks, nil).Caching(c.reports), Live: c.feed, Webhooks: hooks, Privacy: privacy.New(st, deps.Clicks),
	})
	if err != nil {
		return err
	}
	c.Handler = console.Handler(cfg.BaseURL, ending(server.Handler()))
	return nil
}

// ending makes requests that wait end when the server is told to stop: the live stream at once, and changes without waiting
// for edges any longer.
func ending(all http.Handler) http.Handler {
	stream := httpserver.CancelOnStop(all)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(api.WithoutWaitingAfter(r.Context(), httpserver.Stopping(r)))
		if r.URL.Path == api.LivePath {
			stream.ServeHTTP(w, r)
			return
		}
		all.ServeHTTP(w, r)
	})
}

func (c *Control) add(name string, s service.Service) {
	c.services = append(c.services, named{name, s})
}

// Close lets go of what New made. It is called after the parts have stopped, and also where they never ran.
func (c *Control) Close() {
	if c.reports != nil {
		c.reports.Close()
	}
}

// AddTo adds the parts that run to a group.
func (c *Control) AddTo(g *service.Group) {
	for _, s := range c.services {
		g.Add(s.name, s.part)
	}
}

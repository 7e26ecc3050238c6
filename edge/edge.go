// Package edge is the data plane as one value: it answers visitors, keeps its links fresh, and ships its clicks.
//
// It owns the joining of its parts, the order in which they start and stop, and the public port. It promises
// that it serves from local state before it asks anybody, that it goes on serving whatever is away, and that a
// stop loses no click: it stops accepting, finishes requests, ships what it can, and syncs the rest to disk, all
// within ten seconds. Where links come from and where clicks go is the caller's choice (Deps). Two edges can
// live in one process, each with a data folder of its own.
package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/edge/internal/listen"
	edgelockout "github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/edge/internal/proxy"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

// Config holds an edge's settings. The zero value of each field that isn't marked as required means its default.
type Config struct {
	// ListenAddr is the public address, such as ":8080". Port 0 takes any that is free. Required.
	ListenAddr string
	// BaseURL is where visitors reach this edge, such as https://sho.rt. Required.
	BaseURL string
	// DataDir holds the links as last seen and the clicks not yet delivered. It is made if it is missing, and is
	// for one edge at a time. Required.
	DataDir string

	// Name and Region are what the operator calls this edge and where it is: at most 64 letters, digits, dots, hyphens and
	// underlines each. They are reported to the control plane, stored with clicks and exported as a metric. Neither is an
	// identity: several edges may have the same.
	Name, Region string

	// TrustedProxies are addresses and CIDR prefixes, parted by commas, of proxies whose X-Forwarded-For counts.
	TrustedProxies string
	// AnonymizeIP is what of a visitor's address is left out of clicks before they are stored or sent anywhere: "off"
	// (default: nothing), "truncate" (an IPv4 address keeps 24 bits, an IPv6 address 48), "all" (no address is kept).
	AnonymizeIP string
	// GeoPath is one or more geo databases (.mmdb), parted by commas; "" means that places are unknown. It is not
	// read if Deps has a Geo.
	GeoPath string
	// RateLimit is how many requests for links a client (an IPv4 address, an IPv6 /64) may make in a minute at this edge;
	// 0 means no limit. FreeRedirects leaves visits that lead to a destination out of it.
	RateLimit     int
	FreeRedirects bool
	// VerifyLimit is how many passwords of links a client may have compared in a minute at this edge; 0 means no limit.
	VerifyLimit int
	// BrandName and BrandLogoURL are shown on pages for visitors. Defaults: Shortline, and no logo.
	BrandName, BrandLogoURL string
	// RoutingZone is the zone of time and day conditions that name none; nil means UTC.
	RoutingZone *time.Location
	// SnapshotKeys are public keys (Ed25519, base64), parted by commas, one of which must have signed whatever the source
	// says of links; "" means that nothing need be signed.
	SnapshotKeys string
	// AllowLoss lets a snapshot with far fewer links, or of an older revision, replace the present links.
	AllowLoss bool

	// SpoolSync says what a power cut may take: "interval" (default: what came since the last sync), "always"
	// (nothing, but redirects wait for the disk), "none" (what the system had not written back).
	SpoolSync string
	// SpoolSyncEvery is the time between syncs in the mode "interval"; 0 means 100 ms.
	SpoolSyncEvery time.Duration
	// SpoolCapBytes bounds the spool on disk; beyond it clicks are dropped and counted. 0 means 4 GiB.
	SpoolCapBytes int64
	// SpoolSegmentBytes is the size of the spool's files; 0 means 64 MiB. Each of the four lanes reserves two.
	SpoolSegmentBytes int64
	// ShipDelay is how long a click waits for company before it is shipped; 0 means 25 ms, negative not at all.
	ShipDelay time.Duration
}

// Validate reports every setting that makes no sense.
func (c Config) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.ListenAddr == "" {
		refuse("LISTEN_ADDR: is required")
	} else if _, _, err := net.SplitHostPort(c.ListenAddr); err != nil {
		refuse("LISTEN_ADDR: %w", err)
	}
	if _, err := link.ParseBaseURL(c.BaseURL); err != nil {
		problems = append(problems, err)
	}
	if c.DataDir == "" {
		refuse("DATA_DIR: is required")
	}
	if _, err := visitor.ParsePrefixes(c.TrustedProxies); err != nil {
		refuse("TRUSTED_PROXIES: %w", err)
	}
	if _, err := visitor.ParseAnonymize(c.AnonymizeIP); err != nil {
		refuse("ANONYMIZE_IP: %w", err)
	}
	if _, err := snapshot.ParseKeys(c.SnapshotKeys); err != nil {
		refuse("SNAPSHOT_PUBLIC_KEYS: %w", err)
	}
	if o := (click.Origin{Edge: c.Name}); !o.Valid() {
		refuse("EDGE_NAME: %q is not made of at most 64 letters, digits, dots, hyphens and underlines", c.Name)
	}
	if o := (click.Origin{Region: c.Region}); !o.Valid() {
		refuse("REGION: %q is not made of at most 64 letters, digits, dots, hyphens and underlines", c.Region)
	}
	if c.RateLimit < 0 {
		refuse("EDGE_RATE_LIMIT: must not be negative")
	}
	if c.VerifyLimit < 0 {
		refuse("EDGE_VERIFY_RATE_LIMIT: must not be negative")
	}
	if err := c.brand().Validate(); err != nil {
		refuse("BRAND_LOGO_URL: %w", err)
	}
	if err := c.spool().Validate(); c.DataDir != "" && err != nil {
		problems = append(problems, err)
	}
	if err := (ship.Config{Linger: c.ShipDelay}).Validate(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (c Config) brand() redirect.Brand {
	return redirect.Brand{Name: c.BrandName, LogoURL: c.BrandLogoURL}
}

func (c Config) spool() spool.Config {
	return spool.Config{
		Dir: filepath.Join(c.DataDir, "spool"), Sync: spool.SyncMode(c.SpoolSync), SyncEvery: c.SpoolSyncEvery,
		CapBytes: c.SpoolCapBytes, SegmentBytes: c.SpoolSegmentBytes,
	}
}

// Deps are the capabilities that an edge uses. Links and Sink are required.
type Deps struct {
	// Links provides the links.
	Links snapshot.Source
	// Sink receives the clicks.
	Sink click.Sink
	// Reports receives the status of this edge. If it is nil, the edge does not report, so it gets no orders to repair
	// clicks and does not notice another edge with its id.
	Reports snapshot.Reporter
	// Lockout shares failed link passwords with other edges. If it is nil, this edge counts for itself.
	Lockout lockout.Exchange
	// ClockAhead returns by how much this machine's clock is ahead of the control plane's, and whether that is known. It
	// is nil if both have one clock.
	ClockAhead func() (ahead time.Duration, known bool)
	// Upstream dials the control plane, if this edge is to pass its paths on (see UpstreamPaths); nil means that
	// the edge answers links only.
	Upstream func(context.Context) (net.Conn, error)
	// UpstreamToken goes with every request that is passed on, so that the control plane believes the visitor's address
	// in it; "" sends none.
	UpstreamToken config.Secret
	// UpstreamPaths are the control plane's; nil means "/" alone and all of /api, /console, /login, /admin and
	// /static.
	UpstreamPaths []string
	// Geo is a database that the caller keeps up to date; nil means that the edge opens and watches GeoPath.
	Geo *visitor.Geo
	// Tracer makes spans for requests that are passed on and for one in sixteen of the others; nil means none.
	Tracer trace.Tracer
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Registry takes the edge's metrics; nil means that they are not registered.
	Registry prometheus.Registerer
}

// Edge is one edge. Its methods may be called by any number of goroutines, but Run only once.
type Edge struct {
	cfg      Config
	log      *slog.Logger
	registry prometheus.Registerer
	ahead    func() (time.Duration, bool) // nil if the control plane has the same clock

	geo      *visitor.Geo
	ownGeo   bool
	table    *table.Table
	spool    *spool.Spool
	agent    *agent.Agent
	lockout  *edgelockout.Table
	ship     *ship.Shipper
	proxy    *proxy.Proxy // nil without an upstream
	redirect *redirect.Handler
	server   *fasthttp.Server
	listener *listen.Listener
	parts    service.Group
}

// New opens everything that an edge needs, from its data folder to its port, and reads its local state. It
// accepts connections only when Run is called, which must follow, or Close. The error of a bad configuration
// names every problem.
func New(cfg Config, deps Deps) (_ *Edge, err error) {
	if err := errors.Join(cfg.Validate(), deps.validate()); err != nil {
		return nil, err
	}
	e := &Edge{cfg: cfg, log: cmp.Or(deps.Logger, slog.Default()), registry: deps.Registry, ahead: deps.ClockAhead, geo: deps.Geo}
	defer func() {
		if err != nil {
			e.release()
		}
	}()
	trusted, err := visitor.ParsePrefixes(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	if e.geo == nil {
		e.ownGeo = true
		if e.geo, err = visitor.OpenGeo(cfg.GeoPath); err != nil {
			return nil, err
		}
	}
	if e.table, err = table.New(table.Config{Zone: cfg.RoutingZone}); err != nil {
		return nil, err
	}
	spoolCfg := cfg.spool()
	spoolCfg.Logger = e.log
	if e.spool, err = spool.Open(spoolCfg); err != nil {
		return nil, err
	}
	if e.ship, err = ship.New(ship.Config{Linger: cfg.ShipDelay, Origin: click.Origin{Edge: cfg.Name, Region: cfg.Region}, Logger: e.log}, e.spool, deps.Sink); err != nil {
		return nil, err
	}
	keys, err := snapshot.ParseKeys(cfg.SnapshotKeys)
	if err != nil {
		return nil, err
	}
	if e.agent, err = agent.New(agent.Config{
		Dir: filepath.Join(cfg.DataDir, "links"), Source: deps.Links, Reports: deps.Reports, Table: e.table, Logger: e.log,
		Edge: fmt.Sprintf("%016x", e.spool.Edge()), Version: ops.Version, Fill: e.fill, AllowLoss: cfg.AllowLoss, Keys: keys,
		Twin: e.ship.Hold, Repair: e.ship.Repair,
	}); err != nil {
		return nil, err
	}
	e.lockout = edgelockout.New(edgelockout.Config{Exchange: deps.Lockout, Edge: fmt.Sprintf("%016x", e.spool.Edge()), Logger: e.log})
	parts := redirect.Deps{
		Table: e.table, Spool: e.spool, Lockout: e.lockout, Agents: visitor.NewAgents(visitor.DefaultAgents), Geo: e.geo,
		Ready: e.agent.Ready, Tracer: deps.Tracer, Logger: e.log,
	}
	if deps.Upstream != nil {
		if e.proxy, err = newProxy(cfg, deps, e.log); err != nil {
			return nil, err
		}
		parts.Upstream = e.proxy
	}
	anonymize, err := visitor.ParseAnonymize(cfg.AnonymizeIP)
	if err != nil {
		return nil, err
	}
	if e.redirect, err = redirect.New(redirect.Config{
		Anonymize: anonymize,
		BaseURL:   cfg.BaseURL, Brand: cfg.brand(), Trusted: trusted, RateLimit: cfg.RateLimit, FreeRedirects: cfg.FreeRedirects,
		VerifyLimit: cfg.VerifyLimit,
	}, parts); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", cfg.ListenAddr)
	if err != nil {
		return nil, fmt.Errorf("open the public port: %w", err)
	}
	e.listener = listen.New(ln, redirect.Timeouts)
	e.server = redirect.NewServer(e.redirect, e.listener)
	if e.registry != nil {
		if err := e.registry.Register(collector{e}); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return e, nil
}

func (d Deps) validate() error {
	var problems []error
	if d.Links == nil {
		problems = append(problems, errors.New("edge: a source of links is required"))
	}
	if d.Sink == nil {
		problems = append(problems, errors.New("edge: a sink for clicks is required"))
	}
	return errors.Join(problems...)
}

// newProxy makes what passes the API on to the control plane.
func newProxy(cfg Config, deps Deps, log *slog.Logger) (*proxy.Proxy, error) {
	base, err := link.ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	return proxy.New(proxy.Config{
		Dial: deps.Upstream, Token: deps.UpstreamToken, Paths: deps.UpstreamPaths, Scheme: base.Scheme, Host: base.Host, Tracer: deps.Tracer, Logger: log,
	})
}

// fill completes what the agent reports to the control plane.
func (e *Edge) fill(s *snapshot.Status) {
	s.Address, s.Name, s.Region = e.reachedAt(), e.cfg.Name, e.cfg.Region
	st := e.spool.Stats()
	s.Spool.Bytes, s.Spool.Pending, s.Spool.Dropped = st.Bytes, st.Pending, st.Dropped
	s.Spool.OldestMs = e.ship.Stats().Oldest.Milliseconds()
}

// reachedAt is where operators find this edge: behind one base URL there may be many, so where it listens on every
// address it is the machine's name and the port.
func (e *Edge) reachedAt() string {
	at := e.Addr()
	host := at.Addr().String()
	if at.Addr().IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, fmt.Sprint(at.Port()))
}

// How the ten seconds of a stop are divided.
const (
	finishWithin = 4 * time.Second // for requests under way; streams of the upstream are cut after half of it
	shipWithin   = 3 * time.Second // for clicks that are still in the spool; the rest is shipped at the next start
	stopWithin   = 9 * time.Second
)

// Run serves until ctx ends, then stops in good order and returns nil. Any other return means that the edge
// could not go on. Either way everything that New opened is closed.
func (e *Edge) Run(ctx context.Context) error {
	g := &e.parts
	g.Logger, g.StopTimeout = e.log, stopWithin
	if e.ownGeo {
		g.Add("geo", service.Func(func(ctx context.Context) error { return e.geo.Run(ctx, e.log) }))
	}
	g.Add("spool", e.spool)
	g.Add("ship", service.Func(e.shipAll))
	g.AddReady("agent", e.agent, e.agent.Begun()) // visitors are answered only if the folder is not another process's
	g.Add("lockout", e.lockout)
	g.Add("deadlines", e.listener)
	g.Add("server", service.Func(e.serve))
	return errors.Join(g.Run(ctx), e.release())
}

// shipAll ships until ctx ends and then what is left, as far as the sink takes it in time.
func (e *Edge) shipAll(ctx context.Context) error {
	if err := e.ship.Run(ctx); err != nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipWithin)
	defer cancel()
	if err := e.ship.Drain(last); err != nil {
		e.log.Info("clicks stay in the spool until the next start", "pending", e.spool.Stats().Pending)
	}
	return nil
}

// serve answers visitors until ctx ends.
func (e *Edge) serve(ctx context.Context) error {
	e.log.Info("edge serves", "addr", e.Addr(), "base_url", e.cfg.BaseURL, "links", e.table.Len(), "ready", e.Ready(), "geo", e.geo.Version())
	failed := make(chan error, 1)
	go func() { failed <- e.server.Serve(e.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve visitors: %w", err)
	case <-ctx.Done():
	}
	if e.proxy != nil {
		cut := time.AfterFunc(finishWithin/2, e.proxy.Close)
		defer cut.Stop()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	if err := e.server.ShutdownWithContext(last); err != nil {
		e.log.Warn("some requests were cut off", "connections", e.listener.Open(), "error", err)
	}
	<-failed
	return nil
}

// Started is closed when Run has started every part and visitors are answered. Whether there are links to answer from is
// Ready's matter.
func (e *Edge) Started() <-chan struct{} { return e.parts.Ready() }

// Close releases what New opened, for an edge that is not run after all.
func (e *Edge) Close() error { return e.release() }

func (e *Edge) release() error {
	var problems []error
	if e.registry != nil {
		e.registry.Unregister(collector{e})
	}
	if e.listener != nil {
		if err := e.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	if e.proxy != nil {
		e.proxy.Close()
	}
	if e.agent != nil {
		problems = append(problems, e.agent.Close())
	}
	if e.spool != nil {
		problems = append(problems, e.spool.Close())
	}
	if e.table != nil {
		e.table.Close()
	}
	return errors.Join(problems...)
}

// Addr is the address that the edge listens on.
func (e *Edge) Addr() netip.AddrPort {
	if a, ok := e.listener.Addr().(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// Delivered waits until the sink has acknowledged every click that was counted before the call. It returns ctx's error if
// that ends first.
func (e *Edge) Delivered(ctx context.Context) error { return e.spool.Delivered(ctx) }

// Ready reports whether the edge has links to answer from.
func (e *Edge) Ready() bool { return e.agent.Ready() }

// Applied is the position, in the control plane's log of changes, of the links that are served.
func (e *Edge) Applied() snapshot.Cursor { return e.agent.Applied() }

// Reship offers clicks of one lane to the sink again, from one number to another (both included), as far as the
// spool still has them, and returns how many numbers that is. It may be called while the edge runs.
func (e *Edge) Reship(lane click.Lane, from, to uint64) (uint64, error) {
	return e.spool.Reship(lane, from, to)
}

// Stats is a moment's account of an edge and its parts.
type Stats struct {
	Ready       bool
	Links       int
	LinkBytes   int64
	SetAside    int // links whose rules could not be used
	Connections int
	Shed        uint64 // connections that were ended because too many were open
	Applied     snapshot.Cursor
	Redirect    redirect.Stats
	Proxy       proxy.Stats
	Spool       spool.Stats
	Ship        ship.Stats
	Agent       agent.Stats
	Lockout     edgelockout.Stats
	ClockAhead  time.Duration // of the control plane's, about; 0 if that is not known
}

// Stats returns the account.
func (e *Edge) Stats() Stats {
	_, aside := e.table.SetAside()
	s := Stats{
		Ready: e.Ready(), Links: e.table.Len(), LinkBytes: e.table.Bytes(), SetAside: aside, Connections: e.listener.Open(), Shed: e.listener.Shed(),
		Applied: e.Applied(), Redirect: e.redirect.Stats(), Spool: e.spool.Stats(), Ship: e.ship.Stats(), Agent: e.agent.Stats(), Lockout: e.lockout.Stats(),
	}
	if e.proxy != nil {
		s.Proxy = e.proxy.Stats()
	}
	if e.ahead != nil {
		s.ClockAhead, _ = e.ahead()
	}
	return s
}

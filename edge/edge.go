// Package edge is the data plane: one Edge answers visitors, keeps its links up to date, and ships its clicks.
//
// The package joins the parts of an edge, starts and stops them in order, and owns the public port. An edge serves from
// local state before it connects to anything, and continues to serve while the control plane or Kafka is down. A stop
// loses no click: the edge stops accepting connections, finishes requests, ships what it can, and syncs the rest to disk,
// all within ten seconds. The caller chooses the sources and sinks (Deps). Several edges can run in one process, each with
// its own data folder.
package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/edge/internal/conversions"
	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/latency"
	"github.com/shortline/shortline/edge/internal/listen"
	edgelockout "github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/edge/internal/proxy"
	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/edge/internal/ratelimit"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

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
	// Limits shares the clicks of links with a limit with other edges. If it is nil, this edge counts for itself.
	Limits limit.Exchange
	// Hosts provides the host names of custom domains. If it is nil, this edge serves none.
	Hosts snapshot.HostSource
	// ConversionSink receives the conversions that browsers send, and those of AppendConversions, as events with Conversion
	// set. It may get a conversion twice. If it is nil, this edge takes no conversions.
	ConversionSink click.Sink
	// Abuse takes visitors' reports of links. If it is nil, there is no form for them.
	Abuse abuse.ReportSink
	// ClockAhead returns by how much this machine's clock is ahead of the control plane's, and whether that is known. It
	// is nil if both have one clock.
	ClockAhead func() (ahead time.Duration, known bool)
	// Upstream dials the control plane, to which the edge forwards requests for its paths. If it is nil, the edge
	// answers links only.
	Upstream func(context.Context) (net.Conn, error)
	// UpstreamToken is sent with every forwarded request, so that the control plane trusts the visitor's address in it;
	// "" sends none.
	UpstreamToken config.Secret
	// Watched reports whether somebody looks at clicks, as in a report or a live feed. While nobody does, clicks and conversions
	// wait longer for others before they are shipped. If it is nil, somebody always looks.
	Watched func() bool
	// Geo is a database that the caller keeps up to date. If it is nil, the edge opens and watches Config.GeoPath.
	Geo *visitor.Geo
	// Tracer creates spans for forwarded requests and for one in sixteen of the others; nil disables tracing.
	Tracer trace.Tracer
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Registry receives the edge's metrics; nil means that they are not registered.
	Registry prometheus.Registerer
}

// Edge is one edge. It is safe for concurrent use. Run may be called once.
type Edge struct {
	cfg      Config
	log      *slog.Logger
	registry prometheus.Registerer
	ahead    func() (time.Duration, bool) // nil if the control plane has the same clock

	geo         *visitor.Geo
	ownGeo      bool
	table       *table.Table
	missing     *missing.Table // slugs that do not exist
	spool       *spool.Spool
	agent       *agent.Agent
	lockout     *edgelockout.Table
	quota       *quota.Table
	hosts       *hosts.Table // nil without a source
	ship        *ship.Shipper
	conversions *conversions.Pipeline // nil without a sink for conversions
	proxy       *proxy.Proxy          // nil without an upstream
	redirect    *redirect.Handler
	recent      latency.Recent
	server      *fasthttp.Server
	listener    *listen.Listener
	reserve     []byte // with TLS only: see there
	parts       service.Group
	draining    atomic.Bool
}

// New opens everything that an edge needs, including its data folder and its port, and reads its local state. The caller
// must call Run, which accepts connections, or Close. The error of an invalid configuration names all problems.
func New(cfg Config, deps Deps) (_ *Edge, err error) {
	if err := errors.Join(cfg.Validate(), deps.validate(cfg)); err != nil {
		return nil, err
	}
	e := &Edge{cfg: cfg, log: cmp.Or(deps.Logger, slog.Default()), registry: deps.Registry, ahead: deps.ClockAhead, geo: deps.Geo}
	defer func() {
		if err != nil {
			e.release()
		}
	}()
	if e.geo == nil {
		e.ownGeo = true
		if e.geo, err = visitor.OpenGeo(cfg.GeoPath); err != nil {
			return nil, err
		}
	}
	if e.table, err = table.New(table.Config{Zone: cfg.RoutingZone, PlanBytes: cfg.RuleCacheBytes}); err != nil {
		return nil, err
	}
	e.missing = missing.New(missing.Config{})
	spoolCfg := cfg.spool()
	spoolCfg.Logger = e.log
	if e.spool, err = spool.Open(spoolCfg); err != nil {
		return nil, err
	}
	pace := ship.Config{Linger: cfg.ShipDelay, Watched: deps.Watched, Origin: cfg.origin(), Logger: e.log}
	if e.ship, err = ship.New(pace, e.spool, deps.Sink); err != nil {
		return nil, err
	}
	if deps.ConversionSink != nil {
		if e.conversions, err = conversions.Open(cfg.conversions(e.log, deps.Watched), deps.ConversionSink); err != nil {
			return nil, err
		}
	}
	keys, err := snapshot.ParseKeys(cfg.SnapshotKeys)
	if err != nil {
		return nil, err
	}
	if e.agent, err = agent.New(agent.Config{
		Dir: filepath.Join(cfg.DataDir, "links"), Source: deps.Links, Reports: deps.Reports, Table: e.table, Logger: e.log,
		Edge: fmt.Sprintf("%016x", e.spool.Edge()), Version: ops.Version, Fill: e.fill, Keys: keys,
		Twin: e.ship.Hold, Repair: e.ship.Repair, Missing: e.missing,
	}); err != nil {
		return nil, err
	}
	e.lockout = edgelockout.New(edgelockout.Config{Exchange: deps.Lockout, Edge: fmt.Sprintf("%016x", e.spool.Edge()), Logger: e.log})
	if e.quota, err = quota.Open(quota.Config{
		Dir: filepath.Join(cfg.DataDir, "limits"), Exchange: deps.Limits, Edge: fmt.Sprintf("%016x", e.spool.Edge()),
		Limited: e.table.Limited,
		Logger:  e.log,
	}); err != nil {
		return nil, err
	}
	if err := e.openRedirect(cfg, deps, keys); err != nil {
		return nil, err
	}
	if err := e.listen(); err != nil {
		return nil, err
	}
	if e.registry != nil {
		if err := e.registry.Register(collector{e}); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return e, nil
}

// reserve is the size of an allocation that is never used. The garbage collector starts when the heap has doubled, and the heap
// of an edge is small, because links are not part of it. A handshake allocates some 60 KiB, so without the reserve, a
// collection would start every hundred handshakes. The system provides no memory for pages that nobody writes. Instead,
// up to this much more garbage lies in memory at a time.
const reserve = 32 << 20

// listen opens the public ports.
func (e *Edge) listen() error {
	ln, more, err := openShared("LISTEN_ADDR", e.cfg.ListenAddr)
	if err != nil {
		return err
	}
	e.listener = listen.New(ln, redirect.Timeouts)
	e.listener.Share(more)
	e.server = redirect.NewServer(e.redirect, e.listener)
	trusted, err := visitor.ParsePrefixes(e.cfg.TrustedProxies)
	if err != nil {
		return err
	}
	if e.cfg.ProxyProtocol {
		e.listener.Proxied(trusted.Contains)
	}
	if e.cfg.TLSAddr == "" {
		return nil
	}
	base, err := url.Parse(e.cfg.BaseURL)
	if err != nil {
		return err
	}
	certificates, err := e.hosts.Certificates(strings.ToLower(base.Hostname()), e.cfg.CertificateKeys...)
	if err != nil {
		return err
	}
	// Deadlines find clients that have disappeared. Keepalive probes would cost four system calls for each connection.
	if ln, err = openPort("TLS_ADDR", e.cfg.TLSAddr, net.ListenConfig{KeepAlive: -1}); err != nil {
		return err
	}
	e.reserve = make([]byte, reserve)
	t := listen.TLS{Config: certificates.Config(), Hello: certificates.Hello}
	if limit := ratelimit.New(e.cfg.TLSLimit); limit != nil {
		t.Admit = func(addr netip.Addr) bool { return trusted.Contains(addr) || limit.Take(addr, time.Now()) == 0 }
	}
	e.listener.Secure(ln, t)
	return nil
}

// openRedirect makes the handler of visits, and the proxy for all other requests, from the parts that New has opened.
func (e *Edge) openRedirect(cfg Config, deps Deps, keys snapshot.Keys) error {
	if deps.Hosts != nil {
		table, err := hosts.Open(hosts.Config{Dir: filepath.Join(cfg.DataDir, "hosts"), Source: deps.Hosts, Keys: keys, Logger: e.log})
		if err != nil {
			return err
		}
		e.hosts = table
	}
	parts := redirect.Deps{
		Table: e.table, Spool: e.spool, Lockout: e.lockout, Quota: e.quota, Hosts: e.hosts,
		Agents: visitor.NewAgents(visitor.DefaultAgents),
		Geo:    e.geo,
		Ready:  e.Ready, Unready: e.Unready, Missing: e.missing, Reports: deps.Abuse, Tracer: deps.Tracer, Logger: e.log,
	}
	if e.conversions != nil {
		parts.Conversions = e.conversions
	}
	if deps.Upstream != nil {
		proxy, err := newProxy(cfg, deps, e.log)
		if err != nil {
			return err
		}
		e.proxy = proxy
		parts.Upstream = e.proxy
	}
	trusted, err := visitor.ParsePrefixes(cfg.TrustedProxies)
	if err != nil {
		return err
	}
	anonymize, err := visitor.ParseAnonymize(cfg.AnonymizeIP)
	if err != nil {
		return err
	}
	source, err := visitor.ParseSource(cfg.ClientIPHeader)
	if err != nil {
		return err
	}
	e.redirect, err = redirect.New(redirect.Config{
		ClientIPHeader: source,
		Anonymize:      anonymize, HonorDNT: cfg.HonorDNT,
		StrictHosts: cfg.StrictHosts, ConsoleURL: cfg.ConsoleURL, HSTS: cfg.HSTS, TLS: cfg.TLSAddr != "",
		BaseURL: cfg.BaseURL, Brand: cfg.brand(), Trusted: trusted, RateLimit: cfg.RateLimit, FreeRedirects: cfg.FreeRedirects,
		VerifyLimit:     cfg.VerifyLimit,
		MaxConnections:  cfg.MaxConnections,
		ConversionLimit: cfg.ConversionLimit, ConversionKeyLimit: cfg.ConversionKeyLimit,
	}, parts)
	return err
}

func (d Deps) validate(cfg Config) error {
	var problems []error
	if d.Links == nil {
		problems = append(problems, errors.New("edge: Deps.Links is required"))
	}
	if d.Sink == nil {
		problems = append(problems, errors.New("edge: Deps.Sink is required"))
	}
	if cfg.TLSAddr != "" && d.Hosts == nil {
		problems = append(problems, errors.New("edge: Deps.Hosts is required by TLS_ADDR"))
	}
	if cfg.TLSAddr != "" && len(cfg.CertificateKeys) == 0 {
		problems = append(problems, errors.New("CERTIFICATE_KEY: is required by TLS_ADDR"))
	}
	return errors.Join(problems...)
}

// newProxy returns the proxy that forwards API and console requests to the control plane.
func newProxy(cfg Config, deps Deps, log *slog.Logger) (*proxy.Proxy, error) {
	base, err := link.ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	return proxy.New(proxy.Config{
		Dial: deps.Upstream, Token: deps.UpstreamToken, Scheme: base.Scheme, Host: base.Host,
		Tracer: deps.Tracer,
		Logger: log,
	})
}

// fill adds to a report what the agent does not know.
func (e *Edge) fill(s *snapshot.Status) {
	s.Address, s.Name, s.Region = e.ownAddress(), e.cfg.Name, e.cfg.Region
	st := e.spool.Stats()
	s.Spool.Bytes, s.Spool.Pending, s.Spool.Dropped = st.Bytes, st.Pending, st.Dropped
	s.Spool.OldestMs = e.ship.Stats().Oldest.Milliseconds()
	if q := e.recent.Quantiles(e.redirect.Latencies()[latency.Redirect], time.Now()); q.Samples > 0 {
		s.Latency = &snapshot.Latency{P50: q.P50.Microseconds(), P99: q.P99.Microseconds(), Samples: q.Samples}
	}
}

// Timeouts of a stop, which takes at most ten seconds.
const (
	finishTimeout = 4 * time.Second // for requests in progress; streams from the control plane are cut after half of it
	shipTimeout   = 3 * time.Second // for clicks in the spool; the next start ships the rest
	stopTimeout   = 9 * time.Second
)

// Run serves until ctx ends, then stops and returns nil. An error means that the edge could not continue. In both cases
// Run closes everything that New opened.
func (e *Edge) Run(ctx context.Context) error {
	g := &e.parts
	g.Logger, g.StopTimeout = e.log, stopTimeout
	if e.ownGeo {
		g.Add("geo", service.Func(func(ctx context.Context) error { return e.geo.Run(ctx, e.log) }))
	}
	g.Add("spool", e.spool)
	g.Add("ship", service.Func(e.shipAll))
	if e.conversions != nil {
		g.Add("conversions", e.conversions)
	}
	g.AddReady("agent", e.agent, e.agent.Begun()) // the server starts only after the agent has locked the data folder
	g.Add("lockout", e.lockout)
	g.Add("limits", e.quota)
	if e.hosts != nil {
		g.Add("hosts", e.hosts)
	}
	g.Add("deadlines", e.listener)
	g.AddReady("server", service.Func(e.serve), e.listener.Accepts())
	return errors.Join(g.Run(ctx), e.release())
}

// shipAll ships clicks until ctx ends, then ships the remaining ones for up to shipTimeout.
func (e *Edge) shipAll(ctx context.Context) error {
	if err := e.ship.Run(ctx); err != nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipTimeout)
	defer cancel()
	if err := e.ship.Drain(last); err != nil {
		e.log.Info("clicks left in the spool", "pending", e.spool.Stats().Pending)
	}
	return nil
}

// serve answers visitors until ctx ends.
func (e *Edge) serve(ctx context.Context) error {
	e.log.Info("edge serves", "addr", e.Addr(), "base_url", e.cfg.BaseURL, "links", e.table.Len(), "ready", e.Ready(), "geo",
		e.geo.Version())
	failed := make(chan error, 1)
	go func() { failed <- e.server.Serve(e.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve visitors: %w", err)
	case <-ctx.Done():
	}
	if e.proxy != nil {
		cut := time.AfterFunc(finishTimeout/2, e.proxy.Close)
		defer cut.Stop()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := e.server.ShutdownWithContext(last); err != nil {
		e.log.Warn("requests cut off by shutdown", "connections", e.listener.Open(), "error", err)
	}
	// Shutdown closes only the listener of a server that has begun to serve. Without this, a stop during the start would
	// wait for the server forever.
	_ = e.listener.Close()
	<-failed
	return nil
}

// Started returns a channel that is closed when Run has started every part and accepts connections. Ready reports whether
// there are links.
func (e *Edge) Started() <-chan struct{} { return e.parts.Ready() }

// Close releases everything that New opened, for an edge that is not run.
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
	if e.conversions != nil {
		problems = append(problems, e.conversions.Close())
	}
	if e.hosts != nil {
		problems = append(problems, e.hosts.Close())
	}
	if e.quota != nil {
		problems = append(problems, e.quota.Close())
	}
	if e.table != nil {
		e.table.Close()
	}
	return errors.Join(problems...)
}

// Addr returns the address that the edge listens on.
func (e *Edge) Addr() netip.AddrPort {
	if a, ok := e.listener.Addr().(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// SecureAddr returns the address for TLS that the edge listens on, or the zero value if there is none.
func (e *Edge) SecureAddr() netip.AddrPort {
	if a, ok := e.listener.SecureAddr().(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// Hosts returns the number of host names that the edge knows.
func (e *Edge) Hosts() int {
	if e.hosts == nil {
		return 0
	}
	return e.hosts.Len()
}

// Delivered waits until the sink has acknowledged every click that was recorded before the call. It returns ctx's error
// if ctx ends first.
func (e *Edge) Delivered(ctx context.Context) error { return e.spool.Delivered(ctx) }

// ErrConversionsFull means that the spool of conversions has no space.
var ErrConversionsFull = conversions.ErrFull

// AppendConversions stores accepted conversions in this edge's spool, from where they go to Deps.ConversionSink. When it
// returns nil, they are as durable as clicks. The error is ErrConversionsFull; a part of the list may be stored then, and
// the caller may send the whole list again, because the click store counts each conversion once. It must not be called
// without a ConversionSink.
func (e *Edge) AppendConversions(list []conversion.Conversion) error {
	return e.conversions.Append(list)
}

// ConversionsDelivered is Delivered for conversions.
func (e *Edge) ConversionsDelivered(ctx context.Context) error {
	if e.conversions == nil {
		return nil
	}
	return e.conversions.Delivered(ctx)
}

// Applied returns the position of the served links in the control plane's log of changes.
func (e *Edge) Applied() snapshot.Cursor { return e.agent.Applied() }

// Reship ships clicks of one lane again, as far as the spool still holds them. from and to are sequence numbers, both
// included. It returns how many sequence numbers it ships. It may be called while the edge runs.
func (e *Edge) Reship(lane click.Lane, from, to uint64) (uint64, error) {
	return e.spool.Reship(lane, from, to)
}

package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/traced"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/reconcile"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/console"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/fleet/hosts"
	"github.com/shortline/shortline/control/internal/fleet/limits"
	"github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/conversions"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/linkhealth"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/tracing"
)

// parts makes the parts that Standalone and Fleet have in common, and collects the services among them in the order in
// which they start.
type parts struct {
	cfg      Config
	deps     Deps
	traces   trace.TracerProvider
	compute  *work.Queue             // slots for computations that users order
	enrich   func() *ingest.Enricher // made at the first call, shared by the roles that read clicks
	screen   func() *screening.Service
	abuse    func() *abuse.Service
	mail     func() (*mail.Service, error)
	watch    func() error // registers the metrics about all experiments
	services []named
	closers  []func()
}

type named struct {
	name string
	part service.Service
}

func newParts(cfg Config, deps Deps) (*parts, error) {
	traces, err := tracing.New(tracing.Config{Settings: cfg.Tracing, Name: "shortline-control", Version: ops.Version,
		Registry: deps.Registry,
		Logger:   deps.Logger})
	if err != nil {
		return nil, err
	}
	p := &parts{cfg: cfg, deps: deps, traces: traces.TracerProvider, compute: work.NewComputing(5 * time.Second)}
	p.enrich = sync.OnceValue(func() *ingest.Enricher { return ingest.NewEnricher(deps.Geo) })
	p.watch = sync.OnceValue(func() error { return p.register("experiments", experiments.Overview{Store: deps.Store}) })
	p.screen = sync.OnceValue(func() *screening.Service {
		return screening.New(screening.Config{Settings: cfg.Screening, Logger: deps.Logger})
	})
	p.abuse = sync.OnceValue(func() *abuse.Service {
		return abuse.New(abuse.Config{Screening: p.screen(), Logger: deps.Logger}, deps.Store)
	})
	p.mail = sync.OnceValues(p.newMail)
	p.addService("traces", traces)
	p.addService("store", deps.Store)
	return p, p.register("the database", deps.Store)
}

// AddTo adds the services to a group.
func (p *parts) AddTo(g *service.Group) {
	for _, s := range p.services {
		g.Add(s.name, s.part)
	}
}

// Close releases what the services leave. Call it after the group has ended, or if it never ran.
func (p *parts) Close() {
	for _, f := range p.closers {
		f()
	}
}

// addService adds a service, and the metrics of its jobs.
func (p *parts) addService(name string, s service.Service) { p.addOnceOpen(nil, name, s) }

// addOnceOpen adds a service that runs once the channel is closed. A nil channel means that it need not wait.
func (p *parts) addOnceOpen(opened <-chan struct{}, name string, s service.Service) {
	if g, ok := s.(interface{ JobMetrics() metric.Set }); ok {
		p.deps.Registry.MustRegister(g.JobMetrics()) // two jobs of one name would be a bug
	}
	if opened != nil {
		part := s
		s = service.Func(func(ctx context.Context) error {
			select {
			case <-opened:
				return part.Run(ctx)
			case <-ctx.Done():
				return nil
			}
		})
	}
	p.services = append(p.services, named{name, s})
}

func (p *parts) register(of string, metrics ...prometheus.Collector) error {
	for _, m := range metrics {
		if err := p.deps.Registry.Register(m); err != nil {
			return fmt.Errorf("register the metrics of %s: %w", of, err)
		}
	}
	return nil
}

func (p *parts) webhooks() (*webhooks.Service, error) {
	notices, err := p.mail()
	if err != nil {
		return nil, err
	}
	hooks, err := webhooks.New(webhooks.Config{
		Settings: p.cfg.Webhooks, EncryptionKeys: p.cfg.EncryptionKey.Keys(), Registry: p.deps.Registry, Logger: p.deps.Logger,
	}, p.deps.Store)
	if err != nil {
		return nil, err
	}
	hooks.Mail(notices, cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL))
	return hooks, nil
}

// positions follows how far edges have applied changes: publishing learns it, and the API waits for it. local is true if
// no other process publishes.
func (p *parts) positions(local bool) *presence.Positions {
	positions := presence.NewPositions(presence.PositionsConfig{Local: local, Logger: p.deps.Logger}, p.deps.Store)
	p.addService("edges' positions", positions)
	return positions
}

func (p *parts) publish(key snapshot.SigningKey, positions *presence.Positions) (*Publish, error) {
	publisher := publish.New(p.deps.Store, publish.Config{BaseURL: p.cfg.BaseURL, Dir: p.cfg.DataDir, Key: key, Logger: p.deps.Logger})
	reports := presence.New(presence.Config{Logger: p.deps.Logger, Positions: positions}, p.deps.Store)
	lockouts := lockout.New(lockout.Config{Logger: p.deps.Logger}, p.deps.Store)
	ledger := limits.New(limits.Config{Logger: p.deps.Logger}, p.deps.Store)
	names := hosts.New(p.deps.Store, hosts.Config{Key: key, Secrets: p.cfg.EncryptionKey.Keys(), Window: p.cfg.ConversionWindow,
		Logger: p.deps.Logger})
	p.addService("publish", publisher)
	p.addService("edges' reports", reports)
	p.addService("lockout", lockouts)
	p.addService("limits", ledger)
	p.addService("keys of click ids", names)
	return &Publish{Links: positions.Observe(publisher), Reports: reports, Lockout: lockouts, Limits: ledger, Hosts: names,
			Abuse: p.abuse()},
		p.register("publishing", publisher, reports, lockouts, ledger, names)
}

func (p *parts) ingest(cfg ingest.Config, clicks Clicks) (*Ingest, error) {
	store := traced.New(clicks.Store, p.traces)
	cfg.Logger = p.deps.Logger
	in := ingest.New(cfg, p.deps.Store, store, p.enrich())
	auditor := reconcile.New(reconcile.Config{Logger: p.deps.Logger}, p.deps.Store, store)
	p.addOnceOpen(clicks.Opened, "ingest", in)
	p.addOnceOpen(clicks.Opened, "audit of clicks", auditor)
	return &Ingest{Sink: in, ReloadMarks: in.ReloadMarks}, p.register("ingest", in, auditor)
}

// conversions makes the ingest of conversions.
func (p *parts) conversions(clicks Clicks, observer convert.Observer, stored []func([]analytics.Row)) (*convert.Ingester, error) {
	cfg := convert.IngestConfig{Observer: observer, Stored: stored, Logger: p.deps.Logger}
	in := convert.NewIngester(cfg, p.deps.Store, traced.New(clicks.Store, p.traces))
	p.addOnceOpen(clicks.Opened, "late clicks of conversions", in)
	return in, p.register("conversions", in)
}

// apiConfig is what differs between an API in a fleet and one in a standalone.
type apiConfig struct {
	cache report.CacheConfig
	feed  live.Config
	api   api.Config
	send  convert.QueueFunc // of conversions; nil: they are refused
}

// api makes the use cases and the server that offers them.
func (p *parts) api(ctx context.Context, cfg apiConfig, clicks analytics.Store, objects object.Store, hooks *webhooks.Service,
	positions *presence.Positions) (*API, error) {
	st, log := p.deps.Store, p.deps.Logger
	clicks = traced.New(clicks, p.traces)
	use := api.Deps{
		Store: st, Edges: positions, Webhooks: hooks,
		Settings: settings.New(st), Routing: routing.New(p.destinations(), st).Screening(p.screening()),
		Bundles: bundles.New(st, clicks, nil),
		Tags:    tags.New(st), UTMTemplates: utmtemplates.New(st), Views: views.New(st), ConversionSettings: conversions.New(st),
		Privacy: privacy.New(st, clicks),
		Abuse:   p.abuse(),
	}
	var err error
	if use.Domains, err = p.domains(); err != nil {
		return nil, err
	}
	admin, err := p.people(ctx, &use)
	if err != nil {
		return nil, err
	}
	p.abuse().Mail(use.Mail, p.cfg.BaseURL, cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL))
	p.addService("trash", use.Links)
	use.Imports = imports.New(imports.Config{Logger: log}, st, use.Links)
	p.addService("imports", use.Imports)
	p.addService("blocked destinations", p.screen())
	p.addService("check of destinations", p.abuse())
	health := linkhealth.New(linkhealth.Config{Settings: p.cfg.Health, BaseURL: p.cfg.BaseURL, Logger: log}, st)
	p.closers = append(p.closers, health.Close)
	p.addService("health of destinations", health)
	if err := p.register("abuse", p.screen(), p.abuse(), health); err != nil {
		return nil, err
	}
	use.Media = media.New(media.Config{Computing: p.compute, Logger: log}, st, use.Links, objects)
	p.addService("images", use.Media)
	if use.Pages, err = pages.New(p.cfg.Pages, use.Media.Thumbnail); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, use.Pages.Close)
	p.addService("icons of sites", use.Pages)
	if use.Explain, err = explain.New(explain.Config{BaseURL: p.cfg.BaseURL, Zone: p.cfg.Zone(), Links: use.Links, Routing: use.Routing},
		st, p.deps.Geo); err != nil {
		return nil, err
	}
	use.Explain = use.Explain.Replaying(clicks)
	cache, err := p.reports(&use, cfg.cache, clicks)
	if err != nil {
		return nil, err
	}
	use.Experiments = p.experiments(clicks)
	if err := p.watch(); err != nil {
		return nil, err
	}
	use.Archives = archive.New(archive.Config{Dir: p.cfg.DataDir, Logger: log}, st, clicks, archive.Uses{Links: use.Links,
		Routing: use.Routing,
		Bundles: use.Bundles, Tags: use.Tags, UTMTemplates: use.UTMTemplates, Domains: use.Domains, Webhooks: use.Webhooks})
	use.Conversions = convert.New(convert.Config{Queue: cfg.send, Secrets: p.cfg.EncryptionKey.Keys(), Window: p.cfg.ConversionWindow,
		Logger: log}, st, clicks)
	cfg.feed.Logger = log
	use.Live = live.New(cfg.feed, st, clicks)
	p.addService("live feed", use.Live)
	if err := p.register("reports", cache, use.Live, use.Conversions); err != nil {
		return nil, err
	}
	if err := p.alerts(&use, clicks); err != nil {
		return nil, err
	}
	if err := p.configure(&cfg.api); err != nil {
		return nil, err
	}
	var looked looks
	cfg.api.ReportAsked = looked.now
	server, err := api.New(cfg.api, use)
	if err != nil {
		return nil, err
	}
	return &API{
		Handler: console.Handler(p.cfg.BaseURL, server.Handler()), Admin: admin,
		Watched: func() bool { return use.Live.Watched() || looked.lately() },
		Stored:  []func([]analytics.Row){cache.Clicked, use.Live.Stored}, Converted: []func([]analytics.Row){cache.Clicked},
	}, nil
}

// configure sets what the settings of the process say about the API.
func (p *parts) configure(c *api.Config) (err error) {
	c.BaseURL, c.ConsoleURL, c.CORSOrigins, c.TrustedProxies = p.cfg.BaseURL, p.cfg.ConsoleURL, p.cfg.CORSOrigin, p.cfg.trusted()
	c.Limits, c.KeysAdminister, c.WithoutMCP, c.Version = p.cfg.Limits, p.cfg.KeysAdminister, !p.cfg.MCP, ops.Version
	c.LookUpTimeout = p.cfg.LookUpTimeout
	c.ClientIPHeader = p.cfg.clientIPHeader()
	c.Logger, c.Registry, c.Traces, c.Computing = p.deps.Logger, p.deps.Registry, p.traces, p.compute
	if c.Confirmations, err = seal.New("confirmation", p.cfg.EncryptionKey.Keys()...); err != nil {
		return err
	}
	c.Replies, err = seal.New("reply", p.cfg.EncryptionKey.Keys()...)
	return err
}

// domains makes the use case of custom domains.
func (p *parts) domains() (*domains.Service, error) {
	web := p.destinations()
	web.Schemes = nil // visitors without a link see a web page
	s, err := domains.FromSettings(&p.cfg.Domains, p.cfg.BaseURL, p.cfg.ConsoleURL, web, p.deps.Logger, p.deps.Store)
	if err != nil {
		return nil, err
	}
	if p.cfg.Certificates.Key != "" {
		box, err := certs.Box(p.cfg.Certificates.Key)
		if err != nil {
			return nil, err
		}
		s.Secure(box, p.cfg.Certificates.Enabled())
	}
	p.addService("check of domains", s)
	return s, nil
}

// destinations returns the rules for destinations, with the list of blocked hosts.
func (p *parts) destinations() link.Policy {
	policy := p.cfg.Destinations()
	policy.Blocked = p.screen().Blocks
	return policy
}

// screening returns what refuses loops over custom domains, and asks the check service if there is one.
func (p *parts) screening() links.Screen {
	if !p.screen().Asks() {
		return links.WithoutLoops(p.deps.Store, nil)
	}
	return links.WithoutLoops(p.deps.Store, p.screen().Screen)
}

func (p *parts) newMail() (*mail.Service, error) {
	m, err := mail.New(mail.Config{
		Settings: p.cfg.Mail, BaseURL: p.cfg.BaseURL, Brand: p.cfg.Brand, EncryptionKeys: p.cfg.EncryptionKey.Keys(),
		Registry: p.deps.Registry,
		Logger:   p.deps.Logger,
	}, p.deps.Store)
	if err == nil {
		p.addService("mail", m)
	}
	return m, err
}

// certs adds what orders certificates. Without CERTIFICATE_KEY it adds nothing. spread is how long an order waits until edges
// have its challenge; 0 means the default.
func (p *parts) certs(spread time.Duration) error {
	if p.cfg.Certificates.Key == "" {
		return nil
	}
	cfg := certs.Config{Settings: p.cfg.Certificates, Console: strings.TrimSuffix(cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL), "/"),
		Spread: spread, Logger: p.deps.Logger}
	if p.cfg.EncryptionKey != "" {
		m, err := p.mail()
		if err != nil {
			return err
		}
		cfg.Mail = m
	}
	cfg.Names, cfg.Refused = certificateNames(hostname.Policy{AllowPrivate: p.cfg.Domains.Private}, p.cfg.BaseURL, p.cfg.ConsoleURL)
	s, err := certs.New(cfg, p.deps.Store)
	if err != nil {
		return err
	}
	p.addService("certificates", s)
	return p.register("certificates", s)
}

// experiments makes the use cases of experiments, and their autopilot.
func (p *parts) experiments(clicks analytics.Conversions, sources ...string) *experiments.Service {
	behind := func(ctx context.Context) (string, error) { return ingest.OutOfDate(ctx, p.deps.Store, sources...) }
	return experiments.New(experiments.Config{Every: p.cfg.ExperimentEvery, Behind: behind, Logger: p.deps.Logger}, p.deps.Store, clicks)
}

// autopilot adds what checks experiments. It waits while a process must tell about one of the sources and does not.
func (p *parts) autopilot(clicks Clicks, sources ...string) error {
	s := p.experiments(traced.New(clicks.Store, p.traces), sources...)
	p.addOnceOpen(clicks.Opened, "experiments", s)
	if err := p.watch(); err != nil {
		return err
	}
	return p.register("experiments", s)
}

// people makes the use cases of users and their links. It creates the first administrator, and returns what to show of it.
func (p *parts) people(ctx context.Context, use *api.Deps) (first accounts.FirstAdmin, err error) {
	st, log, secrets := p.deps.Store, p.deps.Logger, p.cfg.EncryptionKey.Keys()
	passwords, err := auth.NewPasswords(0)
	if err != nil {
		return first, err
	}
	if use.Mail, err = p.mail(); err != nil {
		return first, err
	}
	console := cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL)
	if use.Auth, err = auth.NewAuthenticator(auth.Config{
		Secrets: p.cfg.JWTSecret.Keys(), Lifetime: p.cfg.JWTTTL, Idle: p.cfg.SessionIdle,
		NewDevice: accounts.NoticeOfDevices(use.Mail, console),
		Logger:    log,
	}, st, passwords); err != nil {
		return first, err
	}
	watcher := audit.NewWatcher(st, log, 0)
	p.addService("auth", use.Auth)
	p.addService("counts of failures", audit.CountWriter(st, log))
	p.addService("head of the audit log", watcher)
	if err := p.register("the audit log", watcher); err != nil {
		return first, err
	}
	if use.SSO, err = sso.New(sso.Config{Settings: p.cfg.SSO, BaseURL: p.cfg.BaseURL, EncryptionKeys: secrets, Logger: log}, st, use.Auth,
		use.Settings); err != nil {
		return first, err
	}
	if use.Accounts, err = accounts.New(accounts.Config{EncryptionKeys: secrets, PasswordSignInOff: use.SSO.PasswordsOff, Mail: use.Mail,
		Console: console}, st, use.Auth, passwords); err != nil {
		return first, err
	}
	if use.Passkeys, err = passkeys.New(passkeys.Config{
		BaseURL: p.cfg.BaseURL, ConsoleURL: p.cfg.ConsoleURL, Confirm: use.Accounts.Confirm, Off: use.SSO.PasswordsOff, Mail: use.Mail,
		Logger: log,
	}, st, use.Auth); err != nil {
		return first, err
	}
	use.Invitations = invitations.New(invitations.Config{
		Console: cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL), SignUpClosed: p.cfg.SignUp == "closed", PasswordSignInOff: use.SSO.PasswordsOff,
		Mail: use.Mail,
	}, st, use.Auth, use.Accounts)
	use.Workspaces = workspaces.New(st, p.cfg.MaxWorkspaces)
	use.Workspaces.Mail(use.Mail, console)
	use.Keys = keys.New(keys.Config{PerUser: p.cfg.MaxAPIKeys, MaxDays: p.cfg.MaxKeyDays}, st, passwords)
	use.Links = links.New(links.Config{
		BaseURL: p.cfg.BaseURL, Destinations: p.destinations(), Screen: p.screening(), Computing: p.compute,
		OwnSuggestions: !p.cfg.UTMSuggestionsShared, Logger: p.deps.Logger,
	}, st, passwords)
	if first, err = use.Accounts.EnsureAdmin(ctx, p.cfg.AdminEmail, p.cfg.AdminPassword.Reveal()); err != nil {
		return first, fmt.Errorf("create the first admin: %w", err)
	}
	if first.Ignored {
		log.Warn("admin password ignored, users exist", "setting", "ADMIN_PASSWORD", "email", p.cfg.AdminEmail, "remedy",
			"remove the setting; the commands reset-password and create-admin give access")
	}
	return first, nil
}

package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/traced"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/reconcile"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/fleet/hosts"
	"github.com/shortline/shortline/control/internal/fleet/limits"
	"github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/ops"
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
	p.watch = sync.OnceValue(func() error { return p.register("experiments", experiments.Overview(deps.Store)) })
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
	hooks.Mail(notices, p.cfg.console())
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
		p.register("publishing", publisher, reports)
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
	cfg := certs.Config{Settings: p.cfg.Certificates, Console: strings.TrimSuffix(p.cfg.console(), "/"),
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
	console := p.cfg.console()
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
		Console: p.cfg.console(), SignUpClosed: p.cfg.SignUp == "closed", PasswordSignInOff: use.SSO.PasswordsOff,
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

package app

import (
	"context"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/traced"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/console"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/annotations"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/conversions"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/linkhealth"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/segments"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/sharedreports"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/seal"
)

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
	if err := p.aroundLinks(&use, objects); err != nil {
		return nil, err
	}
	use.Explain = use.Explain.Replaying(clicks)
	cfg.cache.TTL = p.cfg.AnalyticsCacheTTL
	cache, err := report.NewCache(cfg.cache)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, cache.Close)
	if err := p.reports(&use, clicks, cache); err != nil {
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

// aroundLinks makes the use cases of what belongs to links: imports, checks of destinations, images, and explanations of visits.
func (p *parts) aroundLinks(use *api.Deps, objects object.Store) (err error) {
	st, log := p.deps.Store, p.deps.Logger
	p.abuse().Mail(use.Mail, p.cfg.BaseURL, p.cfg.console())
	p.addService("trash", use.Links)
	use.Imports = imports.New(imports.Config{Logger: log}, st, use.Links)
	p.addService("imports", use.Imports)
	p.addService("blocked destinations", p.screen())
	p.addService("check of destinations", p.abuse())
	health := linkhealth.New(linkhealth.Config{Settings: p.cfg.Health, BaseURL: p.cfg.BaseURL, Logger: log}, st)
	p.closers = append(p.closers, health.Close)
	p.addService("health of destinations", health)
	if err := p.register("abuse", p.screen(), p.abuse(), health); err != nil {
		return err
	}
	use.Media = media.New(media.Config{Computing: p.compute, Logger: log}, st, use.Links, objects)
	p.addService("images", use.Media)
	if use.Pages, err = pages.New(p.cfg.Pages, use.Media.Thumbnail); err != nil {
		return err
	}
	p.closers = append(p.closers, use.Pages.Close)
	p.addService("icons of sites", use.Pages)
	use.Explain, err = explain.New(explain.Config{BaseURL: p.cfg.BaseURL, Zone: p.cfg.Zone(), Links: use.Links, Routing: use.Routing},
		st, p.deps.Geo)
	return err
}

// reports makes the use cases of reports, and of what people keep of them or send to others.
func (p *parts) reports(use *api.Deps, clicks analytics.Store, cache *report.Cache) error {
	st := p.deps.Store
	base, err := link.ParseBaseURL(p.cfg.BaseURL)
	if err != nil {
		return err
	}
	use.Reports = report.New(st, clicks, nil).On(base.Hostname()).Caching(cache)
	use.Segments, use.Annotations = segments.New(st, use.Reports), annotations.New(st)
	use.MailReports = mailreports.New(mailreports.Config{BaseURL: p.cfg.BaseURL, Console: p.cfg.console(),
		EncryptionKeys: p.cfg.EncryptionKey.Keys(), MembersOnly: p.cfg.MailReports == "members",
		Mail: use.Mail, Reports: use.Reports}, st)
	p.addService("mail reports", use.MailReports)
	return p.sharedReports(use)
}

// alerts makes the use case of alerts.
func (p *parts) alerts(use *api.Deps, clicks analytics.Store) (err error) {
	if use.Alerts, err = alerts.New(alerts.Config{EncryptionKeys: p.cfg.EncryptionKey.Keys(), Mail: use.Mail,
		Console: p.cfg.console(), Logger: p.deps.Logger}, p.deps.Store, clicks); err != nil {
		return err
	}
	p.closers = append(p.closers, use.Alerts.Close)
	p.addService("alerts", use.Alerts)
	return p.register("alerts", use.Alerts)
}

// sharedReports makes the use case of shared reports. Their passwords have a queue of their own, so that guesses delay no sign-in.
func (p *parts) sharedReports(use *api.Deps) error {
	passwords, err := auth.NewPasswords(0)
	if err != nil {
		return err
	}
	use.Shared, err = sharedreports.New(sharedreports.Config{BaseURL: p.cfg.BaseURL, Every: p.cfg.SharedReportInterval,
		EncryptionKeys: p.cfg.EncryptionKey.Keys()}, p.deps.Store, use.Reports, passwords)
	use.SharedPage = console.SharedReport()
	return err
}

// configure sets what the settings of the process say about the API.
func (p *parts) configure(c *api.Config) (err error) {
	c.BaseURL, c.ConsoleURL, c.CORSOrigins, c.TrustedProxies = p.cfg.BaseURL, p.cfg.ConsoleURL, p.cfg.CORSOrigin, p.cfg.trusted()
	c.Limits, c.KeysAdminister, c.WithoutMCP = p.cfg.Limits, p.cfg.KeysAdminister, !p.cfg.MCP
	c.LookUpTimeout, c.Timeout = p.cfg.LookUpTimeout, p.cfg.RequestTimeout
	c.ClientIPHeader = p.cfg.clientIPHeader()
	c.Logger, c.Registry, c.Traces, c.Computing = p.deps.Logger, p.deps.Registry, p.traces, p.compute
	if c.Confirmations, err = seal.New("confirmation", p.cfg.EncryptionKey.Keys()...); err != nil {
		return err
	}
	c.Replies, err = seal.New("reply", p.cfg.EncryptionKey.Keys()...)
	return err
}

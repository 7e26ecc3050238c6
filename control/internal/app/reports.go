package app

import (
	"cmp"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/console"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/annotations"
	"github.com/shortline/shortline/control/internal/manage/segments"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/sharedreports"
	"github.com/shortline/shortline/shared/link"
)

// reports makes the use cases of reports, and returns their cache.
func (p *parts) reports(use *api.Deps, cfg report.CacheConfig, clicks analytics.Store) (*report.Cache, error) {
	st := p.deps.Store
	cfg.TTL = p.cfg.AnalyticsCacheTTL
	cache, err := report.NewCache(cfg)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, cache.Close)
	base, err := link.ParseBaseURL(p.cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	use.Reports = report.New(st, clicks, nil).On(base.Hostname()).Caching(cache)
	use.Segments, use.Annotations = segments.New(st, use.Reports), annotations.New(st)
	use.MailReports = mailreports.New(mailreports.Config{BaseURL: p.cfg.BaseURL, Console: cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL),
		EncryptionKeys: p.cfg.EncryptionKey.Keys(), MembersOnly: p.cfg.MailReports == "members",
		Mail: use.Mail, Reports: use.Reports}, st)
	p.addService("mail reports", use.MailReports)
	return cache, p.sharedReports(use)
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

// alerts makes the use case of alerts, which runs by itself.
func (p *parts) alerts(use *api.Deps, clicks analytics.Store) error {
	var err error
	if use.Alerts, err = alerts.New(alerts.Config{EncryptionKeys: p.cfg.EncryptionKey.Keys(), Mail: use.Mail,
		Console: cmp.Or(p.cfg.ConsoleURL, p.cfg.BaseURL), Logger: p.deps.Logger}, p.deps.Store, clicks); err != nil {
		return err
	}
	p.closers = append(p.closers, use.Alerts.Close)
	p.addService("alerts", use.Alerts)
	return p.register("alerts", use.Alerts)
}

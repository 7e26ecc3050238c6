package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
)

type settings struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080" help:"serves redirects, the API and the console"`
	cli.Port
	DataDir string `env:"DATA_DIR" envDefault:"./data" help:"holds everything, generated secrets included"`

	app.Settings

	EdgeName       string        `env:"EDGE_NAME" help:"what operators call this edge: shown in the list of edges, on metrics and on clicks; at most 64 letters, digits, dots, hyphens and underlines"`
	Region         string        `env:"REGION" help:"where this edge is, such as eu-west; shown and written likewise"`
	AnonymizeIP    string        `env:"ANONYMIZE_IP" envDefault:"off" help:"what of a visitor's address is left out before a click is stored or sent: off (nothing), truncate (keeps 24 bits of IPv4 and 48 bits of IPv6), all (no address is kept, so countries are unknown in reports)"`
	RateLimit      int           `env:"EDGE_RATE_LIMIT" envDefault:"0" help:"requests a minute at each edge, per client (IPv4 address or IPv6 /64); 0 = no limit"`
	VerifyLimit    int           `env:"EDGE_VERIFY_RATE_LIMIT" envDefault:"120" help:"passwords of links a minute that each edge compares for a client (IPv4 address or IPv6 /64); one that was right a moment ago isn't compared again; 0 = no limit"`
	LimitRedirects bool          `env:"EDGE_RATE_LIMIT_REDIRECTS" envDefault:"true" help:"whether EDGE_RATE_LIMIT counts visits that lead to a destination; false = only errors, pages, passwords and infos"`
	BrandName      string        `env:"BRAND_NAME" envDefault:"Shortline" help:"shown on pages for visitors"`
	BrandLogoURL   string        `env:"BRAND_LOGO_URL" help:"shown on pages for visitors"`
	SpoolSync      string        `env:"SPOOL_SYNC" envDefault:"interval" help:"what a power cut may take of the clicks: interval (100 ms), always (nothing), none"`
	SpoolCap       int64         `env:"SPOOL_CAP_BYTES" envDefault:"4294967296" help:"beyond this clicks are dropped, and counted"`
	ShipDelay      time.Duration `env:"SHIP_DELAY" envDefault:"25ms" help:"how long a click waits for company before it is stored"`
	Retention      int           `env:"CLICK_RETENTION_DAYS" envDefault:"0" help:"for how many days clicks are kept; counters of links, variants and rules go on counting those that are deleted; 0: for ever"`
	ClickMemory    int           `env:"CLICK_STORE_MEMORY_MIB" envDefault:"256" help:"what the click store may use at most"`
}

// Validate reports every problem.
func (s *settings) Validate() error {
	problems := []error{s.Settings.Validate(), s.edge().Validate()}
	problems = append(problems, s.Port.Validate())
	if _, err := ops.NewLogger(os.Stderr, s.LogFormat, s.LogLevel); err != nil {
		problems = append(problems, err)
	}
	if s.Retention < 0 {
		problems = append(problems, errors.New("CLICK_RETENTION_DAYS: must not be negative"))
	}
	if s.ClickMemory < 64 {
		problems = append(problems, errors.New("CLICK_STORE_MEMORY_MIB: must be at least 64"))
	}
	return errors.Join(problems...)
}

// load reads the settings, whose base URL follows from the address if it is not given.
func load(s cli.Settings) error {
	if os.Getenv("BASE_URL") == "" {
		addr := os.Getenv("LISTEN_ADDR")
		if addr == "" {
			addr = "127.0.0.1:8080"
		}
		if host, port, err := net.SplitHostPort(addr); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
			addr = net.JoinHostPort("127.0.0.1", port) // a listener on every address is reached by this one
		}
		if err := os.Setenv("BASE_URL", "http://"+addr); err != nil {
			return err
		}
	}
	return config.Load(s)
}

// edge is the part of the settings that the data plane has.
func (s *settings) edge() edge.Config {
	return edge.Config{
		ListenAddr: s.ListenAddr, BaseURL: s.BaseURL, DataDir: filepath.Join(s.DataDir, "edge"), TrustedProxies: s.TrustedProxies, AnonymizeIP: s.AnonymizeIP,
		Name: s.EdgeName, Region: s.Region,
		BrandName: s.BrandName, BrandLogoURL: s.BrandLogoURL, RoutingZone: s.Zone(),
		RateLimit: s.RateLimit, VerifyLimit: s.VerifyLimit, FreeRedirects: !s.LimitRedirects,
		SpoolSync: s.SpoolSync, SpoolCapBytes: s.SpoolCap, ShipDelay: s.ShipDelay,
		// Small, since every segment is reserved on disk and kept in memory while it is written.
		SpoolSegmentBytes: 4 << 20,
	}
}

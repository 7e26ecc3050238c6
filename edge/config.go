package edge

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/edge/internal/conversions"
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
)

// Settings are the environment settings that are the same in every program that contains an edge. Config translates them.
type Settings struct {
	Name               string        `env:"EDGE_NAME" help:"name of this edge in the list of edges, on metrics and on clicks; at most 64 letters, digits, dots, hyphens and underlines"`
	Region             string        `env:"REGION" help:"location of this edge, such as eu-west; shown in the same places, with the same characters"`
	AnonymizeIP        string        `env:"ANONYMIZE_IP" envDefault:"off" help:"removes visitors' addresses from clicks before they are stored or sent: off (removes nothing), truncate (keeps 24 bits of IPv4 and 48 bits of IPv6), all (stores no address, so reports show no countries)"`
	HonorDNT           bool          `env:"HONOR_DNT" envDefault:"false" help:"neither sets nor reads the visitor's cookie (sl_v) if the browser sends DNT: 1 or Sec-GPC: 1; links whose rules use the condition visitor set this cookie"`
	TLSAddr            string        `env:"TLS_ADDR" help:"address for visitors with TLS, such as :443; LISTEN_ADDR then redirects to https for hosts with a certificate; empty: no TLS"`
	StrictHosts        bool          `env:"STRICT_HOSTS" envDefault:"false" help:"answers 421 if a request's host is neither that of BASE_URL or CONSOLE_URL nor a custom domain in service; false = such requests get the links, the API and the console of BASE_URL"`
	HSTS               int64         `env:"HSTS_MAX_AGE" envDefault:"2592000" help:"seconds for which browsers use only https for the host of BASE_URL (the header Strict-Transport-Security), on TLS_ADDR, if BASE_URL begins with https:// and has no port; 0 = no header; custom domains have their own value"`
	RateLimit          int           `env:"EDGE_RATE_LIMIT" envDefault:"0" help:"requests per minute at each edge, per client (IPv4 address or IPv6 /64); 0 = no limit"`
	VerifyLimit        int           `env:"EDGE_VERIFY_RATE_LIMIT" envDefault:"120" help:"link passwords per minute that each edge compares for a client (IPv4 address or IPv6 /64); a password that was right a moment ago needs no comparison; 0 = no limit"`
	TLSLimit           int           `env:"EDGE_TLS_RATE_LIMIT" envDefault:"3000" help:"TLS handshakes per minute at each edge, per client (IPv4 address or IPv6 /64) that is not one of TRUSTED_PROXIES; 0 = no limit"`
	ProxyProtocol      bool          `env:"PROXY_PROTOCOL" envDefault:"false" help:"requires that connections from TRUSTED_PROXIES begin with the client's address (PROXY protocol, version 1 or 2), on LISTEN_ADDR and TLS_ADDR"`
	LimitRedirects     bool          `env:"EDGE_RATE_LIMIT_REDIRECTS" envDefault:"true" help:"whether EDGE_RATE_LIMIT counts visits that are redirected to a destination; false = it counts only errors, pages, passwords and infos"`
	BrandName          string        `env:"BRAND_NAME" envDefault:"Shortline" help:"product name on pages for visitors"`
	BrandLogoURL       string        `env:"BRAND_LOGO_URL" help:"logo on pages for visitors"`
	SpoolSync          string        `env:"SPOOL_SYNC" envDefault:"interval" help:"clicks that a power failure can lose: interval (those of the last 100 ms), always (none; redirects wait for the disk, and get 503 if it fails), none (those that the system had not written)"`
	SpoolLanes         int           `env:"SPOOL_LANES" envDefault:"0" help:"parts of the spool that processors write to at the same time, each with two files of 64 MiB; 0 = as many as processors, if SPOOL_CAP_BYTES has space for them"`
	MaxConnections     int           `env:"EDGE_MAX_CONNECTIONS" envDefault:"65536" help:"open connections of visitors at each edge, at most; fewer if the limit of open files is lower"`
	RuleCache          int64         `env:"RULE_CACHE_BYTES" envDefault:"134217728" help:"memory for cached links with presets, previews or passwords, or with so many rules or values that they are not compiled when they arrive, about 1 KB for each; others are read again at each visit"`
	SpoolCap           int64         `env:"SPOOL_CAP_BYTES" envDefault:"4294967296" help:"size of the spool above which clicks are dropped and counted"`
	ConversionLimit    int           `env:"CONVERSION_LIMIT" envDefault:"120" help:"conversions per minute that each edge takes from browsers, per client (IPv4 address or IPv6 /64); 0 = no limit"`
	ConversionKeyLimit int           `env:"CONVERSION_KEY_LIMIT" envDefault:"60000" help:"conversions per minute that each edge takes from browsers, per publishable key; 0 = no limit"`
	ConversionCap      int64         `env:"CONVERSION_SPOOL_CAP_BYTES" envDefault:"268435456" help:"size of the spool of conversions above which they are refused with 503"`
	DrainDelay         time.Duration `env:"DRAIN_DELAY" envDefault:"0" help:"how long the edge answers visitors after SIGTERM while /readyz answers 503, so that load balancers, DNS or routes leave it out before it stops, such as 20s, at most 1h; a second signal ends the process at once"`
	ShipDelay          time.Duration `env:"SHIP_DELAY" envDefault:"25ms" help:"how long a click waits for others before a batch is shipped; in standalone while somebody looks at a report or a live feed, otherwise up to half a second"`
}

// Config returns the Config of these settings. The caller sets the other fields.
func (s Settings) Config() Config {
	return Config{
		Name: s.Name, Region: s.Region, AnonymizeIP: s.AnonymizeIP, HonorDNT: s.HonorDNT, StrictHosts: s.StrictHosts, HSTS: s.HSTS,
		TLSAddr: s.TLSAddr, TLSLimit: s.TLSLimit, ProxyProtocol: s.ProxyProtocol,
		RateLimit: s.RateLimit, VerifyLimit: s.VerifyLimit, FreeRedirects: !s.LimitRedirects,
		BrandName: s.BrandName, BrandLogoURL: s.BrandLogoURL,
		SpoolSync: s.SpoolSync, SpoolCapBytes: s.SpoolCap, SpoolLanes: s.SpoolLanes, MaxConnections: s.MaxConnections,
		RuleCacheBytes: s.RuleCache, ShipDelay: s.ShipDelay, DrainDelay: s.DrainDelay,
		ConversionLimit: s.ConversionLimit, ConversionKeyLimit: s.ConversionKeyLimit, ConversionCapBytes: s.ConversionCap,
	}
}

// Config holds the configuration of an edge. The zero value of a field that is not required means its default.
type Config struct {
	// ListenAddr is the public address, such as ":8080". Port 0 selects a free port. Required.
	ListenAddr string
	// TLSAddr is the public address for TLS, such as ":443"; "" means no TLS. New then requires CertificateKeys and a
	// source of hosts, which also have the certificates.
	TLSAddr string
	// CertificateKeys open sealed private keys of certificates, at least 32 bytes each. They are those of the control plane.
	CertificateKeys [][]byte
	// TLSLimit is the number of TLS handshakes per minute that a client may make at this edge; 0 means no limit. It does not
	// apply to TrustedProxies.
	TLSLimit int
	// ProxyProtocol requires that connections from TrustedProxies begin with the client's address (PROXY protocol, version 1
	// or 2).
	ProxyProtocol bool
	// BaseURL is the address that visitors use, such as https://sho.rt. Required.
	BaseURL string
	// DataDir holds the links and the clicks that are not delivered yet. It is created if it is missing. Each edge needs
	// a folder of its own. Required.
	DataDir string

	// Name and Region are the operator's name for this edge and its location: at most 64 letters, digits, dots, hyphens
	// and underlines each. They appear in reports, on clicks and in a metric. Neither is an id: several edges may have the
	// same name.
	Name, Region string

	// TrustedProxies are comma-separated addresses and CIDR prefixes of proxies whose X-Forwarded-For is trusted.
	TrustedProxies string
	// ClientIPHeader is the header in which they say where a visitor comes from; "" means X-Forwarded-For, and X-Real-IP without it.
	// Forwarded is read as RFC 7239 says.
	ClientIPHeader string
	// AnonymizeIP removes visitors' addresses from clicks before they are stored or sent: "off" (default: removes
	// nothing), "truncate" (keeps 24 bits of IPv4 and 48 bits of IPv6), "all" (removes the address).
	AnonymizeIP string
	// HonorDNT neither sets nor reads the visitor's cookie if the browser sends "DNT: 1" or "Sec-GPC: 1".
	HonorDNT bool
	// ConsoleURL is the address of the console; "" means BaseURL.
	ConsoleURL string
	// StrictHosts answers 421 if a request's host is neither that of BaseURL or ConsoleURL nor a custom domain in service.
	StrictHosts bool
	// HSTS is the max-age of Strict-Transport-Security for the service's own names on TLSAddr, in seconds, if BaseURL is https without a
	// port; 0 means no header.
	HSTS int64
	// GeoPath is one or more comma-separated geo databases (.mmdb); "" means that locations are unknown. It is ignored if
	// Deps has a Geo.
	GeoPath string
	// RateLimit is the number of requests for links per minute that a client (an IPv4 address or an IPv6 /64) may make at
	// this edge; 0 means no limit. With FreeRedirects, visits that are redirected to a destination do not count.
	RateLimit     int
	FreeRedirects bool
	// VerifyLimit is the number of link passwords per minute that this edge compares for a client; 0 means no limit.
	VerifyLimit int
	// BrandName and BrandLogoURL are shown on pages for visitors. Defaults: Shortline, and no logo.
	BrandName, BrandLogoURL string
	// RoutingZone is the zone of time and day conditions without a zone of their own; nil means UTC.
	RoutingZone *time.Location
	// SnapshotKeys are comma-separated public keys (Ed25519, base64). One of them must have signed all links from the
	// control plane. "" means that no signature is required.
	SnapshotKeys string

	// SpoolSync determines which clicks a power failure can lose: "interval" (default: those since the last sync),
	// "always" (none, but redirects wait for the disk, and get 503 if it fails), "none" (those that the system had not written).
	SpoolSync string
	// SpoolCapBytes limits the spool on disk. Above it clicks are dropped and counted. 0 means 4 GiB.
	SpoolCapBytes int64
	// SpoolLanes is the number of parts of the spool that processors write to at the same time, at most 64. 0 means one for
	// each processor, as far as SpoolCapBytes has space for them.
	SpoolLanes int
	// MaxConnections is the maximum number of visitors' connections; 0 means 65,536. See conns.Max.
	MaxConnections int
	// RuleCacheBytes is the memory for cached links that visits need beyond what the table has of them; 0 means 128 MiB.
	RuleCacheBytes int64
	// SpoolSegmentBytes is the size of the spool's files; 0 means 64 MiB. Each lane reserves two files.
	SpoolSegmentBytes int64
	// ConversionLimit and ConversionKeyLimit are the numbers of conversions from browsers per minute that this edge takes from a
	// client and with a publishable key; 0 means no limit.
	ConversionLimit, ConversionKeyLimit int
	// ConversionCapBytes limits the spool of conversions on disk. Above it they are refused. 0 means 256 MiB.
	ConversionCapBytes int64
	// DrainDelay is how long the edge answers visitors after it was asked to stop; see Edge.Drain. At most an hour.
	DrainDelay time.Duration
	// ShipDelay is how long a click waits for others before a batch is shipped; 0 means 25 ms, a negative value no delay.
	ShipDelay time.Duration
}

// Validate reports all problems in one error. It names the environment settings.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.ListenAddr == "" {
		add("LISTEN_ADDR: is required")
	} else if _, _, err := net.SplitHostPort(c.ListenAddr); err != nil {
		add("LISTEN_ADDR: %w", err)
	}
	if c.TLSAddr != "" {
		if _, _, err := net.SplitHostPort(c.TLSAddr); err != nil {
			add("TLS_ADDR: %w", err)
		}
		if u, err := link.ParseBaseURL(c.BaseURL); err == nil && u.Scheme != "https" {
			add("TLS_ADDR: BASE_URL must begin with https://, because short links and redirects to https are derived from it")
		}
	}
	for _, key := range c.CertificateKeys {
		if len(key) < seal.MinKey {
			add("CERTIFICATE_KEY: must have at least %d bytes", seal.MinKey)
			break
		}
	}
	if _, err := link.ParseBaseURL(c.BaseURL); err != nil {
		problems = append(problems, err)
	}
	if c.DataDir == "" {
		add("DATA_DIR: is required")
	}
	if _, err := visitor.ParsePrefixes(c.TrustedProxies); err != nil {
		add("TRUSTED_PROXIES: %w", err)
	}
	switch source, err := visitor.ParseSource(c.ClientIPHeader); {
	case err != nil:
		add("CLIENT_IP_HEADER: %w", err)
	case !source.Usual() && c.TrustedProxies == "":
		add("CLIENT_IP_HEADER: needs TRUSTED_PROXIES")
	}
	if _, err := visitor.ParseAnonymize(c.AnonymizeIP); err != nil {
		add("ANONYMIZE_IP: %w", err)
	}
	if _, err := snapshot.ParseKeys(c.SnapshotKeys); err != nil {
		add("SNAPSHOT_PUBLIC_KEYS: %w", err)
	}
	if o := (click.Origin{Edge: c.Name}); !o.Valid() {
		add("EDGE_NAME: %q has characters other than letters, digits, dots, hyphens and underlines, or more than 64", c.Name)
	}
	if o := (click.Origin{Region: c.Region}); !o.Valid() {
		add("REGION: %q has characters other than letters, digits, dots, hyphens and underlines, or more than 64", c.Region)
	}
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"EDGE_MAX_CONNECTIONS", c.MaxConnections}, {"EDGE_RATE_LIMIT", c.RateLimit}, {"EDGE_TLS_RATE_LIMIT", c.TLSLimit},
		{"EDGE_VERIFY_RATE_LIMIT", c.VerifyLimit}, {"CONVERSION_LIMIT", c.ConversionLimit}, {"CONVERSION_KEY_LIMIT", c.ConversionKeyLimit},
	} {
		if limit.value < 0 {
			add("%s: must not be negative", limit.name)
		}
	}
	if c.DrainDelay < 0 || c.DrainDelay > time.Hour {
		add("DRAIN_DELAY: must be 0 to 1h")
	}
	if c.HSTS < 0 {
		add("HSTS_MAX_AGE: must not be negative")
	}
	if c.RuleCacheBytes < 0 {
		add("RULE_CACHE_BYTES: must not be negative")
	}
	if c.ProxyProtocol && c.TrustedProxies == "" {
		add("PROXY_PROTOCOL: requires TRUSTED_PROXIES")
	}
	if err := c.brand().Validate(); err != nil {
		add("BRAND_LOGO_URL: %w", err)
	}
	return errors.Join(append(problems, c.checkSpools())...)
}

// checkSpools checks the settings of the two spools. Each problem names the setting that causes it.
func (c Config) checkSpools() error {
	var problems []error
	add := func(setting string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", setting, err))
		}
	}
	if !spool.SyncMode(c.SpoolSync).Known() {
		add("SPOOL_SYNC", fmt.Errorf("%q must be interval, always or none", c.SpoolSync))
		c.SpoolSync = "" // or the spools would report it again
	}
	if err := (ship.Config{Linger: c.ShipDelay}).Validate(); err != nil {
		add("SHIP_DELAY", err)
		c.ShipDelay = 0
	}
	if c.DataDir != "" {
		add("CONVERSION_SPOOL_CAP_BYTES", c.conversions(nil, nil).Validate())
		add("SPOOL_CAP_BYTES, SPOOL_LANES", c.spool().Validate())
	}
	return errors.Join(problems...)
}

func (c Config) brand() pages.Brand {
	return pages.Brand{Name: c.BrandName, LogoURL: c.BrandLogoURL}
}

func (c Config) origin() click.Origin { return click.Origin{Edge: c.Name, Region: c.Region} }

func (c Config) conversions(log *slog.Logger, watched func() bool) conversions.Config {
	return conversions.Config{
		Dir: filepath.Join(c.DataDir, "conversions"), Sync: spool.SyncMode(c.SpoolSync),
		CapBytes: c.ConversionCapBytes, Linger: c.ShipDelay, Watched: watched, Origin: c.origin(), Logger: log,
	}
}

func (c Config) spool() spool.Config {
	return spool.Config{
		Dir: filepath.Join(c.DataDir, "spool"), Sync: spool.SyncMode(c.SpoolSync),
		CapBytes: c.SpoolCapBytes, SegmentBytes: c.SpoolSegmentBytes, Lanes: c.SpoolLanes,
	}
}

package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // zones must be there on machines without a zone database

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/peertls"
	"github.com/shortline/shortline/shared/tracing"
)

type settings struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:":8080" help:"serves visitors"`
	cli.Port
	BaseURL     string        `env:"BASE_URL" help:"the address that visitors use"`
	DataDir     string        `env:"DATA_DIR" envDefault:"./data" help:"holds the links as last seen and the clicks not yet delivered; one edge each"`
	Name        string        `env:"EDGE_NAME" help:"what operators call this edge: shown in the list of edges, on metrics and on clicks; at most 64 letters, digits, dots, hyphens and underlines"`
	Region      string        `env:"REGION" help:"where this edge is, such as eu-west; shown and written likewise"`
	ControlURL  string        `env:"CONTROL_URL" help:"where the control plane is"`
	EdgeToken   config.Secret `env:"EDGE_TOKEN" help:"one of the control plane's EDGE_TOKENS"`
	ControlCA   string        `env:"CONTROL_CA_FILE" help:"certificates of the authorities that the control plane is believed by (PEM); empty means the system's"`
	ControlCert string        `env:"CONTROL_CERT_FILE" help:"certificate to show to the control plane (PEM); new files are used for the next connection"`
	ControlKey  string        `env:"CONTROL_KEY_FILE" help:"its key (PEM)"`
	// No secret, but a secret's type can also come from a file (SNAPSHOT_PUBLIC_KEYS_FILE).
	SnapshotKeys config.Secret `env:"SNAPSHOT_PUBLIC_KEYS" help:"what SNAPSHOT_SIGNING_KEY of the control plane says is its public key, or several with commas between them: only links that one of them signed are taken; empty: no signature is needed"`
	ProxyAPI     bool          `env:"PROXY_API" envDefault:"false" help:"passes the API and the console on to the control plane, so that one address serves all"`

	Kafka kafkaconn.Settings

	TrustedProxies  string `env:"TRUSTED_PROXIES" help:"networks whose X-Forwarded-For is believed, with commas between them"`
	GeoDB           string `env:"GEO_DB" help:"geo database files (mmdb), with commas between them"`
	AnonymizeIP     string `env:"ANONYMIZE_IP" envDefault:"off" help:"what of a visitor's address is left out before a click is stored or sent: off (nothing), truncate (keeps 24 bits of IPv4 and 48 bits of IPv6), all (no address is kept, so countries are unknown in reports)"`
	RateLimit       int    `env:"EDGE_RATE_LIMIT" envDefault:"0" help:"requests a minute at each edge, per client (IPv4 address or IPv6 /64); 0 = no limit"`
	VerifyLimit     int    `env:"EDGE_VERIFY_RATE_LIMIT" envDefault:"120" help:"passwords of links a minute that each edge compares for a client (IPv4 address or IPv6 /64); one that was right a moment ago isn't compared again; 0 = no limit"`
	LimitRedirects  bool   `env:"EDGE_RATE_LIMIT_REDIRECTS" envDefault:"true" help:"whether EDGE_RATE_LIMIT counts visits that lead to a destination; false = only errors, pages, passwords and infos"`
	RoutingTimezone string `env:"ROUTING_TIMEZONE" envDefault:"UTC" help:"zone of time conditions that name none (IANA); the same at every edge"`
	BrandName       string `env:"BRAND_NAME" envDefault:"Shortline" help:"shown on pages for visitors"`
	BrandLogoURL    string `env:"BRAND_LOGO_URL" help:"shown on pages for visitors"`

	SpoolSync string        `env:"SPOOL_SYNC" envDefault:"interval" help:"what a power cut may take of the clicks: interval (100 ms), always (nothing), none"`
	SpoolCap  int64         `env:"SPOOL_CAP_BYTES" envDefault:"4294967296" help:"beyond this clicks are dropped, and counted"`
	ShipDelay time.Duration `env:"SHIP_DELAY" envDefault:"25ms" help:"how long a click waits for company before it is shipped"`

	Tracing tracing.Settings

	LogFormat string `env:"LOG_FORMAT" envDefault:"json" help:"text or json"`
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
}

// Validate reports every problem.
func (s *settings) Validate() error {
	problems := []error{s.Tracing.Validate(), s.edge().Validate(), s.control().Validate(), s.kafka(nil).Validate()}
	if _, err := time.LoadLocation(s.RoutingTimezone); err != nil || s.RoutingTimezone == "" {
		problems = append(problems, fmt.Errorf("ROUTING_TIMEZONE: %q is not an IANA time zone", s.RoutingTimezone))
	}
	problems = append(problems, s.Port.Validate())
	if err := s.controlFiles().Validate(); err != nil {
		problems = append(problems, fmt.Errorf("CONTROL_CA_FILE, CONTROL_CERT_FILE, CONTROL_KEY_FILE: %w", err))
	} else if u, err := url.Parse(s.ControlURL); err == nil && u.Scheme != "https" && s.controlFiles() != (peertls.Files{}) {
		problems = append(problems, errors.New("CONTROL_CA_FILE, CONTROL_CERT_FILE, CONTROL_KEY_FILE: have no effect unless CONTROL_URL begins with https://"))
	}
	if _, err := ops.NewLogger(os.Stderr, s.LogFormat, s.LogLevel); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (s *settings) edge() edge.Config {
	zone, err := time.LoadLocation(s.RoutingTimezone)
	if err != nil {
		zone = time.UTC // Validate refuses it
	}
	return edge.Config{
		ListenAddr: s.ListenAddr, BaseURL: s.BaseURL, DataDir: s.DataDir, Name: s.Name, Region: s.Region, TrustedProxies: s.TrustedProxies, GeoPath: s.GeoDB, AnonymizeIP: s.AnonymizeIP,
		BrandName: s.BrandName, BrandLogoURL: s.BrandLogoURL, RoutingZone: zone,
		RateLimit: s.RateLimit, VerifyLimit: s.VerifyLimit, FreeRedirects: !s.LimitRedirects,
		SnapshotKeys: s.SnapshotKeys.Reveal(), SpoolSync: s.SpoolSync, SpoolCapBytes: s.SpoolCap, ShipDelay: s.ShipDelay,
	}
}

// Warnings implements cli.Warnings.
func (s *settings) Warnings() []string {
	u, err := url.Parse(s.ControlURL)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return nil
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.IsLoopback() {
		return nil
	}
	return []string{"CONTROL_URL begins with http://, so the edge's token, password hashes of links, and the passwords and cookies of everybody who uses the API through this edge cross the network in the clear; use https://"}
}

func (s *settings) controlFiles() peertls.Files {
	return peertls.Files{CA: s.ControlCA, Cert: s.ControlCert, Key: s.ControlKey}
}

func (s *settings) control() remote.Control {
	return remote.Control{URL: s.ControlURL, Token: s.EdgeToken}
}

func (s *settings) kafka(log *slog.Logger) remote.Kafka {
	return remote.Kafka{Kafka: s.Kafka, Dir: filepath.Join(s.DataDir, "kafka"), Logger: log}
}

// dialControl makes what connects to the control plane for requests that are passed on.
func (s *settings) dialControl(secure *tls.Config) (func(context.Context) (net.Conn, error), error) {
	u, err := url.Parse(s.ControlURL)
	if err != nil {
		return nil, err
	}
	plain := &net.Dialer{Timeout: 3 * time.Second}
	if u.Scheme != "https" {
		at := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80"))
		return func(ctx context.Context) (net.Conn, error) { return plain.DialContext(ctx, "tcp", at) }, nil
	}
	at := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))
	d := &tls.Dialer{NetDialer: plain, Config: secure}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", at) }, nil
}

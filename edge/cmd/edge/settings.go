package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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
	ListenAddr string `env:"LISTEN_ADDR" envDefault:":8080" help:"address for visitors"`
	cli.Port
	BaseURL     string        `env:"BASE_URL" help:"the address that visitors use"`
	ConsoleURL  string        `env:"CONSOLE_URL" help:"address of the console if it is not at BASE_URL; STRICT_HOSTS does not refuse its host"`
	DataDir     string        `env:"DATA_DIR" envDefault:"./data" help:"holds the links and the clicks that are not delivered yet; each edge needs a folder of its own"`
	ControlURL  []string      `env:"CONTROL_URL" help:"address of the control plane; of several, separated by commas, the edge uses the first one that answers"`
	EdgeToken   config.Secret `env:"EDGE_TOKEN" help:"one of the control plane's EDGE_TOKENS"`
	ControlCA   string        `env:"CONTROL_CA_FILE" help:"certificate authorities for the control plane's certificate (PEM); empty: the system's"`
	ControlCert string        `env:"CONTROL_CERT_FILE" help:"client certificate for the control plane (PEM); the next connection uses a changed file"`
	ControlKey  string        `env:"CONTROL_KEY_FILE" help:"key of the client certificate (PEM)"`
	// Public keys are no secret, but the type Secret can also read them from a file (SNAPSHOT_PUBLIC_KEYS_FILE).
	SnapshotKeys   config.Secret `env:"SNAPSHOT_PUBLIC_KEYS" help:"comma-separated public keys of the control plane's SNAPSHOT_SIGNING_KEY: the edge accepts only links signed by one of them; empty: no signature is required"`
	CertificateKey config.Secret `env:"CERTIFICATE_KEY" help:"key that decrypts private keys of certificates, at least 32 bytes; the control plane's CERTIFICATE_KEY; of several, separated by commas, all decrypt; required by TLS_ADDR"`
	ProxyAPI       bool          `env:"PROXY_API" envDefault:"false" help:"forwards the API and the console to the control plane, so that one address serves everything"`

	Kafka kafkaconn.Settings

	TrustedProxies  string `env:"TRUSTED_PROXIES" help:"comma-separated networks of proxies that are trusted to say where a visitor comes from"`
	ClientIPHeader  string `env:"CLIENT_IP_HEADER" envDefault:"X-Forwarded-For" help:"header in which they say where a visitor comes from, such as CF-Connecting-IP, or Forwarded (RFC 7239); X-Real-IP counts too with the default. Visitors must not be able to set it"`
	GeoDB           string `env:"GEO_DB" help:"comma-separated geo database files (mmdb)"`
	RoutingTimezone string `env:"ROUTING_TIMEZONE" envDefault:"UTC" help:"time zone (IANA) of time conditions without a zone; must be the same at every edge"`

	Edge    edge.Settings
	Tracing tracing.Settings

	LogFormat string `env:"LOG_FORMAT" envDefault:"json" help:"text or json"`
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
}

// Validate reports all problems in one error.
func (s *settings) Validate() error {
	problems := []error{s.Tracing.Validate(), s.edge().Validate(), s.control().Validate(), s.kafka(nil).Validate()}
	if _, err := time.LoadLocation(s.RoutingTimezone); err != nil || s.RoutingTimezone == "" {
		problems = append(problems, fmt.Errorf("ROUTING_TIMEZONE: %q is not an IANA time zone", s.RoutingTimezone))
	}
	problems = append(problems, s.Port.Validate())
	if s.Edge.TLSAddr != "" && s.CertificateKey == "" {
		problems = append(problems, errors.New("CERTIFICATE_KEY: is required by TLS_ADDR"))
	}
	if err := s.controlFiles().Validate(); err != nil {
		problems = append(problems, fmt.Errorf("CONTROL_CA_FILE, CONTROL_CERT_FILE, CONTROL_KEY_FILE: %w", err))
	} else if len(s.plainControl(func(*url.URL) bool { return true })) > 0 && s.controlFiles() != (peertls.Files{}) {
		problems = append(problems,
			errors.New("CONTROL_CA_FILE, CONTROL_CERT_FILE, CONTROL_KEY_FILE: require a CONTROL_URL that begins with https://"))
	}
	if _, err := ops.NewLogger(os.Stderr, s.LogFormat, s.LogLevel); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (s *settings) edge() edge.Config {
	zone, err := time.LoadLocation(s.RoutingTimezone)
	if err != nil {
		zone = time.UTC // Validate rejects the zone
	}
	cfg := s.Edge.Config()
	cfg.ListenAddr, cfg.BaseURL, cfg.ConsoleURL, cfg.DataDir = s.ListenAddr, s.BaseURL, s.ConsoleURL, s.DataDir
	cfg.TrustedProxies, cfg.GeoPath, cfg.RoutingZone, cfg.SnapshotKeys = s.TrustedProxies, s.GeoDB, zone, s.SnapshotKeys.Reveal()
	cfg.CertificateKeys, cfg.ClientIPHeader = s.CertificateKey.Keys(), s.ClientIPHeader
	return cfg
}

// Warnings implements cli.Settings.
func (s *settings) Warnings() []string {
	foreign := s.plainControl(func(u *url.URL) bool {
		addr, err := netip.ParseAddr(u.Hostname())
		return u.Hostname() != "localhost" && (err != nil || !addr.IsLoopback())
	})
	if len(foreign) == 0 {
		return nil
	}
	return []string{
		"CONTROL_URL begins with http://, so the network can read the edge's token, the password hashes of links, and the passwords and " +
			"cookies of all users of the API behind this edge; use https://"}
}

// plainControl returns the addresses of control planes that are not https and meet a condition.
func (s *settings) plainControl(condition func(*url.URL) bool) (list []string) {
	for _, address := range s.ControlURL {
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil && u.Scheme == "http" && condition(u) {
			list = append(list, address)
		}
	}
	return list
}

func (s *settings) controlFiles() peertls.Files {
	return peertls.Files{CA: s.ControlCA, Cert: s.ControlCert, Key: s.ControlKey}
}

func (s *settings) control() remote.Control {
	return remote.Control{URL: strings.Join(s.ControlURL, ","), Token: s.EdgeToken}
}

func (s *settings) kafka(log *slog.Logger) remote.Kafka {
	return remote.Kafka{Kafka: s.Kafka, Dir: filepath.Join(s.DataDir, "kafka"), Logger: log}
}

// conversions returns the settings of the sink for conversions.
func (s *settings) conversions(log *slog.Logger) remote.Kafka {
	return remote.Kafka{Kafka: s.Kafka.ForConversions(), Dir: filepath.Join(s.DataDir, "kafka-conversions"), Logger: log}
}

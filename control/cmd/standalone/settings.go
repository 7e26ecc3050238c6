package main

import (
	"cmp"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
)

type settings struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080" help:"address for redirects, the API and the console; with TLS_ADDR on port 443 the default is :80"`
	cli.Port
	DataDir string `env:"DATA_DIR" envDefault:"./data" help:"holds all data, including generated secrets"`

	app.Settings

	Edge        edge.Settings
	Retention   int `env:"CLICK_RETENTION_DAYS" envDefault:"0" help:"days after which clicks are deleted; counters of links, variants and rules keep counting deleted clicks; 0 = keep all"`
	ClickMemory int `env:"CLICK_STORE_MEMORY_MIB" envDefault:"256" help:"memory limit of the click store"`

	ownKey bool // the key that signs the audit log is in the data folder
}

// Validate reports all problems in one error.
func (s *settings) Validate() error {
	problems := []error{s.Settings.Validate(), s.edge().Validate()}
	problems = append(problems, s.Port.Validate())
	if s.Certificates.Email != "" && s.Edge.TLSAddr == "" {
		problems = append(problems, errors.New("ACME_EMAIL: needs TLS_ADDR, such as :443, because only connections there use certificates"))
	}
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

// load reads the settings. LISTEN_ADDR and BASE_URL follow from other settings if they are not set.
func load(s cli.Settings) error {
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	listenAddr, baseURL := addresses(os.Getenv("LISTEN_ADDR"), os.Getenv("TLS_ADDR"), os.Getenv("BASE_URL"), name)
	if err := errors.Join(os.Setenv("LISTEN_ADDR", listenAddr), os.Setenv("BASE_URL", baseURL)); err != nil {
		return err
	}
	return config.Load(s)
}

// addresses returns LISTEN_ADDR and BASE_URL, either as set or derived. Without TLS, the program is for this machine only
// unless the settings say otherwise. With TLS on port 443, it also takes port 80, and its name is that of the machine, if
// that has a domain.
func addresses(listenAddr, tlsAddr, baseURL, machine string) (listen, base string) {
	_, tlsPort, err := net.SplitHostPort(tlsAddr)
	secure := err == nil
	switch {
	case listenAddr != "":
	case secure && tlsPort == "443":
		listenAddr = ":80"
	default:
		listenAddr = "127.0.0.1:8080"
	}
	switch {
	case baseURL != "":
	case secure && strings.Contains(machine, ".") && tlsPort == "443":
		baseURL = "https://" + machine
	case secure && strings.Contains(machine, "."):
		baseURL = "https://" + net.JoinHostPort(machine, tlsPort)
	default:
		addr := listenAddr
		if host, port, err := net.SplitHostPort(addr); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
			addr = net.JoinHostPort("127.0.0.1", port) // the loopback address reaches a listener on all addresses
		}
		baseURL = "http://" + addr
	}
	return listenAddr, baseURL
}

// edge returns the configuration of the edge.
func (s *settings) edge() edge.Config {
	cfg := s.Edge.Config()
	cfg.ListenAddr, cfg.BaseURL, cfg.ConsoleURL, cfg.DataDir = s.ListenAddr, s.BaseURL, s.ConsoleURL, filepath.Join(s.DataDir, "edge")
	cfg.TrustedProxies, cfg.RoutingZone, cfg.CertificateKeys = s.TrustedProxies, s.Zone(),
		cmp.Or(s.Certificates.Key, s.EncryptionKey).Keys()
	cfg.ClientIPHeader = s.ClientIPHeader
	cfg.SpoolSegmentBytes = 4 << 20 // small, because each segment is reserved on disk and kept in memory while it is written
	return cfg
}

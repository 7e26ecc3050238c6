package main

import (
	"cmp"
	"errors"
	"net"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
)

type settings struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080" help:"address for redirects, the API and the console"`
	cli.Port
	DataDir string `env:"DATA_DIR" envDefault:"./data" help:"holds all data, including generated secrets"`

	app.Settings

	Edge        edge.Settings
	Retention   int `env:"CLICK_RETENTION_DAYS" envDefault:"0" help:"days after which clicks are deleted; counters of links, variants and rules keep counting deleted clicks; 0 = keep all"`
	ClickMemory int `env:"CLICK_STORE_MEMORY_MIB" envDefault:"256" help:"memory limit of the click store"`
}

// Validate reports all problems in one error.
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

// load reads the settings. If BASE_URL is not set, it follows from LISTEN_ADDR.
func load(s cli.Settings) error {
	if os.Getenv("BASE_URL") == "" {
		addr := os.Getenv("LISTEN_ADDR")
		addr = cmp.Or(addr, "127.0.0.1:8080")
		if host, port, err := net.SplitHostPort(addr); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
			addr = net.JoinHostPort("127.0.0.1", port) // the loopback address reaches a listener on all addresses
		}
		if err := os.Setenv("BASE_URL", "http://"+addr); err != nil {
			return err
		}
	}
	return config.Load(s)
}

// edge returns the configuration of the edge.
func (s *settings) edge() edge.Config {
	cfg := s.Edge.Config()
	cfg.ListenAddr, cfg.BaseURL, cfg.DataDir = s.ListenAddr, s.BaseURL, filepath.Join(s.DataDir, "edge")
	cfg.TrustedProxies, cfg.RoutingZone, cfg.CertificateKeys = s.TrustedProxies, s.Zone(), cmp.Or(s.Certificates.Key, s.EncryptionKey).Keys()
	cfg.SpoolSegmentBytes = 4 << 20 // small, because each segment is reserved on disk and kept in memory while it is written
	return cfg
}

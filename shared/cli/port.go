package cli

import (
	"fmt"
	"net"

	"github.com/shortline/shortline/shared/ops"
)

// Port holds the settings of the operator's port. The settings of programs embed it.
type Port struct {
	OpsAddr  string   `env:"OPS_ADDR" envDefault:"127.0.0.1:9090" help:"address of the operator's port, which serves metrics and health; keep it private; off disables it"`
	OpsHosts []string `env:"OPS_HOSTS" help:"host names that requests to OPS_ADDR may use in addition to localhost and IP addresses; without ports, separated by commas"`
	Profiles bool     `env:"PPROF" envDefault:"false" help:"serve profiles of the running program at OPS_ADDR, below /debug/pprof/"`
}

// Operator implements Settings.
func (p Port) Operator() string {
	if p.OpsAddr == "off" {
		return ""
	}
	return p.OpsAddr
}

// Warnings implements Settings for programs that have none.
func (p Port) Warnings() []string { return nil }

// Configure applies the settings to the port.
func (p Port) Configure(s *ops.Server) { s.Hosts, s.Profiles = p.OpsHosts, p.Profiles }

// Validate checks the address.
func (p Port) Validate() error {
	addr := p.Operator()
	if addr == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("OPS_ADDR: %w", err)
	}
	return nil
}

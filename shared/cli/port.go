package cli

import (
	"fmt"
	"net"

	"github.com/shortline/shortline/shared/ops"
)

// Port is the setting of the operator's port, embedded by programs' settings.
type Port struct {
	OpsAddr  string   `env:"OPS_ADDR" envDefault:"127.0.0.1:9090" help:"serves metrics and health; keep it private; off = none"`
	OpsHosts []string `env:"OPS_HOSTS" help:"names by which OPS_ADDR may be asked besides localhost and addresses, without ports and with commas between them"`
	Profiles bool     `env:"PPROF" envDefault:"false" help:"serves profiles of the running program at OPS_ADDR, below /debug/pprof/"`
}

// Operator implements Settings.
func (p Port) Operator() string {
	if p.OpsAddr == "off" {
		return ""
	}
	return p.OpsAddr
}

// Configure sets what the port serves, and to whom.
func (p Port) Configure(s *ops.Server) { s.Hosts, s.Profiles = p.OpsHosts, p.Profiles }

// Validate reports an address that is none.
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

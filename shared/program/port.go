package program

import (
	"fmt"
	"net"
)

// Port is the setting of the operator's port, embedded by programs' settings.
type Port struct {
	OpsAddr string `env:"OPS_ADDR" envDefault:"127.0.0.1:9090" help:"serves metrics, health and profiles; keep it private; off = none"`
}

// Operator implements Settings.
func (p Port) Operator() string {
	if p.OpsAddr == "off" {
		return ""
	}
	return p.OpsAddr
}

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

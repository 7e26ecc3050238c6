package edge

import (
	"time"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/edge/internal/conversions"
	"github.com/shortline/shortline/edge/internal/listen"
	edgelockout "github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/edge/internal/proxy"
	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/snapshot"
)

// Stats is a snapshot of the counters and gauges of an edge.
type Stats struct {
	Ready       bool
	Links       int
	LinkBytes   int64
	SetAside    int // links that cannot be used, see snapshot.Status
	Connections int
	Shed        uint64 // connections closed at the connection limit
	Applied     snapshot.Cursor
	Redirect    redirect.Stats
	Proxy       proxy.Stats
	Spool       spool.Stats
	Ship        ship.Stats
	Conversions conversions.Stats // zero without a sink for conversions
	Agent       agent.Stats
	Lockout     edgelockout.Stats
	Quota       quota.Stats
	TLS         *listen.TLSStats   // nil without TLS
	Proxied     *listen.ProxyStats // nil without PROXY protocol
	ClockAhead  time.Duration      // offset to the control plane's clock, 0 if unknown
}

// Stats returns the counters and gauges.
func (e *Edge) Stats() Stats {
	_, aside := e.table.SetAside()
	s := Stats{
		Ready: e.Ready(), Links: e.table.Len(), LinkBytes: e.table.Bytes(), SetAside: aside, Connections: e.listener.Open(),
		Shed:    e.listener.Shed(),
		Applied: e.Applied(), Redirect: e.redirect.Stats(), Spool: e.spool.Stats(), Ship: e.ship.Stats(), Agent: e.agent.Stats(),
		Lockout: e.lockout.Stats(),
		Quota:   e.quota.Stats(), TLS: e.listener.TLSStats(), Proxied: e.listener.ProxyStats(),
	}
	if e.proxy != nil {
		s.Proxy = e.proxy.Stats()
	}
	if e.conversions != nil {
		s.Conversions = e.conversions.Stats()
	}
	if e.ahead != nil {
		s.ClockAhead, _ = e.ahead()
	}
	return s
}

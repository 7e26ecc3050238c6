//go:build linux

package main

import (
	"fmt"
	"io"
)

// visitMode is a kind of visit with its budgets: the highest allowed ratios of the edge's processor time to that of nginx
// and of Caddy, and of its 99th percentile to nginx's. 0 means that there is no budget.
type visitMode struct {
	Name, What       string
	visit            visit
	toNginx, toCaddy float64
	p99              float64
}

var visitModes = []visitMode{
	{"P16", "over TLS 1.3, full handshake", visit{}, 0.75, 1, 0},
	{"P17", "over TLS 1.3, resumed handshake", visit{Resume: true}, 0.75, 0, 0},
	{"P16h", "over TLS 1.3, full, post-quantum hybrid", visit{Hybrid: true}, 0, 0, 0},
	{"P15", "the server closes the connection", visit{Plain: true, Closes: true, Clients: 64}, 0.90, 0, 1.2},
	{"P15k", "the visitor closes the connection", visit{Plain: true, Clients: 64}, 0.90, 0, 1.2},
	{"P15m", "P15 with 2,000 visitors at once", visit{Plain: true, Closes: true, Clients: 2000}, 0.90, 0, 1.2},
}

// Names of the servers of the visits.
const (
	visitEdge  = "edge"
	visitStock = "crypto/tls + fasthttp"
	visitNginx = "nginx" // with and without TLS: two processes
	visitCaddy = "Caddy"
)

// visitServer is one server of the visits.
type visitServer struct {
	name string
	server
	links      int  // slugs that it knows; 0: one destination for all
	hybrid     bool // offers the post-quantum hybrid
	tls, plain bool // kinds of visits that it answers
}

// answers reports whether the server takes part in a mode.
func (v *visitServer) answers(m *visitMode) bool {
	if m.visit.Plain {
		return v.plain
	}
	return v.tls && (v.hybrid || !m.visit.Hybrid)
}

// visitCost is the cost of a visit at one server. Times are microseconds.
type visitCost struct {
	Mode   string  `json:"mode"`
	What   string  `json:"what"`
	Server string  `json:"server"`
	Micros float64 `json:"us"` // processor time of the server for each visit
	// Processor time of the edge in relation to this server's: median and quartiles over blocks of rounds.
	Ratio  float64 `json:"ratio"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Budget float64 `json:"budget,omitempty"`
	Busy   float64 `json:"busy"`         // share of the time during which the server used its processor
	Load   float64 `json:"generator_us"` // processor time of the load generator for each visit
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
	P999   float64 `json:"p999_us"`
	// ToP99 is the edge's 99th percentile in relation to this server's.
	ToP99  float64 `json:"p99_ratio"`
	Tail   float64 `json:"p99_budget,omitempty"`
	Visits int     `json:"visits"`
}

// measureVisits runs each mode against all servers alternately, and compares the processor time of the edge with the
// others'. The edge is the first server.
func measureVisits(s *settings, load *child, servers []visitServer) (all []visitCost, err error) {
	for _, mode := range visitModes {
		if !s.selects(mode.Name) {
			continue
		}
		var field []contestant
		for _, v := range servers {
			if v.answers(&mode) {
				c := contestant{scenario: scenario{Name: mode.Name + ", " + v.name, What: v.name, listen: "tls"}, server: v.server}
				c.order = order{Status: "302", Links: v.links, Constant: v.links == 0, Visit: &mode.visit}
				if mode.visit.Plain {
					c.listen = "plain"
				}
				field = append(field, c)
			}
		}
		runs, err := alternate(s.rounds, len(field), func(i int) (run, error) { return drive(load, &field[i], 2*s.dur, 0) })
		if err != nil {
			return nil, err
		}
		for i := range field {
			t := &runs[i].total
			cost := visitCost{
				Mode: mode.Name, What: mode.What, Server: field[i].What, Micros: t.micros(), Busy: t.cpu.Seconds() / t.seconds,
				Load: perRequest(t.generator, t.requests), P50: t.took.quantile(0.5), P99: t.took.quantile(0.99),
				P999: t.took.quantile(0.999), Visits: t.requests, ToP99: runs[0].total.took.quantile(0.99) / t.took.quantile(0.99),
			}
			cost.Low, cost.Ratio, cost.High = relation(&runs[0], &runs[i])
			switch cost.Server {
			case visitNginx:
				cost.Budget, cost.Tail = mode.toNginx, mode.p99
			case visitCaddy:
				cost.Budget = mode.toCaddy
			}
			all = append(all, cost)
		}
	}
	return all, nil
}

// visits measures visits and adds them to the result. Servers that cannot be started become a note.
func (f *family) visits(r *result, dir string, load *child, say func(string, ...any)) error {
	s := f.s
	say("visits ...")
	if err := writeVisitFiles(dir); err != nil {
		return err
	}
	connections := idleConnections() // before the edge starts, which gets the same limit of open files
	edge, err := f.start(s.cpus[0], "visit-edge", "-data", dir, "-links", fmt.Sprint(min(s.links, visitLinks)))
	if err != nil {
		return err
	}
	stock, err := f.start(s.cpus[0], "visit-stock", "-data", dir, "-profile", "")
	if err != nil {
		return err
	}
	servers := []visitServer{
		{name: visitEdge, server: edge, links: min(s.links, visitLinks), hybrid: true, tls: true, plain: true},
		{name: visitStock, server: stock, hybrid: true, tls: true, plain: true},
	}
	if s.than != "" {
		other, err := f.startBuild(s.than, s.cpus[0], "visit-edge",
			append(without(f.args, "-than", "-profile"), "-data", dir, "-links", fmt.Sprint(min(s.links, visitLinks))))
		if err != nil {
			return err
		}
		servers = append(servers, servers[0])
		servers[2].name, servers[2].server = "the other build", other
	}
	others := foreignVisits(dir)
	if s.than != "" {
		others = nil // the other build takes their place
	}
	for i, v := range others {
		other, err := startForeign(s, dir, fmt.Sprint("visits-", i), v.program, v.config, v.args...)
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("not compared with %s: %v", v.name, err))
			continue
		}
		defer other.stop()
		v.server = other
		servers = append(servers, v.visitServer)
	}
	if r.Visits, err = measureVisits(s, load, servers); err != nil {
		return err
	}
	if err := edge.accounts(); err != nil {
		return err
	}
	if s.than != "" {
		return nil
	}
	r.Idle, err = measureIdle(edge, connections)
	return err
}

func reportVisits(w io.Writer, all []visitCost) {
	mode := ""
	for _, c := range all {
		if c.Mode != mode {
			mode = c.Mode
			fmt.Fprintf(w, "\n%-5s%-40s %12s %15s %7s %9s %9s %9s %12s %6s %12s\n", c.Mode, "visit, "+c.What, "edge to this", "(quartiles)",
				"budget", "p50 µs", "p99 µs", "p99.9 µs", "edge's p99", "busy", "generator µs")
		}
		budget, verdict := "", ""
		if c.Budget > 0 {
			budget, verdict = fmt.Sprintf("%.2f", c.Budget), "ok"
			if c.Ratio > c.Budget {
				verdict = "ABOVE BUDGET"
			}
		}
		if c.Tail > 0 && c.ToP99 > c.Tail {
			verdict += fmt.Sprintf(", p99 ABOVE BUDGET %.2f", c.Tail)
		}
		fmt.Fprintf(w, "     %-30s %6.1f µs %12.3f (%.3f, %.3f) %7s %9.0f %9.0f %9.0f %10.2f × %5.0f%% %12.1f  %s\n", c.Server, c.Micros,
			c.Ratio, c.Low, c.High, budget,
			c.P50, c.P99, c.P999, c.ToP99, 100*c.Busy, c.Load, verdict)
	}
}

//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// visitMode is a kind of visit with its budgets: the highest allowed ratios of the edge's processor time to that of nginx
// and of Caddy, and of its 99th percentile to nginx's. 0 means that there is no budget.
type visitMode struct {
	Name, What    string
	order         visitOrder
	toNginx, toCo float64
	p99           float64
}

var visitModes = []visitMode{
	{"P16", "over TLS 1.3, full handshake", visitOrder{}, 0.75, 1, 0},
	{"P17", "over TLS 1.3, resumed handshake", visitOrder{Resume: true}, 0.75, 0, 0},
	{"P16h", "over TLS 1.3, full, post-quantum hybrid", visitOrder{Hybrid: true}, 0, 0, 0},
	{"P15", "the server closes the connection", visitOrder{Plain: true, Closes: true, Clients: 64}, 0.90, 0, 1.2},
	{"P15k", "the visitor closes the connection", visitOrder{Plain: true, Clients: 64}, 0.90, 0, 1.2},
	{"P15m", "P15 with 2,000 visitors at once", visitOrder{Plain: true, Closes: true, Clients: 2000}, 0.90, 0, 1.2},
}

// Names of the servers of the visits.
const (
	visitEdge  = "edge"
	visitStock = "crypto/tls + fasthttp"
	visitNginx = "nginx"
	visitPlain = "nginx-plain" // nginx without TLS is another process
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
	if m.order.Plain {
		return v.plain
	}
	return v.tls && (v.hybrid || !m.order.Hybrid)
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
// others'. Neighbouring runs see the machine in the same state.
//
// answered is the number of all visits that the first server has answered.
func measureVisits(s *settings, load *child, servers []visitServer) (all []visitCost, answered uint64, err error) {
	length := 2 * s.dur
	for _, mode := range visitModes {
		if !s.selects(mode.Name) {
			continue
		}
		var field []visitServer
		for _, v := range servers {
			if v.answers(&mode) {
				field = append(field, v)
			}
		}
		blocks, totals := make([][]run, len(field)), make([]run, len(field))
		own := make([]time.Duration, len(field))
		for round := -1; round < s.rounds; round++ { // the first round is not counted
			for i := range field {
				one, generator, err := driveVisits(load, &field[i], mode, length)
				if err != nil {
					return nil, 0, fmt.Errorf("%s, %s: %w", mode.Name, field[i].name, err)
				}
				if i == 0 {
					answered += uint64(one.requests + one.primed)
				}
				if round < 0 {
					continue
				}
				if round%blockRounds == 0 {
					blocks[i] = append(blocks[i], run{})
				}
				blocks[i][len(blocks[i])-1].add(one)
				totals[i].add(one)
				own[i] += generator
			}
		}
		for i, v := range field {
			t := totals[i]
			cost := visitCost{
				Mode: mode.Name, What: mode.What, Server: v.name, Micros: t.micros(), Busy: t.cpu.Seconds() / t.seconds,
				Load: float64(own[i]) / 1e3 / float64(t.requests), P50: t.took.quantile(0.5), P99: t.took.quantile(0.99),
				P999:   t.took.quantile(0.999),
				Visits: t.requests,
				ToP99:  totals[0].took.quantile(0.99) / t.took.quantile(0.99),
			}
			cost.Low, cost.Ratio, cost.High = relation(blocks[0], blocks[i])
			switch v.name {
			case visitNginx:
				cost.Budget, cost.Tail = mode.toNginx, mode.p99
			case visitCaddy:
				cost.Budget = mode.toCo
			}
			all = append(all, cost)
		}
	}
	return all, answered, nil
}

// relation returns the lower quartile, the median and the upper quartile of the ratios of a's cost to b's, block by block.
func relation(a, b []run) (low, median, high float64) {
	var v []float64
	for i := range a {
		v = append(v, a[i].micros()/b[i].micros())
	}
	slices.Sort(v)
	return quantile(v, 0.25), quantile(v, 0.5), quantile(v, 0.75)
}

// driveVisits makes one run against one server, and returns its cost and the generator's processor time.
func driveVisits(load *child, v *visitServer, mode visitMode, d time.Duration) (run, time.Duration, error) {
	before, err := v.used()
	if err != nil {
		return run{}, 0, err
	}
	o := mode.order
	o.Addr, o.Links, o.For = v.address("tls"), v.links, d
	if o.Plain {
		o.Addr = v.address("plain")
	}
	answer := load.ask(asJSON(o))
	after, err := v.used()
	if err != nil {
		return run{}, 0, err
	}
	var got visitOutcome
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return run{}, 0, fmt.Errorf("load generator: %q: %w", answer, err)
	}
	if got.Failure != "" || got.Visits == 0 {
		return run{}, 0, fmt.Errorf("%d visits answered, then: %s", got.Visits, cmp.Or(got.Failure, "no answer"))
	}
	return run{cpu: after - before, requests: got.Visits, primed: got.Primed, seconds: got.Seconds, took: *got.Took}, got.CPU, nil
}

// visits measures visits and adds them to the result. Servers that cannot be started become a note.
func (f *family) visits(r *result, dir string, say func(string, ...any)) error {
	s := f.s
	say("visits ...")
	if err := writeVisitFiles(dir); err != nil {
		return err
	}
	connections := idleConnections() // before the edge starts, which gets the same limit of open files
	load, err := f.start(s.cpus[1], "visit-load", "-conns", fmt.Sprint(min(s.conns, 16)))
	if err != nil {
		return err
	}
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
	} else {
		others, stop := f.otherVisitServers(r, dir)
		defer stop()
		servers = append(servers, others...)
	}
	var answered uint64
	if r.Visits, answered, err = measureVisits(s, load, servers); err != nil {
		return err
	}
	if err := edge.accounts(answered); err != nil {
		return err
	}
	if s.than != "" {
		return nil
	}
	r.Idle, err = measureIdle(edge, connections)
	return err
}

// otherVisitServers starts the servers of other projects. The caller must call stop.
func (f *family) otherVisitServers(r *result, dir string) (all []visitServer, stop func()) {
	var running []*foreign
	for _, start := range []func(*settings, string) (*foreign, error){startNginxTLS, startNginxPlain, startCaddyTLS} {
		other, err := start(f.s, dir)
		if other != nil {
			running = append(running, other)
		}
		if err != nil {
			r.Notes = append(r.Notes, err.Error())
			continue
		}
		plain := other.name == visitPlain
		v := visitServer{name: visitNginx, server: other, tls: !plain, plain: plain}
		if other.name == visitCaddy {
			v.name, v.hybrid = visitCaddy, true
		}
		all = append(all, v)
	}
	return all, func() {
		for _, other := range running {
			other.stop()
		}
	}
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

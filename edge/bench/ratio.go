//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// scenario is a kind of request with its cost budget.
type scenario struct {
	Name   string  `json:"name"`
	What   string  `json:"what"`
	Budget float64 `json:"budget,omitempty"` // minimum ratio of bare's processor time to this scenario's; 0: no budget

	class  byte   // class of slugs
	listen string // name of the server's address
	status string
	links  int // slugs to draw from, 0 for all of the class
}

var constant = scenario{Name: "bare", What: "a constant redirect", class: classPlain, listen: "bare", status: "302"}

// tracked is the name of the scenario with click ids.
const tracked = "P3C"

var scenarios = []scenario{
	{"P1", "plain link, click in the spool", 0.88, classPlain, "direct", "302", 0},
	{"P2", "10 nested rules; geo and User-Agent", 0.80, classRules, "proxied", "302", 0},
	{"P3", "A/B test of 5 variants", 0.86, classVariants, "direct", "302", 0},
	{tracked, "P3 with click ids", 0.83, classTracked, "tracking", "302", 0}, // 3 % less than P3
	{"P4", "unknown slug", 0.92, classUnknown, "direct", "404", 0},
}

// contestant is a scenario with its server.
type contestant struct {
	scenario
	server server
	// background means that the server works on requests after their answers and while others have their turn. That
	// time counts too.
	background bool
	last       time.Duration
}

// server is a server to measure: a child process or another program.
type server interface {
	address(listen string) string
	used() (time.Duration, error) // processor time so far
}

// ratio is the result of a scenario. Times are microseconds. Processor times are sums over all runs divided by the
// number of requests.
type ratio struct {
	scenario
	Bare     float64 `json:"bare_us"`
	Edge     float64 `json:"edge_us"`
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"` // a quarter of the blocks is below Low
	High     float64 `json:"high"`
	BareRate float64 `json:"bare_per_second"`
	Rate     float64 `json:"per_second"`
	P99Bare  float64 `json:"bare_p99_us"` // at full load
	P99      float64 `json:"p99_us"`
	Errors   int     `json:"wrong_answers"`
}

// blockRounds is the number of rounds that are summed before they are compared. With the default run length, a block is
// longer than the sync interval of the spool, so each block contains its share of syncs.
const blockRounds = 5

// compare runs bare and each contestant alternately in many short runs and compares their processor time. The result is
// the median over blocks of rounds. Neighbouring runs see the machine in the same state, even if it is busy.
func compare(s *settings, load *child, bare server, all []contestant) ([]ratio, error) {
	type pair struct{ bare, edge run }
	blocks := make([][]pair, len(all))
	totals := make([]pair, len(all))
	against := make([]contestant, len(all))
	for i := range all {
		against[i] = contestant{scenario: constant, server: bare}
		if s.than != "" {
			against[i].scenario = all[i].scenario
		}
		for _, c := range []*contestant{&against[i], &all[i]} {
			if _, err := drive(load, c, 2*s.dur, 0); err != nil {
				return nil, err
			}
		}
	}
	for round := range s.rounds {
		for i := range all {
			b, err := drive(load, &against[i], s.dur, 0)
			if err != nil {
				return nil, err
			}
			e, err := drive(load, &all[i], s.dur, 0)
			if err != nil {
				return nil, err
			}
			if round%blockRounds == 0 {
				blocks[i] = append(blocks[i], pair{})
			}
			last := &blocks[i][len(blocks[i])-1]
			last.bare.add(b)
			last.edge.add(e)
			totals[i].bare.add(b)
			totals[i].edge.add(e)
		}
	}
	var results []ratio
	for i := range all {
		var v []float64
		for _, b := range blocks[i] {
			v = append(v, b.bare.micros()/b.edge.micros())
		}
		slices.Sort(v)
		t := totals[i]
		results = append(results, ratio{
			scenario: all[i].scenario, Bare: t.bare.micros(), Edge: t.edge.micros(), Ratio: quantile(v, 0.5), Low: quantile(v, 0.25), High: quantile(v, 0.75),
			BareRate: t.bare.rate(), Rate: t.edge.rate(), P99Bare: t.bare.took.quantile(0.99), P99: t.edge.took.quantile(0.99), Errors: t.bare.errors + t.edge.errors,
		})
	}
	return results, nil
}

func report(w io.Writer, results []ratio) {
	fmt.Fprintf(w, "\n     %-38s %9s %9s %7s %15s %7s %11s\n", "", "bare µs", "µs", "ratio", "(quartiles)", "budget", "requests/s")
	for _, r := range results {
		verdict, budget := "ok", fmt.Sprintf("%.2f", r.Budget)
		switch {
		case r.Budget == 0:
			verdict, budget = "", ""
		case r.Ratio < r.Budget:
			verdict = "BELOW BUDGET"
		}
		if r.Errors > 0 {
			verdict += fmt.Sprintf(", %d WRONG ANSWERS", r.Errors)
		}
		fmt.Fprintf(w, "%-4s %-38s %9.2f %9.2f %7.3f (%.3f, %.3f) %6s %11.0f  %s\n", r.Name, r.What, r.Bare, r.Edge, r.Ratio, r.Low, r.High, budget, r.Rate, verdict)
	}
}

// run is the cost of one run or of several.
type run struct {
	cpu      time.Duration
	requests int
	seconds  float64
	errors   int
	primed   int // requests before the measured ones
	took     histogram
}

func (r *run) add(o run) {
	r.cpu += o.cpu
	r.requests += o.requests
	r.seconds += o.seconds
	r.errors += o.errors
	r.took.merge(&o.took)
}

// micros returns the processor time per request in microseconds.
func (r *run) micros() float64 { return float64(r.cpu) / 1e3 / float64(r.requests) }

func (r *run) rate() float64 { return float64(r.requests) / r.seconds }

// quantile returns a quantile of sorted values.
func quantile(v []float64, q float64) float64 {
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 >= len(v) {
		return v[i]
	}
	return v[i] + (v[i+1]-v[i])*(at-float64(i))
}

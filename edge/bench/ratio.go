//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// scenario is a kind of request with its cost budget.
type scenario struct {
	Name   string  `json:"name"`
	What   string  `json:"what"`
	Budget float64 `json:"budget,omitempty"` // minimum ratio of bare's processor time to this scenario's; 0: no budget

	class    byte   // class of slugs
	listen   string // name of the server's address
	status   string
	links    int  // slugs to draw from, 0 for all of the class
	constant bool // the server has one destination
	uniform  bool // all slugs are equally likely
}

var (
	constant = scenario{Name: "bare", What: "a constant redirect", class: classPlain, listen: "bare", status: "302", constant: true}
	// constantPlus is constant behind the edge's listener and with the options of its server. What an edge costs beyond it is the
	// cost of finding a link and of storing a click.
	constantPlus = scenario{Name: "B+", What: "bare+: behind the edge's listener", class: classPlain, listen: "bare+", status: "302",
		constant: true}
)

// synced is a plain link at an edge whose redirects wait for the disk.
var synced = scenario{Name: "P1a", What: "P1 with SPOOL_SYNC=always", class: classPlain, listen: "direct", status: "302", links: 100_000}

// tracked is the name of the scenario with click ids.
const tracked = "P3C"

var scenarios = []scenario{
	{Name: "P1", What: "plain link, click in the spool", Budget: 1.10, class: classPlain, listen: "direct", status: "302"},
	{Name: "P2", What: "10 nested rules on 10 subjects", Budget: 0.85, class: classRules, listen: "proxied", status: "302"},
	{Name: "P3", What: "A/B test of 5 variants", Budget: 1.05, class: classVariants, listen: "direct", status: "302"},
	{Name: tracked, What: "P3 with click ids", Budget: 1.00, class: classTracked, listen: "tracking", status: "302"},
	{Name: "P4", What: "unknown slug", Budget: 1.12, class: classUnknown, listen: "direct", status: "404"},
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
// number of requests. Latencies are those at full load.
type ratio struct {
	scenario
	Bare   float64 `json:"bare_us"`
	Edge   float64 `json:"edge_us"`
	Median float64 `json:"edge_median_us"` // median over the blocks
	// Total is the time that the whole machine used, without the load generator: the server's, and the kernel's for interrupts
	// and for writing to the disk. Other programs' time is part of it.
	Total     float64 `json:"total_us"`
	BareTotal float64 `json:"bare_total_us"`
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"` // a quarter of the blocks is below Low
	High      float64 `json:"high"`
	ToPlus    float64 `json:"ratio_to_bare_plus,omitempty"`
	BareRate  float64 `json:"bare_per_second"`
	Rate      float64 `json:"per_second"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	P999      float64 `json:"p999_us"`
	P99Bare   float64 `json:"bare_p99_us"`
	P999Bare  float64 `json:"bare_p999_us"`
	Noise     float64 `json:"bare_noise"` // the interquartile range of bare's blocks in relation to their median
	Answers   int     `json:"answers"`
	Rules     []int   `json:"answers_by_rule,omitempty"`
	Errors    int     `json:"wrong_answers"`
}

// Budgets of latencies at full load, in relation to bare's.
const (
	maxP99  = 0.8
	maxP999 = 1.0
)

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
		var v, bares, own []float64
		for _, b := range blocks[i] {
			v = append(v, b.bare.micros()/b.edge.micros())
			bares = append(bares, b.bare.micros())
			own = append(own, b.edge.micros())
		}
		slices.Sort(v)
		slices.Sort(bares)
		t := totals[i]
		results = append(results, ratio{
			scenario: all[i].scenario, Bare: t.bare.micros(), Edge: t.edge.micros(), Median: median(own),
			Total: perRequest(t.edge.total, t.edge.requests), BareTotal: perRequest(t.bare.total, t.bare.requests), Ratio: quantile(v, 0.5),
			Low: quantile(v, 0.25), High: quantile(v, 0.75),
			BareRate: t.bare.rate(), Rate: t.edge.rate(), Errors: t.bare.errors + t.edge.errors,
			Noise: (quantile(bares, 0.75) - quantile(bares, 0.25)) / quantile(bares, 0.5),
			Rules: t.edge.rules, Answers: t.edge.requests,
			P50: t.edge.took.quantile(0.5), P99: t.edge.took.quantile(0.99), P999: t.edge.took.quantile(0.999),
			P99Bare: t.bare.took.quantile(0.99), P999Bare: t.bare.took.quantile(0.999),
		})
	}
	return results, nil
}

// relateToPlus sets the ratios to bare+, if it was measured.
func relateToPlus(results []ratio) {
	if i := slices.IndexFunc(results, func(r ratio) bool { return r.Name == constantPlus.Name }); i >= 0 {
		for n := range results {
			results[n].ToPlus = results[n].Ratio / results[i].Ratio // both in relation to bare, whose runs were next to theirs
		}
	}
}

func report(w io.Writer, results []ratio) {
	fmt.Fprintf(w, "\n     %-42s %8s %8s %8s %8s %8s %7s %15s %6s %8s %10s %7s %7s %7s %14s\n", "at full load", "bare µs", "total", "µs",
		"median", "total", "ratio", "(quartiles)", "budget", "to bare+", "requests/s", "p50 µs", "p99", "p99.9", "to bare's")
	for _, r := range results {
		budget := ""
		if r.Budget > 0 {
			budget = fmt.Sprintf("%.2f", r.Budget)
		}
		fmt.Fprintf(w,
			"%-4s %-42s %8.2f %8.2f %8.2f %8.2f %8.2f %7.3f (%.3f, %.3f) %6s %8.3f %10.0f %7.0f %7.0f %7.0f %6.2f × %4.2f ×  %s\n",
			r.Name, r.What, r.Bare, r.BareTotal, r.Edge, r.Median, r.Total, r.Ratio, r.Low, r.High, budget, r.ToPlus,
			r.Rate, r.P50, r.P99, r.P999, r.P99/r.P99Bare, r.P999/r.P999Bare, r.verdict())
	}
	for _, r := range results {
		if r.Name == "P2" {
			reportRules(w, &r)
		}
	}
}

// verdict names the budgets that a scenario misses.
func (r *ratio) verdict() string {
	var missed []string
	if r.Ratio < r.Budget {
		missed = append(missed, "BELOW BUDGET")
	}
	if r.Budget > 0 && r.P99 > maxP99*r.P99Bare {
		missed = append(missed, "p99 ABOVE BUDGET")
	}
	if r.Budget > 0 && r.P999 > maxP999*r.P999Bare {
		missed = append(missed, "p99.9 ABOVE BUDGET")
	}
	if r.Errors > 0 {
		missed = append(missed, fmt.Sprintf("%d WRONG ANSWERS", r.Errors))
	}
	if len(missed) == 0 && r.Budget > 0 {
		return "ok"
	}
	return strings.Join(missed, ", ")
}

// reportRules writes which share of the requests each rule has answered.
func reportRules(w io.Writer, r *ratio) {
	var parts []string
	left := 1.0
	for i, n := range r.Rules {
		share := float64(n) / float64(r.Answers)
		parts = append(parts, fmt.Sprintf("%s %.1f %%", ruleSubjects[i], 100*share))
		left -= share
	}
	fmt.Fprintf(w, "     answers of %s by rule: %s, none %.1f %%\n", r.Name, strings.Join(parts, ", "), 100*left)
}

// run is the cost of one run or of several.
type run struct {
	cpu       time.Duration // of the server
	total     time.Duration // of the whole machine without the load generator
	requests  int
	seconds   float64
	errors    int
	primed    int // requests before the measured ones
	redirects int
	rules     []int // answers by rule
	took      histogram
}

func (r *run) add(o run) {
	r.cpu += o.cpu
	r.total += o.total
	r.requests += o.requests
	r.seconds += o.seconds
	r.errors += o.errors
	r.redirects += o.redirects
	if r.rules == nil {
		r.rules = make([]int, len(o.rules))
	}
	for i, n := range o.rules {
		r.rules[i] += n
	}
	r.took.merge(&o.took)
}

// micros returns the processor time per request in microseconds.
func (r *run) micros() float64 { return perRequest(r.cpu, r.requests) }

// perRequest returns microseconds.
func perRequest(d time.Duration, requests int) float64 { return float64(d) / 1e3 / float64(requests) }

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

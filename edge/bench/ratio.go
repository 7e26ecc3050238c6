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

	listen string // name of the server's address
	order  order
}

var (
	constant = scenario{Name: "bare", What: "a constant redirect", listen: "bare", order: order{Status: "302", Constant: true}}
	// constantPlus is constant behind the edge's listener and with the options of its server. What an edge costs beyond it is the
	// cost of finding a link and of storing a click.
	constantPlus = scenario{Name: "B+", What: "bare+: behind the edge's listener", listen: "bare+", order: constant.order}
)

// synced is a plain link at an edge whose redirects wait for the disk.
var synced = scenario{Name: "P1a", What: "P1 with SPOOL_SYNC=always", listen: "direct", order: order{Status: "302", Links: 100_000}}

// tracked is the name of the scenario with click ids.
const tracked = "P3C"

var scenarios = []scenario{
	{Name: "P1", What: "plain link, click in the spool", Budget: 1.10, listen: "direct", order: order{Status: "302"}},
	{Name: "P2", What: "10 nested rules on 10 subjects", Budget: 0.85, listen: "proxied", order: order{Class: classRules, Status: "302"}},
	{Name: "P3", What: "A/B test of 5 variants", Budget: 1.05, listen: "direct", order: order{Class: classVariants, Status: "302"}},
	{Name: tracked, What: "P3 with click ids", Budget: 1.00, listen: "tracking", order: order{Class: classTracked, Status: "302"}},
	{Name: "P4", What: "unknown slug", Budget: 1.12, listen: "direct", order: order{Class: classUnknown, Status: "404"}},
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

// series are the runs of one contestant.
type series struct {
	total  run
	blocks []run // sums over blockRounds each
}

// alternate makes rounds in which each of n contestants has one run, after a round that is not counted. Neighbouring runs see the
// machine in the same state, even if it is busy.
func alternate(rounds, n int, one func(i int) (run, error)) ([]series, error) {
	all := make([]series, n)
	for round := -1; round < rounds; round++ {
		for i := range all {
			r, err := one(i)
			if err != nil {
				return nil, err
			}
			if round < 0 {
				continue
			}
			if round%blockRounds == 0 {
				all[i].blocks = append(all[i].blocks, run{})
			}
			all[i].blocks[len(all[i].blocks)-1].add(r)
			all[i].total.add(r)
		}
	}
	return all, nil
}

// micros returns the processor time per request of each block, in ascending order.
func (s *series) micros() (v []float64) {
	for _, b := range s.blocks {
		v = append(v, b.micros())
	}
	slices.Sort(v)
	return v
}

// relation returns the lower quartile, the median and the upper quartile of the ratios of a's processor time to b's, block by block.
func relation(a, b *series) (low, median, high float64) {
	var v []float64
	for i := range a.blocks {
		v = append(v, a.blocks[i].micros()/b.blocks[i].micros())
	}
	slices.Sort(v)
	return quantile(v, 0.25), quantile(v, 0.5), quantile(v, 0.75)
}

// compare runs bare and each contestant alternately in many short runs and compares their processor time. The result is
// the median over blocks of rounds.
func compare(s *settings, load *child, bare server, all []contestant) ([]ratio, error) {
	against := make([]contestant, len(all))
	for i := range all {
		against[i] = contestant{scenario: constant, server: bare}
		if s.than != "" {
			against[i].scenario = all[i].scenario
		}
	}
	runs, err := alternate(s.rounds, 2*len(all), func(i int) (run, error) {
		return drive(load, []*contestant{&against[i/2], &all[i/2]}[i%2], s.dur, 0)
	})
	if err != nil {
		return nil, err
	}
	var results []ratio
	for i := range all {
		b, e := &runs[2*i], &runs[2*i+1]
		bares, bare, edge := b.micros(), &b.total, &e.total
		r := ratio{
			scenario: all[i].scenario, Bare: bare.micros(), Edge: edge.micros(), Median: quantile(e.micros(), 0.5),
			Total: perRequest(edge.total, edge.requests), BareTotal: perRequest(bare.total, bare.requests),
			BareRate: bare.rate(), Rate: edge.rate(), Errors: bare.errors + edge.errors,
			Noise: (quantile(bares, 0.75) - quantile(bares, 0.25)) / quantile(bares, 0.5),
			Rules: edge.rules, Answers: edge.requests,
			P50: edge.took.quantile(0.5), P99: edge.took.quantile(0.99), P999: edge.took.quantile(0.999),
			P99Bare: bare.took.quantile(0.99), P999Bare: bare.took.quantile(0.999),
		}
		r.Low, r.Ratio, r.High = relation(b, e)
		results = append(results, r)
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
	generator time.Duration // of the load generator
	requests  int
	seconds   float64
	errors    int
	rules     []int // answers by rule
	took      histogram
}

func (r *run) add(o run) {
	r.cpu += o.cpu
	r.total += o.total
	r.generator += o.generator
	r.requests += o.requests
	r.seconds += o.seconds
	r.errors += o.errors
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

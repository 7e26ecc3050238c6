//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
)

// Parts of the usual ratio that a scenario must reach in the guard. On a busy machine, scenarios that touch more memory lose
// more. There the guard finds only changes that make a scenario about a third more expensive.
const (
	quietMargin = 0.92
	busyMargin  = 0.70
	// quiet is the highest noise of bare's cost (see ratio.Noise) at which a run counts as quiet.
	quiet = 0.04
)

// usual are the ratios on a quiet machine, as far as they are below their budgets: the guard must not fail because a budget is
// missed, but when a scenario becomes more expensive.
var usual = map[string]float64{"P1": 0.88, "P2": 0.70, "P3": 0.86, tracked: 0.83, "P4": 0.93}

// Highest ratios in a quiet run, and on a busy machine: of the 99th percentile at full load to bare's, and of a visit's cost to
// that at a plain fasthttp server.
var (
	tailLimits  = [2]float64{2.5, 6}
	visitLimits = [2]float64{0.75, 0.95}
)

// mostAllocations is the maximum number of allocations per 1000 requests, including connections and background work.
const mostAllocations = 20

// guard measures P1 to P4 with few links and counts allocations. It fails if either is out of bounds.
func guard(s *settings) error {
	s.links, s.special = 200_000, 500
	s.rounds, s.dur = 25, s.dur*3/5
	args := []string{"-links", strconv.Itoa(s.links), "-special", strconv.Itoa(s.special)}
	f := &family{s: s, args: args}
	defer f.stop()
	var all []*child
	for i, role := range []string{"bare", "edge", "load"} {
		c, err := f.start(s.cpus[i/2], role)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	bare, edge, load := all[0], all[1], all[2]
	var contestants []contestant
	for _, sc := range scenarios {
		contestants = append(contestants, contestant{scenario: sc, server: edge})
	}
	results, err := compare(s, load, bare, contestants)
	if err != nil {
		return err
	}
	failed := 0
	for i, r := range results {
		allocations, err := allocations(s, load, edge, &contestants[i])
		if err != nil {
			return err
		}
		verdict := "ok"
		floor, ceiling, state := usual[r.Name]*quietMargin, tailLimits[0], "quiet"
		if r.Noise > quiet {
			floor, ceiling, state = usual[r.Name]*busyMargin, tailLimits[1], "busy"
		}
		if tail := r.P99 / r.P99Bare; r.Ratio < floor || tail > ceiling || r.Errors > 0 || allocations > mostAllocations {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("%-4s %-32s %s: ratio to bare %.3f (minimum %.3f), p99 %.2f × (maximum %.1f), %.1f allocations per 1000 requests (maximum %d), %d wrong answers: %s\n",
			r.Name, r.What, state, r.Ratio, floor, r.P99/r.P99Bare, ceiling, allocations, mostAllocations, r.Errors, verdict)
	}
	if err := edge.accounts(uint64(edge.redirects)); err != nil {
		return err
	}
	visits, err := f.guardVisits()
	if err != nil {
		return err
	}
	failed += visits
	stages, err := guardStages()
	if err != nil {
		return err
	}
	if failed += stages; failed > 0 {
		return fmt.Errorf("%d figures are out of bounds", failed)
	}
	return nil
}

// allocations returns how many allocations the edge makes for 1000 requests of a scenario: the lowest of three measurements. A
// connection that is idle for a second leaves the server, and its return allocates memory. On a machine that pauses for so
// long, a measurement contains that.
func allocations(s *settings, load, edge *child, c *contestant) (lowest float64, err error) {
	for n := range 3 {
		if _, err := drive(load, c, s.dur, 0); err != nil { // brings the connections back
			return 0, err
		}
		before, err := mallocs(edge)
		if err != nil {
			return 0, err
		}
		one, err := drive(load, c, 2*s.dur, 0)
		if err != nil {
			return 0, err
		}
		after, err := mallocs(edge)
		if err != nil {
			return 0, err
		}
		if each := 1000 * (after - before) / float64(one.requests); n == 0 || each < lowest {
			lowest = each
		}
	}
	return lowest, nil
}

// guardVisits compares visits without TLS with those at a plain fasthttp server. It returns 1 if they cost too much, else 0.
func (f *family) guardVisits() (failed int, err error) {
	dir, err := os.MkdirTemp(f.s.dir, "bench-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeVisitFiles(dir); err != nil {
		return 0, err
	}
	load, err := f.start(f.s.cpus[1], "visit-load")
	if err != nil {
		return 0, err
	}
	edge, err := f.start(f.s.cpus[0], "visit-edge", "-data", dir, "-links", "10000")
	if err != nil {
		return 0, err
	}
	stock, err := f.start(f.s.cpus[0], "visit-stock", "-data", dir)
	if err != nil {
		return 0, err
	}
	s := *f.s
	s.only, s.rounds = "P15", 10
	costs, answered, err := measureVisits(&s, load, []visitServer{
		{name: visitEdge, server: edge, links: 10_000, plain: true}, {name: visitStock, server: stock, plain: true},
	})
	if err != nil {
		return 0, err
	}
	if err := edge.accounts(answered); err != nil {
		return 0, err
	}
	for _, c := range []*child{load, edge, stock} {
		c.stop() // before their folder is removed
	}
	c, limit, verdict := costs[1], visitLimits[0], "ok"
	if c.High-c.Low > quiet*c.Ratio {
		limit = visitLimits[1]
	}
	if c.Ratio > limit {
		failed, verdict = 1, "FAILED"
	}
	fmt.Printf("P15  a visit, in relation to plain fasthttp: %.3f (maximum %.2f): %s\n", c.Ratio, limit, verdict)
	return failed, nil
}

func mallocs(edge *child) (float64, error) {
	return strconv.ParseFloat(edge.ask("mallocs"), 64)
}

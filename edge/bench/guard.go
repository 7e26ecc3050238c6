//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// bounds are the limits of the guard.
type bounds struct {
	ratio, tail, stage float64 // lowest, highest, highest
}

// The guard compares with the reference build of the edge, if there is one. Both builds alternate on the same processor, so their
// ratio depends neither on the kind of machine nor on other load. Without a reference, the guard compares with bare. On another
// kind of machine or next to other load, scenarios that touch more memory then lose more. The guard then finds only changes that
// make a scenario about a third more expensive.
var (
	toReference = bounds{
		ratio: 0.92, // the reference's processor time to this build's
		tail:  1.6,  // this build's 99th percentile at full load to the reference's
		stage: 1.5,  // this build's time for a stage to the reference's
	}
	toBare = bounds{
		ratio: 0.70, // part of the usual ratio to bare
		tail:  6,    // the 99th percentile at full load to bare's
	}
)

// usual are the ratios to bare on a quiet machine, as far as they are below their budgets: the guard must not fail because a
// budget is missed, but when a scenario becomes more expensive.
var usual = map[string]float64{"P1": 0.88, "P2": 0.70, "P3": 0.86, tracked: 0.83, "P4": 0.93}

// Highest ratios of a visit's cost to that at a plain fasthttp server, in a quiet run and on a busy machine. A run is quiet if the
// quartiles of the ratio differ by at most the part visitsQuiet of it.
var visitLimits = [2]float64{0.75, 0.95}

const visitsQuiet = 0.04

// mostAllocations is the maximum number of allocations per 1000 requests, including connections and background work.
const mostAllocations = 20

// guard measures P1 to P4 with few links, the stages of an answer and visits. It fails if one has become more expensive than its
// bounds permit, if answers allocate memory, or if an answer is wrong. The cost depends by some per cent on where a process has its
// memory. Figures that are out of bounds are therefore measured once more, with new processes.
func guard(s *settings) error {
	s.links, s.special = 200_000, 500
	s.rounds, s.dur = 25, s.dur*3/5
	f := &family{s: s, args: []string{"-links", strconv.Itoa(s.links), "-special", strconv.Itoa(s.special)}}
	defer f.stop()
	failed := 0
	for _, part := range []func() (int, error){f.guardRatios, f.guardVisits, f.guardStages} {
		n, err := part()
		if n > 0 && err == nil {
			fmt.Println("     once more, with new processes:")
			f.stop()
			n, err = part()
		}
		if err != nil {
			return err
		}
		failed += n
	}
	if failed > 0 {
		return fmt.Errorf("%d figures are out of bounds", failed)
	}
	return nil
}

// startReference starts the reference build in a role, if there is one, and otherwise this build in the role without.
func (f *family) startReference(role, without string) (c *child, err error) {
	if f.s.than == "" {
		return f.start(f.s.cpus[0], without)
	}
	if c, err = start(f.s.than, f.s.cpus[0], role, f.args); err == nil {
		f.all = append(f.all, c)
	}
	return c, err
}

// guardRatios measures P1 to P4 and returns how many of them are out of bounds.
func (f *family) guardRatios() (failed int, err error) {
	s := f.s
	base, err := f.startReference("edge", "bare")
	if err != nil {
		return 0, err
	}
	edge, err := f.start(s.cpus[0], "edge")
	if err != nil {
		return 0, err
	}
	load, err := f.start(s.cpus[1], "load")
	if err != nil {
		return 0, err
	}
	var contestants []contestant
	for _, sc := range scenarios {
		contestants = append(contestants, contestant{scenario: sc, server: edge})
	}
	results, err := compare(s, load, base, contestants)
	if err != nil {
		return 0, err
	}
	for i, r := range results {
		if r.Errors > 0 {
			return 0, fmt.Errorf("%s: %d wrong answers", r.Name, r.Errors)
		}
		allocations, err := allocations(s, load, edge, &contestants[i])
		if err != nil {
			return 0, err
		}
		to, least, most := "the reference", toReference.ratio, toReference.tail
		if s.than == "" {
			to, least, most = "bare", usual[r.Name]*toBare.ratio, toBare.tail
		}
		verdict, tail := "ok", r.P99/r.P99Bare
		if r.Ratio < least || tail > most || allocations > mostAllocations {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("%-4s %-32s ratio to %s %.3f (quartiles %.3f and %.3f, minimum %.3f), p99 %.2f × (maximum %.1f), %.1f allocations per 1000 requests (maximum %d): %s\n",
			r.Name, r.What, to, r.Ratio, r.Low, r.High, least, tail, most, allocations, mostAllocations, verdict)
	}
	return failed, edge.accounts(uint64(edge.redirects))
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
	if c.High-c.Low > visitsQuiet*c.Ratio {
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

// guardStages measures the stages of an answer and returns how many are out of bounds.
func (f *family) guardStages() (failed int, err error) {
	own, err := f.start(f.s.cpus[0], "stages")
	if err != nil {
		return 0, err
	}
	var reference *child
	if f.s.than != "" {
		if reference, err = f.startReference("stages", ""); err != nil {
			return 0, err
		}
	}
	stages, ratios, err := compareStages(own, reference)
	if err != nil {
		return 0, err
	}
	var allocations []float64
	if answer := own.ask("allocations"); json.Unmarshal([]byte(answer), &allocations) != nil || len(allocations) != len(stages) {
		return 0, fmt.Errorf("stages answered %q when asked for allocations", answer)
	}
	for i, st := range stages {
		to, most := "the reference", toReference.stage
		if reference == nil {
			to, most = "an arithmetic loop", st.Most
		}
		slices.Sort(ratios[i])
		ratio, verdict := quantile(ratios[i], 0.5), "ok"
		if ratio > most || allocations[i] > 0 {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("     %-32s time in relation to %s %.2f (maximum %.1f), %.0f allocations (maximum 0): %s\n", st.Name, to, ratio, most, allocations[i], verdict)
	}
	return failed, nil
}

// compareStages runs the stages of both builds alternately. It returns the stages of own, and for each of them the times of all
// turns in relation to those of reference, or to the arithmetic loop if there is no reference.
func compareStages(own, reference *child) (stages []stageTime, ratios [][]float64, err error) {
	for range 15 {
		if stages, err = own.turn(); err != nil {
			return nil, nil, err
		}
		if ratios == nil {
			ratios = make([][]float64, len(stages))
		}
		var base []stageTime
		if reference != nil {
			if base, err = reference.turn(); err != nil {
				return nil, nil, err
			}
		}
		for i, t := range stages {
			to := t.Loop
			if reference != nil {
				at := slices.IndexFunc(base, func(b stageTime) bool { return b.Name == t.Name })
				if at < 0 {
					return nil, nil, fmt.Errorf("the reference build has no stage %q", t.Name)
				}
				to = base[at].Stage
			}
			ratios[i] = append(ratios[i], t.Stage/to)
		}
	}
	return stages, ratios, nil
}

// turn asks a process with the role of the stages to run each stage once.
func (c *child) turn() (times []stageTime, err error) {
	if answer := c.ask("turn"); json.Unmarshal([]byte(answer), &times) != nil || len(times) == 0 {
		return nil, fmt.Errorf("%s answered %q when asked for a turn", c.role, answer)
	}
	return times, nil
}

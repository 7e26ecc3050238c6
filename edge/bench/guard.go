//go:build linux

package main

import (
	"fmt"
	"strconv"
)

// margin is the part of its budget that a scenario must reach in the guard. On a busy machine, scenarios that touch
// more memory lose more. The guard therefore finds only changes that make a scenario about a third more expensive.
const margin = 0.70

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
		before, err := mallocs(edge)
		if err != nil {
			return err
		}
		one, err := drive(load, &contestants[i], 2*s.dur, 0)
		if err != nil {
			return err
		}
		after, err := mallocs(edge)
		if err != nil {
			return err
		}
		allocations := 1000 * (after - before) / float64(one.requests)
		verdict := "ok"
		if floor := r.Budget * margin; r.Ratio < floor || r.Errors > 0 || allocations > mostAllocations {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("%-4s %-38s ratio to bare %.3f (minimum %.3f), %.1f allocations per 1000 requests (maximum %d), %d wrong answers: %s\n",
			r.Name, r.What, r.Ratio, r.Budget*margin, allocations, mostAllocations, r.Errors, verdict)
	}
	stages, err := guardStages()
	if err != nil {
		return err
	}
	if failed += stages; failed > 0 {
		return fmt.Errorf("%d figures are out of bounds", failed)
	}
	return nil
}

func mallocs(edge *child) (float64, error) {
	return strconv.ParseFloat(edge.ask("mallocs"), 64)
}

//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

// procCost is the cost of a plain link with a number of processors for Go (GOMAXPROCS). Server and load generator share the
// processors of the machine, except with one, where each has its own.
type procCost struct {
	What   string  `json:"what"`
	Procs  int     `json:"gomaxprocs"`
	Micros float64 `json:"us"` // processor time per request
	Rate   float64 `json:"per_second"`
	// Capacity is the number of requests for the processor time of a second on two processors, in relation to one processor.
	Capacity float64 `json:"capacity_to_one"`
	ToTwo    float64 `json:"rate_to_two"` // Rate in relation to that with two processors
}

// procCounts are the measured values of GOMAXPROCS.
var procCounts = []int{1, 2, 8, 16, 64}

// Budgets of several processors: the lowest Capacity with two, and the lowest ToTwo with more than two.
const (
	minCapacity = 1.9
	minToTwo    = 0.95
)

// measureProcs runs a plain link and bare with each of procCounts alternately.
func (f *family) measureProcs() (all []procCost, err error) {
	pinned, err := f.start(f.s.cpus[1], "load")
	if err != nil {
		return nil, err
	}
	shared, err := f.start(-1, "load")
	if err != nil {
		return nil, err
	}
	plain := scenarios[0]
	plain.order.Links = min(f.s.links, 100_000)
	var each [2][]contestant
	for i, sc := range []scenario{plain, constant} {
		if each[i], err = f.withProcs(sc, []string{"edge", "bare"}[i]); err != nil {
			return nil, err
		}
	}
	runs, err := alternate(max(f.s.rounds/2, 5), 2*len(procCounts), func(i int) (run, error) {
		load := shared
		if procCounts[i/2] == 1 {
			load = pinned
		}
		return drive(load, &each[i%2][i/2], 2*f.s.dur, 0)
	})
	if err != nil {
		return nil, err
	}
	for i := range each {
		for n, procs := range procCounts {
			t, one, two := &runs[2*n+i].total, &runs[i].total, &runs[2+i].total
			all = append(all, procCost{
				What: each[i][n].What, Procs: procs, Micros: t.micros(), Rate: t.rate(),
				Capacity: 2 * one.micros() / t.micros(), ToTwo: t.rate() / two.rate(),
			})
		}
	}
	return all, nil
}

// withProcs starts a server for each of procCounts.
func (f *family) withProcs(sc scenario, role string) (all []contestant, err error) {
	defer func() { _ = os.Unsetenv("GOMAXPROCS") }()
	for _, n := range procCounts {
		cpu := -1
		if n == 1 {
			cpu = f.s.cpus[0]
		}
		if err := os.Setenv("GOMAXPROCS", strconv.Itoa(n)); err != nil {
			return nil, err
		}
		server, err := f.start(cpu, role, "-links", strconv.Itoa(min(f.s.links, 100_000)), "-profile", "")
		if err != nil {
			return nil, err
		}
		all = append(all, contestant{scenario: sc, server: server})
	}
	return all, nil
}

func reportProcs(w io.Writer, all []procCost) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n     %-31s %10s %9s %11s %22s %14s\n", "", "GOMAXPROCS", "µs", "requests/s", "capacity to one (1.9)", "to two (0.95)")
	for _, p := range all {
		verdict := ""
		if p.What != constant.What && (p.Procs == 2 && p.Capacity < minCapacity || p.Procs > 2 && p.ToTwo < minToTwo) {
			verdict = "BELOW BUDGET"
		}
		fmt.Fprintf(w, "P18  %-31s %10d %9.2f %11.0f %22.2f %14.2f  %s\n", p.What, p.Procs, p.Micros, p.Rate, p.Capacity, p.ToTwo, verdict)
	}
}

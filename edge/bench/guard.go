//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
)

// bounds are the limits of the guard.
type bounds struct {
	ratio float64 // lowest permitted value
	tail  float64 // highest permitted value
	stage float64 // highest permitted value
}

// The guard compares this build with the reference build, if there is one. Both alternate on the same processor, so the kind of
// machine and its other load affect both. Without a reference build, the guard compares with bare. An edge uses more memory than
// bare, so the ratio to bare falls on some machines and beside other load. The bounds are therefore wide: the guard then finds only
// changes that make a scenario about a third more expensive.
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

// usual are the ratios to bare on any machine, at most the budgets: the guard must not fail because a
// budget is missed, but when a scenario becomes more expensive.
var usual = map[string]float64{"P1": 1.10, "P2": 0.85, "P3": 1.05, tracked: 1.00, "P4": 1.12}

// visitLimit is the highest ratio of a visit's cost to that at a plain fasthttp server, on any machine. It is 0.65 on a quiet one.
const visitLimit = 0.95

// attempts is how often a part is measured before it counts as failed.
const attempts = 3

// mostAllocations is the maximum number of allocations per 1000 requests, including connections and background work.
const mostAllocations = 20

// guard measures P1 to P4 with few links, the stages of an answer and visits. It fails if one has become more expensive than its
// bounds permit, if answers allocate memory, or if an answer is wrong. The cost depends by some per cent on where a process has its
// memory, and by more beside other load. Figures that are out of bounds are therefore measured again, with new processes.
func guard(s *settings) error {
	s.links, s.special = 200_000, 500
	s.rounds, s.dur = 25, s.dur*3/5
	f := &family{s: s, args: []string{"-links", strconv.Itoa(s.links), "-special", strconv.Itoa(s.special)}}
	defer f.stop()
	failed := 0
	for _, part := range []func() (int, error){f.guardRatios, f.guardVisits, f.guardStages} {
		n, err := part()
		for attempt := 2; err == nil && n > 0 && attempt <= attempts; attempt++ {
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

// startBase starts what the guard compares an edge with: the reference build in the role of the edge, or this build in another role
// if there is no reference build.
func (f *family) startBase(role, other string, more ...string) (*child, error) {
	if f.s.than == "" {
		return f.start(f.s.cpus[0], other, more...)
	}
	return f.startBuild(f.s.than, f.s.cpus[0], role, append(slices.Clone(f.args), more...))
}

// guardRatios measures P1 to P4 and returns how many of them are out of bounds.
func (f *family) guardRatios() (failed int, err error) {
	s := f.s
	base, err := f.startBase("edge", "bare")
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
		fmt.Printf("%-4s %-32s ratio to %s %.3f (quartiles %.3f and %.3f, minimum %.3f), p99 %.2f × (maximum %.1f), %.1f allocations per "+
			"1000 requests (maximum %d): %s\n",
			r.Name, r.What, to, r.Ratio, r.Low, r.High, least, tail, most, allocations, mostAllocations, verdict)
	}
	return failed, edge.accounts()
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

func mallocs(edge *child) (float64, error) {
	return strconv.ParseFloat(edge.ask("mallocs"), 64)
}

// guardVisits compares visits without TLS with those at the reference build, or at a plain fasthttp server if there is none. It
// returns 1 if they cost too much, else 0.
func (f *family) guardVisits() (failed int, err error) {
	var dirs [2]string // data folders: the edge's, and that of the server to compare it with
	for i := range dirs {
		if dirs[i], err = os.MkdirTemp(f.s.dir, "bench-"); err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(dirs[i]) }()
		if err := writeVisitFiles(dirs[i]); err != nil {
			return 0, err
		}
	}
	load, err := f.start(f.s.cpus[1], "load")
	if err != nil {
		return 0, err
	}
	edge, err := f.start(f.s.cpus[0], "visit-edge", "-data", dirs[0], "-links", "10000")
	if err != nil {
		return 0, err
	}
	base, err := f.startBase("visit-edge", "visit-stock", "-data", dirs[1], "-links", "10000")
	if err != nil {
		return 0, err
	}
	s, other := *f.s, visitServer{name: visitStock, server: base, plain: true}
	s.only, s.rounds = "P15", 10
	to, most := "plain fasthttp", visitLimit
	if s.than != "" {
		to, most = "the reference", 1/toReference.ratio
		other.name, other.links = "reference", 10_000
	}
	costs, err := measureVisits(&s, load, []visitServer{{name: visitEdge, server: edge, links: 10_000, plain: true}, other})
	if err != nil {
		return 0, err
	}
	if err := edge.accounts(); err != nil {
		return 0, err
	}
	for _, c := range []*child{load, edge, base} {
		c.stop() // a running process would write to a folder while it is removed
	}
	c, verdict := costs[1], "ok"
	if c.Ratio > most {
		failed, verdict = 1, "FAILED"
	}
	fmt.Printf("P15  a visit                          cost in relation to %s %.3f (quartiles %.3f and %.3f, maximum %.3f): %s\n",
		to, c.Ratio,
		c.Low, c.High, most, verdict)
	return failed, nil
}

// guardStages measures the stages of an answer and returns how many are out of bounds.
func (f *family) guardStages() (failed int, err error) {
	own, err := f.start(f.s.cpus[0], "stages")
	if err != nil {
		return 0, err
	}
	var reference *child
	if f.s.than != "" {
		if reference, err = f.startBuild(f.s.than, f.s.cpus[0], "stages", f.args); err != nil {
			return 0, err
		}
	}
	var stages []stageBound
	if err := own.askJSON("stages", &stages); err != nil {
		return 0, err
	}
	ratios, err := compareStages(stages, own, reference)
	if err != nil {
		return 0, err
	}
	for i, st := range stages {
		to, most := "the reference", toReference.stage
		if reference == nil {
			to, most = "an arithmetic loop", st.Most
		}
		ratio, verdict := ratios[i], "ok"
		if ratio > most {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("     %-32s time in relation to %s %.2f (maximum %.1f): %s\n", st.Name, to, ratio, most, verdict)
	}
	return failed, nil
}

// compareStages runs each stage of both builds alternately. For each stage of own, it returns the median time in relation to that
// of reference, or to the arithmetic loop if there is no reference. It finishes all turns of a stage before those of the next one. The
// spool works in the background after each turn of its stage, and would slow other stages down.
func compareStages(stages []stageBound, own, reference *child) (ratios []float64, err error) {
	var bases []stageBound
	if reference != nil {
		if err := reference.askJSON("stages", &bases); err != nil {
			return nil, err
		}
	}
	for i, st := range stages {
		at := slices.IndexFunc(bases, func(b stageBound) bool { return b.Name == st.Name })
		if reference != nil && at < 0 {
			return nil, fmt.Errorf("the reference build has no stage %q", st.Name)
		}
		var turns []float64
		for range 15 {
			var measured, base stageTime
			if err := own.askJSON(strconv.Itoa(i), &measured); err != nil {
				return nil, err
			}
			to := measured.Loop
			if reference != nil {
				if err := reference.askJSON(strconv.Itoa(at), &base); err != nil {
					return nil, err
				}
				to = base.Stage
			}
			turns = append(turns, measured.Stage/to)
		}
		slices.Sort(turns)
		ratios = append(ratios, quantile(turns, 0.5))
	}
	return ratios, nil
}

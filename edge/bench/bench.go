//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// result holds all results of a run of the command.
type result struct {
	Date    string       `json:"date"`
	Kept    int          `json:"kept_connections"`
	Uniform bool         `json:"uniform_slugs,omitempty"` // otherwise they have a Zipf distribution
	Machine string       `json:"machine"`
	Go      string       `json:"go"`
	Load    string       `json:"load_average"` // at the start, before the benchmark's own load
	System  system       `json:"system"`
	Ratios  []ratio      `json:"ratios,omitempty"`
	Compile *compileCost `json:"compile,omitempty"`
	Visits  []visitCost  `json:"visits,omitempty"`
	Idle    []idleCost   `json:"idle_connections,omitempty"`
	Procs   []procCost   `json:"processors,omitempty"`
	Half    []half       `json:"half_load,omitempty"`
	Memory  []figures    `json:"memory,omitempty"`
	Cold    []coldStart  `json:"cold_starts,omitempty"`
	Ten     *tenMillion  `json:"ten_million_links,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
}

// selects reports whether a scenario is to be measured.
func (s *settings) selects(scenario string) bool {
	return s.only == "" || slices.Contains(strings.Split(s.only, ","), scenario)
}

type tenMillion struct {
	Plain ratio `json:"plain_link"`
	Even  ratio `json:"plain_link_uniform"`
	Calm  half  `json:"calm"`
	Churn half  `json:"while_links_change"`
	tally
}

func (s *settings) wants(part string) bool { return slices.Contains(strings.Split(s.parts, ","), part) }

// family starts child processes and stops all of them.
type family struct {
	s    *settings
	dir  string // for temporary files
	args []string
	all  []*child
}

// start runs this program in a role, with the arguments of the family and some more.
func (f *family) start(cpu int, role string, more ...string) (*child, error) {
	return f.startBuild(self, cpu, role, append(slices.Clone(f.args), more...))
}

// startBuild runs this program (self) or another build of it in a role, with the given arguments only.
func (f *family) startBuild(program string, cpu int, role string, args []string) (*child, error) {
	c, err := start(program, cpu, role, args)
	if err == nil {
		f.all = append(f.all, c)
	}
	return c, err
}

func (f *family) stop() {
	for _, c := range f.all {
		c.stop()
	}
	f.all = nil
}

func bench(s *settings, args []string) error {
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("two processors are required: one for the server and one for the load generator")
	}
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := result{Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), Machine: machine(), Go: runtime.Version(), Load: loadAverage(),
		Kept: s.connections, Uniform: s.uniform, System: systemOf(s.dir, s.commit)}
	say := func(format string, a ...any) { fmt.Fprintf(os.Stderr, format+"\n", a...) }

	f := &family{s: s, args: args, dir: dir}
	defer f.stop()
	load, err := f.start(s.cpus[1], "load")
	if err != nil {
		return err
	}
	var bare *child
	if s.than == "" {
		bare, err = f.start(s.cpus[0], "bare")
	} else {
		bare, err = f.startBuild(s.than, s.cpus[0], "edge", without(args, "-than", "-profile"))
	}
	if err != nil {
		return err
	}
	if s.wants("ratios") || s.wants("half") || s.wants("memory") || s.wants("ship") {
		if err := f.usual(&r, dir, load, bare, say); err != nil {
			return err
		}
	}
	if s.wants("visits") {
		if err := f.visits(&r, dir, load, say); err != nil {
			return err
		}
	}
	if s.wants("procs") && s.than == "" {
		say("more processors ...")
		if r.Procs, err = f.measureProcs(); err != nil {
			return err
		}
	}
	if s.wants("cold") && s.than == "" {
		say("cold starts ...")
		c, err := measureCold(dir, s.links)
		if err != nil {
			return err
		}
		r.Cold = append(r.Cold, c)
	}
	if s.wants("ten") && s.than == "" {
		say("ten times as many links ...")
		if err := f.ten(&r, dir, load, bare); err != nil {
			return err
		}
	}
	r.write(os.Stdout)
	if s.out == "" {
		return nil
	}
	name := s.out
	if i, err := os.Stat(name); err == nil && i.IsDir() {
		name = filepath.Join(name, r.Date[:len("2006-01-02")])
	}
	return r.save(name)
}

// usual runs the measurements with the usual number of links.
func (f *family) usual(r *result, dir string, load, bare *child, say func(string, ...any)) error {
	s := f.s
	edge, err := f.start(s.cpus[0], "edge")
	if err != nil {
		return err
	}
	say("%s; %d connections, %d rounds of %v; servers on processor %d, load generator on processor %d", edge.hello["table"],
		s.connections, s.rounds, s.dur, s.cpus[0], s.cpus[1])
	all, err := f.contestants(r, edge, bare)
	if err != nil {
		return err
	}
	if s.wants("others") && s.than == "" {
		others, notes, stop := startOthers(s, dir)
		defer stop()
		all, r.Notes = append(all, others...), append(r.Notes, notes...)
	}
	// A server that works in the background is also charged while others have their turn. Each whole edge therefore alternates with
	// bare only.
	n := slices.IndexFunc(all, func(c contestant) bool { return !c.background })
	if n < 0 {
		n = len(all)
	}
	whole := all[:n]
	for _, some := range slices.Concat(slices.Collect(slices.Chunk(whole, 1)), [][]contestant{all[n:]}) {
		results, err := compare(s, load, bare, some)
		if err != nil {
			return err
		}
		r.Ratios = append(r.Ratios, results...)
	}
	relateToPlus(r.Ratios)
	if s.wants("half") {
		if err := f.half(r, load, bare, edge, whole); err != nil {
			return err
		}
	}
	if s.wants("memory") && s.than == "" {
		var m figures
		if err := edge.askJSON("figures", &m); err != nil {
			return err
		}
		r.Memory = append(r.Memory, m)
	}
	for _, c := range f.all {
		if c.redirects > 0 && c != bare {
			if err := c.accounts(); err != nil {
				return err
			}
		}
	}
	say("%s", edge.ask("spool"))
	return nil
}

// contestants starts the edges for the ratios that the settings select, and returns each with its scenario.
func (f *family) contestants(r *result, edge, bare *child) (all []contestant, err error) {
	s := f.s
	if s.wants("ratios") && s.than == "" {
		all = append(all, contestant{scenario: constantPlus, server: bare})
	}
	for _, sc := range scenarios {
		if s.wants("ratios") && s.selects(sc.Name) {
			all = append(all, contestant{scenario: sc, server: edge})
		}
	}
	if s.than != "" {
		return all, nil
	}
	if s.wants("ship") {
		kafka, err := f.start(s.cpus[1], "kafka")
		if err != nil {
			return nil, err
		}
		if err := writeVisitFiles(f.dir); err != nil {
			return nil, err
		}
		whole, err := f.start(s.cpus[0], "whole-edge", "-data", f.dir, "-kafka", kafka.hello["kafka"], "-profile", s.profile)
		if err != nil {
			return nil, err
		}
		alone, err := f.start(s.cpus[0], "whole-edge", "-data", f.dir, "-profile", "")
		if err != nil {
			return nil, err
		}
		ships, keeps := scenarios[0], scenarios[0]
		ships.Name, ships.What, ships.Budget, ships.listen = "P1b", "P1, a whole edge that ships to Kafka", 0.95, "plain"
		keeps.Name, keeps.What, keeps.Budget, keeps.listen = "P1e", "P1, a whole edge, clicks read and discarded", 0, "plain"
		all = append([]contestant{{scenario: ships, server: whole, background: true}, {scenario: keeps, server: alone, background: true}},
			all...)
	}
	if s.wants("sync") {
		always, err := f.start(s.cpus[0], "edge", "-sync", "always", "-links", "100000", "-profile", "")
		if err != nil {
			return nil, err
		}
		all = append(all, contestant{scenario: synced, server: always, background: true})
	}
	if s.wants("rules") {
		more, err := f.manyRules(r)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// half measures latencies at half load, of whole edges and of the redirect handler.
func (f *family) half(r *result, load, bare, edge *child, whole []contestant) error {
	reference := &contestant{scenario: constant, server: bare}
	all := slices.Clone(whole)
	for _, sc := range scenarios {
		if f.s.selects(sc.Name) {
			all = append(all, contestant{scenario: sc, server: edge})
		}
	}
	for i, c := range all {
		if f.s.than != "" {
			reference.scenario = c.scenario
		}
		short := *f.s
		if i > 0 {
			short.rounds /= 2
		}
		h, err := atHalf(&short, load, reference, &c, c.Name+" "+c.What)
		if err != nil {
			return err
		}
		r.Half = append(r.Half, h)
	}
	return nil
}

// manyRules starts edges with more links with rules than fit into caches, and measures compilations.
func (f *family) manyRules(r *result) (all []contestant, err error) {
	for _, mode := range []struct {
		name, what string
		budget     float64
		args       []string
	}{
		{"P2c", "P2 with 50,000 links, own conditions", 0.80, []string{"-own"}},
		{"P2t", "P2 with 50,000 links, same conditions", 0, nil},
	} {
		if only := f.s.only; only != "" && !slices.Contains(strings.Split(only, ","), mode.name) {
			continue
		}
		profile := ""
		if f.s.profile != "" {
			profile = f.s.profile + "." + mode.name
		}
		edge, err := f.start(f.s.cpus[0], "edge",
			append([]string{"-links", "1000", "-special", strconv.Itoa(ruleLinks), "-profile", profile},
				mode.args...)...)
		if err != nil {
			return nil, err
		}
		sc := scenario{Name: mode.name, What: mode.what, Budget: mode.budget, listen: "proxied",
			order: order{Class: classRules, Status: "302", Links: ruleLinks}}
		all = append(all, contestant{scenario: sc, server: edge})
		if r.Compile == nil {
			r.Compile = new(compileCost)
			if err := edge.askJSON("compile", r.Compile); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// ten runs the measurements with ten times as many links.
func (f *family) ten(r *result, dir string, load, bare *child) error {
	s := f.s
	many := fmt.Sprint(10 * s.links)
	edge, err := f.start(s.cpus[0], "edge", "-links", many, "-profile", "")
	if err != nil {
		return err
	}
	var t tenMillion
	sc := scenarios[0]
	sc.Name, sc.What, sc.Budget, sc.order.Links = "P1", "plain link among ten times as many", 0, 10*s.links
	short := *s
	short.rounds = max(s.rounds/2, blockRounds)
	even := sc
	even.order.Uniform = true
	ratios, err := compare(&short, load, bare, []contestant{{scenario: sc, server: edge}, {scenario: even, server: edge}})
	if err != nil {
		return err
	}
	t.Plain, t.Even = ratios[0], ratios[1]
	c := &contestant{scenario: sc, server: edge}
	reference := &contestant{scenario: constant, server: bare}
	if t.Calm, err = atHalf(&short, load, reference, c, "plain link among ten times as many"); err != nil {
		return err
	}
	edge.ask("churn")
	t.Churn, err = atHalf(&short, load, reference, c, fmt.Sprintf("the same, %d changes a second", churnLinks*int(time.Second/churnEvery)))
	if err != nil {
		return err
	}
	if err := edge.askJSON("calm", &t.tally); err != nil {
		return err
	}
	var m figures
	if err := edge.askJSON("figures", &m); err != nil {
		return err
	}
	r.Memory = append(r.Memory, m)
	r.Ten = &t
	edge.stop()
	if !s.wants("cold") {
		return nil
	}
	cold, err := measureCold(dir, 10*s.links)
	if err == nil {
		r.Cold = append(r.Cold, cold)
	}
	return err
}

func (r *result) write(w io.Writer) {
	fmt.Fprintf(w, "%s, %s, %s, initial load average %s\n", r.Date, r.Machine, r.Go, r.Load)
	r.System.write(w)
	slugs := "Zipf"
	if r.Uniform {
		slugs = "uniform"
	}
	fmt.Fprintf(w, "%d kept connections, %s distribution of slugs\n", r.Kept, slugs)
	if len(r.Ratios) > 0 {
		report(w, r.Ratios)
	}
	if c := r.Compile; c != nil {
		verdict := "ok"
		if c.Visit[1] > maxCompile {
			verdict = "ABOVE BUDGET"
		}
		fmt.Fprintf(w, "\nP2c  a link with ten rules, p50 and p99: %.1f and %.1f µs to decide its first visit (budget p99 %d)  %s\n",
			c.Visit[0], c.Visit[1], maxCompile, verdict)
		fmt.Fprintf(w,
			"     %.0f and %.0f µs to compile it when it arrives, %.0f and %.0f µs with the conditions of another link; %.0f bytes in memory\n",
			c.Own[0], c.Own[1], c.Template[0], c.Template[1], c.Bytes)
	}
	reportVisits(w, r.Visits)
	reportIdle(w, r.Idle)
	reportProcs(w, r.Procs)
	all := slices.Clone(r.Half)
	if r.Ten != nil {
		all = append(all, r.Ten.Calm, r.Ten.Churn)
	}
	reportHalf(w, all)
	if len(r.Memory) > 0 {
		fmt.Fprintf(w, "\n     %-12s %14s %32s %14s %14s\n", "links", "bytes/link", "beyond slug and destination (32)", "GC CPU (5 ms)",
			"longest pause")
		for _, m := range r.Memory {
			fmt.Fprintf(w, "P6   %-12d %14.1f %32.1f %11.2f ms %11.2f ms\n", m.Links, m.BytesALink, m.Overhead, m.Collection, m.Pause)
		}
	}
	for _, c := range r.Cold {
		fmt.Fprintf(w,
			"\nP7   %d links, time from process start to first redirect: %.2f s from local state, %.2f s from the control plane\n",
			c.Links, c.Local, c.Wire)
		fmt.Fprintf(w, "P8   snapshot of these links: %.1f MB (budget 60 MB per million links), written in %.1f s\n", c.Document, c.Written)
		fmt.Fprintf(w, "P14  memory of the idle edge with these links: %.0f MB (budget 250 MB with a million links)\n", c.Resident)
	}
	if t := r.Ten; t != nil {
		fmt.Fprintf(w,
			"\n     ten times as many links: ratio to bare %.3f (%.3f, %.3f), with uniform slugs %.3f (%.3f, %.3f); %d deltas of %d links under "+
				"load: median %.2f ms, maximum %.2f ms, %d folds\n",
			t.Plain.Ratio, t.Plain.Low, t.Plain.High, t.Even.Ratio, t.Even.Low, t.Even.High, t.Deltas, churnLinks, t.Applied,
			t.Worst, t.Folds)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note:", n)
	}
}

// save writes the result as text and as JSON.
func (r *result) save(name string) error {
	var text strings.Builder
	r.write(&text)
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(name+".txt", []byte(text.String()), 0o644), os.WriteFile(name+".json", append(b, '\n'), 0o644))
}

// machine returns the number and the model name of the processors.
func machine() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	name := "unknown processor"
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			name = strings.TrimSpace(v)
			break
		}
	}
	return fmt.Sprintf("%d × %s, %s/%s", runtime.NumCPU(), name, runtime.GOOS, runtime.GOARCH)
}

func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// without removes flags and their values, because another build may not know them.
func without(args []string, names ...string) (left []string) {
	for i := 0; i < len(args); i++ {
		if name, _, whole := strings.Cut(args[i], "="); !slices.Contains(names, name) {
			left = append(left, args[i])
		} else if !whole {
			i++
		}
	}
	return left
}

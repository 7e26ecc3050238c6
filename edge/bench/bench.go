//go:build linux

package main

import (
	"cmp"
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
	Date    string      `json:"date"`
	Go      string      `json:"go"`
	Commit  string      `json:"commit"`
	Machine []string    `json:"host"` // before the benchmark's own load
	Ratios  []ratio     `json:"ratios,omitempty"`
	Visits  []visitCost `json:"visits,omitempty"`
	Notes   []string    `json:"notes,omitempty"`
}

// selects reports whether a scenario is to be measured.
func (s *settings) selects(scenario string) bool {
	return s.only == "" || slices.Contains(strings.Split(s.only, ","), scenario)
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
	r := result{Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), Go: runtime.Version(), Commit: cmp.Or(s.commit, "unknown"),
		Machine: machine(s.dir)}
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
	if s.wants("ratios") || s.wants("ship") {
		if err := f.usual(&r, dir, load, bare, say); err != nil {
			return err
		}
	}
	if s.wants("visits") {
		if err := f.visits(&r, dir, load, say); err != nil {
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
		connections, s.rounds, s.dur, s.cpus[0], s.cpus[1])
	all, err := f.contestants(edge, bare)
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
	n := max(slices.IndexFunc(all, func(c contestant) bool { return !c.background }), 0)
	for _, some := range slices.Concat(slices.Collect(slices.Chunk(all[:n], 1)), [][]contestant{all[n:]}) {
		results, err := compare(s, load, bare, some)
		if err != nil {
			return err
		}
		r.Ratios = append(r.Ratios, results...)
	}
	relateToPlus(r.Ratios)
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
func (f *family) contestants(edge, bare *child) (all []contestant, err error) {
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
		more, err := f.manyRules()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// ruleLinks is the number of links with rules in P2c and P2t. Their compiled forms do not fit into the processor's caches.
const ruleLinks = 50_000

// manyRules starts edges with ruleLinks links with rules.
func (f *family) manyRules() (all []contestant, err error) {
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
	}
	return all, nil
}

func (r *result) write(w io.Writer) {
	fmt.Fprintf(w, "%s, %s, commit %s\n%s\n", r.Date, r.Go, r.Commit, strings.Join(r.Machine, "\n"))
	if len(r.Ratios) > 0 {
		report(w, r.Ratios)
	}
	reportVisits(w, r.Visits)
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

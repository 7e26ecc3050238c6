//go:build linux

// Command bench measures the cost of an edge's answers relative to the minimum that the same HTTP server needs.
//
// It uses three processes: the bare server, which sends a constant redirect; the edge's redirect with a table of
// links and a spool; and a load generator with keep-alive connections and browser headers. The two servers are pinned
// to one processor and the load generator to another. Bare and edge run alternately. The measure is the processor
// time that the server's process used per request (getrusage), so a busy machine affects both in the same way.
//
// The command also measures memory, cold starts and the garbage collector, and compares nginx and HAProxy, which do a
// part of the same work. With -guard it only checks for regressions.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// settings are the same in all three processes.
type settings struct {
	links, special, rounds int
	dur                    time.Duration
	dir, geo, agents       string
	own, uniform           bool
	connections            int
	cpus                   [2]int // processor of the servers, processor of the load generator
	profile, sync          string
	only, than             string
	parts, out, commit     string
	kafka, data, document  string
}

func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	f.IntVar(&s.links, "links", 1_000_000, "plain links in the table")
	f.IntVar(&s.special, "special", 1_000, "links with rules, and as many with variants")
	f.IntVar(&s.rounds, "rounds", 40, "rounds; each runs every scenario once, next to a run of bare")
	f.DurationVar(&s.dur, "dur", 250*time.Millisecond, "length of one run")
	f.StringVar(&s.dir, "dir", os.TempDir(), "folder for the spool and other temporary files")
	f.StringVar(&s.sync, "sync", "interval", "sync mode of the spool: interval, always or none")
	f.StringVar(&s.geo, "geo", "", "geo database (.mmdb); empty: generate one with 60,000 networks")
	f.StringVar(&s.agents, "agents", "", "file with User-Agents, one per line; empty: ten built-in ones")
	f.IntVar(&s.connections, "connections", 64, "kept connections")
	f.BoolVar(&s.uniform, "uniform", false, "all slugs are equally likely; otherwise they have a Zipf distribution")
	f.BoolVar(&s.own, "own", false, "used by the edge's process: each link with rules has conditions of its own")
	f.IntVar(&s.cpus[0], "server-cpu", 0, "processor of the servers")
	f.IntVar(&s.cpus[1], "load-cpu", runtime.NumCPU()-1, "processor of the load generator")
	f.StringVar(&s.parts, "parts", "ratios,ship,sync,rules,others,visits,procs,half,memory,cold,ten", "what to measure")
	f.StringVar(&s.only, "only", "", "scenarios of ratios and visits to run, such as P1,P16; empty: all")
	f.StringVar(&s.out, "out", "", "base name of the result files (.txt, .json), or a folder, where the base name is the date")
	f.StringVar(&s.commit, "commit", "", "commit of the measured code, for the result")
	f.StringVar(&s.kafka, "kafka", "", "used by the edge's process: ship clicks to this broker")
	f.StringVar(&s.data, "data", "", "used by the processes of a cold start and of visits: the data folder")
	f.StringVar(&s.document, "document", "", "used by the process of a cold start: the file with the links")
	f.StringVar(&s.than, "than", "", "compare with the edge of this other build of the command instead of bare; also with -guard")
	f.StringVar(&s.profile, "profile", "", "write the edge's CPU profile to this file")
	return f
}

// roles are the child processes.
var roles = map[string]func(*settings) error{
	"bare": serveBare, "edge": serveEdge, "kafka": serveKafka, "cold": serveCold, "stages": serveStages, "load": generate,
	"visit-stock": serveStock,
	"visit-edge":  func(s *settings) error { return serveWhole(s, 0, visitDomain) },
	"whole-edge":  func(s *settings) error { return serveWhole(s, 0) },
}

func main() {
	var s settings
	args, role := os.Args[1:], ""
	if len(args) > 0 && strings.HasPrefix(args[0], "role=") {
		role, args = strings.TrimPrefix(args[0], "role="), args[1:]
	}
	f := s.flags()
	guarding := f.Bool("guard", false,
		"fail if answers have become more expensive than those of -than, or much more than usual in relation to bare; takes about a minute on "+
			"any machine")
	tables := f.String("tables", "", "print the tables of docs and README with this result (.json)")
	_ = f.Parse(args)
	var err error
	switch serve := roles[role]; {
	case serve != nil:
		err = serve(&s)
	case *tables != "":
		err = printTables(*tables)
	case *guarding:
		err = guard(&s)
	default:
		err = bench(&s, args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

//go:build linux

// Command bench measures what an edge's answers cost, as a ratio to the least that the same HTTP server can do.
//
// Three processes: the bare server (a constant redirect), the edge's redirect with a table of links and a spool,
// both held to one processor, and a load generator held to another, with keep-alive connections and the headers
// of browsers. Bare and edge take turns, and what counts is the processor time that the server's process used
// for a request (getrusage), so that a busy machine disturbs both alike.
//
// Beside the ratios it takes the figures of memory, of cold starts and of the garbage collector, and lets nginx and
// HAProxy, which do a part of the same work, take turns with the rest. With -guard it is a check instead.
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
	links, special, rounds, conns int
	dur                           time.Duration
	zipf                          float64
	dir, geo                      string
	cpus                          [2]int // of the servers, of the load
	profile, only, than           string
	parts, out                    string
	kafka, data, document         string
	sync                          string
	lanes                         int
}

func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	f.IntVar(&s.links, "links", 1_000_000, "plain links in the table")
	f.IntVar(&s.special, "special", 1_000, "links with rules, and as many with variants")
	f.IntVar(&s.rounds, "rounds", 40, "rounds; each has every scenario once, next to a run of bare")
	f.IntVar(&s.conns, "conns", 64, "keep-alive connections")
	f.DurationVar(&s.dur, "dur", 250*time.Millisecond, "length of one run")
	f.Float64Var(&s.zipf, "zipf", 1.1, "exponent of the distribution of slugs")
	f.StringVar(&s.dir, "dir", os.TempDir(), "folder for the spool")
	f.StringVar(&s.sync, "sync", "interval", "the spool's syncs: interval, always or none")
	f.IntVar(&s.lanes, "lanes", 0, "the spool's lanes; 0: as usual")
	f.StringVar(&s.geo, "geo", "", "geo database (.mmdb); none: one of 60,000 networks is made")
	f.IntVar(&s.cpus[0], "server-cpu", 0, "processor of the servers")
	f.IntVar(&s.cpus[1], "load-cpu", runtime.NumCPU()-1, "processor of the load generator")
	f.StringVar(&s.parts, "parts", "ratios,ship,others,half,memory,cold,ten", "what to measure")
	f.StringVar(&s.only, "only", "", "the scenarios of ratios to run, such as P1,P4; none: all")
	f.StringVar(&s.out, "out", "", "write the result here: this name, or in a folder the date, and .txt, .json, .svg")
	f.StringVar(&s.kafka, "kafka", "", "for the edge's process: ship to this broker")
	f.StringVar(&s.data, "data", "", "for a cold start's process: the data folder")
	f.StringVar(&s.document, "document", "", "for a cold start's process: the links")
	f.StringVar(&s.than, "than", "", "compare with the edge of this other build of the command, in place of bare")
	f.StringVar(&s.profile, "profile", "", "write the edge's processor profile here")
	return f
}

func main() {
	var s settings
	args, role := os.Args[1:], ""
	if len(args) > 0 && strings.HasPrefix(args[0], "role=") {
		role, args = strings.TrimPrefix(args[0], "role="), args[1:]
	}
	f := s.flags()
	guarding := f.Bool("guard", false, "fail if the answers have become much dearer; takes about a minute, and any machine will do")
	_ = f.Parse(args)
	var err error
	switch role {
	case "bare":
		err = serveBare()
	case "edge":
		err = serveEdge(&s)
	case "kafka":
		err = serveKafka()
	case "cold":
		err = serveCold(&s)
	case "load":
		err = generate(&s)
	default:
		if *guarding {
			err = guard(&s)
		} else {
			err = bench(&s, args)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

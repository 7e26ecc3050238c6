//go:build linux

// Command bench measures what an edge's answers cost, as a ratio to the least that the same HTTP server can do.
//
// Three processes: the bare server (a constant redirect), the edge's redirect with a table of links and a spool,
// both held to one processor, and a load generator held to another, with keep-alive connections and the headers
// of browsers. Bare and edge take turns, and what counts is the processor time that the server's process used
// for a request (getrusage), so that a busy machine disturbs both alike.
//
// It owns no budget: those it compares with stand in the project's performance page.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
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
	f.StringVar(&s.geo, "geo", "", "geo database (.mmdb); none: one of 60,000 networks is made")
	f.IntVar(&s.cpus[0], "server-cpu", 0, "processor of the servers")
	f.IntVar(&s.cpus[1], "load-cpu", runtime.NumCPU()-1, "processor of the load generator")
	f.StringVar(&s.only, "only", "", "the scenarios to run, such as P1,P4; none: all")
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
	out := f.String("json", "", "write the result here as JSON")
	_ = f.Parse(args)
	var err error
	switch role {
	case "bare":
		err = serveBare()
	case "edge":
		err = serveEdge(&s)
	case "load":
		err = generate(&s)
	default:
		err = measure(&s, args, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(s *settings, args []string, out string) error {
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("one processor is not enough: server and load need one each")
	}
	var servers []*child
	for i, role := range []string{"bare", "edge", "load"} {
		program, given := self, args
		if role == "bare" && s.than != "" {
			program, role, given = s.than, "edge", without(args, "-than", "-profile")
		}
		c, err := start(program, s.cpus[i/2], role, given)
		if err != nil {
			return err
		}
		defer c.stop()
		servers = append(servers, c)
	}
	bare, edge, load := servers[0], servers[1], servers[2]
	fmt.Printf("%s\n%d links, %d connections, %d rounds of %v; server on processor %d, load on %d\n", edge.hello["table"], s.links, s.conns, s.rounds, s.dur, s.cpus[0], s.cpus[1])
	results, err := compare(s, load, bare, edge, choose(s.only, scenarios))
	if err != nil {
		return err
	}
	report(os.Stdout, results)
	fmt.Println(edge.ask("spool"))
	return nil
}

// without leaves settings out, with their values: another build need not know them.
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

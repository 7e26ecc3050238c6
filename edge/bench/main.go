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
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settings are the same in all three processes.
type settings struct {
	links, special, rounds, conns int
	dur                           time.Duration
	zipf                          float64
	dir, geo                      string
	cpus                          [2]int // of the servers, of the load
	profile, only                 string
}

func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	f.IntVar(&s.links, "links", 1_000_000, "plain links in the table")
	f.IntVar(&s.special, "special", 1_000, "links with rules, and as many with variants")
	f.IntVar(&s.rounds, "rounds", 7, "rounds; each has every scenario once, between two runs of bare")
	f.IntVar(&s.conns, "conns", 64, "keep-alive connections")
	f.DurationVar(&s.dur, "dur", 2*time.Second, "length of one run")
	f.Float64Var(&s.zipf, "zipf", 1.1, "exponent of the distribution of slugs")
	f.StringVar(&s.dir, "dir", os.TempDir(), "folder for the spool")
	f.StringVar(&s.geo, "geo", "", "geo database (.mmdb); none: one of 60,000 networks is made")
	f.IntVar(&s.cpus[0], "server-cpu", 0, "processor of the servers")
	f.IntVar(&s.cpus[1], "load-cpu", runtime.NumCPU()-1, "processor of the load generator")
	f.StringVar(&s.only, "only", "", "the scenarios to run, such as P1,P4; none: all")
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

// scenario is one kind of request, and what it may cost.
type scenario struct {
	Name   string  `json:"name"`
	What   string  `json:"what"`
	Budget float64 `json:"budget"`

	class  byte   // of slugs
	listen string // of the edge's addresses
	status string
}

var budgets = []scenario{
	{"P1", "plain link, click in the spool", 0.88, classPlain, "direct", "302"},
	{"P2", "10 nested rules; geo and User-Agent", 0.80, classRules, "proxied", "302"},
	{"P3", "A/B test of 5 variants", 0.86, classVariants, "direct", "302"},
	{"P4", "unknown slug", 0.92, classUnknown, "direct", "404"},
}

// result is a scenario's outcome: medians over the rounds, processor time in microseconds a request.
type result struct {
	scenario
	Bare, Edge     float64
	Ratio          float64
	Worst, Best    float64
	BareRate, Rate float64 // requests a second
	P99Bare, P99   float64 // microseconds, under full load
	Errors         int
}

func measure(s *settings, args []string, out string) error {
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("one processor is not enough: server and load need one each")
	}
	bare, err := start(s.cpus[0], "bare", args)
	if err != nil {
		return err
	}
	defer bare.stop()
	edge, err := start(s.cpus[0], "edge", args)
	if err != nil {
		return err
	}
	defer edge.stop()
	load, err := start(s.cpus[1], "load", args)
	if err != nil {
		return err
	}
	defer load.stop()
	fmt.Printf("%s\n%d links, %d connections, %d rounds of %v; server on processor %d, load on %d\n", edge.hello["table"], s.links, s.conns, s.rounds, s.dur, s.cpus[0], s.cpus[1])

	var scenarios []scenario
	for _, sc := range budgets {
		if s.only == "" || slices.Contains(strings.Split(s.only, ","), sc.Name) {
			scenarios = append(scenarios, sc)
		}
	}
	type sample struct{ bare, edge run }
	samples := make([][]sample, len(scenarios))
	warm := min(s.dur, time.Second)
	for _, sc := range scenarios {
		if _, err := drive(load, edge, sc, sc.listen, warm); err != nil {
			return err
		}
	}
	for range s.rounds {
		before, err := drive(load, bare, budgets[0], "bare", s.dur)
		if err != nil {
			return err
		}
		for i, sc := range scenarios {
			e, err := drive(load, edge, sc, sc.listen, s.dur)
			if err != nil {
				return err
			}
			after, err := drive(load, bare, budgets[0], "bare", s.dur)
			if err != nil {
				return err
			}
			samples[i] = append(samples[i], sample{bare: middle(before, after), edge: e})
			before = after
		}
	}
	var results []result
	for i, sc := range scenarios {
		var ratio, b, e, rb, re, pb, pe []float64
		r := result{scenario: sc}
		for _, x := range samples[i] {
			ratio = append(ratio, x.bare.cpu/x.edge.cpu)
			b, e = append(b, x.bare.cpu), append(e, x.edge.cpu)
			rb, re = append(rb, x.bare.rate), append(re, x.edge.rate)
			pb, pe = append(pb, x.bare.p99), append(pe, x.edge.p99)
			r.Errors += x.edge.errors + x.bare.errors
		}
		r.Ratio, r.Worst, r.Best = median(ratio), slices.Min(ratio), slices.Max(ratio)
		r.Bare, r.Edge, r.BareRate, r.Rate, r.P99Bare, r.P99 = median(b), median(e), median(rb), median(re), median(pb), median(pe)
		results = append(results, r)
	}
	report(os.Stdout, results)
	fmt.Println(edge.ask("spool"))
	if out == "" {
		return nil
	}
	b, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(b, '\n'), 0o644)
}

func report(w io.Writer, results []result) {
	fmt.Fprintf(w, "\n     %-38s %9s %9s %7s %13s %7s %11s\n", "", "bare µs", "edge µs", "ratio", "(worst, best)", "budget", "requests/s")
	for _, r := range results {
		verdict := "ok"
		if r.Ratio < r.Budget {
			verdict = "SHORT"
		}
		if r.Errors > 0 {
			verdict += fmt.Sprintf(", %d WRONG ANSWERS", r.Errors)
		}
		fmt.Fprintf(w, "%-4s %-38s %9.2f %9.2f %7.3f (%.3f, %.3f) %6.2f %11.0f  %s\n", r.Name, r.What, r.Bare, r.Edge, r.Ratio, r.Worst, r.Best, r.Budget, r.Rate, verdict)
	}
}

// run is one run's outcome.
type run struct {
	cpu, rate, p99 float64
	errors         int
}

func middle(a, b run) run {
	return run{(a.cpu + b.cpu) / 2, (a.rate + b.rate) / 2, (a.p99 + b.p99) / 2, a.errors + b.errors}
}

// drive lets the load generator loose on a server and accounts for the server's processor time.
func drive(load, server *child, sc scenario, listen string, d time.Duration) (run, error) {
	status := sc.status
	if listen == "bare" {
		status = "302"
	}
	before, err := strconv.ParseInt(server.ask("usage"), 10, 64)
	if err != nil {
		return run{}, fmt.Errorf("%s does not answer: %w", sc.Name, err)
	}
	var got struct {
		Requests, Errors int
		Seconds, P99     float64
	}
	answer := load.ask(fmt.Sprintf("%s %d %s %d", server.hello[listen], sc.class, status, d))
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return run{}, fmt.Errorf("load: %q: %w", answer, err)
	}
	after, err := strconv.ParseInt(server.ask("usage"), 10, 64)
	if err != nil {
		return run{}, err
	}
	if got.Requests == 0 {
		return run{}, fmt.Errorf("%s: no request was answered", sc.Name)
	}
	return run{cpu: float64(after-before) / 1e3 / float64(got.Requests), rate: float64(got.Requests) / got.Seconds, p99: got.P99, errors: got.Errors}, nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// child is one of the processes. It answers each line on its input with one line on its output.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	hello map[string]string
}

// start runs this program again in another role, held to one processor, and waits for its greeting.
func start(cpu int, role string, args []string) (*child, error) {
	// A child inherits the processors of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, err
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return nil, fmt.Errorf("hold %s to processor %d: %w", role, cpu, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	c := &child{cmd: exec.Command("/proc/self/exe", append([]string{"role=" + role}, args...)...)}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	line, err := c.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", role, err)
	}
	return c, json.Unmarshal([]byte(line), &c.hello)
}

func (c *child) ask(line string) string {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return err.Error()
	}
	answer, err := c.out.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(answer)
}

func (c *child) stop() {
	_ = c.in.Close() // which ends it
	_ = c.cmd.Wait()
}

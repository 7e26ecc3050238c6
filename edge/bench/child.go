//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const self = "/proc/self/exe"

// child is one of the processes. It answers each line on its standard input with one line on its standard output.
type child struct {
	role  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	hello map[string]string
	// redirects counts the redirects that the load generator has got from this child.
	redirects int
}

// start runs this program (self) or another build of it in another role and waits for its greeting. The process is
// pinned to the processor cpu unless cpu is negative.
func start(program string, cpu int, role string, args []string) (*child, error) {
	c := &child{role: role, cmd: exec.Command(program, append([]string{"role=" + role}, args...)...)}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if cpu < 0 {
		err = c.cmd.Start()
	} else {
		err = held(cpu, c.cmd.Start)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s on processor %d: %w", role, cpu, err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	line, err := c.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", role, err)
	}
	return c, json.Unmarshal([]byte(line), &c.hello)
}

// held calls begin so that the process it starts is pinned to one processor.
func held(cpu int, begin func() error) error {
	// A child inherits the CPU affinity of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	return begin()
}

// ask sends a line and returns the answer. If the child is dead, the answer is the error, which no caller can parse.
func (c *child) ask(line string) string {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return c.role + ": " + err.Error()
	}
	answer, err := c.out.ReadString('\n')
	if err != nil {
		return c.role + ": " + err.Error()
	}
	return strings.TrimSpace(answer)
}

// askJSON sends a line and decodes the answer into the variable that into points to.
func (c *child) askJSON(line string, into any) error {
	if answer := c.ask(line); json.Unmarshal([]byte(answer), into) != nil {
		return fmt.Errorf("%s answered %q to %q", c.role, answer, line)
	}
	return nil
}

// used returns the processor time that the child has used so far.
func (c *child) used() (time.Duration, error) {
	answer := c.ask("usage")
	n, err := strconv.ParseInt(answer, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s answered %q when asked for its processor time", c.role, answer)
	}
	return time.Duration(n), nil
}

// clickCount is the number of clicks that an edge's spool has stored and dropped.
type clickCount struct{ Appended, Dropped uint64 }

// accounts returns an error unless the child has stored exactly one click for each of its redirects.
func (c *child) accounts() error {
	var stored clickCount
	if err := c.askJSON("clicks", &stored); err != nil {
		return err
	}
	if stored.Dropped > 0 || stored.Appended != uint64(c.redirects) {
		return fmt.Errorf("%s redirected %d requests, but stored %d clicks and dropped %d", c.role, c.redirects, stored.Appended,
			stored.Dropped)
	}
	return nil
}

func (c *child) stop() {
	_ = c.in.Close() // the end of its input ends the child
	_ = c.cmd.Wait()
}

func (c *child) address(listen string) string { return c.hello[listen] }

// drive makes the load generator send requests to a server and measures the server's processor time.
func drive(load *child, c *contestant, d time.Duration, rate float64) (run, error) {
	o := c.order
	o.Addr, o.For, o.Rate = c.server.address(c.listen), d, rate
	before, err := c.last, error(nil)
	if !c.background || before == 0 {
		if before, err = c.server.used(); err != nil {
			return run{}, err
		}
	}
	rest, err := timeWithout(load)
	if err != nil {
		return run{}, err
	}
	answer := load.ask(asJSON(o))
	if c.last, err = c.server.used(); err != nil {
		return run{}, err
	}
	after, err := timeWithout(load)
	if err != nil {
		return run{}, err
	}
	var got outcome
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return run{}, fmt.Errorf("load: %q: %w", answer, err)
	}
	if server, ok := c.server.(*child); ok {
		server.redirects += got.Redirects
	}
	if got.Failure != "" || got.Requests == 0 {
		return run{}, fmt.Errorf("%s: %d requests answered: %s", c.Name, got.Requests, got.Failure)
	}
	return run{cpu: c.last - before, total: after - rest, generator: got.CPU, requests: got.Requests, seconds: got.Seconds,
		errors: got.Errors, rules: got.Rules, took: *got.Took}, nil
}

// timeWithout returns the processor time that the whole machine has used so far, without that of a child.
func timeWithout(c *child) (time.Duration, error) {
	own, err := c.used()
	if err != nil {
		return 0, err
	}
	all, err := machineTime()
	return all - own, err
}

// converse prints a greeting and then answers questions until its input ends. It answers "usage" itself.
func converse(hello map[string]string, other func(string) string) error {
	b, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	fmt.Println(string(b))
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "usage" {
			fmt.Println(usage())
		} else {
			fmt.Println(other(line))
		}
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// usage returns the processor time that this process has used, in nanoseconds.
func usage() string { return strconv.FormatInt(int64(ownTime()), 10) }

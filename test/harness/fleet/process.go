package fleet

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Process is one program of the fleet. Its ports and folders stay the same across restarts. Its methods must not be called
// concurrently.
type Process struct {
	Name string
	// Kills and Starts count calls of Kill and starts.
	Kills, Starts int

	t       testing.TB
	path    string
	args    []string
	env     []string
	user    *syscall.Credential
	ready   func() error // returns nil once the process is ready
	logPath string
	end     syscall.Signal // the signal for a graceful stop
	gone    func() bool    // whether children that left the process group have ended; nil: there are none

	wanted atomic.Bool // whether the test has asked the process to end

	mu     sync.Mutex
	cmd    *exec.Cmd
	stdin  io.Closer
	ended  chan struct{}
	paused bool
}

// process prepares a process, which Start starts. It is killed at the end of the test, and the end of its log is printed if
// the test failed.
func process(t testing.TB, dir, name, path string, args, env []string, ready func() error) *Process {
	t.Helper()
	p := &Process{
		Name: name, t: t, path: path, args: args, env: append(clean(), env...), ready: ready,
		logPath: filepath.Join(dir, name+".log"), end: syscall.SIGTERM,
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", name, tail(p.logPath, 6<<10))
		}
	})
	return p
}

// clean returns the environment without variables that could be settings of a program.
func clean() []string {
	var out []string
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "PATH", "HOME", "TMPDIR", "LANG", "TZ", "JAVA_HOME", "XDG_CACHE_HOME":
			out = append(out, kv)
		}
	}
	return out
}

// Start starts the process, waits until it is ready, and returns how long that took.
func (p *Process) Start() time.Duration {
	p.t.Helper()
	began := time.Now()
	p.Launch()
	p.Ready()
	return time.Since(began)
}

// Launch starts the process without waiting until it is ready.
func (p *Process) Launch() {
	p.t.Helper()
	if err := p.launch(); err != nil {
		p.t.Fatalf("start %s: %v", p.Name, err)
	}
}

func (p *Process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.path, p.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, log, log
	// Its own process group, so that a signal reaches its children too. The kernel kills it when this process dies.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: p.user}
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.Starts++
	p.cmd, p.ended, p.paused = cmd, make(chan struct{}), false
	p.wanted.Store(false)
	go func(ended chan struct{}) {
		err := cmd.Wait()
		if !p.wanted.Load() {
			p.t.Errorf("%s exited unexpectedly: %v", p.Name, err)
		}
		close(ended)
	}(p.ended)
	return nil
}

var errEnded = errors.New("process has ended")

// Ready waits until the process is ready. The test fails if the process ends before that.
func (p *Process) Ready() {
	p.t.Helper()
	var last error
	testkit.Eventually(p.t, p.Name+" is ready", func() bool {
		if last = p.ready(); last != nil && !p.Alive() {
			p.t.Fatalf("start %s: %v", p.Name, errEnded)
		}
		return last == nil
	})
}

// PID returns the process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Alive reports whether the process is running.
func (p *Process) Alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill kills the process and its children with SIGKILL and waits until they have ended.
func (p *Process) Kill() {
	if !p.Alive() {
		return
	}
	p.Kills++
	p.wanted.Store(true)
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // the process may have ended already
	<-p.ended
	p.stdin.Close()
	if p.gone != nil {
		testkit.Eventually(p.t, "the children of "+p.Name+" have ended", p.gone)
	}
}

// Once runs the program again beside the process, with the same settings and other arguments, and waits until it exits. The
// error has its output, unless it exits with 0.
func (p *Process) Once(args ...string) error {
	cmd := exec.CommandContext(p.t.Context(), p.path, args...)
	cmd.Env = p.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", p.Name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Pause stops the process with SIGSTOP. Its connections stay open, but it does not answer.
func (p *Process) Pause() {
	p.paused = true
	_ = syscall.Kill(-p.PID(), syscall.SIGSTOP)
	testkit.Eventually(p.t, p.Name+" is suspended", func() bool { return testkit.Suspended(p.PID()) || !p.Alive() })
}

// Resume continues a paused process.
func (p *Process) Resume() {
	p.paused = false
	_ = syscall.Kill(-p.PID(), syscall.SIGCONT)
}

// Stop asks the process to end and waits. It returns an error if the exit code is not 0.
func (p *Process) Stop() error {
	p.t.Helper()
	if !p.Alive() {
		return errEnded
	}
	p.wanted.Store(true)
	if err := p.cmd.Process.Signal(p.end); err != nil {
		return err
	}
	testkit.Eventually(p.t, p.Name+" has ended", func() bool { return !p.Alive() })
	p.stdin.Close()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s exited with %d", p.Name, code)
	}
	return nil
}

// Log returns the output of all starts so far.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.logPath) // no file yet: no output
	return string(text)
}

func tail(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-n):])
}

// patience is the limit for one answer of a program that works. It is longer than anything takes on a busy machine.
const patience = 2 * time.Minute

var probe = &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}

// answers returns a readiness check: the URL answers 200.
func answers(url string) func() error {
	return func() error {
		res, err := probe.Get(url)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, res.Status)
		}
		return nil
	}
}

// Memory returns the resident memory in bytes; 0 if the process is not running.
func (p *Process) Memory() int64 {
	if !p.Alive() {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.PID()))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes decimal numbers
	return pages * int64(os.Getpagesize())
}

// Files returns the number of open file descriptors.
func (p *Process) Files() int {
	if !p.Alive() {
		return 0
	}
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID())) // the folder is gone if the process has just ended
	return len(all)
}

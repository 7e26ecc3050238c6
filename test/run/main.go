// Command run tests the project: `make test`, `make quick` and `make proof`.
//
//	run test     what every commit must show
//	run quick    what the uncommitted change can affect, or the last commit if there is no such change
//	run proof    what a release must show; it goes on where it was interrupted
//
// It says what it installs and how long it takes, prints a line for each part that has ended, and ends with a table of times
// and the slowest tests. Of a failed test it prints only the messages. The complete output is in bin/test.log.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/shortline/shortline/shared/testing/testserver"
)

// project is the beginning of the import paths of all modules.
const project = "github.com/shortline/shortline/"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

var errFailed = errors.New("some tests failed")

func run(ctx context.Context, args []string) error {
	root, err := rootFolder()
	if err != nil {
		return err
	}
	r, err := newRun(root)
	if err != nil {
		return err
	}
	defer r.close()
	switch mode := strings.Join(args, " "); mode {
	case "test":
		return inScratch(false, func() error { return r.everything(ctx) })
	case "quick": // the next quick run finds the servers running
		return inScratch(true, func() error { return r.quick(ctx) })
	case "proof":
		return errors.Join(r.proof(ctx), testserver.Stop())
	default:
		return fmt.Errorf("usage: run test|quick|proof, not %q", mode)
	}
}

func inScratch(keep bool, f func() error) error {
	leave, err := scratch(keep)
	if err != nil {
		return err
	}
	err = f()
	if !keep {
		err = errors.Join(err, testserver.Stop())
	}
	return errors.Join(err, leave())
}

// rootFolder returns the folder above the working directory that has go.work.
func rootFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no folder above this one has go.work")
}

// testRun is one run of tests.
type testRun struct {
	root    string
	began   time.Time
	log     *os.File
	times   *times
	env     []string // of the tests: paths of programs and checksums of sources
	results results
	stages  []stage
}

// stage is a finished part of the run.
type stage struct {
	name string
	took time.Duration
}

func newRun(root string) (*testRun, error) {
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(root, "bin", "test.log"))
	if err != nil {
		return nil, err
	}
	t, err := readTimes()
	if err != nil {
		return nil, err
	}
	r := &testRun{root: root, began: time.Now(), log: log, times: t}
	r.results.raw = log
	return r, nil
}

func (r *testRun) close() { _ = r.log.Close() }

// say prints a line with the time since the start.
func (r *testRun) say(format string, args ...any) {
	d := time.Since(r.began)
	fmt.Printf("%02d:%02d  %s\n", int(d.Minutes()), int(d.Seconds())%60, fmt.Sprintf(format, args...))
}

// step runs a part of the run that is not a test.
func (r *testRun) step(name string, f func() error) error {
	began := time.Now()
	err := f()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took := time.Since(began)
	r.stages = append(r.stages, stage{name: name, took: took})
	r.say("%-22s %8s", name, seconds(took))
	return nil
}

// command returns a command in the project's root, whose output goes to the log.
func (r *testRun) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if strings.Contains(name, "/") {
		name = filepath.Join(r.root, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, r.log, r.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// script runs one of the project's scripts, and shows its output.
func (r *testRun) script(ctx context.Context, name string, args ...string) error {
	cmd := r.command(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

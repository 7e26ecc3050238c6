// Command faults plants faults in the product, one at a time, and reports which of them the tests find.
//
//	go run ./test/run/faults -check             every fault applies, and the product compiles with it
//	go run ./test/run/faults > bin/faults.md    test all faults; this takes hours
//	go run ./test/run/faults -only spool        only faults whose name or file matches
//	go run ./test/run/faults -root ../old       the same faults, with the sources and tests of another checkout
//
// faults.json has the faults, each with the packages whose tests should notice. The command tries them in the order of the
// list, and stops at the first one whose tests fail. It then repeats the failed test without the fault. A test that fails
// without the fault, too, has found nothing.
//
// The checkout stays as it is. Faults are planted in a copy of it, with the changes of its files that are not committed.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func main() {
	root := flag.String("root", ".", "folder of the checkout to test")
	only := flag.String("only", "", "regular expression for the names or files of the faults to plant")
	check := flag.Bool("check", false, "check that every fault applies and compiles, without tests")
	timeout := flag.Duration("timeout", 30*time.Minute, "limit of the tests of one package")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *root, *only, *timeout, *check); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, only string, timeout time.Duration, check bool) (err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	faults, err := parse(list)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, root, timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	missed := 0
	fmt.Print("| Fault | File | Result | Seconds |\n|---|---|---|---:|\n")
	for _, f := range faults {
		if !match.MatchString(f.Name) && !match.MatchString(f.File) {
			continue
		}
		began := time.Now()
		verdict, err := l.test(ctx, f, check)
		if ctx.Err() != nil {
			return ctx.Err() // an interrupted test has failed for another reason
		}
		if err != nil {
			missed++
			verdict = "**" + strings.NewReplacer("\n", "; ", "|", "\\|").Replace(err.Error()) + "**"
		}
		fmt.Printf("| %s | `%s` | %s | %.0f |\n", f.Name, f.File, verdict, time.Since(began).Seconds())
	}
	if missed > 0 {
		return fmt.Errorf("%d faults were not found", missed)
	}
	return nil
}

const consoleFolder = "control/internal/console/web"

// lab is a copy of a checkout.
type lab struct {
	checkout, root string
	timeout        time.Duration
}

func newLab(ctx context.Context, checkout string, timeout time.Duration) (*lab, error) {
	scratch, err := os.MkdirTemp("", "shortline-faults-")
	if err != nil {
		return nil, err
	}
	l := &lab{checkout: checkout, root: filepath.Join(scratch, "copy"), timeout: timeout}
	commit, err := l.command(ctx, checkout, "git", "stash", "create").Output() // of the uncommitted changes, if there are any
	if err != nil {
		return nil, fmt.Errorf("git stash create: %w", err)
	}
	if commit = bytes.TrimSpace(commit); len(commit) == 0 {
		commit = []byte("HEAD")
	}
	if err := l.command(ctx, checkout, "git", "worktree", "add", "--quiet", "--detach", l.root, string(commit)).Run(); err != nil {
		return nil, fmt.Errorf("git worktree add: %w", err)
	}
	modules := filepath.Join(checkout, consoleFolder, "node_modules") // saves a download
	if _, err := os.Stat(modules); err != nil {
		return l, nil
	}
	return l, l.command(ctx, ".", "cp", "-a", modules, filepath.Join(l.root, consoleFolder)).Run()
}

// close removes the copy.
func (l *lab) close() error {
	err := l.command(context.Background(), l.checkout, "git", "worktree", "remove", "--force", l.root).Run()
	return errors.Join(err, os.RemoveAll(filepath.Dir(l.root)))
}

// command returns a command that does not use programs that make test has built without the fault. -trimpath makes results in
// the build cache independent of the folder of the checkout.
func (l *lab) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SHORTLINE_PROGRAM_") && !strings.HasPrefix(e, "SHORTLINE_SOURCE_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "GOFLAGS=-trimpath -buildvcs=false -tags="+testkit.BuildTags)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// goCommand returns a go command in the module of a package.
func (l *lab) goCommand(ctx context.Context, pkg string, args ...string) (*exec.Cmd, error) {
	module, rest, err := moduleOf(l.root, pkg)
	if err != nil {
		return nil, err
	}
	work, err := os.ReadFile(filepath.Join(l.root, "go.work"))
	if err != nil {
		return nil, err
	}
	cmd := l.command(ctx, filepath.Join(l.root, module), "go", append(args, "./"+rest)...)
	if !strings.Contains(string(work)+"\n", "./"+module+"\n") {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	return cmd, nil
}

// test plants a fault and returns which package or command notices it, and the test that failed first. It returns an error if
// the fault does not apply or compile, or if nothing notices it. With check, it does not run the tests.
func (l *lab) test(ctx context.Context, f fault, check bool) (found string, err error) {
	text, err := f.text(l.root)
	if err != nil {
		return "", err
	}
	file := filepath.Join(l.root, f.File)
	right, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	restore := func() error { return os.WriteFile(file, right, 0o644) }
	defer func() { err = errors.Join(err, restore()) }()
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return "", err
	}
	if err := l.compile(ctx, f); err != nil || check {
		return "applies", err
	}
	tested := false
	for i, pattern := range f.Packages {
		selected := ""
		if i == len(f.Packages)-1 {
			selected = f.Run
		}
		o, err := l.tests(ctx, pattern, selected)
		if err != nil {
			return "", err
		}
		tested = tested || o.tested
		if !o.failed {
			continue
		}
		if err := restore(); err != nil {
			return "", err
		}
		if o.first != "" {
			selected = "^" + o.first + "$"
		}
		if alone, err := l.tests(ctx, pattern, selected); err != nil || alone.failed {
			return "", errors.Join(err, fmt.Errorf("fails without it: %s %s", pattern, o.first))
		}
		return fmt.Sprintf("found by `%s`", strings.TrimSpace(pattern+" "+o.first)), nil
	}
	if !tested {
		return "", errors.New("no package has a test that should notice")
	}
	return "", errors.New("NOT FOUND")
}

// compile returns what a compiler says if it refuses the fault. Faults in files that nothing compiles pass.
func (l *lab) compile(ctx context.Context, f fault) error {
	var build *exec.Cmd
	var err error
	switch {
	case strings.HasSuffix(f.File, ".go"):
		if build, err = l.goCommand(ctx, filepath.Dir(f.File), "build", "-o", os.DevNull); err != nil {
			return err
		}
	case strings.HasPrefix(f.File, consoleFolder+"/"):
		build = l.command(ctx, l.root, filepath.Join(l.root, "deploy/dev/web"))
	default:
		return nil
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %w: %s", err, out)
	}
	return nil
}

// outcome is the result of the tests of a pattern, or of a command.
type outcome struct {
	tested, failed bool
	first          string // the test that failed first; "" if none is to blame
}

var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	testedLine = regexp.MustCompile(`(?m)^(ok|FAIL)\s+\S+\s.*$`)
)

// readOutput reads the output of go test.
func (o *outcome) readOutput(out []byte) {
	for _, line := range testedLine.FindAll(out, -1) {
		o.tested = o.tested || !bytes.Contains(line, []byte("[no tests to run]"))
	}
	if m := failedTest.FindSubmatch(out); m != nil {
		o.first = string(m[1])
	}
}

// tests runs the tests of a pattern, or a command.
func (l *lab) tests(ctx context.Context, pattern, selected string) (o outcome, err error) {
	words := strings.Fields(pattern)
	cmd := l.command(ctx, l.root, filepath.Join(l.root, words[0]), words[1:]...)
	program := strings.HasPrefix(pattern, "./")
	if program {
		cmd, err = l.goCommand(ctx, pattern, "test", "-vet=off", "-count=1", "-failfast", "-timeout="+l.timeout.String(), "-run="+selected)
		if err != nil {
			return o, err
		}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if o.failed = errors.As(err, &exit); o.failed {
		err = nil
	}
	o.tested = !program
	o.readOutput(out)
	return o, err
}

// moduleOf divides the pattern of a package, relative to the root, into the folder of its module and the rest.
func moduleOf(root, pkg string) (module, rest string, err error) {
	parts := strings.Split(strings.TrimPrefix(pkg, "./"), "/")
	for n := len(parts); n > 0; n-- {
		module = strings.Join(parts[:n], "/")
		if _, err := os.Stat(filepath.Join(root, module, "go.mod")); err == nil {
			return module, strings.Join(parts[n:], "/"), nil
		}
	}
	return "", "", fmt.Errorf("%s is in no module", pkg)
}

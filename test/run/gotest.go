package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// module is a Go module with tests.
type module struct {
	dir   string // relative to the root
	alone bool   // not in go.work, because its dependencies would change those of the other modules
}

// modules are all modules with tests.
var modules = []module{
	{dir: "shared"}, {dir: "edge"}, {dir: "client"}, {dir: "client/cmd/shortline"}, {dir: "control"}, {dir: "control/cmd/standalone"},
	{dir: "deploy/grafana/generate"},
	{dir: "test/browser"}, {dir: "test/harness"}, {dir: "test/observe"}, {dir: "test/run"},
	{dir: "test/acme", alone: true}, {dir: "test/clients", alone: true}, {dir: "test/deploy", alone: true},
}

// moduleOf returns the module of a package: the one with the longest folder that contains it.
func moduleOf(pkg string) (found module) {
	for _, m := range modules {
		if dir := short(pkg); (dir == m.dir || strings.HasPrefix(dir, m.dir+"/")) && len(m.dir) > len(found.dir) {
			found = m
		}
	}
	return found
}

// group is a set of packages that one `go test` tests.
type group struct {
	dir      string // of a module outside go.work, or ""
	race     bool
	parallel int // packages at the same time
	packages []string
	flags    []string
	env      []string
	deadline string // of each package; "" means one hour
}

// proofTags are the build tags of make proof: those of every build, and "proof", which adds the files that make test leaves out.
const proofTags = testkit.BuildTags + ",proof"

// list returns all packages with tests, by module.
func (r *testRun) list(ctx context.Context, tags string) (map[string][]string, error) {
	found := map[string][]string{}
	for _, m := range modules {
		cmd := r.goCommand(ctx, m.alone, "list", "-tags="+tags, "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...")
		cmd.Dir, cmd.Stdout = cmd.Dir+"/"+m.dir, nil
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages of %s: %w (see bin/test.log)", m.dir, err)
		}
		found[m.dir] = strings.Fields(string(out))
		r.times.longestFirst(found[m.dir])
	}
	return found, nil
}

// goCommand returns a go command. -trimpath makes results in the build cache independent of the folder of the checkout.
func (r *testRun) goCommand(ctx context.Context, alone bool, args ...string) *exec.Cmd {
	name := os.Getenv("GO")
	if name == "" {
		name = "go"
	}
	cmd := r.command(ctx, name, args...)
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false -tags="+testkit.BuildTags), r.env...)
	if alone {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	return cmd
}

// groups returns one group with all packages of the workspace, and one for each module outside it. They do not use the race detector. It
// makes tests several times slower, and tests of allocations accept any number of them with it. make proof uses it for all packages.
func (r *testRun) groups(packages map[string][]string) []group {
	// Tests wait for other processes more than half of the time, so more packages than processors are tested at once.
	together := group{parallel: runtime.NumCPU() + 2}
	var alone []group
	for _, m := range modules {
		switch list := packages[m.dir]; {
		case len(list) == 0:
		case m.alone:
			alone = append(alone, group{dir: m.dir, parallel: 1, packages: list})
		default:
			together.packages = append(together.packages, list...)
		}
	}
	r.times.longestFirst(together.packages)
	return append([]group{together}, alone...)
}

// test tests the groups. All run at the same time, but those of modules outside the workspace one after another.
func (r *testRun) test(ctx context.Context, groups []group) error {
	var wg sync.WaitGroup
	errs := make([]error, len(groups))
	wg.Go(func() {
		for i, g := range groups {
			if g.dir != "" {
				errs[i] = r.testGroup(ctx, g)
			}
		}
	})
	for i, g := range groups {
		if g.dir == "" {
			wg.Go(func() { errs[i] = r.testGroup(ctx, g) })
		}
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// testGroup returns an error only if the tests could not run. The results say which tests failed.
func (r *testRun) testGroup(ctx context.Context, g group) error {
	if len(g.packages) == 0 || ctx.Err() != nil {
		return nil
	}
	// make check runs vet. The deadline of a package only ends tests that hang, so it is generous.
	// Linking without debug information takes half the time; stacks of panics do not need it.
	args := []string{"test", "-json", "-vet=off", "-ldflags=-s -w", "-timeout=" + cmp.Or(g.deadline, "60m"),
		"-p=" + strconv.Itoa(g.parallel)}
	if g.race {
		args = append(args, "-race")
	}
	cmd := r.goCommand(ctx, g.dir != "", append(append(args, g.flags...), g.packages...)...)
	cmd.Dir = path.Join(r.root, g.dir)
	cmd.Env = append(cmd.Env, g.env...)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = r.log
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := r.results.readEvents(out); err != nil {
		return err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && ctx.Err() == nil {
		return nil // tests failed
	}
	return err
}

// everything runs what every commit must show.
func (r *testRun) everything(ctx context.Context) error {
	fmt.Print(r.announcement())
	if err := r.install(ctx); err != nil {
		return err
	}
	if err := r.build(ctx, false); err != nil {
		return err
	}
	packages, err := r.list(ctx, testkit.BuildTags)
	if err != nil {
		return err
	}
	return r.testAndReport(ctx, packages, r.groups(packages), true)
}

// testAndReport tests the groups, says when each module has ended, and prints the tables.
func (r *testRun) testAndReport(ctx context.Context, packages map[string][]string, groups []group, complete bool) error {
	began := time.Now()
	r.results.done = r.progress(packages)
	err := r.test(ctx, groups)
	if err == nil {
		var total time.Duration
		if complete {
			total = time.Since(began)
		}
		err = r.times.keep(r.results.packages, total)
	}
	return errors.Join(err, r.report(packages))
}

// progress returns a function that prints a line whenever the last package of a module has ended, and for each package that
// failed.
func (r *testRun) progress(packages map[string][]string) func(outcome) {
	left := map[string]int{}
	for dir, list := range packages {
		left[dir] = len(list)
	}
	return func(o outcome) {
		if o.Action == "fail" {
			r.say("FAILED  %s", short(o.Package))
		}
		dir := moduleOf(o.Package).dir
		if left[dir]--; left[dir] == 0 {
			r.say("%-22s %d packages", dir, len(packages[dir]))
		}
	}
}

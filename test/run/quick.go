package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// quickSeconds is how long the packages of a quick run may take together, by their last times. It leaves time to compile.
const quickSeconds = 240

// quick tests what the uncommitted change can affect, or the last commit if there is no such change. The import graph says
// which packages a change of Go code affects. A change of the console selects browser tests by screen. Packages beyond the
// time of a quick run are named and left to make test.
func (r *testRun) quick(ctx context.Context) error {
	changed, err := r.changed(ctx)
	if err != nil {
		return err
	}
	graph, err := r.graph(ctx)
	if err != nil {
		return err
	}
	chosen := graph.affected(changed)
	pattern, screens := r.browserTests(changed)
	chosen = slices.DeleteFunc(chosen, func(pkg string) bool { return screens && pkg == browserPackage })
	chosen, left := r.times.fitting(chosen, quickSeconds)
	if len(left) > 0 {
		names := make([]string, len(left))
		for i, pkg := range left {
			names[i] = short(pkg)
		}
		fmt.Printf("Left to make test, because they take long: %s.\n", strings.Join(names, ", "))
	}
	if len(chosen) == 0 && !screens {
		fmt.Println("No tests are affected by this change.")
		return nil
	}
	if err := r.step("console", func() error { return r.script(ctx, "deploy/dev/web") }); err != nil {
		return err
	}
	if err := r.build(ctx, false); err != nil {
		return err
	}
	packages := map[string][]string{}
	for _, pkg := range chosen {
		dir := moduleOf(pkg).dir
		packages[dir] = append(packages[dir], pkg)
	}
	groups := r.groups(packages)
	if screens {
		packages["test/browser"] = []string{browserPackage}
		groups = append(groups, group{parallel: 1, packages: packages["test/browser"], flags: []string{"-run=" + pattern}})
	}
	return r.testAndReport(ctx, packages, groups, false)
}

const browserPackage = project + "test/browser"

// changed returns the files that differ from the last commit, or those of the last commit if none does.
func (r *testRun) changed(ctx context.Context) ([]string, error) {
	git := func(args ...string) ([]string, error) {
		cmd := r.command(ctx, "git", args...)
		cmd.Stdout = nil
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(name string) bool { return name == "" }), nil
	}
	differ, err := git("diff", "--name-only", "-z", "HEAD")
	if err != nil {
		return nil, err
	}
	added, err := git("ls-files", "--others", "--exclude-standard", "-z")
	if err != nil || len(differ)+len(added) > 0 {
		return append(differ, added...), err
	}
	return git("diff", "--name-only", "-z", "HEAD~1", "HEAD")
}

// fitting divides packages into those that fit into a time together, and the slowest others.
func (t *times) fitting(packages []string, most float64) (chosen, left []string) {
	t.longestFirst(packages)
	sum := 0.0
	for _, pkg := range packages {
		sum += t.Seconds[pkg]
	}
	i := 0
	for ; i < len(packages) && sum > most; i++ {
		sum -= t.Seconds[packages[i]]
	}
	return packages[i:], packages[:i]
}

// importGraph has what each test needs.
type importGraph struct {
	folder map[string]string   // of a package, relative to the root
	deps   map[string][]string // of the tests of a package, with the package itself
	source map[string][]string // the paths that the tests of a package pass to testkit.Source
}

// sourceCall matches a call of testkit.Source. A path that is not a literal counts as the root, so that any change concerns the
// test.
var sourceCall = regexp.MustCompile(`testkit\.Source\([\w.]+, (?:"([^"]*)")?`)

func (r *testRun) graph(ctx context.Context) (*importGraph, error) {
	g := &importGraph{folder: map[string]string{}, deps: map[string][]string{}, source: map[string][]string{}}
	for _, m := range modules {
		cmd := r.goCommand(ctx, m.alone, "list", "-test", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{join .Deps \" \"}}", "./...")
		cmd.Dir, cmd.Stdout = filepath.Join(cmd.Dir, m.dir), nil
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("read the import graph of %s: %w (see bin/test.log)", m.dir, err)
		}
		for line := range strings.Lines(string(out)) {
			pkg, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
			folder, deps, _ := strings.Cut(rest, "\t")
			if tested, ok := strings.CutSuffix(pkg, ".test"); ok {
				g.deps[tested] = append(strings.Fields(deps), tested)
			} else if !strings.Contains(pkg, " ") {
				if folder, err = filepath.Rel(r.root, folder); err != nil {
					return nil, err
				}
				g.folder[pkg] = filepath.ToSlash(folder)
			}
		}
	}
	for pkg := range g.deps {
		files, err := filepath.Glob(filepath.Join(r.root, g.folder[pkg], "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for _, m := range sourceCall.FindAllSubmatch(text, -1) {
				g.source[pkg] = append(g.source[pkg], string(m[1]))
			}
		}
	}
	return g, nil
}

// affected returns the packages whose tests a change of the files can affect.
func (g *importGraph) affected(files []string) (packages []string) {
	changed := map[string]bool{}
	for _, name := range files {
		changed[g.owner(name)] = true
	}
	inside := func(folder string) bool {
		return slices.ContainsFunc(files, func(name string) bool {
			return folder == "" || name == folder || strings.HasPrefix(name, folder+"/")
		})
	}
	delete(changed, "")
	for pkg, deps := range g.deps {
		hit := slices.ContainsFunc(deps, func(d string) bool { return changed[d] }) ||
			slices.ContainsFunc(g.source[pkg], inside)
		if hit {
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	return packages
}

// owner returns the package in whose folder, or below it, a file lies: a package may embed the file or read it in a test.
func (g *importGraph) owner(file string) (owner string) {
	for pkg, folder := range g.folder {
		if strings.HasPrefix(file, folder+"/") && len(folder) > len(g.folder[owner]) {
			owner = pkg
		}
	}
	return owner
}

// consoleSources are the console's sources. Below them, each screen has a folder or a file.
const consoleSources = "control/internal/console/web/src/"

// browserTests selects browser tests for changed sources of the console: those in a file of test/browser that is named after
// a part of a changed file's path, for example domains_test.go for screens/domains/list.tsx. For sources that no file is
// named after, it selects the tests of console_test.go, which open every screen.
func (r *testRun) browserTests(changed []string) (pattern string, selected bool) {
	files, _ := filepath.Glob(filepath.Join(r.root, "test/browser/*_test.go")) // the pattern is valid
	chosen := map[string]bool{}
	for _, name := range changed {
		inside, ok := strings.CutPrefix(name, consoleSources)
		if !ok {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(inside, path.Ext(inside)), "/")
		found := false
		for _, file := range files {
			if slices.Contains(parts, strings.TrimSuffix(filepath.Base(file), "_test.go")) {
				chosen[file], found = true, true
			}
		}
		if !found {
			chosen[filepath.Join(r.root, "test/browser/console_test.go")] = true
		}
	}
	var tests []string
	for file := range chosen {
		text, _ := os.ReadFile(file) // a missing file has no tests
		for _, m := range testFunction.FindAllSubmatch(text, -1) {
			tests = append(tests, string(m[1]))
		}
	}
	slices.Sort(tests)
	return "^(" + strings.Join(tests, "|") + ")$", len(tests) > 0
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

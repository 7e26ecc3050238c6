package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// item is a part of the proof that is run by itself, and not again once it has passed: an experiment of test/harness, or all
// tests of another package with the race detector.
type item struct {
	Package string
	Test    string // a regular expression; "" means all tests of the package, with the race detector
	Env     string // settings, NAME=value and separated by spaces
}

// proved is what an item that passed has shown.
type proved struct {
	Item   item
	Took   time.Duration
	Tests  int
	Counts []string // what tests published with testkit.Publish
}

// progressFile remembers what has passed. It belongs to one state of the sources.
type progressFile struct {
	name string
	done []proved
}

// proof runs what a release must show. After an interruption, it goes on where it was. It does not stop at a failure.
func (r *testRun) proof(ctx context.Context) error {
	if err := r.script(ctx, "deploy/dev/parts", "mirrormaker", "keycloak"); err != nil {
		return err
	}
	if err := r.install(ctx); err != nil {
		return err
	}
	if err := r.build(ctx, true); err != nil {
		return err
	}
	if err := r.step("guard", func() error { return r.script(ctx, "make", "--no-print-directory", "guard") }); err != nil {
		return err
	}
	p, err := r.readProgress()
	if err != nil {
		return err
	}
	items, err := r.items(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d of %d parts have passed before. `make proof` goes on where it was interrupted.\n", len(p.done), len(items))
	var failed []item
	for _, it := range items {
		if p.has(it) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		done, ok, err := r.prove(ctx, it)
		if err != nil {
			return errors.Join(err, r.proofTable(p, failed))
		}
		if !ok {
			failed = append(failed, it)
			continue
		}
		if err := p.add(done); err != nil {
			return err
		}
	}
	return errors.Join(ctx.Err(), r.proofTable(p, failed))
}

func (it item) String() string {
	return strings.Join(strings.Fields(strings.Join([]string{short(it.Package), strings.Trim(it.Test, "^$"), it.Env}, " ")), " ")
}

const harnessPackage = project + "test/harness"

// items lists all parts, the quickest packages first, then the experiments.
func (r *testRun) items(ctx context.Context) (items []item, err error) {
	packages, err := r.list(ctx, proofTags)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		for _, pkg := range packages[m.dir] {
			if pkg != harnessPackage {
				items = append(items, item{Package: pkg})
			}
		}
	}
	cmd := r.goCommand(ctx, false, "test", "-tags="+proofTags, "-list=^Test", harnessPackage)
	cmd.Stdout = nil
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the experiments: %w (see bin/test.log)", err)
	}
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "Test") {
			items = append(items, item{Package: harnessPackage, Test: "^" + name + "$", Env: fullSize(name)})
		}
	}
	return append(items, bounds...), nil
}

// prove runs one part. ok is false if a test failed.
func (r *testRun) prove(ctx context.Context, it item) (done proved, ok bool, err error) {
	before := len(r.results.tests)
	began := time.Now()
	g := group{
		packages: []string{it.Package}, parallel: 1, flags: []string{"-tags=" + proofTags}, env: strings.Fields(it.Env), deadline: "12h",
	}
	if m := moduleOf(it.Package); m.alone {
		g.dir = m.dir
	}
	if it.Test != "" {
		g.flags = append(g.flags, "-run="+it.Test)
	} else {
		g.race = true
	}
	// A published count is part of the output, which the results keep for failed tests only.
	counts := &countReader{}
	log := r.results.raw
	r.results.raw = teeWriter{log, counts}
	err = r.testGroup(ctx, g)
	r.results.raw = log
	if err != nil {
		return proved{}, false, err
	}
	done = proved{Item: it, Took: time.Since(began), Counts: counts.lines()}
	ok = len(r.results.packages) > 0 && r.results.packages[len(r.results.packages)-1].Action != "fail"
	for _, t := range r.results.tests[before:] {
		if !strings.Contains(t.Test, "/") {
			done.Tests++
		}
	}
	verdict := "passed"
	if !ok {
		verdict = "FAILED"
	}
	r.say("%-60s %8s  %s", it, seconds(done.Took), verdict)
	return done, ok, nil
}

// teeWriter writes to a log, and to a reader of counts.
type teeWriter struct {
	log    interface{ Write([]byte) (int, error) }
	counts *countReader
}

func (w teeWriter) Write(p []byte) (int, error) {
	w.counts.text.Write(p)
	return w.log.Write(p)
}

type countReader struct{ text strings.Builder }

// published matches a line that testkit.Publish wrote.
var published = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: proved (.+)$`)

func (c *countReader) lines() (list []string) {
	for _, m := range published.FindAllStringSubmatch(c.text.String(), -1) {
		list = append(list, strings.TrimSpace(m[1]))
	}
	return list
}

// readProgress reads what has passed with these sources.
func (r *testRun) readProgress() (*progressFile, error) {
	sums := slices.Clone(r.env)
	slices.Sort(sums)
	sum := sha256.Sum256([]byte(strings.Join(sums, "\n")))
	dir := filepath.Join(r.root, "bin", "proof")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &progressFile{name: filepath.Join(dir, hex.EncodeToString(sum[:8])+".json")}
	text, err := os.ReadFile(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	return p, json.Unmarshal(text, &p.done)
}

func (p *progressFile) has(it item) bool {
	return slices.ContainsFunc(p.done, func(d proved) bool { return d.Item == it })
}

// add records a part that passed. The file is replaced in one step, so an interruption cannot damage it.
func (p *progressFile) add(d proved) error {
	p.done = append(p.done, d)
	text, err := json.MarshalIndent(p.done, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(p.name+".new", p.name)
}

// proofTable prints what was proved, and the messages of failed tests.
func (r *testRun) proofTable(p *progressFile, failed []item) error {
	fmt.Println()
	tests := 0
	for _, d := range p.done {
		tests += d.Tests
		for _, c := range d.Counts {
			fmt.Printf("%-40s %9s  %s\n", d.Item, seconds(d.Took), c)
		}
	}
	for _, text := range r.results.failures() {
		fmt.Printf("\n%s\n", text)
	}
	fmt.Printf("\n%d of %d parts passed.\n%d passed, %d failed\n", len(p.done), len(p.done)+len(failed), tests, len(failed))
	if len(failed) > 0 {
		return errFailed
	}
	return nil
}

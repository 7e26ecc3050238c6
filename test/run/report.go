package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// announcement says what a run will install and how long it will take.
func (r *testRun) announcement() string {
	var b strings.Builder
	var missing []string
	for _, tool := range []string{"gcc", "java", "psql", "npm", "php", "prometheus"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if _, err := testkit.Browser(); err != nil {
		missing = append(missing, "chromium")
	}
	cache := filepath.Dir(r.times.file)
	for what, pattern := range map[string]string{"Kafka (43 MB)": "kafka-*", "ClickHouse's engine (160 MB)": "chdb-*",
		"k6 (from its sources)": "bin/k6"} {
		if found, _ := filepath.Glob(filepath.Join(cache, pattern)); len(found) == 0 {
			missing = append(missing, what)
		}
	}
	slices.Sort(missing)
	if len(missing) == 0 {
		b.WriteString("All tools and servers are installed.")
	} else {
		fmt.Fprintf(&b, "This run installs first: %s.", strings.Join(missing, ", "))
	}
	if r.times.Total > 0 {
		fmt.Fprintf(&b, " The last complete run of the tests took %s on this machine.\n", seconds(time.Duration(r.times.Total)*time.Second))
	} else {
		b.WriteString(
			" The tests take about 25 minutes on two processors; on a machine without any caches, downloading and compiling takes up to 15 more.\n")
	}
	return b.String()
}

// slowest is how many of the slowest tests are listed.
const slowest = 10

// report prints the messages of failed tests and the tables. It returns errFailed if a test failed.
func (r *testRun) report(packages map[string][]string) error {
	fmt.Println()
	for _, s := range r.stages {
		fmt.Printf("%-26s %9s\n", s.name, seconds(s.took))
	}
	r.printModules(packages)
	fmt.Printf("%-26s %9s\n\nThe slowest tests:\n", "in all", seconds(time.Since(r.began)))
	tests := slices.Clone(r.results.tests)
	tests = slices.DeleteFunc(tests, func(t outcome) bool { return strings.Contains(t.Test, "/") })
	slices.SortFunc(tests, func(a, b outcome) int { return int(b.Took - a.Took) })
	for _, t := range tests[:min(slowest, len(tests))] {
		fmt.Printf("%9s  %s %s\n", seconds(t.Took), short(t.Package), t.Test)
	}
	passed, failed, skipped := r.results.counts()
	failures := r.results.failures()
	if len(failures) > 0 {
		fmt.Printf("\n%s\n\nThe complete output is in bin/test.log.\n", strings.Join(failures, "\n\n"))
		failed = max(failed, 1) // a package that does not compile has no tests
	}
	fmt.Printf("\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if len(failures) > 0 {
		return errFailed
	}
	return nil
}

// printModules prints a line per module. The time of a module is the sum of its packages, which ran beside others.
func (r *testRun) printModules(packages map[string][]string) {
	type sum struct {
		packages, cached, tests int
		took                    time.Duration
	}
	sums := map[string]*sum{}
	of := func(pkg string) *sum {
		dir := moduleOf(pkg).dir
		if sums[dir] == nil {
			sums[dir] = &sum{}
		}
		return sums[dir]
	}
	for _, p := range r.results.packages {
		s := of(p.Package)
		s.packages++
		if p.Cached {
			s.cached++
		} else {
			s.took += p.Took
		}
	}
	for _, t := range r.results.tests {
		if !strings.Contains(t.Test, "/") {
			of(t.Package).tests++
		}
	}
	for _, m := range modules {
		if s := sums[m.dir]; s != nil {
			note := fmt.Sprintf("%d tests in %d packages", s.tests, s.packages)
			if s.cached > 0 {
				note += fmt.Sprintf(", %d of them unchanged since they passed", s.cached)
			}
			if n := len(packages[m.dir]) - s.packages; n > 0 {
				note += fmt.Sprintf(", %d packages without a result", n)
			}
			fmt.Printf("%-26s %9s  %s\n", m.dir, seconds(s.took), note)
		}
	}
}

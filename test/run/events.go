package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// event is a line of `go test -json` (see go doc test2json).
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // of build errors
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// outcome is the result of a test, or of a package if Test is empty.
type outcome struct {
	Package, Test string
	Action        string // pass, fail or skip
	Took          time.Duration
	Output        string // of a failed one
	Cached        bool
}

// results collects the outcome of all tests. It is safe for concurrent use.
type results struct {
	// done, if set, is called for the outcome of each package, by one goroutine at a time.
	done func(outcome)
	// raw receives the text output of all tests, each when it has ended, because the lines of tests that run at the same time
	// would mix.
	raw io.Writer

	mu       sync.Mutex
	output   map[string]*strings.Builder // by package and test
	packages []outcome
	tests    []outcome
}

// readEvents reads the output of one go test -json.
func (r *results) readEvents(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				e = event{Action: "output", Output: string(line)} // a message of the go command itself
			}
			r.add(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *results) add(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.output == nil {
		r.output = map[string]*strings.Builder{}
	}
	switch e.Action {
	case "output", "build-output":
		if e.Package == "" {
			e.Package = e.ImportPath
		}
		key := e.Package + " " + e.Test
		if r.output[key] == nil {
			r.output[key] = &strings.Builder{}
		}
		r.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		r.end(e)
	}
}

func (r *results) end(e event) {
	key := e.Package + " " + e.Test
	o := outcome{Package: e.Package, Test: e.Test, Action: e.Action, Took: time.Duration(e.Elapsed * float64(time.Second))}
	if out := r.output[key]; out != nil {
		o.Output = out.String()
		delete(r.output, key)
		fmt.Fprintf(r.raw, "\n== %s %s: %s\n%s", short(e.Package), e.Test, e.Action, o.Output) // a full disk must not end the tests
	}
	o.Cached = strings.Contains(o.Output, "(cached)")
	if e.Test != "" {
		if e.Action == "pass" {
			o.Output = ""
		}
		r.tests = append(r.tests, o)
		return
	}
	r.packages = append(r.packages, o)
	if r.done != nil {
		r.done(o)
	}
}

// counts returns the number of tests, without subtests, by their outcome.
func (r *results) counts() (passed, failed, skipped int) {
	for _, t := range r.tests {
		switch {
		case strings.Contains(t.Test, "/"):
		case t.Action == "pass":
			passed++
		case t.Action == "fail":
			failed++
		default:
			skipped++
		}
	}
	return passed, failed, skipped
}

// failures returns the text that explains each failed test, and each package that failed without a failed test.
func (r *results) failures() (list []string) {
	failed := map[string]bool{}
	for _, t := range r.tests {
		if t.Action != "fail" || r.hasFailedSubtest(t) {
			continue
		}
		failed[t.Package] = true
		list = append(list, fmt.Sprintf("FAIL %s %s (%s)\n%s", short(t.Package), t.Test, seconds(t.Took), messages(t.Output)))
	}
	for _, p := range r.packages {
		if p.Action == "fail" && !failed[p.Package] {
			list = append(list, fmt.Sprintf("FAIL %s\n%s", short(p.Package), messages(p.Output+r.unfinished(p.Package))))
		}
	}
	return list
}

func (r *results) hasFailedSubtest(of outcome) bool {
	for _, t := range r.tests {
		if t.Package == of.Package && t.Action == "fail" && strings.HasPrefix(t.Test, of.Test+"/") {
			return true
		}
	}
	return false
}

// unfinished returns the output of tests that never ended, because the process crashed, and of a failed build.
func (r *results) unfinished(pkg string) string {
	var b strings.Builder
	for key, out := range r.output {
		if name, _, _ := strings.Cut(key, " "); name == pkg || strings.HasPrefix(name, pkg+".test") {
			b.WriteString(out.String())
		}
	}
	return b.String()
}

// mostLines is how many lines of a failed test are printed. The complete output is in the log file.
const mostLines = 40

// reason matches the lines of a failed test that say why it failed: messages of the test with their continuation, panics,
// data races and errors of the compiler.
var reason = regexp.MustCompile(`^\s*(\S+\.go:\d+(:\d+)?: |panic: |fatal error: |WARNING: DATA RACE|FAIL\b|exit status|signal: )`)

// messages returns the lines of a failed test's output that matter.
func messages(output string) string {
	var kept []string
	within := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		starts := reason.MatchString(line)
		continues := within && strings.HasPrefix(line, "        ") // a test's message continues with two more steps
		within = starts || continues
		if within && !strings.HasPrefix(strings.TrimSpace(line), "FAIL") {
			kept = append(kept, "    "+cut(strings.TrimSpace(line), 400))
		}
	}
	if len(kept) == 0 { // better too much than nothing
		for line := range strings.Lines(output) {
			kept = append(kept, "    "+cut(strings.TrimRight(line, "\n"), 400))
		}
		kept = kept[max(0, len(kept)-mostLines):]
	}
	if more := len(kept) - mostLines; more > 0 {
		kept = append(kept[:mostLines], fmt.Sprintf("    ... and %d more lines", more))
	}
	return strings.Join(kept, "\n")
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// short returns the part of an import path below the project.
func short(pkg string) string { return strings.TrimPrefix(pkg, project) }

func seconds(d time.Duration) string {
	if d >= time.Minute {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

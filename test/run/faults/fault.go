package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fault is a wrong change of one file.
type fault struct {
	Name string `json:"name"` // what goes wrong, in words
	File string `json:"file"` // relative to the root of the project
	Old  string `json:"old"`  // the text that is replaced; it occurs exactly once in the file
	New  string `json:"new"`
	// Packages are patterns of packages that should notice, relative to the root, the cheapest first. An element that does not
	// begin with ./ is a command of the project.
	Packages []string `json:"packages"`
	// Run limits the tests of the last package, as the flag -run does; "" means all tests.
	Run string `json:"run,omitempty"`
}

// parse reads a list of faults.
func parse(text []byte) (faults []fault, err error) {
	if err := json.Unmarshal(text, &faults); err != nil {
		return nil, fmt.Errorf("read the list of faults: %w", err)
	}
	known := map[string]bool{}
	for _, f := range faults {
		if f.Name == "" || f.File == "" || f.Old == "" || f.Old == f.New || len(f.Packages) == 0 || known[f.Name] {
			return nil, fmt.Errorf("the fault %q is incomplete, changes nothing, or is there twice", f.Name)
		}
		known[f.Name] = true
	}
	return faults, nil
}

// errText is wrapped by the error of a fault that does not fit to its file.
var errText = errors.New("the text must occur exactly once")

// isGo reports whether an overlay of the go command can plant the fault.
func (f fault) isGo() bool { return strings.HasSuffix(f.File, ".go") }

// text returns the content of the file with the fault.
func (f fault) text(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return nil, fmt.Errorf("%w, not %d times, in %s: %s", errText, n, f.File, f.Old)
	}
	return []byte(strings.Replace(string(text), f.Old, f.New, 1)), nil
}

// The verdicts.
const (
	found      = "found"
	notFound   = "NOT FOUND"
	noCompile  = "does not compile"
	noFault    = "does not apply"
	failsAlone = "fails without it" // the failed test fails without the fault, too
	noTests    = "no tests"         // no package has a test that Run selects
	broken     = "could not run"
	applies    = "applies" // of -check
)

// result is what happened to one fault.
type result struct {
	fault
	verdict string
	note    string // the test that failed first, or an error
	took    time.Duration
}

const header = " seconds  verdict           fault"

func (r result) String() string {
	s := fmt.Sprintf("%8.1f  %-16s  %s", r.took.Seconds(), r.verdict, r.Name)
	if r.note != "" {
		s += "\n" + strings.Repeat(" ", 28) + strings.ReplaceAll(r.note, "\n", "\n"+strings.Repeat(" ", 28))
	}
	return s
}

type table []result

// counts returns how many results have each verdict.
func (t table) counts() string {
	var parts []string
	for _, v := range []string{found, notFound, noCompile, noFault, failsAlone, noTests, broken, applies} {
		n := 0
		for _, r := range t {
			if r.verdict == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return fmt.Sprintf("%d faults: %s", len(t), strings.Join(parts, ", "))
}

// bad reports whether a fault was not found, or does not apply.
func (t table) bad() bool {
	for _, r := range t {
		if r.verdict != found && r.verdict != applies {
			return true
		}
	}
	return false
}

// markdown returns the table as Markdown.
func (t table) markdown(root string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Faults that were planted in %s\n\n", root)
	b.WriteString("| Fault | File | Result | Seconds | First failing test |\n|---|---|---|---:|---|\n")
	for _, r := range t {
		note, _, _ := strings.Cut(r.note, "\n")
		if note != "" {
			note = "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(note) + "`"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %.0f | %s |\n", r.Name, r.File, r.verdict, r.took.Seconds(), note)
	}
	return b.String() + "\n" + t.counts() + "\n"
}

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed faults.json
var list []byte

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

// text returns the content of the file with the fault.
func (f fault) text(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return nil, fmt.Errorf("does not apply: the text must occur exactly once, not %d times, in %s: %s", n, f.File, f.Old)
	}
	return []byte(strings.Replace(string(text), f.Old, f.New, 1)), nil
}

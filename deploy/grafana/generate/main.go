// Command generate writes the Grafana dashboards to ../dashboards, from the panels and queries that this package
// defines. Run it with `go run .` in this folder after a change; a test compares the files with the definitions.
//
// All dashboards are defined here so that they look the same: one colour for one thing, a unit and a description on
// every panel, links from each dashboard to the others.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// folder holds the generated files.
const folder = "../dashboards"

func main() {
	for _, d := range allDashboards() {
		b, err := d.json()
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, d.file), b, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}

// Command dashboards writes the Grafana dashboards into the folder that is its argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/test/observe/board"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dashboards FOLDER")
		os.Exit(2)
	}
	for _, d := range board.All() {
		b, err := d.JSON()
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], d.File), b, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "dashboards:", err)
			os.Exit(1)
		}
	}
}

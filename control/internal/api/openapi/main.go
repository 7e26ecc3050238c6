// Command openapi prints the OpenAPI document of the API as JSON. The console's types are generated from it, so the build of the
// console fails if it uses a field that the API does not have. With -schemas, it writes the schemas of webhook events into a folder
// instead.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/api"
)

func main() {
	folder := flag.String("schemas", "", "write the schemas of webhook events into this folder")
	flag.Parse()
	if err := run(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	if folder == "" {
		document, err := api.Document()
		if err == nil {
			_, err = os.Stdout.Write(document)
		}
		return err
	}
	files, err := api.EventSchemas()
	if err != nil {
		return err
	}
	for event, text := range files {
		if err := os.WriteFile(filepath.Join(folder, event+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

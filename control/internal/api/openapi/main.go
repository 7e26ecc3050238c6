// Command openapi prints the OpenAPI document of the API as JSON. The console's types are generated from it, so the build of the
// console fails if it uses a field that the API does not have.
package main

import (
	"fmt"
	"os"

	"github.com/shortline/shortline/control/internal/api"
)

func main() {
	document, err := api.Document()
	if err == nil {
		_, err = os.Stdout.Write(document)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

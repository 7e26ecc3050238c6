// Command openapi prints the OpenAPI document of the API as JSON. The console's types are generated from it, so the build of the
// console fails if it uses a field that the API does not have.
//
// No use case runs: the document comes from the request and response structs alone.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

// run writes the document of an API with all use cases.
func run(to io.Writer) error {
	deps := api.Deps{Store: new(store.Store), Auth: new(auth.Authenticator)}
	for _, field := range reflect.ValueOf(&deps).Elem().Fields() {
		if field.Kind() == reflect.Pointer && field.IsNil() {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
	server, err := api.New(api.Config{BaseURL: "https://sho.rt", Logger: slog.New(slog.DiscardHandler)}, deps)
	if err != nil {
		return err
	}
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/openapi.json", nil))
	if answer.Code != http.StatusOK {
		return fmt.Errorf("the API answers %d: %s", answer.Code, answer.Body)
	}
	_, err = io.Copy(to, answer.Body)
	return err
}

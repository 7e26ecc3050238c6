package api_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// A deprecated endpoint says since when, until when and where to read on, also in an error. The end is a year or more later, the document
// has it, and the page lists the endpoint. Other endpoints say nothing.
func TestDeprecated_endpoints_say_until_when_they_answer(t *testing.T) {
	w := small(t, whole)
	page, err := os.ReadFile(testkit.Source(t, "docs/users/api-versions.md"))
	testkit.Must(t, err)
	contract, err := theContract()
	testkit.Must(t, err)
	deprecated := 0
	for path, methods := range w.openapi().Paths {
		for method := range methods {
			op := member(contract.paths, path, method)
			if op["deprecated"] != true {
				continue
			}
			deprecated++
			method = strings.ToUpper(method)
			if !strings.Contains(string(page), fmt.Sprintf("\n| `%s %s` |", method, path)) {
				t.Errorf("the page does not list %s %s", method, path)
			}
			r := w.do(method, strings.ReplaceAll(path, "{id}", "01970000-0000-7000-8000-000000000000"), "").want(401)
			since, until := r.Header.Get("Deprecation"), r.Header.Get("Sunset")
			end, err := time.Parse(http.TimeFormat, until)
			testkit.Must(t, err)
			var begin int64
			if _, err := fmt.Sscanf(since, "@%d", &begin); err != nil || end.Before(time.Unix(begin, 0).AddDate(1, 0, 0)) {
				t.Errorf("%s %s: deprecated %q until %q", method, path, since, until)
			}
			if !strings.Contains(string(page), since) || !strings.Contains(string(page), until) {
				t.Errorf("the page has not %q and %q", since, until)
			}
			if op["x-sunset"] != end.Format(time.DateOnly) || !strings.Contains(r.Header.Get("Link"), `rel="deprecation"`) {
				t.Errorf("%s %s: %v, %v", method, path, op["x-sunset"], r.Header)
			}
		}
	}
	if deprecated < 5 {
		t.Errorf("%d endpoints are deprecated", deprecated)
	}
	if h := w.do("GET", "/api/analytics/bots", "", as(w.ann)).want(200).Header; h.Get("Deprecation")+h.Get("Sunset") != "" {
		t.Errorf("an endpoint that is not deprecated: %v", h)
	}
}

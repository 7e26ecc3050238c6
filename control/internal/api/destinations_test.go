package api_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// docs/users/api.md documents how destinations are rewritten. The test tries each example in every destination field.
func TestAPI9_DestinationsAreStoredAsDocumented(t *testing.T) {
	w := small(t, withLinks)
	page, err := os.ReadFile(testkit.Source(t, "docs/users/api.md"))
	w.ok(err)
	rows := regexp.MustCompile("(?m)^\\| `(https?://[^`]+)` \\| `(https?://[^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 8 {
		t.Fatalf("the page has %d examples", len(rows))
	}
	for i, row := range rows {
		sent, stored := row[1], row[2]
		r := w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":%q,"defaultUrl":%q}`, sent, sent), as(w.ann)).want(201)
		again := w.do("GET", "/api/urls/"+r.str("id"), "", as(w.ann)).want(200)
		v := w.do("POST", "/api/urls/"+r.str("id")+"/variants", fmt.Sprintf(`{"name":"v%d","targetUrl":%q}`, i, sent), as(w.ann)).want(201)
		if r.str("originalUrl") != stored || again.str("originalUrl") != stored || again.str("defaultUrl") != stored ||
			v.str("targetUrl") != stored {
			t.Errorf("%s is stored as %s, %s and %s; the page documents %s", sent, again.str("originalUrl"), again.str("defaultUrl"),
				v.str("targetUrl"), stored)
		}
		w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":%q}`, stored), as(w.ann)).want(201).shows("originalUrl", stored)
	}
	if doc := w.do("GET", "/api/openapi.json", "").text; !strings.Contains(doc, "xn--bcher-kva.example") ||
		!strings.Contains(doc, "percent-encoded") {
		t.Error("the OpenAPI document does not describe how destinations are rewritten")
	}
}

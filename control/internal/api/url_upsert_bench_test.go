package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store/storetest"
)

// BenchmarkUpsert_unchanged plans a thousand links that are as wanted, each with two tags and a rule.
func BenchmarkUpsert_unchanged(b *testing.B) {
	w := newWorld(b, storetest.Open(b), withLinks)
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`{"externalId":"crm:%d","originalUrl":"https://example.com/some/page/%d?with=parameters",`+
			`"title":"A title of usual length, number %d","tags":["one","two"],"rules":[{"name":"phones",`+
			`"targetUrl":"https://example.com/m/%d","conditions":%s}]}`, i, i, i, i, phones))
	}
	body := `{"items":[` + strings.Join(items, ",") + `]}`
	w.do("PUT", "/api/urls/bulk", body, as(w.ann)).want(200)
	b.ResetTimer()
	for b.Loop() {
		r := httptest.NewRequest("PUT", "/api/urls/bulk?dryRun=true", strings.NewReader(body))
		as(w.ann)(r)
		rec := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(rec, r)
		if rec.Code != 200 {
			b.Fatal(rec.Body.String())
		}
	}
}

package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// BenchmarkRequest measures the cost of every request: look up a session or key, check the rate limit, read one row.
func BenchmarkRequest(b *testing.B) {
	for _, dialect := range []struct {
		name string
		open func(testing.TB) *store.Store
	}{{"sqlite", storetest.Open}, {"postgres", storetest.OpenPostgres}} {
		b.Run(dialect.name, func(b *testing.B) {
			w := newWorld(b, dialect.open(b), limited(1<<30))
			key := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann)).want(201).str("key")
			for name, credential := range map[string]string{"session": w.ann, "key": key} {
				b.Run(name, func(b *testing.B) {
					h := w.server.Handler()
					b.ReportAllocs()
					for b.Loop() {
						r := httptest.NewRequest(http.MethodGet, "/api/auth/me", nil)
						r.Header.Set("Authorization", "Bearer "+credential)
						rec := httptest.NewRecorder()
						if h.ServeHTTP(rec, r); rec.Code != http.StatusOK {
							b.Fatal(rec.Code, rec.Body)
						}
					}
				})
			}
		})
	}
}

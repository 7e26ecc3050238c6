package api_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Edges load a limited number of links. No way to create one more succeeds, and nothing else is refused.
func TestLimit_of_links_is_refused_everywhere(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLiteURL, "postgres": storetest.PostgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" && !testkit.Size(false, true) {
				t.Skip("in make proof")
			}
			st, err := store.Open(t.Context(), store.Config{URL: url(t), MaxLinks: 3, BaseURL: "https://sho.rt", Trash: testkit.Patience})
			testkit.Must(t, err)
			t.Cleanup(func() { _ = st.Close() })
			limitOfLinks(newWorld(t, st, whole))
		})
	}
}

func limitOfLinks(w *world) {
	create := func(by string) *reply {
		return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(by))
	}
	full := func(r *reply) {
		w.t.Helper()
		if text := r.want(409).str("message"); !strings.Contains(text, "The service has 3 links, which is the limit.") {
			w.t.Errorf("the message is %q", text)
		}
		if got := w.do("GET", "/api/urls/stats", "", as(w.ann)).num("totalUrls"); got != 2 {
			w.t.Errorf("%v links of ann", got)
		}
	}
	first := create(w.ann).want(201).str("id")
	trashed := create(w.ann).want(201).str("id")
	w.do("DELETE", "/api/urls/"+trashed, "", as(w.ann)).want(204)
	create(w.ann).want(201)
	create(w.bob).want(201)
	full(create(w.ann))
	full(create(w.bob)) // also for others
	full(w.do("POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://example.com/1"},{"originalUrl":"https://example.com/2"}]}`,
		as(w.ann)))
	full(w.do("PUT", "/api/urls/by-external-id/crm-1", `{"originalUrl":"https://example.com/"}`, as(w.ann)))
	full(w.do("POST", "/api/urls/"+first+"/duplicate", `{}`, as(w.ann)))
	full(w.do("POST", "/api/urls/"+trashed+"/restore", `{}`, as(w.ann)))

	// An import ends with the reason, without a part of its rows.
	id := w.uploadLinks("url\nhttps://example.com/a\nhttps://example.com/b\n")
	r := w.imported(id, `{"mapping":{"originalUrl":"url"},"conflicts":"skip"}`)
	if r.progress() != "FAILED: done 0, created 0, updated 0, skipped 0, renamed 0, failed 0" ||
		!strings.Contains(r.text, "The service has 3 links, which is the limit.") {
		w.t.Errorf("the import: %s", r.text)
	}

	// Requests that create nothing work. A deleted link makes room for exactly one.
	w.do("PATCH", "/api/urls/"+first, `{"title":"new"}`, as(w.ann)).want(200)
	team := w.team("the-team")
	w.do("POST", "/api/urls/transfer", transferring(team.ID, first), as(w.ann)).want(200)
	w.do("DELETE", "/api/urls/"+first, "", as(w.ann), in(team)).want(204)
	w.do("POST", "/api/urls/"+trashed+"/restore", `{}`, as(w.ann)).want(200)
	full(create(w.bob))
}

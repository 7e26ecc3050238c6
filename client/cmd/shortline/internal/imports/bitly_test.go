package imports_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// newBitlyServer is a Bitly with two groups. Each page has one link.
func newBitlyServer(t *testing.T, groups map[string][]string) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v4/groups", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"groups":[{"guid":"Ba1","name":"one","is_active":true},{"guid":"Ba2","name":"two","is_active":true}]}`)
	})
	mux.HandleFunc("GET /v4/groups/{group}/bitlinks", func(w http.ResponseWriter, r *http.Request) {
		links := groups[r.PathValue("group")]
		at := 0
		if after := r.URL.Query().Get("search_after"); after != "" {
			var err error
			if at, err = strconv.Atoi(after); err != nil {
				t.Error(err)
			}
		}
		if r.URL.Query().Get("archived") != "both" {
			t.Errorf("%s", r.URL)
		}
		link, next, after := "", "", ""
		if at < len(links) {
			link = links[at]
		}
		if at+1 < len(links) {
			after = strconv.Itoa(at + 1)
			next = "https://api-ssl.bitly.com/v4/groups/x/bitlinks?search_after=" + after
		}
		fmt.Fprintf(w, `{"links":[%s],"pagination":{"prev":"","next":%q,"size":1,"page":1,"total":%d,"search_after":%q}}`, link, next,
			len(links), after)
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"FORBIDDEN","description":"You are currently forbidden to access this resource."}`)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

const bitlyCustom = `{"created_at":"2018-03-01T22:45:54+0000","id":"bit.ly/2E9A1M8","link":"https://bit.ly/2E9A1M8",
	"custom_bitlinks":["https://bit.ly/Spring"],"long_url":"https://example.com/spring","title":"Spring","archived":false,
	"created_by":"ann","client_id":"x","tags":["news"],"launchpad_ids":[],"deeplinks":[],
	"references":{"group":"https://api-ssl.bitly.com/v4/groups/Ba1"}}`

func TestBitly_groups_and_both_addresses(t *testing.T) {
	w := newWorld(t)
	archived := `{"created_at":"2019-01-01T00:00:00+0000","id":"go.acme.example/old","link":"https://go.acme.example/old","custom_bitlinks":[],` +
		`"long_url":"https://example.com/old","archived":true,"tags":[],"deeplinks":[{"os":"ios"}]}`
	gone := `{"created_at":"2019-01-01T00:00:00+0000","id":"bit.ly/gone1","link":"https://bit.ly/gone1","custom_bitlinks":[],"long_url":""}`
	s := newBitlyServer(t, map[string][]string{"Ba1": {bitlyCustom, gone}, "Ba2": {archived}})
	r := w.run("bitly", "--from", s.URL).want(t, 1, "created 3 failed 1")
	for _, slug := range []string{"Spring", "2E9A1M8"} {
		if l := w.to.link(slug); l["originalUrl"] != "https://example.com/spring" || l["createdAt"] != "2018-03-01T22:45:54.000Z" {
			t.Errorf("%s: %v", slug, l)
		}
	}
	if id := w.to.link("Spring")["externalId"]; id != "bitly:bit.ly/2E9A1M8" {
		t.Errorf("external id %v", id)
	}
	if got, want := r.reason("go.acme.example/old"), "created: ; links into apps are not imported"; got != want {
		t.Errorf("%q instead of %q", got, want)
	}
	if v := r.report.Verified; v.Asked != 3 || v.Right != 3 {
		t.Errorf("verified %+v", v)
	}
	w.run("bitly", "--from", s.URL).want(t, 1, "unchanged 3 failed 1")
}

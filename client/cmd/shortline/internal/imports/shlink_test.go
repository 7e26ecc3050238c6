package imports_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// shlinkServer is a Shlink with version 3 of the API. Each page has two links, whatever the client wants.
type shlinkServer struct {
	*httptest.Server
	links []map[string]any
	rules map[string]string
	busy  atomic.Int32 // requests that get 429 before the others
	asked atomic.Int32 // pages
}

func newShlinkServer(t *testing.T, links ...map[string]any) *shlinkServer {
	s := &shlinkServer{links: links, rules: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rest/v3/short-urls", func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		number, err := strconv.Atoi(r.URL.Query().Get("page"))
		if err != nil || r.URL.Query().Get("orderBy") != "dateCreated-ASC" {
			t.Errorf("%s", r.URL)
		}
		pages := (len(s.links) + 1) / 2
		data := s.links[min(len(s.links), 2*(number-1)):min(len(s.links), 2*number)]
		answer(w, map[string]any{"shortUrls": map[string]any{"data": data, "pagination": map[string]any{"currentPage": number,
			"pagesCount": pages, "itemsPerPage": 2, "itemsInCurrentPage": len(data), "totalItems": len(s.links)}}})
	})
	mux.HandleFunc("GET /rest/v3/short-urls/{code}/redirect-rules", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"defaultLongUrl":"https://example.com","redirectRules":%s}`, s.rules[r.PathValue("code")])
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("X-Api-Key") != token:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"title":"Invalid API key","type":"https://shlink.io/api/error/invalid-api-key","detail":"Provided API key does not exist or is invalid.","status":401}`)
		case s.busy.Add(-1) >= 0:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// shlinkLink is a short URL as Shlink sends it, with other fields instead of the usual ones.
func shlinkLink(code string, fields string) map[string]any {
	l := map[string]any{"shortCode": code, "shortUrl": "https://old.example/" + code, "longUrl": "https://example.com/" + code,
		"dateCreated": "2016-08-21T20:34:16+02:00", "tags": []string{}, "domain": nil, "title": nil, "crawlable": false,
		"forwardQuery":     true,
		"visitsSummary":    map[string]any{"total": 7, "nonBots": 5, "bots": 2},
		"meta":             map[string]any{"validSince": nil, "validUntil": nil, "maxVisits": nil},
		"hasRedirectRules": false}
	if err := json.Unmarshal([]byte("{"+fields+"}"), &l); err != nil {
		panic(err)
	}
	return l
}

func TestShlink_links_keep_what_they_have(t *testing.T) {
	w := newWorld(t)
	s := newShlinkServer(t,
		shlinkLink("whole", `"title":"Whole","tags":["a","b,c"],"meta":{"validSince":"2017-01-01T00:00:00+01:00","validUntil":"2020-05-05T10:00:00+00:00","maxVisits":9}`),
		shlinkLink("ruled", `"hasRedirectRules":true`),
		shlinkLink("ab", ``),
		shlinkLink("host", `"shortUrl":"https://go.acme.example/host","domain":"go.acme.example"`),
		shlinkLink("odd", `"dateCreated":"last year"`))
	s.rules["ruled"] = `[
		{"longUrl":"https://example.com/a","priority":1,"conditions":[{"type":"device","matchValue":"android","matchKey":null},
			{"type":"language","matchValue":"pt","matchKey":null},{"type":"query-param","matchKey":"x","matchValue":"1"}]},
		{"longUrl":"https://example.com/b","priority":2,"conditions":[{"type":"moon","matchValue":"full","matchKey":null}]}]`
	dry := w.run("shlink", "--from", s.URL, "--dry-run").want(t, 1, "created 4 failed 1")
	if len(w.to.links) != 0 {
		t.Fatal("the dry run has written")
	}
	r := w.run("shlink", "--from", s.URL).want(t, 1, "created 4 failed 1")
	for _, from := range []string{"old.example/ab", "old.example/ruled", "old.example/odd", "old.example/whole"} {
		if a, b := dry.reason(from), r.reason(from); a != b {
			t.Errorf("%s: %q in the dry run, and then %q", from, a, b)
		}
	}
	whole := w.to.link("whole")
	for field, want := range map[string]string{"title": "Whole", "createdAt": "2016-08-21T18:34:16.000Z", "startsAt": "2016-12-31T23:00:00.000Z",
		"expiresAt": "2020-05-05T10:00:00.000Z", "maxClicks": "9", "tags": "[a b,c]", "externalId": "shlink:old.example/whole"} {
		if got := fmt.Sprint(whole[field]); got != want {
			t.Errorf("%s: %s instead of %s", field, got, want)
		}
	}
	if domain := w.to.link("host")["domain"]; domain != "go.acme.example" {
		t.Errorf("domain %v", domain)
	}
	rules, err := json.Marshal(w.to.link("ruled")["rules"])
	if text := string(rules); err != nil || !strings.Contains(text, `"Android"`) || !strings.Contains(text, `"pt-"`) || strings.Contains(text, "moon") {
		t.Errorf("%s %v", text, err)
	}
	for from, want := range map[string]string{"old.example/ab": "failed: customSlug must have 3 to 50 characters",
		"old.example/ruled": `conditions of the type "moon" have no equivalent`, "old.example/odd": `"last year" is no date`} {
		if got := r.reason(from); !strings.Contains(got, want) {
			t.Errorf("%s: %q instead of %q", from, got, want)
		}
	}
	if v := r.report.Verified; v.Asked != 2 || v.Right != 2 { // host and odd
		t.Errorf("verified %+v", v)
	}
	s.links[0]["title"] = "Changed"
	w.run("shlink", "--from", s.URL).want(t, 1, "updated 1 unchanged 3 failed 1")
}

func TestShlink_limits_and_errors(t *testing.T) {
	w := newWorld(t)
	s := newShlinkServer(t, shlinkLink("one", ""))
	s.busy.Store(1)
	w.run("shlink", "--from", s.URL).want(t, 0, "created 1")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, s.URL, http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/denied"):
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"title":"Invalid API key","detail":"Provided API key is invalid.","status":401}`)
		case strings.HasPrefix(r.URL.Path, "/later"):
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
		case strings.HasPrefix(r.URL.Path, "/html"):
			fmt.Fprint(w, "<!doctype html><title>Shlink</title>")
		default:
			fmt.Fprint(w, `{"shortUrls":`)
		}
	}))
	defer other.Close()
	asked := s.asked.Load()
	for _, c := range []struct {
		path, says string
		code       int
	}{
		{"/moved", "leads to another address", 1}, {"/denied", "Provided API key is invalid", 3}, {"/later", "run the same command later", 6},
		{"/html", "a page for people", 1}, {"/cut", "cannot be read", 1},
	} {
		r := w.run("shlink", "--from", other.URL+c.path)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit code %d instead of %d: %s", c.path, r.code, c.code, r.err)
		}
	}
	if s.asked.Load() != asked {
		t.Error("the token went to another host")
	}
	if r := w.run("shlink", "--from", "http://shlink.example"); r.code != 2 || !strings.Contains(r.err, "without encryption") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if r := w.run("shlink"); r.code != 2 {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

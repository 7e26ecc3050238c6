package imports_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// serveJSON answers requests that allowed accepts with what reply returns, and others with 401.
func serveJSON(t *testing.T, allowed func(*http.Request) bool, reply func(r *http.Request) string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !allowed(r) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"code":"unauthorized","message":"Invalid key."}}`)
			return
		}
		fmt.Fprint(w, reply(r))
	}))
	t.Cleanup(s.Close)
	return s
}

// fields checks fields of the link with a slug, as fmt prints them.
func (w *world) fields(slug string, want map[string]string) {
	w.t.Helper()
	l := w.to.link(slug)
	for field, text := range want {
		if got := fmt.Sprint(l[field]); got != text {
			w.t.Errorf("%s: %s is %s instead of %s", slug, field, got, text)
		}
	}
}

func TestDub_links(t *testing.T) {
	w := newWorld(t)
	s := serveJSON(t, func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+token }, func(r *http.Request) string {
		if q := r.URL.Query(); r.URL.Path != "/links" || q.Get("showArchived") != "true" || q.Get("sortOrder") != "asc" {
			t.Errorf("%s", r.URL)
		}
		if r.URL.Query().Get("page") == "2" {
			return `[{"id":"link_last","domain":"go.acme.example","key":"last","url":"https://example.com/last","createdAt":"2024-01-02T00:00:00.000Z"}]`
		}
		list := []string{
			`{"id":"link_1","domain":"dub.sh","key":"full","url":"https://example.com/full","archived":true,"expiresAt":"2025-01-01T00:00:00.000Z",
				"expiredUrl":"https://example.com/over","password":null,"title":"Full","ios":"https://example.com/ios","android":null,
				"geo":{"DE":"https://example.com/de","AT":"https://example.com/at"},"tags":[{"id":"t","name":"news","color":"red"}],"comments":"c",
				"clicks":3,"createdAt":"2024-01-01T00:00:00.000Z","rewrite":true}`,
			`{"id":"link_2","domain":"dub.sh","key":"secret","url":"https://example.com/secret","password":"open","createdAt":"2024-01-01T00:00:00.000Z"}`,
			`{"id":"link_3","domain":"dub.sh","key":"_root","url":"https://example.com/","createdAt":"2024-01-01T00:00:00.000Z"}`,
		}
		for i := len(list); i < 100; i++ {
			list = append(list, fmt.Sprintf(`{"id":"link_f%d","domain":"dub.sh","key":"fill%[1]d","url":"https://example.com/%[1]d",`+
				`"createdAt":"2024-01-01T00:00:00.000Z","geo":null}`, i))
		}
		return "[" + strings.Join(list, ",") + "]"
	})
	r := w.run("dub", "--from", s.URL).want(t, 1, "created 100 failed 1")
	w.fields("full", map[string]string{"title": "Full", "notes": "c", "tags": "[news]", "expiredUrl": "https://example.com/over",
		"createdAt": "2024-01-01T00:00:00.000Z", "expiresAt": "2025-01-01T00:00:00.000Z", "externalId": "dub:link_1", "status": "<nil>"})
	w.fields("secret", map[string]string{"status": "INACTIVE"})
	w.fields("last", map[string]string{"domain": "go.acme.example"})
	var names []string
	for _, one := range w.to.link("full")["rules"].([]any) {
		names = append(names, fmt.Sprint(one.(map[string]any)["name"], one.(map[string]any)["priority"]))
	}
	if got := strings.Join(names, " "); got != "iOS3 Country AT2 Country DE1" {
		t.Errorf("rules %s", got)
	}
	if got := r.reason("dub.sh/secret"); !strings.Contains(got, "inactive until you set one") || strings.Contains(r.out, `"open"`) {
		t.Errorf("%q", got)
	}
	w.to.link("secret")["status"] = "ACTIVE" // the user has set a password, which the next run keeps
	w.run("dub", "--from", s.URL).want(t, 1, "unchanged 100 failed 1")
	w.fields("secret", map[string]string{"status": "ACTIVE"})
}

func TestKutt_links(t *testing.T) {
	w := newWorld(t)
	links := []string{
		`{"id":"1","address":"plain","banned":false,"created_at":"2020-01-01T10:00:00.000Z","link":"https://kutt.example/plain","password":false,
			"target":"https://example.com/plain","description":"D","visit_count":4,"expire_in":"2021-01-01T00:00:00.000Z"}`,
		`{"id":"2","address":"banned","banned":true,"created_at":"2020-01-01T10:00:00.000Z","link":"https://kutt.example/banned","target":"https://example.com/"}`,
		`{"id":"3","address":"locked","created_at":"2020-01-01T10:00:00.000Z","link":"https://kutt.example/locked","password":true,
			"target":"https://example.com/locked","visit_count":"5","description":null}`,
	}
	s := serveJSON(t, func(r *http.Request) bool { return r.Header.Get("X-Api-Key") == token }, func(r *http.Request) string {
		skip, err := strconv.Atoi(r.URL.Query().Get("skip"))
		if err != nil || r.URL.Path != "/api/v2/links" {
			t.Errorf("%s", r.URL)
		}
		return fmt.Sprintf(`{"limit":2,"skip":%d,"total":3,"data":[%s]}`, skip, strings.Join(links[skip:min(skip+2, 3)], ","))
	})
	r := w.run("kutt", "--from", s.URL).want(t, 1, "created 2 failed 1")
	w.fields("plain", map[string]string{"notes": "D", "createdAt": "2020-01-01T10:00:00.000Z", "expiresAt": "2021-01-01T00:00:00.000Z"})
	w.fields("locked", map[string]string{"status": "INACTIVE"})
	if got := r.reason("kutt.example/banned"); got != "failed: an administrator of Kutt has banned it" {
		t.Errorf("%q", got)
	}
	if r.report.Rows[2].Clicks != 5 {
		t.Errorf("%+v", r.report.Rows[2])
	}
}

func TestRebrandly_workspaces(t *testing.T) {
	w := newWorld(t)
	s := serveJSON(t, func(r *http.Request) bool { return r.Header.Get("apikey") == token }, func(r *http.Request) string {
		if r.URL.Path == "/v1/workspaces" {
			return `[{"id":"w1","name":"one"},{"id":"w2","name":"two"}]`
		}
		if workspace := r.Header.Get("workspace"); workspace == "w2" {
			return `[{"id":"z","slashtag":"other","destination":"https://example.com/other","shortUrl":"go.acme.example/other","status":"active",
				"createdAt":"2022-02-02T02:02:02.000Z","tags":[{"id":"t","name":"T"}],"domain":{"fullName":"go.acme.example"},"clicks":1}]`
		}
		first := 0
		if last := r.URL.Query().Get("last"); last != "" {
			first = 25
		}
		var list []string
		for i := first; i < min(first+25, 30); i++ {
			list = append(list, fmt.Sprintf(`{"id":"l%d","title":"t","slashtag":"link%[1]d","destination":"https://example.com/%[1]d","status":"active",
				"createdAt":"2022-01-01T00:00:00.000Z","shortUrl":"rebrand.ly/link%[1]d","domain":{"fullName":"rebrand.ly"}}`, i))
		}
		return "[" + strings.Join(list, ",") + "]"
	})
	w.run("rebrandly", "--from", s.URL).want(t, 0, "created 31")
	w.fields("other", map[string]string{"domain": "go.acme.example", "tags": "[T]", "externalId": "rebrandly:z"})
	w.fields("link29", map[string]string{"title": "t", "createdAt": "2022-01-01T00:00:00.000Z"})
}

func TestShortio_domains(t *testing.T) {
	w := newWorld(t)
	s := serveJSON(t, func(r *http.Request) bool { return r.Header.Get("Authorization") == token }, func(r *http.Request) string {
		switch q := r.URL.Query(); {
		case r.URL.Path == "/api/domains":
			return `[{"id":12,"hostname":"Go.Acme.Example"},{"id":13,"hostname":"s.example"}]`
		case q.Get("domain_id") == "13":
			return `{"count":0,"links":[],"nextPageToken":null}`
		case q.Get("pageToken") == "":
			return `{"count":1,"nextPageToken":"p2","links":[{"id":"lnk_1","idString":"lnk_1","path":"first","originalURL":"https://example.com/first",
				"title":null,"createdAt":"2021-03-03T00:00:00.000Z","expiresAt":1640995200000,"redirectType":301,"tags":["x"],
				"iphoneURL":"https://example.com/i","clicksLimit":7}]}`
		case q.Get("pageToken") == "p2":
			return `{"count":2,"links":[{"id":5,"path":"","originalURL":"https://example.com/"},
				{"id":6,"path":"old","originalURL":"https://example.com/old","createdAt":"2021-03-03T00:00:00.000Z","redirectType":"302"}]}`
		}
		t.Errorf("%s", r.URL)
		return "{}"
	})
	w.run("shortio", "--from", s.URL).want(t, 1, "created 2 failed 1")
	w.fields("first", map[string]string{"domain": "go.acme.example", "expiresAt": "2022-01-01T00:00:00.000Z", "redirectCode": "301", "maxClicks": "7"})
	w.fields("old", map[string]string{"externalId": "shortio:6", "redirectCode": "302"})
}

func TestYOURLS_links(t *testing.T) {
	w := newWorld(t)
	s := serveJSON(t, func(r *http.Request) bool { return r.URL.RawQuery == "" }, func(r *http.Request) string {
		if r.PostFormValue("signature") != token {
			return `{"message":"Please log in","errorCode":"403","callback":""}`
		}
		if r.URL.Path != "/below/yourls-api.php" || r.PostFormValue("action") != "stats" {
			t.Errorf("%s %v", r.URL, r.PostForm)
		}
		switch r.PostFormValue("start") {
		case "0":
			return `{"links":{"link_2":{"shorturl":"http://y.example/below/two","url":"https://example.com/2","title":"Two","timestamp":"2011-01-02 03:04:05",
				"ip":"192.0.2.1","clicks":"12"},"link_1":{"shorturl":"http://y.example/below/one","url":"https://example.com/1","title":"One",
				"timestamp":"0000-00-00 00:00:00","ip":"","clicks":"0"}},"stats":{"total_links":"3","total_clicks":"12"},"statusCode":"200"}`
		case "2":
			return `{"links":{"link_1":{"shorturl":"http://y.example/below/3","url":"https://example.com/3","title":"","timestamp":"2011-01-02 03:04:05",
				"clicks":"1"}},"stats":{"total_links":"3","total_clicks":"12"},"statusCode":200}`
		}
		return `{"links":[],"stats":{"total_links":"0"},"statusCode":200}`
	})
	r := w.run("yourls", "--from", s.URL+"/below").want(t, 1, "created 2 failed 1")
	w.fields("two", map[string]string{"title": "Two", "createdAt": "2011-01-02T03:04:05.000Z", "externalId": "yourls:y.example/two"})
	w.fields("one", map[string]string{"createdAt": "<nil>", "clickBaseline": "<nil>"})
	was := w.to.link("two")["clickBaseline"].(map[string]any)
	if was["count"] != 12.0 || was["source"] != "YOURLS" {
		t.Errorf("%v", was)
	}
	was["until"] = "2020-01-01T00:00:00.000Z" // when an earlier run has asked
	w.run("yourls", "--from", s.URL+"/below").want(t, 1, "unchanged 2 failed 1")
	w.to.link("two")["title"], was["count"] = "Another", 11.0
	w.run("yourls", "--from", s.URL+"/below").want(t, 1, "updated 1 unchanged 1 failed 1")
	if was = w.to.link("two")["clickBaseline"].(map[string]any); was["count"] != 12.0 {
		t.Errorf("%v", was)
	}
	if r.report.Rows[0].From != "y.example/one" || r.report.Rows[1].Clicks != 12 {
		t.Errorf("%+v", r.report.Rows)
	}
}

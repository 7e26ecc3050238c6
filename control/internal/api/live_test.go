package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// liveWorld is a world with a live feed and a real HTTP server.
type liveWorld struct {
	*clickWorld
	url  string
	stop func() // stops the feed in the same way as the program
}

func newLiveWorld(t *testing.T, st *store.Store, cfg live.Config) *liveWorld {
	t.Helper()
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = clicks.Close() })
	feed := live.New(cfg, st, clicks)
	w := &liveWorld{clickWorld: &clickWorld{clicks: clicks}}
	w.world = newWorld(t, st, func(world *world, cfg *api.Config, deps *api.Deps) {
		withLinks(world, cfg, deps)
		deps.Live = feed
	})
	w.in = ingest.New(ingest.Config{Stored: []func([]analytics.Row){feed.Stored}}, st, clicks, nil)
	w.stop = testkit.Run(t, feed.Run)
	server := httptest.NewServer(w.server.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(w.stop) // before the server, which waits until all streams have ended
	w.url = server.URL
	return w
}

// event is one server-sent event.
type event struct{ name, id, data string }

// listen opens a stream. The channel is closed when the stream ends.
func (w *liveWorld) listen(token, query string) (events <-chan event, leave func()) {
	w.t.Helper()
	return w.listenAs(query, as(token))
}

func (w *liveWorld) listenAs(query string, caller option) (events <-chan event, leave func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", w.url+api.LivePath+query, nil)
	w.ok(err)
	caller(req)
	res, err := http.DefaultClient.Do(req)
	w.ok(err)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("%s %v", res.Status, res.Header)
	}
	out := make(chan event, 100)
	go func() {
		defer close(out)
		defer res.Body.Close()
		var e event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.data != "" {
					out <- e
				}
				e = event{}
			}
		}
	}()
	return out, cancel
}

// next waits for an event about a link, and returns its data.
func (w *liveWorld) next(what string, events <-chan event, slug string) (data string) {
	w.t.Helper()
	testkit.Eventually(w.t, what+": a click of "+slug, func() bool {
		select {
		case e, open := <-events:
			var c live.LinkClick
			if !open || json.Unmarshal([]byte(e.data), &c) != nil || c.Slug != slug || c.URLID == "" || e.id == "" || c.Browser == "" {
				w.t.Fatalf("%s: %v %+v, want a click of %s", what, open, e, slug)
			}
			data = e.data
			return true
		default:
			return false
		}
	})
	return data
}

func (w *liveWorld) quiet(what string, events <-chan event) {
	w.t.Helper()
	select {
	case e, open := <-events:
		w.t.Fatalf("%s: %v %+v", what, open, e)
	default:
	}
}

// ends waits until a stream has ended.
func (w *liveWorld) ends(what string, events <-chan event) {
	w.t.Helper()
	testkit.Eventually(w.t, what+": the stream ends", func() bool {
		select {
		case _, open := <-events:
			return !open
		default:
			return false
		}
	})
}

func (w *liveWorld) now(id string, bots bool) {
	w.t.Helper()
	change := bot
	if !bots {
		change = nil
	}
	w.click(id, time.Now().UTC().Format(time.RFC3339), 1, change)
}

func TestLive_sends_clicks_as_they_are_stored(t *testing.T) {
	followsClicks(newLiveWorld(t, usual(t), live.Config{}))
}

func TestLive_sends_clicks_that_other_processes_store(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		followsClicks(newLiveWorld(t, st, live.Config{Poll: 10 * time.Millisecond}))
	})
}

func followsClicks(w *liveWorld) {
	create := func(slug, token string) string {
		return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"`+slug+`"}`, as(token)).want(201).str("id")
	}
	a1, a2, b1 := create("ann-1", w.ann), create("ann-2", w.ann), create("bob-1", w.bob)
	w.now(a1, false) // before the first stream
	ann, _ := w.listen(w.ann, "")
	second, _ := w.listen(w.ann, "?urlId="+a2)
	bots, _ := w.listen(w.ann, "?includeBots=true")
	rootOwn, _ := w.listen(w.root, "")
	all, _ := w.listen(w.root, "?scope=all")
	watched, _ := w.listen(w.root, "?urlId="+b1)
	w.now(b1, false)
	w.next("all users", all, "bob-1")
	w.next("one link, by the administrator", watched, "bob-1")
	w.now(a1, true)
	w.next("with bots", bots, "ann-1")
	w.now(a1, false)
	w.next("own", ann, "ann-1")
	w.next("with bots", bots, "ann-1")
	w.next("all users", all, "ann-1")
	w.now(a2, false)
	w.next("own", ann, "ann-2")
	w.next("one link", second, "ann-2")
	w.quiet("own of an administrator without links", rootOwn)
	w.quiet("one link", watched)

	w.do("GET", api.LivePath+"?scope=all", "", as(w.ann)).want(403)
	w.do("GET", api.LivePath+"?urlId="+b1, "", as(w.ann)).want(404)
	w.do("GET", api.LivePath+"?urlId="+store.NewID(), "", as(w.root)).want(404)
	w.do("GET", api.LivePath+"?scope=x&includeBots=2", "", as(w.ann)).wantField("scope", "includeBots")
	w.do("GET", api.LivePath, "").want(401)
}

// A reader that connects again continues after its last event, by the header that browsers send, or by the query.
func TestLive_resumes(t *testing.T) {
	w := newLiveWorld(t, usual(t), live.Config{})
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"one"}`, as(w.ann)).want(201).str("id")
	events, leave := w.listen(w.ann, "")
	w.now(id, false)
	last := <-events
	leave()
	w.now(id, false)
	w.now(id, false)
	expected := []string{"one", "one"}
	for name, how := range map[string]struct {
		query  string
		caller option
	}{
		"header": {"", func(r *http.Request) { as(w.ann)(r); r.Header.Set("Last-Event-ID", last.id) }},
		"query":  {"?lastEventId=" + last.id, as(w.ann)},
	} {
		again, leave := w.listenAs(how.query, how.caller)
		slug := "after-" + name // shows that nothing else comes before
		w.now(w.create(slug), false)
		expected = append(expected, slug)
		for _, slug := range expected {
			w.next(name, again, slug)
		}
		leave()
	}
}

func TestLive_ends(t *testing.T) {
	w := newLiveWorld(t, usual(t), live.Config{PerUser: 2})
	token, _ := w.signIn(userMail)
	leaving, _ := w.listen(token, "")
	staying, leave := w.listen(w.ann, "")
	w.do("GET", api.LivePath, "", as(w.ann)).want(429)
	w.do("POST", "/api/auth/logout", "", as(token)).want(200)
	w.ends("after logout", leaving)
	again, _ := w.listen(w.ann, "")
	leave()
	w.ends("after the reader left", staying)

	bob, _ := w.listen(w.bob, "")
	w.do("PATCH", "/api/users/"+w.bobID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	w.ends("after the user was disabled", bob)

	w.stop()
	w.ends("after the program's stop", again)
	w.do("GET", api.LivePath, "", as(w.root)).want(503)
}

func TestLive_is_documented(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t, storetest.Open(t), live.Config{})
	doc := w.do("GET", "/api/openapi.json", "").want(200)
	op, _ := doc.at("paths").(map[string]any)[api.LivePath].(map[string]any)["get"].(map[string]any)
	responses, _ := op["responses"].(map[string]any)
	for _, status := range []string{"200", "400", "401", "429", "503"} {
		if responses[status] == nil {
			t.Errorf("no response %s in %v", status, op)
		}
	}
	if text, _ := op["description"].(string); !strings.Contains(text, "dropped") {
		t.Errorf("description: %q", text)
	}
}

// The stream of an API key ends when the key is rotated, but not while the key may be used from the address.
func TestLive_ends_with_the_key(t *testing.T) {
	w := newLiveWorld(t, usual(t), live.Config{PerUser: 3})
	var streams []<-chan event
	var keys []string
	for range 3 {
		key := w.do("POST", "/api/api-keys", `{"name":"k","scopes":["analytics:read"],"allowedIps":["127.0.0.0/8"]}`, as(w.ann)).want(201)
		events, _ := w.listen(key.str("key"), "")
		streams, keys = append(streams, events), append(keys, key.str("id"))
	}
	for i, id := range keys { // a check that ends one stream keeps those of the keys that are valid
		for _, events := range streams[i:] {
			w.quiet("the key is valid", events)
		}
		w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann)).want(200)
		w.ends("after the rotation", streams[i])
	}
}

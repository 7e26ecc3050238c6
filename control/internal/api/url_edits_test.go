package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// editing has a world whose edits the test runs.
type editing struct {
	*world
	links *links.Service
}

// editsOf returns another process on the store of a world.
func editsOf(w *world) *editing {
	policy := link.Policy{Hosts: []string{"sho.rt"}}
	config := links.Config{BaseURL: baseURL, Destinations: policy, Screen: links.WithoutLoops(w.store, nil)}
	return &editing{w, links.New(config, w.store, nil)}
}

// runEdits makes all steps of all edits.
func (g *editing) runEdits() {
	g.t.Helper()
	for {
		more, err := g.links.NextEdit(g.t.Context())
		g.ok(err)
		if !more {
			return
		}
	}
}

// An edit changes UTM, expiry, tags and a part of destinations of the links that a filter selects. A dry run tells the differences, the
// history has one entry for each link, and an undo restores all but what was changed since.
func TestEdits(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		g := editsOf(w)
		var ids []string
		for i := range 250 { // more than one step
			body := fmt.Sprintf(`{"originalUrl":"https://old.example.com/%d","customSlug":"edit%[1]d","tags":["spring"],"utmSource":"a"}`, i)
			ids = append(ids, w.do("POST", "/api/urls", body, as(w.ann)).want(201).str("id"))
		}
		other := w.create("other")
		const change = `{"status":"INACTIVE","redirectCode":301,"utm":{"utmCampaign":"summer","utmSource":null},"expiresAt":"2099-01-01T00:00:00Z","tags":["summer"],` +
			`"removeTags":["SPRING"],"replace":{"find":"https://old.example.com/","with":"https://new.example.com/x/"}}`
		const request = `{"filter":{"tags":["spring"]},"change":` + change + `}`

		w.unchanged("a dry run", func() {
			r := w.do("POST", "/api/url-edits/dry-run", request, as(w.ann)).want(200).
				shows("total", 250, "changed", 250, "unchanged", 0, "failed", 0)
			if n := len(r.at("samples").([]any)); n != 20 || !strings.Contains(r.text, `"field":"originalUrl","before":"https://old.example.com/`) {
				t.Errorf("%d samples: %.500s", n, r.text)
			}
		})
		edit := w.do("POST", "/api/url-edits", request, as(w.ann)).want(202).shows("status", "RUNNING", "total", 250).str("id")
		g.runEdits()
		path := "/api/url-edits/" + edit
		w.do("GET", path, "", as(w.ann)).want(200).shows("status", "DONE", "done", 250, "changed", 250, "failed", 0)
		for _, id := range []string{ids[0], ids[249]} {
			r := w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).
				shows("utmCampaign", "summer", "utmSource", nil, "expiresAt", "2099-01-01T00:00:00.000Z", "tags.0", "summer")
			r.shows("status", "INACTIVE", "redirectCode", 301)
			if !strings.HasPrefix(r.str("originalUrl"), "https://new.example.com/x/") || len(r.at("tags").([]any)) != 1 {
				t.Errorf("%s", r.text)
			}
			w.do("GET", "/api/urls/"+id+"/history", "", as(w.ann)).want(200).shows("total", 2, "data.0.action", "URL_BULK_UPDATED")
		}
		w.do("GET", "/api/urls/"+other, "", as(w.ann)).shows("utmCampaign", nil)
		w.do("POST", "/api/url-edits/dry-run", `{"urlIds":["`+ids[0]+`"],"change":`+change+`}`, as(w.ann)).want(200).
			shows("changed", 0, "unchanged", 1)

		// Links that change, or vanish, between the edit and its undo.
		w.do("PATCH", "/api/urls/"+ids[0], `{"originalUrl":"https://own.example.com/"}`, as(w.ann)).want(200)
		w.do("DELETE", "/api/urls/"+ids[1], "", as(w.ann)).want(204)
		w.do("POST", path+"/undo", "", as(w.bob)).want(404)
		w.do("POST", path+"/undo", "", as(w.ann)).want(202).shows("status", "UNDOING")
		g.runEdits()
		w.do("GET", path, "", as(w.ann)).want(200).shows("status", "UNDONE", "undone", 249, "failed", 2)
		w.do("GET", path+"/problems", "", as(w.ann)).want(200).shows("total", 2)
		w.do("POST", path+"/undo", "", as(w.ann)).want(409)
		w.do("GET", "/api/urls/"+ids[2], "", as(w.ann)).want(200).shows("originalUrl", "https://old.example.com/2", "utmSource", "a",
			"utmCampaign", nil, "expiresAt", nil, "tags.0", "spring", "status", "ACTIVE", "redirectCode", 302)
		w.do("GET", "/api/urls/"+ids[0], "", as(w.ann)).want(200).shows("originalUrl", "https://own.example.com/", "utmSource", "a")
		w.do("GET", "/api/url-edits", "", as(w.ann)).want(200).shows("total", 1)
		w.do("GET", "/api/url-edits", "", as(w.bob)).want(200).shows("total", 0)
	})
}

// A link that an edit cannot change stays as it is, and its problem is listed. Destinations are checked as if they were typed.
func TestEdits_problems(t *testing.T) {
	w := small(t, withSchemes)
	g := editsOf(w)
	w.do("POST", "/api/domains", `{"hostname":"go.acme.com"}`, as(w.ann)).want(201)
	w.exec(`UPDATE domains SET status = 'ACTIVE' WHERE hostname = 'go.acme.com'`)
	good, bad, loop := w.create("good"), w.create("bad"), w.create("loop")
	w.do("PATCH", "/api/urls/"+bad, `{"originalUrl":"https://example.com/X/a"}`, as(w.ann)).want(200)
	w.do("PATCH", "/api/urls/"+loop, `{"originalUrl":"https://X.example.org/"}`, as(w.ann)).want(200)
	run := func(find, with string) string {
		t.Helper()
		body := fmt.Sprintf(`{"urlIds":[%q,%q,%q],"change":{"replace":{"find":%q,"with":%q}}}`, good, bad, loop, find, with)
		edit := w.do("POST", "/api/url-edits", body, as(w.ann)).want(202).str("id")
		g.runEdits()
		return "/api/url-edits/" + edit
	}
	path := run("https://example.com/X/", "javascript:alert(1)//")
	w.do("GET", path, "", as(w.ann)).shows("status", "DONE", "changed", 0, "failed", 1)
	w.do("GET", path+"/problems", "", as(w.ann)).shows("total", 1, "data.0.id", bad, "data.0.field", "originalUrl")
	path = run("X.example.org", "go.acme.com")
	w.do("GET", path, "", as(w.ann)).shows("changed", 0, "failed", 1)
	w.do("GET", path+"/problems", "", as(w.ann)).shows("data.0.id", loop, "data.0.message", "must not be one of this service's own short links")

	w.unchanged("bad input", func() {
		const post = "/api/url-edits"
		for body, field := range map[string]string{
			`{"change":{"tags":["a"]}}`:                                                         "urlIds",
			`{"urlIds":["` + good + `"],"filter":{},"change":{"tags":["a"]}}`:                   "urlIds",
			`{"urlIds":[],"change":{"tags":["a"]}}`:                                             "urlIds",
			`{"urlIds":["` + good + `"],"change":{}}`:                                           "change",
			`{"urlIds":["` + good + `"],"change":{"expiresAt":"2001-01-01"}}`:                   "change.expiresAt",
			`{"urlIds":["` + good + `"],"change":{"status":"DELETED"}}`:                         "change.status",
			`{"urlIds":["` + good + `"],"change":{"redirectCode":200}}`:                         "change.redirectCode",
			`{"filter":{"health":"ill"},"change":{"tags":["a"]}}`:                               "health",
			`{"urlIds":["` + good + `"],"change":{"replace":{"find":"","with":"x"}}}`:           "change.replace.find",
			`{"urlIds":["` + good + `"],"change":{"utm":{"utmSource":"` + long(300) + `"}}}`:    "change.utm.utmSource",
			`{"filter":{"status":"SOME"},"change":{"tags":["a"]}}`:                              "status",
			`{"filter":{"search":"no link has this text"},"change":{"removeTags":["a"]}}`:       "filter",
			`{"urlIds":["` + good + `"],"change":{"tags":["` + strings.Repeat("x", 99) + `"]}}`: "change.tags.0",
		} {
			if got := w.do("POST", post, body, as(w.ann)); got.StatusCode != 400 || !strings.Contains(got.text, `"field":"`+field) {
				t.Errorf("%.120s: want %s, got %s", body, field, got.text)
			}
		}
		w.do("POST", post, `{"urlIds":["`+good+`"],"change":{"tags":["a"]}}`, as(w.bob)).want(404)
	})
}

func long(n int) string { return strings.Repeat("x", n) }

// A process that is killed between two steps loses nothing: another one goes on. Two processes do not do the same step.
func TestEdits_are_resumed(t *testing.T) {
	w := small(t, withSchemes)
	g := editsOf(w)
	for i := range 450 {
		w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com/%d"}`, i), as(w.ann)).want(201)
	}
	edit := w.do("POST", "/api/url-edits", `{"filter":{},"change":{"tags":["all"]}}`, as(w.ann)).want(202).str("id")
	again := links.New(links.Config{BaseURL: baseURL}, w.store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = g.links.NextEdit(ctx) // ends before its first step
	done := make(chan error, 2)
	for _, s := range []*links.Service{g.links, again} {
		go func() {
			for {
				if more, err := s.NextEdit(t.Context()); err != nil || !more {
					done <- err
					return
				}
			}
		}()
	}
	w.ok(<-done)
	w.ok(<-done)
	w.do("GET", "/api/url-edits/"+edit, "", as(w.ann)).want(200).shows("status", "DONE", "changed", 450, "done", 450)
	w.counts(450, `SELECT count(*) FROM link_history`)
}

// A link whose change panics costs the edit only itself, with a reason that the API tells. An undo tries it again.
func TestEdits_go_on_after_panics(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		broken, panics := true, 0
		config := links.Config{BaseURL: baseURL, Destinations: link.Policy{Hosts: []string{"sho.rt"}},
			Screen: func(_ context.Context, urls []string) ([]string, error) {
				for _, one := range urls {
					if broken && strings.Contains(one, "/bad") {
						panics++
						panic("a fault of the program")
					}
				}
				return make([]string, len(urls)), nil
			}}
		s := links.New(config, w.store, nil)
		run := func() {
			t.Helper()
			for more := true; more; {
				var err error
				more, err = s.NextEdit(t.Context())
				w.ok(err)
			}
		}
		for i := range 5 {
			path := fmt.Sprint(i)
			if i == 1 || i == 3 {
				path = "bad" + path
			}
			w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://old.example.com/%s"}`, path), as(w.ann)).want(201)
		}
		edit := w.do("POST", "/api/url-edits", `{"filter":{},"change":{"replace":{"find":"old.example.com","with":"new.example.com"}}}`,
			as(w.ann)).want(202).str("id")
		run()
		testkit.Equal(t, panics, 7, "panics of all links together, and three of each bad one")
		path := "/api/url-edits/" + edit
		w.do("GET", path, "", as(w.ann)).want(200).shows("status", "DONE", "done", 5, "changed", 3, "failed", 2)
		r := w.do("GET", path+"/problems", "", as(w.ann)).want(200).shows("total", 2)
		if n := strings.Count(r.text, "the service failed at it 3 times"); n != 2 {
			t.Errorf("%d reasons: %s", n, r.text)
		}
		broken = false
		w.do("POST", path+"/undo", "", as(w.ann)).want(202)
		run()
		w.do("GET", path, "", as(w.ann)).want(200).shows("status", "UNDONE", "undone", 3)
	})
}

package api_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The API passes on what a page says about itself, and icons without letting a browser wait.
func TestPages(t *testing.T) {
	ico := append([]byte{0, 0, 1, 0, 1, 0}, bytes.Repeat([]byte{7}, 50)...)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fair":
			_, _ = w.Write([]byte(`<!doctype html><title>The fair</title>`))
		case "/favicon.ico":
			_, _ = w.Write(ico)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	configure := func(w *world, _ *api.Config, deps *api.Deps) {
		s, err := pages.New(pages.Config{Enabled: true, AllowPrivate: true}, picture.Thumbnail)
		w.ok(err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); _ = s.Run(ctx) }()
		w.t.Cleanup(func() { stop(); <-done; s.Close() })
		deps.Pages = s
	}
	w := small(t, configure)
	const preview, icon = "/api/pages/preview?url=", "/api/pages/icon?url="
	w.do("GET", preview+site.URL+"/fair", "", as(w.ann)).want(200).has("", "url", "title", "description").
		shows("title", "The fair", "url", site.URL+"/fair")
	w.do("GET", preview+site.URL+"/missing", "", as(w.ann)).want(200).shows("problem", "the server answers with the status 404")
	w.do("GET", preview+"example", "", as(w.ann)).want(400).wantField("url")
	w.do("GET", "/api/pages/preview", "", as(w.ann)).want(400).wantField("url")
	w.do("GET", preview+site.URL, "").want(401)

	w.do("GET", icon+site.URL, "").want(401)
	if r := w.do("GET", icon+site.URL, "", as(w.ann)); r.StatusCode == 204 && r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("an unknown icon is cached: %s", r.Header.Get("Cache-Control"))
	}
	testkit.Eventually(t, "the icon is known", func() bool {
		return w.do("GET", icon+site.URL, "", as(w.ann)).StatusCode == 200
	})
	r := w.do("GET", icon+site.URL, "", as(w.ann)).want(200)
	if r.text != string(ico) || r.Header.Get("Content-Type") != "image/x-icon" || r.Header.Get("X-Content-Type-Options") != "nosniff" ||
		r.Header.Get("Cache-Control") != "private, max-age=86400" {
		t.Errorf("%q, %v", r.text, r.Header)
	}
	w.do("GET", icon+"javascript:alert(1)", "", as(w.ann)).want(204)
}

package api_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A code with a logo needs a level that repairs what the logo covers, and an image that can be read.
func TestQRCode_with_logo(t *testing.T) {
	w, _ := newAlbum(t, usual(t))
	id := w.create("abc")
	path := "/api/urls/" + id + "/qrcode"
	post := func(query string, parts ...string) *reply {
		t.Helper()
		body, ct := form(parts...)
		return w.do("POST", path+query, body, as(w.ann), ct)
	}
	for format, begin := range map[string]string{"png": "\x89PNG", "svg": "<svg", "pdf": "%PDF"} {
		with := post("?format="+format, "file", pngFile(300, 200)).want(200).text
		without := w.do("GET", path+"?level=H&format="+format, "", as(w.ann)).want(200).text
		if !strings.HasPrefix(with, begin) || with == without {
			t.Errorf("%s: %.20q", format, with)
		}
	}
	post("?level=Q&format=svg", "file", pngFile(300, 200)).want(200)
	post("?level=M", "file", pngFile(300, 200)).want(400).wantField("level")
	post("?format=svg").want(400).wantField("file")
	post("?format=svg", "file", "no image").want(400).wantField("file")
	post("?format=svg", "file", strings.Repeat("x", 1<<20+1)).want(413)
	w.do("POST", path, "{}", as(w.ann)).want(400).wantField("file")
}

// A code that no camera can read is not drawn. If only some cameras can read it, the answer says why.
func TestF8_codes_that_cameras_cannot_read(t *testing.T) {
	w, _ := newAlbum(t, usual(t))
	path := "/api/urls/" + w.create("abc") + "/qrcode?"
	for _, c := range []struct{ color, background, want string }{
		{"", "", ""},
		{"#ffffff", "", "400"},
		{"#777777", "#777777", "400"},
		{"000", "#000000", "400"},
		{"", "#111", "400"},
		{"#e0e0e0", "#ffffff", "400"},
		{"#ff0000", "#00a0a0", "400"}, // different, but as bright
		{"#b0b0b0", "#ffffff", "low-contrast"},
		{"#ff8800", "", "low-contrast"},
		{"#ffffff", "#000000", "inverted"},
		{"#ffffff", "#a0a0a0", "low-contrast, inverted"},
		{"#1a2b3c", "#f0f0f0", ""},
	} {
		for _, format := range []string{"png", "svg", "pdf", "json"} {
			q := url.Values{"color": {c.color}, "background": {c.background}, "format": {format}}
			r := w.do("GET", path+q.Encode(), "", as(w.ann))
			if c.want == "400" {
				r.wantField("color")
				continue
			}
			if got := r.want(200).Header.Get("X-QR-Warning"); got != c.want {
				t.Errorf("%s on %s: %q, want %q", c.color, c.background, got, c.want)
			}
		}
	}
	colors := func(query string) *reply {
		body, ct := form("file", pngFile(30, 20))
		return w.do("POST", path+query, body, as(w.ann), ct)
	}
	colors("format=png&color=ffffff").wantField("color")
	if got := colors("format=png&color=ffffff&background=000000").want(200).Header.Get("X-QR-Warning"); got != "inverted" {
		t.Errorf("with a logo: %q", got)
	}
}

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
		w.t.Cleanup(s.Close)
		testkit.Run(w.t, s.Run)
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

package api_test

import (
	"net/url"
	"testing"
)

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

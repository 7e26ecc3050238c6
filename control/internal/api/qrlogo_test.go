package api_test

import (
	"strings"
	"testing"
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
	body, ct := form("file", pngFile(30, 20))
	w.do("POST", path+"?format=svg", body, as(w.bob), ct).want(404)
}

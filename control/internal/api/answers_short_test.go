package api_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// An object that the caller has is not sent again. The version changes with the object, and permissions count as without it.
func TestB6_unchanged_objects_are_304(t *testing.T) {
	w := small(t, whole)
	id := w.create("abc")
	path := "/api/urls/" + id
	tag := w.do("GET", path, "", as(w.ann)).want(200).Header.Get("ETag")
	if tag == "" {
		t.Fatal("a link has no version")
	}
	given := func(tags string) option { return both(as(w.ann), with("If-None-Match", tags)) }
	for _, tags := range []string{tag, `"x", ` + tag, "W/" + tag, "*"} {
		r := w.do("GET", path, "", given(tags)).want(304)
		if r.text != "" || r.Header.Get("ETag") != tag || r.Header.Get("Content-Type") != "" {
			t.Errorf("%s: %q, %v", tags, r.text, r.Header)
		}
	}
	w.do("GET", path+"?fields=slug", "", given(tag)).want(304)
	w.do("GET", path, "", given(`"x"`)).want(200).shows("slug", "abc")
	w.do("GET", path, "", both(as(w.bob), with("If-None-Match", tag))).want(404)
	w.do("GET", path, "", with("If-None-Match", "*")).want(401)
	w.do("GET", "/api/urls", "", given("*")).want(200)
	w.do("PUT", path, `{"title":"x"}`, given("*")).want(200)
	w.do("GET", path, "", given(tag)).want(200).shows("title", "x")
	documented := 0
	for _, methods := range w.openapi().Paths {
		if get, ok := methods["get"]; ok && get.Responses["304"].Description != "" {
			documented++
		}
	}
	if documented < 5 {
		t.Errorf("304 is documented %d times", documented)
	}
}

// Long answers are compressed as the caller wants: lists, exports and drawings, but not what is short, compressed already, a stream, the
// answer to a change, which may have a secret, or sent to a page of another site.
func TestB6_answers_are_compressed(t *testing.T) {
	w, _ := newAlbum(t, usual(t))
	for i := range 30 {
		w.create(fmt.Sprintf("slug-%d", i))
	}
	id := w.create("code")
	decode := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	list := "/api/urls?limit=30"
	export, code := "/api/urls/export?format=csv", "/api/urls/"+id+"/qrcode?format=svg"
	for _, path := range []string{list, list + "&fields=slug,originalUrl", export, code} {
		plain := w.do("GET", path, "", as(w.ann)).want(200)
		if plain.Header.Get("Content-Encoding") != "" || !strings.Contains(strings.Join(plain.Header.Values("Vary"), ","),
			"Accept-Encoding") {
			t.Errorf("%s: %v", path, plain.Header)
		}
		for accepted, encoding := range map[string]string{"gzip": "gzip", "gzip, deflate, br, zstd": "zstd"} {
			r := w.do("GET", path, "", both(as(w.ann), with("Accept-Encoding", accepted))).want(200)
			if r.Header.Get("Content-Encoding") != encoding || len(r.text) > len(plain.text)/2 {
				t.Errorf("%s, %s: %q, %d of %d bytes", path, accepted, r.Header.Get("Content-Encoding"), len(r.text), len(plain.text))
				continue
			}
			body, err := decode[encoding](strings.NewReader(r.text))
			testkit.Must(t, err)
			text, err := io.ReadAll(body)
			testkit.Must(t, err)
			if string(text) != plain.text {
				t.Errorf("%s, %s: another text", path, accepted)
			}
		}
	}
	gzipped := with("Accept-Encoding", "gzip, zstd")
	never := func(what string, r *reply) {
		t.Helper()
		if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
			t.Errorf("%s: %s", what, encoding)
		}
	}
	never("a short answer", w.do("GET", "/api/auth/me", "", both(as(w.ann), gzipped)).want(200))
	never("a picture", w.do("GET", "/api/urls/"+id+"/qrcode?format=png&width=1000", "", both(as(w.ann), gzipped)).want(200))
	never("an error", w.do("GET", "/api/urls?fields="+url.QueryEscape(strings.Repeat("x", 900)), "", both(as(w.ann), gzipped)).want(400))
	long := fmt.Sprintf(`{"originalUrl":"https://example.com/?%s"}`, strings.Repeat("x", 1500))
	never("the answer to a change", w.do("POST", "/api/urls", long, both(as(w.ann), gzipped)).want(201))
	never("another site", w.do("GET", list, "", both(both(as(w.ann), gzipped), with("Sec-Fetch-Site", "cross-site"))).want(200))
}

// A caller names the fields that it needs, of an object, of a list with any of its names, and of a plain array.
func TestB6_fields(t *testing.T) {
	w := small(t, whole)
	id := w.create("abc")
	w.do("POST", "/api/api-keys", `{"name":"a"}`, as(w.ann)).want(201)
	get := func(path string) *reply { t.Helper(); return w.do("GET", path, "", as(w.ann)) }
	get("/api/urls/"+id+"?fields=slug,%20id").want(200).has("", "id", "slug").shows("slug", "abc")
	get("/api/urls/"+id+"?fields=slug&fields=title").want(200).has("", "slug", "title")
	get("/api/urls?fields=slug").want(200).shows("total", 1, "data.0.slug", "abc").has("data.0", "slug")
	get("/api/api-keys?fields=name").want(200).has("data.0", "name").has("apiKeys.0", "name")
	get("/api/analytics/overview?fields=totalClicks").want(200).has("", "totalClicks")
	for _, row := range get("/api/analytics/top-urls?fields=slug").want(200).list() {
		if fields, _ := row.(map[string]any); len(fields) != 1 || fields["slug"] == nil {
			t.Errorf("a row %v", row)
		}
	}
	for _, bad := range []string{"nothing", "slug,nothing", "", "slug,,id", "data", "Slug"} {
		r := get("/api/urls/" + id + "?fields=" + bad).wantField("fields")
		if !strings.Contains(r.str("message"), "originalUrl") {
			t.Errorf("%q: the message does not name the fields: %s", bad, r.text)
		}
	}
	w.do("GET", "/api/urls?fields=nothing", "").want(401)
	w.do("GET", "/api/urls/unknown?fields=slug", "", as(w.ann)).want(404)
	for _, path := range []string{"/api/urls", "/api/urls/{id}", "/api/webhooks", "/api/users", "/api/bundles/{id}", "/api/api-keys"} {
		names := []string{}
		for _, p := range w.openapi().Paths[path]["get"].Parameters {
			names = append(names, p.Name)
		}
		if !slices.Contains(names, "fields") {
			t.Errorf("%s: parameters %v", path, names)
		}
	}
}

package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/image/webp"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// album is the image storage of a world.
type album struct {
	object.Store
	dir   string
	clock *clock
	use   *media.Service
	fail  error // error of the next Put
}

func (a *album) Put(ctx context.Context, key, contentType string, data []byte) error {
	if err := a.fail; err != nil {
		a.fail = nil
		return err
	}
	return a.Store.Put(ctx, key, contentType, data)
}

// keys returns the keys of the images, separated by spaces.
func (a *album) keys(w *world) string {
	w.t.Helper()
	var list []string
	w.ok(a.List(w.t.Context(), func(i object.Item) error { list = append(list, i.Key); return nil }))
	return strings.Join(list, " ")
}

// withImages adds the use cases of links and images to a world.
func withImages(a *album) func(*world, *api.Config, *api.Deps) {
	return func(w *world, c *api.Config, deps *api.Deps) {
		withLinks(w, c, deps)
		a.dir, a.clock = filepath.Join(w.t.TempDir(), "media"), &clock{}
		folder, err := object.OpenFolder(a.dir)
		w.ok(err)
		w.t.Cleanup(func() { folder.Close() })
		a.Store = folder
		a.use = media.New(media.Config{Now: a.clock.now}, w.store, deps.Links, a)
		deps.Media = a.use
	}
}

func newAlbum(t *testing.T, st *store.Store) (*world, *album) {
	t.Helper()
	if !picture.Available {
		t.Skip("encoding WebP needs a build with cgo")
	}
	a := &album{}
	return newWorld(t, st, withImages(a)), a
}

func pngFile(w, h int) string {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 200
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.String()
}

func gifFile() string {
	m := image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{m, m}, Delay: []int{1, 1}}); err != nil {
		panic(err)
	}
	return b.String()
}

// form returns a multipart body. parts alternates between names and contents.
func form(parts ...string) (body string, ct option) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i+1 < len(parts); i += 2 {
		part, err := w.CreateFormFile(parts[i], "../../evil.svg")
		if err == nil {
			_, err = io.WriteString(part, parts[i+1])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String(), with("Content-Type", w.FormDataContentType())
}

// upload uploads the parts of a form as the image of a link.
func (w *world) upload(urlID, token string, parts ...string) *reply {
	w.t.Helper()
	body, ct := form(parts...)
	return w.do("POST", "/api/og-images/upload/"+urlID, body, as(token), ct)
}

func TestImages(t *testing.T) {
	w, a := newAlbum(t, usual(t))
	id := w.create("abc")
	r := w.upload(id, w.ann, "note", "hello", "file", pngFile(2400, 1260)).want(201).has("", "statusCode", "data").has("data",
		"key", "proxyUrl")
	key := r.str("data.key")
	if !strings.HasPrefix(key, "og-images/"+id+"/") || !strings.HasSuffix(key, ".webp") || r.num("statusCode") != 201 ||
		r.str("data.proxyUrl") != "/api/og-images/"+strings.ReplaceAll(key, "/", "%2F") {
		t.Fatal(r.text)
	}
	if rev := r.Header.Get("X-Config-Revision"); rev != "2" {
		t.Errorf("revision %q: edges do not learn of the change", rev)
	}
	if row := w.audited("URL_UPDATED", "url", id); !strings.Contains(row.New.String, key) ||
		!strings.Contains(row.Old.String, `"ogImage":null`) {
		t.Errorf("audit: %s, %s", row.Old.String, row.New.String)
	}
	w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("ogImage", key, "ogImageUrl", baseURL+r.str("data.proxyUrl"))

	for _, path := range []string{r.str("data.proxyUrl"), "/api/og-images/" + key,
		strings.ReplaceAll(r.str("data.proxyUrl"), "%2F", "%2f")} {
		got := w.do("GET", path, "")
		for name, want := range map[string]string{
			"Content-Type": "image/webp", "Cache-Control": "public, max-age=86400, immutable", "X-Content-Type-Options": "nosniff",
			"Content-Length":          fmt.Sprint(len(got.text)),
			"Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
		} {
			if got.StatusCode != 200 || got.Header.Get(name) != want {
				t.Errorf("%s: %d, %s: %q", path, got.StatusCode, name, got.Header.Get(name))
			}
		}
		m, err := webp.Decode(strings.NewReader(got.text))
		if err != nil || m.Bounds() != image.Rect(0, 0, 1200, 630) {
			t.Fatalf("%s: %v", path, err)
		}
		if again := w.do("GET", path, "", with("If-None-Match", got.Header.Get("ETag"))); again.StatusCode != 304 || again.text != "" {
			t.Errorf("%s: %d with If-None-Match", path, again.StatusCode)
		}
	}

	// The next image replaces it at a new address, and the old image is deleted.
	next := w.upload(id, w.ann, "file", gifFile()).want(201)
	if k := next.str("data.key"); !strings.HasSuffix(k, ".gif") || a.keys(w) != k {
		t.Errorf("keys %s", a.keys(w))
	}
	w.do("GET", "/api/og-images/"+key, "").want(404)
	if got := w.do("GET", next.str("data.proxyUrl"), ""); got.StatusCode != 200 || got.Header.Get("Content-Type") != "image/gif" {
		t.Error(got.StatusCode, got.Header)
	}
	if r := w.upload(id, w.root, "file", pngFile(1, 1)).want(201); a.keys(w) != r.str("data.key") {
		t.Error("an administrator cannot change the image of another user")
	}
}

func TestImages_refused(t *testing.T) {
	w, a := newAlbum(t, usual(t))
	id := w.create("abc")
	w.unchanged("what is refused", func() {
		w.upload(id, w.bob, "file", pngFile(1, 1)).want(404)
		w.upload("..%2f..%2fx", w.ann, "file", pngFile(1, 1)).want(404)
		body, ct := form("file", pngFile(1, 1))
		w.do("POST", "/api/og-images/upload/"+id, body, ct).want(401)
		w.do("POST", "/api/og-images/upload/"+id, body, ct, with("Cookie", "access_token="+w.ann),
			with("Origin", "https://evil.example")).want(403)
		w.do("POST", "/api/og-images/upload/"+id, body[:len(body)/2], as(w.ann), ct).want(400)
		w.do("POST", "/api/og-images/upload/"+id, body, as(w.ann), with("Content-Type", "multipart/form-data")).want(400)
		w.do("POST", "/api/og-images/upload/"+id, `{}`, as(w.ann)).want(415)
		w.do("POST", "/api/og-images/upload/"+id, "", as(w.ann)).want(415)
		w.upload(id, w.ann).want(400)
		w.upload(id, w.ann, "image", pngFile(1, 1)).wantField("file")
		for _, file := range []string{"", "text", "<svg/>", "GIF89a/*", pngFile(20, 20)[:60], "\x89PNG\r\n\x1a\n"} {
			w.upload(id, w.ann, "file", file).wantField("file")
		}
		w.upload(id, w.ann, "file", strings.Repeat("x", media.MaxUpload+1)).want(413)
		w.upload(id, w.ann, "file", strings.Repeat("x", media.MaxUpload+1<<20)).want(413)
		w.upload(id, w.ann, "note", strings.Repeat("x", media.MaxUpload+1<<20)).want(413)
		w.upload(id, w.ann, "file", strings.Repeat("x", media.MaxUpload)).wantField("file")
		a.fail = errors.New("disk full")
		w.upload(id, w.ann, "file", pngFile(1, 1)).want(500).omits("disk")
	})
	if a.keys(w) != "" {
		t.Errorf("images of rejected uploads remain: %s", a.keys(w))
	}
	// A body without Content-Length is limited, too.
	r := httptest.NewRequest("POST", "http://sho.rt/api/og-images/upload/"+id, io.LimitReader(endless{}, 100<<20))
	r.Header.Set("Authorization", "Bearer "+w.ann)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	r.ContentLength = -1
	rec := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(rec, r)
	if rec.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("an endless form: %d %s", rec.Code, rec.Body)
	}
}

// endless is a form with one part that does not end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	const start = "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"
	for i := range b {
		b[i] = 'y'
	}
	if len(b) > len(start) {
		copy(b, start)
	}
	return len(b), nil
}

func TestImages_paths(t *testing.T) {
	w, a := newAlbum(t, usual(t))
	id := w.create("abc")
	key := w.upload(id, w.ann, "file", pngFile(1, 1)).want(201).str("data.key")
	number := strings.TrimSuffix(key[strings.LastIndexByte(key, '/')+1:], ".webp")
	w.ok(os.WriteFile(filepath.Join(filepath.Dir(a.dir), "secret.webp"), []byte("secret"), 0o600))
	w.ok(os.WriteFile(filepath.Join(a.dir, "og-images", id, "secret.webp"), []byte("secret"), 0o600))
	for _, path := range []string{
		"", "og-images", "og-images/" + id, "og-images%2F" + id + "%2F", key + "/", "%2F" + key, "/" + key, key + "%00", key + "%00.webp",
		key + "%0a", key + ".", key + "%20", " " + key,
		strings.ReplaceAll(key, "/", "%252F"), strings.ReplaceAll(key, "/", "%5c"), strings.ReplaceAll(key, "/", "\\"),
		strings.ToUpper(key),
		"../secret.webp", "..%2Fsecret.webp", "%2e%2e%2Fsecret.webp",
		"og-images/../../secret.webp", "og-images/" + id + "/../../../secret.webp", "og-images/" + id + "%2F..%2F..%2F..%2Fsecret.webp",
		"og-images/" + id + "/secret.webp", "og-images/" + id + "/1.svg",
		"og-images/" + id + "/1.webp", "og-images/" + id + "/" + number + ".gif", "og-images/" + id + "/-1.webp", "og-images/" + id +
			"/%D9%A1.webp", "og-images//" + id + "/1.webp", "./" + key,
		"og-images/" + strings.ReplaceAll(id, "-", "") + "/" + number + ".webp", "file:///etc/passwd", "%ff%fe", "upload/" + id,
		strings.Repeat("a/", 500),
	} {
		r := httptest.NewRequest("GET", "http://sho.rt/", nil)
		r.URL.RawPath, r.URL.Path = "/api/og-images/"+path, "/api/og-images/"+path
		if u, err := r.URL.Parse("/api/og-images/" + path); err == nil && !strings.Contains(path, "..") && !strings.Contains(path, "./") {
			r.URL = u
		} else if strings.Contains(path, "%") {
			r.URL.Path = "/api/og-images/" + strings.NewReplacer("%2F", "/", "%2e", ".").Replace(path)
		}
		rec := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(rec, r)
		if rec.Code != 404 && rec.Code != 405 || strings.Contains(rec.Body.String(), "secret") {
			t.Errorf("%q: %d %q", path, rec.Code, rec.Body)
		}
		if cc := rec.Header().Get("Cache-Control"); cc != "no-store" {
			t.Errorf("%q: %q", path, cc)
		}
	}
	w.do("GET", "/api/og-images/"+key, "").want(200)
	w.do("DELETE", "/api/og-images/"+key, "", as(w.ann)).want(405)
}

func TestImages_without_a_link_are_deleted(t *testing.T) {
	w, a := newAlbum(t, usual(t))
	kept, dropped, deleted, trashed := w.create("kept"), w.create("dropped"), w.create("deleted"), w.create("trashed")
	restorable := w.upload(trashed, w.ann, "file", pngFile(1, 1)).want(201).str("data.key")
	w.do("DELETE", "/api/urls/"+trashed, "", as(w.ann)).want(204)
	want := w.upload(kept, w.ann, "file", pngFile(1, 1)).want(201).str("data.key")
	w.upload(dropped, w.ann, "file", pngFile(1, 1)).want(201)
	w.upload(deleted, w.ann, "file", pngFile(1, 1)).want(201)
	w.do("PUT", "/api/urls/"+dropped, `{"ogImage":null}`, as(w.ann)).want(200)
	w.do("DELETE", "/api/urls/"+deleted, "", as(w.ann)).want(204)
	w.do("DELETE", "/api/urls/"+deleted+"?permanently=true", "", as(w.ann)).want(204)
	w.ok(a.Store.Put(t.Context(), "og-images/"+kept+"/.new-x", "", []byte("x")))
	w.ok(a.Store.Put(t.Context(), "other/file", "", []byte("x")))
	if n, err := a.use.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("%d recent images were removed, %v", n, err)
	}
	a.clock.advance(2 * time.Hour)
	if n, err := a.use.Sweep(t.Context()); n != 3 || err != nil {
		t.Errorf("%d images were removed, %v", n, err)
	}
	if got := a.keys(w); got != want+" "+restorable+" other/file" {
		t.Errorf("remaining images: %s", got)
	}
	w.do("PUT", "/api/urls/"+kept, `{"ogImage":""}`, as(w.ann)).want(200)
	testkit.Run(t, a.use.Run)
	testkit.Eventually(w.t, "the image is deleted", func() bool { return a.keys(w) == restorable+" other/file" })
}

func TestImages_uploaded_concurrently(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w, a := newAlbum(t, st)
		id := w.create("abc")
		file := pngFile(600, 400)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				body, ct := form("file", file)
				if r := w.do("POST", "/api/og-images/upload/"+id, body, as(w.ann), ct); r.StatusCode != 201 {
					t.Error(r.text)
				}
			})
		}
		wg.Wait()
		a.clock.advance(2 * time.Hour)
		if _, err := a.use.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if u := w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200); a.keys(w) != u.str("ogImage") {
			t.Errorf("the link has %s, stored is %s", u.str("ogImage"), a.keys(w))
		}
	})
}

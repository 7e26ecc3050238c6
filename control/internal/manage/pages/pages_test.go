package pages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// photo is a PNG of a size.
func photo(t testing.TB, width, height int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(i)
	}
	m.Set(0, 0, color.Transparent)
	var out bytes.Buffer
	testkit.Must(t, png.Encode(&out, m))
	return out.Bytes()
}

// site serves fixed answers by path.
type site map[string]func(http.ResponseWriter)

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if answer, ok := s[r.URL.Path]; ok {
		answer(w)
		return
	}
	http.NotFound(w, r)
}

func content(kind, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
	}
}

func leads(to string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func serve(t *testing.T, s site) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

func service(t *testing.T, cfg pages.Config) *pages.Service {
	t.Helper()
	s, err := pages.New(cfg, picture.Thumbnail)
	testkit.Must(t, err)
	t.Cleanup(s.Close)
	return s
}

var local = pages.Config{Enabled: true, AllowPrivate: true}

func TestPreview(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	base := serve(t, site{
		"/plain": content("text/html", `<html><head><title> A
			title &amp; more </title><meta name=description content="What it is"></head><body><title>Another</title></body>`),
		"/graph": content("text/html; charset=utf-8", `<head><title>Old</title><meta property="og:title" content="New"><meta name="twitter:title" content="Other">
			<meta property="og:description" content="`+long+`"><base href="/img/"><meta property="og:image" content="a.png"></head>`),
		"/img/a.png": content("image/png", string(photo(t, 1280, 640))),
		"/sjis":      content("text/html; charset=Shift_JIS", "<title>\x83\x65\x83\x58\x83\x67</title>"),
		"/meta":      content("text/html", "<meta charset=iso-8859-1><title>caf\xe9</title>"),
		"/empty":     content("text/html", ""),
		"/hop":       leads("/plain"),
		"/broken": content("text/html",
			`<title>Fine</title><meta property=og:image content="/no.png"><meta property=og:image content="javascript:alert(1)">`),
		"/svg":      content("text/html", `<title>Fine</title><meta property=og:image content="/evil.svg">`),
		"/evil.svg": content("image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"/huge":     content("text/html", `<title>Fine</title>`+strings.Repeat("<p>text", 1<<19)),
	})
	s := service(t, local)
	for path, want := range map[string][3]string{
		"/plain":  {"/plain", "A title & more", "What it is"},
		"/graph":  {"/graph", "New", strings.TrimSpace(strings.Repeat("word ", 40)[:199]) + "…"},
		"/sjis":   {"/sjis", "テスト", ""},
		"/meta":   {"/meta", "café", ""},
		"/empty":  {"/empty", "", ""},
		"/hop":    {"/plain", "A title & more", "What it is"},
		"/broken": {"/broken", "Fine", ""},
		"/svg":    {"/svg", "Fine", ""},
		"/huge":   {"/huge", "Fine", ""},
	} {
		page, err := s.Preview(t.Context(), base+path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := [3]string{strings.TrimPrefix(page.URL, base), page.Title, page.Description}; got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		if (page.Image != nil) != (path == "/graph") {
			t.Errorf("%s has an image of %d bytes", path, len(page.Image))
		}
		if page.Image != nil {
			if m, err := jpeg.DecodeConfig(bytes.NewReader(page.Image)); err != nil || m.Width != 320 || m.Height != 160 {
				t.Errorf("the image is %v, %v", m, err)
			}
		}
	}
}

// A page that cannot be read is the user's problem, and says why.
func TestPreview_problems(t *testing.T) {
	t.Parallel()
	base := serve(t, site{
		"/loop":    leads("/loop"),
		"/file":    leads("file:///etc/passwd"),
		"/nowhere": leads(""),
		"/image":   content("image/png", string(photo(t, 1, 1))),
		"/down":    func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
	})
	s := service(t, local)
	for address, want := range map[string]string{
		"":                                "must be an http or https address",
		"example.com":                     "must be an http or https address",
		"ftp://example.com/":              "must be an http or https address",
		"https://ann:secret@example.com/": "must not contain a user name or password",
		"https://x/" + strings.Repeat("a", 16384): "must be at most 16384 bytes long",
		base + "/missing":                         "the server answers with the status 404",
		base + "/down":                            "the server answers with the status 502",
		base + "/loop":                            "it is not a page",
		base + "/file":                            "the server answers with the status 302",
		base + "/nowhere":                         "the server answers with the status 302",
		base + "/image":                           "it is not a page",
		"http://127.0.0.1:1/":                     "the server cannot be reached",
	} {
		if got := refusal(s.Preview(t.Context(), address)); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := refusal(s.Preview(ctx, hangs.URL)); got != "the server is too slow" {
		t.Error(got)
	}
	if page, err := service(t, pages.Config{}).Preview(t.Context(), base+"/image"); err != nil || page.Title+page.Problem != "" {
		t.Error(page, err)
	}
}

// No request reaches a private address, neither directly nor through a redirect.
func TestPreview_of_private_addresses(t *testing.T) {
	t.Parallel()
	s := service(t, pages.Config{Enabled: true})
	for _, address := range []string{"http://127.0.0.1/", "https://[::1]/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/",
		"http://localhost/"} {
		if got := refusal(s.Preview(t.Context(), address)); got != "its address is private, local or otherwise special" {
			t.Errorf("%s: %q", address, got)
		}
	}
}

// refusal returns why a page was not read.
func refusal(page pages.Page, err error) string {
	if err == nil {
		return page.Problem
	}
	var e *problem.Error
	if !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Field != "url" {
		return fmt.Sprint(err)
	}
	return e.Fields[0].Message
}

// An icon is fetched after it was asked for, and only once.
func TestIcon(t *testing.T) {
	t.Parallel()
	ico := "\x00\x00\x01\x00\x01\x00" + strings.Repeat("x", 100)
	asked := make(chan string, 100)
	counted := func(s site) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
			s.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	sites := map[string]string{
		counted(site{"/favicon.ico": content("image/x-icon", ico)}): "image/x-icon",
		counted(site{
			"/":      content("text/html", `<link rel="icon" type="image/svg+xml" href="a.svg"><link rel="shortcut icon" href="a.png">`),
			"/a.png": content("image/png", string(photo(t, 200, 200)))}): "image/png",
		counted(site{"/favicon.ico": content("text/html", "no such page")}): "",
		counted(site{}): "",
	}
	s := service(t, local)
	stop := testkit.Run(t, s.Run)
	for base, want := range sites {
		if icon, known := s.Icon(base + "/a/page"); known {
			t.Fatalf("%s has the icon %q before it was fetched", base, icon.Type)
		}
		testkit.Eventually(t, "an icon is known", func() bool {
			_, known := s.Icon(base + "/another?page")
			return known
		})
		icon, _ := s.Icon(base)
		if icon.Type != want {
			t.Errorf("%s has the icon %q, want %q", base, icon.Type, want)
		}
		if want == "image/png" {
			if m, err := png.DecodeConfig(bytes.NewReader(icon.Bytes)); err != nil || m.Width != 64 || m.Height != 64 {
				t.Errorf("the icon is %v, %v", m, err)
			}
		}
	}
	n := len(asked)
	for base := range sites {
		s.Icon(base)
	}
	stop()
	if len(asked) != n {
		t.Errorf("%d requests for icons that are known", len(asked)-n)
	}
	for _, address := range []string{"", "example.com", "javascript:alert(1)"} {
		if icon, known := s.Icon(address); !known || icon.Bytes != nil {
			t.Errorf("%q has the icon %q", address, icon.Type)
		}
	}
}

// Nobody can make the service keep an unlimited number of sites that wait.
func TestIcon_queue(t *testing.T) {
	t.Parallel()
	s := service(t, local)
	for i := range 10_000 {
		if _, known := s.Icon(fmt.Sprintf("http://site-%d.example/", i)); known {
			t.Fatal("an icon is known")
		}
	}
	if n := s.Waiting(); n != 256 {
		t.Errorf("%d sites wait", n)
	}
}

package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shortline/shortline/shared/testing/testkit"
)

var next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

// build is what the build of the console looks like.
func build() fstest.MapFS {
	files := fstest.MapFS{"dist/README.md": {Data: []byte("no asset")}}
	for name, content := range map[string]string{
		"index.html":  `<meta name="address" content="{{address}}"><script src="/static/app/assets/index-AbCd_1-2.js"></script>`,
		"screens.txt": "^\\/(?:links)?$\n^\\/links\\/(?<id>[\\w-]+)$\n^\\/account(?:\\/(?<id>security|sessions))?$\n",
		"icon.svg":    "<svg/>", "assets/index-AbCd_1-2.js": "let one;", "assets/en-00000000.js": "en", "assets/de-11111111.js": "de",
		"assets/ar-2222-_22.js": "ar",
	} {
		files["dist/app/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	return files
}

func ask(t *testing.T, method, path string, header ...string) *http.Response {
	t.Helper()
	s, err := newSite(build(), "https://sho.rt/\"><b>", next)
	testkit.Must(t, err)
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	testkit.Must(t, err)
	return string(b)
}

func TestHandler_paths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/": 302, "/console": 302, "/console/": 200, "/login": 200, "/login?error=no_account": 200,
		"/console/links": 200, "/console/links/": 200, "/console/links/0197b2f0-0000-7000-8000-000000000000": 200, "/console/account": 200,
		"/console/account/sessions": 200, "/console/worker.js": 200, "/console/offline": 200, "/console/worker": 404,
		"/console/nothing": 404, "/console/links/abc/nothing": 404, "/console/account/nothing": 404, "/login/more": 404,
		"/console/../console.go": 404,
		"/static":                404, "/static/": 404, "/static/app.js": 404, "/static/app/none.js": 404, "/static/app/index.html": 404,
		"/static/app/screens.txt": 404, "/static/app/README.md": 404,
		"/static/app/assets/index-AbCd_1-2.js": 200, "/static/app/icon.svg": 200,
		"/api": http.StatusTeapot, "/api/urls": http.StatusTeapot, "/consoles": http.StatusTeapot, "/loginx": http.StatusTeapot,
		"/statics": http.StatusTeapot, "/abc": http.StatusTeapot,
	} {
		if got := ask(t, "GET", path); got.StatusCode != want {
			t.Errorf("GET %s: got %d, want %d", path, got.StatusCode, want)
		}
	}
	for _, path := range []string{"/", "/login", "/console/links", "/static/app/icon.svg"} {
		got := ask(t, "POST", path)
		if got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: got %d, Allow %q", path, got.StatusCode, got.Header.Get("Allow"))
		}
	}
}

// Bookmarks and mails name places of earlier releases.
func TestHandler_places_of_earlier_releases(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/": "/console/", "/console?workspace=team": "/console/?workspace=team",
		"/console/new": "/console/", "/console/new/": "/console/", "/console/new/links/abc/rules?a=b": "/console/links/abc/rules?a=b",
		"/console/overview?timeRange=last_7_days": "/console/analytics?timeRange=last_7_days", "/console/abuse": "/console/reports",
		"/console/workspaces": "/console/workspace", "/console/workspaces/0197b2f0-0000?a=b": "/console/workspace?workspace=0197b2f0-0000",
		"/console/links/abc/edit": "/console/links/abc", "/console/links/abc/preview": "/console/links/abc",
		"/console/links/abc/variants?workspace=w": "/console/links/abc/experiment?workspace=w",
		"/console/links/abc/clicks":               "/console/live?link=abc",
	} {
		if got := ask(t, "GET", path); got.StatusCode != 302 || got.Header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", path, got.StatusCode, got.Header.Get("Location"), want)
		}
	}
}

func TestHandler_every_answer_is_guarded(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/login", "/console/", "/console/nothing", "/static/app/none.js", "/static/x",
		"/console/worker.js", "/console/offline", "/console/icon-192.png", "/console/share"} {
		h := ask(t, "GET", path).Header
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		csp := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") ||
			strings.Contains(csp, "*") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
	}
}

func TestHandler_parts_of_the_page_are_cached_for_ever(t *testing.T) {
	t.Parallel()
	page := read(t, ask(t, "GET", "/login").Body)
	if !strings.Contains(page, `content="https://sho.rt/&#34;&gt;&lt;b&gt;"`) {
		t.Errorf("the page does not say, in one attribute, where it should be:\n%s", page)
	}
	for _, part := range []string{"/static/app/assets/index-AbCd_1-2.js", "/static/app/icon.svg"} {
		plain, packed := ask(t, "GET", part), ask(t, "GET", part, "Accept-Encoding", "gzip, br")
		if plain.StatusCode != 200 || !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, Cache-Control %q", part, plain.StatusCode, plain.Header.Get("Cache-Control"))
		}
		if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: is not compressed: %v", part, packed.Header)
		}
		unpacked, err := gzip.NewReader(packed.Body)
		testkit.Must(t, err)
		if read(t, plain.Body) != read(t, unpacked) {
			t.Errorf("%s: differs when compressed", part)
		}
	}
}

// The page names the messages of the reader's language, so that a browser need not wait for the script to ask for them.
func TestHandler_preloads_messages(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en-00000000", "de": "de-11111111", "de-AT,de;q=0.9,en;q=0.8": "de-11111111", "AR": "ar-2222-_22",
		"pt-BR, de;q=0.5": "de-11111111",
		"pt":              "en-00000000", ";;,": "en-00000000", "index": "en-00000000",
	} {
		got := ask(t, "GET", "/console/links", "Accept-Language", header).Header.Get("Link")
		if want := "</static/app/assets/" + want + ".js>; rel=modulepreload"; got != want {
			t.Errorf("Accept-Language %q: Link %q, want %q", header, got, want)
		}
	}
}

// A program without a build says what is missing.
func TestHandler_without_a_build(t *testing.T) {
	t.Parallel()
	s, err := newSite(fstest.MapFS{"dist/README.md": {}}, "https://sho.rt", next)
	testkit.Must(t, err)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/console/", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "make build") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// Text of the API stays text, and nothing is loaded from elsewhere.
func TestSources(t *testing.T) {
	t.Parallel()
	markup := regexp.MustCompile(
		`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\(|new Function|javascript:`)
	loaded := regexp.MustCompile(`@import|url\(\s*['"]?(https?:)?//`)
	n := 0
	err := filepath.WalkDir("web/src", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, ".test.") || strings.HasSuffix(path, ".d.ts") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		if found := markup.FindString(string(b)); found != "" {
			t.Errorf("%s uses %s", path, found)
		}
		if found := loaded.FindString(string(b)); found != "" && filepath.Ext(path) == ".css" {
			t.Errorf("%s loads something: %s", path, found)
		}
		return nil
	})
	if err != nil || n < 100 {
		t.Fatalf("%d files: %v", n, err)
	}
}

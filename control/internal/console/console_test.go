package console_test

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

	"github.com/shortline/shortline/control/internal/console"
)

var next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

func ask(t *testing.T, method, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	console.Handler("https://sho.rt/\"><b>", next).ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHandler_paths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/": 302, "/console": 302, "/console/": 200, "/login": 200, "/login?error=no_account": 200,
		"/console/links": 200, "/console/links/0197b2f0-0000-7000-8000-000000000000": 200, "/console/links/abc/rules": 200, "/console/links/abc/preview": 200, "/console/links/abc/history": 200, "/console/overview": 200,
		"/console/bundles": 200, "/console/bundles/abc": 200, "/console/bundles/abc/more": 404, "/console/webhooks": 200, "/console/webhooks/abc": 200, "/console/webhooks/abc/more": 404, "/console/tags": 200, "/console/templates": 200, "/console/templates/more": 404, "/console/keys": 200, "/console/account": 200, "/console/users": 200, "/console/providers": 200, "/console/settings": 200, "/console/settings/more": 404, "/console/edges": 200, "/console/audit": 200, "/console/abuse": 200,
		"/console/domains": 200, "/console/domains/abc": 200, "/console/domains/abc/more": 404,
		"/console/workspaces": 200, "/console/workspaces/abc": 200, "/console/workspaces/abc/more": 404,
		"/console/nothing": 404, "/console/links/abc/nothing": 404, "/console/links/": 404, "/login/more": 404,
		"/static": 404, "/static/": 404, "/static/app.js": 404, "/static/0123456789abcdef/none.js": 404, "/static/0123456789abcdef/index.html": 404, "/static/0123456789abcdef/../console.go": 404,
		"/api": http.StatusTeapot, "/api/urls": http.StatusTeapot, "/consoles": http.StatusTeapot, "/loginx": http.StatusTeapot, "/statics": http.StatusTeapot, "/abc": http.StatusTeapot,
	} {
		if got := ask(t, "GET", path); got.StatusCode != want {
			t.Errorf("GET %s: got %d, want %d", path, got.StatusCode, want)
		}
	}
	for _, path := range []string{"/", "/login", "/console/links", "/static/0123456789abcdef/app.js"} {
		got := ask(t, "POST", path)
		if got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: got %d, Allow %q", path, got.StatusCode, got.Header.Get("Allow"))
		}
	}
}

func TestHandler_every_answer_is_guarded(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/login", "/console/", "/console/nothing", "/static/0123456789abcdef/app.js", "/static/x"} {
		h := ask(t, "GET", path).Header
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		csp := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") || strings.Contains(csp, "*") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
	}
}

func TestHandler_parts_of_a_page_are_cached_for_ever(t *testing.T) {
	t.Parallel()
	page := read(t, ask(t, "GET", "/login").Body)
	parts := regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if !strings.Contains(page, `content="https://sho.rt/&#34;&gt;&lt;b&gt;"`) {
		t.Errorf("the page does not say, in one attribute, where it should be:\n%s", page)
	}
	if len(parts) < 4 {
		t.Fatalf("the page has %d parts", len(parts))
	}
	for _, p := range parts {
		plain, packed := ask(t, "GET", p[1]), ask(t, "GET", p[1], "Accept-Encoding", "gzip, br")
		if plain.StatusCode != 200 || !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, Cache-Control %q", p[1], plain.StatusCode, plain.Header.Get("Cache-Control"))
		}
		if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: is not compressed: %v", p[1], packed.Header)
		}
		unpacked, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if read(t, plain.Body) != read(t, unpacked) {
			t.Errorf("%s: differs when compressed", p[1])
		}
	}
}

// Every screen must keep the rules for scripts.
func TestAssets(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("assets/*")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	elsewhere := regexp.MustCompile(`(?i)(https?:|["'(])//[a-z0-9-]+(\.[a-z0-9-]+)+`)
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\b|new Function|javascript:|(?i:setAttribute\('style)|sessionStorage`)
	within := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?: [^>]*)?>[^<]`)
	imports := regexp.MustCompile(`from '(\./)?([^']+)'`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if n := strings.Count(text, "\n"); n > 500 {
			t.Errorf("%s has %d lines", f, n)
		}
		for _, address := range elsewhere.FindAllString(text, -1) {
			host := strings.ToLower(address[strings.Index(address, "//")+2:])
			if host != "www.w3.org" && host != "example.com" && host != "news.example" { // an XML namespace, and placeholders of inputs
				t.Errorf("%s names %s: the console loads nothing from elsewhere", f, address)
			}
		}
		switch filepath.Ext(f) {
		case ".js":
			if found := markup.FindString(text); found != "" {
				t.Errorf("%s uses %s: what the API says may only become text", f, found)
			}
			if strings.Contains(text, "localStorage") && filepath.Base(f) != "choice.js" {
				t.Errorf("%s uses localStorage, which may keep the chosen workspace only, and never a secret", f)
			}
			for _, m := range imports.FindAllStringSubmatch(text, -1) {
				if _, err := os.Stat(filepath.Join("assets", m[2])); m[1] == "" || err != nil {
					t.Errorf("%s imports %s, which is not here", f, m[2])
				}
			}
		case ".css":
			if strings.Contains(text, "url(") || strings.Contains(text, "@import") {
				t.Errorf("%s loads something", f)
			}
		case ".html":
			if found := within.FindString(text); found != "" {
				t.Errorf("%s has %q within the page, which the policy forbids", f, found)
			}
		}
	}
}

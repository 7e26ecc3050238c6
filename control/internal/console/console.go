// Package console serves the web console: pages and scripts that use the API like any other client.
//
// It owns the paths /, /login, /console and /static. Its pages load nothing from other sites, and their content
// security policy allows no inline scripts and styles. Pages are never cached. Their assets are cached without limit,
// under names that change with the content. The pages are the same for everybody and contain no secrets; the API
// authenticates users and checks their permissions. Scripts insert data from the API as text only, which a test of all
// scripts checks.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

//go:embed assets
var embedded embed.FS

// policy allows pages to load files of this package and images from the API (QR codes), and to call the API.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// screens are the paths that the script knows. Other paths below /console get the same page with a 404.
var screens = regexp.MustCompile(`^/console/(links(/[0-9A-Za-z-]+(/(edit|clicks|rules|variants|preview|history))?)?|(bundles|webhooks|workspaces|domains)(/[0-9A-Za-z-]+)?|overview|tags|templates|keys|account|users|providers|settings|edges|audit|abuse)?$`)

var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// asset is a file as it is sent, plain and compressed.
type asset struct {
	contentType  string
	plain, gzips []byte
}

type site struct {
	next   http.Handler
	page   asset
	assets map[string]asset // by name
	prefix string           // of the assets' paths, with the hash of all assets
	app    *app
}

// Handler serves the console, and calls next for all other paths. It is safe for concurrent use. address is where
// browsers should open the console, such as https://sho.rt. The API accepts changes only from pages there, so a page
// that was opened elsewhere shows a hint.
func Handler(address string, next http.Handler) http.Handler {
	s := &site{next: next, assets: map[string]asset{}}
	var err error
	if s.app, err = newApp(built); err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(fmt.Sprintf("BUG: read the embedded new console: %v", err))
	}
	files, err := fs.ReadDir(embedded, "assets")
	if err != nil {
		panic(fmt.Sprintf("BUG: the console's files are not embedded: %v", err))
	}
	sum := sha256.New()
	var page []byte
	for _, f := range files { // sorted by name
		content, err := embedded.ReadFile("assets/" + f.Name())
		if err != nil {
			panic(fmt.Sprintf("BUG: read the console's embedded file %s: %v", f.Name(), err))
		}
		fmt.Fprintf(sum, "%s %d\n", f.Name(), len(content))
		sum.Write(content)
		if f.Name() == "index.html" {
			page = content
			continue
		}
		contentType, known := contentTypes[path.Ext(f.Name())]
		if !known {
			panic("BUG: the console has a file of an unknown type: " + f.Name())
		}
		s.assets[f.Name()] = newAsset(contentType, content)
	}
	s.prefix = "/static/" + hex.EncodeToString(sum.Sum(nil))[:16] + "/"
	page = bytes.ReplaceAll(page, []byte("/static/"), []byte(s.prefix))
	page = bytes.ReplaceAll(page, []byte("{{address}}"), []byte(html.EscapeString(address)))
	s.page = newAsset("text/html; charset=utf-8", page)
	return s
}

func newAsset(contentType string, content []byte) asset {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = w.Write(content) // writes to a buffer do not fail
	_ = w.Close()
	return asset{contentType, content, packed.Bytes()}
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := r.URL.Path
	switch {
	case p == "/" || p == "/console":
		s.answer(w, r, func() {
			w.Header().Set("Location", "/console/")
			w.WriteHeader(http.StatusFound)
		})
	case s.app.owns(p):
		s.answer(w, r, func() { s.app.serve(w, r) })
	case p == "/login" || screens.MatchString(p):
		s.answer(w, r, func() { s.page.send(w, r, http.StatusOK) })
	case strings.HasPrefix(p, "/console/") || strings.HasPrefix(p, "/login/"):
		s.answer(w, r, func() { s.page.send(w, r, http.StatusNotFound) })
	case p == "/static" || strings.HasPrefix(p, "/static/"):
		s.answer(w, r, func() { s.file(w, r) })
	default:
		s.next.ServeHTTP(w, r)
	}
}

// answer sets the headers of every response, and calls with if the method is GET or HEAD.
func (s *site) answer(w http.ResponseWriter, r *http.Request, with func()) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "Only GET and HEAD are allowed.", http.StatusMethodNotAllowed)
		return
	}
	with()
}

// file sends an asset. During an upgrade, a page of one release may request assets from a replica of another release.
// So a request with another hash gets this release's asset, but without permission to cache it.
func (s *site) file(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/"), "/")
	a, known := s.assets[name]
	if !known || len(hash) != 16 {
		http.Error(w, "File not found.", http.StatusNotFound)
		return
	}
	if strings.HasPrefix(r.URL.Path, s.prefix) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	a.send(w, r, http.StatusOK)
}

func (a *asset) send(w http.ResponseWriter, r *http.Request, status int) {
	h, content := w.Header(), a.plain
	h.Set("Content-Type", a.contentType)
	h.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = a.gzips
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	_, _ = w.Write(content) // an error means that the client has disconnected
}

// Package console serves the web console: one page with its scripts, which use the API like any other client.
//
// It owns the paths /, /login, /console and /static. The page loads nothing from other sites, and its content security
// policy allows no inline scripts and styles. It is never cached. Its assets are cached without limit, because their names
// contain a hash of their content. All of them are the same for everybody and contain no secrets; the API authenticates
// users and checks their permissions.
package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/shortline/shortline/shared/accept"
)

// built holds the console, which deploy/dev/web builds from the folder web. A checkout without a build has only the
// placeholder dist/README.md.
//
//go:embed all:dist
var built embed.FS

// policy allows the page to load files of this package, to call the API, and to show pictures of the API. Those that need a
// workspace are shown as blobs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const (
	assetPath  = "/static/app/"
	sharedPath = "/static/share/" // of shared reports
)

var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// asset is a file as it is sent, plain and compressed.
type asset struct {
	contentType  string
	plain, gzips []byte
}

type site struct {
	next     http.Handler
	page     asset // without content, if the console was not built
	assets   map[string]asset
	shared   map[string]asset  // the page of shared reports by language; empty if it was not built
	messages map[string]string // the file of each language's messages, by its code
	screens  []*regexp.Regexp  // of the paths below /console that have a screen
}

// Handler serves the console, and calls next for all other paths. It is safe for concurrent use. address is where
// browsers should open the console, such as https://sho.rt. The API accepts changes only from pages there, so a page
// that was opened elsewhere shows a hint.
func Handler(address string, next http.Handler) http.Handler {
	s, err := newSite(built, address, next)
	if err != nil {
		panic(fmt.Sprintf("BUG: read the embedded console: %v", err))
	}
	return s
}

// messageFile matches the name of a language's messages, such as assets/de-BoeEYNDJ.js.
var messageFile = regexp.MustCompile(`^assets/([a-z]{2})-[\w-]{8}\.js$`)

func newSite(files fs.FS, address string, next http.Handler) (*site, error) {
	s := &site{next: next, assets: map[string]asset{}, messages: map[string]string{}}
	err := walkBuild(files, "dist/app", func(name string, content []byte) error { return s.addFile(name, content, address) })
	if err == nil {
		err = walkBuild(files, "dist/share", s.addShared)
	}
	return s, err
}

// walkBuild calls with for each file below a folder of the build, which may not exist.
func walkBuild(files fs.FS, folder string, with func(name string, content []byte) error) error {
	return fs.WalkDir(files, folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // not built
		}
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return with(strings.TrimPrefix(name, folder+"/"), content)
	})
}

// addFile takes a file of the build.
func (s *site) addFile(name string, content []byte, address string) error {
	switch contentType, known := contentTypes[path.Ext(name)]; {
	case name == "index.html":
		s.page = newAsset("text/html; charset=utf-8", bytes.ReplaceAll(content, []byte("{{address}}"), []byte(html.EscapeString(address))))
	case name == "screens.txt":
		for line := range strings.Lines(string(content)) {
			pattern, err := regexp.Compile(strings.TrimSpace(line))
			if err != nil {
				return fmt.Errorf("the path of a screen: %w", err)
			}
			s.screens = append(s.screens, pattern)
		}
	case known:
		s.assets[name] = newAsset(contentType, content)
		if m := messageFile.FindStringSubmatch(name); m != nil {
			s.messages[m[1]] = name
		}
	}
	return nil
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
	below, isScreen := strings.CutPrefix(p, "/console/")
	switch {
	case p == "/" || p == "/console":
		s.answer(w, r, func() { redirect(w, r, "/console/") })
	case p == "/login":
		s.answer(w, r, func() { s.show(w, r, http.StatusOK) })
	case isScreen:
		s.answer(w, r, func() { s.screen(w, r, below) })
	case pairFiles[p] != nil:
		s.answer(w, r, func() { pairFiles[p].serve(w, r, http.StatusOK) })
	case strings.HasPrefix(p, "/login/"):
		s.answer(w, r, func() { s.show(w, r, http.StatusNotFound) })
	case p == "/static" || strings.HasPrefix(p, "/static/"):
		s.answer(w, r, func() { s.file(w, r) })
	default:
		s.next.ServeHTTP(w, r)
	}
}

// redirect leads to another address with the same query.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

// moved has the places below /console that screens had in earlier releases. Bookmarks and mails may name them.
var moved = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^new/(.*)$`), "$1"},
	{regexp.MustCompile(`^new$`), ""},
	{regexp.MustCompile(`^overview$`), "analytics"},
	{regexp.MustCompile(`^abuse$`), "reports"},
	{regexp.MustCompile(`^workspaces$`), "workspace"},
	{regexp.MustCompile(`^workspaces/([\w-]+)$`), "workspace?workspace=$1"},
	{regexp.MustCompile(`^links/([\w-]+)/(?:edit|preview)$`), "links/$1"},
	{regexp.MustCompile(`^links/([\w-]+)/clicks$`), "live?link=$1"},
	{regexp.MustCompile(`^links/([\w-]+)/variants$`), "links/$1/experiment"},
}

// screen answers a request for a path below /console/. The page is the same for all of them, and says so if there is no such
// screen.
func (s *site) screen(w http.ResponseWriter, r *http.Request, below string) {
	if install(w, r, below) {
		return
	}
	for _, m := range moved {
		if at := m.from.FindStringSubmatchIndex(below); at != nil {
			to := "/console/" + string(m.from.ExpandString(nil, m.to, below, at))
			if strings.Contains(to, "?") {
				r.URL.RawQuery = ""
			}
			redirect(w, r, to)
			return
		}
	}
	status := http.StatusNotFound
	for _, pattern := range s.screens {
		if pattern.MatchString("/" + strings.TrimSuffix(below, "/")) {
			status = http.StatusOK
		}
	}
	s.show(w, r, status)
}

// show sends the page.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int) {
	if len(s.page.plain) == 0 {
		http.Error(w, "This program was compiled without the console. `make build` builds both.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Add("Vary", "Accept-Language")
	if file := s.messages[spoken(s.messages, r.Header.Get("Accept-Language"))]; file != "" {
		h.Set("Link", "<"+assetPath+file+">; rel=modulepreload")
	}
	s.page.serve(w, r, status)
}

// spoken returns the first language that a browser prefers and that is among the keys, or else English. The script of the console
// decides in the same way, unless the user has chosen a language. A browser that gets the name of the messages with the page loads them
// together with the script instead of after it.
func spoken[T any](languages map[string]T, acceptLanguage string) string {
	for wish := range strings.SplitSeq(acceptLanguage, ",") {
		short, _, _ := strings.Cut(strings.TrimSpace(wish), "-")
		short, _, _ = strings.Cut(short, ";")
		if _, ok := languages[strings.ToLower(short)]; ok {
			return strings.ToLower(short)
		}
	}
	return "en"
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

// file sends an asset.
func (s *site) file(w http.ResponseWriter, r *http.Request) {
	a, known := s.assets[strings.TrimPrefix(r.URL.Path, assetPath)]
	if !known {
		a, known = s.assets[r.URL.Path]
	}
	if !known {
		http.Error(w, "File not found.", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	a.serve(w, r, http.StatusOK)
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request, status int) {
	h, content := w.Header(), a.plain
	h.Set("Content-Type", a.contentType)
	h.Add("Vary", "Accept-Encoding")
	if accept.Encoding(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = a.gzips
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	_, _ = w.Write(content) // an error means that the client has disconnected
}

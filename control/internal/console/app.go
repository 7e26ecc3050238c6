package console

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
)

// built holds the new console, which `make web` builds from the folder web. A checkout without a build has only the
// placeholder dist/README.md.
//
//go:embed all:dist
var built embed.FS

// appPolicy is the policy of the new console's page. Pictures of the API that need a workspace are shown as blobs.
const appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// The paths of the new console, while the old one exists beside it.
const (
	appPage   = "/console/new"
	appAssets = "/static/app/"
)

// app is the new console: one page, and assets whose names contain a hash of their content.
type app struct {
	page     asset // without content, if the console was not built
	assets   map[string]asset
	messages map[string]string // the file of each language's messages, by its code
}

// messageFile matches the name of a language's messages, such as assets/de-BoeEYNDJ.js.
var messageFile = regexp.MustCompile(`^assets/([a-z]{2})-[\w-]{8}\.js$`)

func newApp(files fs.FS) (*app, error) {
	a := &app{assets: map[string]asset{}, messages: map[string]string{}}
	err := fs.WalkDir(files, "dist/app", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if name == "dist/app/index.html" {
			a.page = newAsset("text/html; charset=utf-8", content)
		} else if contentType, known := contentTypes[path.Ext(name)]; known {
			name = strings.TrimPrefix(name, "dist/app/")
			a.assets[name] = newAsset(contentType, content)
			if m := messageFile.FindStringSubmatch(name); m != nil {
				a.messages[m[1]] = name
			}
		}
		return nil
	})
	return a, err
}

// owns reports whether a path belongs to the new console.
func (a *app) owns(p string) bool {
	return p == appPage || strings.HasPrefix(p, appPage+"/") || strings.HasPrefix(p, appAssets)
}

// serve answers a request with GET or HEAD.
func (a *app) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if name, ok := strings.CutPrefix(r.URL.Path, appAssets); ok {
		file, known := a.assets[name]
		if !known {
			http.Error(w, "File not found.", http.StatusNotFound)
			return
		}
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		file.send(w, r, http.StatusOK)
		return
	}
	if len(a.page.plain) == 0 {
		http.Error(w, "This program was compiled without the new console. `make build` builds both.", http.StatusNotFound)
		return
	}
	h.Set("Content-Security-Policy", appPolicy)
	h.Add("Vary", "Accept-Language")
	if file := a.spoken(r.Header.Get("Accept-Language")); file != "" {
		h.Set("Link", "<"+appAssets+file+">; rel=modulepreload")
	}
	a.page.send(w, r, http.StatusOK)
}

// spoken returns the messages of the first language that a browser prefers and the console has, or else English. The script
// decides in the same way, unless the user has chosen a language. A browser that gets the name with the page loads the
// messages together with the script instead of after it.
func (a *app) spoken(acceptLanguage string) string {
	for wish := range strings.SplitSeq(acceptLanguage, ",") {
		short, _, _ := strings.Cut(strings.TrimSpace(wish), "-")
		short, _, _ = strings.Cut(short, ";")
		if file, ok := a.messages[strings.ToLower(short)]; ok {
			return file
		}
	}
	return a.messages["en"]
}

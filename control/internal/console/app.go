package console

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
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
	page   asset // without content, if the console was not built
	assets map[string]asset
}

func newApp(files fs.FS) (*app, error) {
	a := &app{assets: map[string]asset{}}
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
			a.assets[strings.TrimPrefix(name, "dist/app/")] = newAsset(contentType, content)
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
	a.page.send(w, r, http.StatusOK)
}

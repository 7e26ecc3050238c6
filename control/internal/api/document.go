package api

import (
	"embed"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

//go:embed docs
var docs embed.FS

// registerDocument serves the OpenAPI document and, at /api, a page that shows it and sends requests from it.
func (s *Server) registerDocument() {
	encode := sync.OnceValues(func() ([]byte, error) {
		doc := s.huma.OpenAPI()
		for _, p := range doc.Paths {
			for _, op := range []*huma.Operation{p.Get, p.Put, p.Post, p.Patch, p.Delete} {
				if op != nil {
					delete(op.Responses, "422") // the framework's own idea; we answer 400
				}
			}
		}
		return doc.MarshalJSON()
	})
	serve := func(path, contentType string, content func() ([]byte, error)) {
		s.handleRaw(endpoint{Method: http.MethodGet, Path: path, Need: public, Limit: noLimit}, func(c echo.Context) error {
			b, err := content()
			if err != nil {
				return err
			}
			h := c.Response().Header()
			h.Set("Cache-Control", "no-cache")
			h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
			return c.Blob(http.StatusOK, contentType, b)
		})
	}
	file := func(name string) func() ([]byte, error) {
		return func() ([]byte, error) { return docs.ReadFile("docs/" + name) }
	}
	serve("/api/openapi.json", "application/json; charset=utf-8", encode)
	serve("/api", "text/html; charset=utf-8", file("index.html"))
	serve("/api/", "text/html; charset=utf-8", file("index.html"))
	serve("/api/docs.js", "text/javascript; charset=utf-8", file("docs.js"))
	serve("/api/docs.css", "text/css; charset=utf-8", file("docs.css"))
}

package api

import (
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// routes declares every resource whose use case is there.
func (s *Server) routes() {
	s.registerDocument()
	if s.Accounts != nil {
		s.registerAccount()
		s.registerUsers()
	}
	if s.Keys != nil {
		s.registerKeys()
	}
	if s.Settings != nil {
		s.registerSettings()
	}
	if s.Links != nil {
		s.registerURLs()
	}
	if s.Routing != nil {
		s.registerVariants()
		s.registerRouting()
	}
}

// registerDocument serves the OpenAPI document and the page that shows it.
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
	s.handleRaw(endpoint{Method: http.MethodGet, Path: "/api/openapi.json", Need: public, Limit: noLimit}, func(c echo.Context) error {
		doc, err := encode()
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "application/json; charset=utf-8", doc)
	})
}

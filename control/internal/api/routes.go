package api

import (
	"net/http"
	"sync"

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
	encode := sync.OnceValues(func() ([]byte, error) { return s.huma.OpenAPI().MarshalJSON() })
	s.handleRaw(endpoint{Method: http.MethodGet, Path: "/api/openapi.json", Need: public, Limit: noLimit}, func(c echo.Context) error {
		doc, err := encode()
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "application/json; charset=utf-8", doc)
	})
}

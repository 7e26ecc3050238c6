package api

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
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
		for path, item := range doc.Paths {
			for method, op := range map[string]*huma.Operation{
				http.MethodGet: item.Get, http.MethodPut: item.Put, http.MethodPost: item.Post, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
			} {
				if op != nil {
					s.complete(op, method, path)
				}
			}
		}
		return doc.MarshalJSON()
	})
	serve := func(path, contentType string, content func() ([]byte, error)) {
		packed := sync.OnceValues(func() (p [2][]byte, err error) {
			if p[0], err = content(); err == nil {
				p[1] = pack(p[0])
			}
			return p, err
		})
		s.handleRaw(endpoint{Method: http.MethodGet, Path: path, Need: public, Limit: noLimit}, func(c echo.Context) error {
			p, err := packed()
			if err != nil {
				return err
			}
			h, form := c.Response().Header(), 0
			h.Set("Cache-Control", "no-cache")
			h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
			h.Add("Vary", "Accept-Encoding")
			if strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") {
				form = 1
				h.Set("Content-Encoding", "gzip")
			}
			return c.Blob(http.StatusOK, contentType, p[form])
		})
	}
	file := func(name string) func() ([]byte, error) {
		return func() ([]byte, error) { return docs.ReadFile("docs/" + name) }
	}
	serve("/api/openapi.json", "application/json; charset=utf-8", encode)
	serve("/api/openapi.yaml", "application/yaml; charset=utf-8", func() ([]byte, error) {
		if _, err := encode(); err != nil { // which completes the document
			return nil, err
		}
		return s.huma.OpenAPI().YAML()
	})
	serve("/api", "text/html; charset=utf-8", file("index.html"))
	serve("/api/", "text/html; charset=utf-8", file("index.html"))
	serve("/api/docs.js", "text/javascript; charset=utf-8", file("docs.js"))
	serve("/api/docs.css", "text/css; charset=utf-8", file("docs.css"))
}

func pack(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// complete adds to an operation what holds for many: its words and example, and every error that it may answer.
func (s *Server) complete(op *huma.Operation, method, path string) {
	words := operations[op.OperationID]
	if words.about != "" {
		op.Description = words.about
	}
	var bodies map[string]*huma.MediaType
	if op.RequestBody != nil {
		bodies = op.RequestBody.Content
		if m := bodies["application/json"]; m != nil && words.example != "" {
			m.Example = json.RawMessage(words.example)
		}
	}
	may := []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if bodies != nil {
		may = append(may, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if len(op.Security) > 0 {
		may = append(may, http.StatusUnauthorized)
		// An administrator's endpoint, or a session's; and a page of another site can't use a browser's session.
		if e := s.endpoints[method+" "+echoPath(path)]; method != http.MethodGet || e != nil && e.Need == admin {
			may = append(may, http.StatusForbidden)
		}
	}
	if strings.Contains(path, "{") || bodies != nil && strings.Contains(words.example, "01970000-") {
		may = append(may, http.StatusNotFound)
	}
	if words.conflict {
		may = append(may, http.StatusConflict)
	}
	own := slices.Contains(op.Tags, visitorTag) // these operations name their errors themselves
	for status := range op.Responses {
		if status >= "400" && !own {
			delete(op.Responses, status) // the framework's own idea of what may go wrong
		}
	}
	for _, status := range may {
		r := s.failure(status)
		if whole := (&huma.Schema{Type: huma.TypeInteger}); status == http.StatusTooManyRequests {
			r.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait.", Schema: whole}}
			if !own {
				r.Headers["X-RateLimit-Limit"] = &huma.Param{Description: "Requests allowed per minute. This header and the next two come with every counted answer.", Schema: whole}
				r.Headers["X-RateLimit-Remaining"] = &huma.Param{Description: "Requests left in this minute.", Schema: whole}
				r.Headers["X-RateLimit-Reset"] = &huma.Param{Description: "When the next minute starts, in Unix seconds.", Schema: whole}
			}
		}
		op.Responses[strconv.Itoa(status)] = r
	}
}

// failure documents one error status.
func (s *Server) failure(status int) *huma.Response {
	name := http.StatusText(status)
	return &huma.Response{Description: name, Content: map[string]*huma.MediaType{"application/json": {
		Schema:  s.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[answer](), true, ""),
		Example: answer{StatusCode: status, Message: "What is wrong, in one sentence.", Name: name},
	}}}
}

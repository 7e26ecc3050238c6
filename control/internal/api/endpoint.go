package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/auth"
)

// access is who may call an endpoint.
type access uint8

const (
	signedIn access = iota // a user's session or API key
	public                 // everybody; credentials are ignored
	anyone                 // everybody; a valid credential tells who it is
	admin                  // an ADMIN's session or API key
)

// endpoint declares one route, who may call it, and its rate limit. What it needs in the workspace comes from permissions,
// unless it is declared here.
type endpoint struct {
	Method, Path string // Path in the form /api/urls/{id}
	ID           string // operation id, unique: "createURL"
	Summary      string
	Tag          string
	Need         access                  // zero: signedIn
	Role         auth.WorkspaceRole      // least role in the workspace; zero: see permissions
	Scope        auth.Scopes             // one that an API key with scopes needs; zero: see permissions
	OfPath       bool                    // works in the workspace that {id} names, and ignores X-Workspace
	OfChoice     bool                    // needs a choice of workspace, except from administrators
	SignsIn      bool                    // answers with a session cookie
	SessionOnly  bool                    // API keys get 403, such as for passwords and second factors
	Escalates    bool                    // API keys get 403 unless Config.KeysAdminister: users, API keys and ways to sign in
	Conditional  bool                    // checks If-Match; the use case calls version.Check
	Enrolment    bool                    // sessions without a second factor may call it although the system requires one
	Status       int                     // of success; 0 means 201 for POST, 204 for DELETE, else 200
	Also         int                     // another status of success, with the same body; 0 means none
	Files        map[string]*huma.Schema // the response is a file with one of these media types
	Limit        limitName               // zero: the default limit
	Work         workload                // zero: see workloadOf
	MaxBody      int64                   // bytes; 0 means 1 MiB
	Raw          bool                    // the body is not JSON (an upload), and the function reads it
	Timeout      time.Duration           // 0 means the server's; negative means none (a stream)

	hasBody bool
	in      reflect.Type // request struct; nil if the function reads the request itself
	nothing bool         // the body of the response can be null
	selects *selection   // of the response to a GET; nil if it has no fields to select
}

// handle declares an endpoint and its function. In is a struct with path, query and header parameters, and with a field
// Body if the request has one; Out is a struct with a field Body if the response has one. The caller sees a *problem.Error
// that the function returns. Any other error becomes a 500 or 503.
func handle[In, Out any](s *Server, e endpoint, f func(context.Context, *In) (*Out, error)) {
	if e.Status == 0 {
		e.Status = http.StatusOK
		switch e.Method {
		case http.MethodPost:
			e.Status = http.StatusCreated
		case http.MethodDelete:
			e.Status = http.StatusNoContent
		}
	}
	e.in = reflect.TypeFor[In]()
	if result, ok := reflect.TypeFor[Out]().FieldByName("Body"); ok {
		e.nothing = result.Type.Kind() == reflect.Pointer
		if e.Method == http.MethodGet {
			e.selects = selectionOf(result.Type)
		}
	}
	_, e.hasBody = e.in.FieldByName("Body")
	s.declare(&e)
	op := huma.Operation{
		Method: e.Method, Path: e.Path, OperationID: e.ID, Summary: e.Summary, DefaultStatus: e.Status,
		MaxBodyBytes: -1, BodyReadTimeout: -1, // readBody has limited and read it
		Errors: []int{http.StatusInternalServerError}, // the document's complete adds the others
	}
	if e.Tag != "" {
		op.Tags = []string{e.Tag}
	}
	if e.Raw {
		op.MaxBodyBytes = e.MaxBody
	}
	if e.Need != public && e.Need != anyone {
		op.Security = []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}}
	}
	huma.Register(s.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, s.answerOf(ctx, err)
		}
		return out, nil
	})
}

// handleRaw declares an endpoint that writes its response itself (an image, a redirect, a stream). Use describe to add it
// to the OpenAPI document.
func (s *Server) handleRaw(e endpoint, f echo.HandlerFunc) {
	s.declare(&e)
	s.echo.Add(e.Method, echoPath(e.Path), f)
}

// describe adds an endpoint to the OpenAPI document that handleRaw has declared.
func (s *Server) describe(op *huma.Operation) { s.huma.OpenAPI().AddOperation(op) }

func (s *Server) declare(e *endpoint) {
	defaultPermission(e)
	if e.Work == light {
		e.Work = workloadOf(e)
	}
	key := e.Method + " " + echoPath(e.Path)
	if s.endpoints[key] != nil {
		panic("BUG: endpoint declared twice: " + key)
	}
	s.endpoints[key] = e
}

func echoPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// endpointOf returns the endpoint that the router chose, or nil for an unknown path or method.
func (s *Server) endpointOf(c echo.Context) *endpoint {
	return s.endpoints[c.Request().Method+" "+c.Path()]
}

type principalKey struct{}

// principal returns the caller, and the zero value at a public endpoint.
func principal(ctx context.Context) auth.Principal {
	p, _ := ctx.Value(principalKey{}).(auth.Principal)
	return p
}

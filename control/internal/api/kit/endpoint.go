package kit

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/auth"
)

// Access is who may call an endpoint.
type Access uint8

const (
	SignedIn Access = iota // a user's session or API key
	Public                 // everybody; credentials are ignored
	Anyone                 // everybody; a valid credential tells who it is
	Admin                  // an ADMIN's session or API key
)

// Endpoint declares one route, who may call it, and its rate limit. What it needs in the workspace comes from its Resource,
// unless it is declared here.
type Endpoint struct {
	Method, Path string // Path in the form /api/urls/{id}
	ID           string // operation id, unique: "createURL"
	Summary      string
	Tag          string
	Need         Access                  // zero: SignedIn
	Role         auth.WorkspaceRole      // least role in the workspace; zero: see Resource
	Scope        auth.Scopes             // one that an API key with scopes needs; zero: see Resource
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
	Limit        LimitName               // zero: the default limit
	Work         Workload                // zero: see workloadOf
	MaxBody      int64                   // bytes; 0 means 1 MiB
	Raw          bool                    // the body is not JSON (an upload), and the function reads it
	Timeout      time.Duration           // at least the one of Config; negative means none (a stream)

	about   string
	example string // JSON of a request body; "" if there is none
	fails   []int
	hasBody bool
	in      reflect.Type // request struct; nil if the function reads the request itself
	nothing bool         // the body of the response can be null
	selects *selection   // of the response to a GET; nil if it has no fields to select
}

// Under returns a function that declares the endpoints of a resource, whose paths begin with root.
func Under(root, tag string) func(method, path, id, summary string) Endpoint {
	return func(method, path, id, summary string) Endpoint {
		return Endpoint{Method: method, Path: root + path, ID: id, Summary: summary, Tag: tag}
	}
}

// About adds the description. That of an alias begins with "Same as " and the other endpoint; see deprecated.
func (e Endpoint) About(text string) Endpoint {
	e.about = text
	return e
}

// Example adds the JSON of an example of the request.
func (e Endpoint) Example(body string) Endpoint {
	e.example = body
	return e
}

// ExampleBody returns the JSON of an example of the request; "" if there is none.
func (e *Endpoint) ExampleBody() string { return e.example }

// Fails adds statuses of errors that follow neither from the path nor from the credentials.
func (e Endpoint) Fails(statuses ...int) Endpoint {
	e.fails = statuses
	return e
}

// Handle declares an endpoint and its function. In is a struct with path, query and header parameters, and with a field
// Body if the request has one; Out is a struct with a field Body if the response has one. The caller sees a *problem.Error
// that the function returns. Any other error becomes a 500 or 503.
func Handle[In, Out any](k *Kit, e Endpoint, f func(context.Context, *In) (*Out, error)) {
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
	k.declare(&e)
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
	if e.Need != Public && e.Need != Anyone {
		op.Security = []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}}
	}
	huma.Register(k.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, k.answerOf(ctx, err)
		}
		return out, nil
	})
}

// HandleRaw declares an endpoint that writes its response itself (an image, a redirect, a stream). Use Describe to add it
// to the OpenAPI document.
func (k *Kit) HandleRaw(e Endpoint, f echo.HandlerFunc) {
	k.declare(&e)
	k.echo.Add(e.Method, echoPath(e.Path), f)
}

// Describe adds an endpoint to the OpenAPI document that HandleRaw has declared.
func (k *Kit) Describe(op *huma.Operation) { k.OpenAPI().AddOperation(op) }

// OpenAPI returns the document as far as it is declared.
func (k *Kit) OpenAPI() *huma.OpenAPI { return k.huma.OpenAPI() }

// Schema returns the schema of a struct in the document.
func (k *Kit) Schema(t reflect.Type) *huma.Schema {
	return k.OpenAPI().Components.Schemas.Schema(t, true, "")
}

func (k *Kit) declare(e *Endpoint) {
	k.defaultPermission(e)
	if e.Work == Light {
		e.Work = workloadOf(e)
	}
	key := e.Method + " " + echoPath(e.Path)
	if k.endpoints[key] != nil {
		panic("BUG: endpoint declared twice: " + key)
	}
	k.endpoints[key] = e
}

func echoPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// Declared returns every endpoint, in no order.
func (k *Kit) Declared() iter.Seq[*Endpoint] { return maps.Values(k.endpoints) }

// endpointOf returns the endpoint that the router chose, or nil for an unknown path or method.
func (k *Kit) endpointOf(c echo.Context) *Endpoint {
	return k.endpoints[c.Request().Method+" "+c.Path()]
}

type principalKey struct{}

// Principal returns the caller, and the zero value at a public endpoint.
func Principal(ctx context.Context) auth.Principal {
	p, _ := ctx.Value(principalKey{}).(auth.Principal)
	return p
}

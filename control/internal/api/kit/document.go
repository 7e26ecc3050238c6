package kit

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/shortline/shortline/shared/accept"
	"github.com/swaggest/swgui/v5/static"
)

// docs is the page that starts the embedded Swagger UI.
//
//go:embed docs
var docs embed.FS

// docsPolicy allows no other origin and no inline script or style. Swagger UI's style sheet has icons as data URLs.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// registerDocument serves the OpenAPI document and, at /api, a page that displays it and can send requests.
func (k *Kit) registerDocument() {
	serve := func(path, contentType string, content func() (served, error)) {
		load := sync.OnceValues(content)
		k.HandleRaw(Endpoint{Method: http.MethodGet, Path: path, Need: Public, Limit: NoLimit}, func(c echo.Context) error {
			file, err := load()
			if err != nil {
				return err
			}
			h, b := c.Response().Header(), file.plain
			h.Set("Cache-Control", "no-cache")
			h.Set("ETag", file.tag)
			h.Set("Content-Security-Policy", docsPolicy)
			h.Add("Vary", "Accept-Encoding")
			if accept.Encoding(c.Request().Header.Get("Accept-Encoding"), "gzip") {
				b = file.gzipped
				h.Set("Content-Encoding", "gzip")
			}
			return c.Blob(http.StatusOK, contentType, b)
		})
	}
	k.registerSchemas(k.Document)
	serve("/api/openapi.json", "application/json; charset=utf-8", func() (served, error) { return compress(k.Document().MarshalJSON()) })
	serve("/api/openapi.yaml", "application/yaml; charset=utf-8", func() (served, error) { return compress(k.Document().YAML()) })
	const html, script, style = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8"
	own := func(name string) func() (served, error) {
		return func() (served, error) { return compress(docs.ReadFile("docs/" + name)) }
	}
	viewer := func(name string) func() (served, error) {
		return func() (served, error) { return decompress(static.FS.ReadFile(name + ".gz")) }
	}
	serve("/api", html, own("index.html"))
	serve("/api/", html, own("index.html"))
	serve("/api/docs.js", script, own("docs.js"))
	serve("/api/docs.css", style, own("docs.css"))
	serve("/api/swagger-ui.js", script, viewer("swagger-ui-bundle.js"))
	serve("/api/swagger-ui.css", style, viewer("swagger-ui.css"))
}

// served is a file in both encodings in which it may be sent.
type served struct {
	plain, gzipped []byte
	tag            string // its version, the same for both encodings
}

func newServed(plain, gzipped []byte) served {
	sum := sha256.Sum256(plain)
	return served{plain, gzipped, fmt.Sprintf(`W/"%x"`, sum[:16])}
}

func compress(b []byte, err error) (served, error) {
	return newServed(b, gzipped(b, gzip.BestCompression)), err
}

func decompress(packed []byte, err error) (served, error) {
	if err != nil {
		return served{}, err
	}
	plain, err := gunzipped(packed)
	return newServed(plain, packed), err
}

// gzipped compresses b at a level of package gzip.
func gzipped(b []byte, level int) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, level)
	_, _ = w.Write(b) // a bytes.Buffer never fails
	_ = w.Close()
	return out.Bytes()
}

func gunzipped(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Document returns the OpenAPI document in the form that clients read. Call it when all endpoints are declared.
func (k *Kit) Document() *huma.OpenAPI { return k.document() }

// completeDocument may be called once.
func (k *Kit) completeDocument() *huma.OpenAPI {
	doc := *k.OpenAPI()
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
			if op != nil {
				k.complete(op, path)
			}
		}
	}
	components := *doc.Components
	components.Schemas = k.publish(components.Schemas)
	doc.Components = &components
	return &doc
}

// complete adds to an operation its description, its example and every error that it may return.
func (k *Kit) complete(op *huma.Operation, path string) {
	e := k.endpoints[op.Method+" "+echoPath(path)] // nil if edges serve it
	if e == nil {
		e = &Endpoint{}
	}
	if e.about != "" {
		op.Description = e.about
	}
	var bodies map[string]*huma.MediaType
	if op.RequestBody != nil {
		bodies = op.RequestBody.Content
		if m := bodies["application/json"]; m != nil && e.example != "" {
			m.Example = json.RawMessage(e.example)
		}
	}
	may := []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if bodies != nil {
		may = append(may, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if len(op.Security) > 0 {
		// Roles, the scopes of API keys and their addresses get 403, and a session that another site uses to change
		// something. An unknown X-Workspace gets 404.
		may = append(may, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound)
		if !strings.HasPrefix(path, "/api/workspaces/{id}") { // these work in the workspace of the path
			op.Parameters = append(op.Parameters, &huma.Param{
				Name: workspaceHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString},
				Description: "Id or slug of the workspace in which the request works. Without it, the caller's personal workspace, or the workspace " +
					"of the API key.",
			})
		}
	}
	if len(op.Security) == 0 {
		op.Security = []map[string][]string{} // says that none is needed
		if strings.Contains(path, "{") {
			may = append(may, http.StatusNotFound)
		}
	}
	if e.Method != "" {
		k.describeParams(op, e)
		describeSuccess(op, e)
		if e.alias() {
			documentDeprecation(op)
		}
		documentUnchanged(op)
		if e.selects != nil {
			e.selects.document(op)
		}
		if e.Conditional {
			documentVersions(op)
			may = append(may, http.StatusPreconditionFailed)
		}
		if e.repeatable() {
			documentIdempotency(op, e)
			may = append(may, http.StatusConflict, http.StatusUnprocessableEntity)
		}
	}
	may = append(may, e.fails...)
	own := slices.Contains(op.Tags, VisitorTag) // these operations document their own errors
	for status := range op.Responses {
		if status >= "400" && !own {
			delete(op.Responses, status) // remove huma's default error
		}
	}
	for _, status := range may {
		r := k.Failure(status)
		if whole := (&huma.Schema{Type: huma.TypeInteger}); status == http.StatusTooManyRequests {
			r.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait.", Schema: whole}}
			if !own {
				r.Headers["X-RateLimit-Limit"] = &huma.Param{
					Description: "Requests allowed per minute. Every counted response has this header and the next two.", Schema: whole}
				r.Headers["X-RateLimit-Remaining"] = &huma.Param{Description: "Requests left in the current window.", Schema: whole}
				r.Headers["X-RateLimit-Reset"] = &huma.Param{Description: "End of the current window, in Unix seconds.", Schema: whole}
			}
		}
		op.Responses[strconv.Itoa(status)] = r
	}
}

// describeParams completes the schemas of an operation's parameters, in copies, because huma validates requests with them.
func (k *Kit) describeParams(op *huma.Operation, e *Endpoint) {
	byName := map[string]*huma.Param{}
	for _, p := range op.Parameters {
		p.Schema = copySchema(p.Schema)
		byName[p.In+" "+p.Name] = p
	}
	if e.in == nil {
		return
	}
	for field, name := range fieldsOf(e.in, "query") {
		if p := byName["query "+name]; p != nil {
			p.Schema = k.describeField(p.Schema, field)
		}
	}
}

// describeSuccess completes the responses without an error.
func describeSuccess(op *huma.Operation, e *Endpoint) {
	success := op.Responses[strconv.Itoa(e.Status)]
	for media, schema := range e.Files {
		if success.Content == nil {
			success.Content = map[string]*huma.MediaType{}
		}
		success.Content[media] = &huma.MediaType{Schema: schema}
	}
	if e.nothing {
		m := success.Content["application/json"]
		m.Schema = &huma.Schema{AnyOf: []*huma.Schema{m.Schema, {Type: "null"}}}
	}
	if e.Also != 0 {
		also := *success
		also.Description = http.StatusText(e.Also)
		op.Responses[strconv.Itoa(e.Also)] = &also
	}
}

// CSVFile documents a file of comma-separated values.
func CSVFile() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// Failure documents one error status.
func (k *Kit) Failure(status int) *huma.Response {
	name := http.StatusText(status)
	return &huma.Response{Description: name, Content: map[string]*huma.MediaType{"application/json": {
		Schema:  k.Schema(reflect.TypeFor[Answer]()),
		Example: Answer{StatusCode: status, Message: "A sentence that describes the error.", Name: name},
	}}}
}

// VisitorTag groups the paths that edges serve. The control plane does not serve them. They are in the document for
// developers who embed or script short links.
const VisitorTag = "Visitors"

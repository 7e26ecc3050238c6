package mcpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// maxReply is the largest response of an endpoint that a tool reads.
const maxReply = 4 << 20

// caller is the sender of one message.
type caller struct {
	server    *server
	request   *http.Request
	principal auth.Principal
	readOnly  bool
}

// sentHeaders go from the message to the endpoints behind a tool: the credential, the workspace, and what tells the caller's address.
var sentHeaders = []string{"Authorization", "X-Api-Key", "X-Workspace", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded",
	"User-Agent"}

// ask is a request of an endpoint.
type ask struct {
	path  map[string]string
	query url.Values
	body  any // nil: none
}

// reply is a successful response of an endpoint.
type reply struct {
	status int
	media  string
	body   []byte
}

// do calls an endpoint of the API with the credential of the caller. An answer with an error status becomes a *failure.
func (c *caller) do(e *kit.Endpoint, a ask) (*reply, error) {
	if c.readOnly && !safe(e) {
		return nil, &failure{Status: http.StatusForbidden, Code: "READ_ONLY", Message: "This connection is read-only."}
	}
	path, err := fill(e.Path, a.path)
	if err != nil {
		return nil, err
	}
	var body io.Reader = http.NoBody
	if a.body != nil {
		text, err := json.Marshal(a.body)
		if err != nil {
			return nil, fmt.Errorf("write a request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	// The context of the message has the trust in its proxy, and ends when the client disconnects.
	r, err := http.NewRequestWithContext(c.request.Context(), e.Method, path, body)
	if err != nil {
		return nil, &failure{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENTS", Message: "The path is not valid."}
	}
	for _, name := range append(slices.Clone(sentHeaders), c.server.kit.AddressHeader()) {
		if values := c.request.Header.Values(name); len(values) > 0 {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	r.Header.Set("X-Request-ID", kit.RequestLogOf(c.request.Context()).ID())
	if a.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.URL.RawQuery, r.RemoteAddr, r.Host, r.TLS = a.query.Encode(), c.request.RemoteAddr, c.request.Host, c.request.TLS
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	c.server.kit.Handler().ServeHTTP(w, r)
	if w.full {
		return nil, tooLarge()
	}
	if w.status >= 300 {
		return nil, failureOf(w)
	}
	return &reply{w.status, w.header.Get("Content-Type"), w.body.Bytes()}, nil
}

// fill puts values into the placeholders of a path. A value cannot lead to another endpoint.
func fill(path string, values map[string]string) (string, error) {
	parts := strings.Split(path, "/")
	used := 0
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		v := values[name]
		if v == "" || v == "." || v == ".." || len(v) > 512 {
			return "", &failure{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENTS",
				Message: fmt.Sprintf("The path of this operation needs %s.", name)}
		}
		parts[i] = url.PathEscape(v)
		used++
	}
	if used != len(values) {
		return "", &failure{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENTS",
			Message: "The path has values that this operation does not take; it is " + path + "."}
	}
	return strings.Join(parts, "/"), nil
}

// recorder keeps a response of at most maxReply bytes.
type recorder struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
	full   bool
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.wrote = true
	if w.body.Len()+len(b) > maxReply {
		w.full = true
		return 0, errors.New("the response is too large for a tool")
	}
	return w.body.Write(b)
}

// readInto calls an endpoint and decodes its JSON, without marks. Only decisions of tools are made with it.
func (c *caller) readInto(e *kit.Endpoint, a ask, into any) error {
	r, err := c.do(e, a)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("read the response of %s: %w", e.ID, err)
	}
	return nil
}

// show calls an endpoint and returns its response as a model may see it.
func (c *caller) show(e *kit.Endpoint, a ask) (any, error) {
	r, err := c.do(e, a)
	if err != nil {
		return nil, err
	}
	return r.shown()
}

func (r *reply) shown() (any, error) {
	if len(r.body) == 0 {
		return map[string]any{"done": true}, nil
	}
	if !strings.HasPrefix(r.media, "application/json") {
		return map[string]any{untrusted: string(bytes.ToValidUTF8(r.body, []byte("\uFFFD")))}, nil
	}
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read a response: %w", err)
	}
	return mark("", v), nil
}

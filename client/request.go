package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// RequestOption changes one request.
type RequestOption func(*call)

// IdempotencyKey sets the key of a POST, so that you can repeat it in another process. It has 1 to 255 printable ASCII characters.
// Without it, the client makes one for each call.
func IdempotencyKey(key string) RequestOption { return RequestHeader("Idempotency-Key", key) }

// IfMatch lets a change take effect only if the object still has this version, the ETag of an answer. Otherwise the error has the
// status 412, and tells the present object.
func IfMatch(etag string) RequestOption { return RequestHeader("If-Match", etag) }

// IfNoneMatch asks for an object only if it has another version than this ETag. Otherwise the error is [ErrNotModified].
func IfNoneMatch(etag string) RequestOption { return RequestHeader("If-None-Match", etag) }

// InWorkspace chooses the workspace of one request.
func InWorkspace(workspace string) RequestOption { return RequestHeader("X-Workspace", workspace) }

// WaitForEdges lets a change wait until all connected edges have it, at most for this many seconds (10 at most).
func WaitForEdges(seconds int) RequestOption {
	return RequestHeader("Prefer", "wait="+strconv.Itoa(seconds))
}

// RequestHeader sends a header.
func RequestHeader(name, value string) RequestOption {
	return func(in *call) { in.header.Set(name, value) }
}

// Fields asks for some fields only, by their names in JSON. The others have their zero values.
func Fields(names ...string) RequestOption {
	return func(in *call) { in.fields = strings.Join(names, ",") }
}

// Meta has what an answer tells beside its body.
type Meta struct {
	Status   int
	ETag     string // the version, for [IfMatch] and [IfNoneMatch]
	Replayed bool   // whether this is the stored answer to an earlier request with the same [IdempotencyKey]
	Attempts int    // how often the request was sent
	Header   http.Header
}

// Into keeps what an answer tells beside its body, also that of an error. Of a list that is read whole, the last answer counts.
func Into(meta *Meta) RequestOption { return func(in *call) { in.meta = meta } }

// call is one call of the API.
type call struct {
	method, path string
	query        any       // a struct with tags, or url.Values
	body         any       // sent as JSON; nil for none
	file         io.Reader // sent instead of a body: a form with a file, or media
	media        string    // type of file; "": text/csv
	form         bool
	key          bool // whether the operation takes an Idempotency-Key

	header http.Header
	fields string
	meta   *Meta

	accept string
	stream bool   // whether the answer is read by the caller
	text   []byte // the body
	kind   string // its type
	safe   bool   // whether it can be sent again after it may have taken effect

	uncertain bool // whether a failed attempt may have taken effect
}

// expand puts the parameters into a path. A parameter that cannot be part of a path makes the path empty.
func expand(path string, values ...string) string {
	for _, v := range values {
		from, to := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
		if v == "" || v == "." || v == ".." {
			return "" // the path would name something else
		}
		// A brace in the value is escaped, so the next search does not find it.
		path = path[:from] + url.PathEscape(v) + path[to+1:]
	}
	return path
}

// prepare reads the options and encodes the body.
func (c *Client) prepare(in *call, opts []RequestOption) error {
	if c.problem != nil {
		return c.problem
	}
	if in.path == "" {
		return fmt.Errorf("client: %s: an id must not be empty, \".\" or \"..\"", in.method)
	}
	in.header = maps.Clone(c.header)
	if c.workspace != "" {
		in.header.Set("X-Workspace", c.workspace)
	}
	in.header.Set("Accept", in.accept)
	for _, opt := range opts {
		opt(in)
	}
	if in.key && in.header.Get("Idempotency-Key") == "" {
		in.header.Set("Idempotency-Key", rand.Text())
	}
	switch in.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		in.safe = true
	case http.MethodPut, http.MethodDelete:
		// If the first one took effect, a second one would not find its version.
		in.safe = in.header.Get("If-Match") == ""
	default:
		in.safe = in.header.Get("Idempotency-Key") != ""
	}
	if in.body == nil {
		return nil
	}
	var err error
	in.kind = "application/json"
	in.text, err = json.Marshal(in.body)
	return err
}

// request makes the request of one attempt.
func (c *Client) request(ctx context.Context, in *call) (*http.Request, error) {
	query, err := encodeQuery(in.query)
	if err != nil {
		return nil, err
	}
	if in.fields != "" {
		query.Set("fields", in.fields)
	}
	address := c.base.String() + in.path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var body io.Reader
	kind := in.kind
	switch {
	case in.form:
		body, kind = form(in.file)
	case in.file != nil:
		body, kind = in.file, cmp.Or(in.media, "text/csv")
	case in.text != nil:
		body = bytes.NewReader(in.text)
	}
	req, err := http.NewRequestWithContext(ctx, in.method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header = in.header.Clone()
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

// form streams a form with one file.
func form(file io.Reader) (io.Reader, string) {
	from, to := io.Pipe()
	w := multipart.NewWriter(to)
	go func() {
		part, err := w.CreateFormFile("file", "file")
		if err == nil {
			_, err = io.Copy(part, file)
		}
		if err == nil {
			err = w.Close()
		}
		to.CloseWithError(err) // nil ends the body
	}()
	return from, w.FormDataContentType()
}

// encodeQuery encodes a struct by its tags. Fields with their zero value are left out.
func encodeQuery(query any) (url.Values, error) {
	if values, ok := query.(url.Values); ok && values != nil {
		return maps.Clone(values), nil
	}
	out := url.Values{}
	v := reflect.ValueOf(query)
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return out, nil
	}
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("query"), ",")
		field := v.Field(i)
		if name == "" || field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Slice {
			var texts []string
			for j := range field.Len() {
				texts = append(texts, field.Index(j).String())
			}
			if option != "explode" {
				texts = []string{strings.Join(texts, ",")}
			}
			out[name] = texts
			continue
		}
		text, err := queryText(field)
		if err != nil {
			return nil, fmt.Errorf("client: parameter %s: %w", name, err)
		}
		out.Set(name, text)
	}
	return out, nil
}

func queryText(field reflect.Value) (string, error) {
	switch v := field.Interface().(type) {
	case Optional[bool]:
		return fmt.Sprint(v.value), nil
	case Optional[int]:
		return fmt.Sprint(v.value), nil
	case int:
		return strconv.Itoa(v), nil
	}
	if field.Kind() == reflect.String {
		return field.String(), nil
	}
	return "", fmt.Errorf("type %s is not known", field.Type())
}

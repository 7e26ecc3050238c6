// Package remote sends the requests of commands to a Shortline. It keeps responses as the JSON that the server has sent, so that
// --output json, yaml and --jq show all of it, also what this version of the program does not know.
package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
)

// Remote is a Shortline, and who calls it. It is safe for concurrent use.
type Remote struct {
	Base      *url.URL // such as https://sho.rt
	Workspace string   // id or slug; "" means that of the key
	Signed    bool     // it has a key
	client    *client.Client
}

// Config of a Remote.
type Config struct {
	Base      *url.URL
	Key       string // API key; "" means none
	Workspace string
	Agent     string // User-Agent
	HTTP      *http.Client
	Timeout   time.Duration                    // of an attempt
	Log       func(format string, args ...any) // of requests, without secrets; nil means none
	Retry     client.Retry
}

// New returns a Remote.
func New(cfg Config) *Remote {
	h := *cfg.HTTP
	if cfg.Log != nil {
		h.Transport = &logged{h.Transport, cfg.Log}
	}
	opts := []client.Option{
		client.WithUserAgent(cfg.Agent), client.WithHTTPClient(&h), client.WithTimeout(cfg.Timeout), client.WithRetry(cfg.Retry),
	}
	if cfg.Key != "" {
		opts = append(opts, client.WithAPIKey(cfg.Key))
	}
	if cfg.Workspace != "" {
		opts = append(opts, client.WithWorkspace(cfg.Workspace))
	}
	return &Remote{Base: cfg.Base, Workspace: cfg.Workspace, Signed: cfg.Key != "", client: client.New(cfg.Base.String(), opts...)}
}

// Request is a call of the API.
type Request struct {
	Method, Path string // the path is escaped, such as /api/urls/x%2Fy
	Query        url.Values
	Body         any // JSON; nil means none
	Options      []client.RequestOption
}

// Response is a success.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Unreachable is an error without a response.
type Unreachable struct {
	Host string
	Err  error
}

// Error implements error.
func (e *Unreachable) Error() string { return fmt.Sprintf("%s cannot be reached: %v", e.Host, e.Err) }

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// Is reports whether an error is a response with one of these statuses.
func Is(err error, statuses ...int) bool {
	var e *client.APIError
	return errors.As(err, &e) && slices.Contains(statuses, e.Status)
}

// Do sends a request. The error is a *client.APIError, an *Unreachable, or the context's.
func (r *Remote) Do(ctx context.Context, in Request) (*Response, error) {
	in.Options = append(in.Options, client.RequestHeader("Accept", "application/json"))
	res, err := r.Stream(ctx, in)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if kind := res.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/html") && strings.HasPrefix(in.Path, "/api/") {
		return nil, fmt.Errorf("%s sent a web page and not JSON; is it the address of a Shortline?", r.Base.Host)
	}
	body, err := io.ReadAll(res)
	if err != nil {
		return nil, r.Failed(ctx, err)
	}
	return &Response{res.Status, res.Header, body}, nil
}

// Stream sends a request and returns the response when its head has arrived. The caller closes it.
func (r *Remote) Stream(ctx context.Context, in Request) (*client.Raw, error) {
	if r.Signed && in.Method == http.MethodPost { // so that it can be repeated
		in.Options = append([]client.RequestOption{client.IdempotencyKey(rand.Text())}, in.Options...)
	}
	res, err := r.client.DoRaw(ctx, in.Method, in.Path, in.Query, in.Body, in.Options...)
	if err != nil {
		return nil, r.Failed(ctx, err)
	}
	if res.Status >= 300 {
		_ = res.Close()
		text := fmt.Sprintf("The server answered %d", res.Status)
		if to := res.Location(); to != "" {
			text += " and leads to " + to + ". Give that address with --url"
		}
		return nil, &client.APIError{Status: res.Status, Message: text + ".", Header: res.Header}
	}
	return res, nil
}

// Archives has the calls that send and receive archives of workspaces.
func (r *Remote) Archives() *client.ArchiveService { return r.client.Archives }

// Get reads an object.
func (r *Remote) Get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	res, err := r.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Send sends a body and returns the response's.
func (r *Remote) Send(ctx context.Context, method, path string, body any) ([]byte, error) {
	res, err := r.Do(ctx, Request{Method: method, Path: path, Body: body})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Bulk is the path of Upsert.
const Bulk = "/api/urls/bulk"

// Upsert creates or updates links, each named by its external id or its slug. With dry, it changes nothing. It returns a result for
// each item.
func (r *Remote) Upsert(ctx context.Context, items any, dry bool) ([]client.UpsertedLink, error) {
	in := Request{Method: http.MethodPut, Path: Bulk, Body: map[string]any{"items": items}}
	if dry {
		in.Query = url.Values{"dryRun": {"true"}}
	}
	res, err := r.Do(ctx, in)
	if err != nil {
		return nil, err
	}
	var got client.UpsertedLinks
	if err := json.Unmarshal(res.Body, &got); err != nil {
		return nil, fmt.Errorf("the response cannot be read: %w", err)
	}
	return got.Items, nil
}

// Path joins the segments of a path and escapes each of them.
func Path(segments ...string) string {
	var out strings.Builder
	for _, one := range segments {
		out.WriteString("/" + url.PathEscape(one))
	}
	return out.String()
}

// Client returns the client, for what it does better than plain requests.
func (r *Remote) Client() *client.Client { return r.client }

// Failed returns the error of a request without its address, which may have secrets in its query.
func (r *Remote) Failed(ctx context.Context, err error) error {
	var answer *client.APIError
	if errors.As(err, &answer) {
		return answer
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var at *url.Error
	if errors.As(err, &at) { // its text repeats the address, with the query
		err = at.Err
	}
	return &Unreachable{r.Base.Host, err}
}

// logged logs requests. It logs no header and no body, because both have secrets.
type logged struct {
	next http.RoundTripper
	log  func(format string, args ...any)
}

// RoundTrip implements http.RoundTripper.
func (l *logged) RoundTrip(req *http.Request) (*http.Response, error) {
	begun := time.Now()
	next := l.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(req)
	if err != nil {
		l.log("%s %s: %v", req.Method, req.URL.RequestURI(), err)
		return nil, err
	}
	l.log("%s %s: %d in %s", req.Method, req.URL.RequestURI(), res.StatusCode, time.Since(begun).Round(time.Millisecond))
	return res, nil
}

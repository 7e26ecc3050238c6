package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// Raw is an answer that is not JSON: a file, an image, a page or a redirect. The caller must close it.
type Raw struct {
	io.ReadCloser
	Status int
	Header http.Header
}

// ContentType returns the type without parameters, such as text/csv.
func (r *Raw) ContentType() string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// Filename returns the name that the server gives the file, or "".
func (r *Raw) Filename() string {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

// Location returns where a redirect leads, or "".
func (r *Raw) Location() string { return r.Header.Get("Location") }

// Do calls an address of the API for which there is no method yet, such as "/api/urls". The body is sent as JSON if it is not nil, and
// the answer is decoded into result if that is not nil. Repetitions and errors are those of all methods.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, body, result any, opts ...RequestOption) error {
	// An endpoint that ignores the key could take effect twice, so only the caller can say that this one takes it.
	return c.decode(ctx, &call{method: method, path: path, query: query, body: body}, opts, result)
}

// DoRaw is Do for an answer that the caller reads as it comes.
func (c *Client) DoRaw(ctx context.Context, method, path string, query url.Values, body any, opts ...RequestOption) (*Raw, error) {
	return c.raw(ctx, &call{method: method, path: path, query: query, body: body}, opts)
}

// one returns an object, or nil if the answer is null.
func one[T any](ctx context.Context, c *Client, in *call, opts []RequestOption) (*T, error) {
	var out *T
	if err := c.decode(ctx, in, opts, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// rows returns a list that has no pages.
func rows[T any](ctx context.Context, c *Client, in *call, opts []RequestOption) ([]T, error) {
	var out []T
	err := c.decode(ctx, in, opts, &out)
	return out, err
}

// none reads an answer without a body.
func (c *Client) none(ctx context.Context, in *call, opts []RequestOption) error {
	err := c.decode(ctx, in, opts, nil)
	if in.method == http.MethodDelete && in.uncertain && HasStatus(err, http.StatusNotFound) {
		return nil // an earlier attempt has deleted it, and its answer was lost
	}
	return err
}

func (c *Client) decode(ctx context.Context, in *call, opts []RequestOption, out any) error {
	return c.send(ctx, in, opts, func(res *http.Response) error {
		if out == nil || res.StatusCode == http.StatusNoContent {
			return nil
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			return &lostError{fmt.Errorf("client: %s %s: the answer ended early: %w", in.method, in.path, err)}
		}
		if err := json.Unmarshal(text, out); err != nil {
			return fmt.Errorf("client: %s %s: the answer cannot be read: %w", in.method, in.path, err)
		}
		return nil
	})
}

// raw returns an answer whose body the caller reads.
func (c *Client) raw(ctx context.Context, in *call, opts []RequestOption) (*Raw, error) {
	in.stream = true
	if in.accept == "" {
		in.accept = "*/*"
	}
	var out *Raw
	err := c.send(ctx, in, opts, func(res *http.Response) error {
		out = &Raw{ReadCloser: res.Body, Status: res.StatusCode, Header: res.Header}
		return nil
	})
	return out, err
}

// send sends a call until it succeeds, cannot be repeated, or has failed too often.
func (c *Client) send(ctx context.Context, in *call, opts []RequestOption, read func(*http.Response) error) error {
	if in.accept == "" {
		in.accept = "application/json"
	}
	if err := c.prepare(in, opts); err != nil {
		return err
	}
	for attempts := 1; ; attempts++ {
		err := c.attempt(ctx, in, read, attempts)
		if err == nil || ctx.Err() != nil || !in.repeatable(err) {
			return err
		}
		var failed *APIError
		asked := time.Duration(0)
		if errors.As(err, &failed) {
			asked = failed.RetryAfter
		}
		wait, again := c.retry.wait(attempts, asked)
		if !again {
			return err
		}
		if cause := c.retry.sleep(ctx, wait); cause != nil {
			return fmt.Errorf("%w, after %w", cause, err)
		}
	}
}

// errTimeout ends an attempt that takes too long.
var errTimeout = errors.New("client: no answer in time")

// lostError is why an answer did not arrive. The request may have taken effect.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// attempt sends a request once and reads the answer.
func (c *Client) attempt(ctx context.Context, in *call, read func(*http.Response) error, number int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	keep := false
	defer func() {
		if !keep {
			cancel(nil)
		}
	}()
	if c.timeout > 0 {
		timer := time.AfterFunc(c.timeout, func() { cancel(errTimeout) })
		defer timer.Stop()
	}
	req, err := c.request(ctx, in)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		if context.Cause(ctx) == errTimeout {
			err = fmt.Errorf("%w: %w", errTimeout, err)
		}
		return &lostError{err}
	}
	if in.meta != nil {
		*in.meta = Meta{
			Status: res.StatusCode, ETag: res.Header.Get("ETag"), Header: res.Header, Attempts: number,
			Replayed: res.Header.Get("Idempotency-Replayed") == "true",
		}
	}
	switch {
	case res.StatusCode == http.StatusNotModified:
		err = ErrNotModified
	case res.StatusCode >= 400, res.StatusCode >= 300 && !in.stream:
		err = c.readError(res)
	case in.stream:
		keep = true
		res.Body = &cancelled{res.Body, cancel}
		return read(res)
	default:
		if err = read(res); err != nil && context.Cause(ctx) == errTimeout {
			err = fmt.Errorf("%w: %w", errTimeout, err)
		}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, longestError)) // a connection can be used again only if it was read
	_ = res.Body.Close()                                               // nothing is written
	return err
}

// cancelled ends the context of a request when its body is closed.
type cancelled struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close ends the request.
func (b *cancelled) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

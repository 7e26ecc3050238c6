// Package controlclient is the HTTP client of the control plane: a snapshot.Source, a snapshot.Reporter and a
// lockout.Exchange.
//
// It owns the HTTP protocol: the token, the limits of answers, and the detection of dead connections. Every call ends soon
// after its context, and by itself when no data arrives. A document whose transfer breaks is resumed at the same byte, if
// the control plane still has the same document. The token is sent only to the control plane's own address and appears in
// no error. Package agent decides when to retry and whether to accept a document.
package controlclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config holds the settings of a Client. URL and Token are required.
type Config struct {
	URL   string        // such as https://control.example.com; several are separated by commas, the preferred one first
	Token config.Secret // one of the control plane's tokens

	// TLS is used for https; nil means the system's authorities and no client certificate.
	TLS *tls.Config

	// Hold is the timeout of a held request; 0 means 40 s, because the control plane answers within 25 s.
	Hold time.Duration
	// Stall is the timeout between two reads of an answer; 0 means 15 s.
	Stall time.Duration

	Logger *slog.Logger // nil for slog.Default()
}

// Validate reports all problems in one error, which does not contain the token.
func (c Config) Validate() error {
	var problems []error
	list := addresses(c.URL)
	wrong := len(list) == 0
	for _, address := range list {
		u, err := url.Parse(address)
		wrong = wrong || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			u.RawQuery != "" ||
			u.Fragment != ""
	}
	if wrong {
		problems = append(problems,
			errors.New("CONTROL_URL: must be an absolute http or https URL without user, query and fragment, or several, separated by commas"))
	}
	if c.Token == "" || strings.ContainsAny(c.Token.Reveal(), " \t\r\n") {
		problems = append(problems, errors.New("EDGE_TOKEN: is required and must not contain spaces"))
	}
	if c.Hold < 0 || c.Stall < 0 {
		problems = append(problems, fmt.Errorf("controlclient: negative duration: hold %v, stall %v", c.Hold, c.Stall))
	}
	return errors.Join(problems...)
}

const (
	maxDelta    = 256 << 20 // far above the largest delta that a control plane sends
	maxComplain = 200       // bytes of an error message of the control plane
	resumes     = 5         // per document
	maxAnswer   = 64 << 10  // bytes of an answer to a report
)

// Client is safe for concurrent use.
type Client struct {
	cfg    Config
	planes []*plane // at least one, the preferred one first
	http   *http.Client
	probes *http.Client                  // has connections of its own: those of requests may all be in use
	ahead  atomic.Pointer[time.Duration] // nil before the first answer
}

var (
	_ snapshot.Source   = (*Client)(nil)
	_ snapshot.Reporter = (*Client)(nil)
	_ lockout.Exchange  = (*Client)(nil)
)

// New returns a Client. It does not connect yet. The error names all problems of the settings.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Hold = cmp.Or(cfg.Hold, 40*time.Second)
	cfg.Stall = cmp.Or(cfg.Stall, 15*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	// Keep-alives detect a dead peer within half a minute, also while a request is held.
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second,
		Interval: 5 * time.Second, Count: 3}}
	return &Client{
		cfg:    cfg,
		planes: newPlanes(cfg.URL),
		probes: &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: cfg.TLS,
				IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:                 http.ProxyFromEnvironment,
				DialContext:           dialer.DialContext,
				TLSClientConfig:       cfg.TLS,
				TLSHandshakeTimeout:   5 * time.Second,
				ResponseHeaderTimeout: cfg.Hold,
				IdleConnTimeout:       time.Minute,
				MaxIdleConnsPerHost:   4,
				MaxConnsPerHost:       8,
				DisableCompression:    true, // documents are compressed already
				ForceAttemptHTTP2:     true,
				HTTP2:                 &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.probes.CloseIdleConnections()
}

// call makes one request to the first usable control plane. The body of the response cancels the context of the request when it
// is closed or stalls. After a failure the caller calls again, and then reaches another control plane, if there is one.
func (c *Client) call(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	p, caller := c.order()[0], ctx
	ctx, stop := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(p.inUse(), func() { stop(errSilent) })
	cancel := func(cause error) { unwatch(); stop(cause) }
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.cfg.Token.Reveal())
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := c.http.Do(req)
	if caller.Err() == nil {
		p.failed(err != nil || res.StatusCode >= http.StatusInternalServerError)
	}
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	c.compareClocks(res)
	b := &watched{body: res.Body, ctx: ctx, cancel: cancel, stall: c.cfg.Stall}
	b.watchdog = time.AfterFunc(b.stall, func() { cancel(fmt.Errorf("no data for %v", b.stall)) })
	b.watchdog.Stop()
	res.Body = b
	return res, nil
}

// watched is a body whose Read fails if no data arrives for some time.
type watched struct {
	body     io.ReadCloser
	ctx      context.Context
	cancel   context.CancelCauseFunc
	watchdog *time.Timer
	stall    time.Duration
}

func (w *watched) Read(b []byte) (int, error) {
	// The time between two reads belongs to the caller, so the watchdog runs only during reads.
	w.watchdog.Reset(w.stall)
	n, err := w.body.Read(b)
	w.watchdog.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := context.Cause(w.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

func (w *watched) Close() error {
	w.watchdog.Stop()
	w.cancel(nil)
	return w.body.Close()
}

// refusal returns the error for an unexpected status, and closes the response.
func refusal(res *http.Response) error {
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxComplain)) // optional: the status is enough
	err := fmt.Errorf("control plane answers %s: %q", res.Status, strings.TrimSpace(string(text)))
	if after := res.Header.Get("Retry-After"); after != "" {
		err = fmt.Errorf("%w (retry after %.10s s)", err, after)
	}
	return err
}

// Changes implements snapshot.Source.
func (c *Client) Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	return c.await(ctx, "changes", after, http.StatusGone, snapshot.ErrTooOld)
}

// Hosts implements snapshot.HostSource.
func (c *Client) Hosts(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	return c.await(ctx, "hosts", after, http.StatusNotFound, snapshot.ErrNoHosts)
}

// await requests what is new after a cursor. The control plane holds the request; nil means that nothing is new. A response
// with the given status means the given error.
func (c *Client) await(ctx context.Context, path string, after snapshot.Cursor, status int, meaning error) ([]byte, error) {
	query := url.Values{
		"incarnation": {strconv.FormatUint(after.Incarnation, 10)},
		"after":       {strconv.FormatUint(after.Revision, 10)},
	}
	header := http.Header{}
	if edge := snapshot.Asker(ctx); edge != "" {
		header.Set(snapshot.AskerHeader, edge)
	}
	res, err := c.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, header)
	if err != nil {
		return nil, err
	}
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return nil, res.Body.Close()
	case status:
		res.Body.Close()
		return nil, meaning
	default:
		return nil, refusal(res)
	}
	defer res.Body.Close()
	wire, err := io.ReadAll(io.LimitReader(res.Body, maxDelta+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(wire) > maxDelta {
		return nil, fmt.Errorf("%s of more than %d bytes", path, maxDelta)
	}
	return wire, nil
}

// Report implements snapshot.Reporter.
func (c *Client) Report(ctx context.Context, s snapshot.Status) (answer snapshot.Answer, err error) {
	body, err := json.Marshal(s)
	if err != nil {
		return answer, err
	}
	res, err := c.call(ctx, http.MethodPost, "status", body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return answer, err
	}
	switch {
	case res.StatusCode == http.StatusConflict:
		return answer, fmt.Errorf("%w: %w", snapshot.ErrTwin, refusal(res))
	case res.StatusCode/100 != 2:
		return answer, refusal(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return answer, fmt.Errorf("read the answer to a report: %w", err)
	}
	if res.StatusCode != http.StatusOK || len(text) == 0 { // older control planes send no orders
		return answer, nil
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return snapshot.Answer{}, fmt.Errorf("read the answer to a report: %w", err)
	}
	return answer, nil
}

// Snapshot implements snapshot.Source.
func (c *Client) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	res, err := c.call(ctx, http.MethodGet, "snapshot", nil, nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, refusal(res)
	}
	return &document{client: c, ctx: ctx, body: res.Body, tag: res.Header.Get("ETag"), size: res.ContentLength, left: resumes}, nil
}

// document is a body that resumes after its connection broke.
type document struct {
	client *Client
	ctx    context.Context // of the call that opened it
	body   io.ReadCloser
	tag    string
	size   int64 // -1 if unknown
	at     int64
	left   int
}

func (d *document) Read(b []byte) (int, error) {
	n, err := d.body.Read(b)
	d.at += int64(n)
	if err == nil || errors.Is(err, io.EOF) && (d.size < 0 || d.at >= d.size) {
		return n, err
	}
	if d.ctx.Err() != nil {
		return n, context.Cause(d.ctx)
	}
	if again := d.resume(); again != nil {
		return n, fmt.Errorf("%w; resume at byte %d: %w", err, d.at, again)
	}
	return n, nil
}

// resume requests the rest of the same document.
func (d *document) resume() error {
	if d.tag == "" || d.size < 0 || d.left == 0 {
		return errors.New("not possible")
	}
	d.left--
	d.body.Close()
	res, err := d.client.call(d.ctx, http.MethodGet, "snapshot", nil, http.Header{"Range": {fmt.Sprintf("bytes=%d-", d.at)},
		"If-Range": {d.tag}})
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusPartialContent || res.Header.Get("ETag") != d.tag ||
		!strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.at)) {
		if res.StatusCode == http.StatusOK {
			res.Body.Close()
			return errors.New("the document has changed")
		}
		return refusal(res)
	}
	d.body = res.Body
	return nil
}

func (d *document) Close() error { return d.body.Close() }

package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Version is the version of this client, which the default User-Agent names.
const Version = "1.0.0"

// defaultTimeout is the time that one attempt may take until its answer begins, and until the whole answer is read if it is JSON.
const defaultTimeout = time.Minute

// Client calls the API of one Shortline. It is safe for concurrent use. New makes one.
type Client struct {
	Services

	base      *url.URL
	problem   error // of the address; every request returns it
	http      *http.Client
	header    http.Header // of every request
	workspace string
	retry     Retry
	timeout   time.Duration
}

// Option changes a new client.
type Option func(*Client)

// WithAPIKey sends an API key with each request.
func WithAPIKey(key string) Option { return WithHeader("X-API-Key", key) }

// WithToken sends the access token of a session, as [AccountService.Login] returns it.
func WithToken(token string) Option { return WithHeader("Authorization", "Bearer "+token) }

// WithWorkspace chooses the workspace, by its id or slug, in which requests work. An API key works in its own workspace only.
func WithWorkspace(workspace string) Option { return func(c *Client) { c.workspace = workspace } }

// WithUserAgent says which program sends the requests.
func WithUserAgent(name string) Option { return WithHeader("User-Agent", name) }

// WithHeader sends a header with each request.
func WithHeader(name, value string) Option {
	return func(c *Client) { c.header.Set(name, value) }
}

// WithHTTPClient sends requests with an HTTP client of your own, for example through a proxy or with other certificates. Its Timeout
// also ends streams, so leave it 0. The client follows no redirects, because a redirect can be the answer.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		own := *h
		c.http = &own
	}
}

// WithRetry says how often requests are repeated. Without it, DefaultRetry applies.
func WithRetry(r Retry) Option { return func(c *Client) { c.retry = r.complete() } }

// WithTimeout limits the time of each attempt; the default is one minute, and 0 means no limit. Streams and downloads are limited
// until their answer begins. To limit a call with its repetitions, use its context.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// New returns a client for the Shortline at an address such as https://links.example.com. It sends nothing. If the address is not
// valid, every request fails.
func New(address string, opts ...Option) *Client {
	c := &Client{
		http: &http.Client{}, header: http.Header{"User-Agent": {"shortline-go/" + Version}}, retry: DefaultRetry, timeout: defaultTimeout,
	}
	for _, opt := range opts {
		opt(c)
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.base, c.problem = parseAddress(address)
	c.Services = newServices(c)
	return c
}

// In returns a client that works in another workspace, given by its id or slug. It shares everything else.
func (c *Client) In(workspace string) *Client {
	other := *c
	other.workspace = workspace
	other.Services = newServices(&other)
	return &other
}

func parseAddress(address string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("client: the address of Shortline is not valid: %w", err)
	case base.Scheme != "http" && base.Scheme != "https", base.Host == "":
		return nil, fmt.Errorf("client: the address of Shortline must begin with http:// or https://, got %q", address)
	case base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("client: the address of Shortline must have no query and no fragment")
	}
	return base, nil
}

// Package outbound is the HTTP client for addresses that users have typed in: webhook targets and identity providers.
//
// It promises that no packet goes to an address that the policy forbids. The address is judged when a connection is
// about to be opened, after the name was resolved, so a name that resolves differently each time gains nothing; no
// proxy is asked, no redirect followed, no cookie kept, and what is read of an answer is bounded in bytes and time.
// CheckURL tells early, and in words for the person who typed it, that an address would be refused; it is a
// courtesy, the judgement at the connection is what protects.
//
// What it leaves to others: whether a caller may send anything at all, and what the answer means. What it can't know:
// that a public address belongs to the operator's own network and leads inside from there.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// Policy says where requests may go. The zero value allows public addresses by https.
type Policy struct {
	// AllowPrivate lifts the checks of address, scheme and port: for development.
	AllowPrivate bool
	// AllowCIDRs are networks that count as public although they are not, such as that of an in-house service.
	AllowCIDRs []netip.Prefix
	// Ports are those that may be connected to; none means 443 and all from 1024, so that the well-known services
	// of other protocols are out of reach.
	Ports []uint16
	// Timeout bounds a whole request, from looking up the name to the last byte of the answer; 0 means 30 s.
	Timeout time.Duration
	// MaxBody is how much of an answer's body can be read, in bytes; 0 means 64 KiB.
	MaxBody int64
	// TLS is the configuration to begin with (roots of an in-house authority); versions below 1.2 are off whatever it says.
	TLS *tls.Config
	// Resolver looks up names; nil means the system's.
	Resolver *net.Resolver
}

const (
	defaultTimeout = 30 * time.Second
	defaultBody    = 64 << 10
	maxHeader      = 16 << 10
)

// ErrTooLarge is what reading an answer's body returns beyond Policy.MaxBody.
var ErrTooLarge = errors.New("the answer is too large")

// Client sends requests under a policy. It is safe for concurrent use.
type Client struct {
	policy Policy
	http   *http.Client
}

// New makes a client.
func New(p Policy) *Client {
	if p.Timeout == 0 {
		p.Timeout = defaultTimeout
	}
	if p.MaxBody == 0 {
		p.MaxBody = defaultBody
	}
	if p.Resolver == nil {
		p.Resolver = net.DefaultResolver
	}
	conf := &tls.Config{}
	if p.TLS != nil {
		conf = p.TLS.Clone()
	}
	conf.MinVersion = max(conf.MinVersion, tls.VersionTLS12)
	if conf.ClientSessionCache == nil {
		conf.ClientSessionCache = tls.NewLRUClientSessionCache(256)
	}
	c := &Client{policy: p}
	dialer := &net.Dialer{Timeout: p.Timeout, Resolver: p.Resolver, ControlContext: c.judge}
	c.http = &http.Client{
		Timeout: p.Timeout,
		// The last answer is the answer.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: bounded{p.MaxBody, &http.Transport{
			Proxy:                  nil, // a proxy would connect for us, unjudged
			DialContext:            dialer.DialContext,
			TLSClientConfig:        conf,
			TLSHandshakeTimeout:    p.Timeout,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // a small answer must not become a large one
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    32, // many webhooks lead to one provider
			IdleConnTimeout:        30 * time.Second,
		}},
	}
	return c
}

// HTTP is the client in the form that libraries take. Its Transport, Timeout and CheckRedirect are the policy.
func (c *Client) HTTP() *http.Client { return c.http }

// Do sends a request; see http.Client.Do. The error wraps ErrForbidden where the policy forbids the address.
func (c *Client) Do(r *http.Request) (*http.Response, error) { return c.http.Do(r) }

// Close closes connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// judge sees the very address that a socket is about to connect to.
func (c *Client) judge(_ context.Context, network, address string, _ syscall.RawConn) error {
	if c.policy.AllowPrivate {
		return nil
	}
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s", ErrForbidden, network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	if !c.allows(to.Addr()) {
		return ErrForbidden
	}
	if !c.allowsPort(to.Port()) {
		return fmt.Errorf("%w: port %d", ErrForbidden, to.Port())
	}
	return nil
}

// allows judges an address; AllowPrivate is the caller's business.
func (c *Client) allows(addr netip.Addr) bool {
	return Public(addr) || addr.Zone() == "" && within(c.policy.AllowCIDRs, addr.Unmap())
}

func (c *Client) allowsPort(port uint16) bool {
	if len(c.policy.Ports) > 0 {
		return slices.Contains(c.policy.Ports, port)
	}
	return port == 443 || port >= 1024
}

// bounded limits the bodies of another transport's answers.
type bounded struct {
	limit int64
	next  *http.Transport
}

// RoundTrip asks for an answer as it is, and bounds it.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Accept-Encoding") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "identity")
	}
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = &boundedBody{res.Body, b.limit}
	}
	return res, err
}

// CloseIdleConnections lets http.Client pass the call on.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read returns ErrTooLarge once the limit is used up and there is more.
func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if b.left == 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Package outbound is the HTTP client for URLs that users enter: webhook targets and identity providers.
//
// It sends no packet to an address that the policy forbids. It checks the address when it opens a connection, after DNS
// resolution, so DNS rebinding does not help an attacker. It uses no proxy, follows no redirect, keeps no cookie, and
// limits the size and duration of responses. CheckURL reports early, with a message for the user, that a URL would be
// refused. Only the check at the connection is a protection.
//
// It does not decide whether a caller may send requests, nor interpret responses. It cannot detect a public address
// that leads into the operator's own network.
package outbound

import (
	"cmp"
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

// Policy restricts the targets of requests. The zero value allows https to public addresses.
type Policy struct {
	// AllowPrivate turns off the checks of address, scheme and port, for development.
	AllowPrivate bool
	// AllowCIDRs are networks that are treated as public, such as that of an internal service.
	AllowCIDRs []netip.Prefix
	// Ports are the allowed ports. Empty means 443 and all ports from 1024, which excludes well-known services of other
	// protocols.
	Ports []uint16
	// Timeout is the limit of a whole request, from the DNS lookup to the end of the response; 0 means 30 s.
	Timeout time.Duration
	// MaxBody is the maximum size of a response body, in bytes; 0 means 64 KiB.
	MaxBody int64
	// TLS is the base configuration, for instance with the roots of a private CA. Versions below 1.2 are always off.
	TLS *tls.Config
	// Resolver resolves names; nil means the system's.
	Resolver *net.Resolver
}

const (
	defaultTimeout = 30 * time.Second
	defaultBody    = 64 << 10
	maxHeader      = 16 << 10
)

// ErrTooLarge is the error of reading a response body beyond Policy.MaxBody.
var ErrTooLarge = errors.New("the response is too large")

// Client sends requests under a policy. It is safe for concurrent use.
type Client struct {
	policy Policy
	http   *http.Client
}

// New returns a client.
func New(p Policy) *Client {
	p.Timeout = cmp.Or(p.Timeout, defaultTimeout)
	p.MaxBody = cmp.Or(p.MaxBody, defaultBody)
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
		// Follow no redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: bounded{p.MaxBody, &http.Transport{
			Proxy:                  nil, // a proxy would connect without the check
			DialContext:            dialer.DialContext,
			TLSClientConfig:        conf,
			TLSHandshakeTimeout:    p.Timeout,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // a small response must not expand to a large one
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    32, // many webhooks have the same host
			IdleConnTimeout:        30 * time.Second,
		}},
	}
	return c
}

// HTTP returns the http.Client, for libraries. Its Transport, Timeout and CheckRedirect implement the policy.
func (c *Client) HTTP() *http.Client { return c.http }

// Do sends a request; see http.Client.Do. The error wraps ErrForbidden if the policy forbids the address.
func (c *Client) Do(r *http.Request) (*http.Response, error) { return c.http.Do(r) }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// judge checks the address to which a socket is about to connect.
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

// allows reports whether the policy allows an address. It ignores AllowPrivate.
func (c *Client) allows(addr netip.Addr) bool {
	return Public(addr) || addr.Zone() == "" && within(c.policy.AllowCIDRs, addr.Unmap())
}

func (c *Client) allowsPort(port uint16) bool {
	if len(c.policy.Ports) > 0 {
		return slices.Contains(c.policy.Ports, port)
	}
	return port == 443 || port >= 1024
}

// bounded limits the response bodies of another transport.
type bounded struct {
	limit int64
	next  *http.Transport
}

// RoundTrip implements http.RoundTripper.
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

// CloseIdleConnections is called by http.Client.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read returns ErrTooLarge if the body is longer than the limit.
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

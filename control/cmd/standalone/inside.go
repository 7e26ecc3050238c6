package main

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// inside is an in-memory listener through which the edge dials the API. Its connections are from net.Pipe, whose deadlines
// behave as net/http expects: it sets a deadline in the past to wake a reader, and removes it again.
type inside struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newInside() *inside {
	return &inside{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// insideAddr is the peer address that the API sees. It must be a trusted proxy, so that the API uses the visitor's address.
var insideAddr = netip.MustParseAddrPort("127.0.0.1:1")

// Dial returns a connection to the accepting side.
func (l *inside) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- addressed{far}:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *inside) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *inside) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *inside) Addr() net.Addr { return net.TCPAddrFromAddrPort(insideAddr) }

// addressed is the end of a pipe with an address that can be parsed.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(insideAddr) }

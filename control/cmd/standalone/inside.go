package main

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// inside is a listener without a network: the edge dials the API through it. Its connections are net.Pipe's, whose
// deadlines behave as net/http needs them (it sets one in the past to wake a reader, and takes it back).
type inside struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newInside() *inside {
	return &inside{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// insideAddr is the peer that the API sees. It must be trusted to say for whom it asks.
var insideAddr = netip.MustParseAddrPort("127.0.0.1:1")

// Dial connects to whoever accepts.
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

// addressed gives a pipe's end an address that can be parsed.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(insideAddr) }

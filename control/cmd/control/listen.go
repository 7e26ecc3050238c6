package main

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/shared/peertls"
	"github.com/shortline/shortline/shared/visitor"
)

// listen opens LISTEN_ADDR and, if set, EDGE_LISTEN_ADDR. One listener returns the connections of both, so that they share
// the limits of one server.
func (s *settings) listen(log *slog.Logger) (net.Listener, error) {
	plain, err := net.Listen("tcp", s.ListenAddr)
	if err != nil || s.Edges.Addr == "" {
		return plain, err
	}
	peer, err := peertls.Open(s.Edges.files(), log)
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	edges, err := net.Listen("tcp", s.Edges.Addr)
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	log.Info("edge port opened", "address", edges.Addr().String(), "plain_allowed", s.Edges.Plain)
	return join(plain, tls.NewListener(edges, peer.Server())), nil
}

// guard applies EDGE_PLAIN=false: on LISTEN_ADDR it refuses the paths of the edge API, and removes the header by which an
// edge vouches for a visitor's address. The connection's local address tells the ports apart.
func (e edgePort) guard(ln net.Listener, next http.Handler) http.Handler {
	if e.Plain {
		return next
	}
	plain := portOf(ln.Addr())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if p := portOf(local); p == 0 || p == plain {
			r.Header.Del(visitor.EdgeTokenHeader)
			if strings.HasPrefix(r.URL.Path, edgeapi.Prefix) {
				http.Error(w, "edges connect to EDGE_LISTEN_ADDR, with a certificate", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// portOf returns the port of a TCP address, and 0 for others.
func portOf(a net.Addr) int {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// joined accepts from several listeners. Its address is that of the first one.
type joined struct {
	all    []net.Listener
	conns  chan accepted
	closed chan struct{}
	once   sync.Once
	err    error
}

type accepted struct {
	conn net.Conn
	err  error
}

func join(all ...net.Listener) *joined {
	j := &joined{all: all, conns: make(chan accepted), closed: make(chan struct{})}
	for _, ln := range all {
		go func() {
			for {
				conn, err := ln.Accept()
				select {
				case j.conns <- accepted{conn, err}:
				case <-j.closed:
					if conn != nil {
						_ = conn.Close() // nobody will serve it
					}
					return
				}
			}
		}()
	}
	return j
}

// Accept implements net.Listener.
func (j *joined) Accept() (net.Conn, error) {
	select {
	case a := <-j.conns:
		return a.conn, a.err
	case <-j.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (j *joined) Close() error {
	j.once.Do(func() {
		close(j.closed)
		for _, ln := range j.all {
			j.err = errors.Join(j.err, ln.Close())
		}
	})
	return j.err
}

// Addr implements net.Listener.
func (j *joined) Addr() net.Addr { return j.all[0].Addr() }

package e2e_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// name simulates a DNS name with several addresses. Connections go to the addresses in turn and skip those that refuse.
type name struct {
	listener net.Listener
	turn     atomic.Uint64

	mu      sync.Mutex
	targets []string
}

func newName(t *testing.T) *name {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	n := &name{listener: l}
	go n.serve()
	return n
}

// URL returns the base URL for clients.
func (n *name) URL() string { return "http://" + n.listener.Addr().String() }

// Is sets the addresses of the name.
func (n *name) Is(targets ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.targets = targets
}

func (n *name) serve() {
	for {
		conn, err := n.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go n.join(conn)
		}
	}
}

func (n *name) join(from net.Conn) {
	defer from.Close()
	n.mu.Lock()
	targets := n.targets
	n.mu.Unlock()
	first := n.turn.Add(1)
	for i := range targets {
		to, err := net.DialTimeout("tcp", targets[(int(first)+i)%len(targets)], time.Second)
		if err != nil {
			continue
		}
		defer to.Close()
		ended := make(chan struct{}, 2)
		for _, way := range [][2]net.Conn{{to, from}, {from, to}} {
			go func() {
				_, _ = io.Copy(way[0], way[1]) // when one direction ends, both connections are closed
				ended <- struct{}{}
			}()
		}
		<-ended
		return
	}
}

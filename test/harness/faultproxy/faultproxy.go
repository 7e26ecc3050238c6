// Package faultproxy is a TCP proxy that simulates network faults: latency, limited bandwidth, dropped data, resets and
// corrupted bytes.
//
// A fault applies to existing connections as well as to new ones. The proxy counts its interventions, so a test can check
// that its fault had an effect. It does not interpret the protocol.
package faultproxy

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Fault describes the faults of a proxy. The zero value has none.
type Fault struct {
	// Latency delays each piece of data, in each direction.
	Latency time.Duration
	// Rate is the limit in bytes per second for each direction of each connection; 0 is unlimited.
	Rate int
	// Hole drops all data in both directions and keeps connections open.
	Hole bool
	// Refuse resets existing and new connections.
	Refuse bool
	// LoseReply is the probability that a piece of data from the server is dropped and the connection reset. The client
	// then does not know the outcome.
	LoseReply float64
	// CutAfter resets a connection after this many bytes from the server; 0 means never.
	CutAfter int64
	// Flip is the number of bytes in a million from the server that get a flipped bit.
	Flip float64
}

// Stats counts since the start.
type Stats struct {
	Connections int64 // accepted connections
	LostReplies int64
	Cuts        int64 // reset connections, including those of lost replies
	Flips       int64
}

// Proxy is a listener with its connections. Its methods are safe for concurrent use.
type Proxy struct {
	targets  []string
	turn     atomic.Uint64
	listener net.Listener
	fault    atomic.Pointer[Fault]

	mu      sync.Mutex
	live    map[*pair]struct{}
	closed  bool
	working sync.WaitGroup

	connections, lost, cuts, flips atomic.Int64
}

type pair struct{ client, server net.Conn }

func (p *pair) reset() {
	for _, c := range []net.Conn{p.client, p.server} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // the close below then sends a reset; on failure it sends a FIN instead
		}
		c.Close()
	}
}

// Listen starts a proxy from listen (port 0 picks any) to targets, all host:port. Connections go to the targets in turn, and skip
// those that refuse. Targets may start later.
func Listen(listen string, targets ...string) (*Proxy, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("fault proxy to %v: %w", targets, err)
	}
	p := &Proxy{targets: targets, listener: l, live: map[*pair]struct{}{}}
	p.fault.Store(&Fault{})
	p.working.Go(p.accept)
	return p, nil
}

// Addr returns the address of the listener.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set replaces the fault.
func (p *Proxy) Set(f Fault) {
	p.fault.Store(&f)
	if f.Refuse {
		p.Cut()
	}
}

// Fault returns the current fault.
func (p *Proxy) Fault() Fault { return *p.fault.Load() }

// Cut resets every connection once and returns their number.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.live {
		c.reset()
	}
	p.cuts.Add(int64(len(p.live)))
	return len(p.live)
}

// Stats returns the counts.
func (p *Proxy) Stats() Stats {
	return Stats{Connections: p.connections.Load(), LostReplies: p.lost.Load(), Cuts: p.cuts.Load(), Flips: p.flips.Load()}
}

// Close closes the listener and all connections and waits for their goroutines.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.live {
		c.reset()
	}
	p.mu.Unlock()
	p.working.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			wait(10 * time.Millisecond) // usually the process is out of file descriptors
			continue
		}
		p.connections.Add(1)
		p.working.Go(func() { p.serve(c) })
	}
}

func (p *Proxy) dial() (c net.Conn, err error) {
	first := int(p.turn.Add(1))
	for i := range p.targets {
		if c, err = net.DialTimeout("tcp", p.targets[(first+i)%len(p.targets)], time.Minute); err == nil {
			break
		}
	}
	return c, err
}

func (p *Proxy) serve(client net.Conn) {
	server, err := p.dial()
	if err != nil || p.fault.Load().Refuse {
		if err == nil {
			server.Close()
		}
		(&pair{client, client}).reset()
		return
	}
	c := &pair{client, server}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		c.reset()
		return
	}
	p.live[c] = struct{}{}
	p.mu.Unlock()
	var ways sync.WaitGroup
	ways.Go(func() { p.pass(c, client, server, false) })
	ways.Go(func() { p.pass(c, server, client, true) })
	ways.Wait()
	p.mu.Lock()
	delete(p.live, c)
	p.mu.Unlock()
	client.Close()
	server.Close()
}

// pass copies one direction until it ends. It forwards a clean end (FIN), so the other direction can continue.
func (p *Proxy) pass(c *pair, from, to net.Conn, reply bool) {
	buf := make([]byte, 32<<10)
	var passed int64
	for {
		n, err := from.Read(buf)
		if n > 0 {
			f := p.fault.Load()
			if f.Latency > 0 {
				wait(f.Latency)
			}
			switch {
			case f.Hole:
				continue
			case reply && f.LoseReply > 0 && rand.Float64() < f.LoseReply:
				p.lost.Add(1)
				p.cuts.Add(1)
				c.reset()
				return
			case reply && f.CutAfter > 0 && passed+int64(n) > f.CutAfter:
				_, _ = to.Write(buf[:max(0, f.CutAfter-passed)]) // the connection is reset in any case
				p.cuts.Add(1)
				c.reset()
				return
			}
			if reply && f.Flip > 0 {
				p.flip(buf[:n], f.Flip/1e6)
			}
			if _, err := write(to, buf[:n], f.Rate); err != nil {
				c.reset()
				return
			}
			passed += int64(n)
		}
		if err != nil {
			if tcp, ok := to.(*net.TCPConn); ok && errors.Is(err, io.EOF) {
				_ = tcp.CloseWrite() // the peer may be gone already
				return
			}
			c.reset()
			return
		}
	}
}

func (p *Proxy) flip(b []byte, chance float64) {
	for i := range b {
		if rand.Float64() < chance {
			b[i] ^= 1 << rand.IntN(8)
			p.flips.Add(1)
		}
	}
}

// write sends b. With a rate it sends pieces of a twentieth of a second each.
func write(to net.Conn, b []byte, rate int) (int, error) {
	if rate <= 0 {
		return to.Write(b)
	}
	sent := 0
	for sent < len(b) {
		n, err := to.Write(b[sent:min(len(b), sent+max(1, rate/20))])
		if sent += n; err != nil {
			return sent, err
		}
		wait(time.Duration(n) * time.Second / time.Duration(rate))
	}
	return sent, nil
}

// wait is the latency of a network, and the time that it needs for data.
func wait(d time.Duration) { time.Sleep(d) }

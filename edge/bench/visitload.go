//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// visitHost is the name in the certificate of all servers of the visits over TLS.
const visitHost = "go.acme.example"

// visit says how visitors connect. Each makes one request on a connection.
type visit struct {
	Plain   bool // without TLS, which makes Resume and Hybrid meaningless
	Closes  bool // plain visits ask the server to close the connection; otherwise the visitor closes it after the answer
	Clients int  // plain visitors at a time
	Resume  bool // every handshake must be resumed; otherwise every handshake must be full
	Hybrid  bool // offer only the post-quantum key exchange X25519MLKEM768; otherwise only X25519
}

// visitRequest writes one of the requests to buf, with the slug of the returned number.
func (o *order) visitRequest(buf []byte, templates []request, random *rand.Rand) (out []byte, number uint32) {
	t := &templates[random.IntN(len(templates))]
	out = append(buf[:0], t.bytes...)
	if !o.Constant {
		number = random.Uint32N(uint32(o.Links))
	}
	appendSlug(out[t.slug:t.slug], classPlain, number)
	return out, number
}

// visitGenerator makes visits over TLS.
type visitGenerator struct {
	clients   []visitClient
	templates []request
}

func newVisitGenerator() *visitGenerator {
	g := &visitGenerator{clients: make([]visitClient, 16), templates: requests(defaultAgents, visitHost)}
	for i := range g.clients {
		g.clients[i] = visitClient{random: rand.New(rand.NewPCG(uint64(i), 3)), sessions: map[string]tls.ClientSessionCache{}}
	}
	return g
}

// visitClient makes one visit after the other.
type visitClient struct {
	random   *rand.Rand
	sessions map[string]tls.ClientSessionCache // by server
	in       *bufio.Reader
}

// run makes visits until the order's time is over. The error is that of one visit that went wrong.
func (g *visitGenerator) run(o order) (out outcome, err error) {
	out.Took = new(histogram)
	var mu sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	end := began.Add(o.For)
	for i := range g.clients {
		all.Go(func() {
			took := new(histogram)
			n, primed, failed := g.clients[i].visits(o, g.templates, end, took)
			mu.Lock()
			defer mu.Unlock()
			out.Requests += n
			out.Redirects += n + primed
			out.Took.merge(took)
			if err == nil {
				err = failed
			}
		})
	}
	all.Wait()
	out.Seconds = time.Since(began).Seconds()
	return out, err
}

// visits makes visits until end and returns the number of those that took counts, and of those before. It stops at the first
// one that goes wrong.
func (c *visitClient) visits(o order, templates []request, end time.Time, took *histogram) (n, primed int, err error) {
	group := tls.X25519
	if o.Visit.Hybrid {
		group = tls.X25519MLKEM768
	}
	cfg := &tls.Config{
		ServerName: visitHost, MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{group}, NextProtos: []string{"http/1.1"},
		// The chain is made for this run. A generator that verified it would need more processor time than the servers.
		InsecureSkipVerify: true, ClientSessionCache: c.sessions[o.Addr],
	}
	if o.Visit.Resume && cfg.ClientSessionCache == nil {
		cfg.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		if err := c.visit(o, templates, cfg, false); err != nil {
			return 0, 0, err
		}
		c.sessions[o.Addr], primed = cfg.ClientSessionCache, 1
	}
	for began := time.Now(); began.Before(end); {
		if !o.Visit.Resume { // browsers ask for tickets on connections that they do not resume, too
			cfg.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		}
		if err := c.visit(o, templates, cfg, o.Visit.Resume); err != nil {
			return n, primed, err
		}
		now := time.Now()
		took.add(now.Sub(began))
		began = now
		n++
	}
	return n, primed, nil
}

// visit opens a connection, requests a link as a browser does, verifies the answer, and closes the connection.
func (c *visitClient) visit(o order, templates []request, cfg *tls.Config, resumed bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// Many source addresses, because ports of closed connections stay reserved for a while, and because a server may
	// bound the handshakes of one client.
	source := net.IPv4(127, byte(1+c.random.IntN(250)), byte(c.random.IntN(256)), byte(1+c.random.IntN(254)))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: source}, KeepAliveConfig: net.KeepAliveConfig{Enable: false}, KeepAlive: -1}
	raw, err := dialer.DialContext(ctx, "tcp4", o.Addr)
	if err != nil {
		return err
	}
	conn := tls.Client(raw, cfg)
	defer func() { _ = conn.Close() }()
	if err := conn.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	switch state := conn.ConnectionState(); {
	case state.DidResume != resumed:
		return fmt.Errorf("a handshake was resumed: %t instead of %t", state.DidResume, resumed)
	case state.Version != tls.VersionTLS13 || state.NegotiatedProtocol != "http/1.1":
		return fmt.Errorf("the handshake led to %s and %q", tls.VersionName(state.Version), state.NegotiatedProtocol)
	}
	out, number := o.visitRequest(nil, templates, c.random)
	if _, err := conn.Write(out); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if c.in == nil {
		c.in = bufio.NewReader(nil)
	}
	c.in.Reset(conn)
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if got := answer.Header.Get("Location"); answer.StatusCode != http.StatusFound || got != destination(number) {
		return fmt.Errorf("wrong answer: %s to %q", answer.Status, got)
	}
	if answer.ContentLength > 0 {
		if _, err := c.in.Discard(int(answer.ContentLength)); err != nil {
			return fmt.Errorf("body of the answer: %w", err)
		}
	}
	return nil
}

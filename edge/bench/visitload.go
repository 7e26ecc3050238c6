//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// visitHost is the name in the certificate of all servers of the visits over TLS.
const visitHost = "go.acme.example"

// visitOrder describes one run of the load generator for visits: new connections with one request each.
type visitOrder struct {
	Addr    string
	Plain   bool // without TLS, which makes Resume and Hybrid meaningless
	Closes  bool // plain visits ask the server to close the connection; otherwise the visitor closes it after the answer
	Clients int  // plain visitors at a time
	Resume  bool // every handshake must be resumed; otherwise every handshake must be full
	Hybrid  bool // offer only the post-quantum key exchange X25519MLKEM768; otherwise only X25519
	Links   int  // slugs to draw from; 0: the server has one destination for all slugs
	For     time.Duration
}

// visitOutcome is the result of a run. Failure names the first visit that went wrong.
type visitOutcome struct {
	Visits  int
	Primed  int // visits before the measured ones, for a ticket to resume
	Seconds float64
	CPU     time.Duration // processor time of the generator itself
	Took    *histogram    // from the connect call to the complete answer
	Failure string        `json:",omitempty"`
}

// generateVisits is the process of this load generator. It makes one run for each order on its input.
func generateVisits(s *settings) error {
	g := visitGenerator{clients: make([]visitClient, s.conns), templates: requests(defaultAgents, visitHost)}
	for i := range g.clients {
		g.clients[i] = visitClient{random: rand.New(rand.NewPCG(uint64(i), 3)), sessions: map[string]*sessions{}}
	}
	plain := newPlainGenerator()
	return converse(map[string]string{}, func(line string) string {
		var o visitOrder
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			return err.Error()
		}
		if o.Plain {
			return asJSON(plain.run(o))
		}
		return asJSON(g.run(o))
	})
}

type visitGenerator struct {
	clients   []visitClient
	templates []request
}

// visitClient makes one visit after the other.
type visitClient struct {
	random   *rand.Rand
	sessions map[string]*sessions // by server
	in       *bufio.Reader
}

// sessions is a cache for one ticket. Browsers, too, ask for tickets on connections that they do not resume, so a run of full
// handshakes has a cache that stores nothing instead of none.
type sessions struct {
	last *tls.ClientSessionState
	keep bool
}

func (s *sessions) Get(string) (*tls.ClientSessionState, bool) { return s.last, s.last != nil }

func (s *sessions) Put(_ string, state *tls.ClientSessionState) {
	if s.keep {
		s.last = state
	}
}

func (g *visitGenerator) run(o visitOrder) visitOutcome {
	out := visitOutcome{Took: new(histogram)}
	var mu sync.Mutex
	var all sync.WaitGroup
	before, began := ownTime(), time.Now()
	end := began.Add(o.For)
	for i := range g.clients {
		all.Go(func() {
			took := new(histogram)
			n, primed, err := g.clients[i].visits(o, g.templates, end, took)
			mu.Lock()
			defer mu.Unlock()
			out.Visits += n
			out.Primed += primed
			out.Took.merge(took)
			if err != nil && out.Failure == "" {
				out.Failure = err.Error()
			}
		})
	}
	all.Wait()
	out.Seconds, out.CPU = time.Since(began).Seconds(), ownTime()-before
	return out
}

// visits makes visits until end and returns the number of those that took counts, and of those before. It stops at the first
// one that goes wrong.
func (c *visitClient) visits(o visitOrder, templates []request, end time.Time, took *histogram) (n, primed int, err error) {
	key := fmt.Sprint(o.Addr, o.Hybrid)
	cache := &sessions{}
	if o.Resume {
		if c.sessions[key] == nil {
			c.sessions[key] = &sessions{keep: true}
		}
		cache = c.sessions[key]
	}
	group := tls.X25519
	if o.Hybrid {
		group = tls.X25519MLKEM768
	}
	cfg := &tls.Config{
		ServerName: visitHost, MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{group}, NextProtos: []string{"http/1.1"},
		// The chain is made for this run. A generator that verified it would need more processor time than the servers.
		InsecureSkipVerify: true, ClientSessionCache: cache,
	}
	if o.Resume && cache.last == nil {
		if err := c.visit(o, templates, cfg, false); err != nil {
			return 0, 0, err
		}
		primed = 1
	}
	for began := time.Now(); began.Before(end); {
		if err := c.visit(o, templates, cfg, o.Resume); err != nil {
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
func (c *visitClient) visit(o visitOrder, templates []request, cfg *tls.Config, resumed bool) error {
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
	t := &templates[c.random.IntN(len(templates))]
	out := bytes.Clone(t.bytes)
	number := uint32(0)
	if o.Links > 0 {
		number = c.random.Uint32N(uint32(o.Links))
	}
	appendSlug(out[t.slug:t.slug], classPlain, number)
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

// Package dnstest runs a DNS server for tests: a recursive resolver whose answers a test sets.
package dnstest

import (
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Server is a DNS server on loopback, at one port of UDP and TCP. Its methods may be called from any goroutine.
type Server struct {
	// Addr is the address, as host:port.
	Addr string

	questions atomic.Int64
	parts     []*dns.Server

	mu      sync.Mutex
	records map[string][]dns.RR // by lower-case name with a trailing dot
	code    int                 // of every answer, unless it is 0
}

// New starts a server without records. It stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start()
	testkit.Must(t, err)
	t.Cleanup(s.Stop)
	return s
}

// Start starts a server without records. The caller stops it.
func Start() (*Server, error) {
	s := &Server{records: map[string][]dns.RR{}}
	udp, tcp, err := listen()
	if err != nil {
		return nil, err
	}
	s.Addr = udp.LocalAddr().String()
	s.parts = []*dns.Server{{PacketConn: udp, Handler: dns.HandlerFunc(s.answer)}, {Listener: tcp, Handler: dns.HandlerFunc(s.answer)}}
	for _, d := range s.parts {
		started := make(chan struct{})
		d.NotifyStartedFunc = func() { close(started) }
		go func() { _ = d.ActivateAndServe() }()
		<-started
	}
	return s, nil
}

// Stop ends the server.
func (s *Server) Stop() {
	for _, d := range s.parts {
		_ = d.Shutdown()
	}
}

// listen opens one port of loopback for UDP and TCP.
func listen() (net.PacketConn, net.Listener, error) {
	for range 20 {
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		if tcp, err := net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			return udp, tcp, nil
		}
		udp.Close() // something else has the port for TCP
	}
	return nil, nil, errors.New("no port is free for both UDP and TCP")
}

// Set replaces all records of a name by those in the text form of zone files without name and time to live, such as
// `TXT "value"` or `A 203.0.113.1`. Without records the name does not exist.
func (s *Server) Set(t testing.TB, name string, records ...string) {
	t.Helper()
	testkit.Must(t, s.Put(name, records...))
}

// Put is Set without a test.
func (s *Server) Put(name string, records ...string) error {
	name = dns.Fqdn(strings.ToLower(name))
	var list []dns.RR
	for _, text := range records {
		rr, err := dns.NewRR(name + " 60 IN " + text)
		if err != nil {
			return err
		}
		list = append(list, rr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[name] = list
	return nil
}

// Fail makes the server answer everything with a code such as dns.RcodeServerFailure. 0 ends that.
func (s *Server) Fail(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = code
}

// Questions returns the number of questions so far.
func (s *Server) Questions() int64 { return s.questions.Load() }

// answer answers one question. It follows CNAME records, as a resolver does.
func (s *Server) answer(w dns.ResponseWriter, q *dns.Msg) {
	s.questions.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	m := new(dns.Msg).SetReply(q)
	m.RecursionAvailable = true
	if m.Rcode = s.code; s.code == 0 {
		name := strings.ToLower(q.Question[0].Name)
		for range 16 {
			records := s.records[name]
			if len(records) == 0 && len(m.Answer) == 0 {
				m.Rcode = dns.RcodeNameError
			}
			next := ""
			for _, rr := range records {
				if kind := rr.Header().Rrtype; kind == q.Question[0].Qtype {
					m.Answer = append(m.Answer, rr)
				} else if alias, ok := rr.(*dns.CNAME); ok {
					m.Answer, next = append(m.Answer, rr), alias.Target
				}
			}
			if next == "" {
				break
			}
			name = strings.ToLower(next)
		}
	}
	_ = w.WriteMsg(m) // the client may have gone
}

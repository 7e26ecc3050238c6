package dnscheck

import (
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// server is a DNS server on loopback with UDP and TCP at one port.
type server struct {
	address   string
	questions atomic.Int64
	now, most atomic.Int64 // questions under way, and the maximum of that
}

// answering is what a server does with a query. nil sends nothing.
type answering func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg

// listen opens one port of loopback for UDP and TCP.
func listen(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		testkit.Must(t, err)
		if tcp, err := net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			return udp, tcp
		}
		udp.Close() // another test has the port for TCP
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

func serve(t *testing.T, do answering) *server {
	t.Helper()
	s := &server{}
	udp, tcp := listen(t)
	s.address = udp.LocalAddr().String()
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		s.questions.Add(1)
		for n := s.now.Add(1); ; {
			if was := s.most.Load(); n <= was || s.most.CompareAndSwap(was, n) {
				break
			}
		}
		m := do(w, q)
		s.now.Add(-1)
		if m != nil {
			if err := w.WriteMsg(m); err != nil && !strings.Contains(err.Error(), "closed") {
				t.Logf("server: %v", err)
			}
		}
	})
	for _, d := range []*dns.Server{{PacketConn: udp, Handler: handler}, {Listener: tcp, Handler: handler}} {
		started := make(chan struct{})
		d.NotifyStartedFunc = func() { close(started) }
		go d.ActivateAndServe()
		<-started
		t.Cleanup(func() { d.Shutdown() })
	}
	return s
}

// zone is a set of records in presentation form. Its server is a recursive resolver: the answer has the CNAME records on
// the way.
type zone []string

func (z zone) records(t *testing.T) (list []dns.RR) {
	t.Helper()
	for _, s := range z {
		rr, err := dns.NewRR(s)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		list = append(list, rr)
	}
	return list
}

// resolver answers from a zone. A name *.x matches every name below x that has no records itself.
func (z zone) resolver(t *testing.T) answering {
	all := z.records(t)
	at := func(name string) (list []dns.RR) {
		for _, rr := range all {
			if dns.CanonicalName(rr.Header().Name) == name {
				list = append(list, rr)
			}
		}
		if list != nil {
			return list
		}
		for _, rr := range all {
			if rest, ok := strings.CutPrefix(rr.Header().Name, "*."); ok && strings.HasSuffix(name, "."+rest) {
				rr = dns.Copy(rr)
				rr.Header().Name = name
				list = append(list, rr)
			}
		}
		return list
	}
	return func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable, m.Compress = true, true
		name, kind := dns.CanonicalName(q.Question[0].Name), q.Question[0].Qtype
		for range 30 {
			here := at(name)
			if here == nil {
				m.Rcode = dns.RcodeNameError
			}
			next := ""
			for _, rr := range here {
				if c, ok := rr.(*dns.CNAME); ok && kind != dns.TypeCNAME {
					next = dns.CanonicalName(c.Target)
					m.Answer = append(m.Answer, rr)
				} else if rr.Header().Rrtype == kind {
					m.Answer = append(m.Answer, rr)
				}
			}
			if next == "" || slices.ContainsFunc(m.Answer, func(rr dns.RR) bool { return rr.Header().Name == next }) {
				break
			}
			name = next
		}
		if w.LocalAddr().Network() == "udp" {
			size := dns.MinMsgSize
			if opt := q.IsEdns0(); opt != nil {
				size = int(opt.UDPSize())
			}
			m.Truncate(size)
		}
		return m.Copy() // packing writes into records, which other answers share
	}
}

// pause is how long a resolver takes.
func pause(d time.Duration) { time.Sleep(d) }

// checker returns a Checker that asks the given resolvers. The test fails if the Checker connects to another address.
func checker(t *testing.T, timeout time.Duration, resolvers ...string) *Checker {
	t.Helper()
	c, err := New(Config{Resolvers: resolvers, Timeout: timeout})
	testkit.Must(t, err)
	if timeout == testkit.Patience {
		c.timeout = timeout // New would cut it
	}
	var mu sync.Mutex
	other := map[string]bool{}
	c.dialer.Control = func(_, address string, _ syscall.RawConn) error {
		if !slices.Contains(resolvers, address) {
			mu.Lock()
			other[address] = true
			mu.Unlock()
		}
		return nil
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if len(other) > 0 {
			t.Errorf("connections to other addresses than the resolvers': %v", other)
		}
	})
	return c
}

const (
	host  = "go.acme.com"
	value = "shortline-verification=k3J9xQ2m"
)

var edge = Targets{Hostname: "edge.sho.rt"}

// check checks host.
func check(t *testing.T, c *Checker, targets Targets) Result {
	t.Helper()
	defer testkit.Within(t, c.timeout+500*time.Millisecond, time.Now(), "a check")
	r := c.Check(t.Context(), host, value, targets)
	for _, f := range []Finding{r.TXT, r.Host} {
		if (f.Message == "") != (f.State == Found) || len(f.Message) > 1000 {
			t.Errorf("state %d with the message %q", f.State, f.Message)
		}
	}
	return r
}

// expect compares a finding. part is a part of the message.
func expect(t *testing.T, what string, got Finding, state State, part string) {
	t.Helper()
	if got.State != state || !strings.Contains(got.Message, part) {
		t.Errorf("%s: state %d, %q; want state %d, %q", what, got.State, got.Message, state, part)
	}
}

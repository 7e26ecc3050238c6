package dnscheck

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// right is a zone in which both records are found.
var right = zone{`_shortline.go.acme.com. 60 IN TXT "` + value + `"`, `go.acme.com. 60 IN CNAME edge.sho.rt.`,
	`edge.sho.rt. 60 IN A 203.0.113.7`}

// code answers with an error code.
func code(rcode int) answering {
	return func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, rcode) }
}

func mute(dns.ResponseWriter, *dns.Msg) *dns.Msg { return nil }

// raw sends bytes.
func raw(t *testing.T, w dns.ResponseWriter, b []byte) {
	t.Helper()
	if _, err := w.Write(b); err != nil && !strings.Contains(err.Error(), "closed") && !strings.Contains(err.Error(), "reset") {
		t.Logf("server: %v", err)
	}
}

func packed(t *testing.T, m *dns.Msg) []byte {
	t.Helper()
	b, err := m.Pack()
	if err != nil {
		t.Error(err)
	}
	return b
}

// A resolver that misbehaves decides nothing: the records may exist. A second resolver that works decides.
func TestCheck_wrong_answers_decide_nothing(t *testing.T) {
	t.Parallel()
	fine := right.resolver(t)
	spoofed := func(q *dns.Msg, change func(m *dns.Msg)) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable = true
		rr, err := dns.NewRR(q.Question[0].Name + ` 60 IN TXT "` + value + `"`)
		if err != nil {
			t.Error(err)
		}
		m.Answer = []dns.RR{rr}
		change(m)
		return m
	}
	forged := func(change func(m *dns.Msg)) answering {
		return func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg { return spoofed(q, change) }
	}
	for name, tt := range map[string]struct {
		do   answering
		part string
	}{
		"SERVFAIL":     {code(dns.RcodeServerFailure), "answered SERVFAIL; check DNSSEC"},
		"REFUSED":      {code(dns.RcodeRefused), "REFUSED"},
		"NOTAUTH":      {code(dns.RcodeNotAuth), "answered NOTAUTH"},
		"unknown code": {code(13), "error code 13"},
		"FORMERR":      {code(dns.RcodeFormatError), "does not understand"},
		"NOTIMP":       {code(dns.RcodeNotImplemented), "does not understand"},
		"silence":      {mute, "No answer within 1.2 seconds."},
		"SERVFAIL cause": {func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
			m.SetEdns0(udpSize, false)
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeSignatureExpired, ExtraText: "<script>"}}
			return m
		}, "SERVFAIL (Signature Expired); check DNSSEC"},
		"code without a question": {func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetRcode(q, dns.RcodeRefused)
			m.Question = nil
			return m
		}, "REFUSED"},
		"referral": {func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetReply(q)
			for _, s := range []string{"com. 60 IN NS ns.evil.com.", "ns.evil.com. 60 IN A 127.0.0.2"} {
				rr, _ := dns.NewRR(s)
				m.Ns = append(m.Ns, rr)
			}
			m.Ns, m.Extra = m.Ns[:1], m.Ns[1:]
			return m
		}, "does not look up names of other servers"},
		"another question": {forged(func(m *dns.Msg) { m.Question[0].Name = "evil.com." }), "answered another question"},
		"another type":     {forged(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeMX }), "answered another question"},
		"another class":    {forged(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), "answered another question"},
		"no question":      {forged(func(m *dns.Msg) { m.Question = nil }), "answered another question"},
		"two questions":    {forged(func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }), "answered another question"},
		"another ID":       {forged(func(m *dns.Msg) { m.Id++ }), "No answer within 1.2 seconds."},
		"the query itself": {func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg { return q }, "cannot be read"},
		"another opcode":   {forged(func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }), "cannot be read"},
		"garbage": {func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			raw(t, w, append([]byte{byte(q.Id >> 8), byte(q.Id), 0x81, 0x80, 0, 1, 0xFF, 0xFF, 0, 0, 0, 0},
				strings.Repeat("\xc0\x0c", 50)...))
			return nil
		}, "cannot be read"},
		"a cut message": {func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			b := packed(t, spoofed(q, func(*dns.Msg) {}))
			raw(t, w, b[:len(b)-5])
			return nil
		}, "cannot be read"},
		"datagrams of no length": {func(w dns.ResponseWriter, _ *dns.Msg) *dns.Msg {
			raw(t, w, []byte{1})
			return nil
		}, "cannot be read"},
		"a flood of IDs": {func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			for i := range uint16(100) {
				raw(t, w, packed(t, spoofed(q, func(m *dns.Msg) { m.Id += i + 1 })))
			}
			return nil
		}, "No answer within 1.2 seconds."},
		"truncated over TCP too": {forged(func(m *dns.Msg) { m.Truncated = true }), "cannot be read"},
		"another ID over TCP": {func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			return spoofed(q, func(m *dns.Msg) {
				if m.Truncated = true; w.LocalAddr().Network() == "tcp" {
					m.Id++
				}
			})
		}, "cannot be read"},
		"silence over TCP": {func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			if w.LocalAddr().Network() == "tcp" {
				return nil
			}
			return spoofed(q, func(m *dns.Msg) { m.Truncated = true })
		}, "1.2 seconds"},
		"closed over TCP": {func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			if w.LocalAddr().Network() == "tcp" {
				w.Close()
				return nil
			}
			return spoofed(q, func(m *dns.Msg) { m.Truncated = true })
		}, "over TCP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := serve(t, tt.do)
			r := check(t, checker(t, 1200*time.Millisecond, bad.address), edge)
			expect(t, "TXT", r.TXT, Unknown, tt.part)
			expect(t, "host", r.Host, Unknown, tt.part)
			if n := bad.questions.Load(); n < 6 || n > 6*maxAttempts*3 {
				t.Errorf("%d questions", n)
			}

			good := serve(t, fine)
			r = check(t, checker(t, testkit.Patience, bad.address, good.address), edge)
			expect(t, "TXT with a second resolver", r.TXT, Found, "")
			expect(t, "host with a second resolver", r.Host, Found, "")
		})
	}
}

// Records of other names, types or classes in an answer do not count.
func TestCheck_ignores_records_that_were_not_asked_for(t *testing.T) {
	t.Parallel()
	other := zone{
		`go.acme.com. 60 IN TXT "` + value + `"`, `evil.com. 60 IN TXT "` + value + `"`, `_shortline.go.acme.com. 60 CH TXT "` +
			value + `"`,
		`evil.com. 60 IN CNAME edge.sho.rt.`, `www.go.acme.com. 60 IN CNAME edge.sho.rt.`, `edge.sho.rt. 60 IN A 203.0.113.7`,
		`go.acme.com. 60 CH A 203.0.113.7`,
	}.records(t)
	s := serve(t, func(_ dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable, m.Answer, m.Extra = true, other, other
		return m.Copy() // packing writes into records
	})
	r := check(t, checker(t, testkit.Patience, s.address), edge)
	expect(t, "TXT", r.TXT, Missing, "No TXT record")
	expect(t, "host", r.Host, Missing, "No CNAME, A or AAAA record")
}

// Forged answers with wrong IDs before the right one, and a resolver without EDNS.
func TestCheck_waits_for_the_right_answer(t *testing.T) {
	t.Parallel()
	fine := right.resolver(t)
	s := serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		if q.IsEdns0() != nil {
			return new(dns.Msg).SetRcode(q, dns.RcodeFormatError)
		}
		for i := range uint16(50) {
			m := new(dns.Msg).SetRcode(q, dns.RcodeNameError)
			m.Id += i + 1
			raw(t, w, packed(t, m))
		}
		return fine(w, q)
	})
	r := check(t, checker(t, testkit.Patience, s.address), edge)
	expect(t, "TXT", r.TXT, Found, "")
	expect(t, "host", r.Host, Found, "")
}

// Resolvers that cannot be reached or do not answer cost a part of the time once. The next check starts with the one
// that worked.
func TestCheck_uses_the_resolver_that_works(t *testing.T) {
	t.Parallel()
	silent, good := serve(t, mute), serve(t, right.resolver(t))
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	testkit.Must(t, err)
	closed.Close()
	c := checker(t, testkit.Patience, closed.LocalAddr().String(), silent.address, good.address)
	expect(t, "TXT", check(t, c, edge).TXT, Found, "")
	before := silent.questions.Load()
	expect(t, "host", check(t, c, edge).Host, Found, "")
	if silent.questions.Load() != before {
		t.Errorf("the second check sent %d questions to the silent resolver", silent.questions.Load()-before)
	}

	c = checker(t, testkit.Patience, closed.LocalAddr().String())
	expect(t, "a closed port", check(t, c, edge).TXT, Unknown, "cannot be reached")
}

// A lost datagram is sent again, and a slow answer to an earlier attempt counts.
func TestCheck_loss_and_slow_answers(t *testing.T) {
	t.Parallel()
	fine := right.resolver(t)
	var questions atomic.Int64
	s := serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		if questions.Add(1) <= 6 {
			return nil
		}
		return fine(w, q)
	})
	expect(t, "with loss", check(t, checker(t, testkit.Patience, s.address), edge).TXT, Found, "")
	slow := serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		pause(2500 * time.Millisecond)
		return fine(w, q)
	})
	expect(t, "slow", check(t, checker(t, testkit.Patience, slow.address), edge).TXT, Found, "")
}

// Each answer is in time, but all together are not. The names of the chain never end.
func TestCheck_ends_after_five_seconds(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		pause(650 * time.Millisecond)
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable = true
		rr, err := dns.NewRR(q.Question[0].Name + " 60 IN CNAME x" + q.Question[0].Name)
		if err != nil {
			t.Error(err)
		}
		m.Answer = []dns.RR{rr}
		return m
	})
	start := time.Now()
	r := check(t, checker(t, 0, s.address), edge)
	expect(t, "TXT", r.TXT, Unknown, "No answer within 5 seconds.")
	expect(t, "host", r.Host, Unknown, "No answer within 5 seconds.")
	if took := time.Since(start); took < 4900*time.Millisecond {
		t.Errorf("the check took %v", took)
	}
}

// A resolver that sends an answer over TCP byte by byte does not prolong the check.
func TestCheck_slow_TCP(t *testing.T) {
	t.Parallel()
	udp, tcp := listen(t)
	d := &dns.Server{PacketConn: udp, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Truncated = true
		raw(t, w, packed(t, m))
	})}
	go d.ActivateAndServe()
	t.Cleanup(func() { d.Shutdown() })
	t.Cleanup(func() { tcp.Close() })
	go func() {
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for b := byte(0xFF); ; b-- { // the message has a length of 65,534 bytes
					if _, err := conn.Write([]byte{b}); err != nil {
						return
					}
					pause(20 * time.Millisecond)
				}
			}()
		}
	}()
	r := check(t, checker(t, second, tcp.Addr().String()), edge)
	expect(t, "TXT", r.TXT, Unknown, "No answer within 1 second")
}

func TestCheck_ends_with_its_context(t *testing.T) {
	t.Parallel()
	s := serve(t, mute)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	r := checker(t, testkit.Patience, s.address).Check(ctx, host, value, edge)
	expect(t, "TXT", r.TXT, Unknown, "No answer")
	if ctx.Err() == nil {
		t.Error("the check ended before its context")
	}
}

// SERVFAIL for addresses hides neither a CNAME record that is right nor a loop.
func TestCheck_SERVFAIL_for_addresses(t *testing.T) {
	t.Parallel()
	failing := func(z zone, kinds ...uint16) *server {
		do := z.resolver(t)
		return serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
			for _, k := range kinds {
				if q.Question[0].Qtype == k {
					return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
				}
			}
			return do(w, q)
		})
	}
	for name, tt := range map[string]struct {
		s     *server
		state State
		part  string
	}{
		"CNAME": {failing(right, dns.TypeA, dns.TypeAAAA), Found, ""},
		"loop": {failing(zone{`go.acme.com. 60 IN CNAME a.com.`, `a.com. 60 IN CNAME go.acme.com.`}, dns.TypeA,
			dns.TypeAAAA), Missing, "loop: go.acme.com → a.com → go.acme.com."},
		"our address without AAAA": {failing(zone{`go.acme.com. 60 IN A 203.0.113.7`, `edge.sho.rt. 60 IN A 203.0.113.7`}, dns.TypeAAAA),
			Found, ""},
		"no address and no AAAA": {failing(zone{`edge.sho.rt. 60 IN A 203.0.113.7`}, dns.TypeAAAA), Unknown, "SERVFAIL"},
		"another address and no AAAA": {failing(zone{`go.acme.com. 60 IN AAAA 2600::1`, `edge.sho.rt. 60 IN AAAA 2600::2`}, dns.TypeA),
			Unknown, "could not be looked up to compare"},
		"another CNAME": {failing(zone{`go.acme.com. 60 IN CNAME shop.net.`}, dns.TypeA, dns.TypeAAAA), Unknown, "SERVFAIL"},
	} {
		expect(t, name, check(t, checker(t, testkit.Patience, tt.s.address), edge).Host, tt.state, tt.part)
	}
}

package dnscheck

import (
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The messages of a resolver are read without a panic, and the messages for the owner stay short and visible.
func FuzzReadResponse(f *testing.F) {
	add := func(kind uint16, change func(m *dns.Msg), records ...string) {
		q := new(dns.Msg).SetQuestion("go.acme.com.", kind)
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable = true
		for _, s := range records {
			rr, err := dns.NewRR(s)
			testkit.Must(f, err)
			m.Answer = append(m.Answer, rr)
		}
		change(m)
		for _, m.Compress = range []bool{false, true} {
			b, err := m.Pack()
			testkit.Must(f, err)
			f.Add(b[2:], kind)
		}
	}
	same := func(*dns.Msg) {}
	add(dns.TypeTXT, same, `go.acme.com. 60 IN TXT "a\000\"\\" "b"`, `x. 60 IN TXT "c"`)
	add(dns.TypeA, same, `go.acme.com. 60 IN CNAME b.acme.com.`, `b.acme.com. 60 IN A 10.0.0.5`, `b.acme.com. 60 IN A 8.8.8.8`)
	add(dns.TypeAAAA, same, `go.acme.com. 60 IN AAAA ::ffff:203.0.113.7`)
	add(dns.TypeCNAME, same, `go.acme.com. 60 IN CNAME \000\200<b>.`, `go.acme.com. 60 IN CNAME x.`)
	add(dns.TypeA, func(m *dns.Msg) { m.Truncated = true })
	add(dns.TypeA, func(m *dns.Msg) {
		m.Rcode = dns.RcodeServerFailure
		m.SetEdns0(udpSize, false)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: 6, ExtraText: "x"}}
	})
	f.Fuzz(func(t *testing.T, body []byte, kind uint16) {
		q := dns.Question{Name: "go.acme.com.", Qtype: kind, Qclass: dns.ClassINET}
		var m dns.Msg
		if m.Unpack(append([]byte{0, 0}, body...)) != nil {
			return
		}
		a, failed := readResponse(&m, q)
		if failed != nil {
			visible(t, failed.text)
			return
		}
		tr := trail{chain: []string{q.Name}}
		tr.follow(a, "edge.sho.rt.")
		if len(tr.chain) > maxChain+1 {
			t.Errorf("a chain of %d names", len(tr.chain))
		}
		tr.records = a.at(tr.last(), kind)
		h := hostTrails{cname: tr, a: tr, aaaa: tr}
		for _, targets := range []Targets{edge, {}} {
			visible(t, judgeTXT(tr, "_shortline.go.acme.com", value, MaxTime).Message)
			visible(t, judgeHost(h, host, targets, MaxTime).Message)
		}
	})
}

// visible checks a message for the owner.
func visible(t *testing.T, message string) {
	t.Helper()
	if len(message) > 1500 {
		t.Errorf("a message of %d bytes", len(message))
	}
	for _, r := range strings.NewReplacer("→", "", "…", "").Replace(message) {
		if r < ' ' || r > '~' {
			t.Fatalf("%q has %U", message, r)
		}
	}
}

package dnscheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// udpSize is the size of UDP answers that resolvers may send. Larger ones would be fragmented on some networks.
const udpSize = 1232

// failure is why a resolver's answer decides nothing. Of several failures, the one with the highest kind tells most.
type failure struct {
	kind failureKind
	text string // one sentence for the owner, or "" for silent
}

type failureKind int

const (
	silent      failureKind = iota // no answer in time
	unreachable                    // the operating system reports that no packet arrives
	garbled                        // a response that is not readable or answers another question
	refused                        // an error code of the resolver
	servfail                       // an error code about the domain's name servers
)

var (
	errGarbled  = &failure{garbled, "The resolver's answer cannot be read."}
	errQuestion = &failure{garbled, "The resolver answered another question."}
	errLame     = &failure{refused,
		"The resolver does not look up names of other servers. The operator of this service must set recursive resolvers."}
)

// answer has the records of a response that decides: the name exists with or without such records, or does not exist.
type answer struct {
	records []dns.RR // class IN, of the type asked for or CNAME
}

// cname returns the target of a name's CNAME record, or "". several is true if records disagree.
func (a *answer) cname(name string) (target string, several bool) {
	for _, rr := range a.records {
		c, ok := rr.(*dns.CNAME)
		if !ok || canonical(c.Hdr.Name) != name {
			continue
		}
		if t := canonical(c.Target); target == "" {
			target = t
		} else if target != t {
			return target, true
		}
	}
	return target, false
}

// at returns the records of a type at a name.
func (a *answer) at(name string, kind uint16) (list []dns.RR) {
	for _, rr := range a.records {
		if h := rr.Header(); h.Rrtype == kind && canonical(h.Name) == name {
			list = append(list, rr)
		}
	}
	return list
}

// newQuery returns a query with a random ID.
func newQuery(q dns.Question, edns bool) *dns.Msg {
	m := &dns.Msg{Question: []dns.Question{q}}
	m.Id = dns.Id()
	m.RecursionDesired = true
	if edns {
		m.SetEdns0(udpSize, false)
	}
	return m
}

// readResponse reads the response to a query.
func readResponse(m *dns.Msg, q dns.Question) (*answer, *failure) {
	decides := m.Rcode == dns.RcodeSuccess || m.Rcode == dns.RcodeNameError
	if len(m.Question) > 1 || len(m.Question) == 0 && decides {
		return nil, errQuestion
	}
	if len(m.Question) == 1 {
		if is := m.Question[0]; canonical(is.Name) != canonical(q.Name) || is.Qtype != q.Qtype || is.Qclass != q.Qclass {
			return nil, errQuestion
		}
	}
	if !decides {
		return nil, codeFailure(m)
	}
	if len(m.Answer) == 0 && !m.Authoritative && !m.RecursionAvailable && referral(m) {
		return nil, errLame
	}
	a := &answer{}
	for _, rr := range m.Answer {
		if h := rr.Header(); h.Class == dns.ClassINET && (h.Rrtype == q.Qtype || h.Rrtype == dns.TypeCNAME) {
			a.records = append(a.records, rr)
		}
	}
	return a, nil
}

// referral reports whether a response only names other servers.
func referral(m *dns.Msg) bool {
	has := func(kind uint16) bool {
		return slices.ContainsFunc(m.Ns, func(rr dns.RR) bool { return rr.Header().Rrtype == kind })
	}
	return has(dns.TypeNS) && !has(dns.TypeSOA)
}

// codeFailure describes an error code. Resolvers that support RFC 8914 also send the cause.
func codeFailure(m *dns.Msg) *failure {
	cause, about := "", "check DNSSEC and the name servers of the domain"
	if opt := m.IsEdns0(); opt != nil {
		for _, o := range opt.Option {
			if e, ok := o.(*dns.EDNS0_EDE); ok && dns.ExtendedErrorCodeToString[e.InfoCode] != "" {
				cause = " (" + dns.ExtendedErrorCodeToString[e.InfoCode] + ")"
				break
			}
		}
	}
	switch m.Rcode {
	case dns.RcodeServerFailure:
		return &failure{servfail, "The name server answered SERVFAIL" + cause + "; " + about + "."}
	case dns.RcodeRefused:
		return &failure{refused, "The resolver refused the question (REFUSED)" + cause + "."}
	}
	name := dns.RcodeToString[m.Rcode]
	if name == "" {
		name = fmt.Sprintf("error code %d", m.Rcode)
	}
	return &failure{refused, "The resolver answered " + name + cause + "."}
}

// textOf returns the value of a TXT record: its strings joined, without the escapes of the library.
func textOf(t *dns.TXT) string {
	var b strings.Builder
	for _, s := range t.Txt {
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] != '\\' || i+1 == len(s):
				b.WriteByte(s[i])
			case i+3 < len(s) && digit(s[i+1]) && digit(s[i+2]) && digit(s[i+3]):
				b.WriteByte((s[i+1]-'0')*100 + (s[i+2]-'0')*10 + s[i+3] - '0')
				i += 3
			default:
				i++
				b.WriteByte(s[i])
			}
		}
	}
	return b.String()
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

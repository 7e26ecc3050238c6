package dnscheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// maxChain is the maximum number of CNAME records from a name to its addresses.
const maxChain = 10

// trail is what a lookup found: the names along the CNAME records, and the records at the last name.
type trail struct {
	chain   []string // canonical names, from the name asked for; empty if nothing was asked
	records []dns.RR
	fault   string   // one sentence about CNAME records that lead nowhere
	failure *failure // the lookup did not find out; chain may have a part of the names
}

func (t *trail) last() string { return t.chain[len(t.chain)-1] }

// reaches reports whether the trail comes to a name.
func (t *trail) reaches(name string) bool { return slices.Contains(t.chain, name) }

// lookup asks for records of a type and follows CNAME records, also where the resolver does not. It ends at the name
// stop. A lookup of CNAME records only follows them.
func (s *session) lookup(ctx context.Context, name, stop string, kind uint16) trail {
	t := trail{chain: []string{name}}
	// The chain grows with each question but the last, and its length is limited.
	for t.last() != stop {
		a, failed := s.ask(ctx, dns.Question{Name: t.last(), Qtype: kind, Qclass: dns.ClassINET})
		if failed != nil {
			t.failure = failed
			return t
		}
		before := len(t.chain)
		t.follow(a, stop)
		if t.fault != "" || t.last() == stop {
			return t
		}
		if kind != dns.TypeCNAME {
			t.records = a.at(t.last(), kind)
		}
		if len(t.records) > 0 || len(t.chain) == before {
			return t
		}
	}
	return t
}

// follow appends the names to which the CNAME records of an answer lead.
func (t *trail) follow(a *answer, stop string) {
	for t.last() != stop {
		target, several := a.cname(t.last())
		switch {
		case target == "":
			return
		case several:
			t.fault = fmt.Sprintf("%s has more than one CNAME record.", shown(t.last()))
			return
		case t.reaches(target):
			t.fault = "The CNAME chain has a loop: " + path(append(t.chain, target)) + "."
			return
		case len(t.chain) > maxChain:
			t.fault = fmt.Sprintf("More than %d CNAME records follow each other: %s.", maxChain, path(append(t.chain, target)))
			return
		}
		t.chain = append(t.chain, target)
	}
}

// path shows a chain of names, without the middle of a long one.
func path(chain []string) string {
	const most = 6
	names := make([]string, 0, most+1)
	for i, name := range chain {
		switch {
		case len(chain) <= most || i < most/2 || i >= len(chain)-most/2:
			names = append(names, shown(name))
		case i == most/2:
			names = append(names, "…")
		}
	}
	return strings.Join(names, " → ")
}

// shown returns a canonical name for messages. The library has escaped all but visible ASCII characters.
func shown(name string) string { return cut(strings.TrimSuffix(name, "."), 100) }

// cut shortens visible ASCII text.
func cut(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

package dnscheck

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/shared/each"
)

const (
	maxShown      = 3   // values or addresses in a message
	maxShownValue = 100 // bytes of a value in a message
)

// judgeTXT compares the values at the TXT record's name with the expected one.
func judgeTXT(t trail, name, value string, timeout time.Duration) Finding {
	var others []string
	for _, rr := range t.records {
		record, ok := rr.(*dns.TXT)
		if !ok {
			continue
		}
		text := textOf(record)
		// Some DNS consoles store the quotes that people paste with the value.
		if trimmed := strings.TrimSpace(strings.Trim(strings.TrimSpace(text), `"`)); trimmed == value {
			return Finding{State: Found}
		}
		others = append(others, quoted(text))
	}
	switch {
	case t.failure != nil:
		return unknown(t.failure, timeout)
	case t.fault != "":
		return Finding{Missing, t.fault}
	case len(others) == 0:
		return Finding{Missing, fmt.Sprintf("No TXT record at %s yet.", name)}
	case len(others) == 1:
		return Finding{Missing, fmt.Sprintf("The TXT record at %s has another value: %s; expected %q.", name, others[0], value)}
	}
	return Finding{Missing, fmt.Sprintf("The TXT records at %s have other values: %s; expected %q.", name, list(others), value)}
}

// hostTrails are the lookups of a host name and of the edges' name.
type hostTrails struct{ cname, a, aaaa, edgeA, edgeAAAA trail }

// judgeHost decides whether a host name leads to the targets. Every address must be one of the targets': visitors and
// certificate authorities may choose any.
func judgeHost(h hostTrails, host string, t Targets, timeout time.Duration) Finding {
	if t.Hostname == "" && len(t.Addresses) == 0 {
		return Finding{Unknown, "The operator of this service has not set the name or the addresses of its edges."}
	}
	for _, trail := range []trail{h.cname, h.a, h.aaaa} {
		if t.Hostname != "" && trail.reaches(canonical(t.Hostname)) {
			return Finding{State: Found}
		}
	}
	for _, trail := range []trail{h.cname, h.a, h.aaaa} {
		if trail.fault != "" {
			return Finding{Missing, trail.fault}
		}
	}

	ours := h.edges(t)
	found := addresses(h.a, h.aaaa)
	foreign := slices.DeleteFunc(slices.Clone(found), func(a netip.Addr) bool { return slices.Contains(ours, a) })
	switch {
	case len(found) == 0:
		return judgeNoAddress(h, host, t, timeout)
	case len(foreign) == 0:
		// A question without an answer does not matter here: some name servers fail for AAAA, and certificate
		// authorities then use the A records too.
		return Finding{State: Found}
	}
	for _, edge := range []trail{h.edgeA, h.edgeAAAA} {
		if edge.failure != nil {
			return Finding{Unknown, fmt.Sprintf("%s has addresses, but the addresses of %s could not be looked up to compare them.", host,
				shown(canonical(t.Hostname)))}
		}
	}
	return Finding{Missing, foreignMessage(h, host, t, found, foreign)}
}

// edges returns the addresses of the targets.
func (h *hostTrails) edges(t Targets) []netip.Addr {
	ours := addresses(h.edgeA, h.edgeAAAA)
	for _, addr := range t.Addresses {
		ours = append(ours, addr.Unmap())
	}
	return ours
}

// judgeReach decides whether a host name leads any visitor to the targets.
func judgeReach(h hostTrails, t Targets) State {
	asked := []trail{h.cname, h.a, h.aaaa}
	ours := h.edges(t)
	for _, trail := range asked {
		if t.Hostname != "" && trail.reaches(canonical(t.Hostname)) {
			return Found
		}
		if slices.ContainsFunc(addresses(trail), func(a netip.Addr) bool { return slices.Contains(ours, a) }) {
			return Found
		}
	}
	for _, trail := range append(asked, h.edgeA, h.edgeAAAA) {
		if trail.failure != nil {
			return Unknown
		}
	}
	if len(ours) == 0 {
		return Unknown
	}
	return Missing
}

// judgeNoAddress decides about a host name for which no address was found.
func judgeNoAddress(h hostTrails, host string, t Targets, timeout time.Duration) Finding {
	failed := h.a.failure
	if f := h.aaaa.failure; failed == nil || f != nil && f.kind > failed.kind {
		failed = f
	}
	longest := h.cname
	for _, trail := range []trail{h.a, h.aaaa} {
		if len(trail.chain) > len(longest.chain) {
			longest = trail
		}
	}
	alias := len(longest.chain) > 1
	switch {
	case failed != nil:
		return unknown(failed, timeout)
	case alias:
		return Finding{Missing, fmt.Sprintf("%s is a CNAME of %s, which has no address; expected %s.", host, shown(longest.last()),
			expected(t))}
	}
	return Finding{Missing, fmt.Sprintf("No CNAME, A or AAAA record at %s yet; expected %s.", host, expected(t))}
}

// foreignMessage names the addresses that are not the targets'.
func foreignMessage(h hostTrails, host string, t Targets, found, foreign []netip.Addr) string {
	// An address inside a network is the more surprising one.
	slices.SortStableFunc(foreign, func(a, b netip.Addr) int {
		switch pa, pb := outbound.Public(a), outbound.Public(b); {
		case pa == pb:
			return 0
		case pb:
			return -1
		}
		return 1
	})
	names := each.Of(foreign, func(a netip.Addr) string { return a.String() })
	chain := h.a.chain
	if len(h.a.records) == 0 {
		chain = h.aaaa.chain
	}
	switch {
	case !outbound.Public(foreign[0]):
		return fmt.Sprintf("%s resolves to the private address %s; expected %s.", host, names[0], expected(t))
	case len(foreign) < len(found):
		return fmt.Sprintf("%s also resolves to %s, which does not belong to this service. Remove the other records.", host, list(names))
	case len(chain) > 1:
		return fmt.Sprintf("%s is a CNAME of %s, which resolves to %s; expected %s.", host, shown(chain[1]), list(names), expected(t))
	}
	return fmt.Sprintf("%s resolves to %s, which does not belong to this service; expected %s.", host, list(names), expected(t))
}

// expected says which records lead to the targets.
func expected(t Targets) string {
	var parts []string
	if t.Hostname != "" {
		parts = append(parts, "a CNAME record with "+shown(canonical(t.Hostname)))
	}
	if len(t.Addresses) > 0 {
		var all []string
		for _, a := range t.Addresses {
			all = append(all, a.Unmap().String())
		}
		parts = append(parts, "address records with "+list(all))
	}
	if len(parts) == 0 {
		return "an address of this service, which its operator has not set"
	}
	return strings.Join(parts, ", or ")
}

// addresses returns the addresses of trails of A and AAAA records, each once.
func addresses(trails ...trail) (out []netip.Addr) {
	for _, t := range trails {
		for _, rr := range t.records {
			var addr netip.Addr
			switch r := rr.(type) {
			case *dns.A:
				addr, _ = netip.AddrFromSlice(r.A)
			case *dns.AAAA:
				addr, _ = netip.AddrFromSlice(r.AAAA)
			}
			if addr = addr.Unmap(); addr.IsValid() {
				out = append(out, addr)
			}
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

// quoted shows a value from DNS in visible ASCII.
func quoted(s string) string {
	if len(s) > maxShownValue {
		return strconv.QuoteToASCII(s[:maxShownValue]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// list joins the first values and counts the others.
func list(values []string) string {
	if more := len(values) - maxShown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:maxShown], ", "), more)
	}
	return strings.Join(values, ", ")
}

// unknown describes a failure.
func unknown(f *failure, timeout time.Duration) Finding {
	if f.kind == silent {
		return Finding{Unknown, fmt.Sprintf("No answer within %v. Check the name servers of the domain.",
			strings.TrimSuffix(timeout.String(), "s")+" seconds")}
	}
	return Finding{Unknown, f.text}
}

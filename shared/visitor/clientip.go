package visitor

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unsafe"
)

// Prefixes is a set of addresses, such as the trusted proxies. A lookup checks one prefix after the other, so the set
// should hold tens of prefixes, not thousands. The nil set is empty.
type Prefixes []netip.Prefix

// ParsePrefixes parses a list of CIDR prefixes and single addresses, separated by commas or white space. The error
// names every invalid entry. "" is the empty set.
func ParsePrefixes(text string) (Prefixes, error) {
	var set Prefixes
	var problems []error
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r'
	}) {
		p, err := parsePrefix(entry)
		if err != nil {
			problems = append(problems, fmt.Errorf("%q is neither an address nor a CIDR prefix", entry))
			continue
		}
		set = append(set, p)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return set, nil
}

func parsePrefix(entry string) (netip.Prefix, error) {
	if !strings.Contains(entry, "/") {
		a, err := netip.ParseAddr(entry)
		if err != nil {
			return netip.Prefix{}, err
		}
		a = a.WithZone("").Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(entry)
	if err != nil {
		return netip.Prefix{}, err
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 { // Contains unmaps addresses, so the prefix must be unmapped too
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// Contains reports whether the set contains a. An IPv4-mapped IPv6 address counts as the IPv4 address.
func (s Prefixes) Contains(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" {
		a = a.WithZone("")
	}
	for _, p := range s {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// ClientIP returns the visitor's address. That is peer, the other end of the socket, unless peer is trusted. If it is
// trusted, ClientIP returns the right-most address in the X-Forwarded-For lines (in the order of arrival) that is not
// trusted. Without one, it returns realIP, the X-Real-IP header. Without that, it returns the left-most trusted
// address. The result has no port, brackets or zone, and IPv4 addresses have IPv4 form.
//
// An invalid entry ends the search: its author is unknown, so entries to the left of it do not count. ClientIP keeps
// none of its arguments. It allocates only if an entry is invalid.
func ClientIP[T string | []byte](peer netip.Addr, forwardedFor []T, realIP T, trusted Prefixes) netip.Addr {
	if peer = peer.Unmap(); peer.Zone() != "" {
		peer = peer.WithZone("")
	}
	if len(trusted) == 0 || !trusted.Contains(peer) {
		return peer
	}
	farthest := peer
walk:
	for i := len(forwardedFor) - 1; i >= 0; i-- {
		rest := asString(forwardedFor[i])
		for more := true; more; {
			entry := rest
			if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
				rest, entry = rest[:comma], rest[comma+1:]
			} else {
				more = false
			}
			if entry = strings.Trim(entry, " \t"); entry == "" {
				continue // RFC 9110, 5.6.1: a list may have empty elements
			}
			addr, ok := parseHop(entry)
			switch {
			case !ok:
				break walk
			case !trusted.Contains(addr):
				return addr
			}
			farthest = addr
		}
	}
	if addr, ok := parseHop(strings.Trim(asString(realIP), " \t")); ok {
		return addr
	}
	return farthest
}

// parseHop parses an address in the forms that proxies write: bare, with a port, in brackets, in quotes or with a zone.
func parseHop(s string) (netip.Addr, bool) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	switch {
	case s == "" || len(s) > 80:
		return netip.Addr{}, false
	case s[0] == '[':
		end := strings.IndexByte(s, ']')
		if end < 0 || !isPort(s[end+1:]) {
			return netip.Addr{}, false
		}
		if s = s[1:end]; strings.IndexByte(s, ':') < 0 {
			return netip.Addr{}, false // only IPv6 addresses have brackets
		}
	default:
		if colon := strings.IndexByte(s, ':'); colon >= 0 && colon == strings.LastIndexByte(s, ':') {
			if !isPort(s[colon:]) {
				return netip.Addr{}, false
			}
			s = s[:colon]
		}
	}
	if zone := strings.IndexByte(s, '%'); zone >= 0 {
		if s = s[:zone]; strings.IndexByte(s, ':') < 0 {
			return netip.Addr{}, false // IPv4 has no zones
		}
	}
	a, err := netip.ParseAddr(s)
	return a.Unmap(), err == nil
}

// isPort accepts "" and ":" with one to five digits.
func isPort(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != ':' || len(s) < 2 || len(s) > 6 {
		return false
	}
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// asString returns a header value as a string without copying it. That is safe because ClientIP keeps no part of it. It
// passes the string only to netip and drops the errors, which would contain it.
func asString[T string | []byte](s T) string {
	switch s := any(s).(type) {
	case string:
		return s
	case []byte:
		return unsafe.String(unsafe.SliceData(s), len(s))
	}
	return ""
}

// EdgeTokenHeader carries an edge's token on requests that the edge forwards to the control plane. Edges remove it from
// client requests. The control plane removes it before any handler sees the request.
const EdgeTokenHeader = "Shortline-Edge-Token"

// Forwarded returns the address that an edge wrote into X-Forwarded-For. An edge writes exactly one address. Proxies
// between the edge and the control plane can only append others, so the first one counts.
func Forwarded(forwardedFor []string) (addr netip.Addr, ok bool) {
	if len(forwardedFor) == 0 {
		return netip.Addr{}, false
	}
	first, _, _ := strings.Cut(forwardedFor[0], ",")
	return parseHop(strings.Trim(first, " \t"))
}

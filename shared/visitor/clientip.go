package visitor

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unsafe"
)

// Prefixes is a set of addresses, such as the proxies whose word is taken for who the client is. It is meant for
// tens of prefixes, which are asked one after the other. The nil set is empty.
type Prefixes []netip.Prefix

// ParsePrefixes reads a list, parted by commas or blanks, of CIDR prefixes and single addresses. The error names
// every entry that is neither. "" is the empty set.
func ParsePrefixes(text string) (Prefixes, error) {
	var set Prefixes
	var problems []error
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
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
	if p.Addr().Is4In6() && p.Bits() >= 96 { // contains no address that Contains asks about unless unmapped
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// Contains reports whether a lies in the set. An IPv4 address in IPv6 form is the same address.
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

// ClientIP is the address of the visitor: peer, the other end of the socket, unless that is in trusted. Then it
// is the right-most address in the X-Forwarded-For lines (in the order in which they came) that is not in
// trusted, else realIP, the X-Real-IP header, else the farthest trusted address known. Ports, brackets and
// zones are taken off, and IPv4 comes in IPv4 form.
//
// An entry that is no address ends the walk to the left: who wrote it can't be told, so nothing beyond it counts.
// It keeps none of its arguments and allocates nothing unless an entry is junk.
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

// parseHop reads an address as proxies write it: bare, with a port, in brackets, in quotes, with a zone.
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
			return netip.Addr{}, false // only IPv6 is written in brackets
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

// asString reads a header as a string without copying it, which is safe as ClientIP keeps no part of it: the
// only string it hands on is to netip, whose errors are dropped.
func asString[T string | []byte](s T) string {
	switch s := any(s).(type) {
	case string:
		return s
	case []byte:
		return unsafe.String(unsafe.SliceData(s), len(s))
	}
	return ""
}

// EdgeTokenHeader carries an edge's token on requests that the edge passes on to the control plane. Edges remove it from
// what clients send, and the control plane removes it before any handler sees the request.
const EdgeTokenHeader = "Shortline-Edge-Token"

// Forwarded is the address that an edge wrote into X-Forwarded-For. An edge writes exactly one; a proxy between the edge
// and the control plane may only have appended others, so the first one counts.
func Forwarded(forwardedFor []string) (addr netip.Addr, ok bool) {
	if len(forwardedFor) == 0 {
		return netip.Addr{}, false
	}
	first, _, _ := strings.Cut(forwardedFor[0], ",")
	return parseHop(strings.Trim(first, " \t"))
}

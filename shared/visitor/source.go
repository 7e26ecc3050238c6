package visitor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Source is the header in which trusted proxies say where a visitor comes from. The zero Source is X-Forwarded-For, and X-Real-IP if
// that has no address. Any other Source is the only header that counts: a proxy that writes it may pass on X-Forwarded-For as the
// visitor sent it.
type Source struct {
	name     string // in lower case
	elements bool   // it is written as RFC 7239 says
}

// otherHeaders have another meaning, and visitors set them.
var otherHeaders = []string{
	"accept", "accept-language", "authorization", "connection", "content-length", "cookie", "expect", "host", "keep-alive", "origin", "referer",
	"te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via", "x-api-key", "x-forwarded-host", "x-forwarded-port",
	"x-forwarded-proto", "x-request-id", strings.ToLower(EdgeTokenHeader),
}

// ParseSource reads the setting CLIENT_IP_HEADER. "" is X-Forwarded-For.
func ParseSource(header string) (Source, error) {
	name := strings.ToLower(strings.TrimSpace(header))
	switch {
	case name == "", name == "x-forwarded-for":
		return Source{}, nil
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || len(name) > 64:
		return Source{}, fmt.Errorf("%q is not the name of a header, such as Forwarded or CF-Connecting-IP", header)
	case slices.Contains(otherHeaders, name):
		return Source{}, fmt.Errorf("%q is not a header in which proxies say where a visitor comes from", header)
	}
	return Source{name: name, elements: name == "forwarded"}, nil
}

// Usual reports whether the source is X-Forwarded-For and X-Real-IP.
func (s Source) Usual() bool { return s.name == "" }

// Name returns the header in lower case.
func (s Source) Name() string {
	if s.name == "" {
		return "x-forwarded-for"
	}
	return s.name
}

// ClientIPFrom returns the visitor's address as ClientIP does, from the lines of the source's header, in the order of arrival. realIP,
// the header X-Real-IP, counts for the zero Source only. It keeps none of its arguments and allocates only if an entry is invalid.
func ClientIPFrom[T string | []byte](s Source, peer netip.Addr, lines []T, realIP T, trusted Prefixes) netip.Addr {
	switch {
	case s.elements:
		return clientOfElements(peer, lines, trusted)
	case !s.Usual():
		realIP = realIP[:0]
	}
	return ClientIP(peer, lines, realIP, trusted)
}

// clientOfElements is ClientIP for lines of the header Forwarded (RFC 7239). An element that cannot be read, or has no address, ends the
// search as an invalid entry does: what stands to the left of it does not count. So a visitor who opens a quotation mark, to make what a
// proxy appends a part of his own element, gets the proxy's address.
func clientOfElements[T string | []byte](peer netip.Addr, lines []T, trusted Prefixes) netip.Addr {
	if peer = peer.Unmap(); peer.Zone() != "" {
		peer = peer.WithZone("")
	}
	if len(trusted) == 0 || !trusted.Contains(peer) {
		return peer
	}
	// The elements are read from the left, because quotation marks can only be read so. A later element replaces what an earlier one said.
	var client, farthest netip.Addr
	for _, line := range lines {
		for rest := asString(line); rest != ""; {
			var value string
			var empty, ok bool
			if value, empty, ok, rest = cutElement(rest); empty {
				continue
			}
			addr, valid := netip.Addr{}, false
			if ok {
				addr, valid = parseHop(value)
			}
			switch {
			case !valid:
				client, farthest = netip.Addr{}, netip.Addr{}
			case !trusted.Contains(addr):
				client, farthest = addr, netip.Addr{}
			case !client.IsValid() && !farthest.IsValid():
				farthest = addr
			}
		}
	}
	switch {
	case client.IsValid():
		return client
	case farthest.IsValid():
		return farthest
	}
	return peer
}

// cutElement reads one element of a Forwarded line. It returns the value of its parameter for, and what follows the element. ok is false
// if the element is not valid or has no such parameter, or several.
func cutElement(s string) (value string, empty, ok bool, rest string) {
	ok, empty = true, true
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] == ',' {
			break
		}
		if s[0] == ';' {
			s, empty = s[1:], false
			continue
		}
		empty = false
		n := 0
		for n < len(s) && isToken(s[n]) {
			n++
		}
		name := s[:n]
		if n == 0 || n == len(s) || s[n] != '=' {
			ok, s = false, afterElement(s[n:])
			break
		}
		var v string
		var valid bool
		if v, valid, s = cutValue(s[n+1:]); !valid {
			ok, s = false, afterElement(s)
			break
		}
		if strings.EqualFold(name, "for") {
			ok, value = ok && value == "" && v != "", v
		}
		if s = strings.TrimLeft(s, " \t"); s != "" && s[0] != ';' && s[0] != ',' {
			ok, s = false, afterElement(s)
			break
		}
	}
	if s != "" {
		s = s[1:] // the comma
	}
	return value, empty, ok && value != "", s
}

// cutValue reads the value of a parameter: a token, also with the brackets and colons of addresses, or a quoted text without escapes.
func cutValue(s string) (value string, ok bool, rest string) {
	if s == "" || s[0] != '"' {
		n := 0
		for n < len(s) && (isToken(s[n]) || s[n] == ':' || s[n] == '[' || s[n] == ']') {
			n++
		}
		return s[:n], n > 0, s[n:]
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return s[1:i], i > 1, s[i+1:]
		case '\\':
			return "", false, s // no address needs one
		}
	}
	return "", false, ""
}

// afterElement returns what follows an element that is not valid: the next comma outside of quotation marks, and all behind it.
func afterElement(s string) string {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return s[i:]
		}
	}
	return ""
}

// isToken reports whether a byte may be in a token (RFC 9110, 5.6.2).
func isToken(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

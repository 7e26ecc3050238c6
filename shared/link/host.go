package link

import (
	"net/netip"
	"slices"
	"strings"
)

// host is a host in ASCII: an IP address, or a name in lower case without the trailing dot.
type host struct {
	addr netip.Addr
	name string
}

// String returns an IP address in its usual form without brackets, or the name.
func (h host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// Host returns the one form in which hosts are compared: an IP address without brackets, or a name in ASCII and lower case
// without the trailing dot.
func Host(raw string) (string, error) {
	if strings.Count(raw, ":") > 1 && !strings.HasPrefix(raw, "[") {
		raw = "[" + raw + "]" // an IPv6 address without brackets
	}
	ascii, err := asciiHost(raw)
	if err != nil {
		return "", err
	}
	h, err := readHost(ascii)
	if err != nil {
		return "", err
	}
	return h.String(), nil
}

// DestinationHost returns the host of a stored destination in the form that Host returns, or "" if it has none. The host of an intent
// of Android is that of its web address.
func DestinationHost(destination string) string {
	u, err := splitURL(webOf(destination))
	if err != nil {
		return ""
	}
	name, err := Host(u.host)
	if err != nil {
		return ""
	}
	return name
}

func readHost(s string) (host, error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return host{}, errDestinationBadHost
		}
		return host{addr: addr.Unmap()}, nil
	}
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	if name == "" || len(name) > 253 {
		return host{}, errDestinationBadHost
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return host{}, errDestinationBadHost
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return host{}, errDestinationBadHost
			}
		}
	}
	// Browsers read a host whose last label is a number, in any base, as an IPv4 address.
	last := labels[len(labels)-1]
	if hex, ok := strings.CutPrefix(last, "0x"); strings.Trim(last, "0123456789") == "" || ok &&
		strings.Trim(hex, "0123456789abcdef") == "" {
		addr, err := netip.ParseAddr(name)
		if err != nil {
			return host{}, errDestinationIPv4
		}
		return host{addr: addr}, nil
	}
	return host{name: name}, nil
}

// answersAt reports whether the host of a URL is the given host of this service, written as host or host:port.
func (h host) answersAt(u parts, own string) bool {
	own = strings.TrimSpace(own)
	port := ""
	if strings.Count(own, ":") > 1 && !strings.HasPrefix(own, "[") {
		own = "[" + own + "]" // IPv6 address without brackets
	} else if colon := strings.LastIndexByte(own, ':'); colon > strings.LastIndexByte(own, ']') {
		own, port = own[:colon], own[colon:]
	}
	ascii, err := asciiHost(own)
	if err != nil {
		return false
	}
	o, err := readHost(ascii)
	if err != nil {
		return false
	}
	same := h == o || h.loopback() && o.loopback()
	if !same || o.name != "" && !o.private() {
		return same
	}
	at := strings.TrimLeft(u.port, ":0")
	switch {
	case at != "":
	case strings.EqualFold(u.scheme, "https"):
		at = "443"
	default:
		at = "80"
	}
	if port = strings.TrimLeft(port, ":0"); port == "" {
		return at == "80" || at == "443"
	}
	return at == port
}

func (h host) loopback() bool {
	return h.addr.IsLoopback() || h.name == "localhost" || strings.HasSuffix(h.name, ".localhost")
}

// privateNames are top-level names that do not exist in the public DNS (RFC 6761, 6762, 8375, and ICANN's reservation
// of .internal), and names that routers use by custom.
var privateNames = []string{"localhost", "local", "internal", "localdomain", "home.arpa", "lan", "intranet"}

// privatePrefixes are addresses that the public internet does not route, from the IANA special-purpose registries. The
// documentation networks are allowed: they contain no hosts.
var privatePrefixes = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001::/32", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// embedding lists the IPv6 networks that embed an IPv4 address, and the byte offset of that address.
var embedding = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible, RFC 4291
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated, RFC 2765
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056
}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// private reports whether the host exists only inside a network.
func (h host) private() bool {
	if h.addr.IsValid() {
		return privateAddr(h.addr)
	}
	return !strings.Contains(h.name, ".") || slices.ContainsFunc(privateNames, func(top string) bool {
		rest, ok := strings.CutSuffix(h.name, top)
		return ok && (rest == "" || rest[len(rest)-1] == '.')
	})
}

func privateAddr(addr netip.Addr) bool {
	for _, p := range privatePrefixes {
		if p.Contains(addr) {
			return true
		}
	}
	if addr.Is4() {
		return false
	}
	bytes := addr.As16()
	for _, e := range embedding {
		if e.prefix.Contains(addr) {
			return privateAddr(netip.AddrFrom4([4]byte(bytes[e.at:])))
		}
	}
	return false
}

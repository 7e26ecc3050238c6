package outbound

import (
	"errors"
	"net/netip"

	"github.com/shortline/shortline/shared/each"
)

// ErrForbidden is wrapped by a request's error if the policy forbids the address. No packet was sent to it.
var ErrForbidden = errors.New("the address is not a public one")

// special has the networks of the IANA special-purpose registries in IPv4 and in the global unicast space of IPv6,
// which are not routed to one holder. IPv6 prefixes that embed IPv4 addresses are refused as a whole, because their
// translation depends on the network.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // Azure's platform service, reachable only from its virtual machines
	"2001::/23",        // Teredo, ORCHID, benchmarking and other protocol assignments
	"2001:db8::/32",    // documentation
	"2002::/16",        // 6to4
	"2620:4f:8000::/48",
	"3fff::/20", // documentation
)

// globalUnicast is the IPv6 space for ordinary use. Outside are the unspecified and the loopback address,
// IPv4-compatible and translated addresses, NAT64, discard, segment routing, unique local, link-local, site-local and
// multicast.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	return each.Of(list, netip.MustParsePrefix)
}

// Public reports whether an address is routed on the public internet.
func Public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	return !within(special, addr)
}

func within(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

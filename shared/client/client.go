// Package client defines the key under which limits, lockouts and quotas count a client.
package client

import "net/netip"

// Key returns the client that an address belongs to. For IPv4, also if it is mapped to IPv6, that is the address itself.
// For IPv6 it is the /64 network: one household or one rented machine has a whole /64, so single addresses would not
// identify it. The key of an invalid address is invalid.
func Key(ip netip.Addr) netip.Addr {
	ip = ip.Unmap()
	if !ip.Is6() {
		return ip
	}
	p, err := ip.WithZone("").Prefix(64)
	if err != nil { // cannot happen for a valid IPv6 address
		return ip
	}
	return p.Addr()
}

// Package client names clients. Limits, lockouts and quotas count by this name.
package client

import "net/netip"

// Key is the client that an address belongs to: the address itself for IPv4, also where it is written as IPv6, and the
// /64 network for IPv6. One household or one rented machine has a whole /64, so counting its addresses one by one
// would count nothing. The key of no address is no address.
func Key(ip netip.Addr) netip.Addr {
	ip = ip.Unmap()
	if !ip.Is6() {
		return ip
	}
	p, err := ip.WithZone("").Prefix(64)
	if err != nil { // not for a valid IPv6 address
		return ip
	}
	return p.Addr()
}

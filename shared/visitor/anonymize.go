package visitor

import (
	"fmt"
	"net/netip"
)

// Anonymize says what of a visitor's address is left out before it is kept. The zero value leaves nothing out.
type Anonymize uint8

// What may be left out.
const (
	WholeAddress    Anonymize = iota // nothing
	TruncateAddress                  // all but 24 bits of an IPv4 address and 48 bits of an IPv6 address
	NoAddress                        // everything
)

// ParseAnonymize reads a setting: off (or nothing), truncate or all.
func ParseAnonymize(text string) (Anonymize, error) {
	switch text {
	case "", "off":
		return WholeAddress, nil
	case "truncate":
		return TruncateAddress, nil
	case "all":
		return NoAddress, nil
	}
	return 0, fmt.Errorf("%q must be off, truncate or all", text)
}

// Address is what may be kept of an address. It allocates nothing.
func (a Anonymize) Address(ip netip.Addr) netip.Addr {
	if a == WholeAddress {
		return ip
	}
	if a == NoAddress {
		return netip.Addr{}
	}
	ip = ip.Unmap()
	bits := 48
	if ip.Is4() {
		bits = 24
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Addr{} // there was no address
	}
	return p.Addr()
}

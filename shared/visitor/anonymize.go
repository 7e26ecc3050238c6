package visitor

import (
	"fmt"
	"net/netip"
)

// Anonymize is the part of a visitor's address that is removed before the address is stored. The zero value removes
// nothing.
type Anonymize uint8

// The parts that can be removed.
const (
	WholeAddress    Anonymize = iota // nothing is removed
	TruncateAddress                  // all but 24 bits of an IPv4 address and 48 bits of an IPv6 address
	NoAddress                        // the whole address
)

// ParseAnonymize parses a setting: "off" (or ""), "truncate" or "all".
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

// Address returns the part of an address that may be stored. It does not allocate.
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

package rule

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
)

// address is an IPv6 address, or an IPv4 address in its IPv4-mapped form, as a number.
type address struct{ high, low uint64 }

func addressOf(a netip.Addr) address {
	b := a.As16()
	return address{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (a address) less(b address) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

// next returns the following address; after the last one, the first one.
func (a address) next() address {
	if a.low++; a.low == 0 {
		a.high++
	}
	return a
}

func (a address) previous() address {
	if a.low == 0 {
		a.high--
	}
	a.low--
	return a
}

// mapped are the IPv4 addresses. A network of IPv6 never contains them.
var mapped = addressRange{address{0, 0xFFFF_0000_0000}, address{0, 0xFFFF_FFFF_FFFF}}

type addressRange struct{ first, last address }

// numbersPerRange is how many numbers of Program.numbers one range has: those of its first and its last address.
const numbersPerRange = 4

// within reports whether sorted ranges contain an address. The zero Addr is in no range.
func within(ranges []uint64, addr netip.Addr) bool {
	if !addr.IsValid() {
		return false
	}
	a := addressOf(addr)
	low, high := 0, len(ranges)/numbersPerRange // the last range that begins at or before a is below high
	for low < high {
		middle := int(uint(low+high) / 2)
		if r := ranges[numbersPerRange*middle:]; a.less(address{r[0], r[1]}) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if low == 0 {
		return false
	}
	r := ranges[numbersPerRange*(low-1):]
	return !address{r[2], r[3]}.less(a)
}

// addresses adds the ranges of networks and returns the place of the first number and the number of ranges.
func (c *compiler) addresses(networks []netip.Prefix) (at, count uint32) {
	var ranges []addressRange
	for _, n := range networks {
		r := rangeOf(n)
		if n.Addr().Is4() || r.last.less(mapped.first) || mapped.last.less(r.first) {
			ranges = append(ranges, r)
			continue
		}
		ranges = append(ranges, addressRange{r.first, mapped.first.previous()}, addressRange{mapped.last.next(), r.last})
	}
	slices.SortFunc(ranges, func(a, b addressRange) int {
		if a.first.less(b.first) {
			return -1
		}
		return 1
	})
	at = c.numbers()
	for i := 0; i < len(ranges); count++ {
		r := ranges[i]
		for i++; i < len(ranges) && !r.last.less(ranges[i].first); i++ {
			if r.last.less(ranges[i].last) {
				r.last = ranges[i].last
			}
		}
		c.numbers(r.first.high, r.first.low, r.last.high, r.last.low)
	}
	return at, count
}

// rangeOf returns the first and the last address of a network.
func rangeOf(n netip.Prefix) addressRange {
	r := addressRange{first: addressOf(n.Masked().Addr())}
	r.last = r.first
	free := n.Addr().BitLen() - n.Bits() // bits that the network does not determine
	if free >= 64 {
		r.last.low = ^uint64(0)
		r.last.high |= 1<<(free-64) - 1
	} else {
		r.last.low |= 1<<free - 1
	}
	return r
}

func (p *parser) addressValue(c *condition, v *value, at *path) {
	switch {
	case v.shape == shapeText:
		c.networks = []netip.Prefix{p.network(v, at)}
	case v.shape != shapeList:
		p.report(at, "value must be an IP address, a network such as 192.0.2.0/24, or a list of them")
	case p.listFits(v, at):
		for i := range v.items {
			c.networks = append(c.networks, p.network(&v.items[i], at.item(i)))
		}
	}
}

// network parses an address or a network. Its result never has an IPv4-mapped address.
func (p *parser) network(v *value, at *path) netip.Prefix {
	s := strings.TrimSpace(v.text)
	if v.shape == shapeText && len(s) <= maxString {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
			a = a.Unmap()
			return netip.PrefixFrom(a, a.BitLen())
		}
		if n, err := netip.ParsePrefix(s); err == nil {
			if n.Addr().Is4In6() && n.Bits() >= 96 {
				n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
			}
			return n
		}
	}
	p.report(at, "value must be an IP address or a network, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32")
	return netip.Prefix{}
}

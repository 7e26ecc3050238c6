package visitor

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Extras holds what only some links need to know about a visit.
type Extras struct {
	// Query is the raw query of the short URL, without "?". It may alias the request's memory, like the slices of Input.
	Query []byte
	// Link is the number of the visited link.
	Link uint64
	// Known reports whether the visitor's browser sent a valid Cookie. Identity is then its identity.
	Known bool
	// Fresh means that Identity was drawn for a new visitor, who gets it as a Cookie.
	Fresh    bool
	Identity uint64
}

// Extend adds facts to the visitor of the present request. Without Extend, v has no parameters, and it is unknown whether
// the visitor has been here before. The next Reset removes them.
func (v *Visitor) Extend(x Extras) {
	v.extras = x
	v.known = v.known&^(knowsParams|knowsIdentity) | knowsExtras
	if x.Known || x.Fresh {
		v.identity = x.Identity
		v.known |= knowsIdentity
	}
}

// Address returns the visitor's whole address, or the zero Addr if it is unknown.
func (v *Visitor) Address() netip.Addr { return v.in.IP }

// Param returns the decoded value of the first of the visitor's query parameters with a name, or "" if there is none. It
// is valid until the next call of Param or Reset. The limits of link.Params apply.
func (v *Visitor) Param(name string) string {
	if v.known&knowsParams == 0 {
		if v.known&knowsExtras == 0 {
			return ""
		}
		v.params.Reset(v.extras.Query)
		v.known |= knowsParams
	}
	return v.params.Value(name)
}

// Identity returns a number that recognises the visitor: the identity in the visitor's Cookie, or a fresh one, else a hash of the
// anonymised address (/24 of IPv4, /48 of IPv6) and the User-Agent. It is the same at every edge and after every restart.
// Visitors with the same network and the same browser share an identity.
func (v *Visitor) Identity() uint64 {
	if v.known&knowsIdentity == 0 {
		v.identity = identify(v.in.IP, v.in.UserAgent)
		v.known |= knowsIdentity
	}
	return v.identity
}

// Share returns 64 bits that depend on the visitor's identity and on the link only. They are uniformly distributed over
// visitors, and independent between links.
func (v *Visitor) Share() uint64 {
	number := uint64(0)
	if v.known&knowsExtras != 0 {
		number = v.extras.Link
	}
	return blend(blend(v.Identity(), number^0x2545F4914F6CDD1D), 0x9E3779B97F4A7C15)
}

// identify hashes an address and a User-Agent. The result must never change: cookies and the parts of visitors that rules
// choose depend on it. TestIdentity_never_changes has examples.
func identify(ip netip.Addr, agent []byte) uint64 {
	var b [16]byte
	if ip = TruncateAddress.Address(ip); ip.IsValid() {
		b = ip.As16()
	}
	h := blend(binary.LittleEndian.Uint64(b[:8]), 0xA0761D6478BD642F)
	h = blend(h^binary.LittleEndian.Uint64(b[8:]), 0xE7037ED1A0B428DB^uint64(len(agent)))
	for len(agent) >= 8 {
		h = blend(h^binary.LittleEndian.Uint64(agent), 0x8EBC6AF09C88C6E3)
		agent = agent[8:]
	}
	var rest [8]byte
	copy(rest[:], agent)
	return blend(h^binary.LittleEndian.Uint64(rest[:]), 0x589965CC75374CC3)
}

// blend mixes all bits of two numbers: it multiplies them to 128 bits and folds the halves. The constants make a factor of
// 0, which would lose the other number, unlikely.
func blend(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x1D8E4E27C47D124F, b^0xEB44ACCAB455D165)
	h := high ^ low
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	return h ^ h>>32
}

// Cookie is the name of the cookie that recognises a visitor. Its value is an identity, see ParseIdentity.
const Cookie = "sl_v"

// identityDigits is the length of an identity as text.
const identityDigits = 16

// ParseIdentity parses the value of a Cookie: 16 hexadecimal digits in lower case.
func ParseIdentity[T string | []byte](text T) (id uint64, ok bool) {
	if len(text) != identityDigits {
		return 0, false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		id = id<<4 | uint64(c)
	}
	return id, true
}

// AppendIdentity appends an identity as the value of a Cookie.
func AppendIdentity(b []byte, id uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[id>>shift&15])
	}
	return b
}

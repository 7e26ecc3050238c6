package rule

import "net/netip"

// Facts provides the facts about a visitor. An implementation computes a fact on the first call and must not allocate
// for it afterwards. A returned string is valid for the duration of the request.
type Facts interface {
	// Fact returns the visitor's value, or "" if it is unknown.
	Fact(Field) string
	// UnixMilli returns the time of the request.
	UnixMilli() int64
	// Address returns the visitor's IP address, or the zero Addr if it is unknown.
	Address() netip.Addr
	// Param returns the decoded value of the first of the visitor's query parameters with a name, or "" if there is none.
	// The string is valid until the next call of Param.
	Param(name string) string
	// Share returns 64 bits that are always the same for one visitor and link, uniformly distributed over visitors, and
	// independent between links.
	Share() uint64
}

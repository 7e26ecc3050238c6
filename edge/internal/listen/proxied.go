package listen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
)

// proxied are the settings and counters of the PROXY protocol.
type proxied struct {
	trusted                       func(netip.Addr) bool
	missing, malformed, untrusted atomic.Uint64
}

// ProxyStats holds the counters of the PROXY protocol: connections that were closed.
type ProxyStats struct {
	Missing   uint64 // a trusted proxy sent something else
	Malformed uint64
	Untrusted uint64 // another client sent a PROXY header
}

// Proxied turns on the PROXY protocol, versions 1 and 2, on all ports. Connections from trusted addresses must begin with a
// PROXY header, and count as connections from the address in it. Those from other addresses must not. Call it after
// AwaitHeads and before Accept.
func (l *Listener) Proxied(trusted func(netip.Addr) bool) { l.proxied = &proxied{trusted: trusted} }

// ProxyStats returns the counters of the PROXY protocol, or nil if it is off.
func (l *Listener) ProxyStats() *ProxyStats {
	p := l.proxied
	if p == nil {
		return nil
	}
	return &ProxyStats{p.missing.Load(), p.malformed.Load(), p.untrusted.Load()}
}

// addrOf returns the IP address of the other end of a connection.
func addrOf(c net.Conn) netip.Addr {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// awaitProxy reads the PROXY header of a connection. It returns false if the connection must be closed.
func (c *conn) awaitProxy(p *proxied) bool {
	b := &c.buffered
	if c.secure != nil {
		b = &c.secure.ahead
	}
	trusted := p.trusted(addrOf(c))
	for {
		from, n, err := parseProxy(*b)
		switch {
		case errors.Is(err, errShortProxy):
			if c.more(b, maxProxy) != nil {
				return false // as any connection that sends nothing
			}
		case errors.Is(err, errNoProxy):
			if trusted {
				p.missing.Add(1)
			}
			return !trusted
		case !trusted:
			p.untrusted.Add(1)
			return false
		case err != nil:
			p.malformed.Add(1)
			return false
		default:
			if from.IsValid() {
				c.from = net.TCPAddrFromAddrPort(from)
			}
			*b = (*b)[n:]
			return true
		}
	}
}

// maxProxy is the maximum size of a PROXY header in bytes. Version 2 allows 64 KiB of extensions, but proxies send a few
// hundred bytes at most.
const maxProxy = 2 << 10

var (
	errNoProxy    = errors.New("listen: no PROXY header")
	errShortProxy = errors.New("listen: incomplete PROXY header")
	errBadProxy   = errors.New("listen: malformed PROXY header")
)

const (
	proxyV1 = "PROXY "
	proxyV2 = "\r\n\r\n\x00\r\nQUIT\n"
	maxV1   = 107 // bytes of a header of version 1, with its line end
)

// parseProxy parses a PROXY header at the start of b, which has n bytes. from is invalid if the proxy speaks for itself
// (LOCAL) or does not know the client (UNKNOWN). The error is errNoProxy if b begins with something else, errShortProxy if
// more bytes are needed, or errBadProxy.
func parseProxy(b []byte) (from netip.AddrPort, n int, err error) {
	switch {
	case bytes.HasPrefix(b, []byte(proxyV1)):
		return parseV1(b)
	case bytes.HasPrefix(b, []byte(proxyV2)):
		return parseV2(b)
	case strings.HasPrefix(proxyV1, string(b[:min(len(b), len(proxyV1))])),
		strings.HasPrefix(proxyV2, string(b[:min(len(b), len(proxyV2))])):
		return from, 0, errShortProxy
	}
	return from, 0, errNoProxy
}

// parseV1 parses a line such as "PROXY TCP4 203.0.113.7 198.51.100.1 51234 443".
func parseV1(b []byte) (from netip.AddrPort, n int, err error) {
	end := bytes.Index(b[:min(len(b), maxV1)], []byte("\r\n"))
	if end < 0 {
		if len(b) >= maxV1 {
			return from, 0, errBadProxy
		}
		return from, 0, errShortProxy
	}
	n = end + 2
	fields := strings.Split(string(b[len(proxyV1):end]), " ")
	if fields[0] == "UNKNOWN" {
		return from, n, nil
	}
	if len(fields) != 5 || fields[0] != "TCP4" && fields[0] != "TCP6" {
		return from, 0, errBadProxy
	}
	source, err1 := netip.ParseAddr(fields[1])
	_, err2 := netip.ParseAddr(fields[2])
	port, err3 := strconv.ParseUint(fields[3], 10, 16)
	_, err4 := strconv.ParseUint(fields[4], 10, 16)
	if errors.Join(err1, err2, err3, err4) != nil || source.Is4() != (fields[0] == "TCP4") || source.Zone() != "" {
		return from, 0, errBadProxy
	}
	return netip.AddrPortFrom(source.Unmap(), uint16(port)), n, nil
}

// parseV2 parses the binary form. Extensions are skipped.
func parseV2(b []byte) (from netip.AddrPort, n int, err error) {
	const header = len(proxyV2) + 4
	if len(b) < header {
		return from, 0, errShortProxy
	}
	command, family := b[12], b[13]
	size := int(binary.BigEndian.Uint16(b[14:]))
	n = header + size
	switch {
	case command != 0x20 && command != 0x21 || n > maxProxy:
		return from, 0, errBadProxy
	case len(b) < n:
		return from, 0, errShortProxy
	case command == 0x20: // LOCAL
		return from, n, nil
	}
	addresses := b[header:n]
	switch {
	case family == 0x11 && size >= 12: // TCP over IPv4
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addresses)), binary.BigEndian.Uint16(addresses[8:])), n, nil
	case family == 0x21 && size >= 36: // TCP over IPv6
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(addresses)).Unmap(), binary.BigEndian.Uint16(addresses[32:])), n, nil
	case family == 0x00, family == 0x31: // unknown, or a Unix socket
		return from, n, nil
	}
	return from, 0, errBadProxy
}

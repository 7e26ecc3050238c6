// Package proxyheader parses the headers with which proxies tell the address of a client: versions 1 and 2 of "The PROXY protocol", which
// HAProxy specifies.
package proxyheader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// MaxSize is the maximum size of a PROXY header in bytes. Version 2 allows 64 KiB of extensions, but proxies send a few
// hundred bytes at most.
const MaxSize = 2 << 10

// Errors of Parse.
var (
	ErrNone       = errors.New("proxyheader: no PROXY header")
	ErrIncomplete = errors.New("proxyheader: incomplete")
	ErrMalformed  = errors.New("proxyheader: malformed")
)

const (
	proxyV1 = "PROXY "
	proxyV2 = "\r\n\r\n\x00\r\nQUIT\n"
	maxV1   = 107 // bytes of a header of version 1, with its line end
)

// Parse parses the PROXY header with which b begins. It returns the client's address and the size n of the header in bytes. from is
// invalid if the proxy speaks for itself (LOCAL) or does not know the client (UNKNOWN). The error is ErrNone if b begins with something
// else. It is ErrIncomplete if the rest of the header has not arrived, and ErrMalformed if the header is wrong.
func Parse(b []byte) (from netip.AddrPort, n int, err error) {
	switch {
	case bytes.HasPrefix(b, []byte(proxyV1)):
		return parseV1(b)
	case bytes.HasPrefix(b, []byte(proxyV2)):
		return parseV2(b)
	case strings.HasPrefix(proxyV1, string(b[:min(len(b), len(proxyV1))])),
		strings.HasPrefix(proxyV2, string(b[:min(len(b), len(proxyV2))])):
		return from, 0, ErrIncomplete
	}
	return from, 0, ErrNone
}

// parseV1 parses a line such as "PROXY TCP4 203.0.113.7 198.51.100.1 51234 443".
func parseV1(b []byte) (from netip.AddrPort, n int, err error) {
	end := bytes.Index(b[:min(len(b), maxV1)], []byte("\r\n"))
	if end < 0 {
		if len(b) >= maxV1 {
			return from, 0, ErrMalformed
		}
		return from, 0, ErrIncomplete
	}
	n = end + 2
	fields := strings.Split(string(b[len(proxyV1):end]), " ")
	if fields[0] == "UNKNOWN" {
		return from, n, nil
	}
	if len(fields) != 5 || fields[0] != "TCP4" && fields[0] != "TCP6" {
		return from, 0, ErrMalformed
	}
	source, err1 := netip.ParseAddr(fields[1])
	_, err2 := netip.ParseAddr(fields[2])
	port, err3 := strconv.ParseUint(fields[3], 10, 16)
	_, err4 := strconv.ParseUint(fields[4], 10, 16)
	if errors.Join(err1, err2, err3, err4) != nil || source.Is4() != (fields[0] == "TCP4") || source.Zone() != "" {
		return from, 0, ErrMalformed
	}
	return netip.AddrPortFrom(source.Unmap(), uint16(port)), n, nil
}

// parseV2 parses a header of version 2, which is binary. It skips the extensions.
func parseV2(b []byte) (from netip.AddrPort, n int, err error) {
	const header = len(proxyV2) + 4
	if len(b) < header {
		return from, 0, ErrIncomplete
	}
	command, family := b[12], b[13]
	size := int(binary.BigEndian.Uint16(b[14:]))
	n = header + size
	switch {
	case command != 0x20 && command != 0x21 || n > MaxSize:
		return from, 0, ErrMalformed
	case len(b) < n:
		return from, 0, ErrIncomplete
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
	return from, 0, ErrMalformed
}

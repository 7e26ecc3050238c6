package redirect

import (
	"bytes"
	"encoding/binary"
)

// simple returns the target of a request for a link that is answered without waiting, and all that follows its first line: GET or HEAD
// for a slug, with HTTP/1.1. ok is false for all other requests, such as those for the control plane and passwords.
func (h *Handler) simple(request []byte) (t target, header []byte, ok bool) {
	end := bytes.IndexByte(request, '\n')
	if end < 0 {
		return t, nil, false
	}
	line, ok := bytes.CutSuffix(request[:end], []byte(" HTTP/1.1\r"))
	uri, get := bytes.CutPrefix(line, []byte("GET "))
	if !get {
		uri, get = bytes.CutPrefix(line, []byte("HEAD "))
	}
	if !ok || !get || len(uri) == 0 || uri[0] != '/' {
		return t, nil, false
	}
	for _, c := range uri {
		if c <= ' ' || c == 0x7f || c == '#' {
			return t, nil, false
		}
	}
	t = split(uri)
	return t, request[end+1:], t.slug != nil && len(t.rest) == 0 && (h.deps.Upstream == nil || !h.deps.Upstream.Owns(t.path))
}

// parse fills the request with the values of its header lines, in one pass. It collects the client address from the lines that
// from says. It returns the size of the header lines with the empty line at their end, and whether the client wants the connection to end
// after the answer.
//
// The size is 0 for header lines that are unusual or that say that there is more than the head, such as a body. They are the
// server's. What parse accepts, the server accepts too, and understands in the same way (RFC 9110, 5 and RFC 9112, 5).
func (w *work) parse(header []byte, from proxies) (size int, closes bool) {
	w.facts, w.host, w.agent, w.raw = facts{forwarded: w.forwarded[:0]}, nil, nil, nil
	w.cookie = w.cookie[:0]
	for rest := header; ; {
		end := bytes.IndexByte(rest, '\n')
		if end < 1 || rest[end-1] != '\r' {
			return 0, false
		}
		line := rest[:end-1]
		rest = rest[end+1:]
		if len(line) == 0 {
			if size = len(header) - len(rest); len(w.host) == 0 {
				size = 0
			}
			w.raw = header[:size]
			return size, closes
		}
		name := 0
		for name < len(line) && nameByte[line[name]] {
			name++
		}
		if name == 0 || name == len(line) || line[name] != ':' || !printable(line[name+1:]) {
			return 0, false
		}
		switch line[0] | 0x20 {
		case 'h':
			if v := field(line, "host"); v != nil {
				if w.host != nil || !plainHost(v) {
					return 0, false
				}
				w.host = v
			}
		case 'u':
			if v := field(line, "user-agent"); v != nil {
				if w.agent != nil {
					return 0, false
				}
				w.agent = v
			}
		case 'c':
			if field(line, "content-length") != nil {
				return 0, false
			}
			if v := field(line, "connection"); v != nil {
				if closes = string(v) == "close"; !closes && !bytes.EqualFold(v, []byte("keep-alive")) {
					return 0, false
				}
			}
		case 'e':
			if field(line, "expect") != nil {
				return 0, false
			}
		case 't':
			if field(line, "transfer-encoding") != nil || field(line, "trailer") != nil {
				return 0, false
			}
		default:
			w.line(line, from)
		}
		w.takeProxyHeader(line, from)
	}
}

// nameByte is true for the bytes of field names (RFC 9110, 5.6.2).
var nameByte = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~") {
		set[c] = true
	}
	for c := range 256 {
		if slugByte[c] {
			set[c] = true
		}
	}
	return
}()

// printable reports whether a text has no control characters. It looks at eight bytes at a time (Hacker's Delight, 6-1).
func printable(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		low, del := x-0x20*ones, x^0x7f*ones // a byte below 0x20 borrows; DEL becomes 0
		if (low&^x|(del-ones)&^del)&highs != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// plainHost reports whether the server accepts a Host for certain: a name or an IPv4 address, perhaps with a port.
func plainHost(host []byte) bool {
	name, port, hasPort := bytes.Cut(host, []byte(":"))
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
	}
	for _, c := range name {
		if !slugByte[c] && c != '.' {
			return false
		}
	}
	return len(name) > 0 && (!hasPort || len(port) > 0)
}

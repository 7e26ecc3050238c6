// Package corpus holds raw requests for tests of every server of this service. Two servers in a row could read many of
// them differently. They are made from a table, so each run has the same requests with the same names.
package corpus

import (
	"fmt"
	"strings"
)

// Verdict is the expected treatment of a request.
type Verdict int

// Verdicts.
const (
	Sound     Verdict = iota // the server answers and may keep the connection
	Misframed                // the server answers 400 and closes the connection
	Odd                      // the framing is correct; the server gives no answer, or any but a 5xx
)

// Request is one request with the bytes that follow it in the same packet.
type Request struct {
	Name    string
	Raw     string
	Verdict Verdict
	Before  string // the sound requests at the beginning of Raw
}

// Path is the path of most sound requests. No resource has this path.
const Path = "/api/nobody-has-this"

const (
	host = "Host: sho.rt\r\n"
	good = "GET " + Path + " HTTP/1.1\r\n" + host + "\r\n"
	// inner is the request that an attacker tries to smuggle in.
	inner = "GET /smuggled HTTP/1.1\r\n" + host + "\r\n"
)

// Requests returns all requests, more than 300, always in the same order.
func Requests() []Request {
	var all []Request
	add := func(v Verdict, name, raw string) {
		for _, r := range all {
			if r.Name == name {
				panic("BUG: two requests are named " + name)
			}
		}
		all = append(all, Request{Name: name, Raw: raw, Verdict: v})
	}
	lines(add)
	lengths(add)
	encodings(add)
	chunks(add)
	oddities(add)
	// A request that is bad in first place is also bad in second place.
	for _, r := range all {
		if r.Verdict == Misframed && !strings.HasPrefix(r.Name, "chunk") {
			all = append(all, Request{Name: "second: " + r.Name, Raw: good + r.Raw, Verdict: Misframed, Before: good})
		}
	}
	return all
}

type adder = func(v Verdict, name, raw string)

// methods are methods with and without a body.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}

// lines adds requests with line ends, folded lines, versions and NUL bytes of all kinds.
func lines(add adder) {
	for _, m := range methods {
		line := m + " " + Path
		add(Sound, "plain "+m, line+" HTTP/1.1\r\n"+host+"\r\n")
		add(Misframed, "bare LF after the request line "+m, line+" HTTP/1.1\n"+host+"\r\n")
		add(Misframed, "bare LF after a field "+m, line+" HTTP/1.1\r\nHost: sho.rt\nX: y\r\n\r\n")
		add(Misframed, "bare LF at the end of the head "+m, line+" HTTP/1.1\r\n"+host+"\n")
		add(Misframed, "bare LFs only "+m, line+" HTTP/1.1\nHost: sho.rt\n\n")
		add(Misframed, "folded by a space "+m, line+" HTTP/1.1\r\n"+host+"X: a\r\n b\r\n\r\n")
		add(Misframed, "folded by a tab "+m, line+" HTTP/1.1\r\n"+host+"X: a\r\n\tb\r\n\r\n")
		add(Misframed, "folded empty value "+m, line+" HTTP/1.1\r\n"+host+"X:\r\n b\r\n\r\n")
		add(Misframed, "first field begins with a space "+m, line+" HTTP/1.1\r\n "+host+"\r\n")
		add(Misframed, "NUL in a value "+m, line+" HTTP/1.1\r\n"+host+"X: a\x00b\r\n\r\n")
		add(Misframed, "NUL in a name "+m, line+" HTTP/1.1\r\n"+host+"X\x00Y: a\r\n\r\n")
		add(Misframed, "NUL in the target "+m, line+"\x00 HTTP/1.1\r\n"+host+"\r\n")
	}
	for _, version := range []string{"HTTP/0.9", "HTTP/1.2", "HTTP/1.9", "HTTP/2.0", "HTTP/2", "HTTP/3.0", "HTTP/1", "HTTP/1.", "HTTP/1.10",
		"HTTP/01.1", "http/1.1", "HTTP/1,1", "HTTX/1.1", "HTTP/ 1.1", "HTTP/1.1 ", "HTTP/1.1\t", "HTTP/1.1\r", "", "X"} {
		add(Misframed, fmt.Sprintf("version %q", version), "GET "+Path+" "+version+"\r\n"+host+"\r\n")
	}
	add(Misframed, "no version", "GET "+Path+"\r\n"+host+"\r\n")
	add(Misframed, "HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	add(Misframed, "an LF before the request", "\n"+good)
	add(Misframed, "a space before the request", " "+good)
	add(Misframed, "not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
}

// lengths adds requests with all kinds of Content-Length.
func lengths(add adder) {
	for _, m := range []string{"GET", "POST", "PUT"} {
		head := m + " " + Path + " HTTP/1.1\r\n" + host
		add(Sound, "length 5 "+m, head+"Content-Length: 5\r\n\r\nhello")
		add(Sound, "length 0 "+m, head+"Content-Length: 0\r\n\r\n")
		add(Sound, "length in lower case with tabs "+m, head+"content-length:\t5\t\r\n\r\nhello")
		for _, value := range []string{"", "-1", "+5", "5,5", "5, 5", "0x5", "5 5", "5;", "5a", "a", "1e1", "٥", "99999999999999999999",
			"18446744073709551621", "5.0", "\"5\""} {
			add(Misframed, fmt.Sprintf("length %q %s", value, m), head+"Content-Length: "+value+"\r\n\r\nhello"+inner)
		}
		for _, other := range []string{"5", "0", "6", ""} {
			add(Misframed, fmt.Sprintf("lengths 5 and %q %s", other, m), head+"Content-Length: 5\r\nContent-Length: "+other+
				"\r\n\r\nhello"+inner)
		}
		add(Misframed, "lengths apart "+m, head+"Content-Length: 5\r\nX: y\r\ncontent-length: 5\r\n\r\nhello")
		add(Misframed, "length with a space before the colon "+m, head+"Content-Length : 5\r\n\r\nhello")
		add(Misframed, "length with a tab before the colon "+m, head+"Content-Length\t: 5\r\n\r\nhello")
		add(Misframed, "length folded "+m, head+"Content-Length:\r\n 5\r\n\r\nhello")
	}
}

// encodings adds requests with all kinds of Transfer-Encoding.
func encodings(add adder) {
	const empty = "0\r\n\r\n"
	for _, m := range []string{"GET", "POST", "PUT"} {
		head := m + " " + Path + " HTTP/1.1\r\n" + host
		add(Sound, "chunked "+m, head+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"+empty)
		add(Sound, "chunked in capitals "+m, head+"TRANSFER-ENCODING: CHUNKED\r\n\r\n"+empty)
		for _, value := range []string{"", "identity", "gzip", "gzip, chunked", "chunked, chunked", "chunked,",
			"chunked, identity", "xchunked",
			"chunkedx", "chunked;q=1", "\"chunked\"", "chun ked", "\x0bchunked", "chunked\x0b"} {
			add(Misframed, fmt.Sprintf("encoding %q %s", value, m), head+"Transfer-Encoding: "+value+"\r\n\r\n"+empty+inner)
		}
		for _, both := range []string{"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
			"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n",
			"Content-Length: 5\r\nTransfer-Encoding: identity\r\n", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
			"Content-Length: 5\r\nTransfer-Encoding : chunked\r\n", "Content-Length: 5\r\nX: y\nTransfer-Encoding: chunked\r\n",
			"Content-Length: 5\r\n Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"} {
			add(Misframed, fmt.Sprintf("both %q %s", both, m), head+both+"\r\n"+empty+inner)
		}
		add(Misframed, "chunked in HTTP/1.0 "+m, m+" "+Path+" HTTP/1.0\r\n"+host+"Transfer-Encoding: chunked\r\n\r\n"+empty+inner)
	}
}

// chunks adds requests with well-formed and malformed chunked bodies.
func chunks(add adder) {
	head := "POST " + Path + " HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct{ name, body string }{
		{"extension", "5;a=b\r\nhello\r\n0\r\n\r\n"}, {"trailer", "5\r\nhello\r\n0\r\nX-T: v\r\n\r\n"},
		{"capitals", "A\r\n0123456789\r\n0\r\n\r\n"}, {"zeros", "0005\r\nhello\r\n000\r\n\r\n"},
	} {
		add(Sound, "chunk sound "+c.name, head+c.body)
	}
	for _, c := range []struct{ name, body string }{
		{"size ends with LF", "5\nhello\r\n0\r\n\r\n"}, {"data ends with LF", "5\r\nhello\n0\r\n\r\n"},
		{"data is too long", "5\r\nhello!\r\n0\r\n\r\n"}, {"no size", "\r\nhello\r\n0\r\n\r\n"},
		{"size negative", "-5\r\nhello\r\n0\r\n\r\n"}, {"size with plus", "+5\r\nhello\r\n0\r\n\r\n"},
		{"size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"}, {"size overflows", "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n"},
		{"size is text", "hello\r\n0\r\n\r\n"}, {"space before the size", " 5\r\nhello\r\n0\r\n\r\n"},
		{"space in the size", "5 5\r\nhello\r\n0\r\n\r\n"}, {"last ends with LF", "5\r\nhello\r\n0\n\r\n"},
		{"extension ends with LF", "5;a=b\nhello\r\n0\r\n\r\n"}, {"trailer ends with LF", "0\r\nX: y\n\r\n"},
		{"trailer is folded", "0\r\nX: y\r\n z\r\n\r\n"},
		{"endless extension", "5;" + strings.Repeat("a", 9000) + "\r\nhello\r\n0\r\n\r\n"},
		{"endless trailers", "0\r\n" + strings.Repeat("X: y\r\n", 3000) + "\r\n"}, {"size with a comma", "5,5\r\nhello\r\n0\r\n\r\n"},
	} {
		add(Misframed, "chunk: "+c.name, head+c.body+inner)
	}
}

// oddities adds requests that are correctly framed but unusual in other ways.
func oddities(add adder) {
	for _, c := range []struct{ name, head string }{
		{"no host", "GET / HTTP/1.1\r\n"}, {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n"}, {"HTTP/1.0", "GET / HTTP/1.0\r\n"},
		{"absolute form", "GET http://other.test/api HTTP/1.1\r\n" + host},
		{"asterisk", "OPTIONS * HTTP/1.1\r\n" + host}, {"CONNECT", "CONNECT a:1 HTTP/1.1\r\n" + host},
		{"TRACE", "TRACE / HTTP/1.1\r\n" + host},
		{"dot segments", "GET /api/../edge/v1/snapshot HTTP/1.1\r\n" + host},
		{"encoded dot segments", "GET /api/%2e%2e/edge/v1/snapshot HTTP/1.1\r\n" + host},
		{"upgrade", "GET /api HTTP/1.1\r\n" + host + "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAAA\r\n"},
		{"space before a colon", "GET / HTTP/1.1\r\n" + host + "X : y\r\n"}, {"no colon", "GET / HTTP/1.1\r\n" + host + "nonsense\r\n"},
		{"empty name", "GET / HTTP/1.1\r\n" + host + ": y\r\n"}, {"a bare CR", "GET / HTTP/1.1\r\n" + host + "X: a\rb\r\n"},
		{"two spaces", "GET  / HTTP/1.1\r\n" + host}, {"control character", "GET / HTTP/1.1\r\n" + host + "X: \x01\r\n"},
		{"lower case method", "get / HTTP/1.1\r\n" + host},
		{"large header", "GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 7000) + "\r\n"},
		{"expect something", "POST / HTTP/1.1\r\n" + host + "Expect: tea\r\n"},
		{"connection names framing", "GET / HTTP/1.1\r\n" + host + "Connection: content-length, host\r\n"},
	} {
		add(Odd, "odd: "+c.name, c.head+"\r\n")
	}
	add(Odd, "odd: empty lines before", "\r\n\r\n"+good)
}

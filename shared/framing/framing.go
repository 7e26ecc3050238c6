// Package framing checks the bytes of an HTTP/1 connection as they arrive, before a server parses them.
//
// It owns two rules that every server of this service enforces. The first protects against request smuggling: a
// Tracker refuses each request on whose end two servers in a row could disagree. These are requests with bare line
// feeds, folded lines, both Content-Length and Transfer-Encoding, repeated or malformed lengths, NUL bytes, or
// versions other than HTTP/1.0 and HTTP/1.1. The second rule is how fast a body must arrive (see Pace).
//
// The server does everything else: it checks field names and values, enforces size limits and interprets the request.
package framing

import "bytes"

// Error describes a malformed request. The server must answer 400 and close the connection.
type Error struct {
	reason string
	// Body reports whether the error is in the body. Then the server has already received the request's head.
	Body bool
}

func (e *Error) Error() string { return "framing: " + e.reason }

var (
	errBareLF    = &Error{reason: "a line ends without a carriage return"}
	errFolded    = &Error{reason: "a header line is folded"}
	errVersion   = &Error{reason: "the request line does not end with HTTP/1.0 or HTTP/1.1"}
	errNUL       = &Error{reason: "the head contains a NUL byte"}
	errLength    = &Error{reason: "Content-Length is not one number"}
	errTwice     = &Error{reason: "Content-Length or Transfer-Encoding is repeated"}
	errBoth      = &Error{reason: "Content-Length and Transfer-Encoding are both present"}
	errEncoding  = &Error{reason: "Transfer-Encoding is not chunked, or the version is HTTP/1.0"}
	errColon     = &Error{reason: "a space precedes the colon of a header line"}
	errEmptyLine = &Error{reason: "a request does not begin with a request line"}
	errChunk     = &Error{reason: "a chunk is malformed", Body: true}
	errTrailer   = &Error{reason: "a trailer is malformed", Body: true}
)

// state is the part of a request to which the next byte belongs.
type state uint8

const (
	start    state = iota // the request line, or empty lines before it
	fields                // header lines
	fixed                 // a body of known length
	chunk                 // the line with a chunk's size
	data                  // the data of a chunk
	dataEnd               // the line break after a chunk's data
	trailers              // trailer lines after the last chunk
)

const (
	// kept is how many bytes of an unfinished line are kept. It is enough for the fields that the Tracker checks.
	kept = 64
	// maxChunkLine bounds a chunk's size line with its extensions. maxTrailers bounds all trailers of a body. Both
	// are in bytes. Without them a body could continue without end and without any content.
	maxChunkLine = 256
	maxTrailers  = 4 << 10
	maxEmpty     = 8 // empty lines before a request
)

// Tracker checks the requests of one connection. The zero value is ready for the first request. A Tracker does not
// allocate memory.
type Tracker struct {
	state   state
	http10  bool
	length  bool // the head has a Content-Length
	chunked bool // the head has a Transfer-Encoding
	heads   uint32
	empty   uint8
	npre    uint8      // number of bytes in pre
	line    int        // number of bytes of an unfinished line that have arrived
	left    int64      // remaining bytes of the body or the chunk; in trailers, how many bytes may still come
	pre     [kept]byte // beginning of the unfinished line
	last    [10]byte   // end of the unfinished line, right-aligned
}

// InBody reports whether the next byte belongs to a request's body.
func (t *Tracker) InBody() bool { return t.state >= fixed }

// Between reports whether the next byte begins a request.
func (t *Tracker) Between() bool { return t.state == start && t.line == 0 }

// Heads returns the number of complete request heads. It wraps around.
func (t *Tracker) Heads() uint32 { return t.heads }

// Take checks the next bytes of the connection. It returns how many of them the server may read: all, or, with an
// error, those before the refused request or the refused part of a body. After an error the connection must be
// closed.
func (t *Tracker) Take(b []byte) (n int, err error) {
	i, mark := 0, 0
	for i < len(b) {
		switch t.state {
		case fixed, data:
			n := min(t.left, int64(len(b)-i))
			t.left -= n
			i += int(n)
			if t.left > 0 {
				return len(b), nil
			}
			if t.state == fixed {
				t.state = start
			} else {
				t.state = dataEnd
			}
			mark = i
			continue
		case start:
			if t.line == 0 {
				mark = i
			}
		}
		end := bytes.IndexByte(b[i:], '\n')
		if end < 0 {
			if e := t.keep(b[i:]); e != nil {
				return mark, e
			}
			return len(b), nil
		}
		if e := t.whole(b[i : i+end]); e != nil {
			return mark, e
		}
		i += end + 1
		if t.state == start || t.state == chunk || t.state == data {
			mark = i
		}
	}
	return len(b), nil
}

// whole checks a complete line, the beginning of which may have arrived earlier. line includes the carriage return
// but not the line feed.
func (t *Tracker) whole(line []byte) *Error {
	pre, last := line, line
	if t.line > 0 {
		if e := t.keep(line); e != nil {
			return e
		}
		pre, last = t.pre[:t.npre], t.last[len(t.last)-min(t.line, len(t.last)):]
	} else if bytes.IndexByte(line, 0) >= 0 {
		return t.nul()
	}
	size := max(t.line, len(line))
	t.line, t.npre = 0, 0
	switch t.state {
	case start:
		if size == 1 && pre[0] == '\r' {
			if t.empty++; t.empty > maxEmpty {
				return errEmptyLine
			}
			return nil
		}
		return t.request(pre, last)
	case fields:
		return t.field(pre, last)
	case chunk:
		return t.size(pre, last, size)
	case dataEnd:
		if size != 1 || pre[0] != '\r' {
			return errChunk
		}
		t.state = chunk
		return nil
	default:
		return t.trailer(pre, last, size)
	}
}

// keep stores the parts of an unfinished line that are needed later. The server bounds the length of a head.
func (t *Tracker) keep(part []byte) *Error {
	if bytes.IndexByte(part, 0) >= 0 {
		return t.nul()
	}
	t.npre += uint8(copy(t.pre[t.npre:], part))
	if n := len(part); n >= len(t.last) {
		copy(t.last[:], part[n-len(t.last):])
	} else {
		copy(t.last[:], t.last[n:])
		copy(t.last[len(t.last)-n:], part)
	}
	t.line += len(part)
	if t.InBody() && t.line > maxTrailers || t.state == chunk && t.line > maxChunkLine || t.state == dataEnd && t.line > 1 {
		return errChunk
	}
	return nil
}

func (t *Tracker) nul() *Error {
	if t.InBody() {
		return errChunk
	}
	return errNUL
}

// request checks a request line.
func (t *Tracker) request(pre, last []byte) *Error {
	const version = " HTTP/1.1\r"
	n := len(last)
	switch {
	case n == 0 || last[n-1] != '\r':
		return errBareLF
	case pre[0] == '\r' || pre[0] == ' ' || pre[0] == '\t':
		return errEmptyLine
	case n < len(version):
		return errVersion
	}
	t.http10 = false
	switch string(last[n-len(version):]) {
	case version:
	case " HTTP/1.0\r":
		t.http10 = true
	default:
		return errVersion
	}
	t.state, t.length, t.chunked, t.empty = fields, false, false, 0
	return nil
}

// field checks a header line, or the empty line at the end of the head.
func (t *Tracker) field(pre, last []byte) *Error {
	if n := len(last); n == 0 || last[n-1] != '\r' {
		return errBareLF
	}
	switch pre[0] {
	case ' ', '\t':
		return errFolded
	case 'c', 'C':
		return t.contentLength(pre)
	case 't', 'T':
		return t.transferEncoding(pre)
	case '\r':
		if len(pre) == 1 {
			return t.begin()
		}
	}
	return nil
}

// begin decides at the end of a head what follows it.
func (t *Tracker) begin() *Error {
	t.heads++
	switch {
	case t.chunked && t.length:
		return errBoth
	case t.chunked && t.http10:
		return errEncoding
	case t.chunked:
		t.state = chunk
	case t.length && t.left > 0:
		t.state = fixed
	default:
		t.state = start
	}
	return nil
}

func (t *Tracker) contentLength(line []byte) *Error {
	value, err := valueOf(line, "content-length")
	switch {
	case err != nil:
		return err
	case value == nil:
		return nil
	case t.length:
		return errTwice
	case len(value) == 0 || len(value) > 18: // more digits may not fit into an int64
		return errLength
	}
	t.length, t.left = true, 0
	for _, c := range value {
		if c < '0' || c > '9' {
			return errLength
		}
		t.left = 10*t.left + int64(c-'0')
	}
	return nil
}

func (t *Tracker) transferEncoding(line []byte) *Error {
	value, err := valueOf(line, "transfer-encoding")
	switch {
	case err != nil:
		return err
	case value == nil:
		return nil
	case t.chunked:
		return errTwice
	case len(value) != len("chunked") || !bytes.EqualFold(value, []byte("chunked")):
		return errEncoding
	}
	t.chunked = true
	return nil
}

// valueOf returns the value of a header line with the given name (in lower case), and nil for any other line.
func valueOf(line []byte, name string) ([]byte, *Error) {
	if len(line) <= len(name) || !equalFold(line, name) {
		return nil, nil
	}
	switch line[len(name)] {
	case ':':
	case ' ', '\t':
		return nil, errColon
	default:
		return nil, nil
	}
	value := line[len(name)+1:]
	if len(value) == 0 || value[len(value)-1] != '\r' { // the line was longer than kept
		return nil, errLength
	}
	value = value[:len(value)-1]
	for len(value) > 0 && (value[0] == ' ' || value[0] == '\t') {
		value = value[1:]
	}
	for n := len(value); n > 0 && (value[n-1] == ' ' || value[n-1] == '\t'); n-- {
		value = value[:n-1]
	}
	return value, nil
}

// equalFold reports whether text begins with lower, ignoring case. lower consists of lower-case letters and hyphens.
func equalFold(text []byte, lower string) bool {
	for i := range len(lower) {
		if c := text[i]; c != lower[i] && (c|0x20 != lower[i] || lower[i] == '-') {
			return false
		}
	}
	return true
}

// size checks the line before a chunk: a hexadecimal size and optional extensions, which are ignored.
func (t *Tracker) size(pre, last []byte, size int) *Error {
	if n := len(last); n == 0 || last[n-1] != '\r' || size > maxChunkLine {
		return errChunk
	}
	digits, n := 0, int64(0)
	for digits < len(pre) {
		v, ok := hex(pre[digits])
		if !ok {
			break
		}
		n = n<<4 | v
		digits++
	}
	if digits == 0 || digits > 15 || digits == len(pre) {
		return errChunk
	}
	rest := pre[digits:]
	for rest[0] == ' ' || rest[0] == '\t' {
		if rest = rest[1:]; len(rest) == 0 || rest[0] == ';' { // servers disagree about a space before an extension
			return errChunk
		}
	}
	if rest[0] != ';' && (rest[0] != '\r' || len(rest) > 1) {
		return errChunk
	}
	if t.left = n; n > 0 {
		t.state = data
	} else {
		t.state, t.left = trailers, maxTrailers
	}
	return nil
}

// trailer checks a line after the last chunk.
func (t *Tracker) trailer(pre, last []byte, size int) *Error {
	n := len(last)
	t.left -= int64(size)
	switch {
	case n == 0 || last[n-1] != '\r' || pre[0] == ' ' || pre[0] == '\t' || t.left < 0:
		return errTrailer
	case size == 1:
		t.state = start
	}
	return nil
}

func hex(c byte) (int64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int64(c|0x20-'a') + 10, true
	}
	return 0, false
}

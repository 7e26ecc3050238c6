package redirect

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// facts is what the redirect wants of a request's header, found in one pass. The values alias the request.
type facts struct {
	referer   []byte
	language  []byte
	forwarded [][]byte // X-Forwarded-For, line by line; appended to what it is given
	realIP    []byte
	prefetch  bool
	unsound   bool // a line is folded or ends without a carriage return
	encoded   bool // Transfer-Encoding is there
}

// scanHeader reads a raw header block once. The first of several fields of one name counts.
//
// Who a proxy says the client is, is taken down only if it matters.
//
// The block has been checked by the server before: every line ends in LF, and no name is empty. What the server lets pass
// and must not be answered is told as unsound.
func scanHeader(raw []byte, forwarded [][]byte, proxied bool) (f facts) {
	f.forwarded = forwarded
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 0 {
			return f
		}
		line := raw[:end]
		raw = raw[end+1:]
		if end == 0 || line[end-1] != '\r' {
			f.unsound = true
			return f
		}
		switch line[0] | 0x20 {
		case ' ', '\t' | 0x20:
			f.unsound = f.unsound || folded(line)
		case 't':
			f.encoded = f.encoded || field(line, "transfer-encoding") != nil
		case 'a':
			if f.language == nil {
				f.language = field(line, "accept-language")
			}
		case 'r':
			if f.referer == nil {
				f.referer = field(line, "referer")
			}
		case 's':
			f.prefetch = f.prefetch || early(field(line, "sec-purpose"))
		case 'p':
			f.prefetch = f.prefetch || early(field(line, "purpose"))
		case 'x':
			if proxied {
				if v := field(line, "x-forwarded-for"); v != nil {
					f.forwarded = append(f.forwarded, v)
				} else if f.realIP == nil {
					f.realIP = field(line, "x-real-ip")
				}
			}
			f.prefetch = f.prefetch || early(field(line, "x-moz")) || early(field(line, "x-purpose"))
		}
	}
	return f
}

// field returns the value of a header line whose name, in lower case, is given; nil if it has another name.
func field(line []byte, name string) []byte {
	if len(line) <= len(name) || line[len(name)] != ':' || !foldedEqual(line, name) {
		return nil
	}
	if v := bytes.TrimSpace(line[len(name)+1:]); v != nil {
		return v
	}
	return line[:0] // TrimSpace gives nil where nothing is left; the field is there all the same
}

// first returns the value of the first header line of that name (in lower case), or nil.
func first(raw []byte, name string) []byte {
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 0 {
			return nil
		}
		if v := field(raw[:end], name); v != nil {
			return v
		}
		raw = raw[end+1:]
	}
	return nil
}

// asker is what every answer but a redirect wants of a request's header.
type asker struct {
	accept []byte
	id     []byte // X-Request-ID
	// unsound and encoded are as in facts.
	unsound, encoded bool
}

// scanAsker reads a raw header block once. The first of several fields of one name counts.
func scanAsker(raw []byte) (a asker) {
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 0 {
			return a
		}
		line := raw[:end]
		raw = raw[end+1:]
		if end == 0 || line[end-1] != '\r' {
			a.unsound = true
			return a
		}
		switch line[0] | 0x20 {
		case ' ', '\t' | 0x20:
			a.unsound = a.unsound || folded(line)
		case 't':
			a.encoded = a.encoded || field(line, "transfer-encoding") != nil
		case 'a':
			if a.accept == nil {
				a.accept = field(line, "accept")
			}
		case 'x':
			if a.id == nil {
				a.id = field(line, "x-request-id")
			}
		}
	}
	return a
}

// folded reports whether a line, which is not empty, belongs to the one before it.
func folded(line []byte) bool { return line[0] == ' ' || line[0] == '\t' }

// misfits reports whether another server could read a request differently, by what a scan of its header has found. An
// encoding of a body that the server has not seen is the second way.
func misfits(header *fasthttp.RequestHeader, unsound, encoded bool) bool {
	return unsound || encoded && header.ContentLength() == -2
}

// early reports whether a purpose means that nobody looks at the page yet.
func early(purpose []byte) bool {
	return len(purpose) > 0 && (bytes.Contains(purpose, []byte("prefetch")) ||
		bytes.Contains(purpose, []byte("prerender")) || bytes.Contains(purpose, []byte("preview")))
}

// prefersHTML reports whether an Accept header ranks HTML above JSON. Who accepts anything alike, as scripts
// do, gets JSON.
func prefersHTML(accept []byte) bool {
	html, json := -1, -1
	for len(accept) > 0 {
		item := accept
		if n := bytes.IndexByte(accept, ','); n >= 0 {
			item, accept = accept[:n], accept[n+1:]
		} else {
			accept = nil
		}
		kind, params := item, []byte(nil)
		if n := bytes.IndexByte(item, ';'); n >= 0 {
			kind, params = item[:n], item[n+1:]
		}
		switch kind = bytes.TrimSpace(kind); {
		case bytes.EqualFold(kind, []byte("text/html")), bytes.EqualFold(kind, []byte("application/xhtml+xml")):
			html = max(html, quality(params))
		case bytes.EqualFold(kind, []byte("application/json")):
			json = max(json, quality(params))
		}
	}
	return html > 0 && html >= json
}

// quality returns the q parameter of a media range in thousandths, 1000 where there is none.
func quality(params []byte) int {
	n := bytes.Index(params, []byte("q="))
	if n < 0 {
		return 1000
	}
	v, unit := 0, 1000
	for _, c := range params[n+2:] {
		switch {
		case c == '.':
			continue
		case c < '0' || c > '9' || unit == 0:
			return v
		}
		v += int(c-'0') * unit
		unit /= 10
	}
	return v
}

// Bounds of the bodies that the redirect's own paths take, in bytes.
const (
	maxIdleBody   = 1 << 10 // with a method that needs no body
	maxVerifyBody = 4 << 10
)

// framing says what is wrong with how a request is framed: 0, or the status to refuse it with.
//
// A request with both Content-Length and Transfer-Encoding is where two servers in a row can disagree about
// its end, so it is never answered. The server itself refuses repeated and malformed lengths.
func framing(header *fasthttp.RequestHeader, limit int) int {
	length := header.ContentLength()
	if length == -2 { // neither of the two
		return 0
	}
	raw := header.RawHeaders()
	if first(raw, "transfer-encoding") != nil && first(raw, "content-length") != nil {
		return fasthttp.StatusBadRequest
	}
	if length > limit {
		return fasthttp.StatusRequestEntityTooLarge
	}
	return 0
}

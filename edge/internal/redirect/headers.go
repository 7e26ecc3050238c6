package redirect

import (
	"bytes"
	"strings"

	"github.com/shortline/shortline/shared/accept"
	"github.com/valyala/fasthttp"
)

// facts holds the header values that a redirect needs, found in one pass. The values alias the request.
type facts struct {
	referer   []byte
	language  []byte
	forwarded [][]byte // the lines of X-Forwarded-For or the header of the setting, appended to the given slice
	realIP    []byte
	prefetch  bool
	unsound   bool // a line is folded, ends without a carriage return, or has a space in its name
	encoded   bool // Transfer-Encoding is present
}

// scanHeader scans a raw header block once. If a field occurs several times, the first one counts. It collects the
// client address from the lines that from says.
//
// The server has checked that every line ends with LF and that no name is empty. scanHeader sets unsound for requests
// that the server accepts but that must not be answered.
func scanHeader(raw []byte, forwarded [][]byte, from proxies) (f facts) {
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
		f.unsound = f.unsound || spaced(line)
		switch line[0] | 0x20 {
		case ' ', '\t' | 0x20:
			f.unsound = f.unsound || folded(line)
		case 't':
			f.encoded = f.encoded || field(line, "transfer-encoding") != nil
		default:
			f.line(line, from)
		}
		if from.name != "" {
			f.takeProxyHeader(line, from.name)
		}
	}
	return f
}

// line takes the value of a header line if a redirect needs it. If a field occurs several times, the first one counts.
func (f *facts) line(line []byte, from proxies) {
	switch line[0] | 0x20 {
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
		if from.usual {
			if v := field(line, "x-forwarded-for"); v != nil {
				f.forwarded = append(f.forwarded, v)
			} else if f.realIP == nil {
				f.realIP = field(line, "x-real-ip")
			}
		}
		f.prefetch = f.prefetch || early(field(line, "x-moz")) || early(field(line, "x-purpose"))
	}
}

// takeProxyHeader takes the value of a header line if it has the name of the header in which proxies write the visitor's address.
func (f *facts) takeProxyHeader(line []byte, name string) {
	if v := field(line, name); v != nil {
		f.forwarded = append(f.forwarded, v)
	}
}

// field returns the value of a header line with the given name (in lower case), or nil if it has another name.
func field(line []byte, name string) []byte {
	if len(line) <= len(name) || line[len(name)] != ':' || !foldedEqual(line, name) {
		return nil
	}
	if v := bytes.TrimSpace(line[len(name)+1:]); v != nil {
		return v
	}
	return line[:0] // TrimSpace returns nil for an empty value, but the field is present
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

// asker holds the header values that answers other than redirects need.
type asker struct {
	accept   []byte
	language []byte // Accept-Language
	id       []byte // X-Request-ID
	// unsound and encoded are as in facts.
	unsound, encoded bool
}

// scanAsker scans a raw header block once. If a field occurs several times, the first one counts.
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
		a.unsound = a.unsound || spaced(line)
		switch line[0] | 0x20 {
		case ' ', '\t' | 0x20:
			a.unsound = a.unsound || folded(line)
		case 't':
			a.encoded = a.encoded || field(line, "transfer-encoding") != nil
		case 'a':
			if a.accept == nil {
				a.accept = field(line, "accept")
			}
			if a.language == nil {
				a.language = field(line, "accept-language")
			}
		case 'x':
			if a.id == nil {
				a.id = field(line, "x-request-id")
			}
		}
	}
	return a
}

// folded reports whether a line, which must not be empty, continues the previous line.
func folded(line []byte) bool { return line[0] == ' ' || line[0] == '\t' }

// spaced reports whether the name of a line has a space inside (RFC 9112, 5). Servers disagree about such lines. In a usual line,
// the first space follows the colon.
func spaced(line []byte) bool {
	n := bytes.IndexByte(line, ' ')
	return n > 0 && line[n-1] != ':' && bytes.IndexByte(line[:n], ':') < 0
}

// misfits reports whether another server could parse a request differently. unsound and encoded are the results of a
// header scan. The server must have recognized a Transfer-Encoding, else the request is ambiguous.
func misfits(header *fasthttp.RequestHeader, unsound, encoded bool) bool {
	return unsound || encoded && header.ContentLength() == -2
}

// early reports whether a purpose means that the request is a prefetch and no person sees the page yet.
func early(purpose []byte) bool {
	return len(purpose) > 0 && (bytes.Contains(purpose, []byte("prefetch")) ||
		bytes.Contains(purpose, []byte("prerender")) || bytes.Contains(purpose, []byte("preview")))
}

// prefersHTML reports whether an Accept header ranks HTML at least as high as JSON. Clients that only accept any
// type, as scripts do, get JSON.
func prefersHTML(header []byte) bool {
	html, json := -1, -1
	for kind, parameters := range accept.Elements(view(header)) {
		switch {
		case strings.EqualFold(kind, "text/html"), strings.EqualFold(kind, "application/xhtml+xml"):
			html = max(html, parameters.Weight())
		case strings.EqualFold(kind, "application/json"):
			json = max(json, parameters.Weight())
		}
	}
	return html > 0 && html >= json
}

// Maximum sizes of request bodies on the redirect's own paths, in bytes.
const (
	maxIdleBody   = 1 << 10 // for methods that need no body
	maxVerifyBody = 4 << 10
)

// framing checks the framing of a request. It returns 0, or the status with which to refuse the request.
//
// Two servers in a row can disagree about the end of a request with both Content-Length and Transfer-Encoding, so
// such a request is always refused. The server itself refuses repeated and malformed lengths.
func framing(header *fasthttp.RequestHeader, limit int) int {
	length := header.ContentLength()
	if length == -2 { // neither of the two fields
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

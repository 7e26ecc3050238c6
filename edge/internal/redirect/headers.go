package redirect

import (
	"bytes"
	"iter"
	"strings"

	"github.com/shortline/shortline/shared/accept"
)

// facts holds the header values that a redirect needs, found in one pass. If a field occurs several times, the first one counts. The values
// alias the request.
type facts struct {
	referer   []byte
	language  []byte
	forwarded [][]byte // the lines of X-Forwarded-For or the header of the setting, appended to the given slice
	realIP    []byte
	prefetch  bool
}

// scanHeader scans a raw header block. It collects the client address from the lines that from says.
func scanHeader(raw []byte, forwarded [][]byte, from proxies) facts {
	f := facts{forwarded: forwarded}
	for line := range lines(raw) {
		f.line(line, from)
		f.takeProxyHeader(line, from)
	}
	return f
}

// lines iterates over the lines of a raw header block, without the line feeds.
func lines(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(raw) > 0 {
			line, rest, _ := bytes.Cut(raw, []byte("\n"))
			if len(line) > 0 && !yield(line) {
				return
			}
			raw = rest
		}
	}
}

// line takes the value of a header line if a redirect needs it.
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
func (f *facts) takeProxyHeader(line []byte, from proxies) {
	if from.name == "" {
		return
	}
	if v := field(line, from.name); v != nil {
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
	for line := range lines(raw) {
		if v := field(line, name); v != nil {
			return v
		}
	}
	return nil
}

// scanAsker returns the values of Accept and X-Request-ID, which answers other than redirects need, in one pass.
func scanAsker(raw []byte) (accept, id []byte) {
	for line := range lines(raw) {
		switch line[0] | 0x20 {
		case 'a':
			if accept == nil {
				accept = field(line, "accept")
			}
		case 'x':
			if id == nil {
				id = field(line, "x-request-id")
			}
		}
	}
	return accept, id
}

// ambiguous reports whether another server could understand a header line in another way: its name has a space inside (RFC 9112, 5).
// The framing rules refuse everything else of this kind. In a usual line, the first space follows the colon.
func ambiguous(raw []byte) bool {
	for line := range lines(raw) {
		n := bytes.IndexByte(line, ' ')
		if n > 0 && line[n-1] != ':' && bytes.IndexByte(line[:n], ':') < 0 {
			return true
		}
	}
	return false
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

package redirect

import (
	"bytes"
	"net/url"
	"unicode/utf8"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/shared/link"
)

// slugByte is link.SlugByte as a table, which is faster.
var slugByte = func() (set [256]bool) {
	for c := range 256 {
		set[c] = link.SlugByte(byte(c))
	}
	return
}()

// Limits of a slug's length in bytes. Hosts may have shorter slugs than others.
const (
	minSlug = 1
	maxSlug = link.MaxSlug
)

// conversionSlug is what would be the slug in conversionPath. No link can have it.
const conversionSlug = 'c'

// target is a request target split into its parts. The parts alias the request.
type target struct {
	path  []byte // from the first slash to the query
	slug  []byte // the first segment, or nil if it cannot be a slug
	rest  []byte // the path after the slug: empty, or "/" and more
	query []byte // without its question mark

	deep     int  // where the part of path begins that the link's destination gets; 0: none
	deepSlug bool // slug has a slash
	extended bool // the path begins with the extended slug of a link
	preview  bool // "+" follows the slug: the visitor asks where the link leads

	site *hosts.Host // custom domain that the visitor asked; nil: the default one
	own  bool        // the visitor asked one of the service's own names that the table of hosts has
}

// take sets the host that the visitor asked; nil means that it is not in the table of hosts.
func (t *target) take(host *hosts.Host) {
	switch {
	case host == nil:
	case host.Domain != 0:
		t.site = host
	default:
		t.own = true
	}
}

// deeper returns the path behind the slug that the link's destination gets.
func (t *target) deeper() []byte {
	if t.deep == 0 {
		return nil
	}
	return t.path[t.deep:]
}

// public returns the slug as addresses have it.
func (t *target) public() string {
	for _, c := range t.slug {
		if c >= utf8.RuneSelf {
			return (&url.URL{Path: string(t.slug)}).EscapedPath()
		}
	}
	return string(t.slug)
}

// split splits a raw request target. It decodes nothing: slugs never need escapes, so a percent-encoded slug is not a
// slug. It drops a fragment, which clients should not send.
func split(uri []byte) (t target) {
	if len(uri) == 0 || uri[0] != '/' {
		uri = originForm(uri)
	}
	i := 1
	for i < len(uri) && slugByte[uri[i]] {
		i++
	}
	end := i
	for end < len(uri) && uri[end] != '?' && uri[end] != '#' {
		end++
	}
	t.path = uri[:end]
	if end < len(uri) && uri[end] == '?' {
		t.query = uri[end+1:]
		if n := bytes.IndexByte(t.query, '#'); n >= 0 {
			t.query = t.query[:n]
		}
	}
	if n := i - 1; n >= minSlug && n <= maxSlug && (i == end || uri[i] == '/') && !(n == 1 && uri[1] == conversionSlug) {
		t.slug, t.rest = uri[1:i], uri[i:end]
	}
	return t
}

// originForm removes scheme and authority from a target in absolute form. It maps other forms ("*", an authority) to
// the root, which is not a link.
func originForm(uri []byte) []byte {
	if _, after, ok := bytes.Cut(uri, []byte("://")); ok {
		if n := bytes.IndexAny(after, "/?#"); n >= 0 && after[n] == '/' {
			return after[n:]
		}
	}
	return []byte("/")
}

// foldedEqual reports whether ASCII text begins with lower, ignoring case. text must not be shorter than lower.
func foldedEqual(text []byte, lower string) bool {
	for i := range len(lower) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

package redirect

import "bytes"

// slugByte tells the bytes that a slug is made of: [A-Za-z0-9_-].
var slugByte = func() (set [256]bool) {
	for c := range 256 {
		b := byte(c)
		set[c] = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
	}
	return
}()

// Lengths of a slug in bytes.
const (
	minSlug = 3
	maxSlug = 50
)

// target is a request target cut into its parts. The parts alias the request.
type target struct {
	path  []byte // from its first slash up to the query
	slug  []byte // the first segment, nil if it has other bytes or another length than a slug
	rest  []byte // the path after the slug: empty, or "/" and more
	query []byte // without its question mark
}

// split cuts a raw request target. Nothing is decoded: a slug never needs escapes, so a percent-encoded one is
// not a slug. A fragment, which no client should send, is dropped.
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
	if n := i - 1; n >= minSlug && n <= maxSlug && (i == end || uri[i] == '/') {
		t.slug, t.rest = uri[1:i], uri[i:end]
	}
	return t
}

// originForm takes scheme and authority off a target in absolute form. Other forms ("*", an authority) give
// the root, which is no link.
func originForm(uri []byte) []byte {
	if _, after, ok := bytes.Cut(uri, []byte("://")); ok {
		if n := bytes.IndexAny(after, "/?#"); n >= 0 && after[n] == '/' {
			return after[n:]
		}
	}
	return []byte("/")
}

// foldedEqual compares ASCII text, at least as long, with a lower-case constant of the same length.
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

package redirect

import (
	"bytes"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
)

// Addresses break on their way to people: mail programs, chats and PDF readers add punctuation, encode what should not be encoded, and
// put characters into slugs that nobody sees. A request whose slug does not exist is looked up again without them. Only requests
// without a link come here, so found links cost nothing more.

const (
	maxBroken = 512 // bytes of a path that are read: chats glue whole sentences on
	maxGuess  = 2 * maxSlug
)

// guess is what a broken path may have been.
type guess struct {
	text [maxGuess]byte // characters of slugs without what was between them
	n    int
	end  int // length of text up to the first character that cannot be in a slug; n if there is none

	extended bool   // the host has extended slugs
	broken   bool   // text has only spaces and invisible characters between the parts of a slug
	preview  bool   // "+" follows the slug
	query    []byte // the query of an address whose question mark was encoded
}

// forgive finds the link that a visitor probably meant, whose slug in a request does not exist, and changes t to that of the link's
// address. If there is none, t gets the slug that was probably meant, in the memory of g. It does not allocate.
func (h *Handler) forgive(t *target, g *guess) (e table.Entry, ok bool) {
	if t.slug != nil && len(t.rest) == 0 {
		return h.lookupShorter(t, t.slug)
	}
	*g = guess{extended: h.slugs(t).Extended}
	if !g.parsePath(t.path) {
		return e, false
	}
	if g.query != nil && len(t.query) == 0 {
		t.query = g.query
	}
	t.preview = t.preview || g.preview
	if g.broken && g.end < g.n {
		if e, ok = h.lookupGuess(t, g.text[:g.n]); ok {
			return e, true
		}
	}
	if e, ok = h.lookupGuess(t, g.text[:g.end]); ok {
		return e, true
	}
	if e, ok = h.lookupShorter(t, g.text[:g.end]); ok {
		return e, true
	}
	if n := asciiBefore(g.text[:g.end]); g.extended && n < g.end {
		if e, ok = h.lookupGuess(t, g.text[:n]); ok {
			return e, true
		}
	}
	t.slug, t.rest = g.text[:g.end], nil
	return e, false
}

// asciiBefore returns the number of ASCII characters at the beginning of a text.
func asciiBefore(text []byte) int {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(text)
}

// lookupShorter looks a slug up without the underscores and hyphens at its end, with which people emphasize an address.
func (h *Handler) lookupShorter(t *target, slug []byte) (e table.Entry, ok bool) {
	if n := len(bytes.TrimRight(slug, "-_")); n < len(slug) {
		return h.lookupGuess(t, slug[:n])
	}
	return e, false
}

// lookupGuess looks a slug up, and lets t have the link's own spelling of it.
func (h *Handler) lookupGuess(t *target, slug []byte) (e table.Entry, ok bool) {
	slug = bytes.TrimRight(slug, "./")
	if len(slug) < minSlug || len(slug) > maxSlug {
		return e, false
	}
	var room [normalRoom]byte
	asked := *t
	asked.slug = normalOf(slug, room[:0])
	asked.deepSlug = bytes.IndexByte(asked.slug, '/') >= 0
	if e, ok = h.lookup(&asked); ok {
		t.slug, t.rest, t.deepSlug = slugOf(&e, len(asked.slug)), nil, asked.deepSlug
	}
	return e, ok
}

// slugOf returns the slug of a link, which is the end of its key and has size bytes. It points into the table.
func slugOf(e *table.Entry, size int) []byte {
	key := e.Slug()
	// unsafe: nobody writes to slugs of targets; see locate.
	return unsafe.Slice(unsafe.StringData(key[len(key)-size:]), size)
}

// parsePath reads a path and reports whether it may be that of a link. It is not if letters follow a slash or a dot: these are names of
// files and other paths.
func (g *guess) parsePath(path []byte) bool {
	var ended, hard bool // something follows the slug; it ends an address for certain
	spaces := true
	path = path[min(1, len(path)):min(len(path), maxBroken)]
	for i := 0; i < len(path); {
		r, size := nextRune(path[i:])
		i += size
		text, kind := partOf(r)
		if kind == other && g.extended && (g.n > 0 && (r == '.' || r == '/') || unicode.IsLetter(r) || unicode.IsMark(r)) {
			var b [utf8.UTFMax]byte
			text, kind = string(b[:utf8.EncodeRune(b[:], r)]), part
		}
		switch {
		case kind == other && (r < ' ' || r == 0x7f): // no program glues control characters on
			return false
		case kind == invisible:
		case kind == part && ended && !hard:
			return false
		case kind == part && ended && !spaces:
			g.preview = false
			return true
		case kind == part:
			if g.n+len(text) > len(g.text) {
				g.broken = false
				return ended
			}
			g.n += copy(g.text[g.n:], text)
			g.broken, g.preview = ended, false
		case g.n == 0:
			if kind == other && r != '/' && !opens(r) {
				return false
			}
		default:
			if !ended {
				ended, g.end = true, g.n
				g.preview = r == '+'
				g.query = queryAfter(r, path[i:])
			}
			hard = hard || kind == space || r != '.' && r != '/'
			spaces = spaces && kind == space
		}
	}
	if !ended {
		g.end = g.n
	}
	return g.n > 0
}

// opens reports whether a character opens a quotation, which may begin before a slug.
func opens(r rune) bool {
	switch r {
	case '<', '(', '[', '{', '"', '\'', '“', '‘', '„', '«', '‹', '「', '（', '【', '*', '_', '`':
		return true
	}
	return false
}

// queryAfter returns the query of an address whose question mark was encoded, or was lost before an ampersand. after is what follows
// the character r.
func queryAfter(r rune, after []byte) []byte {
	if r != '?' && r != '&' {
		return nil
	}
	after = bytes.TrimPrefix(after, []byte("amp;"))
	name := 0
	for name < len(after) && (slugByte[after[name]] || after[name] == '.') {
		name++
	}
	if name == 0 || name == len(after) || after[name] != '=' {
		return nil
	}
	return after
}

// nextRune decodes the first character of a path, which may be percent-encoded, also several times, as by a program that encodes an
// encoded address. Bytes that are no UTF-8 are utf8.RuneError. size is never 0.
func nextRune(path []byte) (r rune, size int) {
	var b [utf8.UTFMax]byte
	first := 0
	for n := 0; n < len(b) && size < len(path); {
		c, width := link.NextByte(path[size:])
		b[n] = c
		size += width
		if n++; n == 1 {
			first = size
		}
		if utf8.FullRune(b[:n]) {
			if r, used := utf8.DecodeRune(b[:n]); used == n {
				return r, size
			}
			break
		}
	}
	return utf8.RuneError, first
}

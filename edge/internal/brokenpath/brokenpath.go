// Package brokenpath reads paths of addresses that broke on their way to people. Mail programs, chats and PDF readers add punctuation,
// encode what should not be encoded, and put characters into slugs that nobody sees. The package finds slugs that the path may have had.
// It knows no links, so the caller looks the slugs up.
package brokenpath

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/shortline/shortline/shared/link"
)

const (
	maxBroken = 512 // bytes of a path that are read: chats glue whole sentences on
	maxGuess  = 2 * link.MaxSlug
)

// Guess is what a broken path may have been. ParsePath fills it, and callers can use it again for the next path. The slices that its
// methods return point into it. It is not safe for concurrent use.
type Guess struct {
	Preview bool   // "+" follows the slug
	Query   []byte // the query of an address whose question mark was encoded or lost: a part of the path that was parsed; nil: none

	text   [maxGuess]byte // characters of slugs without what was between them
	n      int
	end    int  // length of text up to the first character that cannot be in a slug; n if there is none
	broken bool // text has only spaces and invisible characters between the parts of a slug
}

// Slug returns the slug up to the first character that cannot be in a slug. It may be longer than a slug can be.
func (g *Guess) Slug() []byte { return g.text[:g.end] }

// Slugs returns the slugs that the path may have had, the likeliest first. Elements may be nil.
func (g *Guess) Slugs() (list [4][]byte) {
	if g.broken { // programs break lines inside slugs
		list[0] = g.text[:g.n]
	}
	slug := g.Slug()
	list[1], list[2] = slug, Shorter(slug)
	// Words of another script that follow a slug without a space are letters of an extended slug, too.
	if n := bytes.IndexFunc(slug, func(r rune) bool { return r >= utf8.RuneSelf }); n >= 0 {
		list[3] = slug[:n]
	}
	return list
}

// Shorter returns a slug without the hyphens and underscores at its end, or nil if it has none there. People write such characters around
// an address to emphasize it.
func Shorter(slug []byte) []byte {
	if n := len(bytes.TrimRight(slug, "-_")); n < len(slug) {
		return slug[:n]
	}
	return nil
}

// ParsePath replaces g by a guess at a path as the request has it. It reports whether the path may be that of a link; if not, g must not be
// used. A path in which letters follow a slash or a dot is the name of a file or another path. extended says that the host has extended
// slugs. ParsePath does not allocate.
func (g *Guess) ParsePath(path []byte, extended bool) bool {
	*g = Guess{}
	ended := false // a character that cannot be in a slug has followed the slug
	hard := false  // a character has followed it that ends an address for certain; dots and slashes do not
	spaces := true
	path = path[min(1, len(path)):min(len(path), maxBroken)]
	for i := 0; i < len(path); {
		r, size := nextRune(path[i:])
		i += size
		text, kind := partOf(r)
		if kind == other && extended && (g.n > 0 && (r == '.' || r == '/') || unicode.IsLetter(r) || unicode.IsMark(r)) {
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
			g.Preview = false
			return true
		case kind == part:
			if g.n+len(text) > len(g.text) {
				g.broken = false
				return ended
			}
			g.n += copy(g.text[g.n:], text)
			g.broken, g.Preview = ended, false
		case g.n == 0:
			if kind == other && r != '/' && !opens(r) {
				return false
			}
		default:
			if !ended {
				ended, g.end = true, g.n
				g.Preview = r == '+'
				g.Query = queryAfter(r, path[i:])
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
	for name < len(after) && (link.SlugByte(after[name]) || after[name] == '.') {
		name++
	}
	if name == 0 || name == len(after) || after[name] != '=' {
		return nil
	}
	return after
}

// nextRune decodes the first character of a path. The character may be percent-encoded, even several times: some programs encode an
// address that is already encoded. Bytes that are no UTF-8 are utf8.RuneError. size is never 0.
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

package redirect

import (
	"bytes"

	"github.com/shortline/shortline/shared/link"
)

// splitExtended splits a path at a host with extended slugs: the longest slug wins that a link has. Slugs may be percent-encoded and
// in any form of Unicode.
func (h *Handler) splitExtended(t *target) {
	if !h.slugs(t).Extended || len(t.path) == 0 {
		return
	}
	path := t.path[1:]
	for end := len(path); end > 0; end = bytes.LastIndexByte(path[:end], '/') {
		var buf [maxSlug + 1]byte
		var room [normalRoom]byte
		decoded, ok := decode(buf[:0], path[:end])
		if !ok {
			continue
		}
		asked := *t
		asked.slug = normalOf(decoded, room[:0])
		asked.deepSlug = bytes.IndexByte(asked.slug, '/') >= 0
		if e, ok := h.lookup(&asked); ok {
			t.deepSlug, t.extended = asked.deepSlug, true
			t.slug, t.rest = slugOf(&e, len(asked.slug)), path[end:]
			return
		}
	}
}

// normalRoom is the most that the normal form of a slug needs: a letter of two bytes can have a lower case of three.
const normalRoom = 2 * maxSlug

// normalOf returns the normal form of a text. If it is another text, it is in the memory of room. A method of target that stored it would
// move room to the heap.
func normalOf(text, room []byte) []byte {
	for _, c := range text {
		if c >= 0x80 {
			return link.AppendNormal(room, text)
		}
	}
	return text
}

// decode appends a path without its escapes to b, which has room for the longest slug. ok is false for what is longer.
func decode(b, path []byte) (decoded []byte, ok bool) {
	for i := 0; i < len(path); {
		if len(b) == maxSlug {
			return b, false
		}
		c, size := path[i], 1
		if c == '%' && i+3 <= len(path) {
			if high, low := link.Unhex(path[i+1]), link.Unhex(path[i+2]); high >= 0 && low >= 0 {
				c, size = byte(high<<4|low), 3
			}
		}
		b = append(b, c)
		i += size
	}
	return b, true
}

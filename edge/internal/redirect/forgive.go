package redirect

import (
	"bytes"
	"unsafe"

	"github.com/shortline/shortline/edge/internal/brokenpath"
	"github.com/shortline/shortline/edge/internal/table"
)

// A request whose slug does not exist is looked up again without what broke its address: see brokenpath. Only requests without a link
// come here, so found links cost nothing more.

// forgive finds the link that a visitor probably meant, whose slug in a request does not exist, and changes t to that of the link's
// address. If there is none, t gets the slug that was probably meant, in the memory of g. It does not allocate.
func (h *Handler) forgive(t *target, g *brokenpath.Guess) (e table.Entry, ok bool) {
	if t.slug != nil && len(t.rest) == 0 {
		return h.lookupShorter(t, t.slug)
	}
	if !g.ParsePath(t.path, h.slugs(t).Extended) {
		return e, false
	}
	if g.Query != nil && len(t.query) == 0 {
		t.query = g.Query
	}
	t.preview = t.preview || g.Preview
	for _, slug := range g.Slugs() {
		if e, ok = h.lookupGuess(t, slug); ok {
			return e, true
		}
	}
	t.slug, t.rest = g.Slug(), nil
	return e, false
}

// lookupShorter looks up what brokenpath.Shorter makes of a slug.
func (h *Handler) lookupShorter(t *target, slug []byte) (e table.Entry, ok bool) {
	if shorter := brokenpath.Shorter(slug); shorter != nil {
		return h.lookupGuess(t, shorter)
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

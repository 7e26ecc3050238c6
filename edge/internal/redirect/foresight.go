package redirect

// foresight makes the table prefetch a link from memory while the server parses the request's header.
type foresight struct{ h *Handler }

// Glance looks for a slug in the first bytes of a request. Its result is only a hint.
func (f foresight) Glance(b []byte) uint64 {
	const get = "GET /"
	if len(b) < len(get)+minSlug || string(b[:len(get)]) != get {
		return 0
	}
	n := len(get)
	for n < len(b) && slugByte[b[n]] {
		n++
	}
	if n -= len(get); n < minSlug || n > maxSlug {
		return 0
	}
	return f.h.deps.Table.Foresee(b[len(get) : len(get)+n])
}

// Expect prefetches the link of the slug that Glance found.
func (f foresight) Expect(foreseen uint64) { f.h.deps.Table.Approach(foreseen) }

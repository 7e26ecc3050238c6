package redirect

import "sync/atomic"

// stripes is the number of copies of each counter; a connection keeps to one, so that processors don't pass a
// cache line to and fro. A power of two.
const stripes = 32

// counter names one thing that is counted.
type counter uint8

const (
	cRedirects counter = iota
	cRules
	cVariants
	cPreviews
	cForms
	cInfos
	cVerified
	cWrong
	cLocked
	cBusy
	cMissing
	cGone
	cLoops
	cRefused
	cProxied
	cPanics
	cLimited
	cUnavailable
	cErrors
	counters
)

// tally is a set of counters. Its stripes fill whole cache lines.
type tally [stripes][counters]atomic.Uint64

func (t *tally) add(conn uint64, c counter) { t[conn%stripes][c].Add(1) }

func (t *tally) sum(c counter) (n uint64) {
	for i := range t {
		n += t[i][c].Load()
	}
	return n
}

// Stats counts what a Handler has answered since it was made.
type Stats struct {
	Redirects uint64 // answers that lead to a destination and count as a click
	Rules     uint64 // of these, chosen by a routing rule
	Variants  uint64 // of these, chosen by an A/B test
	Previews  uint64 // pages for social crawlers
	Forms     uint64 // password forms shown
	Infos     uint64 // answers of /{slug}/info
	Verified  uint64 // right passwords
	Wrong     uint64 // wrong passwords
	Locked    uint64 // attempts refused by a lockout
	Busy      uint64 // attempts refused because too many were being checked
	Missing   uint64 // 404
	Gone      uint64 // 410
	Loops     uint64 // destinations on this very host, refused
	Refused   uint64 // malformed, oversized or not understood
	Proxied   uint64 // passed on to the upstream
	Panics    uint64 // requests that hit a bug; 0 in a healthy edge
	Limited   uint64 // refused because the client made too many requests
	// Unavailable counts answers 503 of an edge that has no links yet.
	Unavailable uint64
	// Errors counts answers with a 5xx status, those of the upstream included, but not 508: that is a link's fault.
	Errors         uint64
	Hashes         uint64 // passwords compared
	LockoutClients int    // clients in the lockout table, a gauge
}

// Stats returns the counters. They are read one by one, so sums over them may be off by requests in flight.
func (h *Handler) Stats() Stats {
	return Stats{
		Redirects: h.tally.sum(cRedirects), Rules: h.tally.sum(cRules), Variants: h.tally.sum(cVariants),
		Previews: h.tally.sum(cPreviews), Forms: h.tally.sum(cForms), Infos: h.tally.sum(cInfos),
		Verified: h.tally.sum(cVerified), Wrong: h.tally.sum(cWrong), Locked: h.tally.sum(cLocked), Busy: h.tally.sum(cBusy),
		Missing: h.tally.sum(cMissing), Gone: h.tally.sum(cGone), Loops: h.tally.sum(cLoops), Refused: h.tally.sum(cRefused),
		Proxied: h.tally.sum(cProxied), Panics: h.tally.sum(cPanics), Limited: h.tally.sum(cLimited),
		Unavailable: h.tally.sum(cUnavailable), Errors: h.tally.sum(cErrors), Hashes: h.hasher.done.Load(), LockoutClients: h.deps.Lockout.Stats().Clients,
	}
}

package redirect

import "sync/atomic"

// stripes is the number of copies of each counter. Each connection uses one copy, so that processors do not contend
// for a cache line. It must be a power of two.
const stripes = 32

// counter identifies a counter.
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
	cEnded
	cLoops
	cRefused
	cProxied
	cPanics
	cLimited
	cUnavailable
	cErrors
	cReportForms
	cReports
	cReportsFailed
	cUpgrades
	cUntracked
	cSales
	cSalesFull
	cSold
	cUnsold
	counters
)

// tally is a set of counters. Its stripes fill whole cache lines.
type tally [stripes][(counters + 7) &^ 7]atomic.Uint64

func (t *tally) add(conn uint64, c counter) { t[conn%stripes][c].Add(1) }

func (t *tally) sum(c counter) (n uint64) {
	for i := range t {
		n += t[i][c].Load()
	}
	return n
}

// Stats holds the counters of a Handler since its creation.
type Stats struct {
	Redirects uint64 // redirects to a destination that count as a click
	Rules     uint64 // redirects with a destination chosen by a routing rule
	Variants  uint64 // redirects with a destination chosen by an A/B test
	Previews  uint64 // preview pages for social crawlers
	Forms     uint64 // password forms shown
	Infos     uint64 // answers to /{slug}/info

	Verified uint64 // correct passwords
	Wrong    uint64 // wrong passwords
	Locked   uint64 // attempts refused by a lockout
	Busy     uint64 // attempts refused because too many were being checked
	Missing  uint64 // 404
	Gone     uint64 // 410
	Ended    uint64 // redirects to the address after expiry or exhaustion
	Loops    uint64 // destinations on this very host, refused
	Refused  uint64 // malformed, oversized or unsupported requests
	Proxied  uint64 // forwarded to the upstream
	Panics   uint64 // requests that caused a panic; 0 in a healthy edge
	Limited  uint64 // refused by the rate limit
	Upgrades uint64 // redirects from http to https
	// ReportForms counts forms for reports of links, Reports the reports that the control plane has, and ReportsFailed those
	// that it could not take.
	ReportForms, Reports, ReportsFailed uint64
	// Unavailable counts 503 answers of an edge that has no links yet.
	Unavailable uint64
	// Errors counts answers with a 5xx status, including those of the upstream, but not 508, which a link causes.
	Errors uint64
	// visits of links with conversion tracking whose destination got no click id: no key was known, or the click was not recorded
	Untracked uint64
	// Sales counts requests with conversions that were answered with verdicts, and SalesFull those that were refused because
	// there was no space. Sold and Unsold count conversions: accepted ones and those with another verdict.
	Sales, SalesFull, Sold, Unsold uint64
	Hashes                         uint64 // passwords compared
	LockoutClients                 int    // clients in the lockout table, a gauge
}

// Stats returns the counters. It reads them one by one, so they may be inconsistent by the requests in flight.
func (h *Handler) Stats() Stats {
	return Stats{
		Redirects: h.tally.sum(cRedirects), Rules: h.tally.sum(cRules), Variants: h.tally.sum(cVariants),
		Previews: h.tally.sum(cPreviews), Forms: h.tally.sum(cForms), Infos: h.tally.sum(cInfos),
		Verified: h.tally.sum(cVerified), Wrong: h.tally.sum(cWrong), Locked: h.tally.sum(cLocked), Busy: h.tally.sum(cBusy),
		Missing: h.tally.sum(cMissing), Gone: h.tally.sum(cGone), Ended: h.tally.sum(cEnded), Loops: h.tally.sum(cLoops),
		Refused: h.tally.sum(cRefused),
		Proxied: h.tally.sum(cProxied), Panics: h.tally.sum(cPanics), Limited: h.tally.sum(cLimited),
		ReportForms: h.tally.sum(cReportForms), Reports: h.tally.sum(cReports), ReportsFailed: h.tally.sum(cReportsFailed),
		Upgrades: h.tally.sum(cUpgrades), Untracked: h.tally.sum(cUntracked),
		Sales: h.tally.sum(cSales), SalesFull: h.tally.sum(cSalesFull), Sold: h.tally.sum(cSold), Unsold: h.tally.sum(cUnsold),
		Unavailable: h.tally.sum(cUnavailable), Errors: h.tally.sum(cErrors), Hashes: h.passwords.Compared(),
		LockoutClients: h.deps.Lockout.Stats().Clients,
	}
}

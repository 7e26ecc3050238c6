// Package limit defines how edges share the clicks of links with a limit: the messages between edges and the control
// plane, and their limits.
//
// Each edge counts the clicks that it grants in counters, one for each link and each time the link got its limit. It
// reports the value of a counter, not the difference to its last report, so a report that is repeated or late changes
// nothing. The control plane keeps the highest value of each counter and answers with the sums.
package limit

import (
	"context"
	"errors"
	"fmt"
)

// Key names what is counted.
type Key struct {
	Link  uint64 `json:"link"`  // number of the link
	Since int64  `json:"since"` // when the link got its limit, see link.Limit
}

// Count is the value of one counter of one edge.
type Count struct {
	Key
	// Counter is the random number of the counter. An edge that lost a counter begins another one with another number, so
	// the clicks of the lost counter still count.
	Counter uint64 `json:"counter"`
	Clicks  uint64 `json:"clicks"`
}

// Report is one call of an edge. A report without counts asks for totals only.
type Report struct {
	Edge   string  `json:"edge"`
	After  uint64  `json:"after"` // Next of the last answer; 0 asks for all totals
	Counts []Count `json:"counts,omitempty"`
}

// Total is the sum of all counters of a key.
type Total struct {
	Key
	Clicks uint64 `json:"clicks"`
}

// Answer holds the totals that changed after a version. They include the counts of the report.
type Answer struct {
	// Next is the cursor for the next call. It is lower than the report's After if the control plane lost its state. The
	// totals are then all that it has, and the edge reports all its counters again.
	Next uint64 `json:"next"`
	// More means that further totals have changed.
	More bool `json:"more,omitempty"`
	// Edges is the number of live edges, the caller included, and Rank is the place of the caller among them, from 0.
	Edges int `json:"edges"`
	Rank  int `json:"rank"`

	Totals []Total `json:"totals,omitempty"`
}

// Limits of one message.
const (
	MaxCounts = 512  // in a Report
	MaxTotals = 2048 // in an Answer
	MaxEdges  = 10_000
	maxClicks = 1 << 40
)

// Errors that an Exchange wraps. After ErrBusy the caller retries. ErrUnsupported means that the control plane is of a
// release without this exchange.
var (
	ErrBusy        = errors.New("limit: the control plane is busy")
	ErrUnsupported = errors.New("limit: the control plane does not share counts of clicks")
)

// Exchange shares counts between edges through the control plane. Implementations are safe for concurrent use.
type Exchange interface {
	// ShareCounts records the counts of a report and returns totals. After an error the report may have been recorded; the
	// caller repeats its counts, or higher ones of the same counters.
	ShareCounts(ctx context.Context, r Report) (Answer, error)
}

// Validate checks the limits of a report.
func (r *Report) Validate() error {
	if r.Edge == "" || len(r.Edge) > 64 || len(r.Counts) > MaxCounts {
		return fmt.Errorf("a report must name its edge and at most %d counts", MaxCounts)
	}
	for _, c := range r.Counts {
		if c.Link == 0 || c.Link > 1<<62 || c.Since <= 0 || c.Clicks >= maxClicks {
			return errors.New("a count must have a link, a time and fewer than 2^40 clicks")
		}
	}
	return nil
}

// Valid reports whether an answer is within its limits.
func (a *Answer) Valid() bool {
	if a.Edges < 1 || a.Edges > MaxEdges || a.Rank < 0 || a.Rank >= a.Edges {
		return false
	}
	for _, t := range a.Totals {
		if t.Clicks >= maxClicks*MaxEdges {
			return false
		}
	}
	return true
}

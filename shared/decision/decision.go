// Package decision decides where one visit of a link leads: which barrier stops the visit, which rule or variant
// chooses the destination, and whether the destination is this service.
//
// It defines the order of these decisions. Edges use it for each visitor, without allocating, and the control plane
// uses it to explain a decision to the link's owner, so both get the same answer. A result depends only on the
// arguments, which include the random number.
//
// Other packages find the link, describe the visitor (package visitor), evaluate conditions (package rule) and add
// parameters to the destination (package link).
package decision

import (
	"github.com/shortline/shortline/shared/link"
)

// Outcome is the kind of response to a visitor.
type Outcome uint8

// Outcomes.
const (
	Follow      Outcome = iota // redirect to the destination
	Absent                     // the link has not started; visitors get the answer for a missing link
	Gone                       // the link is inactive
	Ended                      // the link has expired or is exhausted; visitors go to its ExpiredURL if it has one
	Preview                    // preview page for social crawlers
	AskPassword                // password form
)

// Barrier is the data of a link that can stop a visit before the destination.
type Barrier struct {
	StartsAt    int64 // Unix milliseconds; 0: from the beginning
	ExpiresAt   int64 // Unix milliseconds; 0: never
	Inactive    bool
	Exhausted   bool // the clicks of people have reached the link's limit
	HasPassword bool
	HasPreview  bool
}

// BarrierOf returns the barrier of a record. Exhausted is not set, because it depends on the clicks so far.
func BarrierOf(r *link.Record) Barrier {
	return Barrier{StartsAt: r.StartsAt, ExpiresAt: r.ExpiresAt, Inactive: r.Inactive, HasPassword: r.PasswordHash != "",
		HasPreview: !r.Preview.IsZero()}
}

// Visit is the data of a visitor that a barrier needs.
type Visit interface {
	UnixMilli() int64
	// Crawler reports whether the visitor is a social network that fetches a link preview. It is called only if the
	// answer matters.
	Crawler() bool
}

// Meet returns the barrier that stops the visitor, or Follow if none does.
func (b Barrier) Meet(v Visit) Outcome {
	switch {
	case b.StartsAt != 0 && v.UnixMilli() < b.StartsAt:
		return Absent
	case b.Inactive:
		return Gone
	case b.ExpiresAt != 0 && v.UnixMilli() >= b.ExpiresAt, b.Exhausted:
		return Ended
	case b.HasPassword:
		return AskPassword
	case b.HasPreview && v.Crawler():
		return Preview
	}
	return Follow
}

// Choice is the destination of one visit. Rule or Variant is set if it chose the target.
type Choice struct {
	Target  string
	Rule    link.ID
	Variant link.ID
}

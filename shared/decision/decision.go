// Package decision says where one visit of a link leads: what stands in its way, which rule or variant chooses the
// destination, and whether that destination is this very service.
//
// It owns the order of these questions and promises that everybody who asks gets the same answers: an edge, for
// each visitor, without allocating, and the control plane, to explain them to a link's owner. An answer depends on
// the arguments alone; even chance is one of them.
//
// It leaves to others: finding the link, knowing the visitor (package visitor), evaluating conditions (package rule)
// and writing the destination down with its parameters (package link).
package decision

import (
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Outcome is what a visitor of a link is answered with.
type Outcome uint8

// The outcomes.
const (
	Follow      Outcome = iota // a redirect to the destination
	Gone                       // the link is turned off or has expired
	Preview                    // the page for social crawlers
	AskPassword                // the form for the link's password
)

// Barrier is what of a link may stand between a visitor and its destination.
type Barrier struct {
	ExpiresAt   int64 // Unix milliseconds, 0 for never
	Inactive    bool
	HasPassword bool
	HasPreview  bool
}

// BarrierOf reads a link's barrier from its record.
func BarrierOf(r *link.Record) Barrier {
	return Barrier{ExpiresAt: r.ExpiresAt, Inactive: r.Inactive, HasPassword: r.PasswordHash != "", HasPreview: !r.Preview.IsZero()}
}

// Visit is what a barrier asks about a visitor.
type Visit interface {
	UnixMilli() int64
	// Crawler reports whether a social network is asking, to show a preview of the link. It is asked only where the
	// answer matters.
	Crawler() bool
}

// Meet says what stands between the visitor and the destination; Follow if nothing does.
func (b Barrier) Meet(v Visit) Outcome {
	switch {
	case b.Inactive || b.ExpiresAt != 0 && v.UnixMilli() >= b.ExpiresAt:
		return Gone
	case b.HasPassword:
		return AskPassword
	case b.HasPreview && v.Crawler():
		return Preview
	}
	return Follow
}

// Choice is where one visit leads. Rule or Variant is set if that is what chose the target.
type Choice struct {
	Target  string
	Rule    link.ID
	Variant link.ID
}

// Choose picks a destination of a link that may be followed: the first rule that matches, else a variant, else
// where the link leads by itself. draw, any 64 random bits, is the chance that variants are drawn with.
func (p *Plan) Choose(f rule.Facts, draw uint64) Choice {
	if p.routed > 0 {
		if i := p.joined.First(f); i >= 0 {
			e := &p.ends[i]
			return Choice{Target: p.target(e), Rule: e.id}
		}
	}
	if i := p.Variants.Draw(draw); i >= 0 {
		e := &p.ends[p.routed+i]
		return Choice{Target: p.target(e), Variant: e.id}
	}
	r := &p.Record
	if r.SmartRouting && r.Default != "" {
		return Choice{Target: r.Default}
	}
	return Choice{Target: r.Destination}
}

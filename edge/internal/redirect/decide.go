package redirect

import (
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// kind says what a visitor of a link is answered with.
type kind uint8

const (
	goThere    kind = iota // a redirect to Target
	isGone                 // the link is turned off or has expired
	seePreview             // the page for social crawlers
	askPassword
)

// decision is where one visit leads. Rule or variant is set if that is what chose the target.
type decision struct {
	target  string
	rule    link.ID
	variant link.ID
}

// visit is what may be asked about a visitor before a link is followed.
type visit interface {
	UnixMilli() int64
	// crawler reports whether a social network is asking, to show a preview of the link.
	crawler() bool
}

// standing says what stands between a visitor and a link's destination, if anything does. It looks at what the
// table's entry holds, which is at hand, and not at the compiled link, which may be far from the processor.
func standing(e *table.Entry, v visit) kind {
	switch expires := e.ExpiresAt(); {
	case e.Inactive() || expires != 0 && v.UnixMilli() >= expires:
		return isGone
	case e.HasPassword():
		return askPassword
	case e.HasPreview() && v.crawler():
		return seePreview
	}
	return goThere
}

// choose picks a destination of a link that may be followed: the first rule that matches, else a variant, else
// where the link leads by itself. It depends on its arguments alone: draw, any 64 random bits, is the chance that
// variants are drawn with. A plan has rules only while smart routing is on, and draws only while A/B testing is.
func choose(p *table.Plan, f rule.Facts, draw uint64) decision {
	r := &p.Record
	for i := range p.Rules {
		if p.Rules[i].Program.Eval(f) {
			return decision{target: p.Rules[i].Target, rule: p.Rules[i].ID}
		}
	}
	if i := p.Variants.Draw(draw); i >= 0 {
		return decision{target: r.Variants[i].Target, variant: r.Variants[i].ID}
	}
	if r.SmartRouting && r.Default != "" {
		return decision{target: r.Default}
	}
	return decision{target: r.Destination}
}

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

// decision is what becomes of one visit. Rule or Variant is set if that is what chose the target.
type decision struct {
	kind    kind
	target  string
	rule    link.ID
	variant link.ID
}

// visit is what a decision may ask about the visitor. Both are asked only where the link makes it matter.
type visit interface {
	rule.Facts
	// crawler reports whether a social network is asking, to show a preview of the link.
	crawler() bool
}

// decide says what becomes of a visit. It depends on its arguments alone: draw, any 64 random bits, is the
// chance that variants are drawn with.
func decide(p *table.Plan, v visit, draw uint64) decision {
	r := &p.Record
	switch {
	case r.Inactive || r.ExpiresAt != 0 && v.UnixMilli() >= r.ExpiresAt:
		return decision{kind: isGone}
	case r.PasswordHash != "":
		return decision{kind: askPassword}
	case !r.Preview.IsZero() && v.crawler():
		return decision{kind: seePreview}
	}
	return choose(p, v, draw)
}

// choose picks a destination of a link that may be followed: the first rule that matches, else a variant, else
// where the link leads by itself.
func choose(p *table.Plan, f rule.Facts, draw uint64) decision {
	r := &p.Record
	if r.SmartRouting {
		for i := range p.Rules {
			if p.Rules[i].Program.Eval(f) {
				return decision{target: p.Rules[i].Target, rule: p.Rules[i].ID}
			}
		}
	}
	if r.ABTesting {
		if i := p.Variants.Draw(draw); i >= 0 {
			return decision{target: r.Variants[i].Target, variant: r.Variants[i].ID}
		}
	}
	if r.SmartRouting && r.Default != "" {
		return decision{target: r.Default}
	}
	return decision{target: r.Destination}
}

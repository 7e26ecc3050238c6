package publish

import (
	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/links"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Record is what an edge needs to know of a link. Preview images get addresses below base, which has no trailing
// slash.
func Record(l *store.Link, base string) link.Record {
	r := link.Record{
		Num: l.Num, Owner: l.Owner, Revision: l.Revision,
		Slug: l.Slug, Destination: l.OriginalURL, Default: l.DefaultURL,
		Inactive: !l.Active, ExpiresAt: l.ExpiresAt, CreatedAt: l.CreatedAt, Title: l.Title,
		PasswordHash: l.PasswordHash, UTM: l.UTM,
		SmartRouting: l.SmartRouting, ABTesting: l.ABTesting,
		Preview: link.Preview{Title: l.OGTitle, Description: l.OGDescription, ImageURL: links.ImageURL(base, l.OGImage), TwitterCard: l.TwitterCard},
	}
	for i := range l.Rules {
		rule := &l.Rules[i]
		r.Rules = append(r.Rules, link.Rule{ID: id(rule.ID), Name: rule.Name, Target: rule.TargetURL, Conditions: []byte(rule.Conditions)})
	}
	for i := range l.Variants {
		v := &l.Variants[i]
		r.Variants = append(r.Variants, link.Variant{ID: id(v.ID), Target: v.TargetURL, Weight: uint32(v.Weight)})
	}
	return r
}

func id(s string) link.ID {
	u, err := uuid.Parse(s)
	if err != nil {
		panic("BUG: the store gave an id that is no UUID: " + s)
	}
	return link.ID(u)
}

package publish

import (
	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Record returns the record of a link for edges. Preview images get addresses below base, which has no trailing slash.
func Record(l *store.Link, base string) link.Record {
	r := link.Record{
		Num: l.Num, Owner: l.Workspace, Revision: l.Revision,
		Key: l.Key(), Destination: l.OriginalURL, Default: l.DefaultURL,
		Inactive: !l.Active || l.SuspendedAt != 0, CreatedAt: l.CreatedAt, Title: l.Title,
		StartsAt: l.StartsAt, ExpiresAt: l.ExpiresAt, ExpiredURL: l.ExpiredURL, Code: uint16(l.RedirectCode),
		PasswordHash: l.PasswordHash, UTM: l.UTM,
		TrackConversions: l.TrackConversions, ClickParameter: l.ClickParameter, Stickiness: l.Stickiness,
		Forward:      l.ForwardPath,
		SmartRouting: l.SmartRouting, ABTesting: l.ABTesting,
		Preview: link.Preview{Title: l.OGTitle, Description: l.OGDescription, ImageURL: links.ImageURL(base, l.OGImage),
			TwitterCard: l.TwitterCard},
	}
	if l.MaxClicks != 0 {
		r.Limit = link.Limit{Since: l.LimitSince, Clicks: uint64(max(0, l.MaxClicks-l.LimitBase))}
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

// record is Record, but a link that snapshot.Check rejects loses its rules, variants and preview and leads to its
// destination, so that it does not block other links. The use cases do not accept such links.
func (p *Publisher) record(l *store.Link) link.Record {
	r := Record(l, p.cfg.BaseURL)
	if err := snapshot.Check(&r); err != nil {
		p.cfg.Logger.Error("oversized link published without rules", "url_id", l.ID, "error", err.Error())
		r.Rules, r.Variants, r.Preview = nil, nil, link.Preview{}
	}
	return r
}

func id(s string) link.ID {
	u, err := uuid.Parse(s)
	if err != nil {
		panic("BUG: id in the store is not a UUID: " + s)
	}
	return link.ID(u)
}

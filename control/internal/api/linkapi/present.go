package linkapi

import (
	"context"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/store"
)

// present shows the present object of a problem. The audit log has one entry for a change of many links, so theirs is in their
// history.
func (s *server) present(ctx context.Context, object any) (p kit.Present, ok bool) {
	switch o := object.(type) {
	case store.Link:
		if list, err := s.urlsOf(ctx, []store.Link{o}); err == nil {
			p.Object, p.ETag = list[0], links.Version(&o)
		}
		if list, err := s.Store.History(ctx, o.Num, 1, 0); err == nil && len(list) > 0 {
			p.Changed = s.ChangeBy(ctx, list[0].UserID, list[0].At)
		}
		return p, true
	case store.Rule:
		return kit.Present{Object: ruleOf(o), ETag: routing.RuleVersion(&o), EntityType: "routing_rule", EntityID: o.ID}, true
	case store.Variant:
		return kit.Present{Object: variantOf(o), ETag: routing.VariantVersion(&o), EntityType: "variant", EntityID: o.ID}, true
	case bundles.Bundle:
		return kit.Present{Object: s.bundleOf(o), ETag: o.Version(), EntityType: "bundle", EntityID: o.ID}, true
	}
	return p, false
}

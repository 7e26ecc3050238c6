package routing

import (
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Plan returns what links.Upsert needs to give links the rules and variants of a draft. It returns nil for a draft without lists, which
// keeps both.
//
// A part without an id stands for the saved part of the same name, if there is one, so that sending a list again changes nothing. Among
// several of the same name, an equal one comes first, and then the order of the lists decides.
func (s *Service) Plan(d Draft) links.PlanParts {
	if d.Rules == nil && d.Variants == nil {
		return nil
	}
	return func(u *store.Link, saved *store.LinkState) (links.Parts, error) {
		out := links.Parts{Rules: saved.Rules, Variants: saved.Variants}
		var v problem.Fields
		if d.Rules != nil {
			var err error
			if out.Rules, err = s.planRules(*d.Rules, u.ID, saved.Rules, &v); err != nil {
				return links.Parts{}, err
			}
			out.Targets = newTargets("rules", out.Rules, saved.Rules, ruleID, ruleTarget)
		}
		if d.Variants != nil {
			out.Variants = s.planVariants(*d.Variants, u.ID, saved.Variants, &v)
			out.Targets = append(out.Targets, newTargets("variants", out.Variants, saved.Variants, variantID, variantTarget)...)
		}
		if err := v.Err(); err != nil {
			return links.Parts{}, err
		}
		Parts{out.Rules, out.Variants}.turn(u, Parts{saved.Rules, saved.Variants})
		return out, nil
	}
}

func (s *Service) planRules(drafts []RuleDraft, link string, saved []store.Rule, v *problem.Fields) ([]store.Rule, error) {
	drafts = slices.Clone(drafts)
	pairUp(drafts, saved, func(d *RuleDraft) *string { return &d.ID }, ruleID, func(d *RuleDraft, r *store.Rule, whole bool) bool {
		return text(d.Name) == r.Name && (!whole || text(d.TargetURL) == r.TargetURL && sameConditions(string(d.Conditions), r.Conditions))
	})
	list, err := s.draftRules(drafts, saved, v)
	now := store.Now()
	for i := range list {
		r := &list[i]
		was := find(saved, drafts[i].ID, ruleID)
		if was != nil && sameConditions(was.Conditions, r.Conditions) {
			r.Conditions = was.Conditions
		}
		completePart(r, was, &r.ID, &r.URLID, &r.UpdatedAt, link, now)
	}
	return list, err
}

func (s *Service) planVariants(drafts []VariantDraft, link string, saved []store.Variant, v *problem.Fields) []store.Variant {
	drafts = slices.Clone(drafts)
	alike := func(d *VariantDraft, a *store.Variant, whole bool) bool {
		return text(d.Name) == a.Name && (!whole || text(d.TargetURL) == a.TargetURL)
	}
	pairUp(drafts, saved, func(d *VariantDraft) *string { return &d.ID }, variantID, alike)
	list := s.draftVariants(drafts, saved, v)
	now := store.Now()
	for i := range list {
		a := &list[i]
		completePart(a, find(saved, drafts[i].ID, variantID), &a.ID, &a.URLID, &a.UpdatedAt, link, now)
	}
	return list
}

// completePart gives a new part its id and its link, and a changed one the time of the change.
func completePart[T comparable](now, was *T, id, link *string, updated *int64, of string, at int64) {
	switch {
	case was == nil:
		*id, *link = store.NewID(), of
	case *was != *now:
		*updated = at
	}
}

// pairUp gives parts of a draft the ids of saved parts that no part of the draft has. alike compares a part of the draft with a saved
// one: all that tells parts of one name apart, or only the names.
func pairUp[D, T any](drafts []D, saved []T, draftID func(*D) *string, idOf func(*T) string, alike func(*D, *T, bool) bool) {
	taken := map[string]bool{}
	for i := range drafts {
		taken[*draftID(&drafts[i])] = true
	}
	for _, whole := range []bool{true, false} {
		for n := range drafts {
			for i := range saved {
				if id, of := draftID(&drafts[n]), idOf(&saved[i]); *id == "" && !taken[of] && alike(&drafts[n], &saved[i], whole) {
					*id, taken[of] = of, true
				}
			}
		}
	}
}

// text returns an optional text without surrounding space, as it would be stored.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return strings.TrimSpace(*s)
}

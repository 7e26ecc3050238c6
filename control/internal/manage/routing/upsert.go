package routing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
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
			if err := s.planRules(&out, *d.Rules, u, saved.Rules, &v); err != nil {
				return links.Parts{}, err
			}
		}
		if d.Variants != nil {
			s.planVariants(&out, *d.Variants, u, saved.Variants, &v)
		}
		if err := v.Err(); err != nil {
			return links.Parts{}, err
		}
		Parts{out.Rules, out.Variants}.turn(u, Parts{saved.Rules, saved.Variants})
		return out, nil
	}
}

func (s *Service) planRules(out *links.Parts, drafts []RuleDraft, u *store.Link, saved []store.Rule, v *problem.Fields) (err error) {
	drafts = slices.Clone(drafts)
	ids := each.At(drafts, func(d *RuleDraft) string { return d.ID })
	for i, id := range pairUp(ids, saved, ruleID, func(n int, r *store.Rule, whole bool) bool {
		d := &drafts[n]
		return text(d.Name) == r.Name && (!whole || text(d.TargetURL) == r.TargetURL && sameConditions(string(d.Conditions), r.Conditions))
	}) {
		drafts[i].ID = id
	}
	before := len(*v)
	if out.Rules, err = s.draftRules(drafts, saved, v); err != nil || len(*v) > before {
		return err
	}
	now := store.Now()
	for i := range out.Rules {
		r := &out.Rules[i]
		was := find(saved, drafts[i].ID, ruleID)
		if was != nil && sameConditions(was.Conditions, r.Conditions) {
			r.Conditions = was.Conditions
		}
		switch {
		case was == nil:
			r.ID, r.URLID = store.NewID(), u.ID
		case *was != *r:
			r.UpdatedAt = now
		}
		if was == nil || was.TargetURL != r.TargetURL {
			out.Targets = append(out.Targets, links.Target{Field: fmt.Sprintf("rules.%d.targetUrl", i), URL: &r.TargetURL})
		}
	}
	return nil
}

func (s *Service) planVariants(out *links.Parts, drafts []VariantDraft, u *store.Link, saved []store.Variant, v *problem.Fields) {
	drafts = slices.Clone(drafts)
	ids := each.At(drafts, func(d *VariantDraft) string { return d.ID })
	for i, id := range pairUp(ids, saved, variantID, func(n int, a *store.Variant, whole bool) bool {
		return text(drafts[n].Name) == a.Name && (!whole || text(drafts[n].TargetURL) == a.TargetURL)
	}) {
		drafts[i].ID = id
	}
	before := len(*v)
	if out.Variants = s.draftVariants(drafts, saved, v); len(*v) > before {
		return
	}
	now := store.Now()
	for i := range out.Variants {
		a := &out.Variants[i]
		was := find(saved, drafts[i].ID, variantID)
		switch {
		case was == nil:
			a.ID, a.URLID = store.NewID(), u.ID
		case *was != *a:
			a.UpdatedAt = now
		}
		if was == nil || was.TargetURL != a.TargetURL {
			out.Targets = append(out.Targets, links.Target{Field: fmt.Sprintf("variants.%d.targetUrl", i), URL: &a.TargetURL})
		}
	}
}

// pairUp completes the ids of parts of a draft with those of saved parts that no part of the draft has. alike compares the nth part of
// the draft with a saved one: all that tells parts of one name apart, or only the names.
func pairUp[T any](ids []string, saved []T, idOf func(*T) string, alike func(n int, one *T, whole bool) bool) []string {
	taken := map[string]bool{}
	for _, id := range ids {
		taken[id] = true
	}
	for _, whole := range []bool{true, false} {
		for n := range ids {
			for i := range saved {
				if id := idOf(&saved[i]); ids[n] == "" && !taken[id] && alike(n, &saved[i], whole) {
					ids[n], taken[id] = id, true
				}
			}
		}
	}
	return ids
}

// text returns an optional text without surrounding space, as it would be stored.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return strings.TrimSpace(*s)
}

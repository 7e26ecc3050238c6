package routing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// RuleDraft is a rule that is not saved. With the id of a saved rule it stands for that rule and replaces all of its fields.
type RuleDraft struct {
	ID string // "": a new rule
	RuleInput
}

// VariantDraft is a variant that is not saved, like RuleDraft.
type VariantDraft struct {
	ID string // "": a new variant
	VariantInput
}

// Draft is a set of rules and variants that are not saved. A nil list stands for the saved one.
type Draft struct {
	Rules    *[]RuleDraft
	Variants *[]VariantDraft
}

// Parts are all rules and all variants of a link. Those of a draft are in its order.
type Parts struct {
	Rules    []store.Rule
	Variants []store.Variant
}

// Put gives a link the parts that edges receive: active rules in evaluation order, and active variants with a weight, the
// oldest first.
func (p Parts) Put(u *store.Link) {
	u.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r store.Rule) bool { return !r.Active })
	slices.SortStableFunc(u.Rules, func(a, b store.Rule) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	u.Variants = slices.DeleteFunc(slices.Clone(p.Variants), func(v store.Variant) bool { return !v.Active || v.Weight == 0 })
	slices.SortStableFunc(u.Variants, func(a, b store.Variant) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// ActiveVariants counts the active variants.
func (p Parts) ActiveVariants() (n int) {
	for i := range p.Variants {
		if p.Variants[i].Active {
			n++
		}
	}
	return n
}

// Draft returns the parts that a link would have if the draft were saved, and stores nothing. It reports the problems that
// saving would report, below rules.N and variants.N. It turns the switches of u like saving.
func (s *Service) Draft(ctx context.Context, u *store.Link, saved Parts, d Draft) (Parts, error) {
	parts := saved
	var v problem.Fields
	var targets []links.Target
	if d.Rules != nil {
		var err error
		if parts.Rules, err = s.draftRules(*d.Rules, saved.Rules, &v); err != nil {
			return Parts{}, err
		}
		targets = append(targets, newTargets("rules", parts.Rules, saved.Rules, ruleID, ruleTarget)...)
	}
	if d.Variants != nil {
		parts.Variants = s.draftVariants(*d.Variants, saved.Variants, &v)
		targets = append(targets, newTargets("variants", parts.Variants, saved.Variants, variantID, variantTarget)...)
	}
	if err := v.Err(); err != nil {
		return Parts{}, err
	}
	parts.turn(u, saved)
	return parts, s.screen.Check(ctx, s.destinations, targets...)
}

// turn sets the switches of a link like the requests that would save the parts one after the other.
func (p Parts) turn(u *store.Link, saved Parts) {
	switch {
	case len(p.Rules) == 0 && len(saved.Rules) > 0:
		u.SmartRouting = false
	case len(p.Rules) > 0 && len(saved.Rules) == 0:
		u.SmartRouting = true
	}
	switch {
	case len(p.Variants) > 0 && len(saved.Variants) == 0:
		u.ABTesting = u.ABTesting || p.Variants[0].Active
	case p.ActiveVariants() == 0 && saved.ActiveVariants() > 0:
		u.ABTesting = false
	}
}

func ruleID(r *store.Rule) string            { return r.ID }
func variantID(v *store.Variant) string      { return v.ID }
func ruleTarget(r *store.Rule) *string       { return &r.TargetURL }
func variantTarget(v *store.Variant) *string { return &v.TargetURL }

// newTargets returns the destinations of parts that their saved forms do not have, with their fields in a draft.
func newTargets[T any](kind string, list, saved []T, idOf func(*T) string, target func(*T) *string) (out []links.Target) {
	for i := range list {
		one := target(&list[i])
		if was := find(saved, idOf(&list[i]), idOf); was == nil || *target(was) != *one {
			out = append(out, links.Target{Field: fmt.Sprintf("%s.%d.targetUrl", kind, i), URL: one})
		}
	}
	return out
}

// find returns the part with an id, or nil.
func find[T any](list []T, id string, idOf func(*T) string) *T {
	for i := range list {
		if idOf(&list[i]) == id {
			return &list[i]
		}
	}
	return nil
}

// draftRules builds the rules of a draft. It adds problems to v; its error is one of this process.
func (s *Service) draftRules(drafts []RuleDraft, saved []store.Rule, v *problem.Fields) ([]store.Rule, error) {
	if len(drafts) > maxRules {
		v.Under("rules", tooManyRules())
		return nil, nil
	}
	now := store.Now()
	list := make([]store.Rule, len(drafts))
	changed := make([]bool, len(drafts)) // rules that saving would check against the limits of the link
	var t total
	before := len(*v)
	for i := range drafts {
		at := fmt.Sprintf("rules.%d", i)
		was := identify(at, "rule", drafts[i].ID, i, saved, ruleID, func(n int) string { return drafts[n].ID }, v)
		r := store.Rule{ID: newID(i), Active: true, CreatedAt: now + int64(i), UpdatedAt: now}
		if was != nil {
			r = *was
			r.Active, r.Priority = true, 0
		}
		if err := s.newRule(&drafts[i].RuleInput, &r); err != nil {
			v.Under(at, err)
			continue
		}
		list[i], changed[i] = r, true
		if was != nil {
			var err error
			if changed[i], err = costsMore(was, &r); err != nil {
				return nil, err
			}
		}
		if !changed[i] {
			if err := t.keep(&r); err != nil {
				return nil, err
			}
		}
	}
	if len(*v) > before {
		return nil, nil
	}
	for i := range list {
		if !changed[i] {
			continue
		}
		err := t.alone(&list[i])
		if err == nil {
			err = t.addRule(&list[i])
		}
		if err != nil {
			if !errors.As(err, new(*problem.Error)) {
				return nil, err
			}
			v.Under(fmt.Sprintf("rules.%d", i), err)
			break
		}
	}
	return list, nil
}

// draftVariants builds the variants of a draft. It adds problems to v.
func (s *Service) draftVariants(drafts []VariantDraft, saved []store.Variant, v *problem.Fields) []store.Variant {
	if len(drafts) > maxVariants {
		v.Under("variants", tooManyVariants())
		return nil
	}
	now := store.Now()
	list := make([]store.Variant, len(drafts))
	for i := range drafts {
		at := fmt.Sprintf("variants.%d", i)
		was := identify(at, "variant", drafts[i].ID, i, saved, variantID, func(n int) string { return drafts[n].ID }, v)
		list[i] = store.Variant{ID: newID(i), Weight: DefaultWeight, Active: true, CreatedAt: now + int64(i), UpdatedAt: now}
		if was != nil {
			list[i] = *was
			list[i].Active, list[i].Weight = true, DefaultWeight
		}
		if err := s.newVariant(&drafts[i].VariantInput, &list[i]); err != nil {
			v.Under(at, err)
		}
	}
	return list
}

// newID returns the id of the part of a draft that has none. It is always the same for a place in the list, because which
// visitors a sticky variant gets depends on its id. No saved part has it.
func newID(i int) string { return fmt.Sprintf("00000000-0000-8000-8000-%012x", i+1) }

// identify returns the saved part whose id the nth part of a draft has, or nil. It adds a problem if there is none, or if an
// earlier part of the draft has the id too.
func identify[T any](at, what, id string, nth int, saved []T, idOf func(*T) string, draftID func(int) string, v *problem.Fields) *T {
	if id == "" {
		return nil
	}
	was := find(saved, id, idOf)
	if was == nil {
		v.Add(at+".id", "is not the id of a %s of this link; leave it out for a new %s", what, what)
		return nil
	}
	for i := range nth {
		if draftID(i) == id {
			v.Add(at+".id", "must not be given twice")
		}
	}
	return was
}

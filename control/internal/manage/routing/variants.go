package routing

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
)

// VariantInput lists the fields of a variant that a request sets. Nil fields keep their value.
type VariantInput struct {
	Name, TargetURL *string
	Weight          *int
	Active          *bool
}

// DefaultWeight is the weight of a new variant without one.
const DefaultWeight = 50

func (s *Service) applyVariant(in *VariantInput, to *store.Variant, v *problem.Fields) {
	if in.Name != nil {
		checkName(*in.Name, &to.Name, v)
	}
	if in.TargetURL != nil {
		s.checkTarget(*in.TargetURL, &to.TargetURL, v)
	}
	if in.Weight != nil {
		if *in.Weight < 0 || *in.Weight > maxWeight {
			v.Add("weight", "must be 0 to %d", maxWeight)
		}
		to.Weight = *in.Weight
	}
	if in.Active != nil {
		to.Active = *in.Active
	}
}

// CreateVariant adds a variant to a link. A link's first variant turns A/B testing on, unless it is
// inactive.
func (s *Service) CreateVariant(ctx context.Context, p auth.Principal, urlID string, in VariantInput) (store.Variant, error) {
	if err := s.screenTarget(ctx, p, urlID, "targetUrl", in.TargetURL); err != nil {
		return store.Variant{}, err
	}
	now := store.Now()
	variant := store.Variant{ID: store.NewID(), URLID: urlID, Weight: DefaultWeight, Active: true, CreatedAt: now, UpdatedAt: now}
	err := s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audited, error) {
		if err := version.Check(ctx, links.Version(u), *u); err != nil {
			return audited{}, err
		}
		if err := s.newVariant(&in, &variant); err != nil {
			return audited{}, err
		}
		others, err := tx.Variants(ctx, urlID)
		if err != nil {
			return audited{}, err
		}
		if len(others) >= maxVariants {
			return audited{}, tooManyVariants()
		}
		if len(others) == 0 && variant.Active {
			u.ABTesting = true
		}
		return audited{"VARIANT_CREATED", "variant", variant.ID, nil, links.VariantFields(&variant)}, tx.InsertVariant(ctx, &variant)
	})
	return variant, problem.Doing("create variant", err)
}

// newVariant writes the input to a variant that does not exist yet.
func (s *Service) newVariant(in *VariantInput, to *store.Variant) error {
	var v problem.Fields
	need("name", in.Name, &v)
	need("targetUrl", in.TargetURL, &v)
	s.applyVariant(in, to, &v)
	return v.Err()
}

func tooManyVariants() error {
	return problem.New(problem.Invalid, "A link can have at most %d variants.", maxVariants)
}

// UpdateVariant changes what the input speaks of. When it leaves no active variant, A/B testing goes off.
func (s *Service) UpdateVariant(ctx context.Context, p auth.Principal, urlID, id string, in VariantInput) (store.Variant, error) {
	if err := s.screenTarget(ctx, p, urlID, "targetUrl", in.TargetURL); err != nil {
		return store.Variant{}, err
	}
	var variant store.Variant
	err := s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audited, error) {
		var err error
		if variant, err = foundVariant(tx.Variant(ctx, urlID, id)); err != nil {
			return audited{}, err
		}
		if err := version.Check(ctx, VariantVersion(&variant), variant); err != nil {
			return audited{}, err
		}
		before := variant
		var v problem.Fields
		s.applyVariant(&in, &variant, &v)
		if err := v.Err(); err != nil {
			return audited{}, err
		}
		entry := audited{"VARIANT_UPDATED", "variant", id, links.VariantFields(&before), links.VariantFields(&variant)}
		if variant != before {
			variant.UpdatedAt = store.Now()
			if err := tx.UpdateVariant(ctx, &variant); err != nil {
				return audited{}, err
			}
		}
		return entry, offIfNoneActive(ctx, tx, u)
	})
	return variant, problem.Doing("update variant", err)
}

// DeleteVariant removes a variant. When it leaves no active variant, A/B testing goes off.
func (s *Service) DeleteVariant(ctx context.Context, p auth.Principal, urlID, id string) error {
	return problem.Doing("delete variant", s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audited, error) {
		variant, err := foundVariant(tx.Variant(ctx, urlID, id))
		if err != nil {
			return audited{}, err
		}
		if err := version.Check(ctx, VariantVersion(&variant), variant); err != nil {
			return audited{}, err
		}
		if err := tx.DeleteVariant(ctx, id); err != nil {
			return audited{}, err
		}
		return audited{"VARIANT_DELETED", "variant", id, links.VariantFields(&variant), nil}, offIfNoneActive(ctx, tx, u)
	}))
}

func offIfNoneActive(ctx context.Context, tx *store.Tx, u *store.Link) error {
	if !u.ABTesting {
		return nil
	}
	n, err := tx.ActiveVariants(ctx, u.ID)
	if err != nil {
		return err
	}
	u.ABTesting = n > 0
	return nil
}

// Variant reads one variant of a link.
func (s *Service) Variant(ctx context.Context, p auth.Principal, urlID, id string) (store.Variant, error) {
	if _, err := s.visibleLink(ctx, p, urlID); err != nil {
		return store.Variant{}, err
	}
	return foundVariant(s.store.Variant(ctx, urlID, id))
}

// VariantVersion returns the version of a variant. Counters are not part of it.
func VariantVersion(v *store.Variant) string {
	return version.Hash(v.ID, v.Name, v.TargetURL, v.Weight, v.Active, v.UpdatedAt)
}

// VariantList is a link's variants, the oldest first, with their figures.
type VariantList struct {
	Version     string // of the link
	Variants    []store.Variant
	Shares      []float64 // of all clicks on variants, in percent, by variant
	TotalWeight int       // of the active ones
	TotalClicks int64
	Experiment  bool // whether the link has one
}

// Variants reads all variants of a link.
func (s *Service) Variants(ctx context.Context, p auth.Principal, urlID string) (VariantList, error) {
	var l VariantList
	u, err := s.visibleLink(ctx, p, urlID)
	if err != nil {
		return l, err
	}
	l.Version = links.Version(&u)
	if l.Variants, err = s.store.Variants(ctx, urlID); err != nil {
		return l, fmt.Errorf("list variants: %w", err)
	}
	switch _, err := s.store.Experiment(ctx, u.Num); {
	case err == nil:
		l.Experiment = true
	case !errors.Is(err, store.ErrNotFound):
		return l, fmt.Errorf("read an experiment: %w", err)
	}
	for _, v := range l.Variants {
		l.TotalClicks += v.ClickCount
		if v.Active {
			l.TotalWeight += v.Weight
		}
	}
	for _, v := range l.Variants {
		l.Shares = append(l.Shares, percent.Of(v.ClickCount, l.TotalClicks))
	}
	return l, nil
}

func foundVariant(v store.Variant, err error) (store.Variant, error) {
	return v, auth.Missing("Variant", err)
}

// SetWeights gives variants of a link the weights of an experiment, by id, in a transaction that has locked the link. The change
// becomes part of the link's history and reaches edges. The caller writes the audit entry, and the weights into the history
// of the experiment.
func SetWeights(ctx context.Context, tx *store.Tx, p auth.Principal, u *store.Link, weights map[string]int) error {
	before, err := tx.StateOf(ctx, *u)
	if err != nil {
		return err
	}
	for _, v := range before.Variants {
		w, ok := weights[v.ID]
		if !ok || w == v.Weight {
			continue
		}
		v.Weight, v.UpdatedAt = w, store.Now()
		if err := tx.UpdateVariant(ctx, &v); err != nil {
			return err
		}
	}
	return links.RecordChange(ctx, tx, p, links.ActionWeights, u, before)
}

package analytics

import (
	"context"
	"fmt"
	"math"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/each"
)

// rewriteSize is how many clicks Rewrite passes on at a time.
const rewriteSize = 20_000

// Rewrite is the part of Reclassify that all adapters share. It reads the clicks of a scope and lets f change them. It
// passes the changed clicks to store in batches, which are never empty. Only the fields of Row.Enrich are changed.
func Rewrite(ctx context.Context, s Store, scope Scope, f func(r *Row, again bool) bool,
	store func(context.Context, []Row) error) (changed int, err error) {
	rows := make([]Row, 0, rewriteSize)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		if err := store(ctx, rows); err != nil {
			return err
		}
		changed += len(rows)
		rows = rows[:0]
		return nil
	}
	err = s.Clicks(ctx, scope, math.MaxInt, func(r *Row) error {
		before := *r
		if f(r, false) {
			before.Enrich(r)
			rows = append(rows, before)
		}
		if len(rows) < rewriteSize {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return changed, err
}

// Follow is the second part of Reclassify that all adapters share: conversions contain a copy of their click. Follow compares
// the copies in a scope with the clicks, and passes the conversions whose copies differ to store, with the click's enrichment.
// It does not rely on which clicks Rewrite has changed. A reclassification that was interrupted can therefore be repeated.
// store gets batches that are never empty.
func Follow(ctx context.Context, s Store, scope Scope, store func(context.Context, []Conversion) error) error {
	// A copy may not satisfy the scope any more, or not yet, because of the difference.
	scope = Scope{Links: scope.Links, Owner: scope.Owner, Moves: scope.Moves, NotOwners: scope.NotOwners, From: scope.From, To: scope.To,
		Bots: Everyone}
	list := make([]Conversion, 0, lookUp)
	flush := func() error {
		changed, err := outdated(ctx, s, list)
		if err == nil && len(changed) > 0 {
			err = store(ctx, changed)
		}
		list = list[:0]
		return err
	}
	err := s.EachConversion(ctx, scope, "", math.MaxInt, func(c *Conversion) error {
		if !c.Attributed {
			return nil
		}
		if list = append(list, *c); len(list) < rewriteSize {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("correct conversions: %w", err)
	}
	return nil
}

// outdated returns the conversions of a list whose copy of the click differs, with the click's enrichment.
func outdated(ctx context.Context, s Store, list []Conversion) (changed []Conversion, err error) {
	ids := each.At(list, func(c *Conversion) conversion.ClickID { return c.Click })
	found, err := s.FindClicks(ctx, ids)
	for _, c := range list {
		if row, ok := found[c.Click]; ok {
			before := c.Row
			if c.Row.Enrich(&row); c.Row != before {
				changed = append(changed, c)
			}
		}
	}
	return changed, err
}

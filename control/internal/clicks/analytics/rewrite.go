package analytics

import (
	"context"
	"math"
)

// rewriteSize is how many clicks Rewrite passes on at a time.
const rewriteSize = 20_000

// Rewrite is the part of Reclassify that all adapters share. It reads the clicks of a scope and lets f change them. It
// passes the changed clicks to store in batches, which are never empty. Only the fields of Row.Enrich are changed.
func Rewrite(ctx context.Context, s Store, scope Scope, f func(*Row) bool, store func(context.Context, []Row) error) (changed int, err error) {
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
		if f(r) {
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

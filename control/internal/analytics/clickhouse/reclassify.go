package clickhouse

import (
	"context"
	"math"
	"time"

	"github.com/shortline/shortline/control/internal/analytics"
)

// Of several rows with one key the one whose keep is highest stays. What Insert writes has 2^32-1 less the seconds
// since 1970, so the first stays; since September 2023, and so for all clicks there are, that is below remade. What
// Reclassify writes is above and rises with time.
const remade = 2_600_000_000

// remadeFrom is where the seconds are counted from that are added: 14 November 2023.
const remadeFrom = 1_700_000_000

// changeSize is how many clicks Reclassify writes at a time.
const changeSize = 20_000

// Reclassify implements analytics.Store.
func (s *Store) Reclassify(ctx context.Context, scope analytics.Scope, f func(*analytics.Row) bool) (changed int, err error) {
	var last uint32
	if err := s.each(ctx, analytics.Statement{Text: `SELECT max(keep) FROM clicks`}, func() error { return nil }, &last); err != nil {
		return 0, wrap("reclassify clicks", err)
	}
	keep := max(last+1, remade+uint32(time.Now().Unix()-remadeFrom))
	rows := make([]analytics.Row, 0, changeSize)
	flush := func() error {
		if err := s.change(ctx, rows, keep); err != nil {
			return err
		}
		changed += len(rows)
		rows = rows[:0]
		return nil
	}
	err = s.Clicks(ctx, scope, math.MaxInt, func(r *analytics.Row) error {
		before := *r
		if f(r) {
			before.Enrich(r)
			rows = append(rows, before)
		}
		if len(rows) < changeSize {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return changed, wrap("reclassify clicks", err)
}

func (s *Store) change(ctx context.Context, rows []analytics.Row, keep uint32) error {
	if len(rows) == 0 {
		return nil
	}
	fields := append(rowFields(rows), field{"keep", column(rows, func(*analytics.Row) uint32 { return keep })})
	return s.insertRows(ctx, rows, fields)
}

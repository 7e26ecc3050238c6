package clickhouse

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Of several rows with the same key, the row with the highest keep wins. Insert writes 2^32-1 minus the seconds since
// 1970, so the first row wins. For all times since September 2023, and therefore for all existing clicks, this is below
// remade. Reclassify writes values above remade that rise with time.
const remade = 2_600_000_000

// remadeFrom is the start of the seconds that are added to remade: 14 November 2023.
const remadeFrom = 1_700_000_000

// Reclassify implements analytics.Store.
func (s *Store) Reclassify(ctx context.Context, scope analytics.Scope, f func(*analytics.Row, bool) bool) (changed int, err error) {
	var last uint32
	if err := s.each(ctx, analytics.Statement{Text: `SELECT max(keep) FROM clicks`}, func() error { return nil }, &last); err != nil {
		return 0, wrap("reclassify clicks", err)
	}
	keep := max(last+1, remade+uint32(time.Now().Unix()-remadeFrom))
	changed, err = analytics.Rewrite(ctx, s, scope, f, func(ctx context.Context, rows []analytics.Row) error {
		return s.change(ctx, rows, keep)
	})
	if err == nil {
		err = analytics.Follow(ctx, s, scope, func(ctx context.Context, list []analytics.Conversion) error {
			return s.insertConversions(ctx, list, corrected)
		})
	}
	return changed, wrap("reclassify clicks", err)
}

func (s *Store) change(ctx context.Context, rows []analytics.Row, keep uint32) error {
	fields := append(rowFields(rows), field{"keep", column(rows, func(*analytics.Row) uint32 { return keep })})
	return s.insertRows(ctx, rows, fields)
}

package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// expiring are the tables with monthly partitions, and the expression for a row's time.
var expiring = func() []timed {
	list := []timed{{"clicks", "ts"}, {"conversions", "ts"}}
	for _, table := range slices.Concat(slotTables, []string{"rollup_day_values"}) {
		list = append(list, timed{table, "toDateTime(slot * 900, 'UTC')"})
	}
	return list
}()

type timed struct{ table, time string }

// Expire implements analytics.Store. It deletes whole months (UTC), because a month is a partition and dropping it
// costs nothing.
func (s *Store) Expire(ctx context.Context, before time.Time) error {
	first := before.UTC().Year()*100 + int(before.UTC().Month())
	for _, e := range expiring {
		var months []uint32
		var month uint32
		err := s.each(ctx,
			analytics.Statement{Text: fmt.Sprintf("SELECT DISTINCT toYYYYMM(%s) AS month FROM %s WHERE month < %d ORDER BY month",
				e.time, e.table, first)}, func() error {
				months = append(months, month)
				return nil
			}, &month)
		if err != nil {
			return wrap("look for expired clicks", err)
		}
		for _, m := range months {
			if err := s.exec(ctx, fmt.Sprintf("ALTER TABLE %s DROP PARTITION %d SETTINGS max_partition_size_to_drop = 0", e.table,
				m)); err != nil {
				return wrap("drop expired clicks", err)
			}
		}
	}
	return nil
}

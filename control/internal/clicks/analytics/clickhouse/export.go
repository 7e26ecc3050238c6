package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// truth are the tables with data from edges; derived are the tables computed from them, or copied from
// elsewhere.
var (
	truth   = []string{"clicks", "conversions", "lane_marks", "losses"}
	derived = slices.Concat(slotTables, []string{"rollup_day_values", "rollup_owners", "rollup_begun", "rollup_builds", "rollup_day_builds",
		"rollup_marks", "link_moves"})
)

// Export calls f with every click, one day at a time and in no order within a day. It has no time limit. The row is
// valid only during the call. Clicks that are stored during the export may be missing.
func (s *Store) Export(ctx context.Context, f func(*analytics.Row) error) error {
	return s.ExportWithout(ctx, nil, f)
}

// ExportWithout is Export without the clicks of some owners.
func (s *Store) ExportWithout(ctx context.Context, notOwners []uint64, f func(*analytics.Row) error) error {
	ctx, cancel := unhurried(ctx)
	defer cancel()
	var days []int64
	var day int64
	err := s.each(ctx, analytics.Statement{Text: `SELECT DISTINCT toInt64(toRelativeDayNum(ts)) AS day FROM clicks ORDER BY day`},
		func() error {
			days = append(days, day)
			return nil
		}, &day)
	for i := 0; err == nil && i < len(days); i++ {
		d := analytics.Day(days[i])
		err = s.rows(ctx, analytics.ExportSQL(clicks, analytics.Scope{From: d.Start(nil), To: (d + 1).Start(nil), NotOwners: notOwners,
			Bots: analytics.Everyone}), f)
	}
	return wrap("export clicks", err)
}

// ExportLosses returns every loss marker.
func (s *Store) ExportLosses(ctx context.Context) ([]analytics.Loss, error) {
	list := []analytics.Loss{}
	var l analytics.Loss
	err := s.each(ctx,
		analytics.Statement{Text: `SELECT edge, epoch, lane, seq, toUnixTimestamp64Milli(ts), lost_from, lost_to FROM losses FINAL`},
		func() error {
			list = append(list, l)
			return nil
		}, &l.Edge, &l.Epoch, &l.Lane.Lane, &l.Seq, &l.Time, &l.From, &l.To)
	return list, wrap("export losses", err)
}

// Empty reports whether no click, conversion, mark or loss is stored.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	var n uint64
	for _, table := range truth {
		var some uint64
		if err := s.each(ctx, analytics.Statement{Text: "SELECT count() FROM (SELECT 1 FROM " + table + " LIMIT 1)"}, func() error {
			return nil
		}, &some); err != nil {
			return false, wrap("look for clicks", err)
		}
		n += some
	}
	return n == 0, nil
}

// Clear deletes everything. Nothing else may use the tables meanwhile.
func (s *Store) Clear(ctx context.Context) error {
	for _, list := range [][]string{derived, truth} {
		for _, table := range list {
			if err := s.exec(ctx, fmt.Sprintf("TRUNCATE TABLE %s SETTINGS max_table_size_to_drop = 0", table)); err != nil {
				return wrap("delete all clicks", err)
			}
		}
	}
	return nil
}

// SetIdentity replaces the identity of the tables with that of the tables in a backup.
func (s *Store) SetIdentity(ctx context.Context, id string) error {
	if _, err := s.Identity(ctx); err != nil { // creates the table
		return err
	}
	if err := s.exec(ctx, "TRUNCATE TABLE identity"); err != nil {
		return wrap("replace the identity", err)
	}
	return wrap("replace the identity", s.insert(ctx, "identity", 1, []field{{"id", made([]string{id})}}))
}

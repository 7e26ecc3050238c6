package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/each"
)

// Insert implements analytics.Store. It may be called concurrently.
func (s *Store) Insert(ctx context.Context, b analytics.Batch) error {
	if err := s.insertRows(ctx, b.Rows, rowFields(b.Rows)); err != nil {
		return wrap("insert clicks", err)
	}
	if err := s.insertLosses(ctx, b.Losses); err != nil {
		return wrap("insert losses", err)
	}
	return wrap("insert lane marks", s.insertMarks(ctx, b.Marks))
}

// straddles reports whether rows belong to several partitions.
func straddles(rows []analytics.Row) bool {
	if len(rows) == 0 {
		return false
	}
	first, last := rows[0].Time, rows[0].Time
	for i := range rows {
		first, last = min(first, rows[i].Time), max(last, rows[i].Time)
	}
	y1, m1, _ := time.UnixMilli(first).UTC().Date()
	y2, m2, _ := time.UnixMilli(last).UTC().Date()
	return y1 != y2 || m1 != m2
}

// insertRows inserts clicks and marks their slots. If a slot may already be built, it is also marked before the insert.
// Such slots are then read from the clicks, where all rows of the batch appear at once.
func (s *Store) insertRows(ctx context.Context, rows []analytics.Row, fields []field) error {
	if len(rows) == 0 {
		return nil
	}
	all := slotsOf(rows)
	var late []uint32
	for open, i := slotOf(time.Now().Add(-grace).UnixMilli()), 0; i < len(all); i++ {
		if all[i] < open {
			late = append(late, all[i])
		}
	}
	if straddles(rows) || len(late) > 0 && len(all) > 1 {
		s.whole.Lock()
		defer s.whole.Unlock()
	}
	if err := s.mark(ctx, late); err != nil {
		return err
	}
	if err := s.insert(ctx, "clicks", len(rows), fields); err != nil {
		return err
	}
	return s.mark(ctx, all)
}

func rowFields(rows []analytics.Row) []field {
	var ids analytics.IDText
	text := func(get func(*analytics.Row) string) func() any {
		return column(rows, func(r *analytics.Row) string { return analytics.Plain(get(r)) })
	}
	return []field{
		{"edge", column(rows, func(r *analytics.Row) uint64 { return r.Edge })},
		{"epoch", column(rows, func(r *analytics.Row) uint32 { return r.Epoch })},
		{"lane", column(rows, func(r *analytics.Row) uint8 { return r.Lane.Lane })},
		{"seq", column(rows, func(r *analytics.Row) uint64 { return r.Seq })},
		{"ts", column(rows, func(r *analytics.Row) int64 { return r.Time })},
		{"link", column(rows, func(r *analytics.Row) int64 { return int64(r.Link) })},
		{"owner", column(rows, func(r *analytics.Row) int64 { return int64(r.Owner) })},
		{"variant", column(rows, func(r *analytics.Row) string { return ids.Of(r.Variant) })},
		{"rule", column(rows, func(r *analytics.Row) string { return ids.Of(r.Rule) })},
		{"ip", column(rows, address)},
		{"visitor", column(rows, func(r *analytics.Row) int64 { return analytics.Visitor(r.IP) })},
		{"country", text(func(r *analytics.Row) string { return r.Country })},
		{"region", text(func(r *analytics.Row) string { return r.Region })},
		{"city", text(func(r *analytics.Row) string { return r.City })},
		{"device", text(func(r *analytics.Row) string { return r.Device })},
		{"os", text(func(r *analytics.Row) string { return r.OS })},
		{"browser", text(func(r *analytics.Row) string { return r.Browser })},
		{"referer", text(func(r *analytics.Row) string { return r.Referer })},
		{"user_agent", text(func(r *analytics.Row) string { return r.UserAgent })},
		{"bot", column(rows, func(r *analytics.Row) bool { return r.Bot })},
		{"bot_name", text(func(r *analytics.Row) string { return r.BotName })},
		{"utm_source", text(func(r *analytics.Row) string { return r.UTM.Source })},
		{"utm_medium", text(func(r *analytics.Row) string { return r.UTM.Medium })},
		{"utm_campaign", text(func(r *analytics.Row) string { return r.UTM.Campaign })},
		{"utm_term", text(func(r *analytics.Row) string { return r.UTM.Term })},
		{"utm_content", text(func(r *analytics.Row) string { return r.UTM.Content })},
		{"utm_id", text(func(r *analytics.Row) string { return r.UTM.ID })},
		{"utm_source_platform", text(func(r *analytics.Row) string { return r.UTM.SourcePlatform })},
		{"geo_version", text(func(r *analytics.Row) string { return r.GeoVersion })},
		{"bot_list", text(func(r *analytics.Row) string { return r.BotList })},
		{"edge_name", text(func(r *analytics.Row) string { return r.EdgeName })},
		{"edge_region", text(func(r *analytics.Row) string { return r.EdgeRegion })},
		{"language", text(func(r *analytics.Row) string { return r.Language })},
		{"participant", column(rows, func(r *analytics.Row) uint64 { return r.Visitor })},
	}
}

func (s *Store) insertLosses(ctx context.Context, list []analytics.Loss) error {
	return s.insert(ctx, "losses", len(list), []field{
		{"edge", column(list, func(l *analytics.Loss) uint64 { return l.Edge })},
		{"epoch", column(list, func(l *analytics.Loss) uint32 { return l.Epoch })},
		{"lane", column(list, func(l *analytics.Loss) uint8 { return l.Lane.Lane })},
		{"seq", column(list, func(l *analytics.Loss) uint64 { return l.Seq })},
		{"ts", column(list, func(l *analytics.Loss) int64 { return l.Time })},
		{"lost_from", column(list, func(l *analytics.Loss) uint64 { return l.From })},
		{"lost_to", column(list, func(l *analytics.Loss) uint64 { return l.To })},
	})
}

func (s *Store) insertMarks(ctx context.Context, list []analytics.Mark) error {
	return s.insert(ctx, "lane_marks", len(list), []field{
		{"edge", column(list, func(m *analytics.Mark) uint64 { return m.Edge })},
		{"epoch", column(list, func(m *analytics.Mark) uint32 { return m.Epoch })},
		{"lane", column(list, func(m *analytics.Mark) uint8 { return m.Lane.Lane })},
		{"seq", column(list, func(m *analytics.Mark) uint64 { return m.Seq })},
	})
}

// field is one column of an insert: its name and a function that makes its values. The function is called when the
// column is sent, so that not all columns are in memory twice.
type field struct {
	name   string
	values func() any
}

func column[R, V any](rows []R, get func(*R) V) func() any {
	return func() any {
		values := make([]V, len(rows))
		for i := range rows {
			values[i] = get(&rows[i])
		}
		return values
	}
}

// made returns existing values.
func made[V any](values []V) func() any { return func() any { return values } }

// insert sends n rows as one block, which the server stores as one part per partition.
func (s *Store) insert(ctx context.Context, table string, n int, fields []field) error {
	if n == 0 {
		return nil
	}
	names := each.Of(fields, func(f field) string { return f.name })
	statement := "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ")"
	return s.retry(ctx, func() error { return s.sendBatch(ctx, statement, fields) })
}

func (s *Store) sendBatch(ctx context.Context, statement string, fields []field) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	batch, err := s.writing.PrepareBatch(ctx, statement)
	if err != nil {
		return err
	}
	for i, f := range fields {
		if err := batch.Column(i).Append(f.values()); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", f.name, err), batch.Abort())
		}
	}
	return batch.Send()
}

func address(r *analytics.Row) netip.Addr {
	if !r.IP.IsValid() {
		return netip.IPv6Unspecified()
	}
	return netip.AddrFrom16(r.IP.As16())
}

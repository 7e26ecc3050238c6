package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/each"
)

// conversions is the table as readers must read it: one row for each conversion.
const conversions = "conversions FINAL"

// InsertConversions implements analytics.Conversions. It may be called concurrently.
func (s *Store) InsertConversions(ctx context.Context, list []analytics.Conversion) error {
	return wrap("insert conversions", s.insertConversions(ctx, list, 0))
}

// corrected is the bit of a version with which a changed copy replaces the row that it was made of. Of two rows with the same
// version, the server keeps the one that was inserted last.
const corrected = 1

func (s *Store) insertConversions(ctx context.Context, list []analytics.Conversion, mark uint64) error {
	versions := each.At(list, func(c *analytics.Conversion) uint64 { return c.Version() | mark })
	return s.insertVersions(ctx, list, versions)
}

func (s *Store) insertVersions(ctx context.Context, list []analytics.Conversion, versions []uint64) error {
	type row = analytics.Conversion
	clicked := each.At(list, func(c *analytics.Conversion) analytics.Row { return c.Clicked() })
	text := func(get func(*row) string) func() any {
		return column(list, func(c *row) string { return analytics.Plain(get(c)) })
	}
	fields := append(rowFields(clicked), []field{
		{"tag", column(list, func(c *row) uint64 { return c.Click.Tag })},
		{"goal", text(func(c *row) string { return c.Name })},
		{"once", text(func(c *row) string { return c.Once() })},
		{"value", column(list, func(c *row) int64 { return c.Value })},
		{"currency", text(func(c *row) string { return c.Currency })},
		{"external_id", text(func(c *row) string { return c.ExternalID })},
		{"repeatable", column(list, func(c *row) bool { return c.Repeatable })},
		{"occurred_at", column(list, func(c *row) int64 { return c.OccurredAt })},
		{"received_at", column(list, func(c *row) int64 { return c.ReceivedAt })},
		{"sender", column(list, func(c *row) int64 { return int64(c.Workspace) })},
		{"browser_sent", column(list, func(c *row) bool { return c.Browser })},
		{"attributed", column(list, func(c *row) bool { return c.Attributed })},
		{"version", made(versions)},
	}...)
	if straddles(clicked) {
		s.whole.Lock() // readers must see all months of the list at once
		defer s.whole.Unlock()
	}
	return s.insert(ctx, "conversions", len(list), fields)
}

// Unattributed implements analytics.Conversions.
func (s *Store) Unattributed(ctx context.Context, since, after int64, limit int) ([]analytics.Conversion, error) {
	list, err := analytics.Reader(s.each).Conversions(ctx, analytics.UnattributedSQL(conversions, since, after, limit))
	return list, wrap("read conversions without a click", err)
}

// FindClicks implements analytics.Conversions.
func (s *Store) FindClicks(ctx context.Context, ids []conversion.ClickID) (map[conversion.ClickID]analytics.Row, error) {
	found := map[conversion.ClickID]analytics.Row{}
	err := analytics.Chunks(ids, func(ids []conversion.ClickID) error {
		return analytics.Reader(s.each).FindClicks(ctx, analytics.ClicksAt(clicks, ids, days(ids)), ids, found)
	})
	return found, wrap("look clicks up", err)
}

// days renders the condition that a row is of one of the days of the ids, by which the tables are ordered.
func days(ids []conversion.ClickID) string {
	var list []string
	for _, id := range ids {
		list = append(list, "toDate('"+time.UnixMilli(id.Time).UTC().Format(time.DateOnly)+"')")
	}
	slices.Sort(list)
	return fmt.Sprintf(" AND toDate(ts) IN (%s)", strings.Join(slices.Compact(list), ", "))
}

// StoredConversions implements analytics.Conversions.
func (s *Store) StoredConversions(ctx context.Context, keys []analytics.ConversionKey) (map[analytics.ConversionKey]bool, error) {
	wanted, found := map[analytics.ConversionKey]bool{}, map[analytics.ConversionKey]bool{}
	for _, k := range keys {
		wanted[k] = true
	}
	err := analytics.Chunks(analytics.IDsOf(keys), func(ids []conversion.ClickID) error {
		return analytics.Reader(s.each).StoredConversions(ctx, analytics.ConversionsAt("conversions", ids, days(ids)), wanted, found)
	})
	return found, wrap("look conversions up", err)
}

// ConversionLines implements analytics.Conversions.
func (s *Store) ConversionLines(ctx context.Context, q analytics.Query, goal string) ([]analytics.ConversionLine, error) {
	list, err := analytics.Reader(s.each).ConversionLines(ctx, q.ConversionSQL(conversions, goal), q)
	return list, wrap("query conversions", err)
}

// ConversionBreakdown implements analytics.Conversions.
func (s *Store) ConversionBreakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	goal string) (map[analytics.Dimension][]analytics.ConversionLine, error) {
	found, err := analytics.Reader(s.each).ConversionBreakdown(ctx, dims, func(stored []analytics.Dimension) analytics.Statement {
		return analytics.ConversionBreakdownSQL(conversions, scope, stored, goal)
	})
	return found, wrap("break conversions down", err)
}

// EachConversion implements analytics.Conversions.
func (s *Store) EachConversion(ctx context.Context, scope analytics.Scope, goal string, limit int,
	f func(*analytics.Conversion) error) error {
	return analytics.Reader(s.each).EachConversion(ctx, conversions, scope, goal, limit, page, f)
}

// Goals implements analytics.Conversions.
func (s *Store) Goals(ctx context.Context, scope analytics.Scope) ([]analytics.GoalLine, error) {
	list, err := analytics.Reader(s.each).Goals(ctx, analytics.GoalsSQL(conversions, scope))
	return list, wrap("query goals", err)
}

// ConvertedClicks implements analytics.Conversions.
func (s *Store) ConvertedClicks(ctx context.Context, scope analytics.Scope) (map[string]int64, error) {
	found, err := analytics.Reader(s.each).ConvertedClicks(ctx, analytics.ConvertedClicksSQL(conversions, scope))
	return found, wrap("count converted clicks", err)
}

// Arms implements analytics.Conversions.
func (s *Store) Arms(ctx context.Context, e analytics.Experiment) ([]analytics.ArmLine, error) {
	list, err := analytics.Reader(s.each).Arms(ctx, e.ArmsSQL(clicks, conversions))
	return list, wrap("query the arms of an experiment", err)
}

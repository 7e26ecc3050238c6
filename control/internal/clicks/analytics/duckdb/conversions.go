package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
)

// conversionTable are the columns of conversions. Those of the click come first, as in rowColumns.
const conversionTable = `(
	edge UBIGINT, epoch UINTEGER, lane UTINYINT, seq UBIGINT,
	ts BIGINT NOT NULL, link BIGINT NOT NULL, owner BIGINT, variant VARCHAR, rule VARCHAR,
	ip VARCHAR, visitor BIGINT, country VARCHAR, region VARCHAR, city VARCHAR,
	device VARCHAR, os VARCHAR, browser VARCHAR, referer VARCHAR, user_agent VARCHAR, bot BOOLEAN, bot_name VARCHAR,
	utm_source VARCHAR, utm_medium VARCHAR, utm_campaign VARCHAR, utm_term VARCHAR, utm_content VARCHAR, utm_id VARCHAR, utm_source_platform VARCHAR,
	geo_version VARCHAR, bot_list VARCHAR, edge_name VARCHAR, edge_region VARCHAR, language VARCHAR, participant UBIGINT,
	tag UBIGINT NOT NULL, goal VARCHAR NOT NULL, once VARCHAR NOT NULL, value BIGINT, currency VARCHAR, external_id VARCHAR, repeatable BOOLEAN,
	occurred_at BIGINT, received_at BIGINT, sender BIGINT, browser_sent BOOLEAN, attributed BOOLEAN, version UBIGINT
);`

const conversionSchema = `CREATE TABLE IF NOT EXISTS conversions ` + conversionTable

// conversionColumns are the columns of conversions in the order of conversionValues.
var conversionColumns = append(slices.Clone(rowColumns), "tag", "goal", "once", "value", "currency", "external_id", "repeatable",
	"occurred_at", "received_at", "sender", "browser_sent", "attributed", "version")

// sameKey compares the keys of a stored conversion c and a new one a. The bounds let the engine skip other times.
const sameKey = `c.ts BETWEEN %d AND %d AND c.link = a.link AND c.ts = a.ts AND c.tag = a.tag AND c.goal = a.goal AND c.once = a.once`

// InsertConversions implements analytics.Conversions.
func (s *Store) InsertConversions(ctx context.Context, list []analytics.Conversion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("insert conversions: the store is closed")
	}
	if err := ctx.Err(); err != nil || len(list) == 0 {
		return err
	}
	err := s.insertConversions(context.WithoutCancel(ctx), best(list))
	if err == nil {
		s.shorten(ctx)
	}
	return wrap("insert conversions", err)
}

// best returns, for each key, the conversion with the highest version.
func best(list []analytics.Conversion) []analytics.Conversion {
	at := make(map[analytics.ConversionKey]int, len(list))
	var out []analytics.Conversion
	for i := range list {
		c := &list[i]
		if n, ok := at[c.Key()]; !ok {
			at[c.Key()] = len(out)
			out = append(out, *c)
		} else if c.Version() > out[n].Version() {
			out[n] = *c
		}
	}
	return out
}

// receive writes conversions into the temporary table arrivals. It returns the first and the last time of their clicks. The
// list is not empty.
func (s *Store) receive(ctx context.Context, list []analytics.Conversion) (first, last int64, err error) {
	if _, err := s.write.ExecContext(ctx, `CREATE OR REPLACE TEMP TABLE arrivals `+conversionTable); err != nil {
		return 0, 0, err
	}
	if err := s.write.Raw(func(conn any) error { return appendConversions(conn.(driver.Conn), list) }); err != nil {
		return 0, 0, err
	}
	first, last = list[0].Click.Time, list[0].Click.Time
	for i := range list {
		first, last = min(first, list[i].Click.Time), max(last, list[i].Click.Time)
	}
	return first, last, nil
}

func (s *Store) insertConversions(ctx context.Context, list []analytics.Conversion) error {
	first, last, err := s.receive(ctx, list)
	if err != nil {
		return err
	}
	same := fmt.Sprintf(sameKey, first, last)
	columns := strings.Join(conversionColumns, ", ")
	return transact(ctx, s.write, []string{
		`DELETE FROM conversions AS c USING arrivals AS a WHERE c.version < a.version AND ` + same,
		fmt.Sprintf(`INSERT INTO conversions (%s) SELECT %s FROM arrivals AS a WHERE NOT EXISTS (SELECT 1 FROM conversions AS c WHERE %s)`,
			columns, columns, same),
	})
}

func appendConversions(conn driver.Conn, list []analytics.Conversion) (err error) {
	a, err := duck.NewAppender(conn, "temp", "", "arrivals")
	if err != nil {
		return err
	}
	defer func() { err = closeAppender(a, err) }()
	var ids analytics.IDText
	for i := range list {
		c := &list[i]
		r := c.Clicked()
		values := append(rowValues(&r, &ids), c.Click.Tag, analytics.Plain(c.Name), analytics.Plain(c.Once()), c.Value,
			analytics.Plain(c.Currency), analytics.Plain(c.ExternalID), c.Repeatable,
			c.OccurredAt, c.ReceivedAt, int64(c.Workspace), c.Browser, c.Attributed, c.Version())
		if err = a.AppendRow(values...); err != nil {
			return err
		}
	}
	return nil
}

// Unattributed implements analytics.Conversions.
func (s *Store) Unattributed(ctx context.Context, since, after int64, limit int) ([]analytics.Conversion, error) {
	list, err := analytics.Reader(s.each).Conversions(ctx, analytics.UnattributedSQL("conversions", since, after, limit))
	return list, wrap("read conversions without a click", err)
}

// FindClicks implements analytics.Conversions.
func (s *Store) FindClicks(ctx context.Context, ids []conversion.ClickID) (map[conversion.ClickID]analytics.Row, error) {
	found := map[conversion.ClickID]analytics.Row{}
	err := analytics.Chunks(ids, func(ids []conversion.ClickID) error {
		return analytics.Reader(s.each).FindClicks(ctx, analytics.ClicksAt("clicks", ids, ""), ids, found)
	})
	return found, wrap("look clicks up", err)
}

// StoredConversions implements analytics.Conversions.
func (s *Store) StoredConversions(ctx context.Context, keys []analytics.ConversionKey) (map[analytics.ConversionKey]bool, error) {
	wanted, found := map[analytics.ConversionKey]bool{}, map[analytics.ConversionKey]bool{}
	for _, k := range keys {
		wanted[k] = true
	}
	err := analytics.Chunks(analytics.IDsOf(keys), func(ids []conversion.ClickID) error {
		return analytics.Reader(s.each).StoredConversions(ctx, analytics.ConversionsAt("conversions", ids, ""), wanted, found)
	})
	return found, wrap("look conversions up", err)
}

// ConversionLines implements analytics.Conversions.
func (s *Store) ConversionLines(ctx context.Context, q analytics.Query, goal string) ([]analytics.ConversionLine, error) {
	list, err := analytics.Reader(s.each).ConversionLines(ctx, q.ConversionSQL("conversions", goal), q)
	return list, wrap("query conversions", err)
}

// ConversionBreakdown implements analytics.Conversions.
func (s *Store) ConversionBreakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	goal string) (map[analytics.Dimension][]analytics.ConversionLine, error) {
	found, err := analytics.Reader(s.each).ConversionBreakdown(ctx, dims, func(stored []analytics.Dimension) analytics.Statement {
		return analytics.ConversionBreakdownSQL("conversions", scope, stored, goal)
	})
	return found, wrap("break conversions down", err)
}

// EachConversion implements analytics.Conversions.
func (s *Store) EachConversion(ctx context.Context, scope analytics.Scope, goal string, limit int,
	f func(*analytics.Conversion) error) error {
	return analytics.Reader(s.each).EachConversion(ctx, "conversions", scope, goal, limit, page, f)
}

// Goals implements analytics.Conversions.
func (s *Store) Goals(ctx context.Context, scope analytics.Scope) ([]analytics.GoalLine, error) {
	list, err := analytics.Reader(s.each).Goals(ctx, analytics.GoalsSQL("conversions", scope))
	return list, wrap("query goals", err)
}

// ConvertedClicks implements analytics.Conversions.
func (s *Store) ConvertedClicks(ctx context.Context, scope analytics.Scope) (map[string]int64, error) {
	found, err := analytics.Reader(s.each).ConvertedClicks(ctx, analytics.ConvertedClicksSQL("conversions", scope))
	return found, wrap("count converted clicks", err)
}

// Arms implements analytics.Conversions.
func (s *Store) Arms(ctx context.Context, e analytics.Experiment) ([]analytics.ArmLine, error) {
	list, err := analytics.Reader(s.each).Arms(ctx, e.ArmsSQL("clicks", "conversions"))
	return list, wrap("query the arms of an experiment", err)
}

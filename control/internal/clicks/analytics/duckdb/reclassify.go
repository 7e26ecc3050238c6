package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// changes is the temporary table for one batch of changes. It belongs to the writer's connection.
const changes = `CREATE OR REPLACE TEMP TABLE changes (
	edge UBIGINT, epoch UINTEGER, lane UTINYINT, seq UBIGINT, country VARCHAR, region VARCHAR, city VARCHAR,
	device VARCHAR, os VARCHAR, browser VARCHAR, bot BOOLEAN, bot_name VARCHAR, geo_version VARCHAR, bot_list VARCHAR)`

const change = `UPDATE clicks SET country = n.country, region = n.region, city = n.city, device = n.device, os = n.os, browser = n.browser,
	bot = n.bot, bot_name = n.bot_name, geo_version = n.geo_version, bot_list = n.bot_list
	FROM changes AS n WHERE clicks.edge = n.edge AND clicks.epoch = n.epoch AND clicks.lane = n.lane AND clicks.seq = n.seq
	AND clicks.ts BETWEEN %d AND %d`

// Reclassify implements analytics.Store.
func (s *Store) Reclassify(ctx context.Context, scope analytics.Scope, f func(*analytics.Row, bool) bool) (int, error) {
	changed, err := analytics.Rewrite(ctx, s, scope, f, s.change)
	if err == nil {
		err = analytics.Follow(ctx, s, scope, s.correct)
	}
	return changed, wrap("reclassify clicks", err)
}

// change updates clicks in one transaction with a single pass over the table.
func (s *Store) change(ctx context.Context, rows []analytics.Row) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if _, err = s.write.ExecContext(ctx, changes); err != nil {
		return err
	}
	if err = s.write.Raw(func(conn any) error { return appendChanges(conn.(driver.Conn), rows) }); err != nil {
		return err
	}
	s.rollup.touch(daysOf(rows))
	// Rows are sorted, newest first.
	if _, err = s.write.ExecContext(ctx, fmt.Sprintf(change, rows[len(rows)-1].Time, rows[0].Time)); err != nil {
		return err
	}
	s.shorten(ctx)
	return nil
}

func appendChanges(conn driver.Conn, rows []analytics.Row) (err error) {
	a, err := duck.NewAppender(conn, "temp", "", "changes")
	if err != nil {
		return err
	}
	defer func() { err = closeAppender(a, err) }()
	for i := range rows {
		r := &rows[i]
		if err = a.AppendRow(r.Edge, r.Epoch, r.Lane.Lane, r.Seq, analytics.Plain(r.Country), analytics.Plain(r.Region),
			analytics.Plain(r.City),
			analytics.Plain(r.Device), analytics.Plain(r.OS), analytics.Plain(r.Browser),
			r.Bot, analytics.Plain(r.BotName), analytics.Plain(r.GeoVersion), analytics.Plain(r.BotList)); err != nil {
			return err
		}
	}
	return nil
}

// correction copies the results of enrichment. It leaves the rest alone, because Erase may have changed it meanwhile.
const correction = `UPDATE conversions AS c SET country = a.country, region = a.region, city = a.city, device = a.device, os = a.os,
	browser = a.browser,
	bot = a.bot, bot_name = a.bot_name, geo_version = a.geo_version, bot_list = a.bot_list
	FROM arrivals AS a WHERE c.attributed AND ` + sameKey

// correct updates the copies of clicks in conversions.
func (s *Store) correct(ctx context.Context, list []analytics.Conversion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	first, last, err := s.receive(ctx, list)
	if err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, fmt.Sprintf(correction, first, last)); err != nil {
		return err
	}
	s.shorten(ctx)
	return nil
}

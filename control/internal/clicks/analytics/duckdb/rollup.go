package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
)

// The rollup has the figures of whole days of UTC: rollup_counts by quarter hour and link, and rollup_values by link
// and value of each dimension. rollup_values_owners and rollup_values_all have the same figures by owner and of all
// clicks, because a workspace has far fewer values than all its links together. rollup_sample has the clicks of the
// visitors in the sample. rollup_days lists the days that were built, each with a checksum of the clicks that it was
// built from. The rollup of visitors is described in visits.go.
//
// Which days are clean, so that reports may read them from the rollup, is known only in memory. A day becomes clean when
// the builder has compared the checksum with the clicks, and rebuilt the day if they differ. Every write makes the days
// of its clicks dirty before it commits. After a start all days are dirty. Therefore a kill, or another release that
// writes to the file and knows no rollup, cannot make a report wrong.
const rollupSchema = `
CREATE TABLE IF NOT EXISTS rollup_counts (
	slot BIGINT NOT NULL, link BIGINT NOT NULL, owner BIGINT NOT NULL, bot BOOLEAN NOT NULL, clicks BIGINT NOT NULL, last BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_values (
	day BIGINT NOT NULL, dim UTINYINT NOT NULL, link BIGINT NOT NULL, owner BIGINT NOT NULL, bot BOOLEAN NOT NULL, value VARCHAR NOT NULL,
	clicks BIGINT NOT NULL, last BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_values_owners (
	day BIGINT NOT NULL, dim UTINYINT NOT NULL, owner BIGINT NOT NULL, bot BOOLEAN NOT NULL, value VARCHAR NOT NULL, clicks BIGINT NOT NULL, last BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_values_all (
	day BIGINT NOT NULL, dim UTINYINT NOT NULL, bot BOOLEAN NOT NULL, value VARCHAR NOT NULL, clicks BIGINT NOT NULL, last BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_sample (
	ts BIGINT NOT NULL, link BIGINT NOT NULL, owner BIGINT NOT NULL, bot BOOLEAN NOT NULL, visitor BIGINT NOT NULL,
	country VARCHAR, region VARCHAR, city VARCHAR, device VARCHAR, os VARCHAR, browser VARCHAR, referer VARCHAR,
	utm_source VARCHAR, utm_medium VARCHAR, utm_campaign VARCHAR, utm_term VARCHAR, utm_content VARCHAR, bot_name VARCHAR,
	variant VARCHAR, rule VARCHAR, language VARCHAR
);
CREATE TABLE IF NOT EXISTS rollup_days (
	day BIGINT NOT NULL, version INTEGER NOT NULL, clicks BIGINT NOT NULL, checksum UBIGINT NOT NULL
);`

// level is a set of tables that have figures of the same clicks: by link, by owner or of all clicks.
type level struct {
	suffix string // of the tables' names
	keys   string // the columns that name what a row belongs to, each followed by a comma
}

var (
	ofLink  = level{"", "link, owner, "}
	ofOwner = level{"_owners", "owner, "}
	ofAll   = level{"_all", ""}
)

// levelOf returns the level with the fewest rows that has the figures of a scope. A workspace from or to which links
// have moved does not own all clicks that name it.
func levelOf(scope analytics.Scope) level {
	switch {
	case scope.Links != nil || len(scope.NotLinks)+len(scope.NotOwners) > 0 || scope.LinkFrom != 0 || scope.LinkTo != 0 ||
		scope.Owner != 0 &&
			scope.Moves.Through != 0:
		return ofLink
	case scope.Owner != 0:
		return ofOwner
	}
	return ofAll
}

// rollupVersion rises when the meaning of the rollup changes, for example when it gets another dimension. Days of
// another version are rebuilt.
const rollupVersion = 3

const (
	slotMillis = 15 * 60 * 1000
	daySlots   = 96
	dayMillis  = daySlots * slotMillis
)

// firstDay and lastDay bound the days that have rollups. Outside, reports read the clicks. The first day of the epoch is
// outside because the engine's division would round earlier times into it.
const (
	firstDay = 1
	lastDay  = 100_000_000_000
)

// grace is how long after the end of a day it is built first, and quiet is how long a day must be without writes.
const (
	grace = 10 * time.Minute
	quiet = time.Minute
)

// settleEvery is how often the builder looks for dirty days.
const settleEvery = 5 * time.Second

// rollup knows which days of the rollup are clean.
type rollup struct {
	mu     sync.Mutex
	known  bool            // whether dirty has all days with clicks or rollups that are not clean
	dirty  map[int64]dirty // by day
	n      uint64          // rises with each write
	visits visits
}

// dirty is the state of a day that must not be read from the rollup.
type dirty struct {
	write uint64    // the newest write to the day
	at    time.Time // when that was
}

// touch makes days dirty. Writers call it before they commit.
func (r *rollup) touch(days map[int64]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	for day := range days {
		if day < firstDay {
			r.visits.early = true
			continue
		}
		r.dirty[day] = dirty{r.n, time.Now()}
		r.visits.end = min(r.visits.end, day)
	}
}

// daysOf returns the days of clicks. All days before firstDay are firstDay-1.
func daysOf(rows []analytics.Row) map[int64]bool {
	days := map[int64]bool{}
	for i := range rows {
		if day := max(rows[i].Time/dayMillis, firstDay-1); day < lastDay {
			days[day] = true
		}
	}
	return days
}

// settled removes a day that had no write since the given one from the dirty days.
func (r *rollup) settled(day int64, write uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dirty[day].write == write {
		delete(r.dirty, day)
	}
}

// Jobs returns the job that builds the rollup of days. It must end before Close. Without it, reports read the clicks.
func (s *Store) Jobs(log *slog.Logger) job.Group {
	return job.Group{{Name: "rollups", Every: settleEvery, Logger: log, Do: func(ctx context.Context) error {
		now := time.Now()
		return s.settle(ctx, now.Add(-grace), now.Add(-quiet))
	}}}
}

// Rebuild verifies or builds every dirty day that ended before a time.
func (s *Store) Rebuild(ctx context.Context, before time.Time) error {
	return wrap("rebuild the rollup", s.settle(ctx, before, time.Now()))
}

// settle verifies or builds the dirty days that ended before a time and had no write since another, newest first. One
// day at a time bounds the memory and the time for which writers wait.
func (s *Store) settle(ctx context.Context, ended, written time.Time) error {
	s.building.Lock()
	defer s.building.Unlock()
	if err := s.markAllDays(ctx); err != nil {
		return err
	}
	// Writers hold the lock from touch to commit. The clicks of all days in the list are therefore committed, and the
	// queries of prepare see them.
	s.mu.Lock()
	s.rollup.mu.Lock()
	days := maps.Clone(s.rollup.dirty)
	s.rollup.mu.Unlock()
	s.mu.Unlock()
	list := slices.Sorted(maps.Keys(days))
	slices.Reverse(list)
	var errs []error
	for _, day := range list {
		state := days[day]
		if (day+1)*dayMillis > ended.UnixMilli() || state.at.After(written) {
			continue
		}
		if err := s.settleDay(ctx, day, state); err != nil {
			errs = append(errs, fmt.Errorf("day %s: %w", analytics.Day(day), err))
			if ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(append(errs, s.extend(ctx))...)
}

// markAllDays makes all days dirty that have clicks or rollups when the file is opened.
func (s *Store) markAllDays(ctx context.Context) error {
	r := &s.rollup
	r.mu.Lock()
	known := r.known
	r.mu.Unlock()
	if known {
		return nil
	}
	// Clicks that are committed after this query starts belong to days that their writer has made dirty.
	var days []int64
	var day int64
	err := s.each(ctx, analytics.Statement{Text: fmt.Sprintf(`SELECT DISTINCT ts // %d AS day FROM clicks WHERE ts < %d UNION SELECT day
		FROM rollup_days UNION SELECT day FROM rollup_values_all
		UNION SELECT ts // %[1]d FROM rollup_sample`, dayMillis, int64(lastDay)*dayMillis)}, func() error {
		days = append(days, day)
		return nil
	}, &day)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, day := range days {
		if day < firstDay {
			r.visits.early = true
		} else if _, ok := r.dirty[day]; !ok {
			r.dirty[day] = dirty{}
		}
	}
	r.known = true
	return nil
}

// rolled are the dimensions in rollup_values.
var rolled = []analytics.Dimension{
	analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS, analytics.Browser, analytics.Referer,
	analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent, analytics.BotName,
	analytics.Variant, analytics.Rule, analytics.Language,
}

// within renders the condition that a click is of a day.
func within(day int64) string {
	return fmt.Sprintf("ts >= %d AND ts < %d", day*dayMillis, (day+1)*dayMillis)
}

// built describes the clicks of a day.
type built struct {
	clicks   int64
	checksum uint64
}

// rolledColumns returns the columns of the dimensions in rolled, separated by commas.
func rolledColumns() string {
	columns := each.Of(rolled, func(d analytics.Dimension) string { return d.String() })
	return strings.Join(columns, ", ")
}

// checksum renders the query for the clicks of a day and their checksum.
func checksum(day int64) string {
	return `SELECT count(*), coalesce(bit_xor(hash(edge, epoch, lane, seq, ts, link, owner, visitor, bot, ` + rolledColumns() +
		`)), 0) FROM clicks WHERE ` + within(day)
}

// settleDay makes a day clean, unless it is written to meanwhile. Only writing the new figures blocks writers.
func (s *Store) settleDay(ctx context.Context, day int64, state dirty) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, table := range []string{"built_counts", "built_values", "built_values_owners", "built_values_all", "built_sample"} {
			_, dropped := conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS temp."+table)
			err = errors.Join(err, dropped)
		}
		err = errors.Join(err, conn.Close())
	}()
	now, same, err := s.prepare(ctx, conn, day)
	if err != nil {
		return err
	}
	if same {
		s.rollup.settled(day, state.write)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	s.rollup.mu.Lock()
	written := s.rollup.dirty[day].write != state.write
	s.rollup.mu.Unlock()
	if written {
		return nil
	}
	list := deleteRollup(fmt.Sprintf("= %d", day), fmt.Sprintf("BETWEEN %d AND %d", day*daySlots, (day+1)*daySlots-1))
	if now.clicks > 0 {
		list = append(list, "INSERT INTO rollup_counts SELECT * FROM built_counts", "INSERT INTO rollup_values SELECT * FROM built_values",
			"INSERT INTO rollup_values_owners SELECT * FROM built_values_owners",
			"INSERT INTO rollup_values_all SELECT * FROM built_values_all",
			"INSERT INTO rollup_sample BY NAME SELECT * FROM built_sample",
			fmt.Sprintf("INSERT INTO rollup_days VALUES (%d, %d, %d, %d)", day, rollupVersion, now.clicks, now.checksum))
	}
	if err := transact(context.WithoutCancel(ctx), conn, list); err != nil {
		return err
	}
	s.rollup.settled(day, state.write)
	s.shorten(ctx)
	return nil
}

// deleteRollup renders the deletion of days from the rollup.
func deleteRollup(days, slots string) []string {
	return []string{"DELETE FROM rollup_days WHERE day " + days, "DELETE FROM rollup_values WHERE day " + days,
		"DELETE FROM rollup_values_owners WHERE day " + days, "DELETE FROM rollup_values_all WHERE day " + days,
		"DELETE FROM rollup_counts WHERE slot " + slots,
		fmt.Sprintf("DELETE FROM rollup_sample WHERE ts // %d %s", slotMillis, slots)}
}

// transact runs statements in one transaction.
func transact(ctx context.Context, conn *sql.Conn, list []string) error {
	for _, text := range slices.Concat([]string{"BEGIN TRANSACTION"}, list, []string{"COMMIT"}) {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the transaction may have ended already
			return err
		}
	}
	return nil
}

// prepare compares the rollup of a day with its clicks. If they differ, it computes the figures into temporary tables
// of the connection. All of it sees the same clicks.
func (s *Store) prepare(ctx context.Context, conn *sql.Conn, day int64) (now built, same bool, err error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return now, false, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error says more
			return
		}
		err = tx.Commit()
	}()
	if err := tx.QueryRowContext(ctx, checksum(day)).Scan(&now.clicks, &now.checksum); err != nil {
		return now, false, err
	}
	var matching, rows int64
	if err := tx.QueryRowContext(ctx,
		fmt.Sprintf("SELECT count(*) FILTER (version = %d AND clicks = %d AND checksum = %d), count(*) FROM rollup_days WHERE day = %d",
			rollupVersion, now.clicks, now.checksum, day)).Scan(&matching, &rows); err != nil {
		return now, false, err
	}
	if matching == 1 && rows == 1 {
		return now, true, nil
	}
	list := []string{
		"CREATE OR REPLACE TEMP TABLE built_values AS SELECT * FROM rollup_values WHERE 1 = 0",
		fmt.Sprintf(
			"CREATE OR REPLACE TEMP TABLE built_counts AS SELECT ts // %d, link, owner, bot, count(*), max(ts) FROM clicks WHERE %s GROUP BY ALL "+
				"ORDER BY ALL", slotMillis, within(day)),
		fmt.Sprintf(
			"CREATE OR REPLACE TEMP TABLE built_sample AS SELECT ts, link, owner, bot, visitor, %s FROM clicks WHERE %s AND %s ORDER BY link, ts",
			rolledColumns(), within(day), analytics.SampleCondition()),
	}
	// One dimension at a time, because the groups of all would need much memory at once.
	for _, d := range rolled {
		list = append(list,
			fmt.Sprintf(
				"INSERT INTO built_values SELECT %d, %d, link, owner, bot, %s, count(*), max(ts) FROM clicks WHERE %s GROUP BY ALL ORDER BY ALL", day,
				d, d, within(day)))
	}
	for _, lv := range []level{ofOwner, ofAll} {
		list = append(list,
			fmt.Sprintf(
				"CREATE OR REPLACE TEMP TABLE built_values%s AS SELECT day, dim, %sbot, value, CAST(sum(clicks) AS BIGINT), max(last) FROM "+
					"built_values GROUP BY ALL ORDER BY ALL", lv.suffix, lv.keys))
	}
	for _, text := range list {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return now, false, err
		}
	}
	return now, false, nil
}

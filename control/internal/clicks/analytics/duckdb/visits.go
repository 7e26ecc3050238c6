package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// The rollup of visitors answers how many distinct visitors there were in any period of whole quarter hours, without
// looking at visitors: a visitor is counted in the quarter hour in which he first appears in the period. Each row counts
// visitors of a quarter hour (slot) whose previous quarter hour with a click, on the same link or of the same owner or
// anywhere, is the same (before, or -1). A period has as many distinct visitors as its rows with before outside the
// period count. Clicks of people and of bots are apart.
//
// The rows of a day depend on all earlier days. Days are therefore added in ascending order, and a change of a day
// invalidates the later ones. rollup_visit_days lists the days that were added, each with the checksum of its clicks
// at that time.
const visitsSchema = `
CREATE TABLE IF NOT EXISTS rollup_visits (
	slot BIGINT NOT NULL, link BIGINT NOT NULL, owner BIGINT NOT NULL, bot BOOLEAN NOT NULL, before BIGINT NOT NULL, visitors BIGINT NOT NULL, clicks BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_visits_owners (
	slot BIGINT NOT NULL, owner BIGINT NOT NULL, bot BOOLEAN NOT NULL, before BIGINT NOT NULL, visitors BIGINT NOT NULL, clicks BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_visits_all (
	slot BIGINT NOT NULL, bot BOOLEAN NOT NULL, before BIGINT NOT NULL, visitors BIGINT NOT NULL, clicks BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS rollup_visit_days (
	day BIGINT NOT NULL, version INTEGER NOT NULL, checksum UBIGINT NOT NULL
);`

// visitsVersion rises when the meaning of the rollup of visitors changes. Days of another version are rebuilt.
const visitsVersion = 1

// visits says which part of the rollup of visitors is valid. It is part of rollup.
type visits struct {
	first, end int64          // all clicks of days before end are in it, and there are none before first; end 0: unknown
	early      bool           // whether there may be clicks before firstDay
	shared     map[int64]bool // links whose clicks name several owners
	outdated   uint64         // rises before rows of days before end are deleted
}

// outdate invalidates the days from a given one on, before their rows are deleted. The caller holds the rollup's lock.
func (v *visits) outdate(day int64) {
	v.end = min(v.end, day)
	v.outdated++
}

// outdated returns a number that rises before rows of visitors are deleted that a statement may be about to read.
func (r *rollup) outdated() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.visits.outdated
}

// deleteVisits renders the deletion of days from the rollup of visitors.
func deleteVisits(days, slots string) []string {
	list := []string{"DELETE FROM rollup_visit_days WHERE day " + days}
	for _, lv := range []level{ofLink, ofOwner, ofAll} {
		list = append(list, "DELETE FROM rollup_visits"+lv.suffix+" WHERE slot "+slots)
	}
	return list
}

// counted is a day of a rollup.
type counted struct {
	day      int64
	checksum uint64
}

// extend adds days to the rollup of visitors, up to the first day that is dirty. The caller holds s.building.
func (s *Store) extend(ctx context.Context) error {
	s.mu.Lock() // a deletion of expired days has either committed or has not begun
	s.rollup.mu.Lock()
	stop, done, outdated := s.rollup.clean(), s.rollup.visits.end, s.rollup.visits.outdated
	s.rollup.mu.Unlock()
	s.mu.Unlock()
	if done >= stop {
		return nil
	}
	days, err := s.counted(ctx, fmt.Sprintf("SELECT day, checksum FROM rollup_days WHERE day < %d ORDER BY day", stop))
	if err != nil {
		return err
	}
	built, err := s.counted(ctx,
		fmt.Sprintf("SELECT day, CASE WHEN version = %d THEN checksum ELSE 0 END FROM rollup_visit_days ORDER BY day",
			visitsVersion))
	if err != nil {
		return err
	}
	same := 0
	for same < min(len(days), len(built)) && days[same] == built[same] {
		same++
	}
	if same < len(built) && (same < len(days) || built[same].day < stop) {
		from := built[same].day
		if same < len(days) {
			from = min(from, days[same].day)
		}
		gone := []int64{from}
		for _, d := range built[same:] {
			gone = append(gone, d.day)
		}
		if outdated, err = s.truncate(ctx, slices.Compact(gone)); err != nil {
			return err
		}
	}
	for _, d := range days[same:] {
		if ok, err := s.addDay(ctx, d, outdated); err != nil || !ok {
			return err
		}
	}
	return s.extended(ctx, days, stop, outdated)
}

// clean returns the first day that is dirty, or lastDay. The caller holds the lock.
func (r *rollup) clean() int64 {
	first := int64(lastDay)
	if !r.known {
		return 0
	}
	for day := range r.dirty {
		first = min(first, day)
	}
	return first
}

// counted reads days and checksums.
func (s *Store) counted(ctx context.Context, text string) (list []counted, err error) {
	var d counted
	err = s.each(ctx, analytics.Statement{Text: text}, func() error {
		list = append(list, d)
		return nil
	}, &d.day, &d.checksum)
	return list, err
}

// truncate deletes days, which are in ascending order, and everything after them. Each day has a transaction of its own, because deleted
// rows need memory: see Expire. The newest day is deleted first, so that the remaining days are valid if the process is killed.
func (s *Store) truncate(ctx context.Context, days []int64) (outdated uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, errors.New("the store is closed")
	}
	s.rollup.mu.Lock()
	s.rollup.visits.outdate(days[0])
	outdated = s.rollup.visits.outdated
	s.rollup.mu.Unlock()
	for _, day := range slices.Backward(days) {
		if err = transact(context.WithoutCancel(ctx), s.write,
			deleteVisits(fmt.Sprintf(">= %d", day), fmt.Sprintf(">= %d", day*daySlots))); err != nil {
			break
		}
		s.shorten(ctx)
	}
	return outdated, err
}

// addDay adds a day, unless it or an earlier one was written to meanwhile. Only writing the figures blocks writers.
func (s *Store) addDay(ctx context.Context, d counted, outdated uint64) (ok bool, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		for _, table := range []string{"day_visits", "earlier_visits", "built_visits", "built_visits_owners", "built_visits_all"} {
			_, dropped := conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS temp."+table)
			err = errors.Join(err, dropped)
		}
		err = errors.Join(err, conn.Close())
	}()
	if err := s.prepareVisits(ctx, conn, d.day); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, errors.New("the store is closed")
	}
	s.rollup.mu.Lock()
	ok = s.rollup.clean() > d.day && s.rollup.visits.outdated == outdated
	s.rollup.mu.Unlock()
	if !ok {
		return false, nil
	}
	list := []string{fmt.Sprintf("INSERT INTO rollup_visit_days VALUES (%d, %d, %d)", d.day, visitsVersion, d.checksum)}
	for _, lv := range []level{ofLink, ofOwner, ofAll} {
		list = append(list, fmt.Sprintf("INSERT INTO rollup_visits%[1]s SELECT * FROM built_visits%[1]s", lv.suffix))
	}
	if err := transact(context.WithoutCancel(ctx), conn, list); err != nil {
		return false, err
	}
	s.shorten(ctx)
	return true, nil
}

// prepareVisits computes the rows of a day into temporary tables of the connection.
func (s *Store) prepareVisits(ctx context.Context, conn *sql.Conn, day int64) (err error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error says more
			return
		}
		err = tx.Commit()
	}()
	list := []string{
		fmt.Sprintf(
			"CREATE OR REPLACE TEMP TABLE day_visits AS SELECT ts // %d AS slot, link, owner, bot, visitor, count(*) AS clicks FROM clicks WHERE "+
				"%s GROUP BY ALL", slotMillis, within(day))}
	for _, lv := range []level{ofLink, ofOwner, ofAll} {
		key := strings.TrimSuffix(lv.keys, "owner, ") // of the same link, also if another workspace owned it
		if lv == ofOwner {
			key = lv.keys
		}
		list = append(list,
			// The engine looks each earlier click up in the visits of the day. Only those that it finds become groups, so there are not
			// more groups than visits of the day, however many earlier clicks there are.
			fmt.Sprintf(`CREATE OR REPLACE TEMP TABLE earlier_visits AS SELECT max(ts) // %d AS slot, %[2]sbot, visitor FROM clicks
				SEMI JOIN (SELECT DISTINCT %[2]sbot, visitor FROM day_visits) AS of_day USING (%[2]sbot, visitor) WHERE ts < %[3]d GROUP BY ALL`,
				slotMillis, key, day*dayMillis),
			fmt.Sprintf(`CREATE OR REPLACE TEMP TABLE built_visits%s AS SELECT slot, %[2]sbot, before, count(*), CAST(sum(clicks) AS BIGINT) FROM (
				SELECT slot, %[2]sbot, clicks, coalesce(lag(slot) OVER (PARTITION BY %[3]sbot, visitor ORDER BY slot), -1) AS before FROM (
					SELECT slot, %[2]sbot, visitor, sum(clicks) AS clicks FROM day_visits GROUP BY ALL
					UNION ALL BY NAME SELECT slot, %[3]sbot, visitor, 0 AS clicks FROM earlier_visits
				)) WHERE clicks > 0 GROUP BY ALL ORDER BY ALL`, lv.suffix, lv.keys, key))
	}
	for _, text := range list {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// extended makes the rollup valid up to a day, or up to the first one that has been written to meanwhile.
func (s *Store) extended(ctx context.Context, days []counted, stop int64, outdated uint64) error {
	shared := map[int64]bool{}
	var link int64
	err := s.each(ctx, analytics.Statement{Text: "SELECT link FROM rollup_counts GROUP BY link HAVING min(owner) <> max(owner)"},
		func() error {
			shared[link] = true
			return nil
		}, &link)
	if err != nil {
		return err
	}
	r := &s.rollup
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.visits.outdated != outdated {
		return nil
	}
	r.visits.first, r.visits.end, r.visits.shared = lastDay, min(stop, r.clean()), shared
	if len(days) > 0 {
		r.visits.first = days[0].day
	}
	return nil
}

// longest is longer than any period of an interval, in milliseconds. A day can have 48 hours if a zone repeats it.
var longest = map[analytics.Interval]int64{
	analytics.Hours: 3 * 60 * 60 * 1000, analytics.Days: 3 * dayMillis, analytics.Weeks: 9 * dayMillis, analytics.Months: 33 * dayMillis,
}

// slots returns the slots of a query that are read from the rollup of visitors, and the level. ok is false if there are
// none.
func (r *rollup) slots(q analytics.Query) (first, end int64, lv level, ok bool) {
	if !q.Visitors || q.ByLink || q.By != analytics.None || q.Last || q.Routed || q.Drawn || q.Sampled || len(q.Match) > 0 ||
		q.Bots == analytics.Everyone ||
		q.From%slotMillis != 0 || !q.OnQuarters() || !q.InOrder() {
		return 0, 0, lv, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	lv = levelOf(q.Scope)
	if lv == ofLink && (len(q.Links) != 1 || q.Owner != 0 && r.visits.shared[int64(q.Links[0])]) {
		return 0, 0, lv, false
	}
	if q.From < firstDay*dayMillis && r.visits.early {
		return 0, 0, lv, false
	}
	// There are no clicks before the first day, but rows may name slots there, whose clicks have expired.
	first, end = max(q.From/slotMillis, r.visits.first*daySlots), r.visits.end*daySlots
	if q.To != 0 {
		end = min(end, q.To/slotMillis)
	}
	return first, end, lv, first < end
}

// visitors renders a query for distinct visitors. ok is false if the rollup is of no use.
func (s *Store) visitors(q analytics.Query) (st analytics.Statement, ok bool) {
	first, end, lv, ok := s.rollup.slots(q)
	if !ok {
		return st, false
	}
	bare := q.Scope
	bare.From, bare.To = 0, 0
	where := bare.Condition("")
	outside := ""
	if q.Every != analytics.NoInterval {
		outside = fmt.Sprintf(" OR %s <> %s", q.PeriodOf(fmt.Sprintf("(before * %d)", slotMillis)),
			q.PeriodOf(fmt.Sprintf("(slot * %d)", slotMillis)))
	}
	from := analytics.Statement{Args: slices.Clone(where.Args)}
	from.Text = fmt.Sprintf(
		"(SELECT slot * %d AS ms, clicks AS n, CASE WHEN before < %d%s THEN visitors ELSE 0 END AS v FROM rollup_visits%s WHERE slot >= %d "+
			"AND slot < %d AND %s",
		slotMillis, first, outside, lv.suffix, first, end, where.Text)
	if border := end * slotMillis; q.To == 0 || q.To > border {
		rest := fmt.Sprintf("ts >= %d", border)
		if q.To != 0 {
			rest += fmt.Sprintf(" AND ts < %d", q.To)
		}
		from.Text += fmt.Sprintf(" UNION ALL SELECT min(ts) AS ms, count(*) AS n, count(DISTINCT visitor) AS v FROM clicks WHERE %s AND %s",
			rest, where.Text)
		if q.Every != analytics.NoInterval {
			from.Text += " GROUP BY " + q.PeriodOf("ts")
		}
		// Visitors who appear on both sides of the border, in the period that contains it, have been counted twice.
		start := first * slotMillis
		if of := longest[q.Every]; of != 0 {
			start = max(start, border-of)
		}
		period := q.PeriodOf(fmt.Sprintf("CAST(%d AS BIGINT)", border))
		from.Text += fmt.Sprintf(
			" UNION ALL SELECT %d AS ms, 0 AS n, -count(DISTINCT visitor) AS v FROM clicks WHERE ts >= %d AND ts < %[1]d AND %[3]s = %[4]s "+
				"AND %[5]s"+
				" AND visitor IN (SELECT visitor FROM clicks WHERE %[6]s AND %[3]s = %[4]s AND %[5]s) HAVING count(*) > 0", border, start,
			q.PeriodOf("ts"), period, where.Text, rest)
		from.Args = slices.Concat(where.Args, where.Args, where.Args, where.Args)
	}
	from.Text += ") AS counted"
	return q.Render(analytics.Source{From: from, Time: "ms", Clicks: "coalesce(sum(n), 0)", Visitors: "coalesce(sum(v), 0)", Last: "0"}),
		true
}

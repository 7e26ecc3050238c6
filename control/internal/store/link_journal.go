package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"time"
)

// journalPlace is a place in the journal of links that changed.
//
// SQLite has one writer, so entries are committed in the order of their numbers. In PostgreSQL, transactions commit in
// any order. There, a place is the oldest transaction that may still be running, and those after it that were read.
type journalPlace struct {
	next uint64          // all entries before this one, or of transactions before this one, are read
	seen map[uint64]bool // transactions from next on whose entries are read
}

// journalPlace returns the present end of the journal.
func (c Conn) journalPlace(ctx context.Context) (p journalPlace, err error) {
	query := `SELECT coalesce(max(seq), 0) + 1 FROM link_journal`
	if c.pg {
		query = `SELECT txid_snapshot_xmin(txid_current_snapshot())`
	}
	if err := c.Row(ctx, query).Scan(&p.next); err != nil {
		return p, fmt.Errorf("find the end of the journal: %w", err)
	}
	return p, nil
}

// journalAfter returns the links that were committed to the journal after a place, without duplicates, and the new place.
func (c Conn) journalAfter(ctx context.Context, from journalPlace) (to journalPlace, nums []uint64, err error) {
	query := `SELECT seq, num, seq + 1 FROM link_journal WHERE seq >= ? ORDER BY seq`
	if c.pg { // a row of NULLs if there are no entries
		query = `SELECT xid, num, oldest FROM (SELECT txid_snapshot_xmin(txid_current_snapshot()) AS oldest) AS now LEFT JOIN link_journal ON ` +
			`xid >= ?`
	}
	to = journalPlace{next: from.next, seen: map[uint64]bool{}}
	known := map[uint64]bool{}
	err = c.each(ctx, func(rows *sql.Rows) error {
		var seq, num sql.Null[uint64]
		if err := rows.Scan(&seq, &num, &to.next); err != nil || !num.Valid {
			return err
		}
		if c.pg {
			to.seen[seq.V] = true
		}
		if !from.seen[seq.V] && !known[num.V] {
			known[num.V] = true
			nums = append(nums, num.V)
		}
		return nil
	}, query, from.next)
	if err == nil && to.next < from.next {
		err = fmt.Errorf("the journal went back from %d to %d", from.next, to.next)
	}
	if err != nil {
		return from, nil, fmt.Errorf("read the journal: %w", err)
	}
	maps.DeleteFunc(to.seen, func(xid uint64, _ bool) bool { return xid < to.next })
	return to, nums, nil
}

// journalKept is how long entries stay in the journal, at least.
const journalKept = 2 * time.Minute

// journalTrimmer makes a function that deletes old entries. Call it regularly.
func (s *Store) journalTrimmer() func(context.Context) error {
	type mark struct {
		at   time.Time
		next uint64
	}
	var marks []mark
	return func(ctx context.Context) error {
		p, err := s.journalPlace(ctx)
		if err == nil {
			marks = append(marks, mark{time.Now(), p.next})
		}
		for len(marks) > 0 && err == nil && time.Since(marks[0].at) > journalKept {
			err = s.TrimJournal(ctx, marks[0].next)
			marks = marks[1:]
		}
		return err
	}
}

// TrimJournal deletes entries before a place, which was the end of the journal some time ago.
func (s *Store) TrimJournal(ctx context.Context, before uint64) error {
	old, args := `seq < ? AND seq < (SELECT max(seq) FROM link_journal)`, []any{before} // numbers of entries are not reused
	if s.pg {
		// Transactions of the future are those of another server from which this database was restored.
		old = `xid < ? OR xid >= txid_snapshot_xmax(txid_current_snapshot())`
	}
	var some bool
	if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM link_journal WHERE `+old+`)`, args...).Scan(&some); err != nil || !some {
		return err
	}
	return s.Tx(ctx, func(tx *Tx) error {
		return tx.Do(ctx, `DELETE FROM link_journal WHERE `+old, args...)
	})
}

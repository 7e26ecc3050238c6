package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/shortline/shortline/shared/each"
)

// Bounds of the history of a link. The oldest entries beyond a bound are deleted when a new one is written.
const (
	HistoryEntries = 1000
	historyBytes   = 16 << 20 // of all documents together
)

// HistoryEntry is one change of a link, with the state before it.
type HistoryEntry struct {
	Nth      int64  // counts the changes of the link
	Revision uint64 // of the change
	At       int64
	UserID   string // "": the system
	Action   string // of the audit entry
	Before   LinkState
}

// WriteHistory stores the states of links before a change. Every change of a link, its rules or its variants calls it
// once, in the same transaction and after Touch, with the states that StatesOf has read after the links were locked.
// Nothing is stored for a new link: its first change stores how it was made.
func (tx *Tx) WriteHistory(ctx context.Context, userID, action string, before []LinkState) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	now := Now()
	for part := range slices.Chunk(before, batch) {
		nums := each.At(part, func(l *LinkState) uint64 { return l.Link.Num })
		type end struct {
			nth, bytes int64
			revision   uint64
		}
		newest := map[uint64]end{}
		err := tx.each(ctx, func(rows *sql.Rows) error {
			var num uint64
			var e end
			err := rows.Scan(&num, &e.nth, &e.bytes, &e.revision)
			newest[num] = e
			return err
		}, `SELECT link_num, max(nth), max(bytes), max(revision) FROM link_history WHERE link_num IN (`+In(len(nums))+`) GROUP BY link_num`,
			Args(nums)...)
		if err != nil {
			return fmt.Errorf("write history: %w", err)
		}
		var args []any
		for i := range part {
			e := newest[nums[i]]
			if e.revision >= tx.revision {
				continue // the transaction has changed the link before
			}
			text, err := part[i].encode()
			if err != nil {
				return fmt.Errorf("write history: %w", err)
			}
			e = end{e.nth + 1, e.bytes + int64(len(text)), tx.revision}
			newest[nums[i]] = e
			args = append(args, nums[i], e.nth, tx.revision, part[i].Link.Revision, now, null(userID), action, e.bytes, text)
		}
		if len(args) == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, `INSERT INTO link_history (link_num, nth, revision, was, at, user_id, action, bytes, document) VALUES `+
			values(len(args)/9, "("+In(9)+")"), args...); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
		for num, e := range newest {
			if e.nth > HistoryEntries || e.bytes > historyBytes {
				if _, err := tx.Exec(ctx, `DELETE FROM link_history WHERE link_num = ? AND (nth <= ? OR bytes <= ?)`, num,
					e.nth-HistoryEntries,
					e.bytes-historyBytes); err != nil {
					return fmt.Errorf("trim history: %w", err)
				}
			}
		}
	}
	return nil
}

// History reads up to limit changes of a link, newest first, and skips the newest offset ones.
func (c Conn) History(ctx context.Context, num uint64, limit, offset int) ([]HistoryEntry, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (e HistoryEntry, err error) {
		var text string
		if err := row.Scan(&e.Nth, &e.Revision, &e.At, orZero(&e.UserID), &e.Action, &text); err != nil {
			return e, err
		}
		e.Before, err = decodeState(text)
		return e, err
	}, `SELECT nth, revision, at, user_id, action, document FROM link_history WHERE link_num = ? ORDER BY nth DESC LIMIT ? OFFSET ?`, num,
		limit, offset)
}

// CountHistory counts the stored changes of a link.
func (c Conn) CountHistory(ctx context.Context, num uint64) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM link_history WHERE link_num = ?`, num))
}

// StateAt reads the state that a link had at one of its earlier revisions, or returns ErrNotFound.
func (c Conn) StateAt(ctx context.Context, num, revision uint64) (s LinkState, err error) {
	var text string
	if err := c.Row(ctx, `SELECT document FROM link_history WHERE link_num = ? AND was = ? ORDER BY nth LIMIT 1`, num, revision).
		Scan(&text); err != nil {
		return s, err
	}
	return decodeState(text)
}

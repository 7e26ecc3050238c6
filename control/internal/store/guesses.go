package store

import (
	"context"
	"slices"
	"strings"
)

// GuessRow is what is held against one client for guesses at the password of one link.
type GuessRow struct {
	Link     uint64
	Client   string
	Count    int
	LastAt   int64
	ForgetAt int64
	Mark     uint64 // of its last change
}

const guessColumns = `link, client, count, last_at, forget_at, mark`

// guessBatch is how many rows one statement names.
const guessBatch = 64

func scanGuess(row interface{ Scan(...any) error }) (g GuessRow, err error) {
	var link, mark int64
	err = row.Scan(&link, &g.Client, &g.Count, &g.LastAt, &g.ForgetAt, &mark)
	g.Link, g.Mark = uint64(link), uint64(mark)
	return g, err
}

// GuessMark is the mark of the last change.
func (c Conn) GuessMark(ctx context.Context) (uint64, error) {
	var mark int64
	err := c.Row(ctx, `SELECT mark FROM guess_head WHERE id = 1`).Scan(&mark)
	return uint64(mark), err
}

// GuessesAfter lists, in order, rows that changed after a mark and aren't due to be forgotten by now, at most limit and
// those of the last one's mark.
func (c Conn) GuessesAfter(ctx context.Context, mark uint64, now int64, limit int) ([]GuessRow, error) {
	return All(ctx, c, scanGuess, `SELECT `+guessColumns+` FROM guesses WHERE mark > ? AND forget_at > ?
		AND mark <= coalesce((SELECT mark FROM guesses WHERE mark > ? AND forget_at > ? ORDER BY mark LIMIT 1 OFFSET ?), 9223372036854775807)
		ORDER BY mark`, int64(mark), now, int64(mark), now, limit-1)
}

// ChangeGuesses replaces what is held against clients by what change makes of it, in place; rows that there are none of
// have no Mark. Of two changes at once, one sees what the other has written. It returns the rows as they are then.
func (tx *Tx) ChangeGuesses(ctx context.Context, rows []GuessRow, change func(g *GuessRow)) ([]GuessRow, error) {
	var mark int64
	if err := tx.Row(ctx, `UPDATE guess_head SET mark = mark + 1 WHERE id = 1 RETURNING mark`).Scan(&mark); err != nil {
		return nil, err
	}
	type key struct {
		link   uint64
		client string
	}
	at := make(map[key]*GuessRow, len(rows))
	for i := range rows {
		at[key{rows[i].Link, rows[i].Client}] = &rows[i]
	}
	for part := range slices.Chunk(rows, guessBatch) {
		var args []any
		for i := range part {
			args = append(args, int64(part[i].Link), part[i].Client)
		}
		found, err := All(ctx, tx.Conn, scanGuess, `SELECT `+guessColumns+` FROM guesses WHERE `+
			strings.TrimSuffix(strings.Repeat(`link = ? AND client = ? OR `, len(part)), ` OR `), args...)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			*at[key{g.Link, g.Client}] = g
		}
	}
	for part := range slices.Chunk(rows, guessBatch) {
		var args []any
		for i := range part {
			g := &part[i]
			change(g)
			g.Mark = uint64(mark)
			args = append(args, int64(g.Link), g.Client, g.Count, g.LastAt, g.ForgetAt, mark)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO guesses (`+guessColumns+`) VALUES `+strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?, ?, ?),`, len(part)), `,`)+`
			ON CONFLICT (link, client) DO UPDATE SET count = excluded.count, last_at = excluded.last_at, forget_at = excluded.forget_at, mark = excluded.mark`, args...); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// ForgetGuesses removes what is due by now, and of more than most rows those that would go first.
func (tx *Tx) ForgetGuesses(ctx context.Context, now int64, most int) error {
	if _, err := tx.Exec(ctx, `DELETE FROM guesses WHERE forget_at <= ?`, now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM guesses WHERE forget_at <= coalesce((SELECT forget_at FROM guesses ORDER BY forget_at DESC LIMIT 1 OFFSET ?), 0)`, most)
	return err
}

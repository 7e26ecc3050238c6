package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shortline/shortline/shared/click"
)

// Stamp returns two numbers that the program keeps in the file: which folder it is part of, and how often that was started.
// Both are 0 in a file without them. Copies keep them.
func (s *Store) Stamp(ctx context.Context) (folder, start uint32, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT folder, start FROM stamp`).Scan(&folder, &start)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	return folder, start, wrap("read stamp", err)
}

// SetStamp replaces the numbers that Stamp returns. If no other transaction runs, it moves the log into the file, so that they
// survive the loss of the log.
func (s *Store) SetStamp(ctx context.Context, folder, start uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.write.ExecContext(ctx, `INSERT INTO stamp VALUES (1, $1, $2)
		ON CONFLICT (id) DO UPDATE SET folder = excluded.folder, start = excluded.start`, folder, start)
	if err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	s.asked.Lock()
	defer s.asked.Unlock()
	_, _ = s.write.ExecContext(ctx, `CHECKPOINT`) // in the log, they are as safe as clicks
	return nil
}

// Held returns how many numbers of a lane, from one to another, both included, are stored as clicks or as markers of losses.
func (s *Store) Held(ctx context.Context, lane click.Lane, from, to uint64) (n uint64, err error) {
	// The driver takes no uint64 above 1<<63 as an argument.
	where := fmt.Sprintf(`WHERE edge = %d AND epoch = %d AND lane = %d AND seq BETWEEN %d AND %d`, lane.Edge, lane.Epoch,
		lane.Lane, from, to)
	query := `SELECT CAST((SELECT count(*) FROM clicks ` + where + `) + (SELECT count(*) FROM losses ` + where + `) AS UBIGINT)`
	err = s.db.QueryRowContext(ctx, query).Scan(&n)
	return n, wrap("count clicks of a lane", err)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// CopyTo writes a consistent copy of an SQLite database to a new file that only the owner can read, and syncs the
// file. Reads and writes of the database continue meanwhile. It returns the number of links in the copy.
func (s *Store) CopyTo(ctx context.Context, path string) (links int64, err error) {
	if s.pg {
		return 0, errors.New("copy the database: only an SQLite file can be copied")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("copy the database: %w", err)
	}
	f.Close()
	// A separate connection: the connections of the store serve statements that take milliseconds.
	q := url.Values{"_pragma": {"busy_timeout(10000)"}}
	db, err := sql.Open("sqlite", "file:"+s.path+"?"+q.Encode())
	if err != nil {
		return 0, fmt.Errorf("copy the database: %w", err)
	}
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, path) // accepts an existing empty file
	if err = errors.Join(err, db.Close()); err != nil {
		return 0, fmt.Errorf("copy the database: %w", err)
	}
	if f, err = os.OpenFile(path, os.O_RDWR, 0); err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return 0, fmt.Errorf("copy the database: %w", err)
	}
	copied, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
	if err == nil {
		err = copied.QueryRowContext(ctx, `SELECT count(*) FROM urls`).Scan(&links)
		err = errors.Join(err, copied.Close())
	}
	if err != nil {
		return 0, fmt.Errorf("read the copy of the database: %w", err)
	}
	return links, nil
}

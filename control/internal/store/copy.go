package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// CopyTo writes a copy of an SQLite database, as it is at one moment, to a new file that only the owner can read, and
// makes it durable. Readers and writers go on meanwhile. It returns how many links the copy has.
func (s *Store) CopyTo(ctx context.Context, path string) (links int64, err error) {
	if s.pg {
		return 0, errors.New("copy the database: only an SQLite file can be copied")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("copy the database: %w", err)
	}
	f.Close()
	// A connection of its own: those of the store are for statements that take milliseconds.
	q := url.Values{"_pragma": {"busy_timeout(10000)"}}
	db, err := sql.Open("sqlite", "file:"+s.path+"?"+q.Encode())
	if err != nil {
		return 0, fmt.Errorf("copy the database: %w", err)
	}
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, path) // which takes an empty file
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

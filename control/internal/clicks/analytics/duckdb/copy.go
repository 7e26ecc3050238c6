package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// CopyTo writes a consistent copy of the file to a new file that only its owner can read, and makes it durable. Readers
// and writers continue meanwhile, but the log is not moved into the file until the copy is complete. CopyTo returns the
// number of clicks in the copy.
func (s *Store) CopyTo(ctx context.Context, path string) (clicks int64, err error) {
	if strings.ContainsAny(path, `'"?#`) {
		return 0, fmt.Errorf("copy clicks: the path %q has a quote, a ? or a #", path)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("copy clicks: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var own string
	if err := conn.QueryRowContext(ctx, `SELECT current_database()`).Scan(&own); err != nil {
		return 0, fmt.Errorf("copy clicks: %w", err)
	}
	if _, err := conn.ExecContext(ctx, `ATTACH '`+path+`' AS backup`); err != nil {
		return 0, fmt.Errorf("copy clicks: %w", err)
	}
	_, err = conn.ExecContext(ctx, `COPY FROM DATABASE "`+own+`" TO backup`)
	if err == nil {
		err = conn.QueryRowContext(ctx, `SELECT count(*) FROM backup.clicks`).Scan(&clicks)
	}
	// Move the log of the copy into its file.
	_, detached := conn.ExecContext(context.WithoutCancel(ctx), `DETACH backup`)
	if err = errors.Join(err, detached); err != nil {
		return 0, fmt.Errorf("copy clicks: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
	}
	if err != nil {
		return 0, fmt.Errorf("copy clicks: %w", err)
	}
	return clicks, nil
}

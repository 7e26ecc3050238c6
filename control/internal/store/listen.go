package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// listen holds one connection until it breaks or ctx ends.
func (s *Store) listen(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.pgURL)
	if err != nil {
		return fmt.Errorf("connect: %w", redact(err, s.pgURL))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `LISTEN shortline_revision`); err != nil {
		return err
	}
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
		n, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			if rev, err := strconv.ParseUint(n.Payload, 10, 64); err == nil {
				s.advance(rev)
			}
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			rev, err := s.Revision(ctx)
			if err != nil {
				return fmt.Errorf("poll: %w", err)
			}
			s.advance(rev)
		default:
			return err
		}
		if conn.IsClosed() {
			return errors.New("the connection was closed")
		}
	}
	return nil
}

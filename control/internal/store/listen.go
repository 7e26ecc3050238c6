package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// answerWithin is how long the listener waits for an answer: a server whose machine is gone says nothing at all, and
// another may have taken its place.
const answerWithin = 2 * time.Second

// listen holds one connection until it breaks, does not answer, or ctx ends.
func (s *Store) listen(ctx context.Context) error {
	cfg := s.pgConfig.Copy()
	cfg.RuntimeParams["application_name"] = "shortline listener"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", redact(err, cfg.ConnString()))
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
		defer cancel()
		conn.Close(last)
	}()
	within := func(f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		return f(ctx)
	}
	if err := within(func(ctx context.Context) error { _, err := conn.Exec(ctx, `LISTEN shortline_revision`); return err }); err != nil {
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
			// Over this connection and not the pool's: one that is silent is given up.
			var rev uint64
			if err := within(func(ctx context.Context) error {
				return conn.QueryRow(ctx, `SELECT revision FROM config_head WHERE id = 1`).Scan(&rev)
			}); err != nil {
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

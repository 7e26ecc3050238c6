package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// answerWithin is how long the listener waits for an answer. A server whose machine is gone does not answer, and
// another server may have replaced it.
const answerWithin = 2 * time.Second

// listen uses one connection until it breaks, stops answering, or ctx ends.
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
	if err := within(func(ctx context.Context) error {
		_, err := conn.Exec(ctx, `LISTEN shortline_revision; LISTEN `+announcements)
		return err
	}); err != nil {
		return err
	}
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
		n, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil && n.Channel == announcements:
			s.hear(n.Payload)
		case err == nil:
			if rev, err := strconv.ParseUint(n.Payload, 10, 64); err == nil {
				s.advance(rev)
			}
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			// Poll over this connection rather than the pool, to notice if it stops answering.
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

// announcements is the Postgres channel for messages between replicas.
const announcements = "shortline_announcements"

// MaxAnnouncement is the maximum size of one announcement in bytes (the server's limit is 8,000).
const MaxAnnouncement = 7000

// Announce sends a message to all replicas, including this one. Delivery is not guaranteed: a replica that is not
// connected at that moment never receives it. On SQLite it does nothing, because there are no other replicas.
func (s *Store) Announce(ctx context.Context, text string) error {
	if !s.pg {
		return nil
	}
	return s.Do(ctx, `SELECT pg_notify('`+announcements+`', ?)`, text)
}

// OnAnnouncement makes Run call f for each announcement, one after the other. f must not block.
func (s *Store) OnAnnouncement(f func(text string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, f)
}

func (s *Store) hear(text string) {
	s.mu.Lock()
	heard := s.heard
	s.mu.Unlock()
	for _, f := range heard {
		f(text)
	}
}

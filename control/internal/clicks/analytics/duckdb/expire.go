package duckdb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Expire implements analytics.Store. Freed space in the file is reused, but the file does not shrink.
func (s *Store) Expire(ctx context.Context, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("delete expired clicks: the store is closed")
	}
	if _, err := s.write.ExecContext(ctx, `DELETE FROM clicks WHERE ts < ?`, before.UnixMilli()); err != nil {
		return fmt.Errorf("delete expired clicks: %w", err)
	}
	s.shorten(ctx)
	return nil
}

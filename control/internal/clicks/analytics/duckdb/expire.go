package duckdb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Expire implements analytics.Store. It deletes whole days of UTC, so some clicks are kept for up to a day longer. A day that
// lost some of its clicks would have to be built again, and the visitors of all later days as well. Freed space in the file is reused, but the file does not shrink.
func (s *Store) Expire(ctx context.Context, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("delete expired clicks: the store is closed")
	}
	if err := s.expire(ctx, before.UnixMilli()); err != nil {
		return fmt.Errorf("delete expired clicks: %w", err)
	}
	s.shorten(ctx)
	return nil
}

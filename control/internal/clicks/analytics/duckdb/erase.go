package duckdb

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
)

// Erase implements analytics.Store. The engine overwrites freed space in its file only when it reuses it. A copy
// (CopyTo) does not contain erased data.
func (s *Store) Erase(ctx context.Context, ip netip.Addr) (clicks int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, errors.New("erase a visitor: the store is closed")
	}
	res, err := s.write.ExecContext(ctx, `UPDATE clicks SET ip = '', visitor = 0, user_agent = '' WHERE ip = ?`, ip.Unmap().WithZone("").String())
	if err == nil {
		clicks, err = res.RowsAffected()
	}
	if err != nil {
		return 0, fmt.Errorf("erase a visitor: %w", err)
	}
	// The log contains the old rows until it is moved into the file.
	s.asked.Lock()
	defer s.asked.Unlock()
	if _, err := s.write.ExecContext(ctx, `CHECKPOINT`); err != nil {
		return clicks, fmt.Errorf("erase a visitor: move the log into the file: %w", err)
	}
	return clicks, nil
}

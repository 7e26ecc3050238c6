package duckdb

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Erase implements analytics.Store. The engine overwrites freed space in its file only when it reuses it. A copy
// (CopyTo) does not contain erased data.
func (s *Store) Erase(ctx context.Context, ip netip.Addr) (clicks int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, errors.New("erase a visitor: the store is closed")
	}
	text := ip.Unmap().WithZone("").String()
	days := map[int64]bool{}
	var day int64
	err = s.each(ctx, analytics.Statement{Text: fmt.Sprintf("SELECT DISTINCT ts // %d FROM clicks WHERE ip = ? AND ts >= 0 AND ts < %d",
		dayMillis, int64(lastDay)*dayMillis), Args: []any{text}}, func() error {
		days[day] = true
		return nil
	}, &day)
	if err != nil {
		return 0, fmt.Errorf("erase a visitor: %w", err)
	}
	s.rollup.touch(days) // they may have fewer or more distinct visitors afterwards
	if _, err := s.write.ExecContext(ctx, `UPDATE conversions SET ip = '', visitor = 0, participant = 0, user_agent = '' WHERE ip = ?`,
		text); err != nil {
		return 0, fmt.Errorf("erase a visitor: %w", err)
	}
	res, err := s.write.ExecContext(ctx, `UPDATE clicks SET ip = '', visitor = 0, participant = 0, user_agent = '' WHERE ip = ?`, text)
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

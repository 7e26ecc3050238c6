package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// A transaction whose context ends says so at whatever moment that happens: a caller that has gone is not a failure of the service.
func TestTx_ends_with_its_context(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, pause := range []time.Duration{0, 50 * time.Millisecond} { // with the pause, the rollback is over before the commit
			ctx, cancel := context.WithCancel(t.Context())
			err := s.Tx(ctx, func(tx *store.Tx) error {
				if _, err := tx.Exec(ctx, `UPDATE config_head SET revision = revision + 1`); err != nil {
					return err
				}
				cancel()
				time.Sleep(pause)
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", pause, err)
			}
		}
		if n, err := s.Revision(t.Context()); err != nil || n != 0 {
			t.Errorf("revision %d, %v: it was changed", n, err)
		}
	})
}

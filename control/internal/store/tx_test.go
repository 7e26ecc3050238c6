package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A transaction whose context ends says so at whatever moment that happens: a caller that has gone is not a failure of the service.
func TestTx_ends_with_its_context(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, rolledBack := range []bool{false, true} { // before the commit
			ctx, cancel := context.WithCancel(t.Context())
			err := s.Tx(ctx, func(tx *store.Tx) error {
				if _, err := tx.Exec(ctx, `UPDATE config_head SET revision = revision + 1`); err != nil {
					return err
				}
				cancel()
				if rolledBack {
					testkit.Eventually(t, "the rollback", func() bool { _, err := tx.Exec(t.Context(), `SELECT 1`); return err != nil })
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("rolled back %v: %v", rolledBack, err)
			}
		}
		if n, err := s.Revision(t.Context()); err != nil || n != 0 {
			t.Errorf("revision %d, %v: it was changed", n, err)
		}
	})
}

// A panic in a transaction rolls it back: on SQLite, the next one would otherwise never begin.
func TestTx_ends_with_a_panic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		func() {
			defer func() { _ = recover() }()
			_ = s.Tx(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(t.Context(), `UPDATE config_head SET revision = revision + 1`); err != nil {
					t.Error(err)
				}
				panic("a fault of the program")
			})
		}()
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		if err := s.Tx(ctx, func(*store.Tx) error { return nil }); err != nil {
			t.Error("the next transaction:", err)
		}
		if n, err := s.Revision(t.Context()); err != nil || n != 0 {
			t.Errorf("revision %d, %v: it was changed", n, err)
		}
	})
}

package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestLease_excludes_other_processes_while_it_is_held(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		one, two := s.Lease("images"), s.Lease("images")
		free := func(context.Context) error { return nil }
		testkit.Must(t, one.Hold(t.Context(), func(ctx context.Context) error {
			if err := two.Hold(ctx, free); !errors.Is(err, job.ErrTaken) {
				t.Errorf("two processes have the lease: %v", err)
			}
			testkit.Must(t, s.Lease("trash").Hold(ctx, free))
			return one.Claim(ctx)
		}))
		testkit.Must(t, two.Hold(t.Context(), free))
	})
}

func TestCursor_is_moved_by_its_holder_only(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		held := func(want bool, f func(tx *store.Tx) (bool, error)) {
			t.Helper()
			testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error {
				got, err := f(tx)
				if got != want {
					t.Errorf("the lease is held: %v, want %v", got, want)
				}
				return err
			}))
		}
		claim := func(holder string, now int64) func(*store.Tx) (bool, error) {
			return func(tx *store.Tx) (bool, error) { return tx.ClaimCursor(t.Context(), "ends", holder, now, now+100) }
		}
		save := func(holder string, after uint64) func(*store.Tx) (bool, error) {
			return func(tx *store.Tx) (bool, error) {
				return tx.SaveCursor(t.Context(), store.Cursor{Name: "ends", After: after}, holder)
			}
		}
		held(false, save("one", 5)) // never claimed
		held(true, claim("one", 1000))
		held(false, claim("two", 1050))
		held(false, save("two", 7))
		held(true, save("one", 6))
		held(true, claim("two", 1100))
		held(false, save("one", 8))
		c, err := s.CursorNamed(t.Context(), "ends")
		testkit.Must(t, err)
		if c.After != 6 {
			t.Errorf("the cursor is at %d, want 6", c.After)
		}
	})
}

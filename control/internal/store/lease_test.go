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

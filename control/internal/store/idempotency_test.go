package store_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A process is killed at each moment of a request, and another one gets the same request later.
func TestClaimRequest_after_a_kill(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		request := store.IdempotentRequest{ID: "r", BodyHash: "b", HeldUntil: 100, ExpiresAt: 10_000}
		claim := func(r store.IdempotentRequest, now int64) *store.IdempotentRequest {
			t.Helper()
			known, err := s.ClaimRequest(ctx, r, now)
			testkit.Must(t, err)
			return known
		}
		if known := claim(request, 1); known != nil {
			t.Fatalf("a new request is known: %+v", known)
		}
		if known := claim(request, 99); known == nil || known.BodyHash != "b" || known.HeldUntil != 100 || known.Committed {
			t.Fatalf("while it runs: %+v", known)
		}

		// Before its transaction: it is processed again, and the first process can no longer change anything.
		late, _ := store.WithRequest(ctx, request)
		second := request
		second.HeldUntil = 300
		if known := claim(second, 200); known != nil {
			t.Fatalf("after its time: %+v", known)
		}
		nothing := func(*store.Tx) error { return nil }
		if err := s.Tx(late, nothing); err == nil {
			t.Error("a process that lost the request commits")
		}

		// After its transaction: it is not processed again, not even with another body.
		under, held := store.WithRequest(ctx, second)
		testkit.Must(t, s.Tx(under, nothing))
		testkit.Must(t, s.Tx(under, nothing)) // use cases may have several
		third := request
		third.HeldUntil = 600
		if known := claim(third, 500); known == nil || !known.Committed || known.Response != "" || !held.Committed() {
			t.Fatalf("after its effect: %+v", known)
		}
		testkit.Must(t, s.EndRequest(ctx, held, "sealed"))
		if known := claim(third, 500); known == nil || known.Response != "sealed" || known.HeldUntil != 0 {
			t.Fatalf("after its end: %+v", known)
		}
		if known := claim(third, 10_000); known != nil {
			t.Fatalf("after a day: %+v", known)
		}
	})
}

package store_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestPasskeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "USER"), addUser(t, s, "bob@example.com", "USER")
		used := int64(7)
		first := store.Passkey{
			ID: "1", UserID: ann.ID, CredentialID: "AAAA", PublicKey: "key", SignCount: math.MaxUint32, AAGUID: "aaguid",
			Transports:     "usb nfc",
			BackupEligible: true, BackedUp: true, Name: "Ключ 🔑", CreatedAt: 1, LastUsedAt: &used, ClonedAt: &used,
		}
		second := store.Passkey{ID: "2", UserID: ann.ID, CredentialID: "AAAB", CreatedAt: 2}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.InsertPasskey(ctx, first), tx.InsertPasskey(ctx, second))
		})
		err := s.Tx(ctx, func(tx *store.Tx) error {
			return tx.InsertPasskey(ctx, store.Passkey{ID: "3", UserID: bob.ID, CredentialID: "AAAA"})
		})
		if what, broken := store.Unique(err); !broken {
			t.Errorf("a credential of two users: %v, %s", err, what)
		}
		if got, err := s.Passkeys(ctx, ann.ID); err != nil || !reflect.DeepEqual(got, []store.Passkey{first, second}) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := s.PasskeyByCredential(ctx, "AAAB"); err != nil || got != second {
			t.Errorf("%+v, %v", got, err)
		}
		users, err := s.UsersByID(ctx, []string{ann.ID, bob.ID, "unknown"})
		testkit.Must(t, err)
		if len(users) != 2 || users[ann.ID].Email != "ann@example.com" || !users[ann.ID].HasPasskeys || users[bob.ID].HasPasskeys {
			t.Errorf("users %+v", users)
		}
		for user, want := range map[string]int{ann.ID: 2, bob.ID: 0} {
			if n, err := s.CountPasskeys(ctx, user); err != nil || n != want {
				t.Errorf("%d passkeys, want %d, %v", n, want, err)
			}
		}
		err = s.Tx(ctx, func(tx *store.Tx) error {
			_, err := tx.DeletePasskey(ctx, bob.ID, "1")
			return err
		})
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("delete the passkey of another user: %v", err)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			got, err := tx.DeletePasskey(ctx, ann.ID, "1")
			if got.Name != first.Name {
				t.Errorf("deleted %+v", got)
			}
			return err
		})
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return dropUser(ctx, tx, ann.ID)
		})
		if _, err := s.PasskeyByCredential(ctx, "AAAB"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a passkey outlives its user: %v", err)
		}
	})
}

// A counter is accepted once and only if it is greater than the stored one, also by uses at the same time.
func TestUsePasskey_counter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann := addUser(t, s, "ann@example.com", "USER")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertPasskey(ctx, store.Passkey{ID: "1", UserID: ann.ID, CredentialID: "AAAA"})
		})
		use := func(count uint32) (won bool) {
			err := s.Tx(t.Context(), func(tx *store.Tx) (err error) {
				won, err = tx.UsePasskey(t.Context(), "1", count, true, 9)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			return won
		}
		for _, step := range []struct {
			count uint32
			want  bool
		}{{0, true}, {0, true}, {5, true}, {5, false}, {4, false}, {0, false}, {6, true}} {
			testkit.Equal(t, use(step.count), step.want, "counter %d", step.count)
		}
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if use(math.MaxUint32) {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		testkit.Equal(t, won.Load(), 1, "successful uses with one counter")
		got, err := s.PasskeyByCredential(t.Context(), "AAAA")
		if err != nil || got.SignCount != math.MaxUint32 || !got.BackedUp || got.LastUsedAt == nil || *got.LastUsedAt != 9 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A challenge works once, until it expires, and a registration only for the session that began it.
func TestPasskeyCeremonies(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann := addUser(t, s, "ann@example.com", "USER")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(
				tx.InsertPasskeyCeremony(ctx, store.PasskeyCeremony{Challenge: "sign-in", ExpiresAt: 100}),
				tx.InsertPasskeyCeremony(ctx, store.PasskeyCeremony{Challenge: "late", ExpiresAt: 100}),
				tx.InsertPasskeyCeremony(ctx, store.PasskeyCeremony{Challenge: "swept", ExpiresAt: 50}),
				tx.InsertPasskeyCeremony(ctx, store.PasskeyCeremony{Challenge: "register", UserID: ann.ID, SessionID: "s", ExpiresAt: 100}))
		})
		testkit.Must(t, s.Sweep(t.Context(), 50))
		for _, c := range []struct {
			what, challenge, user, session string
			now                            int64
			want                           bool
		}{
			{"a registration as a sign-in", "register", "", "", 99, false},
			{"another user's", "register", "bob", "s", 99, false},
			{"another session's", "register", ann.ID, "t", 99, false},
			{"a registration", "register", ann.ID, "s", 99, true},
			{"a registration again", "register", ann.ID, "s", 99, false},
			{"a sign-in as a registration", "sign-in", ann.ID, "s", 99, false},
			{"a sign-in", "sign-in", "", "", 99, true},
			{"a sign-in again", "sign-in", "", "", 99, false},
			{"expired", "late", "", "", 100, false},
			{"swept", "swept", "", "", 1, false},
			{"unknown", "unknown", "", "", 1, false},
		} {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				got, err := tx.TakePasskeyCeremony(ctx, c.challenge, c.user, c.session, c.now)
				testkit.Equal(t, got, c.want, "%s", c.what)
				return err
			})
		}
	})
}

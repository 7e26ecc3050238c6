package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func inTx(t *testing.T, s *store.Store, f func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) error { return f(t.Context(), tx) }))
}

func addUser(t *testing.T, s *store.Store, email, role string) store.User {
	t.Helper()
	now := store.Now()
	hash := "hash"
	u := store.User{ID: store.NewID(), Email: email, Role: role, Active: true, PasswordHash: &hash, CreatedAt: now, UpdatedAt: now}
	inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(ctx, u)
		return err
	})
	return u
}

func TestUsers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		if u, err := s.FirstUser(ctx); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("an empty store has the user %+v, %v", u, err)
		}
		ann := addUser(t, s, "Ann@Example.com", "ADMIN")
		bob := addUser(t, s, "bob_50%@example.com", "USER")
		if u, err := s.FirstUser(ctx); err != nil || u.ID != ann.ID {
			t.Fatalf("the first user: %+v, %v", u, err)
		}
		if ann.Num == 0 || bob.Num <= ann.Num {
			t.Fatalf("numbers: %d, %d", ann.Num, bob.Num)
		}
		err := s.Tx(ctx, func(tx *store.Tx) error {
			_, err := tx.InsertUser(ctx, store.User{ID: store.NewID(), Email: "aNN@example.COM", Role: "USER"})
			return err
		})
		if _, broken := store.Unique(err); !broken {
			t.Fatalf("the same email in another case: %v", err)
		}
		got, err := s.UserByEmail(ctx, " ann@EXAMPLE.com ")
		testkit.Must(t, err)
		if got.ID != ann.ID || got.Email != "Ann@Example.com" || got.PasswordHash == nil || got.TOTPSecret != nil {
			t.Fatalf("by email: %+v", got)
		}
		if _, err := s.UserByID(ctx, "nobody"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("unknown id: %v", err)
		}
		secret := "sealed"
		bob.Name, bob.Active, bob.TOTPSecret, bob.TOTPEnabled = "Bob \\_", false, &secret, true
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, bob) })
		got, err = s.UserByID(ctx, bob.ID)
		testkit.Must(t, err)
		if got.Name != bob.Name || got.Active || !got.TOTPEnabled || *got.TOTPSecret != "sealed" {
			t.Fatalf("updated: %+v", got)
		}
		if ids, err := s.UsersWithTOTP(ctx); err != nil || len(ids) != 1 || ids[0] != bob.ID {
			t.Fatalf("users with a second factor: %v, %v", ids, err)
		}
		err = s.Tx(ctx, func(tx *store.Tx) error { return tx.UpdateUser(ctx, store.User{ID: "nobody", Role: "USER"}) })
		if !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("update of nobody: %v", err)
		}

		no := false
		for _, q := range []struct {
			f    store.UserFilter
			want int
		}{
			{store.UserFilter{}, 2}, {store.UserFilter{Search: "EXAMPLE"}, 2}, {store.UserFilter{Search: "_50%"}, 1},
			{store.UserFilter{Search: "b%o"}, 0},
			{store.UserFilter{Search: `BOB \_`}, 1}, {store.UserFilter{Role: "ADMIN"}, 1}, {store.UserFilter{Active: &no}, 1},
			{store.UserFilter{Role: "ADMIN", Active: &no}, 0},
		} {
			list, total, err := s.Users(ctx, q.f, 10, 0)
			testkit.Must(t, err)
			if total != q.want || len(list) != q.want {
				t.Errorf("%+v: %d rows, total %d, want %d", q.f, len(list), total, q.want)
			}
		}
		list, total, err := s.Users(ctx, store.UserFilter{}, 1, 1)
		testkit.Must(t, err)
		if total != 2 || len(list) != 1 || list[0].ID != ann.ID {
			t.Fatalf("second page: %d %+v", total, list)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			ids, err := tx.LockAdmins(ctx)
			if err == nil && (len(ids) != 1 || ids[0] != ann.ID) {
				err = fmt.Errorf("admins: %v", ids)
			}
			return err
		})
	})
}

func TestSecondFactor_a_code_is_used_once(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		u := addUser(t, s, "a@example.com", "USER")
		try := func(step int64) (ok bool) {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
				ok, err = tx.UseTOTPStep(ctx, u.ID, step)
				return err
			})
			return ok
		}
		if !try(10) || try(10) || try(9) || !try(11) {
			t.Fatal("a step must be usable once, and never after a later one")
		}
		code := func(hash string) (ok bool) {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
				ok, err = tx.UseRecoveryCode(ctx, u.ID, hash)
				return err
			})
			return ok
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.SetRecoveryCodes(ctx, u.ID, []string{"a", "b"})
		})
		if !code("a") || code("a") || code("c") || !code("b") {
			t.Fatal("a recovery code must be usable once")
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.SetRecoveryCodes(ctx, u.ID, []string{"a", "b"})
		})
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.SetRecoveryCodes(ctx, u.ID, nil) })
		if code("a") {
			t.Fatal("removed codes still work")
		}
	})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "USER")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			for i, id := range []string{"s1", "s2", "s3"} {
				if err := tx.InsertSession(ctx, store.Session{ID: id, UserID: u.ID, CreatedAt: 1, ExpiresAt: 1000 + int64(i)}); err != nil {
					return err
				}
			}
			return nil
		})
		alive := func(id string, now int64) bool {
			got, err := s.SessionUser(ctx, id, now, -1)
			if errors.Is(err, store.ErrNotFound) {
				return false
			}
			testkit.Must(t, err)
			return got.ID == u.ID
		}
		if !alive("s1", 999) || alive("s1", 1000) || alive("unknown", 0) {
			t.Fatal("a session lives until it expires")
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.DeleteSession(ctx, "another", "s1"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("another user's session: %v", err)
			}
			return nil
		})
		if !alive("s1", 1) {
			t.Fatal("another user ended the session")
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			gone, err := tx.DeleteSession(ctx, u.ID, "s1")
			testkit.Equal(t, gone.ID, "s1", "the session that was ended")
			return err
		})
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.DeleteSessions(ctx, u.ID, "s2")
			testkit.Equal(t, n, 1, "ended sessions")
			return err
		})
		if alive("s1", 1) || !alive("s2", 1) || alive("s3", 1) {
			t.Fatal("all sessions but s2 should have ended")
		}
		testkit.Must(t, s.Sweep(ctx, 2000))
		if alive("s2", 1) {
			t.Fatal("an expired session was not swept")
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "ADMIN")
		at := int64(5)
		k := store.Key{ID: store.NewID(), UserID: u.ID, Name: "CI", Prefix: "sl_abc", Lookup: "lookup", Hash: "hash", ExpiresAt: &at,
			CreatedAt: 3}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertKey(ctx, k) })
		got, owner, member, err := s.KeyUser(ctx, "lookup")
		testkit.Must(t, err)
		if got.ID != k.ID || *got.ExpiresAt != 5 || got.LastUsedAt != nil || owner.ID != u.ID || owner.Num != u.Num ||
			member.Num != u.Num ||
			member.Role != store.RoleOwner {
			t.Fatalf("%+v %+v", got, owner)
		}
		for _, use := range []int64{100, 90} {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.NoteKeyUse(ctx, k.Lookup, "203.0.113.7", use) })
		}
		list, err := s.Keys(ctx, u.ID)
		testkit.Must(t, err)
		if len(list) != 1 || *list[0].LastUsedAt != 100 {
			t.Fatalf("%+v", list)
		}
		if _, err := s.KeyByID(ctx, k.ID); err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, false} {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				was, err := tx.DeleteKey(ctx, k.ID)
				if err == nil && was != want {
					err = fmt.Errorf("deleted %v, want %v", was, want)
				}
				return err
			})
		}
		if _, _, _, err := s.KeyUser(ctx, "lookup"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("a deleted key: %v", err)
		}
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		why := "because"
		put := func(v store.Setting) (out store.Setting) {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
				out, err = tx.PutSetting(ctx, v)
				return err
			})
			return out
		}
		first := put(store.Setting{ID: "1", Key: "b", Value: `{"x":1}`, Description: &why, CreatedAt: 1, UpdatedAt: 1})
		second := put(store.Setting{ID: "2", Key: "b", Value: `null`, CreatedAt: 2, UpdatedAt: 2})
		if second.ID != first.ID || second.CreatedAt != 1 || second.UpdatedAt != 2 || second.Value != "null" || second.Description != nil {
			t.Fatalf("%+v", second)
		}
		put(store.Setting{ID: "3", Key: "a", Value: `true`})
		all, err := s.Settings(ctx)
		testkit.Must(t, err)
		if len(all) != 2 || all[0].Key != "a" {
			t.Fatalf("%+v", all)
		}
		for _, want := range []bool{true, false} {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				if was, err := tx.DeleteSetting(ctx, "a"); err != nil || was != want {
					return fmt.Errorf("deleted %v, want %v: %v", was, want, err)
				}
				return nil
			})
		}
		if _, err := s.SettingByKey(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	})
}

func TestRateCounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		hit := func(now, end int64) (n int, until int64) {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
				n, until, err = tx.HitRate(ctx, "k", now, end)
				return err
			})
			return n, until
		}
		for i, h := range []struct{ now, end, n, until int64 }{{0, 60, 1, 60}, {59, 119, 2, 60}, {60, 120, 1, 120}, {61, 121, 2, 120}} {
			if n, until := hit(h.now, h.end); int64(n) != h.n || until != h.until {
				t.Errorf("hit %d: %d until %d, want %d until %d", i, n, until, h.n, h.until)
			}
		}
	})
}

func TestAccountLockout_counts_concurrent_failures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		g, err := s.AccountLockoutOf(ctx, "k")
		testkit.Must(t, err)
		if g != (store.AccountLockout{}) {
			t.Fatalf("%+v", g)
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				err := s.Tx(ctx, func(tx *store.Tx) error {
					return tx.ChangeAccountLockout(ctx, "k", func(g store.AccountLockout) store.AccountLockout {
						g.Failures++
						g.Lockouts, g.LockedUntil, g.ForgetAt = 1, 2, 3
						return g
					})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		g, err = s.AccountLockoutOf(ctx, "k")
		testkit.Must(t, err)
		if g != (store.AccountLockout{Failures: 10, Lockouts: 1, LockedUntil: 2, ForgetAt: 3}) {
			t.Fatalf("%+v", g)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteAccountLockout(ctx, "k") })
		if g, _ = s.AccountLockoutOf(ctx, "k"); g != (store.AccountLockout{}) {
			t.Fatalf("%+v", g)
		}
	})
}

// dropUser deletes a user with the links that the user has created.
func dropUser(ctx context.Context, tx *store.Tx, id string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM urls WHERE user_id = ?`, id); err != nil {
		return err
	}
	return tx.DeleteUser(ctx, id)
}

func TestDeleteUser_takes_keys_and_sessions_along(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := addUser(t, s, "a@example.com", "USER")
		other := addUser(t, s, "b@example.com", "USER")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			for i := range 600 {
				owner := u.ID
				if i == 0 {
					owner = other.ID
				}
				if _, err := tx.Exec(ctx,
					`INSERT INTO urls (id, user_id, slug, original_url, created_at, updated_at) VALUES (?, ?, ?, 'https://example.com', 1, 1)`,
					store.NewID(), owner, fmt.Sprintf("slug%d", i)); err != nil {
					return err
				}
			}
			if err := tx.InsertSession(ctx, store.Session{ID: "s", UserID: u.ID, ExpiresAt: 1 << 40}); err != nil {
				return err
			}
			return tx.InsertKey(ctx, store.Key{ID: "k", UserID: u.ID, Lookup: "l"})
		})
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return dropUser(ctx, tx, u.ID) })
		var left int
		testkit.Must(t, s.Row(ctx, `SELECT COUNT(*) FROM urls`).Scan(&left))
		testkit.Equal(t, left, 1, "links left")
		if _, err := s.SessionUser(ctx, "s", 0, -1); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("session: %v", err)
		}
		if _, _, _, err := s.KeyUser(ctx, "l"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("key: %v", err)
		}
		err := s.Tx(ctx, func(tx *store.Tx) error { return tx.DeleteUser(ctx, "nobody") })
		if !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("nobody: %v", err)
		}
	})
}

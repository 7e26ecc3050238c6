package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestOIDC(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		any, err := s.AnyActiveOIDCProvider(ctx)
		testkit.Must(t, err)
		if any {
			t.Fatal("an empty store has a provider")
		}
		p := store.OIDCProvider{ID: store.NewID(), Slug: "corp", Name: "corp", DiscoveryURL: "https://id.example.com", ClientID: "c",
			ClientSecret: "sealed", Scopes: "openid", CreatedAt: 1, UpdatedAt: 2}
		other := store.OIDCProvider{ID: store.NewID(), Slug: "Abc", Name: "Abc", Active: true}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.InsertOIDCProvider(ctx, p), tx.InsertOIDCProvider(ctx, other))
		})
		err = s.Tx(ctx, func(tx *store.Tx) error {
			return tx.InsertOIDCProvider(ctx, store.OIDCProvider{ID: store.NewID(), Slug: "corp"})
		})
		if _, broken := store.Unique(err); !broken {
			t.Fatalf("the same slug twice: %v", err)
		}
		all, err := s.OIDCProviders(ctx, false)
		testkit.Must(t, err)
		active, err := s.OIDCProviders(ctx, true)
		testkit.Must(t, err)
		if len(all) != 2 || all[0] != other || all[1] != p || len(active) != 1 || active[0] != other {
			t.Fatalf("%+v, active %+v", all, active)
		}
		p.Name, p.DiscoveryURL, p.ClientID, p.ClientSecret, p.Scopes, p.Active, p.UpdatedAt = "Corp", "https://other.example.com",
			"d", "again",
			"openid email", true, 9
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.LockOIDCProvider(ctx, "corp"); err != nil {
				return err
			}
			return tx.UpdateOIDCProvider(ctx, p)
		})
		got, err := s.OIDCProviderBySlug(ctx, "corp")
		testkit.Must(t, err)
		testkit.Equal(t, got, p, "the changed provider")
		if _, err := s.OIDCProviderBySlug(ctx, "CORP"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("a slug in another case: %v", err)
		}
		if err := s.Tx(ctx, func(tx *store.Tx) error { return tx.UpdateOIDCProvider(ctx, store.OIDCProvider{ID: "none"}) }); !errors.Is(err,
			store.ErrNotFound) {
			t.Fatalf("update of none: %v", err)
		}

		ann, bob := addUser(t, s, "ann@example.com", "USER"), addUser(t, s, "bob@example.com", "USER")
		a := store.OIDCAccount{ID: store.NewID(), ProviderID: p.ID, UserID: ann.ID, Issuer: "https://i", Subject: "1",
			Email:     "ann@example.com",
			CreatedAt: 5, LastLoginAt: 5}
		tie := func(a store.OIDCAccount) error {
			return s.Tx(ctx, func(tx *store.Tx) error { return tx.InsertOIDCAccount(ctx, a) })
		}
		testkit.Must(t, tie(a))
		twice := a
		twice.ID, twice.UserID = store.NewID(), bob.ID
		if _, broken := store.Unique(tie(twice)); !broken {
			t.Fatal("one subject belongs to two users")
		}
		for i, at := range []string{"https://j", "https://k"} {
			twice.ID, twice.Issuer, twice.CreatedAt = store.NewID(), at, int64(i)
			testkit.Must(t, tie(twice))
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.NoteOIDCLogin(ctx, a.ID, "new@example.com", 77)
		})
		a.Email, a.LastLoginAt, a.ProviderName, a.ProviderSlug = "new@example.com", 77, "Corp", "corp"
		found, err := s.OIDCAccountBySubject(ctx, p.ID, "https://i", "1")
		testkit.Must(t, err)
		testkit.Equal(t, found, a, "the account")
		for _, no := range [][3]string{{other.ID, "https://i", "1"}, {p.ID, "https://x", "1"}, {p.ID, "https://i", "2"}} {
			if _, err := s.OIDCAccountBySubject(ctx, no[0], no[1], no[2]); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v: %v", no, err)
			}
		}
		of := func(u store.User) []store.OIDCAccount {
			list, err := s.OIDCAccounts(ctx, u.ID)
			testkit.Must(t, err)
			return list
		}
		if l := of(bob); len(l) != 2 || l[0].Issuer != "https://j" {
			t.Fatalf("%+v", l)
		}
		untie := func(userID, id string) error {
			return s.Tx(ctx, func(tx *store.Tx) error {
				was, err := tx.DeleteOIDCAccount(ctx, userID, id)
				if err == nil && was != a {
					t.Errorf("removed %+v", was)
				}
				return err
			})
		}
		if err := untie(bob.ID, a.ID); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("another user's account: %v", err)
		}
		testkit.Must(t, untie(ann.ID, a.ID))
		if err := untie(ann.ID, a.ID); !errors.Is(err, store.ErrNotFound) || len(of(ann)) != 0 {
			t.Fatalf("removed twice: %v", err)
		}

		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.DeleteOIDCProvider(ctx, p.ID)
			testkit.Equal(t, n, 2, "accounts deleted with the provider")
			return err
		})
		testkit.Equal(t, len(of(bob)), 0, "accounts after the deletion of their provider")
		if err := s.Tx(ctx, func(tx *store.Tx) error { _, err := tx.DeleteOIDCProvider(ctx, p.ID); return err }); !errors.Is(err,
			store.ErrNotFound) {
			t.Fatalf("deleted twice: %v", err)
		}
		testkit.Must(t, tie(store.OIDCAccount{ID: store.NewID(), ProviderID: other.ID, UserID: ann.ID, Subject: "1"}))
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return dropUser(ctx, tx, ann.ID) })
		testkit.Equal(t, len(of(ann)), 0, "accounts after the deletion of their user")
	})
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func addBundle(t *testing.T, s *store.Store, owner store.User, name string) *store.Bundle {
	t.Helper()
	b := &store.Bundle{ID: store.NewID(), UserID: owner.ID, Workspace: owner.Num, Name: name, Color: "#3B82F6", Icon: "folder",
		CreatedAt: store.Now(), UpdatedAt: store.Now()}
	inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertBundle(ctx, b) })
	return b
}

// addMany adds n links and returns their ids.
func addMany(t *testing.T, s *store.Store, owner store.User, n int) (ids []string) {
	t.Helper()
	urls := make([]*store.Link, n)
	for i := range urls {
		urls[i] = newURL(owner, fmt.Sprintf("s%d", i))
		ids = append(ids, urls[i].ID)
	}
	addURLs(t, s, urls...)
	return ids
}

// inBundle lists the slugs of a bundle's links. It fails unless their orders are 0, 1, 2, …
func inBundle(t *testing.T, s *store.Store, id string, workspace uint64) string {
	t.Helper()
	list, err := s.BundleLinks(t.Context(), []string{id}, workspace)
	testkit.Must(t, err)
	var out []string
	for i, m := range list[id] {
		if m.Order != i || m.BundleID != id {
			t.Errorf("place %d has order %d of %s", i, m.Order, m.BundleID)
		}
		out = append(out, m.Link.Slug)
	}
	return strings.Join(out, " ")
}

func TestBundles_keep_every_field(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "USER"), addUser(t, s, "bob@example.com", "USER")
		b := addBundle(t, s, ann, "Spring")
		if b.Num == 0 {
			t.Fatal("no number")
		}
		got, err := s.BundleByID(ctx, b.ID)
		testkit.Must(t, err)
		if got != *b {
			t.Errorf("read %+v, wrote %+v", got, *b)
		}
		b.Name, b.Description, b.Color, b.Icon, b.Archived, b.UpdatedAt = "SÜMMER 50%", "x_y", "#fff", "sun", true, 7
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateBundle(ctx, b) })
		got, err = s.BundleByID(ctx, b.ID)
		testkit.Must(t, err)
		if got != *b {
			t.Errorf("read %+v, wrote %+v", got, *b)
		}
		other := addBundle(t, s, bob, "Other")
		yes, no := true, false
		for name, c := range map[string]struct {
			f    store.BundleFilter
			want string
		}{
			"all":              {store.BundleFilter{}, "Other, SÜMMER 50%"},
			"of ann":           {store.BundleFilter{Workspace: ann.Num}, "SÜMMER 50%"},
			"archived":         {store.BundleFilter{Archived: &yes}, "SÜMMER 50%"},
			"not archived":     {store.BundleFilter{Archived: &no}, "Other"},
			"by name":          {store.BundleFilter{Search: "süMMer"}, "SÜMMER 50%"},
			"by description":   {store.BundleFilter{Search: "X_Y"}, "SÜMMER 50%"},
			"literal wildcard": {store.BundleFilter{Search: "x%y"}, ""},
			"second":           {store.BundleFilter{Offset: 1}, "SÜMMER 50%"},
			"past the end":     {store.BundleFilter{Offset: 9}, ""},
		} {
			c.f.Limit = 10
			list, total, err := s.Bundles(ctx, c.f)
			testkit.Must(t, err)
			var names []string
			for _, b := range list {
				names = append(names, b.Name)
			}
			if got := strings.Join(names, ", "); got != c.want || c.f.Offset == 0 && total != len(list) || c.f.Offset > 0 && total != 2 {
				t.Errorf("%s: %q of %d, want %q", name, got, total, c.want)
			}
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			list, err := tx.LockBundles(ctx, []string{other.ID, b.ID, "unknown", b.ID})
			if err == nil && (len(list) != 2 || list[0].ID != b.ID || list[1] != *other) {
				err = fmt.Errorf("locked %+v", list)
			}
			if read, err := s.BundlesByID(ctx, []string{other.ID, "unknown"}); err != nil || len(read) != 1 || read[0] != *other {
				return fmt.Errorf("read %v, %v", read, err)
			}
			if none, err := tx.LockBundles(ctx, nil); err != nil || len(none) != 0 {
				return fmt.Errorf("locking nothing: %v, %v", none, err)
			}
			return errors.Join(err, tx.DeleteBundle(ctx, b.ID))
		})
		if _, err := s.BundleByID(ctx, b.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a deleted bundle: %v", err)
		}
	})
}

func TestBundles_hold_links_in_order(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "ADMIN"), addUser(t, s, "bob@example.com", "USER")
		one, two := addBundle(t, s, ann, "one"), addBundle(t, s, ann, "two")
		a, b, c, foreign := newURL(ann, "aaa"), newURL(ann, "bbb"), newURL(ann, "ccc"), newURL(bob, "foreign")
		addURLs(t, s, a, b, c, foreign)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			added, err := tx.AddToBundle(ctx, one.ID, []string{c.ID, a.ID})
			if err == nil && !slices.Equal(added, []string{c.ID, a.ID}) {
				err = fmt.Errorf("added %v", added)
			}
			if err != nil {
				return err
			}
			if _, err := tx.AddToBundle(ctx, two.ID, []string{a.ID}); err != nil {
				return err
			}
			added, err = tx.AddToBundle(ctx, one.ID, []string{a.ID, foreign.ID, b.ID, c.ID})
			if err == nil && !slices.Equal(added, []string{foreign.ID, b.ID}) {
				err = fmt.Errorf("added %v", added)
			}
			return err
		})
		testkit.Equal(t, inBundle(t, s, one.ID, 0), "ccc aaa foreign bbb", "in the bundle")
		testkit.Equal(t, inBundle(t, s, one.ID, ann.Num), "ccc aaa bbb", "in the bundle, of ann")
		if n, err := s.CountBundleLinks(ctx, one.ID); err != nil || n != 4 {
			t.Errorf("%d links, %v", n, err)
		}
		if list, err := s.BundlesOf(ctx, a.ID); err != nil || len(list) != 2 || !slices.Contains(list, one.ID) {
			t.Errorf("bundles: %v, %v", list, err)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.OrderBundle(ctx, one.ID, []string{b.ID, foreign.ID, c.ID, a.ID})
		})
		testkit.Equal(t, inBundle(t, s, one.ID, 0), "bbb foreign ccc aaa", "after ordering")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			was, err := tx.RemoveFromBundle(ctx, one.ID, c.ID)
			again, err2 := tx.RemoveFromBundle(ctx, one.ID, c.ID)
			if !was || again {
				err = fmt.Errorf("removed %v, again %v", was, again)
			}
			return errors.Join(err, err2)
		})
		// Deleted links and users leave no gap.
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.LockBundlesOf(ctx, []string{b.ID}); err != nil {
				return err
			}
			return tx.DeleteLinks(ctx, []string{b.ID})
		})
		testkit.Equal(t, inBundle(t, s, one.ID, 0), "foreign aaa", "after deletions")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return dropUser(ctx, tx, bob.ID) })
		testkit.Equal(t, inBundle(t, s, one.ID, 0), "aaa", "after its owner went")
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteBundle(ctx, one.ID) })
		if _, err := s.LinkByID(ctx, a.ID); err != nil {
			t.Errorf("a deleted bundle took a link along: %v", err)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return dropUser(ctx, tx, ann.ID) })
		if _, err := s.BundleByID(ctx, two.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a bundle whose owner went: %v", err)
		}
	})
}

func TestBundles_take_many_links(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann := addUser(t, s, "ann@example.com", "USER")
		b := addBundle(t, s, ann, "big")
		ids := addMany(t, s, ann, 1200) // more than one statement inserts
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { _, err := tx.AddToBundle(ctx, b.ID, ids); return err })
		slices.Reverse(ids)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.OrderBundle(ctx, b.ID, ids) })
		list, err := s.BundleLinks(t.Context(), []string{b.ID, "unknown"}, ann.Num)
		testkit.Must(t, err)
		for i, m := range list[b.ID] {
			if m.Link.ID != ids[i] || m.Order != i {
				t.Fatalf("place %d holds %s as %d", i, m.Link.Slug, m.Order)
			}
		}
		if len(list[b.ID]) != len(ids) || len(list) != 1 {
			t.Errorf("%d links", len(list[b.ID]))
		}
	})
}

func TestBundles_and_deletions_do_not_deadlock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann := addUser(t, s, "ann@example.com", "USER")
		b := addBundle(t, s, ann, "busy")
		ids := addMany(t, s, ann, 60)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { _, err := tx.AddToBundle(ctx, b.ID, ids); return err })
		errs := make(chan error, 2)
		go func() {
			var failed error
			for i := 0; i < len(ids) && failed == nil; i += 3 {
				failed = s.Tx(t.Context(), func(tx *store.Tx) error {
					list, err := tx.LockLinks(t.Context(), ids[i:i+3])
					if err == nil {
						err = tx.LockBundlesOf(t.Context(), ids[i:i+3])
					}
					if err == nil {
						err = tx.Touch(t.Context(), list[0].Num, list[0].Slug)
					}
					if err == nil {
						err = tx.DeleteLinks(t.Context(), ids[i:i+3])
					}
					return errors.Join(err, tx.LockAudit(t.Context()))
				})
			}
			errs <- failed
		}()
		go func() {
			var failed error
			for i := 0; i < 40 && failed == nil; i++ {
				failed = s.Tx(t.Context(), func(tx *store.Tx) error {
					if _, err := tx.LockBundles(t.Context(), []string{b.ID}); err != nil {
						return err
					}
					order := slices.Clone(ids)
					if i%2 == 0 {
						slices.Reverse(order)
					}
					if err := tx.OrderBundle(t.Context(), b.ID, order); err != nil {
						return err
					}
					return tx.LockAudit(t.Context())
				})
			}
			errs <- failed
		}()
		testkit.Must(t, errors.Join(<-errs, <-errs))
	})
}

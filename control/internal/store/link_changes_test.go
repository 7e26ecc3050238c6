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

func touch(t *testing.T, s *store.Store, urls ...*store.Link) {
	t.Helper()
	inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
		for _, u := range urls {
			if err := tx.Touch(ctx, u.Num, u.Slug); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann := addUser(t, s, "ann@example.com", "USER")
		a, b := newURL(ann, "aaa"), newURL(ann, "bbb")
		addURLs(t, s, a, b)
		incarnation, rev, err := s.Head(ctx)
		testkit.Must(t, err)
		oldest, err := s.OldestChange(ctx)
		testkit.Must(t, err)
		if incarnation == 0 || rev != 0 || oldest != 0 {
			t.Fatalf("an empty log: incarnation %d, revision %d, oldest %d", incarnation, rev, oldest)
		}
		touch(t, s, a, b)                                          // 1
		touch(t, s, a)                                             // 2
		touch(t, s, a, a)                                          // 3
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { // 4
			if err := tx.TouchAll(ctx, nil); err != nil || tx.Revision() != 0 {
				return fmt.Errorf("touching nothing took revision %d: %v", tx.Revision(), err)
			}
			if err := tx.Touch(ctx, b.Num, b.Slug); err != nil {
				return err
			}
			return tx.DeleteLinks(ctx, []string{b.ID})
		})
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { // revision 5: touched too late
			if err := tx.DeleteLinks(ctx, []string{a.ID}); err != nil {
				return err
			}
			return tx.Touch(ctx, a.Num, a.Slug)
		})
		for after, want := range map[uint64]string{
			0: "[{{1 aaa} 0} {{2 bbb} 0}]", 1: "[{{1 aaa} 1} {{2 bbb} 1}]", 2: "[{{1 aaa} 2} {{2 bbb} 1}]", 3: "[{{2 bbb} 1} {{1 aaa} -1}]",
			4: "[{{1 aaa} -1}]", 5: "[]",
		} {
			list, more, err := s.ChangesAfter(ctx, after, 10)
			testkit.Must(t, err)
			if got := fmt.Sprint(list); got != want || more {
				t.Errorf("after %d: %s (more: %v), want %s", after, got, more, want)
			}
		}
		for limit, want := range map[int]bool{5: true, 6: false} {
			if _, more, err := s.ChangesAfter(ctx, 0, limit); err != nil || more != want {
				t.Errorf("limit %d: more is %v, %v", limit, more, err)
			}
		}
		n, err := s.TrimChanges(ctx, 3)
		testkit.Must(t, err)
		if oldest, err = s.OldestChange(ctx); err != nil || n != 4 || oldest != 4 {
			t.Errorf("trimmed %d, oldest %d, %v", n, oldest, err)
		}
		_, err = s.TrimChanges(ctx, 1000)
		testkit.Must(t, err)
		if oldest, err = s.OldestChange(ctx); err != nil || oldest == 0 {
			t.Errorf("the newest change is not in the log: oldest %d, %v", oldest, err)
		}
	})
}

// Concurrent transactions that touch links get distinct revisions in commit order. Each entry contains the link's
// actual previous revision.
func TestTouch_revisions_are_dense(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := newURL(addUser(t, s, "ann@example.com", "USER"), "aaa")
		addURLs(t, s, u)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 5 {
					if err := s.Tx(ctx, func(tx *store.Tx) error { return tx.Touch(ctx, u.Num, u.Slug) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		rows, err := s.Query(ctx, `SELECT revision, was FROM link_changes ORDER BY revision`)
		testkit.Must(t, err)
		defer rows.Close()
		n := int64(0)
		for rows.Next() {
			var rev, was int64
			testkit.Must(t, rows.Scan(&rev, &was))
			if n++; rev != n || was != n-1 {
				t.Errorf("entry %d has revision %d and was %d", n, rev, was)
			}
		}
		testkit.Must(t, rows.Err())
		if n != 30 || s.KnownRevision() != 30 {
			t.Errorf("%d entries, known revision %d", n, s.KnownRevision())
		}
	})
}

func TestWaitRevision(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		u := newURL(addUser(t, s, "ann@example.com", "USER"), "aaa")
		addURLs(t, s, u)
		got := make(chan uint64)
		go func() {
			rev, err := s.WaitRevision(ctx, 0)
			if err != nil {
				t.Error(err)
			}
			got <- rev
		}()
		touch(t, s, u)
		testkit.Equal(t, <-got, 1, "the revision that woke it")
		short, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.WaitRevision(short, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("gave up with %v", err)
		}
	})
}

// View reads one consistent snapshot, whatever is committed meanwhile.
func TestView(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann := addUser(t, s, "ann@example.com", "USER")
		addURLs(t, s, newURL(ann, "aaa"))
		testkit.Must(t, s.View(ctx, func(c store.Conn) error {
			before, err := c.FullLinksAfter(ctx, 0, 10)
			if err != nil {
				return err
			}
			addURLs(t, s, newURL(ann, "bbb"))
			after, err := c.FullLinksAfter(ctx, 0, 10)
			if err == nil && (len(before) != 1 || len(after) != 1) {
				err = fmt.Errorf("%d links, then %d", len(before), len(after))
			}
			return err
		}))
		if list, err := s.FullLinksAfter(ctx, 0, 10); err != nil || len(list) != 2 {
			t.Errorf("%d links afterwards, %v", len(list), err)
		}
	})
}

func TestLinks_are_whole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "USER"), addUser(t, s, "bob@example.com", "USER")
		a, b, c := newURL(ann, "aaa"), newURL(bob, "bbb"), newURL(ann, "ccc")
		addURLs(t, s, a, b, c)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			var errs []error
			for i, u := range []*store.Link{a, c} {
				for j, v := range []store.Variant{{Weight: 1, Active: true}, {Weight: 0, Active: true}, {Weight: 5},
					{Weight: 2, Active: true}} {
					v.ID, v.URLID, v.Name, v.TargetURL, v.CreatedAt = store.NewID(), u.ID, "v", "https://v.example", int64(j)
					errs = append(errs, tx.InsertVariant(ctx, &v))
				}
				for j, r := range []store.Rule{{Name: "low", Active: true}, {Name: "off", Priority: 9},
					{Name: "high", Priority: 5 + i, Active: true}} {
					r.ID, r.URLID, r.TargetURL, r.Conditions, r.CreatedAt = store.NewID(), u.ID, "https://r.example", "{}", int64(j)
					errs = append(errs, tx.InsertRule(ctx, &r))
				}
			}
			return errors.Join(errs...)
		})
		whole := func(l store.Link) string {
			out := fmt.Sprintf("%s/%d", l.Slug, l.Workspace)
			for _, r := range l.Rules {
				out += " " + r.Name
			}
			for _, v := range l.Variants {
				out += fmt.Sprint(" ", v.Weight)
			}
			return out
		}
		rich := func(u *store.Link) string { return fmt.Sprintf("%s/%d high low 1 2", u.Slug, ann.Num) }
		bare := fmt.Sprintf("bbb/%d", bob.Num)
		check := func(name string, list []store.Link, err error, want ...string) {
			t.Helper()
			testkit.Must(t, err)
			var got []string
			for _, l := range list {
				got = append(got, whole(l))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		list, err := s.FullLinksAfter(ctx, 0, 10)
		check("all", list, err, rich(a), bare, rich(c))
		list, err = s.FullLinksAfter(ctx, a.Num, 1)
		check("a page", list, err, bare)
		list, err = s.FullLinksAfter(ctx, c.Num, 1)
		check("past the end", list, err)
		list, err = s.FullLinks(ctx, []uint64{c.Num, 99, a.Num})
		check("by number", list, err, rich(a), rich(c))
		one, err := s.FullLink(ctx, c.ID)
		check("by id", []store.Link{one}, err, rich(c))
		if _, err := s.FullLink(ctx, "unknown"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
		seen := map[string]uint64{}
		touch(t, s, b)
		testkit.Must(t, s.EachRevision(ctx, func(ref store.LinkRef, rev uint64) { seen[ref.Key] = rev }))
		testkit.Equal(t, fmt.Sprint(seen), "map[aaa:0 bbb:1 ccc:0]", "revisions")
	})
}

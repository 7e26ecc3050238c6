package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Lists from memory show every change at once, whatever has made it, also if a program does not know that columns are kept
// in memory.
func TestLinks_from_memory_follow_every_change(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann, bob := newUser(t, s, "ann"), newUser(t, s, "bob")
		r := rand.New(rand.NewPCG(5, 6))
		text := func() string {
			return []string{"", "Alpha", "alpha", "Beta", "é", "newsletter one", "newsletter two"}[r.IntN(7)]
		}
		at := func() int64 { return []int64{0, 5, 10, 15}[r.IntN(4)] }
		var links []*store.Link
		change := func(l *store.Link) {
			l.Title, l.UTM.Campaign, l.OriginalURL = text(), text(), "https://example.com/"+text()
			l.Active, l.ExpiresAt, l.StartsAt, l.ExhaustedAt, l.SuspendedAt, l.UpdatedAt = r.IntN(3) > 0, at(), at(), int64(r.IntN(2)),
				int64(r.IntN(2)), r.Int64N(20)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertBundle(ctx, &store.Bundle{ID: "b", UserID: "ann", Workspace: ann.Num, Name: "B", Color: "#000", Icon: "x"})
		})
		testkit.Must(t, s.KeepColumns())
		filters := []func(*store.LinkFilter){
			func(*store.LinkFilter) {},
			func(f *store.LinkFilter) { f.Workspace = []uint64{ann.Num, bob.Num}[r.IntN(2)] },
			func(f *store.LinkFilter) { f.Tags = append(f.Tags, "one") },
			func(f *store.LinkFilter) { f.Tags = append(f.Tags, "Two") },
			func(f *store.LinkFilter) { f.Bundle = "b" },
			func(f *store.LinkFilter) { f.Domains = [][]uint64{{0}, {40}, {40, 50}, {0, 50}}[r.IntN(4)] },
			func(f *store.LinkFilter) { f.CreatedBy = "bob" },
			func(f *store.LinkFilter) { f.Campaign = text() },
			func(f *store.LinkFilter) { f.CreatedFrom, f.CreatedBefore = int64(r.IntN(40)), int64(r.IntN(80)) },
			func(f *store.LinkFilter) { f.Search = []string{"alpha", "e", "é", "newsletter"}[r.IntN(4)] },
			func(f *store.LinkFilter) { f.Status = store.LinkStatuses[r.IntN(len(store.LinkStatuses))] },
		}
		sorts := []string{"", "updatedAt", "clickCount", "title", "expiresAt", "slug"}
		for round := range 80 {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				if round%4 == 0 {
					var made []*store.Link
					for i := range 8 {
						u := []store.User{ann, bob}[i%2]
						l := &store.Link{ID: store.NewID(), UserID: u.ID, Workspace: u.Num, Domain: []uint64{0, 0, 40, 50}[r.IntN(4)],
							Slug: fmt.Sprintf("%c%d-%d", "aAbB"[i%4], i, round), CreatedAt: int64(round)}
						change(l)
						made = append(made, l)
					}
					links = append(links, made...)
					return tx.InsertLinks(ctx, made)
				}
				l := links[r.IntN(len(links))]
				switch r.IntN(8) {
				case 0, 1:
					change(l)
					return tx.UpdateLink(ctx, l)
				case 2:
					return tx.SetClickCounts(ctx, []store.Counted{{Num: l.Num, Count: r.Int64N(5)}}, store.Raise)
				case 3:
					return tx.SetTags(ctx, l.Workspace, map[uint64][]string{l.Num: [][]string{{"one"}, {"one", "two"}, nil}[r.IntN(3)]})
				case 4:
					_, err := tx.AddToBundle(ctx, "b", []string{l.ID})
					return err
				case 5:
					_, err := tx.RemoveFromBundle(ctx, "b", l.ID)
					return err
				case 6:
					l.Workspace = []uint64{ann.Num, bob.Num}[r.IntN(2)]
					return tx.MoveLinks(ctx, []uint64{l.Num}, l.Workspace, int64(round)) // leaves the bundle's row alone
				}
				i := r.IntN(len(links))
				err := tx.DeleteLinks(ctx, []string{links[i].ID})
				links = append(links[:i], links[i+1:]...)
				return err
			})
			for range 6 {
				f := store.LinkFilter{Now: 12, SortBy: sorts[r.IntN(len(sorts))], Ascending: r.IntN(2) == 0}
				filters[r.IntN(len(filters))](&f)
				filters[r.IntN(len(filters))](&f)
				compare(t, s, fmt.Sprintf("round %d, %+v", round, f), f, r)
			}
			if round%10 == 9 { // entries that were read may go
				testkit.Must(t, s.TrimJournal(t.Context(), 1<<62))
			}
		}
		if !s.ColumnsKept() {
			t.Error("lists were not answered from memory")
		}
	})
}

// A list shows what another program has committed, also if a transaction that began earlier commits later.
func TestLinks_from_memory_with_another_control_plane(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 4})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	ours, other := open(), open()
	ann := newUser(t, ours, "ann")
	testkit.Must(t, ours.KeepColumns())
	count := func() int {
		t.Helper()
		list, _, _, err := ours.Links(t.Context(), store.LinkFilter{CreatedBy: "ann", Limit: 10})
		testkit.Must(t, err)
		return len(list)
	}
	insert := func(ctx context.Context, tx *store.Tx, slug string) error {
		return tx.InsertLinks(ctx, []*store.Link{{ID: slug, UserID: "ann", Workspace: ann.Num, Slug: slug}})
	}
	inTx(t, other, func(ctx context.Context, early *store.Tx) error {
		if err := insert(ctx, early, "early"); err != nil {
			return err
		}
		for i, slug := range []string{"late", "later"} {
			inTx(t, other, func(ctx context.Context, tx *store.Tx) error { return insert(ctx, tx, slug) })
			testkit.Equal(t, count(), i+1, "links after %q was committed", slug)
		}
		// The place of the early transaction is kept while it runs.
		p, err := other.JournalEnd(ctx)
		if err != nil {
			return err
		}
		return other.TrimJournal(ctx, p)
	})
	testkit.Equal(t, count(), 3, "links after the early transaction was committed")
	if !ours.ColumnsKept() {
		t.Error("lists were not answered from memory")
	}
}

package limits_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/limits"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fleet is a database that two replicas share.
type fleet struct {
	*testing.T
	store    *store.Store
	replicas [2]*limits.Ledger
	owner    store.User
}

func each(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := &fleet{T: t, store: s}
		for i := range f.replicas {
			f.replicas[i] = limits.New(limits.Config{Logger: slog.New(slog.DiscardHandler)}, s)
		}
		test(f)
	})
}

// link inserts a link with a limit since the time 5, of which base clicks were counted before.
func (f *fleet) link(slug string, clicks, base int64) *store.Link {
	f.Helper()
	l := &store.Link{
		ID: store.NewID(), Slug: slug, OriginalURL: "https://example.com/", Active: true,
		MaxClicks: clicks, LimitSince: 5, LimitBase: base, CreatedAt: 1, UpdatedAt: 1,
	}
	err := f.store.Tx(f.Context(), func(tx *store.Tx) error {
		if f.owner.ID == "" {
			f.owner = store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", CreatedAt: 1, UpdatedAt: 1}
			num, err := tx.InsertUser(f.Context(), f.owner)
			if err != nil {
				return err
			}
			f.owner.Num = num
		}
		l.UserID, l.Workspace = f.owner.ID, f.owner.Num
		return tx.InsertLinks(f.Context(), []*store.Link{l})
	})
	testkit.Must(f, err)
	return l
}

func (f *fleet) share(replica int, r limit.Report) limit.Answer {
	f.Helper()
	r.Edge = "e"
	testkit.Must(f, r.Validate())
	a, err := f.replicas[replica].ShareCounts(f.Context(), r)
	testkit.Must(f, err)
	if !a.Valid() {
		f.Fatalf("answer %+v is not valid", a)
	}
	return a
}

func count(l *store.Link, counter, clicks uint64) limit.Count {
	return limit.Count{Key: limit.Key{Link: l.Num, Since: l.LimitSince}, Counter: counter, Clicks: clicks}
}

func (f *fleet) exhausted(l *store.Link) bool {
	f.Helper()
	got, err := f.store.LinkByID(f.Context(), l.ID)
	testkit.Must(f, err)
	return got.Status(store.Now()) == store.StatusExhausted
}

func want(t *testing.T, a limit.Answer, totals ...uint64) {
	t.Helper()
	var got []uint64
	for _, total := range a.Totals {
		got = append(got, total.Clicks)
	}
	if fmt.Sprint(got) != fmt.Sprint(totals) {
		t.Errorf("totals %v, want %v", got, totals)
	}
}

func TestLedger_adds_up_the_highest_counts(t *testing.T) {
	each(t, func(f *fleet) {
		l := f.link("one", 100, 0)
		const huge = 1<<64 - 1
		a := f.share(0, limit.Report{Counts: []limit.Count{count(l, 1, 10)}})
		want(f.T, a, 10)
		b := f.share(1, limit.Report{Counts: []limit.Count{count(l, huge, 5), count(l, huge, 7)}})
		want(f.T, b, 17)
		want(f.T, f.share(0, limit.Report{After: a.Next}), 17)
		want(f.T, f.share(0, limit.Report{After: b.Next}))
		// Repeated, late and lower counts change nothing.
		c := f.share(0, limit.Report{After: b.Next, Counts: []limit.Count{count(l, 1, 10), count(l, huge, 6)}})
		want(f.T, c)
		want(f.T, f.share(0, limit.Report{After: c.Next, Counts: []limit.Count{count(l, 1, 11)}}), 18)
		// A link that is unknown, and a limit that the link does not have.
		other, old := *l, *l
		other.Num, old.LimitSince = 9999, 4
		want(f.T, f.share(0, limit.Report{Counts: []limit.Count{count(&other, 1, 10), count(&old, 1, 10)}}), 18)
		// The cursor of a database that is gone.
		d := f.share(1, limit.Report{After: 1 << 40})
		if want(f.T, d, 18); d.Next >= 1<<40 {
			f.Errorf("the cursor does not go back: %d", d.Next)
		}
	})
}

func TestLedger_marks_links_as_exhausted(t *testing.T) {
	each(t, func(f *fleet) {
		l, based := f.link("one", 100, 0), f.link("based", 100, 40)
		f.share(0, limit.Report{Counts: []limit.Count{count(l, 1, 60), count(based, 1, 59), count(l, 2, 39)}})
		if f.exhausted(l) || f.exhausted(based) {
			f.Error("a link is exhausted before its limit")
		}
		f.share(1, limit.Report{Counts: []limit.Count{count(l, 2, 40), count(based, 3, 1)}})
		if !f.exhausted(l) || !f.exhausted(based) {
			f.Error("a link is not exhausted at its limit")
		}
	})
}

func TestLedger_many_changes_come_in_parts(t *testing.T) {
	each(t, func(f *fleet) {
		const links = limit.MaxTotals + 100
		var all []*store.Link
		f.link("first", 10, 0)
		err := f.store.Tx(f.Context(), func(tx *store.Tx) error {
			for i := range links {
				all = append(all, &store.Link{
					ID: store.NewID(), UserID: f.owner.ID, Workspace: f.owner.Num, Slug: fmt.Sprint("many", i),
					OriginalURL: "https://example.com/",
					Active:      true, MaxClicks: 10, LimitSince: 5, CreatedAt: 1, UpdatedAt: 1,
				})
			}
			for i := 0; i < links; i += 500 {
				if err := tx.InsertLinks(f.Context(), all[i:min(links, i+500)]); err != nil {
					return err
				}
			}
			return nil
		})
		testkit.Must(f, err)
		for i := 0; i < links; i += limit.MaxCounts {
			var counts []limit.Count
			for _, l := range all[i:min(links, i+limit.MaxCounts)] {
				counts = append(counts, count(l, 1, 3))
			}
			f.share(0, limit.Report{Counts: counts})
		}
		seen, parts := map[uint64]bool{}, 0
		for after := uint64(0); ; parts++ {
			a := f.share(1, limit.Report{After: after})
			for _, total := range a.Totals {
				seen[total.Link] = true
			}
			if len(a.Totals) > limit.MaxTotals || after == a.Next {
				f.Fatalf("%d totals, cursor %d after %d", len(a.Totals), a.Next, after)
			}
			if after = a.Next; !a.More {
				break
			}
		}
		if len(seen) != links || parts == 0 {
			f.Errorf("%d links in %d parts, want %d", len(seen), parts+1, links)
		}
	})
}

func TestLedger_counts_concurrent_reports(t *testing.T) {
	each(t, func(f *fleet) {
		l := f.link("one", 1000, 0)
		var group sync.WaitGroup
		for edge := range uint64(4) {
			group.Go(func() {
				for n := uint64(1); n <= 20; n++ {
					for end := time.Now().Add(20 * time.Second); ; {
						_, err := f.replicas[edge%2].ShareCounts(context.Background(),
							limit.Report{Edge: fmt.Sprint(edge), Counts: []limit.Count{count(l, edge, n)}})
						if err == nil {
							break
						}
						if time.Now().After(end) {
							f.Error(err)
							return
						}
					}
				}
			})
		}
		group.Wait()
		want(f.T, f.share(0, limit.Report{}), 80)
	})
}

func TestLedger_sweep_keeps_counts_of_links(t *testing.T) {
	each(t, func(f *fleet) {
		kept, renewed, deleted := f.link("kept", 10, 0), f.link("renewed", 10, 0), f.link("deleted", 10, 0)
		f.share(0, limit.Report{Counts: []limit.Count{count(kept, 1, 3), count(renewed, 1, 4), count(deleted, 1, 5)}})
		err := f.store.Tx(f.Context(), func(tx *store.Tx) error {
			again := *renewed
			again.LimitSince = 6
			if err := tx.UpdateLink(f.Context(), &again); err != nil {
				return err
			}
			lower := *kept
			lower.MaxClicks = 3
			if err := tx.UpdateLink(f.Context(), &lower); err != nil {
				return err
			}
			return tx.DeleteLinks(f.Context(), []string{deleted.ID})
		})
		testkit.Must(f, err)
		testkit.Must(f, f.replicas[0].Sweep(f.Context()))
		want(f.T, f.share(0, limit.Report{}), 3, 4)
		if !f.exhausted(kept) {
			f.Error("the sweep does not find a limit that is reached")
		}
	})
}

func TestLedger_edges_have_places(t *testing.T) {
	each(t, func(f *fleet) {
		for _, edge := range []string{"a", "c", "d"} {
			err := f.store.Tx(f.Context(), func(tx *store.Tx) error {
				_, _, err := tx.SaveEdgeReport(f.Context(), store.EdgeReport{Edge: edge, Run: "r", Status: "{}", SeenAt: store.Now()}, "",
					0, nil)
				return err
			})
			testkit.Must(f, err)
		}
		for edge, want := range map[string][2]int{"a": {3, 0}, "c": {3, 1}, "d": {3, 2}, "b": {4, 1}, "e": {4, 3}} {
			a, err := f.replicas[0].ShareCounts(f.Context(), limit.Report{Edge: edge})
			if err != nil || [2]int{a.Edges, a.Rank} != want {
				f.Errorf("edge %s: %d edges, place %d, %v; want %v", edge, a.Edges, a.Rank, err, want)
			}
		}
	})
}

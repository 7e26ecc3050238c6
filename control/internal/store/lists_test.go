package store_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// expected computes a list by one plain statement and Link.Status.
func expected(t *testing.T, s *store.Store, f store.LinkFilter) (nums []uint64) {
	t.Helper()
	where, args := `1 = 1`, []any{}
	if f.Workspace != 0 {
		where, args = `workspace_num = ?`, append(args, f.Workspace)
	}
	for _, tag := range f.Tags {
		where, args = where+` AND num IN (SELECT url_num FROM url_tags m JOIN tags t ON t.num = m.tag_num WHERE t.name_key = ?)`,
			append(args, store.TagKey(tag))
	}
	if f.Bundle != "" {
		where, args = where+` AND id IN (SELECT url_id FROM bundle_urls WHERE bundle_id = ?)`, append(args, f.Bundle)
	}
	if len(f.Domains) > 0 {
		where, args = where+` AND coalesce(domain_num, 0) IN (`+store.In(len(f.Domains))+`)`, append(args, store.Args(f.Domains)...)
	}
	for column, v := range map[string]string{"user_id": f.CreatedBy, "utm_campaign": f.Campaign} {
		if v != "" {
			where, args = where+` AND `+column+` = ?`, append(args, v)
		}
	}
	if f.CreatedFrom != 0 {
		where, args = where+` AND created_at >= ?`, append(args, f.CreatedFrom)
	}
	if f.CreatedBefore != 0 {
		where, args = where+` AND created_at < ?`, append(args, f.CreatedBefore)
	}
	if f.Search != "" {
		where, args = where+` AND search_text LIKE ?`, append(args, "%"+f.Search+"%")
	}
	column, dir, nulls := cmp.Or(store.LinkSorts[f.SortBy], "created_at"), "DESC", "FIRST"
	if f.Ascending {
		dir, nulls = "ASC", "LAST"
	}
	list, err := store.All(t.Context(), s.Conn, func(row interface{ Scan(...any) error }) (l store.Link, err error) {
		return l, row.Scan(&l.Num, &l.Active, &l.ExpiresAt, &l.StartsAt, &l.ExhaustedAt, &l.SuspendedAt)
	}, fmt.Sprintf(`SELECT num, active, coalesce(expires_at, 0), coalesce(starts_at, 0), coalesce(exhausted_at, 0), coalesce(suspended_at,
		0) FROM urls
		WHERE %s ORDER BY %s %s NULLS %s, num %s`, where, column, dir, nulls, dir), args...)
	testkit.Must(t, err)
	for _, l := range list {
		if f.Status == "" || l.Status(f.Now) == f.Status {
			nums = append(nums, l.Num)
		}
	}
	return nums
}

// With enough links to need every way of reading a list, each way returns what a plain statement returns.
func TestLinks_of_any_two_filters(t *testing.T) {
	t.Parallel()
	storetest.EachOwner(t, func(t *testing.T, s *store.Store) { // PostgreSQL's ANALYZE needs the owner
		ann := metropolis(t, s, 40_000)
		r := rand.New(rand.NewPCG(1, 2))
		all, large := 0, 0
		some := func(one int, check func(name string, f store.LinkFilter)) {
			for _, workspace := range []uint64{ann, 0} {
				cityPairs(workspace, func(name string, f store.LinkFilter) {
					if r.IntN(one) == 0 {
						all++
						check(fmt.Sprintf("%s in %d", name, workspace), f)
					}
				})
			}
		}
		check := func(name string, f store.LinkFilter) {
			if compare(t, s, name, f, r) > store.MaxTotal {
				large++
			}
		}
		some(testkit.Size(120, 40), check)
		if large == 0 || large == all {
			t.Errorf("%d of %d lists are long", large, all)
		}
		testkit.Must(t, s.KeepColumns())
		some(testkit.Size(75, 25), check)
		for _, search := range []string{"e", "zq", "7", "summer sale 77", "/page-99?ref=", "no such thing"} {
			check("search "+search, store.LinkFilter{Search: search, SortBy: "title", Ascending: true})
		}
		check("everything", store.LinkFilter{Workspace: ann})
		if !s.ColumnsKept() {
			t.Error("lists were not answered from memory")
		}
	})
}

// compare reads a random page of a list and compares it with what a plain statement returns. It returns the length of the
// list.
func compare(t *testing.T, s *store.Store, name string, f store.LinkFilter, r *rand.Rand) int {
	t.Helper()
	want := expected(t, s, f)
	f.Offset, f.Limit = r.IntN(min(len(want), 12_000)+1), 1+r.IntN(30)
	list, total, exact, err := s.Links(t.Context(), f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if total != min(len(want), store.MaxTotal) || exact != (len(want) <= store.MaxTotal) {
		t.Errorf("%s: total %d, exact %v, want %d", name, total, exact, len(want))
	}
	var got []uint64
	for _, l := range list {
		got = append(got, l.Num)
	}
	if page := want[min(f.Offset, len(want)):min(f.Offset+f.Limit, len(want))]; !slices.Equal(got, page) {
		t.Fatalf("%s from %d: %d, want %d", name, f.Offset, got, page)
	}
	return len(want)
}

// The kept figures equal a count of the links, whatever changes the links.
func TestKept_figures_equal_a_count(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const hour = 3_600_000
		ann, bob := newUser(t, s, "ann"), newUser(t, s, "bob")
		r := rand.New(rand.NewPCG(3, 4))
		now := int64(100*hour + hour/2)
		at := func() int64 {
			return []int64{0, now, now + 1, now - 1, now + hour, now - hour, 98 * hour, 105*hour + 3}[r.IntN(8)]
		}
		text := func() string { return []string{"", "a", "B", "é"}[r.IntN(4)] }
		var links []*store.Link
		for round := range 60 {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				if round%3 == 0 {
					var made []*store.Link
					for i := range 10 {
						u := ann
						if i%2 == 0 {
							u = bob
						}
						made = append(made, &store.Link{ID: store.NewID(), UserID: u.ID, Workspace: u.Num,
							Slug:   fmt.Sprintf("s%d-%d", round, i),
							Active: r.IntN(2) == 0, ExpiresAt: at(), StartsAt: at()})
						made[i].UTM.Source, made[i].UTM.SourcePlatform = text(), text()
					}
					links = append(links, made...)
					if err := tx.InsertLinks(ctx, made); err != nil {
						return err
					}
				}
				for range 5 {
					l := links[r.IntN(len(links))]
					l.Active, l.ExpiresAt, l.StartsAt, l.ExhaustedAt, l.SuspendedAt = r.IntN(2) == 0, at(), at(), int64(r.IntN(2)),
						int64(r.IntN(2))
					l.UTM.Source, l.UTM.Campaign = text(), text()
					if err := tx.UpdateLink(ctx, l); err != nil {
						return err
					}
				}
				var counted []store.Counted
				for range 5 {
					counted = append(counted, store.Counted{Num: links[r.IntN(len(links))].Num, Count: r.Int64N(100)})
				}
				if err := tx.SetClickCounts(ctx, counted, store.Raise); err != nil {
					return err
				}
				if err := tx.MoveLinks(ctx, []uint64{links[r.IntN(len(links))].Num}, []uint64{ann.Num, bob.Num}[r.IntN(2)],
					now); err != nil {
					return err
				}
				gone := r.IntN(len(links))
				err := tx.DeleteLinks(ctx, []string{links[gone].ID})
				links = slices.Delete(links, gone, gone+1)
				return err
			})
			if round%10 == 9 {
				testkit.Must(t, s.FoldCounts(t.Context()))
			}
			for _, workspace := range []uint64{0, ann.Num, bob.Num} {
				var want store.LinkStats
				values := map[string]int{}
				testkit.Must(t, s.EachLink(t.Context(), store.LinkFilter{Workspace: workspace}, func(part []store.Link) error {
					for i := range part {
						l := &part[i]
						want.Total++
						want.Clicks += l.ClickCount
						*map[string]*int{store.StatusActive: &want.Active, store.StatusInactive: &want.Inactive,
							store.StatusExpired:   &want.Expired,
							store.StatusScheduled: &want.Scheduled,
							store.StatusExhausted: &want.Exhausted, store.StatusSuspended: &want.Suspended}[l.Status(now)]++
						values[l.UTM.Source]++
					}
					return nil
				}))
				delete(values, "")
				got, err := s.LinkStats(t.Context(), workspace, now)
				testkit.Must(t, err)
				if got != want {
					t.Fatalf("round %d, workspace %d: %+v, want %+v", round, workspace, got, want)
				}
				list, err := s.UTMValues(t.Context(), workspace, "utmSource", "", 20)
				testkit.Must(t, err)
				for _, v := range list {
					if values[v.Value] != v.Count {
						t.Fatalf("round %d, workspace %d: %q is on %d links, want %d", round, workspace, v.Value, v.Count, values[v.Value])
					}
				}
				if len(list) != len(values) {
					t.Fatalf("round %d: %v, want %v", round, list, values)
				}
			}
		}
	})
}

// newUser creates a user. Num is also the number of the personal workspace.
func newUser(t *testing.T, s *store.Store, name string) (u store.User) {
	t.Helper()
	u = store.User{ID: name, Email: name, Role: "USER", Active: true}
	inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(ctx, u)
		return err
	})
	return u
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// newURL returns a link that can be inserted.
func newURL(owner store.User, slug string) *store.Link {
	return &store.Link{ID: store.NewID(), UserID: owner.ID, Workspace: owner.Num, Slug: slug, OriginalURL: "https://example.com/" + slug,
		Active: true, CreatedAt: 1000, UpdatedAt: 1000}
}

func addURLs(t *testing.T, s *store.Store, urls ...*store.Link) {
	t.Helper()
	inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertLinks(ctx, urls) })
}

func slugsOf(list []store.Link) string {
	var out []string
	for _, u := range list {
		out = append(out, u.Slug)
	}
	return strings.Join(out, " ")
}

func TestURLs_keep_every_field(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann := addUser(t, s, "ann@example.com", "USER")
		bare := newURL(ann, "bare")
		full := &store.Link{
			ID: store.NewID(), UserID: ann.ID, Workspace: ann.Num, Domain: 100, Slug: "full", OriginalURL: "https://example.com/?a=b",
			PasswordHash: "hash", StartsAt: 98, ExpiresAt: 99,
			RedirectCode: 308, MaxClicks: 7, LimitSince: 3, LimitBase: 2, ExhaustedAt: 4, SuspendedAt: 8, SuspendReason: "why",
			Active: true, ABTesting: true, SmartRouting: true, CreatedAt: 5, UpdatedAt: 6,
		}
		for _, f := range store.LinkTexts {
			*f.Text(full) = "Tëxt of " + f.Name
		}
		addURLs(t, s, bare, full)
		if bare.Num == 0 || full.Num <= bare.Num {
			t.Fatalf("numbers %d, %d", bare.Num, full.Num)
		}
		for _, want := range []*store.Link{bare, full} {
			got, err := s.LinkByID(ctx, want.ID)
			testkit.Must(t, err)
			if !reflect.DeepEqual(got, *want) {
				t.Errorf("read %+v, wrote %+v", got, *want)
			}
			got, err = s.LinkBySlug(ctx, want.Domain, want.Slug)
			testkit.Must(t, err)
			if got.ID != want.ID {
				t.Errorf("by slug: %+v", got)
			}
		}
		if _, err := s.LinkBySlug(ctx, 0, "BARE"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("slugs tell case apart: %v", err)
		}

		// Every field that can be changed, set and cleared.
		changed := *full
		changed.ID, changed.Num, changed.Domain, changed.Slug = bare.ID, bare.Num, bare.Domain, bare.Slug
		changed.CreatedAt, changed.ExternalID = bare.CreatedAt, "of another link"
		emptied := *bare
		emptied.ID, emptied.Num, emptied.Domain, emptied.Slug, emptied.CreatedAt, emptied.Active = full.ID, full.Num,
			full.Domain, full.Slug,
			full.CreatedAt, false
		for _, want := range []store.Link{changed, emptied} {
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateLink(ctx, &want) })
			got, err := s.LinkByID(ctx, want.ID)
			testkit.Must(t, err)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, wrote %+v", got, want)
			}
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.DeleteLinks(ctx, []string{bare.ID, "unknown"})
		})
		if _, err := s.LinkByID(ctx, bare.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a deleted link: %v", err)
		}
	})
}

func TestInsertLinks_leaves_out_taken_slugs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann := addUser(t, s, "ann@example.com", "USER")
		addURLs(t, s, newURL(ann, "taken"))
		var urls []*store.Link
		for i := range 1200 { // more than one statement inserts
			urls = append(urls, newURL(ann, fmt.Sprintf("s%d", i)))
		}
		urls[3].Slug, urls[1100].Slug, urls[700].Slug, urls[701].Slug = "taken", "s0", "same", "same"
		addURLs(t, s, urls...)
		for i, u := range urls {
			if (u.Num == 0) != (i == 3 || i == 1100 || i == 701) {
				t.Errorf("%d %s has number %d", i, u.Slug, u.Num)
			}
		}
	})
}

func TestLockLinks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann := addUser(t, s, "ann@example.com", "USER")
		a, b := newURL(ann, "aaa"), newURL(ann, "bbb")
		addURLs(t, s, a, b)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			list, err := tx.LockLinks(ctx, []string{b.ID, "unknown", a.ID, b.ID})
			if err == nil && slugsOf(list) != "aaa bbb" {
				err = fmt.Errorf("locked %s", slugsOf(list))
			}
			if none, err := tx.LockLinks(ctx, nil); err != nil || len(none) != 0 {
				return fmt.Errorf("locking nothing: %v, %v", none, err)
			}
			return err
		})
		err := s.Tx(t.Context(), func(tx *store.Tx) error { _, err := tx.LockLink(t.Context(), "unknown"); return err })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an unknown link: %v", err)
		}
	})
}

func TestURLs_filters_and_sorts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann, bob := addUser(t, s, "ann@example.com", "USER"), addUser(t, s, "bob@example.com", "USER")
		for i, u := range []store.Link{
			{Slug: "one", Title: "Zebra", ExpiresAt: 500, Active: true}, // expired at 1000
			{Slug: "two", Title: "apple", ExpiresAt: 5000, Active: true, OriginalURL: "https://x.example/50%25_OFF"},
			{Slug: "Three", Active: true, CreatedAt: 1},
			{Slug: "four", Title: "Ärger", Active: false},
			{Slug: "five", Title: "Apple", ExpiresAt: 500, Active: false}, // expired at 1000
		} {
			v := newURL(ann, u.Slug)
			v.Title, v.ExpiresAt, v.Active = u.Title, u.ExpiresAt, u.Active
			v.CreatedAt, v.UpdatedAt = int64(100+i), int64(200-i)
			if u.CreatedAt != 0 {
				v.CreatedAt = u.CreatedAt
			}
			if u.OriginalURL != "" {
				v.OriginalURL = u.OriginalURL
			}
			addURLs(t, s, v)
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE urls SET click_count = ? WHERE id = ?`, (i*3)%5, v.ID) // 0 3 1 4 2
				return err
			})
		}
		addURLs(t, s, newURL(bob, "bobs"))

		f := func(change func(*store.LinkFilter)) store.LinkFilter {
			v := store.LinkFilter{Workspace: ann.Num, Now: 1000, SortBy: "slug", Ascending: true, Limit: 10}
			change(&v)
			return v
		}
		by := func(sort string, ascending bool) func(*store.LinkFilter) {
			return func(v *store.LinkFilter) { v.SortBy, v.Ascending = sort, ascending }
		}
		for name, q := range map[string]struct {
			filter store.LinkFilter
			want   string
		}{
			"all of a user":                         {f(func(*store.LinkFilter) {}), "Three five four one two"},
			"all of everybody":                      {f(func(v *store.LinkFilter) { v.Workspace = 0 }), "Three bobs five four one two"},
			"active":                                {f(func(v *store.LinkFilter) { v.Status = "ACTIVE" }), "Three two"},
			"inactive":                              {f(func(v *store.LinkFilter) { v.Status = "INACTIVE" }), "four"},
			"expired, active or not":                {f(func(v *store.LinkFilter) { v.Status = "EXPIRED" }), "five one"},
			"expiry is at that very millisecond":    {f(func(v *store.LinkFilter) { v.Status, v.Now = "EXPIRED", 500 }), "five one"},
			"not a millisecond before":              {f(func(v *store.LinkFilter) { v.Status, v.Now = "EXPIRED", 499 }), ""},
			"search in titles, any case":            {f(func(v *store.LinkFilter) { v.Search = "APPLE" }), "five two"},
			"search beyond ASCII":                   {f(func(v *store.LinkFilter) { v.Search = "äRG" }), "four"},
			"search in slugs":                       {f(func(v *store.LinkFilter) { v.Search = "thr" }), "Three"},
			"search in destinations":                {f(func(v *store.LinkFilter) { v.Search = "X.EXAMPLE" }), "two"},
			"percent and underscore are themselves": {f(func(v *store.LinkFilter) { v.Search = "%25_off" }), "two"},
			"percent alone":                         {f(func(v *store.LinkFilter) { v.Search = "%" }), "two"},
			"underscore alone":                      {f(func(v *store.LinkFilter) { v.Search = "_" }), "two"},
			"backslash":                             {f(func(v *store.LinkFilter) { v.Search = `\` }), ""},
			"search and status":                     {f(func(v *store.LinkFilter) { v.Search, v.Status = "apple", "ACTIVE" }), "two"},
			"not across fields":                     {f(func(v *store.LinkFilter) { v.Search = "applehttps" }), ""},
			"newest first":                          {f(by("createdAt", false)), "five four two one Three"},
			"no sort means newest":                  {f(by("", false)), "five four two one Three"},
			"updated":                               {f(by("updatedAt", true)), "five four Three two one"},
			"clicks":                                {f(by("clickCount", false)), "four two five Three one"},
			"title, none last":                      {f(by("title", true)), "five one two four Three"},
			"title, none first":                     {f(by("title", false)), "Three four two one five"},
			"expiry, ties by number":                {f(by("expiresAt", true)), "one five two Three four"},
			"expiry, never first":                   {f(by("expiresAt", false)), "four Three two five one"},
			"second page":                           {f(func(v *store.LinkFilter) { v.Offset, v.Limit = 2, 2 }), "four one"},
			"past the end":                          {f(func(v *store.LinkFilter) { v.Offset = 5 }), ""},
			"injection is a name":                   {f(by("slug; DROP TABLE urls", false)), "five four two one Three"},
		} {
			list, total, _, err := s.Links(ctx, q.filter)
			testkit.Must(t, err)
			testkit.Equal(t, slugsOf(list), q.want, "%s", name)
			if paged := q.filter.Offset > 0; !paged && total != len(list) || paged && total != 5 {
				t.Errorf("%s: total %d", name, total)
			}
		}
		st, err := s.LinkStats(ctx, ann.Num, 1000)
		testkit.Must(t, err)
		if st != (store.LinkStats{Total: 5, Active: 2, Inactive: 1, Expired: 2, Clicks: 10}) {
			t.Errorf("%+v", st)
		}
		if st, err = s.LinkStats(ctx, 1<<40, 1000); err != nil || st != (store.LinkStats{}) {
			t.Errorf("of nobody: %+v, %v", st, err)
		}
	})
}

func TestUTMValues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		ann := addUser(t, s, "ann@example.com", "USER")
		var urls []*store.Link
		for i, v := range []string{"news", "news", "News", "neo", "Älter", "", "other", "other", "other"} {
			u := newURL(ann, fmt.Sprintf("slug%d", i))
			u.UTM.Source = v
			urls = append(urls, u)
		}
		addURLs(t, s, urls...)
		for prefix, want := range map[string]string{
			"": "[{other 3} {news 2} {News 1} {neo 1} {Älter 1}]", "NE": "[{news 2} {News 1} {neo 1}]", "ä": "[{Älter 1}]", "%": "[]",
		} {
			list, err := s.UTMValues(ctx, 0, "utmSource", prefix, 20)
			testkit.Must(t, err)
			testkit.Equal(t, fmt.Sprint(list), want, "%q", prefix)
		}
		if list, err := s.UTMValues(ctx, 0, "utmSource", "", 2); err != nil || len(list) != 2 {
			t.Errorf("limit: %v, %v", list, err)
		}
		if _, err := s.UTMValues(ctx, 0, "slug", "", 2); err == nil {
			t.Error("a column that is no campaign field was read")
		}
	})
}

func TestVariants(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := newURL(addUser(t, s, "ann@example.com", "USER"), "aaa")
		addURLs(t, s, u)
		late := store.Variant{ID: store.NewID(), URLID: u.ID, Name: "late", TargetURL: "https://b.example", Weight: 0, Active: true,
			CreatedAt: 2,
			UpdatedAt: 2}
		early := store.Variant{ID: store.NewID(), URLID: u.ID, Name: "early", TargetURL: "https://a.example", Weight: 100, Active: false,
			CreatedAt: 1, UpdatedAt: 1}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.InsertVariant(ctx, &late), tx.InsertVariant(ctx, &early))
		})
		list, err := s.Variants(ctx, u.ID)
		testkit.Must(t, err)
		if !slices.Equal(list, []store.Variant{early, late}) {
			t.Errorf("%+v", list)
		}
		if n, err := s.ActiveVariants(ctx, u.ID); err != nil || n != 1 {
			t.Errorf("%d active, %v", n, err)
		}
		if _, err := s.Variant(ctx, "another", late.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("through another link: %v", err)
		}
		late.Name, late.TargetURL, late.Weight, late.Active, late.UpdatedAt = "x", "https://c.example", 7, false, 9
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateVariant(ctx, &late) })
		if got, err := s.Variant(ctx, u.ID, late.ID); err != nil || got != late {
			t.Errorf("%+v, %v", got, err)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteVariant(ctx, late.ID) })
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLinks(ctx, []string{u.ID}) })
		if list, err := s.Variants(ctx, u.ID); err != nil || len(list) != 0 {
			t.Errorf("a deleted link's: %v, %v", list, err)
		}
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		u := newURL(addUser(t, s, "ann@example.com", "USER"), "aaa")
		addURLs(t, s, u)
		var rules []store.Rule
		for i, r := range []struct{ priority, created int }{{5, 3}, {5, 1}, {9, 7}, {0, 0}} {
			rules = append(rules, store.Rule{ID: fmt.Sprintf("%08d-0000-7000-8000-000000000000", i), URLID: u.ID, Name: fmt.Sprint(i),
				TargetURL: "https://a.example",
				Priority:  r.priority, Active: i != 3, Conditions: `{"x":1}`, CreatedAt: int64(r.created), UpdatedAt: 1})
			inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.InsertRule(ctx, &rules[i]) })
		}
		list, err := s.Rules(ctx, u.ID)
		testkit.Must(t, err)
		if want := []store.Rule{rules[2], rules[1], rules[0], rules[3]}; !slices.Equal(list, want) {
			t.Errorf("order of evaluation: %+v", list)
		}
		if n, err := s.CountRules(ctx, u.ID); err != nil || n != 4 {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := s.Rule(ctx, "another", rules[0].ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("through another link: %v", err)
		}
		r := rules[0]
		r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.UpdatedAt = "x", "https://b.example", 1, false, `{}`, 9
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateRule(ctx, &r) })
		if got, err := s.Rule(ctx, u.ID, r.ID); err != nil || got != r {
			t.Errorf("%+v, %v", got, err)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteRule(ctx, r.ID) })
		if n, _ := s.CountRules(ctx, u.ID); n != 3 {
			t.Errorf("%d left", n)
		}
		inTx(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLinks(ctx, []string{u.ID}) })
		if n, _ := s.CountRules(ctx, u.ID); n != 0 {
			t.Errorf("%d left of a deleted link", n)
		}
	})
}

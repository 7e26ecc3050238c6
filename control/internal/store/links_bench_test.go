package store_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// linksEnv sets the number of links of the owner in BenchmarkURLs; default 100,000.
const linksEnv = "SHORTLINE_LINKS"

// BenchmarkURLs lists, searches and sorts the links of an owner with many links among those of others, and the links
// of all users.
func BenchmarkURLs(b *testing.B) {
	n := 100_000
	if v, err := strconv.Atoi(os.Getenv(linksEnv)); err == nil {
		n = v
	}
	for name, open := range map[string]func(testing.TB) *store.Store{"sqlite": storetest.Open, "postgres": storetest.OpenPostgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b)
			ctx := context.Background()
			ann := crowd(b, s, n)
			first := func(change func(*store.LinkFilter)) store.LinkFilter {
				f := store.LinkFilter{Workspace: ann, Now: 1_000_000, Limit: 10}
				change(&f)
				return f
			}
			for _, q := range []struct {
				name string
				f    store.LinkFilter
			}{
				{"newest", first(func(*store.LinkFilter) {})},
				{"clicks", first(func(f *store.LinkFilter) { f.SortBy = "clickCount" })},
				{"title", first(func(f *store.LinkFilter) { f.SortBy, f.Ascending = "title", true })},
				{"title_desc", first(func(f *store.LinkFilter) { f.SortBy = "title" })},
				{"expiry", first(func(f *store.LinkFilter) { f.SortBy, f.Ascending = "expiresAt", true })},
				{"slug", first(func(f *store.LinkFilter) { f.SortBy = "slug" })},
				{"updated", first(func(f *store.LinkFilter) { f.SortBy = "updatedAt" })},
				{"last_page", first(func(f *store.LinkFilter) { f.Offset = n - 100 })},
				{"active", first(func(f *store.LinkFilter) { f.Status = "ACTIVE" })},
				{"expired", first(func(f *store.LinkFilter) { f.Status = "EXPIRED" })},
				{"search_none", first(func(f *store.LinkFilter) { f.Search = "no such thing" })},
				{"search_few", first(func(f *store.LinkFilter) { f.Search = "page-12345" })},
				{"search_many", first(func(f *store.LinkFilter) { f.Search = "summer sale" })},
				{"search_all", first(func(f *store.LinkFilter) { f.Search = "example" })},
				{"search_two_letters", first(func(f *store.LinkFilter) { f.Search = "zq" })},
				{"search_sorted", first(func(f *store.LinkFilter) { f.Search, f.SortBy = "summer sale", "title" })},
				{"everybody", first(func(f *store.LinkFilter) { f.Workspace = 0 })},
				{"everybody_title", first(func(f *store.LinkFilter) { f.Workspace, f.SortBy = 0, "title" })},
				{"everybody_search", first(func(f *store.LinkFilter) { f.Workspace, f.Search = 0, "summer sale" })},
			} {
				b.Run(q.name, func(b *testing.B) {
					for b.Loop() {
						if _, _, _, err := s.Links(ctx, q.f); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			b.Run("stats", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.LinkStats(ctx, ann, 1_000_000); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("utm_values", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.UTMValues(ctx, 0, "utmSource", "n", 20); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// crowd creates n links of one owner and a fifth as many of others, and returns the number of its workspace.
func crowd(b testing.TB, s *store.Store, n int) (first uint64) {
	b.Helper()
	ctx := context.Background()
	err := s.Tx(ctx, func(tx *store.Tx) error {
		for i := range 11 {
			num, err := tx.InsertUser(ctx, store.User{ID: fmt.Sprintf("user%d", i), Email: fmt.Sprint(i), Role: "USER", Active: true})
			if err != nil {
				return err
			}
			if i == 0 {
				first = num
			}
		}
		return nil
	})
	testkit.Must(b, err)
	words := []string{"spring launch", "summer sale", "newsletter", "docs", "job advert"}
	for i := 0; i < n+n/5; i += 4000 {
		var urls []*store.Link
		for j := i; j < i+4000; j++ {
			u := &store.Link{ID: store.NewID(), Slug: fmt.Sprintf("s%07d", j*7919%(20*n)),
				OriginalURL: fmt.Sprintf("https://www.example.com/campaigns/%d/page-%d?ref=%x", j%97, j, j*31),
				Active:      j%10 != 3, CreatedAt: int64(j), UpdatedAt: int64(j * 13 % n), UserID: "user0"}
			if j%6 == 5 {
				u.UserID = fmt.Sprintf("user%d", 1+j%10)
			}
			if j%5 != 0 {
				u.Title = fmt.Sprintf("%s %d", words[j/3%len(words)], j*17%n)
			}
			if j%4 == 0 {
				u.ExpiresAt = int64(j * 11 % 2_000_000)
			}
			u.UTM.Source = []string{"", "newsletter", "twitter", fmt.Sprint("partner-", j%1000)}[j%4]
			urls = append(urls, u)
		}
		err := s.Tx(ctx, func(tx *store.Tx) error { return tx.InsertLinks(ctx, urls) })
		testkit.Must(b, err)
	}
	if s.Shared() {
		testkit.Must(b, s.Tx(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, `ANALYZE urls`); return err }))
	}
	return first
}

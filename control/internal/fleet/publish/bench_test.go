package publish_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/snapshot"
)

// crowd fills a store with links like real ones, a twentieth of them with a rule.
func crowd(b *testing.B, s *store.Store, n int) {
	b.Helper()
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	fail(s.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.InsertUser(ctx, store.User{ID: "user", Email: "a", Role: "USER", Active: true})
		return err
	}))
	for i := 0; i < n; i += 5000 {
		fail(s.Tx(ctx, func(tx *store.Tx) error {
			var urls []*store.Link
			for j := i; j < i+5000; j++ {
				urls = append(urls, &store.Link{ID: store.NewID(), UserID: "user", Slug: fmt.Sprintf("s%07d", j*7919%(20*n)), Active: true, SmartRouting: j%20 == 0,
					OriginalURL: fmt.Sprintf("https://www.example.com/campaigns/%d/page-%x?ref=%x&utm_content=mail", j%97, j*2654435761, j*31), Title: fmt.Sprint("Campaign ", j%100)})
			}
			if err := tx.InsertLinks(ctx, urls); err != nil {
				return err
			}
			var refs []store.LinkRef
			for j, u := range urls {
				refs = append(refs, store.LinkRef{Num: u.Num, Key: u.Slug})
				if j%20 == 0 {
					r := store.Rule{ID: store.NewID(), URLID: u.ID, Name: "r", TargetURL: "https://r.example", Active: true,
						Conditions: `{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`}
					if err := tx.InsertRule(ctx, &r); err != nil {
						return err
					}
				}
			}
			return tx.TouchAll(ctx, refs)
		}))
	}
}

// BenchmarkPublish builds a full document of 100,000 links, and tells an edge of one change among them.
func BenchmarkPublish(b *testing.B) {
	const n = 100_000
	for name, open := range map[string]func(testing.TB) *store.Store{"sqlite": storetest.Open, "postgres": storetest.OpenPostgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b)
			ctx := context.Background()
			crowd(b, s, n)
			b.Run("full", func(b *testing.B) {
				for b.Loop() {
					r, err := publish.New(s, publish.Config{}).Snapshot(ctx)
					if err != nil {
						b.Fatal(err)
					}
					size, err := io.Copy(io.Discard, r)
					if err != nil {
						b.Fatal(err)
					}
					r.Close()
					b.ReportMetric(float64(size)/n, "B/link")
				}
			})
			b.Run("change", func(b *testing.B) {
				p := publish.New(s, publish.Config{})
				r, err := p.Snapshot(ctx)
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				incarnation, rev, err := s.Head(ctx)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := s.Tx(ctx, func(tx *store.Tx) error { return tx.Touch(ctx, 7, "s0055433") }); err != nil {
						b.Fatal(err)
					}
					wire, err := p.Changes(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: rev})
					if err != nil || wire == nil {
						b.Fatal(err)
					}
					rev++
				}
			})
		})
	}
}

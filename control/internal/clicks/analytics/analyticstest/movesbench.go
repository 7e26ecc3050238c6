package analyticstest

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Moved measures an overview's questions about an owner: without moves, and after a million links have moved, half of
// them to the owner and half from it. The store has clicks of Clicks, and the moved links include theirs.
func Moved(b *testing.B, s analytics.Store) {
	const links = 1_000_000
	list := make([]analytics.Move, links)
	for i := range list {
		list[i] = analytics.Move{Revision: 5, Link: uint64(i + 1), From: 2, To: 3}
		if i%2 == 0 {
			list[i].From, list[i].To = 3, 2
		}
	}
	start := time.Now()
	for i := 0; i < links; i += 50_000 {
		to := analytics.Position{Revision: 5, Link: list[i+49_999].Link}
		if i+50_000 == links {
			to.Link = analytics.AllLinks
		}
		testkit.Must(b, s.InsertMoves(ctx(), 77, list[i:i+50_000], to))
	}
	b.Logf("a million moves are copied in %v", time.Since(start))
	dims := []analytics.Dimension{analytics.Country, analytics.City, analytics.Browser, analytics.Referer}
	for _, m := range []struct {
		name  string
		scope analytics.Scope
	}{
		{"none", analytics.Scope{Owner: 2}}, {"others", analytics.Scope{Owner: 1, Moves: analytics.Moves{Log: 77, Through: 5}}},
		{"million", analytics.Scope{Owner: 2, Moves: analytics.Moves{Log: 77, Through: 5}}},
	} {
		b.Run("moves="+m.name, func(b *testing.B) {
			for b.Loop() {
				for _, q := range []analytics.Query{{Every: analytics.Days, Visitors: true}, {Visitors: true},
					{ByLink: true, TopFirst: true, Limit: 40}} {
					q.Scope = m.scope
					if _, err := s.Lines(ctx(), q); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.Breakdown(ctx(), m.scope, dims, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("position", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.MovesPosition(ctx(), 77); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package api_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// While a key is in use, it is rotated and deleted by concurrent requests. Exactly one request wins each time, and after
// its response the old secret is not accepted once.
func TestKeys_races(t *testing.T) {
	eachWith(t, manyKeys(0), func(t *testing.T, w *world) {
		key, id := w.makeKey(w.ann, "")
		for round := range 4 {
			var replaced atomic.Bool
			var uses atomic.Int64
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for range 3 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						was := replaced.Load()
						got := w.do("GET", "/api/auth/me", "", key)
						uses.Add(1)
						if got.StatusCode != 200 && got.StatusCode != 401 || was && got.StatusCode != 401 {
							t.Errorf("a use of the old secret, replaced: %v: %d %s", was, got.StatusCode, got.text)
						}
					}
				})
			}
			var mu sync.Mutex
			var won []string
			atOnce(4, func(int) *reply {
				got := w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann))
				mu.Lock()
				defer mu.Unlock()
				if got.StatusCode == 200 {
					replaced.Store(true)
					won = append(won, got.str("key"))
				} else {
					got.want(409)
				}
				return got
			})
			before := uses.Load()
			testkit.Eventually(t, "more uses of the old secret", func() bool { return uses.Load() > before+6 })
			close(stop)
			wg.Wait()
			if len(won) == 0 {
				t.Fatal("no rotation has won")
			}
			works := 0
			for _, k := range won { // requests that do not overlap may win one after the other
				if w.do("GET", "/api/auth/me", "", with("X-API-Key", k)).StatusCode == 200 {
					works++
					key = with("X-API-Key", k)
				}
			}
			if works != 1 {
				t.Errorf("round %d: %d of %d new secrets work", round, works, len(won))
			}
		}
		got := atOnce(6, func(i int) *reply {
			if i%2 == 1 {
				return w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann))
			}
			r := w.do("DELETE", "/api/api-keys/"+id, "", as(w.ann))
			if r.StatusCode != 204 {
				r.want(404)
			}
			return r
		})
		if got[204] != 1 || got[200]+got[404]+got[409] != 5 {
			t.Errorf("deletions and rotations: %v", got)
		}
		w.do("GET", "/api/auth/me", "", key).want(401)
		w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(404)
	})
}

package api_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/shared/testkit"
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
			var rotations sync.WaitGroup
			for range 4 {
				rotations.Go(func() {
					got := w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann))
					mu.Lock()
					defer mu.Unlock()
					switch got.StatusCode {
					case 200:
						replaced.Store(true)
						won = append(won, got.str("key"))
					case 409:
					default:
						t.Errorf("rotation: %d %s", got.StatusCode, got.text)
					}
				})
			}
			rotations.Wait()
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
		var wg sync.WaitGroup
		var deleted, rotated atomic.Int32
		for i := range 6 {
			wg.Go(func() {
				if i%2 == 0 {
					if got := w.do("DELETE", "/api/api-keys/"+id, "", as(w.ann)); got.StatusCode == 204 {
						deleted.Add(1)
					} else {
						got.want(404)
					}
					return
				}
				got := w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann))
				if got.StatusCode == 200 {
					rotated.Add(1)
				} else if got.StatusCode != 404 && got.StatusCode != 409 {
					t.Errorf("rotation: %d %s", got.StatusCode, got.text)
				}
			})
		}
		wg.Wait()
		if deleted.Load() != 1 {
			t.Errorf("%d deletions, %d rotations", deleted.Load(), rotated.Load())
		}
		w.do("GET", "/api/auth/me", "", key).want(401)
		w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(404)
	})
}

package redirect_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
)

// Edges whose clocks are ten minutes off, and one that is set back in the middle: a link expires too early or too late by
// just that, and numbers of clicks, which are what order and identity come from, are dense all the same.
func TestServe_with_clocks_that_are_off(t *testing.T) {
	t.Parallel()
	const skew = 10 * time.Minute
	ends := epoch.Add(time.Hour)
	links := []link.Record{{Slug: "plain", Destination: "https://example.com/"}, {Slug: "ends", Destination: "https://example.com/", ExpiresAt: ends.UnixMilli()}}
	for _, off := range []time.Duration{-skew, 0, skew} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, links)
			at := func(truly time.Time) { w.clock.Store(truly.Add(off).UnixNano()) }
			for _, c := range []struct {
				after  time.Duration // the moment of expiry by this edge's clock
				status int
			}{{-time.Millisecond, http.StatusFound}, {0, http.StatusGone}, {time.Second, http.StatusGone}} {
				at(ends.Add(-off + c.after))
				if got := w.get("/ends"); got.StatusCode != c.status {
					t.Errorf("%v after expiry by its own clock: %d, want %d", c.after, got.StatusCode, c.status)
				}
			}
			at(ends.Add(skew + time.Second)) // nobody's clock is farther off
			if got := w.get("/ends"); got.StatusCode != http.StatusGone {
				t.Errorf("past expiry and the skew: %d", got.StatusCode)
			}
			at(ends.Add(-skew - time.Second))
			if got := w.get("/ends"); got.StatusCode != http.StatusFound {
				t.Errorf("before expiry by more than the skew: %d", got.StatusCode)
			}
			const visitors, each = 8, 25
			var all sync.WaitGroup
			for i := range visitors {
				all.Go(func() {
					for range each {
						if got := w.get("/plain"); got.StatusCode != http.StatusFound {
							t.Errorf("visitor %d: %d", i, got.StatusCode)
						}
						w.advance(-7 * time.Second) // ever earlier
					}
				})
			}
			all.Wait()
			events := w.clicks(2 + visitors*each)
			backwards := 0
			for i, e := range events {
				if e.Seq != uint64(i+1) {
					t.Fatalf("click %d has number %d", i, e.Seq)
				}
				if i > 0 && e.Time < events[i-1].Time {
					backwards++
				}
			}
			if backwards < visitors*each/10 {
				t.Errorf("the clock went back only %d times: the test does not bite", backwards)
			}
		})
	}
}

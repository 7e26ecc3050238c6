package redirect_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
)

// The clocks of two edges are ten minutes off, and one clock is set back during the test. A link expires too early or
// too late by exactly that. The numbers of clicks, which give clicks their order and identity, still have no gaps.
func TestServe_with_clocks_that_are_off(t *testing.T) {
	t.Parallel()
	const skew = 10 * time.Minute
	ends := epoch.Add(time.Hour)
	links := []link.Record{{Key: "plain", Destination: "https://example.com/"}, {Key: "ends", Destination: "https://example.com/",
		ExpiresAt: ends.UnixMilli()}}
	for _, off := range []time.Duration{-skew, 0, skew} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, links)
			at := func(truly time.Time) { w.clock.Store(truly.Add(off).UnixNano()) }
			for _, c := range []struct {
				after  time.Duration // time after expiry by this edge's clock
				status int
			}{{-time.Millisecond, http.StatusFound}, {0, http.StatusGone}, {time.Second, http.StatusGone}} {
				at(ends.Add(-off + c.after))
				if got := w.get("/ends"); got.StatusCode != c.status {
					t.Errorf("%v after expiry by its own clock: %d, want %d", c.after, got.StatusCode, c.status)
				}
			}
			at(ends.Add(skew + time.Second)) // no clock is farther off
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
						w.advance(-7 * time.Second) // the clock goes back again and again
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
				t.Errorf("the clock went back only %d times, too few for this test", backwards)
			}
		})
	}
}

package harness_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/hooksink"
)

// receiver is one user with a webhook and its deliveries.
type receiver struct {
	kind string
	api  *fleet.API
	sink *hooksink.Sink

	mu   sync.Mutex
	made map[string]time.Time // time of the acknowledgement, by link
}

// attempts is the default number of attempts per delivery.
const attempts = 4

// TestG20_a_crowd_of_receivers has many users with one webhook each. One receiver hangs, one resets connections, one
// never ends its answer, some fail at first, and the others work. Events arrive at 50 a second for DUR, while control
// planes are killed N times. Every event must be delivered where that is possible, with one ID and a valid signature,
// and soon to working receivers.
func TestG20_a_crowd_of_receivers(t *testing.T) {
	kills, lasting := count(t, 2), long(t, 6*time.Second)
	users := 16
	if lasting > time.Minute {
		users = 100
	}
	c := startChain(t, fleet.Config{Edges: 1, Controls: 2, ControlEnv: []string{"WEBHOOK_ALLOW_PRIVATE=true", "WEBHOOK_TIMEOUT=3s"}}, 0)
	const secret = "the-secret-of-the-hooks"
	scripts := map[string]func(hooksink.Delivery) hooksink.Answer{
		"sound":    nil,
		"flapping": failsAtFirst,
		"hanging":  func(hooksink.Delivery) hooksink.Answer { return hooksink.Answer{After: time.Minute} },
		"cutting":  func(hooksink.Delivery) hooksink.Answer { return hooksink.Answer{Cut: true} },
		"endless":  func(hooksink.Delivery) hooksink.Answer { return hooksink.Answer{Endless: true} },
	}
	var all []*receiver
	for i := range users {
		kind := "sound"
		switch {
		case i < 3:
			kind = []string{"hanging", "cutting", "endless"}[i]
		case i < 8:
			kind = "flapping"
		}
		r := &receiver{kind: kind, sink: hooksink.New(secret, scripts[kind]), made: map[string]time.Time{}}
		server := httptest.NewServer(r.sink)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		email, password := fmt.Sprintf("user%d@example.com", i), fmt.Sprintf("password-of-%d", i)
		c.api.Must("POST", "/api/users", map[string]any{"email": email, "password": password, "role": "USER"}, 201, nil)
		r.api = c.Controls[i%2].LoginAs(t, email, password)
		r.api.Must("POST", "/api/webhooks", map[string]any{"name": kind, "url": server.URL + "/hook", "secret": secret, "events": []string{"url.created"}}, 201, nil)
		all = append(all, r)
	}

	end := time.Now().Add(lasting)
	var work sync.WaitGroup
	work.Go(func() {
		for i := range kills {
			time.Sleep(time.Until(end) / time.Duration(kills-i+1))
			c.Controls[i%2].Kill()
			c.Controls[i%2].Start()
		}
	})
	created := c.create(all, end, 50)
	work.Wait()

	last := time.Now()
	arrived := func(r *receiver) (missing int, waits []time.Duration) {
		at := map[string]time.Time{}
		for _, d := range r.sink.Came() {
			if id := linkOf(d); d.Status/100 == 2 && (at[id].IsZero() || d.At.Before(at[id])) {
				at[id] = d.At
			}
		}
		for id, made := range r.made {
			if at[id].IsZero() {
				missing++
				continue
			}
			waits = append(waits, max(0, at[id].Sub(made)))
		}
		return missing, waits
	}
	testkit.Within(t, 3*time.Minute, "all deliverable events have arrived", func() bool {
		for _, r := range all {
			if missing, _ := arrived(r); missing > 0 && (r.kind == "sound" || r.kind == "flapping") {
				return false
			}
		}
		return true
	})
	t.Logf("%d events for %d receivers in %s, %d kills; all had arrived %s after the last link was created", created, users, lasting, kills, time.Since(last).Round(time.Millisecond))
	var waits []time.Duration
	for _, r := range all {
		ids := 0
		for _, e := range eventsOf(r.sink) {
			if len(e.deliveries) != 1 {
				ids++
			}
		}
		a := r.sink.Account()
		if ids != 0 || a.Unsigned != 0 {
			t.Errorf("%s: %d events with more than one ID, %d deliveries with an invalid signature", r.kind, ids, a.Unsigned)
		}
		switch r.kind {
		case "sound":
			_, w := arrived(r)
			waits = append(waits, w...)
		case "hanging", "cutting":
			most := 0
			for _, d := range r.sink.Came() {
				most = max(most, d.Attempt)
			}
			t.Logf("%s: %d requests for %d deliveries; highest attempt %d", r.kind, a.Requests, a.Deliveries, most)
			if most > attempts {
				t.Errorf("%s: highest attempt %d exceeds the limit of %d", r.kind, most, attempts)
			}
		}
	}
	slices.Sort(waits)
	t.Logf("delay at working receivers: p50 %s, p95 %s, max %s", waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)*95/100].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond))
	if p95 := waits[len(waits)*95/100]; p95 > 2*time.Second {
		t.Errorf("p95 of the delay at working receivers is %s", p95)
	}
}

// create creates links for all users in turn, at the given rate, until the end. If the outcome of a call is unknown,
// the link is not counted, and another one is created.
func (c *chain) create(all []*receiver, end time.Time, rate int) (created int) {
	var (
		mu   sync.Mutex
		work sync.WaitGroup
		free = make(chan struct{}, 16)
	)
	began := time.Now()
	for i := 0; time.Now().Before(end); i++ {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			r := all[i%len(all)]
			for try := 0; ; try++ {
				var l fleet.Link
				slug := fmt.Sprintf("hook-%d-%d", i, try)
				if _, _, err := r.api.At(c.Controls[(i+try)%2]).Call("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": slug}, &l); err == nil {
					r.mu.Lock()
					r.made[l.ID] = time.Now()
					r.mu.Unlock()
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			mu.Lock()
			created++
			mu.Unlock()
		})
	}
	work.Wait()
	return created
}

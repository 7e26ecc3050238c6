package harness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
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

// TestG20 has many users with one webhook each. One receiver hangs, one resets connections, one never ends its answer, some
// fail at first, and the others work. Events arrive at 50 a second for DUR, while control planes are killed N times. Every
// event must be delivered where that is possible, with one ID and a valid signature. For a release, working receivers get
// their events soon.
func TestG20_webhooks_through_kills(t *testing.T) {
	kills, lasting := count(t, testkit.Size(2, 20)), long(t, testkit.Size(3*time.Second, 5*time.Minute))
	soon := testkit.Size(0, 2*time.Second) // 0: not measured
	if soon == 0 {
		t.Parallel()
	}
	users := testkit.Size(10, 100)
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
		case i < testkit.Size(5, 8):
			kind = "flapping"
		}
		r := &receiver{kind: kind, sink: hooksink.New(secret, scripts[kind]), made: map[string]time.Time{}}
		server := httptest.NewServer(r.sink)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		email, password := fmt.Sprintf("user%d@example.com", i), fmt.Sprintf("password-of-%d", i)
		c.api.User(email, password)
		r.api = c.Controls[i%2].LoginAs(t, email, password)
		r.api.Webhook(server.URL+"/hook", secret, client.EventURLCreated)
		all = append(all, r)
	}

	end := time.Now().Add(lasting)
	var work sync.WaitGroup
	work.Go(func() {
		for i := range kills {
			fleet.Hold(time.Until(end) / time.Duration(kills-i+1))
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
	testkit.Eventually(t, "all deliverable events have arrived", func() bool {
		for _, r := range all {
			if missing, _ := arrived(r); missing > 0 && (r.kind == "sound" || r.kind == "flapping") {
				return false
			}
		}
		return true
	})
	t.Logf("%d events for %d receivers in %s, %d kills; all had arrived %s after the last link was created", created, users, lasting, kills,
		time.Since(last).Round(time.Millisecond))
	var waits []time.Duration
	for _, r := range all {
		ids := 0
		for _, deliveries := range eventsOf(r.sink) {
			if len(deliveries) != 1 {
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
			if most > 4 {
				t.Errorf("%s: the highest attempt is %d, and the default limit is 4", r.kind, most)
			}
		}
	}
	slices.Sort(waits)
	t.Logf("delay at working receivers: p50 %s, p95 %s, max %s", waits[len(waits)/2].Round(time.Millisecond),
		waits[len(waits)*95/100].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond))
	if p95 := waits[len(waits)*95/100]; soon > 0 && p95 > soon {
		t.Errorf("p95 of the delay at working receivers is %s", p95)
	}
}

// eventsOf returns the IDs of deliveries by their link.
func eventsOf(s *hooksink.Sink) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, d := range s.Came() {
		id := linkOf(d)
		if all[id] == nil {
			all[id] = map[string]bool{}
		}
		all[id][d.ID] = true
	}
	delete(all, "")
	return all
}

// linkOf returns the link of a delivery, or the empty string.
func linkOf(d hooksink.Delivery) string {
	var body struct {
		Data struct{ ID string }
	}
	if err := json.Unmarshal(d.Body, &body); err != nil {
		return ""
	}
	return body.Data.ID
}

func failsAtFirst(d hooksink.Delivery) hooksink.Answer {
	if d.Attempt == 1 {
		return hooksink.Answer{Status: http.StatusServiceUnavailable}
	}
	return hooksink.Answer{}
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
		fleet.Hold(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			r := all[i%len(all)]
			for try := 0; ; try++ {
				l, err := r.api.At(c.Controls[(i+try)%2]).Links.Create(c.t.Context(), client.CreateLink{OriginalURL: "https://example.com/",
					CustomSlug: client.Set(fmt.Sprintf("hook-%d-%d", i, try))})
				if err == nil {
					r.mu.Lock()
					r.made[l.ID] = time.Now()
					r.mu.Unlock()
					break
				}
				fleet.Hold(20 * time.Millisecond) // as a user would before the next try
			}
			mu.Lock()
			created++
			mu.Unlock()
		})
	}
	work.Wait()
	return created
}

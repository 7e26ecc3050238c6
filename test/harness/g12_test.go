package harness_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG12 changes links through the API while visitors come, and asks every edge until it behaves accordingly: within a
// second, or within three across a slow network that is cut again and again.
func TestG12_a_change_is_everywhere_within_a_second(t *testing.T) {
	lasts := long(t, 4*time.Second)
	c := startChain(t, fleet.Config{Edges: 3, Controls: 1}, 20)
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 6, Rate: 600}, func() {
		near := changes(c, lasts, "near")
		report(t, "on a sound network", near, time.Second)
		c.PlaneProxy.Set(faultproxy.Fault{Latency: 200 * time.Millisecond})
		over, cut := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(cut)
			for {
				select {
				case <-over:
					return
				case <-time.After(2 * time.Second):
					c.PlaneProxy.Cut()
				}
			}
		}()
		far := changes(c, lasts, "far")
		close(over)
		<-cut
		c.PlaneProxy.Set(faultproxy.Fault{})
		report(t, "200 ms away and cut every 2 s", far, 3*time.Second)
	})
	c.verdict(crowd, r)
}

func report(t *testing.T, where string, took []time.Duration, limit time.Duration) {
	t.Helper()
	slices.Sort(took)
	p99 := percentile(took, 0.99)
	t.Logf("%s: %d changes at the slowest of three edges: p50 %s p99 %s max %s", where, len(took), percentile(took, 0.5).Round(time.Millisecond), p99.Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	if p99 > limit {
		t.Errorf("%s: p99 of a change is %v", where, p99)
	}
}

// changes lets four owners change links for a while, and returns how long each change took to be everywhere.
func changes(c *chain, lasts time.Duration, name string) (all []time.Duration) {
	var mu sync.Mutex
	var owners sync.WaitGroup
	end := time.Now().Add(lasts)
	for w := range 4 {
		owners.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				slug := fmt.Sprintf("%s-%d-%d", name, w, n)
				l := c.api.Create("https://example.com/a", map[string]any{"customSlug": slug})
				took := []time.Duration{everywhere(c, slug, http.StatusFound, "https://example.com/a")}
				step := func(change map[string]any, status int, location string) {
					c.api.Must("PATCH", "/api/urls/"+l.ID, change, 200, nil)
					took = append(took, everywhere(c, slug, status, location))
				}
				step(map[string]any{"originalUrl": "https://example.com/b"}, http.StatusFound, "https://example.com/b")
				step(map[string]any{"status": "INACTIVE"}, http.StatusGone, "")
				step(map[string]any{"status": "ACTIVE"}, http.StatusFound, "https://example.com/b")
				c.api.Must("DELETE", "/api/urls/"+l.ID, nil, 204, nil)
				took = append(took, everywhere(c, slug, http.StatusNotFound, ""))
				mu.Lock()
				all = append(all, took...)
				mu.Unlock()
			}
		})
	}
	owners.Wait()
	return all
}

// everywhere waits until every edge answers so, and returns how long the slowest took. A change that is missed fails
// the test after half a minute.
func everywhere(c *chain, slug string, status int, location string) time.Duration {
	began := time.Now()
	for _, e := range c.Edges {
		for {
			got, to, err := follow(e.Addr, slug)
			if err == nil && got == status && to == location {
				break
			}
			if time.Since(began) > 30*time.Second {
				c.t.Errorf("%s answers %d %q %v for %s after 30 s, want %d %q", e.Name, got, to, err, slug, status, location)
				return time.Since(began)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return time.Since(began)
}

// TestG13 kills the control plane and its database in the middle of changes: what was acknowledged is there, a change
// of many links happened to all or none of them, and edges do as the database says.
func TestG13_kill_9_of_control_and_database_while_links_change(t *testing.T) {
	kills := count(t, 6)
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2}, 0)
	const owners, group = 4, 10
	type state struct {
		id, target string
		doubt      []string // targets that may have come after it
	}
	states := make([]map[string]*state, owners)
	groups := make([][]string, owners) // ids that change their status together
	for w := range owners {
		states[w] = map[string]*state{}
		for i := range group {
			groups[w] = append(groups[w], c.api.Create("https://example.com/grouped", map[string]any{"customSlug": fmt.Sprintf("group%d-%d", w, i)}).ID)
		}
	}
	over := make(chan struct{})
	var working sync.WaitGroup
	var acked, failed [owners]int
	for w := range owners {
		working.Go(func() {
			api := c.api.At(c.Controls[w%2])
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				var err error
				switch slug := fmt.Sprintf("storm%d-%d", w, n/3); n % 3 {
				case 0:
					var l fleet.Link
					if _, _, err = api.Call("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/0", "customSlug": slug}, &l); err == nil {
						states[w][slug] = &state{id: l.ID, target: "https://example.com/0"}
					}
				case 1:
					s := states[w][slug]
					if s == nil {
						continue // the creation is in doubt, and then so is all
					}
					to := fmt.Sprintf("https://example.com/%d", n)
					if _, _, err = api.Call("PATCH", "/api/urls/"+s.id, map[string]any{"originalUrl": to}, nil); err == nil {
						s.target, s.doubt = to, nil
					} else {
						s.doubt = append(s.doubt, to)
					}
				case 2:
					status := []string{"ACTIVE", "INACTIVE"}[n/3%2]
					_, _, err = api.Call("PATCH", "/api/urls/bulk", map[string]any{"urlIds": groups[w], "status": status}, nil)
				}
				if err != nil {
					failed[w]++
					time.Sleep(20 * time.Millisecond)
				} else {
					acked[w]++
				}
			}
		})
	}
	for i := range kills {
		pause(600 * time.Millisecond)
		p := []*fleet.Process{c.Controls[0].Process, c.Postgres, c.Controls[1].Process}[i%3]
		p.Kill()
		pause(100 * time.Millisecond)
		p.Start()
	}
	for _, n := range c.Controls {
		if err := n.Ready(); err != nil {
			t.Fatal(err)
		}
	}
	pause(500 * time.Millisecond)
	close(over)
	working.Wait()

	lost, wrong, total, mixed := 0, 0, 0, 0
	for w := range owners {
		total += acked[w]
		for slug, s := range states[w] {
			var now struct{ OriginalURL string }
			if _, _, err := c.api.Call("GET", "/api/urls/"+s.id, nil, &now); err != nil {
				lost++
				t.Errorf("%s was acknowledged and is not there: %v", slug, err)
				continue
			}
			if now.OriginalURL != s.target && !slices.Contains(s.doubt, now.OriginalURL) {
				lost++
				t.Errorf("%s leads to %s, acknowledged was %s", slug, now.OriginalURL, s.target)
			}
			for _, e := range c.Edges {
				ok := false
				for deadline := time.Now().Add(5 * time.Second); !ok && time.Now().Before(deadline); {
					_, to, err := follow(e.Addr, slug)
					if ok = err == nil && to == now.OriginalURL; !ok {
						time.Sleep(20 * time.Millisecond)
					}
				}
				if !ok {
					wrong++
					t.Errorf("%s does not lead to where the database says for %s", e.Name, slug)
				}
			}
		}
		statuses := map[string]int{}
		for _, id := range groups[w] {
			var now fleet.Link
			c.api.Must("GET", "/api/urls/"+id, nil, 200, &now)
			statuses[now.Status]++
		}
		if len(statuses) != 1 {
			mixed++
			t.Errorf("a change of ten links happened to some of them: %v", statuses)
		}
	}
	t.Logf("%d kills, %d acknowledged changes, %v failed; lost %d, half done %d, edges that differ %d", kills, total, failed, lost, mixed, wrong)
	if total < 50 || slices.Max(failed[:]) == 0 {
		t.Error("the storm did not bite")
	}
}

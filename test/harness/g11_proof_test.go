//go:build proof

package harness_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG11 runs three edges. The clock of one is ten minutes behind, that of another ten minutes ahead. No click may be
// lost, duplicated or out of order in its lane. A link must expire at each edge by the clock of that edge, neither
// earlier nor later.
func TestG11_clocks_of_edges_ten_minutes_off(t *testing.T) {
	lasts := long(t, 5*time.Minute)
	const most = time.Second // largest error of an expiry by the clock of the edge
	clocks := []time.Duration{-10 * time.Minute, 0, 10 * time.Minute}
	c := startChain(t, fleet.Config{Edges: 3, Controls: 1, Clocks: clocks}, 10)
	for i, e := range c.Edges {
		if off := clock(t, e); (off - clocks[i]).Abs() > 3*time.Second {
			t.Fatalf("the clock of %s is off by %v, want %v; the experiment proves nothing", e.Name, off, clocks[i])
		}
	}
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 9, Rate: 600}, func() {
		began := time.Now()
		end := began.Add(lasts / 2)
		ending := make([]client.Link, len(clocks)) // each expires at now + lasts/2 by the clock of its edge
		for i, off := range clocks {
			slug := fmt.Sprintf("ends%d", i)
			ending[i] = c.api.Create(client.CreateLink{OriginalURL: "https://example.com/ends", CustomSlug: client.Set(slug),
				ExpiresAt: client.Set(began.Add(time.Hour))})
			c.links = append(c.links, ending[i])
			everywhere(c, slug, math.MaxInt64, http.StatusFound, "https://example.com/ends")
			c.api.Change(ending[i].ID, client.UpdateLink{ExpiresAt: client.Set(end.Add(off))})
		}
		for i := range c.Edges {
			// Edges with later clocks have expired the link, or are expiring it now. The others still serve it.
			for _, later := range c.Edges[i+1:] {
				answers(t, later, ending[i].Slug, http.StatusGone, "")
			}
		}
		ended := make([]time.Time, len(clocks))
		testkit.Eventually(t, "all links expire", func() bool {
			left := 0
			for i, e := range c.Edges {
				if !ended[i].IsZero() {
					continue
				}
				if status, _, err := follow(e.Addr, ending[i].Slug); err == nil && status == http.StatusGone {
					ended[i] = time.Now()
				} else {
					left++
				}
			}
			return left == 0
		})
		for i, e := range c.Edges {
			wrong := ended[i].Sub(end)
			t.Logf("%s, whose clock is off by %v, expired a link with an error of %v by the true clock and %v by its own clock",
				e.Name, clocks[i],
				ended[i].Sub(end.Add(clocks[i])).Round(time.Millisecond), wrong.Round(time.Millisecond))
			if wrong.Abs() > most {
				t.Errorf("%s expired a link with an error of %v by its own clock", e.Name, wrong)
			}
			for j := range i {
				if status, _, err := follow(c.Edges[j].Addr, ending[i].Slug); err != nil || status != http.StatusFound {
					t.Errorf("%s, whose clock is behind, answers %d %v for a link that has not expired there", c.Edges[j].Name, status, err)
				}
			}
		}
		fleet.Hold(time.Until(began.Add(lasts)))
	})
	t.Logf("run of %v; load: %v", lasts, r)
	for status, n := range r.Other {
		t.Errorf("%d answers have the status %d", n, status)
	}
	if account := inTopic(t, c.Fleet, crowd); account.Backward != 0 {
		t.Errorf("%d clicks are out of order in their lane", account.Backward)
	}
	stored(t, c.Fleet, crowd, r.Acked)
	c.reported()
}

// clock returns the offset of an edge's clock in seconds, from the Date header of an answer.
func clock(t *testing.T, e *fleet.Node) time.Duration {
	t.Helper()
	res, err := http.Get("http://" + e.Addr + "/robots.txt")
	testkit.Must(t, err)
	res.Body.Close()
	at, err := http.ParseTime(res.Header.Get("Date"))
	testkit.Must(t, err)
	return time.Until(at).Round(time.Second)
}

// TestG11_hours_ahead runs an edge whose clock is three hours ahead, with Apache Kafka. Kafka rejects messages from the
// future unless the topic uses the time of the broker (LogAppendTime).
func TestG11_hours_ahead(t *testing.T) {
	t.Parallel()
	p, slugs := published(t, 10)
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p, ApacheKafka: true, Clocks: []time.Duration{3 * time.Hour, -9 * 24 * time.Hour}})
	c := newCrowd(t)
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 4, Rate: 400}, func() { c.more(2000) })
	t.Logf("load: %v", r)
	inTopic(t, f, c)
}

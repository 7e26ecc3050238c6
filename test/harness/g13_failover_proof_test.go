//go:build proof

package harness_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// outage is a period without a writable database.
type outage struct{ began, end time.Time }

// beyond returns the duration of a call without the time in outages.
func (c *call) beyond(outages []outage) time.Duration {
	d := c.end.Sub(c.began)
	for _, o := range outages {
		from, to := c.began, c.end
		if o.began.After(from) {
			from = o.began
		}
		if o.end.Before(to) {
			to = o.end
		}
		if to.After(from) {
			d -= to.Sub(from)
		}
	}
	return d
}

// meets reports whether the call overlapped an outage, or began within a second after one.
func (c *call) meets(outages []outage) bool {
	return slices.ContainsFunc(outages, func(o outage) bool { return c.began.Before(o.end.Add(time.Second)) && c.end.After(o.began) })
}

// TestG13_failover kills PostgreSQL while links change, promotes its standby, and makes the old primary the new
// standby, N times or until DUR is over. No acknowledged change may be lost, and no change of many links may be applied
// partly. Edges must agree with the database. No call may wait more than two seconds longer than the outage.
func TestG13_failover_to_a_standby_while_links_change(t *testing.T) {
	rounds := count(t, 20)
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2, Standby: true}, 10)
	s := newStorm(c)
	var outages []outage
	var published []time.Duration
	rewound := 0
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: 200}, func() {
		s.begin()
		for i, end := 0, time.Now().Add(long(t, time.Hour)); i < rounds && time.Now().Before(end); i++ {
			pause(800 * time.Millisecond)
			o := outage{began: time.Now()}
			c.Postgres.Kill()
			if err := c.Promote(); err != nil {
				t.Error(err)
				break
			}
			o.end = time.Now()
			outages = append(outages, o)
			whole(c)
			published = append(published, everyoneHears(c, fmt.Sprintf("after-%d", i)))
			again, err := c.Follow()
			if err != nil {
				t.Error(err)
				break
			}
			if again {
				rewound++
			}
		}
		pause(500 * time.Millisecond)
		s.end()
	})
	slices.Sort(published)
	var without, most, otherwise time.Duration
	for _, o := range outages {
		without = max(without, o.end.Sub(o.began))
	}
	for w := range s.calls {
		for _, call := range s.calls[w] {
			d := call.beyond(outages)
			if !call.meets(outages) { // on a busy machine these calls may be slow too
				otherwise = max(otherwise, d)
				continue
			}
			most = max(most, d)
			if d > 2*time.Second {
				t.Errorf("a %s call took %v, of which the database was writable for %v: %v", call.what, call.end.Sub(call.began), d,
					call.failed)
			}
		}
	}
	if len(outages) == 0 {
		t.Fatal("there was no failover")
	}
	t.Logf("%d failovers, %d old servers rewound; longest outage %s; the longest call exceeded its outage by %s (%s outside of outages); a "+
		"change at the other control plane reached all edges p50 %s max %s after the promotion; load: %v",
		len(outages), rewound, without.Round(time.Millisecond), most.Round(time.Millisecond), otherwise.Round(time.Millisecond),
		percentile(published, 0.5).Round(time.Millisecond), published[len(published)-1].Round(time.Millisecond), r)
	s.verdict()
	whole(c)
	agree(c)
	c.verdict(crowd, r)
}

// whole checks, in one query, that links that change together are equal.
func whole(c *chain) {
	c.t.Helper()
	got, err := c.Ask(
		"SELECT count(*) FROM (SELECT 1 FROM urls WHERE slug LIKE 'group%-%' GROUP BY split_part(slug, '-', 1) HAVING count(DISTINCT active) " +
			"> 1) mixed")
	if err != nil || got != "0" {
		c.t.Errorf("groups that were changed partly: %q %v", got, err)
	}
}

// everyoneHears creates a link at the second control plane as soon as possible. It returns the time until all edges,
// which are connected to the first control plane, serve it. Then both control planes listen for notifications at the
// new server.
func everyoneHears(c *chain, slug string) time.Duration {
	c.t.Helper()
	began := time.Now()
	api := c.api.At(c.Controls[1])
	n := 0
	testkit.Eventually(c.t, "a link is created after a promotion", func() bool {
		n++
		name := fmt.Sprintf("%s-%d", slug, n) // a call with an unknown outcome may have used the name
		_, err := api.Links.Create(c.t.Context(), client.CreateLink{OriginalURL: "https://example.com/heard", CustomSlug: client.Set(name)})
		if err == nil {
			slug = name
		}
		return err == nil
	})
	everywhere(c, slug, math.MaxInt64, http.StatusFound, "https://example.com/heard")
	took := time.Since(began)
	testkit.Eventually(c.t, "both control planes listen at the new server", func() bool {
		n, err := c.Ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shortline listener'")
		return err == nil && n >= "2"
	})
	return took
}

// agree checks that every edge reports the checksum of the links in the database at the newest revision.
func agree(c *chain) {
	c.t.Helper()
	rows, err := c.Ask("SELECT slug, num, revision FROM urls")
	testkit.Must(c.t, err)
	var hash snapshot.StateHash
	links := 0
	for line := range strings.Lines(rows) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			c.t.Fatalf("invalid row of a link: %q", line)
		}
		num, err1 := strconv.ParseUint(f[1], 10, 64)
		revision, err2 := strconv.ParseUint(f[2], 10, 64)
		if err1 != nil || err2 != nil {
			c.t.Fatalf("invalid row of a link: %q", line)
		}
		hash.Add(f[0], num, revision)
		links++
	}
	testkit.Eventually(c.t, fmt.Sprintf("every edge reports %d links with the hash %s", links, hash), func() bool {
		_, edges := c.edgeStates()
		return len(edges) == len(c.Edges) && !slices.ContainsFunc(edges, func(e client.Edge) bool {
			return e.Lag != 0 || e.StateHash != hash.String() || e.Links != links
		})
	})
}

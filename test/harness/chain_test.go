package harness_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// chain is a whole installation with links that its edges serve.
type chain struct {
	*fleet.Fleet
	t     *testing.T
	api   *fleet.API
	links []client.Link
	slugs []string
}

// everybody is a rule condition that matches all clients of the load generator.
var everybody = client.And(client.Match(client.ConditionTypeDevice, client.NotEquals, "tablet"))

func startChain(t *testing.T, cfg fleet.Config, links int) *chain {
	t.Helper()
	c := &chain{Fleet: fleet.Start(t, cfg), t: t}
	c.api = c.Controls[0].Login(t)
	for range links {
		c.newLink(c.api)
	}
	c.served()
	return c
}

// newLink creates a link in the workspace of an API.
func (c *chain) newLink(in *fleet.API) client.Link {
	c.t.Helper()
	l := in.Create(client.CreateLink{OriginalURL: fmt.Sprintf("https://example.com/%d", len(c.links))})
	c.links = append(c.links, l)
	c.slugs = append(c.slugs, l.Slug)
	return l
}

// served waits until the edges have all links.
func (c *chain) served() {
	c.t.Helper()
	for _, e := range c.Edges {
		testkit.Eventually(c.t, e.Name+" serves all links", func() bool {
			return e.Metric("shortline_edge_links") == float64(len(c.links))
		})
	}
}

// reported checks that the reports of every link agree with the rows in ClickHouse.
func (c *chain) reported() {
	c.t.Helper()
	total, err := c.Everything().Clicks(c.t.Context())
	testkit.Must(c.t, err)
	counted := func() (sum int) {
		for _, l := range c.links {
			now, err := c.api.Links.Get(c.t.Context(), l.ID)
			if err != nil {
				return -1
			}
			sum += now.ClickCount
		}
		return sum
	}
	testkit.Eventually(c.t, "the click counters of the links reach "+strconv.Itoa(total), func() bool { return counted() >= total })
	drift := counted() - total
	reports := 0
	// An answer may be two seconds old, and a program that has just restarted may still be slow.
	testkit.Eventually(c.t, "the reports of the links reach "+strconv.Itoa(total), func() bool {
		reports = 0
		for _, l := range c.links {
			n, err := c.api.Report(l.ID)
			if err != nil {
				return false
			}
			reports += n
		}
		return reports >= total
	})
	c.t.Logf("difference to the %[3]d rows: counters %+[1]d, reports %+[2]d", drift, reports-total, total)
	if drift != 0 || reports != total {
		c.t.Errorf("the counters show %d clicks and the reports %d, want %d", total+drift, reports, total)
	}
}

// verdict compares the record with the topic, with the store, and with the reports, in that order.
func (c *chain) verdict(crowd *crowd, r *load.Result) {
	c.t.Helper()
	for status, n := range r.Other {
		c.t.Errorf("%d answers have the status %d", n, status)
	}
	account := inTopic(c.t, c.Fleet, crowd)
	stored(c.t, c.Fleet, crowd, r.Acked)
	c.reported()
	c.t.Logf("duplicates in the topic: %d", account.Repeats)
	if !c.t.Failed() {
		_ = crowd.file() // a second close returns an error, which is not a failure of the run
	}
}

// chaos is one fault and its repair.
type chaos struct {
	name string
	do   func()
}

// pause waits for a random time between half and one and a half of d, the time that a fault lasts or the distance of faults.
func pause(d time.Duration) { fleet.Hold(d/2 + rand.N(d)) }

func (c *chain) killAndRestart(p *fleet.Process, away time.Duration) func() {
	return func() {
		p.Kill()
		pause(away)
		p.Start()
	}
}

func (c *chain) freeze(p *fleet.Process, away time.Duration) func() {
	return func() {
		p.Pause()
		pause(away)
		p.Resume()
	}
}

func (c *chain) fault(p *faultproxy.Proxy, f faultproxy.Fault, d time.Duration) func() {
	return func() {
		p.Set(f)
		pause(d)
		p.Set(faultproxy.Fault{})
	}
}

// everything lists all faults for the whole chain.
func (c *chain) everything() []chaos {
	var all []chaos
	add := func(name string, do func()) { all = append(all, chaos{name, do}) }
	for _, e := range c.Edges {
		add("kill -9 "+e.Name, c.killAndRestart(e.Process, 200*time.Millisecond))
	}
	ingesting := append(append([]*fleet.Node{}, c.Controls...), c.Ingesters...)
	for _, n := range ingesting {
		add("kill -9 "+n.Name, c.killAndRestart(n.Process, 300*time.Millisecond))
		add("SIGSTOP "+n.Name, c.freeze(n.Process, 4*time.Second))
	}
	add("kill -9 clickhouse", func() { c.killAndRestart(c.anyEngine().Process, 500*time.Millisecond)() })
	add("SIGSTOP clickhouse", func() { c.freeze(c.anyEngine().Process, 2*time.Second)() })
	add("kill -9 kafka", c.killAndRestart(c.Kafka, 500*time.Millisecond))
	add("SIGSTOP kafka", c.freeze(c.Kafka, 2*time.Second))
	add("clickhouse replies lost", c.fault(c.StoreProxy, faultproxy.Fault{LoseReply: 0.3}, 2*time.Second))
	add("kafka replies lost", c.fault(c.KafkaProxy, faultproxy.Fault{LoseReply: 0.05}, 2*time.Second))
	add("kafka slow", c.fault(c.KafkaProxy, faultproxy.Fault{Latency: 300 * time.Millisecond, Rate: 256 << 10}, 2*time.Second))
	add("kafka swallowed", c.fault(c.KafkaProxy, faultproxy.Fault{Hole: true}, 2*time.Second))
	add("kafka connections reset", func() { c.KafkaProxy.Cut() })
	add("edge connections to control reset", func() { c.PlaneProxy.Cut() })
	add("kill -9 postgres", c.killAndRestart(c.Postgres, 500*time.Millisecond))
	return all
}

// rounds injects n faults in random order, with a pause of gap between them.
func (c *chain) rounds(n int, gap time.Duration, all []chaos) map[string]int {
	c.t.Helper()
	done := map[string]int{}
	var deck []chaos
	for range n {
		if len(deck) == 0 {
			deck = append(deck, all...)
			rand.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		next := deck[0]
		deck = deck[1:]
		c.t.Logf("%s %s", time.Now().Format("15:04:05.000"), next.name)
		next.do()
		done[next.name]++
		pause(gap)
	}
	return done
}

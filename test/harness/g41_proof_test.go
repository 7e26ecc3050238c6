//go:build proof

package harness_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// Limits of the edge in TestG41.
const (
	floodPerClient = 60      // conversions of a client in a minute
	floodPerKey    = 30_000  // conversions with a key in a minute
	floodCap       = 4 << 20 // bytes of the spool, the smallest that the edge accepts
	floodGoals     = 50      // of a link
)

// TestG41 measures redirects of an edge in three kinds of rounds that alternate, N of each, DUR long: without a flood, with a
// flood of conversions at another edge, and with the same flood at this edge. Most requests of the flood are invalid or over a
// limit. The flood needs processors of this machine for its senders and for the stores, so the flood at the other edge is the
// comparison. Then Kafka is away, and the flood goes on with conversions that are as large as possible.
//
// The stores may have no more than the limits allow. The median of the rounds' p99 may be 20 % above the comparison. FLOOD sets
// the requests of the flood per second, RATE those for redirects.
func TestG41_a_flood_of_conversions(t *testing.T) {
	rounds, lasting, perSecond := count(t, 10), long(t, 10*time.Second), number(t, "FLOOD", 2000)
	c := startChain(t, fleet.Config{Edges: 2, Controls: 1, EdgeEnv: []string{
		"TRUSTED_PROXIES=127.0.0.0/8", "CONVERSION_LIMIT=" + strconv.Itoa(floodPerClient), "CONVERSION_KEY_LIMIT=" +
			strconv.Itoa(floodPerKey),
		"CONVERSION_SPOOL_CAP_BYTES=" + strconv.Itoa(floodCap),
	}}, 20)
	key, began := c.allowConversions(""), time.Now()
	var ids []string
	for _, l := range c.links[:2] {
		c.api.Change(l.ID, client.UpdateLink{TrackConversions: client.Set(true)})
		ids = append(ids, clickIDs(t, c.Edges[0], l.Slug, 50)...)
	}
	var floods []*deluge
	for _, e := range c.Edges {
		f := &deluge{t: t, addr: e.Addr, perSecond: perSecond, key: key, since: began, ids: ids, took: map[string]int{},
			answers: map[string]int{}}
		f.admitted()
		floods = append(floods, f)
	}
	here, there := floods[0], floods[1]

	crowd := newCrowd(t)
	c.redirects(crowd, "warm", nil, lasting)
	p99 := map[string][]time.Duration{}
	for range rounds {
		p99["none"] = append(p99["none"], c.redirects(crowd, "none", nil, lasting))
		p99["there"] = append(p99["there"], c.redirects(crowd, "there", there, lasting))
		p99["here"] = append(p99["here"], c.redirects(crowd, "here", here, lasting))
	}
	none, beside, with := median(p99["none"]), median(p99["there"]), median(p99["here"])
	t.Logf("%d rounds of %s, %.0f requests of the flood a second: the median p99 of redirects is %s without a flood, %s with the flood at "+
		"another edge, %s with it at this edge (%+.0f %%)",
		rounds, lasting, float64(here.sent)/(time.Duration(rounds)*lasting).Seconds(), none, beside, with,
		100*(float64(with)/float64(beside)-1))
	most := beside * 6 / 5
	if with > most {
		t.Errorf("with the flood, the p99 of redirects is %s, want at most %s", with, most)
	}
	here.limited()
	there.limited()

	c.outage(here, lasting)
	c.holds(here.accepted + there.accepted)
	here.answered("large: 429", "large: 503")
	there.answered()
}

// redirects measures the redirects of the first edge during a flood, which may be nil, and returns their p99.
func (c *chain) redirects(crowd *crowd, name string, f *deluge, lasting time.Duration) time.Duration {
	c.t.Helper()
	edge, stop := c.Edges[0], func() {}
	if f != nil {
		stop = f.start(f.mixed)
	}
	before := cpuOf(edge)
	r := crowd.during(load.Config{Addrs: []string{edge.Addr}, Slugs: c.slugs[2:], Rate: float64(rate(c.t, 1000))}, func() {
		fleet.Hold(lasting)
	})
	used := cpuOf(edge) - before
	stop()
	unharmed(c.t, "flood "+name, r)
	c.t.Logf("flood %-5s %4.0f redirects/s, p50 %-6s p99 %-7s max %-7s; the edge used %.2f processors",
		name, float64(r.Acked)/r.Took.Seconds(), r.Slow.Quantile(0.5), r.Slow.Quantile(0.99), r.Slow.Max.Round(time.Microsecond),
		used.Seconds()/lasting.Seconds())
	return r.Slow.Quantile(0.99)
}

// allowConversions allows browsers to send conversions from shop.example.com, and returns a new publishable key that edges know.
func (c *chain) allowConversions(old string) string {
	c.t.Helper()
	ctx, conversions := c.t.Context(), c.api.Conversions
	settings, err := conversions.PutSettings(ctx, client.PutConversionSettings{Hosts: client.Set([]string{"shop.example.com"})})
	if err == nil && old != "" {
		settings, err = conversions.RotateKey(ctx)
	}
	testkit.Must(c.t, err)
	if *settings.PublishableKey == old {
		c.t.Fatal("no new key")
	}
	return *settings.PublishableKey
}

// clickIDs visits a link until it has n click ids.
func clickIDs(t *testing.T, e *fleet.Node, slug string, n int) (ids []string) {
	t.Helper()
	testkit.Eventually(t, e.Name+" adds click ids to "+slug, func() bool {
		for range n - len(ids) {
			_, to := visitHost(e, e.Addr, slug)
			if u, err := url.Parse(to); err == nil && u.Query().Get("sl_click") != "" {
				ids = append(ids, u.Query().Get("sl_click"))
			}
		}
		return len(ids) == n
	})
	return ids
}

// outage floods the edge while Kafka is away. The spool of conversions must become full, stay below its limit, and must not
// fail redirects.
func (c *chain) outage(f *deluge, lasting time.Duration) {
	c.t.Helper()
	edge := c.Edges[0]
	c.KafkaProxy.Set(faultproxy.Fault{Hole: true})
	f.key = c.allowConversions(f.key) // with a new allowance
	f.since = time.Now()
	clear(f.took)
	f.admitted()
	stop := f.start(f.large)
	crowd, largest := newCrowd(c.t), int64(0)
	r := crowd.during(load.Config{Addrs: []string{edge.Addr}, Slugs: c.slugs[2:], Rate: 200}, func() {
		for end := time.Now().Add(max(lasting, 4*time.Second)); time.Now().Before(end); fleet.Hold(20 * time.Millisecond) {
			largest = max(largest, sizeOf(c.t, filepath.Join(edge.Dir, "conversions")))
		}
	})
	stop()
	c.t.Logf("Kafka away: the spool of conversions had at most %d bytes of %d; %v", largest, floodCap, r)
	if largest > floodCap+64<<10 { // 64 KiB for files of fixed size
		c.t.Errorf("the spool of conversions had %d bytes, its limit is %d", largest, floodCap)
	}
	if f.full == 0 {
		c.t.Error("no request was refused because of a full spool, so the experiment does not show its limit")
	}
	unharmed(c.t, "while Kafka is away", r)
	f.limited()
	c.KafkaProxy.Set(faultproxy.Fault{})
}

// holds waits until everything is stored and checks that the stores have no more than was accepted.
func (c *chain) holds(accepted int) {
	c.t.Helper()
	for _, e := range c.Edges {
		testkit.Eventually(c.t, e.Name+" has shipped its conversions", func() bool {
			return e.Metric("shortline_conversion_spool_pending") == 0
		})
	}
	rows, goals, others := 0, 0, 0
	for last := -1; rows == 0 || rows != last; fleet.Hold(2 * time.Second) { // until no more arrive
		last = rows
		lines, err := c.Store.Ask(c.t.Context(),
			"SELECT count(), uniqExact(link, goal), countIf(goal = 'forged' OR goal = 'elsewhere') FROM conversions FINAL")
		if err != nil || len(lines) != 1 {
			c.t.Fatalf("%q, %v", lines, err)
		}
		if _, err := fmt.Sscan(lines[0], &rows, &goals, &others); err != nil {
			c.t.Fatal(err)
		}
	}
	registered, err := c.Ask("SELECT max(n) FROM (SELECT count(*) AS n FROM goals GROUP BY link_num) AS per")
	testkit.Must(c.t, err)
	c.t.Logf("%d conversions accepted, %d in ClickHouse with %d goals; PostgreSQL has at most %s goals of a link", accepted, rows, goals,
		strings.TrimSpace(registered))
	if rows == 0 || rows > accepted || others > 0 {
		c.t.Errorf("%d conversions are stored, of which %d are forged or from elsewhere; %d were accepted", rows, others, accepted)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(registered)); err != nil || n != floodGoals || goals > 2*floodGoals {
		c.t.Errorf("a link has %s goals, want %d; %v", registered, floodGoals, err)
	}
}

func sizeOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil { // the edge deletes files meanwhile
				bytes += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return bytes
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

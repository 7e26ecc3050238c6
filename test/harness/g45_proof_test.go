//go:build proof

package harness_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/shoptest"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/topic"
	"github.com/shortline/shortline/test/harness/truth"
)

// mirrored is an installation with two regions. The edge of region a writes to Kafka a, which ingest reads. The edge of region
// b writes to Kafka b, and only MirrorMaker 2 reads that.
type mirrored struct {
	*chain
	mirror, kafkaB *fleet.Process
	brokersB       []string
}

// partitionsB is more than the twelve partitions of the topic at a, so that the mirror must add some.
const partitionsB = 16

// startMirrored starts everything except the mirror, and prepares that with additional settings. MIRROR in the environment has
// further ones, name=value separated by spaces, to try what a setting does.
func startMirrored(t *testing.T, more map[string]string) *mirrored {
	t.Helper()
	m := &mirrored{brokersB: []string{testkit.FreeAddr(t)}}
	m.chain = startChain(t, fleet.Config{
		Edges: 2, Controls: 1, Ingesters: 1, ApacheKafka: true, EdgeEnv: []string{"TRUSTED_PROXIES=127.0.0.0/8"},
		EdgeOwn: func(i int) []string {
			if i == 0 {
				return []string{"REGION=a"}
			}
			return []string{"REGION=b", "KAFKA_BROKERS=" + m.brokersB[0], fmt.Sprintf("KAFKA_PARTITIONS=%d", partitionsB)}
		},
		First: func(f *fleet.Fleet) { m.kafkaB = f.AddBroker("kafka-b", m.brokersB[0]) },
	}, 5)
	settings := map[string]string{
		"clusters": "a,b", "a.bootstrap.servers": strings.Join(m.Brokers(), ","), "b.bootstrap.servers": m.brokersB[0],
		"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"b->a.enabled":             "true", "b->a.topics": `shortline\.clicks,shortline\.conversions`,
		"emit.heartbeats.enabled": "false", "b->a.sync.topic.acls.enabled": "false",
		"b->a.sync.topic.configs.enabled": "false", "a.producer.max.request.size": "2097152",
		"refresh.topics.interval.seconds": "5", "tasks.max": "2",
		// The default is a minute. All kills of a short run would then start at offset 0 again.
		"a.offset.flush.interval.ms": "5000",
	}
	for _, name := range []string{"replication.factor", "offset-syncs.topic.replication.factor", "checkpoints.topic.replication.factor",
		"heartbeats.topic.replication.factor", "a.offset.storage.replication.factor", "a.config.storage.replication.factor",
		"a.status.storage.replication.factor"} {
		settings[name] = "1"
	}
	maps.Copy(settings, more)
	for _, set := range strings.Fields(os.Getenv("MIRROR")) {
		name, value, _ := strings.Cut(set, "=")
		settings[name] = value
	}
	m.mirror = m.MirrorMaker("mirrormaker", settings)
	return m
}

// fresh waits until a click of region b that is younger than the given time is stored. It returns how long that took.
func (m *mirrored) fresh(since time.Time) time.Duration {
	m.t.Helper()
	testkit.Eventually(m.t, "new clicks of region b arrive through the mirror", func() bool {
		n, err := m.Store.Ask(m.t.Context(),
			fmt.Sprintf("SELECT count() FROM clicks WHERE edge_region = 'b' AND ts > fromUnixTimestamp64Milli(%d)", since.UnixMilli()))
		return err == nil && len(n) == 1 && n[0] != "0"
	})
	return time.Since(since)
}

// shop opens a shop whose pages and server report conversions: the pages to the edges of both regions, the server to the API.
func (m *mirrored) shop(visitors int) *shoptest.Shop {
	m.t.Helper()
	const page = "https://shop.example.com/page"
	link := m.api.Create(client.CreateLink{OriginalURL: page, TrackConversions: client.Set(true)})
	m.links = append(m.links, link)
	rates := map[string]float64{"/page": 0.2}
	cfg := m.chain.shop(shoptest.Config{API: []string{m.api.URL()}, Rates: rates, Visitors: visitors, Seed: 45, Workers: 1})
	for _, e := range m.Edges {
		testkit.Eventually(m.t, e.Name+" adds click ids", func() bool {
			// A visit without a browser's name counts as one of a bot, which reports leave out.
			_, header, err := ask(e.Addr, "GET /"+link.Slug+
				" HTTP/1.1\r\nHost: sho.rt\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\nConnection: "+
				"close\r\n\r\n")
			return err == nil && strings.Contains(strings.Join(header, " "), "?sl_click=")
		})
		cfg.Links = append(cfg.Links, "http://"+e.Addr+"/"+link.Slug)
	}
	return shoptest.Start(m.t, cfg)
}

// disturb kills the mirror n times with kill -9 and starts it again. After each kill, another fault follows. It returns the time
// from each start of the mirror to a stored click that is younger than the start.
func (m *mirrored) disturb(n int) (back []time.Duration) {
	others := []chaos{
		{"connections to kafka of a reset", m.resets},
		{"SIGSTOP mirrormaker", m.freeze(m.mirror, 15*time.Second)},
		{"kill -9 kafka of a", m.killAndRestart(m.Kafka, time.Second)},
		{"kill -9 kafka of b", m.killAndRestart(m.kafkaB, time.Second)},
	}
	for i := range n {
		m.t.Logf("%s kill -9 mirrormaker", time.Now().Format("15:04:05.000"))
		m.mirror.Kill()
		pause(time.Second)
		began := time.Now()
		m.mirror.Start()
		back = append(back, m.fresh(began))
		other := others[i%len(others)]
		m.t.Logf("%s %s", time.Now().Format("15:04:05.000"), other.name)
		other.do()
		m.fresh(time.Now())
	}
	return back
}

// resets delays what goes to Kafka a, so that several messages of the mirror may be under way, and resets all connections again
// and again. A mirror that sends the lost messages in another order loses clicks.
func (m *mirrored) resets() {
	m.KafkaProxy.Set(faultproxy.Fault{Latency: 40 * time.Millisecond})
	for range 15 {
		pause(700 * time.Millisecond)
		m.KafkaProxy.Cut()
	}
	m.KafkaProxy.Set(faultproxy.Fault{})
}

// through waits until the mirror has copied the clicks of all answered visits. Only visits of the load generator count, which have
// a name. It waits as long as clicks arrive. A mirror that loses clicks never gets there, and the caller's audit reports the loss.
func (m *mirrored) through(acked int64) bool {
	for n, last := int64(0), int64(-1); n > last; fleet.Hold(10 * time.Second) {
		last = n
		lines, err := m.Store.Ask(m.t.Context(), "SELECT uniqExact(utm_content) FROM clicks WHERE utm_content != ''")
		if err == nil && len(lines) == 1 {
			_, _ = fmt.Sscan(lines[0], &n) // a count is a number
		}
		if n == acked {
			return true
		}
	}
	return false
}

// run lets visitors come in both regions and a shop sell, while the mirror and the brokers are disturbed n times.
func (m *mirrored) run(n, perSecond int) (*crowd, *load.Result) {
	t := m.t
	t.Helper()
	crowd := newCrowd(t)
	var back []time.Duration
	var shop *shoptest.Shop
	r := crowd.during(load.Config{Addrs: m.EdgeAddrs(), Slugs: m.slugs, Clients: 8, Rate: float64(perSecond)}, func() {
		crowd.more(3 * perSecond) // these clicks are older than the mirror
		began := time.Now()
		m.mirror.Start()
		t.Logf("the mirror began to copy after %v", m.fresh(began).Round(time.Millisecond))
		shop = m.shop(300 * n)
		back = m.disturb(n)
	})
	t.Logf("%d kills of the mirror; new clicks of b were stored %v after each start; load: %v", m.mirror.Kills, back, r)
	unharmed(t, "while the mirror was killed", r)
	t.Logf("the shop: %+v", shop.Wait())
	m.Shipped()
	if !m.through(r.Acked) {
		t.Error("not all clicks have come through the mirror")
	}
	if !t.Failed() {
		m.ledger(shop)
	}
	if failed := strings.Count(m.mirror.Log(), "unrecoverable exception"); failed > 0 {
		t.Errorf("%d tasks of the mirror failed, which nobody restarts", failed)
	}
	return crowd, r
}

// TestG45 copies the clicks and conversions of region b to the Kafka of region a with Apache MirrorMaker 2. N times, the mirror
// is killed and restarted, and then another fault follows. Every answered visit of both regions must be stored and reported
// once, and so must the conversions of a shop. RATE visits a second come.
func TestG45_mirrormaker_is_killed(t *testing.T) {
	t.Parallel()
	m := startMirrored(t, nil)
	crowd, r := m.run(count(t, 20), rate(t, 300))
	from := m.source()
	to := inTopic(t, m.Fleet, crowd)
	if to.Repeats <= from.Repeats {
		t.Error("the mirror has repeated no click, so its kills had no effect")
	}
	if to.Backward > 0 {
		t.Errorf("the mirror has changed the order of %d clicks", to.Backward)
	}
	if t.Failed() { // the helpers would wait for clicks that are lost
		contents, err := m.Store.Contents(t.Context())
		testkit.Must(t, err)
		v, err := truth.Judge(crowd.log.Path(), contents)
		exact(t, "ClickHouse", v, err)
		return
	}
	m.verdict(crowd, r)
	m.arrived(from)
}

// TestG45_exactly_once is the same with transactions of MirrorMaker 2. It compares the store only: a partition with transactions
// ends with a marker, which the audit of a topic does not expect.
func TestG45_exactly_once_is_killed(t *testing.T) {
	t.Parallel()
	m := startMirrored(t, map[string]string{
		"a.exactly.once.source.support": "enabled", "dedicated.mode.enable.internal.rest": "true", "listeners": "http://" +
			testkit.FreeAddr(t),
		// A killed mirror leaves a transaction open. With the default of a minute, new clicks came through a minute later.
		"a.producer.transaction.timeout.ms": "10000",
	})
	crowd, r := m.run(count(t, 20), rate(t, 300))
	from := m.source()
	if t.Failed() {
		return
	}
	stored(t, m.Fleet, crowd, r.Acked)
	m.reported()
	m.arrived(from)
}

// source reads the topic of region b.
func (m *mirrored) source() *topic.Account {
	m.t.Helper()
	from, err := topic.Read(m.t.Context(), m.brokersB, fleet.Topic)
	testkit.Must(m.t, err)
	m.t.Logf("topic of b: %v", from)
	return from
}

// arrived checks that all clicks of the topic of region b are stored under the region's name, and that the mirror has added the
// partitions that the topic at a did not have.
func (m *mirrored) arrived(from *topic.Account) {
	m.t.Helper()
	n, err := m.Store.Ask(m.t.Context(), "SELECT count() FROM clicks FINAL WHERE edge_region = 'b'")
	testkit.Must(m.t, err)
	if len(n) != 1 || n[0] != fmt.Sprint(from.Clicks) {
		m.t.Errorf("%v clicks of region b are stored, and its topic has %d", n, from.Clicks)
	}
	l, err := findLayout(m.t.Context(), m.Brokers(), fleet.Topic)
	testkit.Must(m.t, err)
	if len(l.partitions) != partitionsB {
		m.t.Errorf("the topic at a has %d partitions, want the %d of b", len(l.partitions), partitionsB)
	}
}

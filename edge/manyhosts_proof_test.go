//go:build proof

package edge_test

import (
	"crypto/tls"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// manyHosts returns the number of domains for tests with many: 10,000, or a tenth of it with the race detector, which
// makes their keys and certificates slowly.
func manyHosts() int {
	if raceEnabled {
		return 1_000
	}
	return 10_000
}

func manyName(i int) string { return fmt.Sprintf("go.customer-%05d.example", i) }

// issueMany returns hosts with certificates and different keys. Their chains are as long as those of public authorities.
func issueMany(t testing.TB, n int) []snapshot.Host {
	list := make([]snapshot.Host, n)
	intermediate := issue(t, strings.Repeat("intermediate.", 18)+"example", 0, 1).Certificate.Chain[0]
	for i := range list {
		list[i] = issue(t, manyName(i), uint64(i+1), int64(i+1))
		list[i].Certificate.Chain = append(list[i].Certificate.Chain, intermediate)
	}
	return list
}

// heap returns the bytes of live objects, when they have stopped to become fewer: pools and finalizers need several
// collections.
func heap() (bytes int64) {
	for last := int64(math.MaxInt64); ; last = bytes {
		runtime.GC()
		pause(20 * time.Millisecond) // finalizers run
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if bytes = int64(m.HeapAlloc); bytes > last-100_000 {
			return bytes
		}
	}
}

// began opens an edge whose control plane is away, and returns it when it accepts connections.
func began(t *testing.T, cfg edge.Config) (e *edge.Edge, took time.Duration, stop func()) {
	t.Helper()
	start := time.Now()
	e, stop = run(t, cfg, edge.Deps{Links: away{}, Sink: newControl(), Hosts: &names{away: true}})
	return e, time.Since(start), stop
}

// handshakes makes handshakes with new connections for many names and returns how long each took.
func handshakes(t *testing.T, at netip.AddrPort, n, domains, from int) []time.Duration {
	t.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		name := manyName((from + i) * 7919 % domains)
		start := time.Now()
		c, err := tls.Dial("tcp", at.String(), &tls.Config{ServerName: name, InsecureSkipVerify: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		took[i] = time.Since(start)
		_ = c.Close()
	}
	return took
}

// With 10,000 domains, an edge starts at most a second later, needs at most 8 KiB for each, and makes handshakes in the same
// time. It changes one certificate in milliseconds.
func TestTLS_with_many_domains(t *testing.T) {
	domains := manyHosts()
	list := issueMany(t, domains)
	one, many := secure(t), secure(t)
	source := new(names)
	for cfg, hosts := range map[*edge.Config][]snapshot.Host{&one: list[:1], &many: list} {
		c, n := newControl(), new(names)
		c.put(link.Record{Num: 1, Key: link.Key(1, "spring"), Destination: "https://example.com/acme"})
		n.put(snapshot.Hosts{Hosts: hosts, Tickets: []string{ticket(1)}})
		e, stop := run(t, *cfg, edge.Deps{Links: c, Sink: c, Hosts: n})
		testkit.Eventually(t, "the hosts arrive", func() bool { return e.Ready() && e.Hosts() == len(hosts) })
		stop()
		if len(hosts) > 1 {
			source = n
		}
	}

	// Start-up and memory.
	var starts [2][]time.Duration
	var used [2]int64
	for range 3 {
		for i, cfg := range []edge.Config{one, many} {
			before := heap()
			e, took, stop := began(t, cfg)
			starts[i] = append(starts[i], took)
			used[i] = heap() - before
			runtime.KeepAlive(e)
			stop()
		}
	}
	later := slices.Min(starts[1]) - slices.Min(starts[0])
	each := (used[1] - used[0]) / int64(domains)
	t.Logf("%d domains: start-up %v later (%v instead of %v), %d bytes each before the first visit", domains, later.Round(time.Millisecond),
		slices.Min(starts[1]).Round(time.Millisecond), slices.Min(starts[0]).Round(time.Millisecond), each)
	if !raceEnabled && later > time.Second {
		t.Errorf("the edge starts %v later with %d domains", later, domains)
	}

	// Handshakes at both edges alternately, and memory when every domain has had a visitor.
	few, _, stopFew := began(t, one)
	defer stopFew()
	c := newControl()
	all, stopAll := run(t, many, edge.Deps{Links: c, Sink: c, Hosts: source})
	defer stopAll()
	pause(10 * time.Second) // until the timers of the stopped edges, which refer to them, have ended
	before := heap()
	var with1, withMany []time.Duration
	for turn := range domains / 100 {
		with1 = append(with1, handshakes(t, few.SecureAddr(), 50, 1, 0)...)
		withMany = append(withMany, handshakes(t, all.SecureAddr(), 100, domains, 100*turn)...)
	}
	visited := each + (heap()-before)/int64(domains)
	p := func(v []time.Duration, q float64) time.Duration {
		v = slices.Sorted(slices.Values(v))
		return v[int(float64(len(v)-1)*q)].Round(10 * time.Microsecond)
	}
	t.Logf("handshakes with 1 domain: p50 %v, p99 %v; with %d, each for the first time: p50 %v, p99 %v; %d bytes for each domain after "+
		"a visit",
		p(with1, 0.5), p(with1, 0.99), domains, p(withMany, 0.5), p(withMany, 0.99), visited)
	if most := int64(8 << 10); each > most || visited > most {
		t.Errorf("%d bytes for each domain, %d after a visit", each, visited)
	}
	// Without a lookup that grows with the number of domains, only noise separates the two.
	if p(withMany, 0.5) > 2*p(with1, 0.5) {
		t.Errorf("handshakes take %v instead of %v", p(withMany, 0.5), p(with1, 0.5))
	}

	// One certificate changes.
	serial := func() int64 {
		_, state, err := visit(all.SecureAddr(), &tls.Config{ServerName: manyName(7)}, manyName(7), "/x")
		testkit.Must(t, err)
		return state.PeerCertificates[0].SerialNumber.Int64()
	}
	change := snapshot.Hosts{Hosts: []snapshot.Host{issue(t, manyName(7), 8, 99_999)}}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	start := time.Now()
	source.put(change)
	testkit.Eventually(t, "the new certificate", func() bool { return serial() == 99_999 })
	took := time.Since(start)
	runtime.ReadMemStats(&m1)
	t.Logf("one certificate of %d changes: seen by a visitor after %v, %d KiB allocated", domains, took.Round(time.Millisecond),
		(m1.TotalAlloc-m0.TotalAlloc)>>10)
	if took > 2*time.Second {
		t.Errorf("a new certificate is seen after %v", took)
	}
}

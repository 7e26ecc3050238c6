//go:build proof

package harness_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG46 gives the ClickHouse service two addresses, which are proxies before one engine: ClickHouse keeps the copies of a real service.
// N times, one of them refuses connections, breaks them or is slow, while visitors come and reports are asked for. Reports never lose a
// click that they had, and every answered visit is stored once.
func TestG46_addresses_of_a_service_fail(t *testing.T) {
	t.Parallel()
	var proxies []*faultproxy.Proxy
	var addrs [2]string
	for i := range addrs {
		addrs[i] = testkit.FreeAddr(t)
	}
	c := startChain(t, fleet.Config{
		Edges: 2, Controls: 1, Ingesters: 2, EdgeEnv: []string{"SHIP_DELAY=100ms"}, StoreAddrs: []string{addrs[0] + "," + addrs[1]},
		NativeStore: true,
		First: func(f *fleet.Fleet) {
			for _, addr := range addrs {
				proxy, err := faultproxy.Listen(addr, f.StoreProxy.Addr())
				testkit.Must(t, err)
				t.Cleanup(func() { _ = proxy.Close() })
				proxies = append(proxies, proxy)
			}
		},
	}, 4)
	crowd := newCrowd(t)
	var asked, refused int
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: float64(rate(t, 200))}, func() {
		crowd.more(400)
		asked, refused = c.neverLess(func() {
			for i := range count(t, 12) {
				proxy := proxies[rand.IntN(len(proxies))]
				switch i % 3 {
				case 0:
					proxy.Set(faultproxy.Fault{Refuse: true})
					proxy.Cut()
				case 1:
					proxy.Cut()
				default:
					proxy.Set(faultproxy.Fault{Latency: 200 * time.Millisecond})
				}
				pause(3 * time.Second)
				proxy.Set(faultproxy.Fault{})
			}
		})
	})
	t.Logf("%d reports, of which %d got 503; connections: %d and %d; load: %v", asked, refused, proxies[0].Stats().Connections,
		proxies[1].Stats().Connections, r)
	for i, proxy := range proxies {
		if proxy.Stats().Connections == 0 {
			t.Errorf("the address %d was never used", i+1)
		}
	}
	c.verdict(crowd, r)
}

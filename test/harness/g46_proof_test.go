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
	var doors []*faultproxy.Proxy
	var addrs [2]string
	for i := range addrs {
		addrs[i] = testkit.FreeAddr(t)
	}
	c := startChain(t, fleet.Config{
		Edges: 2, Controls: 1, Ingesters: 2, EdgeEnv: []string{"SHIP_DELAY=100ms"}, StoreAddrs: []string{addrs[0] + "," + addrs[1]}, NativeStore: true,
		First: func(f *fleet.Fleet) {
			for _, addr := range addrs {
				door, err := faultproxy.Listen(addr, f.StoreProxy.Addr())
				testkit.Must(t, err)
				t.Cleanup(func() { _ = door.Close() })
				doors = append(doors, door)
			}
		},
	}, 4)
	crowd := newCrowd(t)
	var asked, refused int
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 4, Rate: float64(rate(t, 200))}, func() {
		crowd.more(400)
		asked, refused = c.neverLess(func() {
			for i := range count(t, 12) {
				door := doors[rand.IntN(len(doors))]
				switch i % 3 {
				case 0:
					door.Set(faultproxy.Fault{Refuse: true})
					door.Cut()
				case 1:
					door.Cut()
				default:
					door.Set(faultproxy.Fault{Latency: 200 * time.Millisecond})
				}
				pause(3 * time.Second)
				door.Set(faultproxy.Fault{})
			}
		})
	})
	t.Logf("%d reports, of which %d got 503; connections: %d and %d; load: %v", asked, refused, doors[0].Stats().Connections, doors[1].Stats().Connections, r)
	for i, door := range doors {
		if door.Stats().Connections == 0 {
			t.Errorf("the address %d was never used", i+1)
		}
	}
	c.verdict(crowd, r)
}

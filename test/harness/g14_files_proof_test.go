//go:build proof

package harness_test

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG14_more opens many more connections to an edge than its limit of open files. They are silent or send an
// incomplete request, and reconnect when they are closed. New visitors, and visitors with open connections, must still
// be served.
func TestG14_more_connections_than_files(t *testing.T) {
	n := count(t, 3000)
	const files = 900
	p, slugs := published(t, 100)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p, Files: files})
	e := f.Edges[0]
	c := newCrowd(t)
	var crowd, anew sync.WaitGroup
	over := make(chan struct{})
	for i := range n {
		crowd.Go(func() {
			for {
				if conn, err := net.DialTimeout("tcp", e.Addr, time.Second); err == nil {
					if i%2 == 0 {
						_, _ = conn.Write([]byte("GET /link1 HT")) // an error shows at the read below
					}
					_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
					_, _ = conn.Read(make([]byte, 1))
					conn.Close()
				}
				if !fleet.HoldUnless(over, 100*time.Millisecond) {
					return
				}
			}
		})
	}
	testkit.Eventually(t, "the edge sheds connections", func() bool { return e.Metric("shortline_edge_connections_shed_total") > 0 })
	served, failed, again := 0, 0, 0
	anew.Go(func() {
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		for tries := 0; ; {
			res, err := client.Get("http://" + e.Addr + "/nobody-has-this-link")
			switch tries++; {
			case err == nil && res.StatusCode == http.StatusNotFound:
				served++
				tries = 0
			case err != nil && tries < 3: // a browser retries when its connection is closed
				again++
			default:
				t.Logf("a new visitor got: %v, %v", res, err)
				failed++
				tries = 0
			}
			if err == nil {
				res.Body.Close()
			}
			if !fleet.HoldUnless(over, 5*time.Millisecond) {
				return
			}
		}
	})
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 8, Rate: 500}, func() { fleet.Hold(long(t, 30*time.Second)) })
	open, shed := e.Files(), e.Metric("shortline_edge_connections_shed_total")
	close(over)
	anew.Wait()
	crowd.Wait()
	t.Logf("%d silent clients, %.0f connections shed, %d of %d files open; new visitors: %d served, %d failed, %d retries; load: %v", n,
		shed, open, files, served, failed, again, r)
	if failed > 0 || served == 0 {
		t.Errorf("%d new visitors were not served and %d were", failed, served)
	}
	unharmed(t, "visitors with open connections", r)
	if open >= files {
		t.Errorf("the edge has reached its limit of %d open files", files)
	}
	inTopic(t, f, c)
}

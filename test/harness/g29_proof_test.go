//go:build proof

package harness_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/plane"
)

// TestG29 starts a control plane while N edges wait for it and all of them request the full document at once. It must
// send a few at a time, tell the others to retry, and serve all of them soon.
func TestG29_herd_after_a_restart(t *testing.T) {
	herd, many := count(t, 200), links(t, 930_000)
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1}, 0)
	for at := 0; at < many; at += 1000 {
		var urls []shortline.CreateManyLink
		for range min(many-at, 1000) {
			// Compresses to about sixty bytes, like a URL with a session and a signature.
			urls = append(urls, shortline.CreateManyLink{OriginalURL: shortline.Set(fmt.Sprintf(
				"https://example.com/%016x%016x%016x%016x%016x", rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64(),
				rand.Uint64()))})
		}
		_, err := c.api.Links.CreateMany(t.Context(), shortline.CreateManyLinks{URLs: urls})
		testkit.Must(t, err)
	}
	control := c.Controls[0]
	reaches(t, "the edge has all links", many, func() int { return int(c.Edges[0].Metric("shortline_edge_links")) })
	control.Kill()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0, DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	var members sync.WaitGroup
	var mu sync.Mutex
	var current []time.Duration
	var refused, down int
	var bytes int64
	began := time.Now()
	for range herd {
		members.Go(func() {
			for time.Since(began) < 5*time.Minute {
				req, err := http.NewRequest("GET", "http://"+control.Addr+"/edge/v1/snapshot", nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+plane.Token)
				res, err := client.Do(req)
				wait := 200 * time.Millisecond
				if err == nil {
					n, err := io.Copy(io.Discard, res.Body)
					res.Body.Close()
					mu.Lock()
					switch {
					case res.StatusCode == http.StatusOK && err == nil:
						current = append(current, time.Since(began))
						bytes = n
						mu.Unlock()
						return
					case res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "":
						refused++
						wait = rand.N(4 * time.Second) // random around Retry-After, like an edge
					default:
						down++
					}
					mu.Unlock()
				} else {
					mu.Lock()
					down++
					mu.Unlock()
				}
				fleet.Hold(wait)
			}
		})
	}
	up := control.Start()
	resting := control.Memory()
	var peak int64
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			peak = max(peak, control.Memory())
			if !fleet.HoldUnless(over, 20*time.Millisecond) {
				return
			}
		}
	})
	members.Wait()
	close(over)
	watching.Wait()
	slices.Sort(current)
	if len(current) != herd {
		t.Fatalf("only %d of %d edges have the document", len(current), herd)
	}
	t.Logf("%d edges, document of %d KiB, control ready after %s: all edges current after %s, %d requests deferred with Retry-After, %d "+
		"attempts before it was up; memory %d → %d MiB at most",
		herd, bytes>>10, up.Round(time.Millisecond), current[len(current)-1].Round(time.Millisecond), refused, down, resting/mebibyte,
		peak/mebibyte)
	if current[len(current)-1] > 30*time.Second || peak-resting > 256*mebibyte {
		t.Error("the herd took too long or too much memory")
	}
}

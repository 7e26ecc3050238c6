//go:build proof

package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG34 has eight clients request the link with the most expensive rules that the API accepts, with the headers that
// make the rules slowest. It compares the latency for other links' visitors with their latency while the same clients,
// with the same headers, request a link without rules. Both take turns, so that other load on the machine affects both
// alike. N is the number of turns.
func TestG34_rule_bomb(t *testing.T) {
	rounds, each := count(t, 10), 2*time.Second
	p, slugs := published(t, 100)
	random := rand.New(rand.NewPCG(34, 34))
	rules, work := expensiveRules(t, random)
	p.Publish(link.Record{Num: 1001, Owner: 2, Key: "bomb", Destination: "https://example.com/bomb", CreatedAt: 1, SmartRouting: true,
		Rules: rules},
		link.Record{Num: 1002, Owner: 2, Key: "bare", Destination: "https://example.com/bare", CreatedAt: 1})
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	testkit.Eventually(t, "the edge has both links", func() bool { return e.Metric("shortline_edge_links") >= 102 })
	requests := map[string][][]byte{}
	for _, slug := range []string{"bomb", "bare"} {
		for range 32 {
			requests[slug] = append(requests[slug], hostileVisit(random, slug, e.Addr))
		}
	}
	c := newCrowd(t)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 4, Rate: 400}
	p99 := map[string][]time.Duration{}
	visits, spent := map[string]int64{}, map[string]time.Duration{}
	for range rounds {
		for _, slug := range []string{"bare", "bomb"} {
			n := &atomic.Int64{}
			stop := flood(t, e.Addr, requests[slug], n)
			// By then the edge has compiled the rules, and all connections are open.
			testkit.Eventually(t, "the edge answers visits of "+slug, func() bool { return n.Load() >= 256 })
			from, cpu := n.Load(), cpuOf(e)
			r := c.during(cfg, func() { fleet.Hold(each) })
			visits[slug] += n.Load() - from
			spent[slug] += cpuOf(e) - cpu
			stop()
			unharmed(t, "beside "+slug, r)
			p99[slug] = append(p99[slug], r.Slow.Quantile(0.99))
		}
	}
	bare, bomb := median(p99["bare"]), median(p99["bomb"])
	perVisit := func(slug string) time.Duration { return spent[slug] / time.Duration(max(1, visits[slug])) }
	t.Logf("%d rules, estimated at %d µs; CPU time of the edge per visit, including the load of other visitors: %[4]v over %[3]d visits "+
		"without rules, %[6]v over %[5]d visits of the bomb",
		len(rules), work/1000, visits["bare"], perVisit("bare"), visits["bomb"], perVisit("bomb"))
	t.Logf("p99 of other visitors: %v beside the link without rules, %v beside the bomb (%+.0f %%); all rounds: %v and %v", bare, bomb,
		100*(float64(bomb)/float64(bare)-1), p99["bare"], p99["bomb"])
	if float64(bomb) > 1.2*float64(bare) {
		t.Errorf("p99 of other visitors rose from %v to %v", bare, bomb)
	}
	if extra := perVisit("bomb") - perVisit("bare"); extra > rule.MaxWork*time.Nanosecond {
		t.Errorf("the rules cost %v of CPU time per visit", extra)
	}
}

// cpuOf returns the CPU time that a process has used.
func cpuOf(n *fleet.Node) time.Duration {
	return time.Duration(n.Metric("process_cpu_seconds_total") * float64(time.Second))
}

// word consists of ASCII letters and of the letters with the slowest case folding.
func word(random *rand.Rand, n int) string {
	letters := []rune("abcdefgабвгςσ")
	var b strings.Builder
	for range n {
		b.WriteRune(letters[random.IntN(len(letters))])
	}
	return b.String()
}

// expensiveRules returns as many rules as the API accepts: short texts that are searched in the request and never
// found.
func expensiveRules(t *testing.T, random *rand.Rand) (rules []link.Rule, nanoseconds int) {
	t.Helper()
	types := []string{"referer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "language"}
	var work rule.Work
	for number := range 100 {
		leaves := make([]map[string]any, 100)
		for i := range leaves {
			leaves[i] = map[string]any{"type": types[i%len(types)], "operator": "contains", "value": word(random, 3) + "!"}
		}
		for ; len(leaves) > 0; leaves = leaves[:len(leaves)/2] {
			conditions, err := json.Marshal(map[string]any{"operator": "OR", "conditions": leaves})
			testkit.Must(t, err)
			g, err := rule.Parse(conditions)
			testkit.Must(t, err)
			with := work
			if err := with.Add(g); err != nil || with.Nanoseconds() > rule.MaxWork {
				continue
			}
			work = with
			rules = append(rules, link.Rule{ID: link.ID{byte(number + 1)}, Target: "https://example.com/hit", Conditions: conditions})
			break
		}
	}
	return rules, work.Nanoseconds()
}

// hostileVisit is a request with the longest values that an edge accepts from a visitor, made of the letters of the
// rules.
func hostileVisit(random *rand.Rand, slug, host string) []byte {
	fill := func(n int) string {
		s := word(random, n)
		return strings.ToValidUTF8(s[:min(n, len(s))], "")
	}
	query := ""
	for _, name := range []string{"source", "medium", "campaign", "term"} {
		query += "&utm_" + name + "=" + fill(click.MaxUTM)
	}
	return fmt.Appendf(nil,
		"GET /%s?x=1%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept-Language: %s\r\nReferer: %s\r\n\r\n",
		slug, query, host, fill(30), fill(click.MaxReferer))
}

// flood sends requests over eight connections, each as fast as answers arrive. stop ends it.
func flood(t *testing.T, addr string, requests [][]byte, n *atomic.Int64) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for k := range 8 {
		running.Go(func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			in := make([]byte, 64<<10)
			for i := k; ctx.Err() == nil; i++ {
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				if _, err := conn.Write(requests[i%len(requests)]); err != nil {
					t.Error(err)
					return
				}
				// An answer is a header without a body.
				for got := 0; ; {
					m, err := conn.Read(in[got:])
					if got += m; err != nil && err != io.EOF || m == 0 {
						t.Errorf("after %q: %v", in[:got], err)
						return
					}
					if strings.HasSuffix(string(in[:got]), "\r\n\r\n") {
						break
					}
				}
				if n.Add(1) == 1 && !strings.HasPrefix(string(in[:12]), "HTTP/1.1 302") {
					t.Errorf("unexpected answer: %q", in[:64])
					return
				}
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

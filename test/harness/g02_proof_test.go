//go:build proof

package harness_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG02 stops Kafka for DUR, then the control plane, too, and kills an edge meanwhile. Redirects continue, memory stays bounded,
// and every click arrives after Kafka is back.
func TestG02_kafka_is_gone(t *testing.T) {
	away := long(t, 10*time.Minute)
	p, slugs := published(t, 1000)
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p})
	c := newCrowd(t)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 8, Rate: float64(rate(t, 5000))}
	before := c.during(cfg, func() { fleet.Hold(max(3*time.Second, away/10)) })

	survivor := f.Edges[1]
	memory, peak := survivor.Memory(), 0.0
	f.Kafka.Kill()
	during := c.during(cfg, func() {
		fleet.Hold(away / 2)
		testkit.Must(t, p.Close())
		f.Edges[0].Kill()
		f.Edges[0].Start()
		fleet.Hold(away / 2)
		peak = f.Edges[0].Metric("shortline_spool_clicks_pending") + survivor.Metric("shortline_spool_clicks_pending")
	})
	grown := survivor.Memory() - memory
	testkit.Must(t, p.Reopen())
	f.Kafka.Start()
	began := time.Now()
	f.Shipped()
	drained := time.Since(began)
	t.Logf("before: %v", before)
	t.Logf("without Kafka for %v: %v", away, during)
	t.Logf("%.0f clicks waited and were shipped in %s (%.0f/s); memory of the edge that kept running %+d MiB; p99 ratio %.2f",
		peak, drained.Round(time.Millisecond), peak/drained.Seconds(), grown/mebibyte, float64(during.Slow.Quantile(0.99))/
			float64(before.Slow.Quantile(0.99)))
	if grown > 64*mebibyte {
		t.Errorf("memory grew by %d MiB", grown/mebibyte)
	}
	if rate := peak / drained.Seconds(); away >= time.Minute && rate < 3*float64(cfg.Rate) {
		t.Errorf("shipped %.0f clicks/s, less than three times the request rate", rate)
	}
	if len(during.Other) > 0 {
		t.Errorf("answers other than redirects: %v", during.Other)
	}
	inTopic(t, f, c)
}

// TestG03 simulates a bad network between edges and Kafka: lost replies, stalls, resets, low bandwidth. Senders may
// write duplicates to the topic; without duplicates there must be as many clicks as answers.
func TestG03_kafka_behind_a_bad_network(t *testing.T) {
	t.Parallel()
	rounds := count(t, 60)
	p, slugs := published(t, 100)
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p})
	c := newCrowd(t)
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 8, Rate: 3000}, func() {
		for range rounds {
			for _, fault := range []faultproxy.Fault{
				{LoseReply: 0.3}, {Latency: 400 * time.Millisecond}, {Hole: true}, {LoseReply: 1}, {Rate: 64 << 10}, {CutAfter: 2000},
				{Refuse: true},
				{Flip: 3000},
			} {
				f.KafkaProxy.Set(fault)
				fleet.Hold(700 * time.Millisecond)
				f.KafkaProxy.Set(faultproxy.Fault{})
				fleet.Hold(200 * time.Millisecond)
			}
		}
	})
	t.Logf("load: %v; Kafka proxy: %+v", r, f.KafkaProxy.Stats())
	account := inTopic(t, f, c)
	if account.Repeats == 0 || f.KafkaProxy.Stats().LostReplies == 0 {
		t.Error("no batch was sent twice, so the faults had no effect")
	}
	if len(r.Other) > 0 || r.Broken > 0 {
		t.Errorf("redirects failed: %v", r)
	}
}

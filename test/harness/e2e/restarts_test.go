package e2e_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// grace is the time limit for a graceful stop.
const grace = 10 * time.Second

// restarts restarts every program under load, one after the other, like an upgrade. Clients of a stopped edge may fail
// to connect. Every answered request must be counted, and no other.
func (in *installation) restarts(t *testing.T) {
	api := in.Controls[0].Login(t)
	_, slugs := in.links(t, api, 20)
	for i, e := range in.Edges {
		var others []string
		for k, other := range in.Edges {
			if k != i {
				others = append(others, other.Addr)
			}
		}
		there := in.crowd(t, load.Config{Addrs: others, Slugs: slugs, Clients: 4, Rate: 200})
		here := in.crowd(t, load.Config{Addrs: []string{e.Addr}, Slugs: slugs, Clients: 4, Rate: 200})
		time.Sleep(time.Second) // load before the next step
		began := time.Now()
		if err := e.Stop(grace); err != nil {
			t.Error(err)
		}
		stopped := time.Since(began)
		started := e.Start()
		time.Sleep(500 * time.Millisecond) // load before the next step
		a, b := here(), there()
		t.Logf("%s: stopped in %s, ready again in %s; its load: %v; load of the other edges: %v", e.Name, ms(stopped), ms(started), a, b)
		if len(a.Other) > 0 || a.Acked == 0 {
			t.Errorf("%s: wrong answers: %v", e.Name, a)
		}
		if n := failures(b); n != 0 {
			t.Errorf("%d requests to other edges failed while %s restarted: %v", n, e.Name, b)
		}
	}
	parts := []*fleet.Process{in.Controls[0].Process, in.Controls[1].Process, in.Kafka, in.ClickHouse, in.Postgres}
	stop := in.crowd(t, load.Config{Addrs: in.EdgeAddrs(), Slugs: slugs, Clients: 6, Rate: 200})
	for _, p := range parts {
		time.Sleep(500 * time.Millisecond) // load before the next step
		limit := grace
		if p == in.Kafka {
			limit = time.Minute // third-party program; its container has the same limit
		}
		began := time.Now()
		if err := p.Stop(limit); err != nil && p != in.ClickHouse { // the test server of the engine does not catch the signal
			t.Error(err)
			p.Kill()
		}
		t.Logf("%s: stopped in %s, ready again in %s", p.Name, ms(time.Since(began)), ms(p.Start()))
	}
	time.Sleep(500 * time.Millisecond) // load before the next step
	r := stop()
	t.Logf("load during the restarts: %v", r)
	if n := failures(r); n != 0 {
		t.Errorf("%d requests of visitors failed: %v", n, r)
	}
	if v := in.exact(t, api); v.InDoubt > 0 {
		t.Errorf("%d redirects were counted without an answer; a stopping edge must finish its requests in flight", v.InDoubt)
	}
	in.allAgree(t, api)
}

// stop stops every program of the installation gracefully.
func (in *installation) stop(t *testing.T) {
	for _, n := range append(append([]*fleet.Node{}, in.Edges...), in.Controls...) {
		began := time.Now()
		if err := n.Stop(grace); err != nil {
			t.Error(err)
		}
		t.Logf("%s ended in %s", n.Name, ms(time.Since(began)))
	}
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

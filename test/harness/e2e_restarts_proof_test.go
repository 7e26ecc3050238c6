//go:build proof

package harness_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/truth"
)

// stopped stops a process gracefully within two minutes, and returns how long that took. A busy machine needs some seconds. The
// programs themselves give up after ten.
func stopped(t *testing.T, p *fleet.Process) time.Duration {
	t.Helper()
	began := time.Now()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	took := time.Since(began)
	if took > 2*time.Minute {
		t.Errorf("%s stopped after %v", p.Name, took)
	}
	return took
}

// restarts restarts every program under load, one after the other, like an upgrade. Clients of a stopped edge may fail
// to connect. Every answered request must be counted, and no other.
func (in *installation) restarts(t *testing.T) {
	in.api = in.Controls[0].Login(t)
	slugs := in.served(20)
	for i, e := range in.Edges {
		var others []string
		for k, other := range in.Edges {
			if k != i {
				others = append(others, other.Addr)
			}
		}
		there := in.crowd.start(load.Config{Addrs: others, Slugs: slugs, Clients: 4, Rate: 200})
		const clients = 32
		here := in.crowd.start(load.Config{Addrs: []string{e.Addr}, Slugs: slugs, Clients: clients}) // full load
		in.crowd.more(2000)
		down := stopped(t, e.Process)
		started := e.Start()
		in.crowd.more(200)
		a, b := here(), there()
		t.Logf("%s: stopped in %s, ready again in %s; its load: %v; load of the other edges: %v", e.Name, ms(down), ms(started), a, b)
		if len(a.Other) > 0 || a.Acked == 0 {
			t.Errorf("%s: wrong answers: %v", e.Name, a)
		}
		// A client can lose two requests at a stop. The edge closes its connection while the request is on its way, and the
		// kernel resets its next connection, which waits to be accepted when the port closes.
		if a.Broken > 2*clients {
			t.Errorf("%d requests got no complete answer from %s", a.Broken, e.Name)
		}
		if n := failures(b); n != 0 {
			t.Errorf("%d requests to other edges failed while %s restarted: %v", n, e.Name, b)
		}
	}
	parts := []*fleet.Process{in.Controls[0].Process, in.Controls[1].Process, in.Kafka, in.ClickHouse, in.Postgres}
	stop := in.crowd.start(load.Config{Addrs: in.EdgeAddrs(), Slugs: slugs, Clients: 6, Rate: 200})
	for _, p := range parts {
		in.crowd.more(100)
		down := time.Duration(0)
		if p == in.ClickHouse { // the test server of the engine does not catch the signal
			p.Kill()
		} else {
			down = stopped(t, p)
		}
		t.Logf("%s: stopped in %s, ready again in %s", p.Name, ms(down), ms(p.Start()))
	}
	in.crowd.more(100)
	r := stop()
	t.Logf("load during the restarts: %v", r)
	if n := failures(r); n != 0 {
		t.Errorf("%d requests of visitors failed: %v", n, r)
	}
	if v := in.exact(t); v.InDoubt > 0 {
		t.Errorf("%d redirects were counted without an answer; a stopping edge must finish its requests in flight", v.InDoubt)
	}
	in.allAgree(t)
}

// stop stops every program of the installation gracefully.
func (in *installation) stop(t *testing.T) {
	for _, n := range append(append([]*fleet.Node{}, in.Edges...), in.Controls...) {
		t.Logf("%s ended in %s", n.Name, ms(stopped(t, n.Process)))
	}
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

func init() {
	parts = append(parts, part{"k6", (*installation).k6}, part{"restarts", (*installation).restarts},
		part{"stop", (*installation).stop})
}

// served creates links and waits until every edge serves the last one.
func (in *installation) served(n int) (slugs []string) {
	for range n {
		slugs = append(slugs, in.newLink(in.api).Slug)
	}
	for _, e := range in.Edges {
		testkit.Eventually(in.t, e.Name+" serves the last link", func() bool {
			status, _, err := follow(e.Addr, slugs[n-1])
			return err == nil && status == http.StatusFound
		})
	}
	return slugs
}

// exact checks that ClickHouse has every click of the load once and no others, and that reports agree.
func (in *installation) exact(t *testing.T) truth.Verdict {
	t.Helper()
	in.api = in.Controls[0].Login(t) // its session may be as old as the fleet
	v := stored(t, in.Fleet, in.crowd, int64(in.crowd.log.Answered()+in.uncounted(t)))
	told := func() (sum int) {
		for _, l := range in.links {
			n, err := in.api.Report(l.ID)
			if err != nil {
				return -1
			}
			sum += n
		}
		return sum
	}
	reaches(t, "the reports show all clicks", v.Stored, told)
	if got := told(); got != v.Stored {
		t.Errorf("the reports show %d clicks, want %d", got, v.Stored)
	}
	return v
}

// failures counts answers and broken connections that no visitor should see.
func failures(r *load.Result) int64 {
	bad := r.Broken + r.Refused
	for _, n := range r.Other {
		bad += n
	}
	return bad
}

package harness_test

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/clickstore"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/plane"
	"github.com/shortline/shortline/test/harness/topic"
	"github.com/shortline/shortline/test/harness/truth"
)

// crowd is a load that runs in the background.
type crowd struct {
	t    *testing.T
	log  *truth.Log
	next int // number of the first client of the next run
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	log, err := truth.Create(filepath.Join(t.TempDir(), "truth"))
	testkit.Must(t, err)
	return &crowd{t: t, log: log}
}

// start begins a run. stop ends it and returns its result.
func (c *crowd) start(cfg load.Config) (stop func() *load.Result) {
	cfg.Log, cfg.First = c.log, c.next
	if cfg.Clients == 0 {
		cfg.Clients = 8
	}
	c.next += cfg.Clients
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *load.Result, 1)
	go func() { done <- load.Run(ctx, cfg) }()
	stop = sync.OnceValue(func() *load.Result {
		cancel()
		return <-done
	})
	c.t.Cleanup(func() { stop() })
	return stop
}

// more waits until n more requests were redirected.
func (c *crowd) more(n int) {
	c.t.Helper()
	want := c.log.Answered() + n
	reaches(c.t, "more visitors are redirected", want, c.log.Answered)
}

// during runs a load while f runs.
func (c *crowd) during(cfg load.Config, f func()) *load.Result {
	stop := c.start(cfg)
	f()
	return stop()
}

// file closes the record and returns its path.
func (c *crowd) file() string {
	c.t.Helper()
	testkit.Must(c.t, c.log.Close())
	return c.log.Path()
}

// exact checks that a verdict has no errors and that it covers at least one request.
func exact(t *testing.T, where string, v truth.Verdict, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	t.Logf("%s: %v", where, v)
	if !v.Exact() || v.Acked == 0 {
		t.Errorf("%s differs from the answered requests: %v", where, v)
	}
}

// unharmed checks that all requests of a load were redirected.
func unharmed(t *testing.T, what string, r *load.Result) {
	t.Helper()
	if len(r.Other) > 0 || r.Broken > 0 || r.Refused > 0 || r.Acked == 0 {
		t.Errorf("%s: not all requests of visitors were redirected: %v", what, r)
	}
}

// answers waits until an edge answers requests for a link with a status and a Location.
func answers(t *testing.T, e *fleet.Node, slug string, status int, location string) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("%s answers %d %s for %s", e.Name, status, location, slug), func() bool {
		got, to, err := follow(e.Addr, slug)
		return err == nil && got == status && to == location
	})
}

// newPlane returns a plane without links.
func newPlane(t *testing.T) *plane.Plane {
	t.Helper()
	p, err := plane.New(testkit.FreeAddr(t))
	testkit.Must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// published returns a plane with the links link0 to link<n-1>.
func published(t *testing.T, n int) (*plane.Plane, []string) {
	t.Helper()
	p := newPlane(t)
	records := make([]link.Record, n)
	slugs := make([]string, n)
	for i := range records {
		slugs[i] = fmt.Sprintf("link%d", i)
		records[i] = link.Record{Num: uint64(i + 1), Owner: 1, Key: slugs[i], Destination: "https://example.com/" + slugs[i], CreatedAt: 1}
	}
	p.Publish(records...)
	return p, slugs
}

// inTopic waits until every edge has shipped its clicks, then compares the topic with the record.
func inTopic(t *testing.T, f *fleet.Fleet, c *crowd) *topic.Account {
	t.Helper()
	f.Shipped()
	account, err := topic.Read(t.Context(), f.Brokers(), fleet.Topic)
	testkit.Must(t, err)
	t.Logf("topic: %v", account)
	if account.Missing != 0 || account.Clashes != 0 || account.Foreign != 0 {
		t.Errorf("the audit of the topic found errors: %v", account)
	}
	v, err := truth.Judge(c.log.Path(), account.Contents())
	exact(t, "topic", v, err)
	return account
}

// clicks returns the number of stored clicks; -1 if a server does not answer.
func clicks(t *testing.T, set clickstore.Set) int {
	n, err := set.Clicks(t.Context())
	if err != nil {
		return -1
	}
	return n
}

// stored waits until ClickHouse has as many clicks as there were answers, then compares both.
func stored(t *testing.T, f *fleet.Fleet, c *crowd, acked int64) truth.Verdict {
	t.Helper()
	f.Shipped()
	began, all := time.Now(), f.Everything()
	reaches(t, "ClickHouse has every answered click", int(acked), func() int { return clicks(t, all) })
	took := time.Since(began).Round(time.Millisecond)
	account, err := all.Account(t.Context())
	testkit.Must(t, err)
	t.Logf("ClickHouse, %s after the last answer: %v", took, account)
	if account.Missing != 0 {
		t.Errorf("clicks are missing in lanes: %v", account)
	}
	contents, err := all.Contents(t.Context())
	testkit.Must(t, err)
	v, err := truth.Judge(c.log.Path(), contents)
	exact(t, "ClickHouse", v, err)
	return v
}

// portOf returns the port of an address, host:port.
func portOf(t *testing.T, addr string) int {
	t.Helper()
	at, err := netip.ParseAddrPort(addr)
	testkit.Must(t, err)
	return int(at.Port())
}

// percentile returns the q-quantile of durations.
func percentile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	i := min(len(all)-1, int(q*float64(len(all))))
	return all[i]
}

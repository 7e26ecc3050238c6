package edge_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// readiness returns the answer of /readyz.
func readiness(t *testing.T, e *edge.Edge) (int, string) {
	t.Helper()
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + e.Addr().String() + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	testkit.Must(t, err)
	return resp.StatusCode, string(text)
}

// After it was asked to stop, an edge tells load balancers to leave it out, and still answers visitors for a while. All
// clicks of this time are delivered.
func TestEdge_drains_before_it_stops(t *testing.T) {
	t.Parallel()
	c := newControl()
	c.put(link.Record{Num: 1, Owner: 1, Key: "spring", Destination: "https://example.com/", CreatedAt: 1})
	cfg := config(t)
	cfg.DrainDelay = time.Hour
	e, err := edge.New(cfg, edge.Deps{Links: c, Sink: c, Logger: quiet})
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	draining, end := context.WithCancel(e.Drain(ctx))
	go func() { done <- e.Run(draining) }()
	<-e.Started()
	testkit.Eventually(t, "the edge is ready", func() bool {
		code, text := readiness(t, e)
		return code == 200 && text == `{"status":"ready"}`
	})
	cancel()
	testkit.Eventually(t, "the edge is not ready", func() bool {
		code, text := readiness(t, e)
		return code == 503 && text == `{"status":"not ready","reasons":["draining"]}`
	})
	const visits = 20
	for range visits {
		if code, to := status(t, e, "/spring"); code != 302 || to != "https://example.com/" {
			t.Fatalf("a visit while the edge drains: %d %s", code, to)
		}
	}
	if code, _ := status(t, e, "/healthz"); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	end() // as the delay does
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c.count() != visits {
		t.Errorf("%d clicks of %d are delivered", c.count(), visits)
	}
}

// The context of a draining edge ends after the delay, not before.
func TestEdge_drains_for_the_delay(t *testing.T) {
	t.Parallel()
	cfg, c := config(t), newControl()
	cfg.DrainDelay = 20 * time.Second
	e, err := edge.New(cfg, edge.Deps{Links: c, Sink: c, Logger: quiet})
	testkit.Must(t, err)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		draining := e.Drain(ctx)
		began := time.Now()
		cancel()
		<-draining.Done()
		if d := time.Since(began); d != cfg.DrainDelay {
			t.Errorf("stopped after %v", d)
		}
	})
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// An edge without links says so.
func TestEdge_says_why_it_is_not_ready(t *testing.T) {
	t.Parallel()
	c := newControl()
	c.setAway(true)
	e, _ := run(t, config(t), edge.Deps{Links: c, Sink: c})
	<-e.Started()
	if code, text := readiness(t, e); code != 503 || !strings.Contains(text, `"reasons":["links not loaded yet"]`) {
		t.Errorf("%d %s", code, text)
	}
	c.setAway(false)
	testkit.Eventually(t, "the edge is ready", func() bool { code, _ := readiness(t, e); return code == 200 })
	bad := config(t)
	bad.DrainDelay = -time.Second
	if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "DRAIN_DELAY") {
		t.Errorf("a negative delay: %v", err)
	}
}

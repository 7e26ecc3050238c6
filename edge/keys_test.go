package edge_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// lateHosts sends the keys of click ids when it is closed. A nil lateHosts is a control plane that is away.
type lateHosts chan struct{}

func (l lateHosts) Hosts(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	if l == nil {
		return nil, errAway
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l:
	}
	if after.Revision > 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	first, last := conversion.PeriodsAt(time.Now(), 0)
	return snapshot.AppendHosts(nil, &snapshot.Hosts{Cursor: snapshot.Cursor{Incarnation: 1, Revision: 1}, Full: true,
		Conversions: &snapshot.Conversions{
			Keys: conversion.Derive([][]byte{[]byte("a secret")}, first, last), Window: time.Hour.Milliseconds(),
		}}, snapshot.SigningKey{}), nil
}

// No visitor reaches a tracked destination without a click id: a new edge waits for the keys, and an edge that starts without a
// control plane has those of its last run.
func TestEdge_has_keys_before_it_serves_tracked_links(t *testing.T) {
	t.Parallel()
	cfg, c, late := config(t), newControl(), make(lateHosts)
	c.put(link.Record{Key: "shop", Num: 1, Destination: "https://shop.example/", TrackConversions: true})
	e, stop := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: late})
	testkit.Eventually(t, "links", func() bool { return e.Applied().Revision == 1 })
	for range 20 {
		if code, to := status(t, e, "/shop"); code != http.StatusServiceUnavailable || e.Ready() {
			t.Fatalf("%d to %q before the keys have come; ready: %t", code, to, e.Ready())
		}
	}
	close(late)
	testkit.Eventually(t, "keys", e.Ready)
	if code, to := status(t, e, "/shop"); code != http.StatusFound || !strings.Contains(to, link.DefaultClickParameter+"=") {
		t.Fatalf("%d to %q after the keys have come", code, to)
	}
	stop()

	c.setAway(true)
	e, _ = run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: lateHosts(nil)})
	<-e.Started()
	if code, to := status(t, e, "/shop"); code != http.StatusFound || !strings.Contains(to, link.DefaultClickParameter+"=") {
		t.Fatalf("%d to %q after a start without a control plane", code, to)
	}
}

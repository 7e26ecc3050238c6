package presence_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// positions returns the Positions of one replica.
func positions(f *fleet, local bool) *presence.Positions {
	return presence.NewPositions(presence.PositionsConfig{Local: local, Logger: slog.New(slog.DiscardHandler), Now: f.now}, f.store)
}

// quiet is a source of links that never change.
type quiet struct{ snapshot.Source }

func (quiet) Changes(context.Context, snapshot.Cursor) ([]byte, error) { return nil, nil }

func (f *fleet) at(revision uint64) snapshot.Cursor {
	f.Helper()
	incarnation, err := f.store.Incarnation(f.Context())
	testkit.Must(f, err)
	return snapshot.Cursor{Incarnation: incarnation, Revision: revision}
}

// counts calls Await with a context that has ended.
func (f *fleet) counts(p *presence.Positions, revision uint64) string {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	applied, connected, err := p.Await(ctx, revision)
	testkit.Must(f, err)
	return fmt.Sprintf("%d/%d", applied, connected)
}

func TestAPI1_positions_of_edges(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		p := positions(f, false)
		expect := func(what, want string) {
			f.Helper()
			testkit.Equal(f, f.counts(p, 5), want, "%s", what)
		}
		expect("no edge", "0/0")
		p.Applied("e1", f.at(4))
		p.Applied("e2", f.at(5))
		expect("one is behind", "1/2")
		p.Applied("e1", snapshot.Cursor{Incarnation: 99, Revision: 7})
		expect("one is of another incarnation", "1/2")
		p.Applied("e1", f.at(7))
		expect("both have applied it", "2/2")
		p.Applied("e1", f.at(3))
		expect("a late report changes nothing", "2/2")
		p.Applied("e3", f.at(0))
		expect("a third is new", "2/3")
		f.pass(presence.Alive / 2)
		p.Applied("e1", f.at(7))
		p.Applied("e2", f.at(7))
		f.pass(presence.Alive/2 + time.Second)
		expect("the third is not connected any more", "2/2")
	})
}

func TestAPI1_the_own_edge_counts_before_it_has_asked(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		p := positions(f, true)
		testkit.Equal(f, f.counts(p, 1), "0/1", "before the edge has asked")
		p.Applied("e1", f.at(1))
		testkit.Equal(f, f.counts(p, 1), "1/1", "after it")
	})
}

// Edges of older releases do not name themselves when they ask. Their reports count, at any replica.
func TestAPI1_reports_tell_of_edges_at_other_replicas(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		there := presence.New(presence.Config{Logger: slog.New(slog.DiscardHandler), Now: f.now, Positions: positions(f, false)}, f.store)
		s := status("r1", "", 5)
		s.Cursor = f.at(5)
		testkit.Must(f, report(f.Context(), there, s))
		here := positions(f, false)
		testkit.Equal(f, f.counts(here, 5), "1/1", "revision 5")
		testkit.Equal(f, f.counts(here, 6), "0/1", "revision 6")
	})
}

// open returns the store of another replica.
func open(t *testing.T, url string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{URL: url, Logger: slog.New(slog.DiscardHandler)})
	testkit.Must(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

// The edge is connected to one replica and the change is made at another. The database only has the edge's first report, so
// only an announcement can arrive in time.
func TestAPI1_a_replica_hears_of_the_edges_of_another(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	f, g := &fleet{T: t, store: open(t, url)}, &fleet{T: t, store: open(t, url)}
	here, there := positions(f, false), positions(g, false)
	for _, part := range []interface{ Run(context.Context) error }{f.store, g.store, here, there} {
		testkit.Run(t, part.Run)
	}
	tracker, links := presence.New(presence.Config{Logger: slog.New(slog.DiscardHandler), Positions: there}, g.store),
		there.Observe(quiet{})
	s := status("r1", "", 0)
	s.Cursor = f.at(0)
	testkit.Must(t, report(t.Context(), tracker, s))
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for revision := uint64(1); revision <= 20; revision++ {
		type counts struct {
			applied, connected int
			err                error
		}
		answered := make(chan counts, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			var c counts
			c.applied, c.connected, c.err = here.Await(ctx, revision)
			answered <- c
		}()
		select {
		case c := <-answered:
			t.Fatalf("revision %d was not waited for: %+v", revision, c)
		case <-pace.C: // it waits, usually
		}
		if _, err := links.Changes(snapshot.WithAsker(ctx, "e1"), g.at(revision)); err != nil {
			t.Fatal(err)
		}
		if c := <-answered; c.err != nil || c.applied != 1 || c.connected != 1 {
			t.Fatalf("revision %d: %+v", revision, c)
		}
		cancel()
	}
}

// An announcement is lost because the replica that waits has not begun to listen. It asks again, and is told again.
func TestPositions_repeats_a_lost_announcement(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	f, g, listener := &fleet{T: t, store: open(t, url)}, &fleet{T: t, store: open(t, url)}, open(t, url)
	var announced atomic.Bool
	listener.OnAnnouncement(func(text string) {
		if strings.HasPrefix(text, "applied") {
			announced.Store(true)
		}
	})
	here, there := positions(f, false), positions(g, false)
	testkit.Run(t, listener.Run)
	testkit.Run(t, g.store.Run)
	testkit.Run(t, there.Run)
	s := status("r1", "", 0)
	s.Cursor = f.at(0)
	testkit.Must(t, report(t.Context(), presence.New(presence.Config{Logger: slog.New(slog.DiscardHandler), Positions: there}, g.store), s))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	applied := make(chan int, 1)
	go func() {
		n, _, err := here.Await(ctx, 1)
		if err != nil {
			t.Error(err)
		}
		applied <- n
	}()
	there.Applied("e1", g.at(1))
	testkit.Eventually(t, "the first announcement", announced.Load)
	testkit.Run(t, f.store.Run) // the waiting replica begins to listen only now
	testkit.Equal(t, <-applied, 1, "edges that have applied the revision")
}

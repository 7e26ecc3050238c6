package presence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fleet is a store that replicas share, and a clock.
type fleet struct {
	*testing.T
	store  *store.Store
	offset atomic.Int64
	log    bytes.Buffer
}

func (f *fleet) now() time.Time { return time.Now().Add(time.Duration(f.offset.Load())) }

func (f *fleet) pass(d time.Duration) { f.offset.Add(int64(d)) }

func (f *fleet) replica() *presence.Tracker {
	return presence.New(presence.Config{Logger: slog.New(slog.NewTextHandler(&f.log, nil)), Now: f.now}, f.store)
}

// report sends a report and drops the orders.
func report(ctx context.Context, to *presence.Tracker, s snapshot.Status) error {
	_, err := to.Report(ctx, s)
	return err
}

func (f *fleet) only() store.EdgeReport {
	f.Helper()
	list, err := f.store.EdgeReports(f.Context(), 0)
	if err != nil || len(list) != 1 {
		f.Fatalf("%d edges, %v", len(list), err)
	}
	return list[0]
}

func status(run, before string, revision uint64) snapshot.Status {
	return snapshot.Status{Edge: "e1", Version: "v1", Run: run, Before: before, Cursor: snapshot.Cursor{Incarnation: 1, Revision: revision},
		Address: "https://e1.example"}
}

func eachFleet(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) { test(&fleet{T: t, store: s}) })
}

func TestTracker_every_replica_knows_every_edge(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		a, b := f.replica(), f.replica()
		ctx := f.Context()
		for _, r := range []error{report(ctx, a, status("r1", "", 5)), report(ctx, b, snapshot.Status{Edge: "e2", Run: "x"})} {
			if r != nil {
				f.Fatal(r)
			}
		}
		list, err := f.store.EdgeReports(ctx, 0)
		if err != nil || len(list) != 2 || list[0].Edge != "e1" || list[0].Run != "r1" || list[1].Edge != "e2" {
			f.Fatalf("%+v, %v", list, err)
		}
		var got snapshot.Status
		if err := json.Unmarshal([]byte(list[0].Status), &got); err != nil || got.Cursor.Revision != 5 ||
			got.Address != "https://e1.example" {
			f.Errorf("%+v, %v", got, err)
		}
		if later, err := f.store.EdgeReports(ctx, f.now().Add(time.Minute).UnixMilli()); err != nil || len(later) != 0 {
			f.Errorf("edges seen in the future: %v, %v", later, err)
		}
		if problems, err := testutil.CollectAndLint(a); err != nil || len(problems) > 0 {
			f.Errorf("%v %v", problems, err)
		}
	})
}

func TestTracker_writes_seldom_and_nothing_is_left(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		p := f.replica()
		ctx := f.Context()
		for rev := uint64(1); rev <= 50; rev++ {
			testkit.Must(f, report(ctx, p, status("r1", "", rev)))
		}
		if r := f.only(); !strings.Contains(r.Status, `"Revision":1,`) && !strings.Contains(r.Status, `"Revision":1}`) {
			f.Errorf("written too soon: %s", r.Status)
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		testkit.Must(f, p.Run(over))
		if r := f.only(); !strings.Contains(r.Status, `"Revision":50`) {
			f.Errorf("after the end: %s", r.Status)
		}
	})
}

func TestTracker_a_second_live_edge_is_refused(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		ctx := f.Context()
		a, b := f.replica(), f.replica()
		twin := func(err error) {
			f.Helper()
			if !errors.Is(err, snapshot.ErrTwin) {
				f.Fatalf("error %v", err)
			}
		}
		testkit.Must(f, report(ctx, a, status("r1", "r0", 1)))
		// A restart takes over at once, at any replica. The deferred report of the old run does not count as a duplicate.
		testkit.Must(f, report(ctx, a, status("r1", "r0", 2))) // deferred
		testkit.Must(f, report(ctx, b, status("r2", "r1", 2)))
		over, cancel := context.WithCancel(ctx)
		cancel()
		testkit.Must(f, a.Run(over))
		if r := f.only(); r.Run != "r2" || r.Twin != "" {
			f.Fatalf("after a restart: %+v", r)
		}
		// A copy of an older folder does not follow the live run.
		twin(report(ctx, a, status("copy", "r1", 2)))
		twin(report(ctx, b, status("copy", "r1", 2)))
		f.pass(presence.Alive / 2)
		testkit.Must(f, report(ctx, b, status("r2", "r1", 3)))
		f.pass(presence.Alive / 2)
		twin(report(ctx, a, status("copy", "r1", 2)))
		if r := f.only(); r.Run != "r2" || r.Twin != "copy" || r.TwinAt == 0 {
			f.Errorf("%+v", r)
		}
		testkit.Equal(f, strings.Count(f.log.String(), "duplicate edge id"), 2, "log lines at two replicas: %s", &f.log)
		// The copy is accepted when the other run is not alive any more.
		f.pass(presence.Alive)
		testkit.Must(f, report(ctx, a, status("copy", "r1", 2)))
		twin(report(ctx, b, status("r2", "r1", 3)))
		// Edges of an older release send no runs.
		for range 2 {
			testkit.Must(f, report(ctx, a, snapshot.Status{Edge: "old"}))
		}
	})
}

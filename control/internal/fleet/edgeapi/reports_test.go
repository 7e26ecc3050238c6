package edgeapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
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

func eachFleet(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) { test(&fleet{T: t, store: s}) })
}

func (f *fleet) now() time.Time { return time.Now().Add(time.Duration(f.offset.Load())) }

func (f *fleet) pass(d time.Duration) { f.offset.Add(int64(d)) }

func (f *fleet) tracker() *presence.Tracker {
	return presence.New(presence.Config{Logger: slog.New(slog.NewTextHandler(&f.log, nil)), Now: f.now}, f.store)
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
	return snapshot.Status{Edge: "e1", Version: "v1", Run: run, Before: before, Cursor: snapshot.Cursor{Incarnation: 1, Revision: revision}}
}

func TestServer_answers_reports(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		w := &world{T: f.T, store: f.store}
		w.url = w.serve(edgeapi.Config{}, edgeapi.Deps{Reports: f.tracker()})
		post := func(s snapshot.Status) (int, string) {
			f.Helper()
			text, err := json.Marshal(s)
			testkit.Must(f, err)
			res, body := w.call("POST", w.url+"/edge/v1/status", string(text))
			return res.StatusCode, strings.TrimSpace(string(body))
		}
		if code, body := post(status("r1", "", 1)); code != 204 || body != "" {
			f.Errorf("%d %s", code, body)
		}
		if code, body := post(status("r9", "r8", 1)); code != 409 || !strings.Contains(body, "another live edge has the same id") {
			f.Errorf("%d %s", code, body)
		}
		order := click.Range{Epoch: 3, Lane: 2, From: 10, To: 19}
		gap, other := store.ClickRange{Edge: "e1", Range: order}, store.ClickRange{Edge: "e2", Range: click.Range{Epoch: 1, From: 1, To: 2}}
		note := func() {
			f.Helper()
			now := f.now().UnixMilli()
			testkit.Must(f, f.store.Tx(f.Context(), func(tx *store.Tx) error {
				return tx.NoteGaps(f.Context(), now, now+60_000, []store.ClickRange{gap, other})
			}))
		}
		gaps := func() store.ClickGap {
			f.Helper()
			list, err := f.store.ClickGaps(f.Context())
			if err != nil || len(list) != 2 {
				f.Fatalf("%v, %v", list, err)
			}
			return list[0]
		}
		note()
		if code, _ := post(status("r1", "", 2)); code != 204 {
			f.Errorf("an order that is not due is given: %d", code)
		}
		f.pass(61 * time.Second)
		if code, body := post(status("r1", "", 2)); code != 200 || body != `{"orders":[{"epoch":3,"lane":2,"from":10,"to":19}]}` {
			f.Errorf("%d %s", code, body)
		}
		if code, _ := post(status("r1", "", 2)); code != 204 || gaps().Asked != 1 {
			f.Errorf("an order is given twice in a row: %d", code)
		}
		// The edge's answer survives the next audit. A repair that cannot be carried out is not ordered again.
		s := status("r1", "", 2)
		s.Repairs = []snapshot.Repair{{Range: order, Refused: "busy", Again: true}}
		post(s)
		f.pass(2 * time.Minute)
		note()
		if code, _ := post(status("r1", "", 2)); code != 200 {
			f.Errorf("after the edge was busy: %d", code)
		}
		s.Repairs = []snapshot.Repair{{Range: order, Refused: "gone"}}
		post(s)
		f.pass(time.Hour)
		note()
		if code, _ := post(status("r1", "", 2)); code != 204 || gaps().Refused != "gone" || !gaps().Held.Valid || gaps().Asked != 2 {
			f.Errorf("%d, %+v", code, gaps())
		}
	})
}

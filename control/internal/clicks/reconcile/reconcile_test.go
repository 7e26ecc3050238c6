package reconcile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/reconcile"
	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const token = "a-token-of-an-edge"

// world is a control plane with an edge that reports to it, and ships to it over a connection that may swallow batches.
type world struct {
	*testing.T
	store   *store.Store
	clicks  analytics.Store
	in      *ingest.Ingester
	auditor *reconcile.Auditor
	url     string
	offset  atomic.Int64 // of the clock

	edge    uint64
	spool   map[click.Lane]map[uint64]click.Event
	swallow bool
	repairs []snapshot.Repair
}

func newWorld(t *testing.T, st *store.Store, clicks analytics.Store) *world {
	w := &world{T: t, store: st, clicks: clicks, edge: 0xfedcba9876543210, spool: map[click.Lane]map[uint64]click.Event{}}
	now := func() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }
	w.in = ingest.New(ingest.Config{}, st, clicks, nil)
	w.auditor = reconcile.New(reconcile.Config{Now: now}, st, clicks)
	server, err := edgeapi.New(edgeapi.Config{Tokens: []string{token}}, edgeapi.Deps{Reports: presence.New(presence.Config{Now: now}, st)})
	w.ok(err)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	w.url = listener.URL
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

func (w *world) lane(n uint8) click.Lane { return click.Lane{Edge: w.edge, Epoch: 3, Lane: n} }

// take records clicks and ships them as one batch.
func (w *world) take(lane uint8, from, to uint64) {
	w.Helper()
	l := w.lane(lane)
	if w.spool[l] == nil {
		w.spool[l] = map[uint64]click.Event{}
	}
	for seq := from; seq <= to; seq++ {
		w.spool[l][seq] = click.Event{Seq: seq, Time: time.Now().UnixMilli(), Link: 1, Owner: 1, IP: netip.MustParseAddr("192.0.2.1")}
	}
	w.ship(l, from, to, false)
}

func (w *world) ship(l click.Lane, from, to uint64, repair bool) (n uint64) {
	w.Helper()
	b := &click.Batch{Lane: l, First: from, Count: int(to - from + 1), Repair: repair}
	for seq := from; seq <= to; seq++ {
		e, ok := w.spool[l][seq]
		if !ok {
			return 0
		}
		b.Records = click.AppendRecord(b.Records, &e)
	}
	if !w.swallow {
		w.ok(w.in.Deliver(w.Context(), b))
	}
	return uint64(b.Count)
}

// report does what an edge's agent does every ten seconds: it reports its status, and ships what is ordered.
func (w *world) report() []click.Range {
	w.Helper()
	body, err := json.Marshal(snapshot.Status{Edge: fmt.Sprintf("%016x", w.edge), Run: "run", Repairs: w.repairs})
	w.ok(err)
	req, err := http.NewRequestWithContext(w.Context(), "POST", w.url+"/edge/v1/status", bytes.NewReader(body))
	w.ok(err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	w.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	w.ok(err)
	w.repairs = nil
	var answer snapshot.Answer
	switch res.StatusCode {
	case http.StatusNoContent:
	case http.StatusOK:
		w.ok(json.Unmarshal(text, &answer))
	default:
		w.Fatalf("%s: %s", res.Status, text)
	}
	for _, o := range answer.Orders {
		r := snapshot.Repair{Range: o, Held: w.ship(o.Of(w.edge), o.From, o.To, true)}
		if r.Held == 0 {
			r.Refused = "gone"
		}
		w.repairs = append(w.repairs, r)
	}
	return answer.Orders
}

// audit advances the clock, audits and compares the figures.
func (w *world) audit(after time.Duration, missing, gone int) {
	w.Helper()
	w.offset.Add(int64(after))
	w.ok(w.auditor.Audit(w.Context()))
	want := fmt.Sprintf(`# HELP shortline_audit_gap_clicks Missing clicks: neither stored nor reported as lost, although later clicks of the same lane are.
# TYPE shortline_audit_gap_clicks gauge
shortline_audit_gap_clicks %d
# HELP shortline_audit_gone_clicks Missing clicks that their edge no longer has.
# TYPE shortline_audit_gone_clicks gauge
shortline_audit_gone_clicks %d
`, missing, gone)
	if err := testutil.CollectAndCompare(w.auditor, strings.NewReader(want), "shortline_audit_gap_clicks",
		"shortline_audit_gone_clicks"); err != nil {
		w.Error(err)
	}
}

func eachStore(t *testing.T, f func(w *world)) {
	t.Parallel()
	t.Run("duckdb", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, st *store.Store) {
			clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
			testkit.Must(t, err)
			defer clicks.Close()
			f(newWorld(t, st, clicks))
		})
	})
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		clicks, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
		testkit.Must(t, err)
		defer clicks.Close()
		f(newWorld(t, storetest.Open(t), clicks))
	})
}

func TestAudit_finds_orders_and_closes_a_gap(t *testing.T) {
	eachStore(t, func(w *world) {
		w.take(0, 1, 10)
		w.take(1, 1, 10)
		w.audit(0, 0, 0)
		w.swallow = true
		w.take(0, 11, 30)
		w.take(1, 11, 15)
		w.swallow = false
		w.take(0, 31, 40)
		w.take(1, 16, 20)
		delete(w.spool[w.lane(1)], 12) // the edge no longer has all of it
		w.audit(time.Minute, 25, 0)
		if got := w.report(); len(got) != 0 {
			w.Fatalf("ordered at once: %v", got)
		}
		w.audit(time.Minute, 25, 0)
		w.offset.Add(int64(time.Minute + time.Second))
		got := w.report()
		want := []click.Range{{Epoch: 3, Lane: 0, From: 11, To: 30}, {Epoch: 3, Lane: 1, From: 11, To: 15}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			w.Fatalf("ordered %v, want %v", got, want)
		}
		w.report() // reports the result
		w.audit(time.Minute, 5, 5)
		r, err := reconcile.VerifyClicks(w.Context(), w.clicks)
		w.ok(err)
		if r.Clicks != 55 || r.Missing != 5 || len(r.Gaps) != 1 || r.Lost != 0 || r.Clean() {
			w.Errorf("%+v", r)
		}
		for range 3 { // lost clicks are not ordered forever
			w.offset.Add(int64(time.Hour))
			if got := w.report(); len(got) != 0 {
				w.Errorf("ordered again: %v", got)
			}
		}
		if problems, err := testutil.CollectAndLint(w.auditor); err != nil || len(problems) > 0 {
			w.Errorf("%v %v", problems, err)
		}
	})
}

func TestAudit_losses_are_no_gaps(t *testing.T) {
	eachStore(t, func(w *world) {
		w.take(0, 1, 10)
		// 11 to 20 were lost, as marker 21 reports.
		l := w.lane(0)
		w.spool[l][21] = click.Event{Seq: 21, Time: time.Now().UnixMilli(), LostFrom: 11, LostTo: 20}
		for seq := uint64(22); seq <= 30; seq++ {
			w.spool[l][seq] = click.Event{Seq: seq, Time: time.Now().UnixMilli(), Link: 1, Owner: 1}
		}
		w.ship(l, 21, 30, false)
		w.audit(0, 0, 0)
		r, err := reconcile.VerifyClicks(w.Context(), w.clicks)
		w.ok(err)
		var text strings.Builder
		if _, err := r.WriteTo(&text); err != nil {
			w.Fatal(err)
		}
		if r.Clicks != 19 || r.Missing != 0 || r.Lost != 10 || r.Clean() || !strings.Contains(text.String(), "10 clicks were lost") {
			w.Errorf("%+v\n%s", r, &text)
		}
	})
}

// drifting is a click store whose precomputed figures are wrong in every hour until mended is set.
type drifting struct {
	analytics.Store
	mended atomic.Bool
	asked  []time.Time
}

func (d *drifting) Drift(_ context.Context, from, to time.Time) (analytics.Drift, error) {
	d.asked = append(d.asked, from)
	if d.mended.Load() || to.Sub(from) > time.Hour {
		return analytics.Drift{Intervals: 4, Clicks: 7, Short: 7}, nil
	}
	return analytics.Drift{Intervals: 4, Clicks: 7, Short: 4, Hours: []int64{from.UnixMilli()}}, nil
}

func TestAudit_drift_stays_until_it_is_mended(t *testing.T) {
	t.Parallel()
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	defer clicks.Close()
	d := &drifting{Store: clicks}
	w := newWorld(t, storetest.Open(t), d)
	drift := func() float64 {
		w.Helper()
		w.ok(w.auditor.Audit(t.Context()))
		return gauge(t, w.auditor, "shortline_audit_drift_clicks")
	}
	first := drift()
	if first != 3 {
		t.Errorf("after one audit: %v clicks off, want 3", first)
	}
	if now := drift(); now < 3 {
		t.Errorf("after another: %v", now)
	}
	d.mended.Store(true)
	if now := drift(); now != 0 {
		t.Errorf("after the repair: %v", now)
	}
	for _, at := range d.asked {
		if at.Truncate(time.Hour) != at || at.After(time.Now().Add(-time.Hour)) {
			t.Errorf("%v is not a whole hour in the past", at)
		}
	}
}

func gauge(t *testing.T, c prometheus.Collector, name string) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	testkit.Must(t, registry.Register(c))
	families, err := registry.Gather()
	testkit.Must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

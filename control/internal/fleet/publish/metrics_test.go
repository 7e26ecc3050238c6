package publish_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	p := publish.New(w.store, publish.Config{BaseURL: "https://sho.rt", Dir: t.TempDir(), Hold: time.Minute})
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(p)
	value := func(name string) float64 {
		families, err := metrics.Gather()
		w.ok(err)
		for _, f := range families {
			if f.GetName() == "shortline_publish_"+name {
				m := f.GetMetric()[0]
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		t.Fatalf("no metric %s", name)
		return 0
	}
	w.create("first")
	took := make([]float64, 2)
	for i := range took { // the first call builds the document, and the second one gets the same
		doc, err := p.Snapshot(t.Context())
		w.ok(err)
		w.ok(doc.Close())
		took[i] = value("documents_seconds_total")
	}
	if took[0] <= 0 || took[1] != took[0] || value("errors_total") != 0 {
		t.Errorf("%v seconds after each document, %v errors", took, value("errors_total"))
	}
	incarnation, head, err := w.store.Head(t.Context())
	w.ok(err)
	at := snapshot.Cursor{Incarnation: incarnation, Revision: head}
	done := make(chan error, 1)
	go func() {
		_, err := p.Changes(t.Context(), at)
		done <- err
	}()
	testkit.Eventually(t, "a held request", func() bool { return value("held_requests") == 1 })
	w.create("second")
	w.ok(<-done)
	if value("held_requests") != 0 {
		t.Errorf("%v held", value("held_requests"))
	}
}

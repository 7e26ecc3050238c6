package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

func TestEdges_every_replica_lists_what_edges_report(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		w.create("one")
		w.create("two")
		w.do("GET", "/api/edges", "", as(w.ann)).want(403)
		empty := w.do("GET", "/api/edges", "", as(w.root)).want(200)
		if list, ok := empty.at("edges").([]any); !ok || len(list) != 0 || empty.num("revision") < 2 {
			t.Fatalf("%s", empty.text)
		}
		incarnation, revision, err := w.store.Head(t.Context())
		w.ok(err)
		report := func(s snapshot.Status, ago time.Duration) error {
			then := func() time.Time { return time.Now().Add(-ago) }
			_, err := presence.New(presence.Config{Now: then}, w.store).Report(t.Context(), s)
			return err
		}
		a := snapshot.Status{Edge: "a", Run: "r1", Version: "1.2", Address: "https://a.example", Name: "fra-1", Region: "eu-central",
			Cursor: snapshot.Cursor{Incarnation: incarnation, Revision: revision - 1}, StateHash: "h", Links: 2,
			SetAside:      []string{"two", "one"},
			SetAsideCount: 5, SetAsideReasons: map[string]string{"one": "no such type"}}
		a.Spool.Bytes, a.Spool.Pending, a.Spool.Dropped, a.Spool.OldestMs = 1, 2, 3, 4
		a.Latency = &snapshot.Latency{P50: 80, P99: 1250, Samples: 7}
		w.ok(report(a, 0))
		if report(snapshot.Status{Edge: "a", Run: "r2"}, 0) == nil {
			t.Fatal("a second process with the same identity is accepted")
		}
		w.ok(report(snapshot.Status{Edge: "b", Refused: "why", Cursor: snapshot.Cursor{Incarnation: 1, Revision: revision}}, time.Hour))
		w.ok(report(snapshot.Status{Edge: "c"}, 30*time.Hour)) // not listed: last report too old
		r := w.do("GET", "/api/edges", "", as(w.root)).want(200)
		r.shows("edges.0.id", "a", "edges.0.run", "r1", "edges.0.version", "1.2", "edges.0.address", "https://a.example",
			"edges.0.isAlive", true, "edges.0.lag", 1, "edges.0.appliedRevision", float64(revision-1), "edges.0.links", 2,
			"edges.0.setAside.0.domain", "sho.rt", "edges.0.setAside.0.slug", "one", "edges.0.setAside.0.reason", "no such type",
			"edges.0.setAside.1.slug", "two",
			"edges.0.setAside.1.reason", "", "edges.0.setAside.2", nil, "edges.0.setAsideCount", 5, "edges.0.name", "fra-1",
			"edges.0.region", "eu-central", "edges.0.refused", nil, "edges.0.spool.bytes", 1, "edges.0.spool.pending", 2,
			"edges.0.spool.dropped", 3, "edges.0.spool.oldestMs", 4, "edges.0.twin.run", "r2", "edges.0.stateHash", "h",
			"edges.0.latency.p50Ms", 0.08, "edges.0.latency.p99Ms", 1.25, "edges.0.latency.samples", 7, "edges.1.latency", nil,
			"edges.1.id", "b", "edges.1.isAlive", false, "edges.1.refused", "why", "edges.1.lag", float64(revision), "edges.1.twin", nil,
			"edges.2", nil, "revision", float64(revision), "regions.0.region", "", "regions.0.completeUntil", nil, "regions.0.waitsAt", nil,
			"regions.0.lagSeconds", 0, "regions.1.region", "eu-central", "regions.2", nil)
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.NoteProgress(t.Context(), "p", ingest.Clicks, "us", time.Minute)
		}))
		r = w.do("GET", "/api/edges", "", as(w.root)).want(200)
		if until, err := time.Parse(time.RFC3339, r.str("regions.2.completeUntil")); err != nil || time.Since(until) < time.Minute ||
			r.num("regions.2.lagSeconds") < 59 || r.str("regions.2.waitsAt") != "kafka" || r.str("regions.2.region") != "us" {
			t.Errorf("%v: %s", err, r.text)
		}
		if seen, err := time.Parse(time.RFC3339, r.str("edges.0.lastSeenAt")); err != nil || time.Since(seen) > time.Minute {
			t.Errorf("last seen %v, %v", seen, err)
		}
	})
}

// The preference "wait" follows RFC 7240: an invalid one is ignored, and more than 10 s means 10 s.
func TestAPI1_prefer_wait(t *testing.T) {
	var edges *presence.Positions
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		withLinks(w, cfg, deps)
		edges = presence.NewPositions(presence.PositionsConfig{}, w.store)
		deps.Edges = edges
	})
	incarnation, err := w.store.Incarnation(t.Context())
	w.ok(err)
	edges.Applied("e1", snapshot.Cursor{Incarnation: incarnation, Revision: 1 << 40})
	make := func(prefer ...string) http.Header {
		return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(w.ann), func(r *http.Request) {
			r.Header["Prefer"] = prefer
		}).want(201).Header
	}
	for prefer, want := range map[string]string{
		"wait=5": "wait=5", "wait=10": "wait=10", "wait=11": "wait=10", "wait=99999999999999999999999": "wait=10", "wait=0": "wait=0",
		"WAIT = 3": "wait=3",
		`wait="4"`: "wait=4", "respond-async, wait=2": "wait=2", "wait=2; unit=s": "wait=2", "wait=1, wait=9": "wait=1",
		"": "", "wait": "", "wait=": "", "wait=-1": "", "wait=1.5": "", "wait=1s": "", "waiter=1": "", "return=minimal": "",
		"wait=x, wait=2": "",
	} {
		h := make(prefer)
		count := "1/1"
		if want == "" {
			count = ""
		}
		if h.Get("Preference-Applied") != want || h.Get("X-Edges") != count {
			t.Errorf("Prefer: %s: applied %q, edges %q; want %q, %q", prefer, h.Get("Preference-Applied"), h.Get("X-Edges"), want, count)
		}
	}
	if h := make("respond-async", "wait=6"); h.Get("Preference-Applied") != "wait=6" {
		t.Errorf("in a second header: %q", h.Get("Preference-Applied"))
	}

	edges.Applied("e2", snapshot.Cursor{Incarnation: incarnation})
	if h := make("wait=1"); h.Get("X-Edges") != "1/2" || h.Get("Preference-Applied") != "wait=1" {
		t.Errorf("with a lagging edge: %q, %q", h.Get("X-Edges"), h.Get("Preference-Applied"))
	}
	// A request that changes no link does not wait.
	h := w.do("GET", "/api/urls", "", as(w.ann), with("Prefer", "wait=10")).want(200).Header
	refused := w.do("POST", "/api/urls", `{"originalUrl":"nothing"}`, as(w.ann), with("Prefer", "wait=10")).want(400).Header
	if h.Get("X-Edges") != "" || refused.Get("X-Edges") != "" {
		t.Errorf("responses to requests without an effect have X-Edges: %q, %q", h.Get("X-Edges"), refused.Get("X-Edges"))
	}
}

// Pages of allowed origins may send the preference and read the result.
func TestAPI1_CORS(t *testing.T) {
	w := small(t, nil)
	h := w.do("OPTIONS", "/api/urls", "", with("Origin", "https://app.example.com"), with("Access-Control-Request-Method", "POST")).
		want(204).Header
	if !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Prefer") {
		t.Errorf("allowed: %q", h.Get("Access-Control-Allow-Headers"))
	}
	for _, name := range []string{"X-Edges", "Preference-Applied"} {
		if !strings.Contains(h.Get("Access-Control-Expose-Headers"), name) {
			t.Errorf("%s is not exposed: %q", name, h.Get("Access-Control-Expose-Headers"))
		}
	}
}

package harness_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

// TestAPI1_fleet changes links with Prefer: wait. Two of three edges are connected to the replica that receives the
// changes, the third to the other one. Once the answer has arrived, every edge must serve the change. If an edge is
// stopped, the answer is still a success and reports that an edge is missing.
func TestAPI1_fleet(t *testing.T) {
	f := fleet.Start(t, fleet.Config{Edges: 3, Controls: 2, Spread: true, ControlEnv: []string{"RATE_LIMIT_DEFAULT=0"}})
	api := f.Controls[0].Login(t)
	patient := api.With("Prefer", "respond-async, wait=30") // clamped to 10
	var took []time.Duration
	change := func(by *fleet.API, method, path string, body any, status int, applied, edges string) (l fleet.Link) {
		t.Helper()
		var out any
		if status != http.StatusNoContent {
			out = &l
		}
		began := time.Now()
		h := by.Must(method, path, body, status, out)
		took = append(took, time.Since(began))
		if got := h.Get("Preference-Applied"); got != applied {
			t.Errorf("%s %s: Preference-Applied is %q, want %q", method, path, got, applied)
		}
		if got := h.Get("X-Edges"); got != edges {
			t.Errorf("%s %s: X-Edges is %q, want %q", method, path, got, edges)
		}
		return l
	}
	visit := func(slug string, status int, location string, edges ...*fleet.Node) {
		t.Helper()
		for _, e := range edges {
			got, to, err := follow(e.Addr, slug)
			if err != nil || got != status || to != location {
				t.Errorf("%s answers %d %q %v for /%s, want %d %q", e.Name, got, to, err, slug, status, location)
			}
		}
	}
	everyEdgeIsKnown(t, patient)
	took = nil
	n := count(t, 200)
	for i := range n {
		slug, a, b := fmt.Sprintf("fresh-%d", i), fmt.Sprintf("https://example.com/%d/a", i), fmt.Sprintf("https://example.com/%d/b", i)
		link := change(patient, "POST", "/api/urls", map[string]any{"originalUrl": a, "customSlug": slug}, 201, "wait=10", "3/3")
		visit(slug, http.StatusFound, a, f.Edges...)
		path := "/api/urls/" + link.ID
		change(patient, "PATCH", path, map[string]any{"originalUrl": b}, 200, "wait=10", "3/3")
		visit(slug, http.StatusFound, b, f.Edges...)
		change(patient, "DELETE", path, nil, 204, "wait=10", "3/3")
		visit(slug, http.StatusNotFound, "", f.Edges...)
	}
	slices.Sort(took)
	t.Logf("%d changes at three edges: p50 %v, p99 %v, most %v", len(took), percentile(took, 0.5), percentile(took, 0.99), took[len(took)-1])

	// A stopped edge counts as connected for a while and misses the change, as after a network failure.
	for _, away := range []*fleet.Node{f.Edges[1], f.Edges[2]} {
		others := slices.DeleteFunc(slices.Clone(f.Edges), func(e *fleet.Node) bool { return e == away })
		away.Pause()
		slug := "without-" + away.Name
		change(api.With("Prefer", "wait=1"), "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": slug}, 201, "wait=1", "2/3")
		visit(slug, http.StatusFound, "https://example.com/", others...)
		change(api, "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": slug + "-2"}, 201, "", "") // without Prefer the API does not wait
		away.Resume()
		change(patient, "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": slug + "-3"}, 201, "wait=10", "3/3")
		visit(slug, http.StatusFound, "https://example.com/", f.Edges...)
	}
	change(api.With("Prefer", "wait=soon"), "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": "no-preference"}, 201, "", "")
}

// everyEdgeIsKnown waits until all three edges have polled a control plane.
func everyEdgeIsKnown(t *testing.T, patient *fleet.API) {
	t.Helper()
	for i := 0; ; i++ {
		h := patient.Must("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": fmt.Sprintf("known-%d", i)}, 201, nil)
		if h.Get("X-Edges") == "3/3" {
			return
		}
		if i == 100 {
			t.Fatalf("X-Edges is %q", h.Get("X-Edges"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

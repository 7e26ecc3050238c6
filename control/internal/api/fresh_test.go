package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/shared/snapshot"
)

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

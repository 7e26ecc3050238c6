package api_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// Everybody who reads reports learns how far they reach: each region for itself, and all together as far as the one that is most
// behind.
func TestFreshness(t *testing.T) {
	w := small(t, stored(func(w *world) analytics.Store { return w.clicks }))
	w.do("GET", "/api/analytics/freshness", "").want(401)
	fresh := func() *reply { return w.do("GET", "/api/analytics/freshness", "", as(w.ann)).want(200) }
	r := fresh().has("", "completeUntil", "lagSeconds", "regions")
	r.shows("completeUntil", nil, "lagSeconds", 0, "regions.#", 0)
	progress := func(region string, behind time.Duration) {
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error { return tx.NoteProgress(t.Context(), "p", ingest.Clicks, region, behind) }))
	}
	_, err := presence.New(presence.Config{Now: time.Now}, w.store).Report(t.Context(), snapshot.Status{Edge: "a", Region: "eu"})
	w.ok(err)
	progress("us", time.Hour)
	r = fresh().has("regions.1", "region", "completeUntil", "lagSeconds")
	if r.at("completeUntil") != nil || r.num("lagSeconds") != 0 || r.str("regions.0.region") != "eu" ||
		r.at("regions.0.completeUntil") != nil || r.str("regions.1.region") != "us" || r.num("regions.1.lagSeconds") < 3599 {
		t.Errorf("nobody has read the region eu yet: %s", r.text)
	}
	progress("eu", time.Second)
	r = fresh()
	if r.str("completeUntil") != r.str("regions.1.completeUntil") || r.num("lagSeconds") < 3599 || r.num("regions.0.lagSeconds") > 60 ||
		r.str("regions.0.completeUntil") <= r.str("completeUntil") {
		t.Errorf("%s", r.text)
	}
}

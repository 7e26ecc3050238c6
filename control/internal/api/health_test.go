package api_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// Links show the health of their destinations, and lists can be restricted to one health.
func TestURLs_show_the_health_of_destinations(t *testing.T) {
	w := small(t, withLinks)
	broken, plain := w.create("broken"), w.create("plain")
	w.do("GET", "/api/urls/"+plain, "", as(w.ann)).want(200).shows("health", "unknown", "healthReason", nil, "healthUrl", nil,
		"healthSince", nil, "healthCheckedAt", nil, "healthStatusCode", nil)
	num := w.row(broken).Num
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		const address = "https://example.com/broken"
		if _, err := tx.LeadTo(t.Context(), []store.LinkTargets{{Num: num, URLs: []string{address}}},
			map[string]string{address: "example.com"}, 1); err != nil {
			return err
		}
		list, _, err := tx.DestinationsDue(t.Context(), 2, 10)
		if err != nil {
			return err
		}
		d := &list[0]
		d.Health, d.Reason, d.Status, d.Since, d.CheckedAt = store.HealthBroken, "not_found", 404, 1_000, 2_000
		if err := tx.SaveDestination(t.Context(), d, true); err != nil {
			return err
		}
		_, err = tx.SpreadHealth(t.Context(), []uint64{num}, 3_000)
		return err
	}))
	w.do("GET", "/api/urls/"+broken, "", as(w.ann)).want(200).shows("health", "broken", "healthReason", "not_found",
		"healthUrl", "https://example.com/broken", "healthStatusCode", 404.0, "healthSince", "1970-01-01T00:00:03.000Z",
		"healthCheckedAt", "1970-01-01T00:00:02.000Z")
	w.do("GET", "/api/urls?health=broken", "", as(w.ann)).want(200).shows("total", 1.0, "data.0.id", broken)
	w.do("GET", "/api/urls?health=unknown", "", as(w.ann)).want(200).shows("total", 1.0, "data.0.id", plain)
	w.do("GET", "/api/urls?health=ok", "", as(w.ann)).want(200).shows("total", 0.0)
	w.do("GET", "/api/urls?health=broken", "", as(w.bob)).want(200).shows("total", 0.0)
	w.do("GET", "/api/urls?health=fine", "", as(w.ann)).wantField("health")
}

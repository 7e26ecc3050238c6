package api_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/privacy"
)

// Only an administrator's session may erase a visitor, and only by address. The tests of standalone and of the click
// stores check which data is erased.
func TestOps6_Erase_permission(t *testing.T) {
	w := small(t, func(w *world, _ *api.Config, d *api.Deps) { d.Privacy = privacy.New(w.store, nil) })
	const path, body = "/api/privacy/erase", `{"ip":"203.0.113.77"}`
	w.do("POST", path, body).want(401)
	w.do("POST", path, body, as(w.ann)).want(403)
	key := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.root)).want(201)
	w.do("POST", path, body, with("X-API-Key", key.str("key"))).want(403)
	for _, bad := range []string{`{}`, `{"ip":""}`, `{"ip":"203.0.113.0/24"}`, `{"ip":"fe80::1%eth0"}`, `{"ip":"0.0.0.0"}`, `{"ip":7}`,
		`{"address":"203.0.113.77"}`} {
		w.do("POST", path, bad, as(w.root)).want(400)
	}
	w.do("GET", "/api/audit-logs?action=VISITOR_ERASED", "", as(w.root)).want(200).shows("total", 0)
}

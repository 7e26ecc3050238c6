package api_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
)

// Administrators see which slugs visitors asked for in vain; nobody else does.
func TestMissingSlugs(t *testing.T) {
	eachWhole(t, func(t *testing.T, w *world) {
		today := presence.Day(time.Now())
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			for day, seq := today-40, uint64(1); day <= today; day, seq = day+20, seq+1 {
				if err := tx.CountMissing(t.Context(), "e", "r", seq, day, day*24*3600*1000, []store.Missing{{Slug: "abc", Count: 3}, {Slug: "xyz", Count: seq}}); err != nil {
					return err
				}
			}
			return nil
		}))
		const path = "/api/analytics/missing"
		w.do("GET", path, "").want(401)
		w.do("GET", path, "", as(w.ann)).want(403)
		r := w.do("GET", path, "", as(w.root)).want(200).has("", "data", "total", "page", "pageSize", "totalPages").has("data.0", "host", "slug", "count", "firstAt", "lastAt")
		if r.num("total") != 2 || r.str("data.0.slug") != "abc" || r.num("data.0.count") != 6 || r.str("data.0.host") != "sho.rt" || r.num("data.1.count") != 5 {
			t.Error(r.text)
		}
		day := func(ago int64) string { return time.Unix((today-ago)*24*3600, 0).UTC().Format(time.DateOnly) }
		if r := w.do("GET", path+"?from="+day(40)+"&limit=1", "", as(w.root)).want(200); r.num("data.0.count") != 9 || r.num("totalPages") != 2 {
			t.Error(r.text)
		}
		if r := w.do("GET", path+"?from="+day(40)+"&to="+day(40), "", as(w.root)).want(200); r.num("data.0.count") != 3 {
			t.Error(r.text)
		}
		w.create("abc")
		if r := w.do("GET", path, "", as(w.root)).want(200); r.num("total") != 1 || r.str("data.0.slug") != "xyz" {
			t.Error(r.text)
		}
		for _, bad := range []string{"?from=yesterday", "?to=2026-13-01", "?from=2026-02-02&to=2026-01-01", "?from=2020-01-01", "?limit=0", "?page=x"} {
			w.do("GET", path+bad, "", as(w.root)).want(400)
		}
	})
}

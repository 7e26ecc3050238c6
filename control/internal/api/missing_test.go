package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
)

// Administrators see which slugs visitors asked for in vain; nobody else does.
func TestMissingSlugs(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		today := presence.Day(time.Now())
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			for day, seq := today-40, uint64(1); day <= today; day, seq = day+20, seq+1 {
				if err := tx.CountMissing(t.Context(), "e", "r", seq, day, day*24*3600*1000,
					[]store.Missing{{Slug: "abc", Count: 3}, {Slug: "xyz", Count: seq}}); err != nil {
					return err
				}
			}
			return nil
		}))
		const path = "/api/analytics/missing"
		w.do("GET", path, "").want(401)
		w.do("GET", path, "", as(w.ann)).want(200).shows("total", 0)
		w.do("GET", path, "", as(w.root)).want(200).has("", "data", "total", "page", "pageSize", "totalPages").
			has("data.0", "host", "slug", "count", "firstAt", "lastAt").
			shows("total", 2, "data.0.slug", "abc", "data.0.count", 6, "data.0.host", "sho.rt", "data.1.count", 5)
		day := func(ago int64) string { return time.Unix((today-ago)*24*3600, 0).UTC().Format(time.DateOnly) }
		w.do("GET", path+"?from="+day(40)+"&limit=1", "", as(w.root)).want(200).shows("data.0.count", 9, "totalPages", 2)
		w.do("GET", path+"?from="+day(40)+"&to="+day(40), "", as(w.root)).want(200).shows("data.0.count", 3)
		w.create("abc")
		w.do("GET", path, "", as(w.root)).want(200).shows("total", 1, "data.0.slug", "xyz")
		for _, bad := range []string{"?from=yesterday", "?to=2026-13-01", "?from=2026-02-02&to=2026-01-01", "?from=2020-01-01", "?limit=0",
			"?page=x"} {
			w.do("GET", path+bad, "", as(w.root)).want(400)
		}
	})
}

// Members see which slugs visitors asked for on domains of their workspace, but nobody else's. A domain that another
// workspace took over begins without any.
func TestMissingSlugs_of_custom_domains(t *testing.T) {
	w := small(t, whole)
	const path, name = "/api/analytics/missing", "go.example.com"
	numbers := map[string]uint64{}
	for who, of := range map[string]option{"ann": as(w.ann), "bob": as(w.bob)} {
		d, err := w.store.DomainByID(t.Context(), w.do("POST", "/api/domains", `{"hostname":"`+name+`"}`, of).want(201).str("id"))
		w.ok(err)
		numbers[who] = d.Num
	}
	today := presence.Day(time.Now())
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.CountMissing(t.Context(), "e", "r", 1, today, time.Now().UnixMilli(),
			[]store.Missing{{Slug: "abc", Count: 5}, {Domain: numbers["ann"], Slug: "abc", Count: 3},
				{Domain: numbers["ann"], Slug: "new", Count: 2}, {Domain: numbers["bob"], Slug: "abc", Count: 1},
				{Domain: 1 << 40, Slug: "gone", Count: 9}})
	}))
	see := func(want string, options ...option) {
		t.Helper()
		r := w.do("GET", path, "", options...).want(200)
		got := ""
		for _, m := range r.at("data").([]any) {
			m := m.(map[string]any)
			got += fmt.Sprint(m["host"], "/", m["slug"], " ", m["count"], ", ")
		}
		if got != want || int(r.num("total")) != strings.Count(want, ",") {
			t.Errorf("%s, want %s", r.text, want)
		}
	}
	see(name+"/abc 3, "+name+"/new 2, ", as(w.ann))
	see(name+"/abc 1, ", as(w.bob))
	see("", as(w.root), in(w.team("the-team")))
	see("sho.rt/abc 5, "+name+"/abc 3, "+name+"/new 2, "+name+"/abc 1, ", as(w.root))
	w.create("new") // on another domain
	r := w.do("GET", path, "", as(w.ann)).want(200)
	w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com","customSlug":%q,"domain":%q}`, r.str("data.0.slug"),
		r.str("data.0.host")), as(w.ann)).want(201)
	see(name+"/new 2, ", as(w.ann))
	see(name+"/abc 1, ", as(w.bob))
}

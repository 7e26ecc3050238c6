package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestURLs_lifetime(t *testing.T) {
	w := small(t, withLinks)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z") }
	start, end := in(time.Hour), in(2*time.Hour)
	r := w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com","customSlug":"sale","startsAt":%q,"expiresAt":%q,"expiredUrl":"https://example.com/over",
			"maxClicks":1e2,"redirectCode":308,"externalId":" sku-7 "}`, start, end), as(w.ann)).want(201)
	r.shows("startsAt", start, "expiresAt", end, "expiredUrl", "https://example.com/over", "maxClicks", 100, "redirectCode", 308,
		"externalId", "sku-7", "status", "SCHEDULED")
	path := "/api/urls/" + r.str("id")
	for body, field := range map[string]string{
		`{"startsAt":"` + in(3*time.Hour) + `"}`:            "startsAt",
		`{"startsAt":true}`:                                 "startsAt",
		`{"expiredUrl":"javascript:alert(1)"}`:              "expiredUrl",
		`{"expiredUrl":"` + baseURL + `/sale"}`:             "expiredUrl",
		`{"maxClicks":-1}`:                                  "maxClicks",
		`{"maxClicks":1.5}`:                                 "maxClicks",
		`{"maxClicks":1e300}`:                               "maxClicks",
		`{"redirectCode":200}`:                              "redirectCode",
		`{"redirectCode":"302"}`:                            "redirectCode",
		`{"externalId":"` + strings.Repeat("x", 256) + `"}`: "externalId",
	} {
		w.unchanged(body, func() { w.do("PUT", path, body, as(w.ann)).wantField(field) })
	}

	// An external id is unique in its workspace, whatever sets it.
	other := w.create("other")
	w.unchanged("a taken external id", func() {
		w.do("PUT", "/api/urls/"+other, `{"externalId":"sku-7"}`, as(w.ann)).want(409)
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","externalId":"sku-7"}`, as(w.ann)).want(409)
	})
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","externalId":"sku-7"}`, as(w.bob)).want(201)

	// The status follows from the fields, and filters find it.
	set := func(f func(*store.Link)) {
		t.Helper()
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			u, err := tx.LockLink(t.Context(), r.str("id"))
			if err != nil {
				return err
			}
			f(&u)
			return tx.UpdateLink(t.Context(), &u)
		}))
	}
	is := func(status string) {
		t.Helper()
		w.do("GET", path, "", as(w.ann)).want(200).shows("status", status)
		stats := w.do("GET", "/api/urls/stats", "", as(w.ann)).want(200)
		for _, s := range store.LinkStatuses {
			want := map[bool]float64{s == status: 1}[true]
			if s == store.StatusActive {
				want++ // the other link
			}
			found := w.do("GET", "/api/urls?status="+s, "", as(w.ann)).want(200).num("total")
			counted := stats.num(map[string]string{"ACTIVE": "activeUrls", "INACTIVE": "inactiveUrls", "EXPIRED": "expiredUrls",
				"SCHEDULED": "scheduledUrls", "EXHAUSTED": "exhaustedUrls", "SUSPENDED": "suspendedUrls"}[s])
			if float64(found) != want || float64(counted) != want {
				t.Errorf("%s: %v links have the status %s, %v are counted; want %v", status, found, s, counted, want)
			}
		}
	}
	is("SCHEDULED")
	w.do("PUT", path, `{"startsAt":null,"maxClicks":null,"redirectCode":null,"expiredUrl":null,"externalId":null}`, as(w.ann)).want(200)
	is("ACTIVE")
	w.do("PUT", path, `{"status":"INACTIVE","startsAt":"`+start+`"}`, as(w.ann)).want(200)
	is("INACTIVE")
	set(func(u *store.Link) { u.ExhaustedAt = 1 })
	is("EXHAUSTED")
	w.do("PUT", path, `{"startsAt":null,"expiresAt":"2020-01-01"}`, as(w.ann)).want(200)
	is("EXPIRED")
	set(func(u *store.Link) { u.SuspendedAt, u.SuspendReason = 1, "phishing" })
	is("SUSPENDED")
	w.do("GET", path, "", as(w.ann)).want(200).shows("suspendedReason", "phishing")
}

// A limit counts from the moment when a link gets one. Changing it goes on with the same count.
func TestURLs_limit_starts_a_count(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	put := func(body string) store.Link {
		t.Helper()
		w.do("PUT", "/api/urls/"+id, body, as(w.ann)).want(200)
		return w.row(id)
	}
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetClickCounts(t.Context(), []store.Counted{{Num: w.row(id).Num, Count: 30}}, store.Raise)
	}))
	first := put(`{"maxClicks":50}`)
	if first.LimitBase != 30 || first.LimitSince == 0 {
		t.Errorf("%+v", first)
	}
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetClickCounts(t.Context(), []store.Counted{{Num: first.Num, Count: 40}}, store.Raise)
	}))
	if again := put(`{"maxClicks":60}`); again.LimitBase != 30 || again.LimitSince != first.LimitSince {
		t.Errorf("another limit: %+v", again)
	}
	if none := put(`{"maxClicks":null}`); none.LimitBase != 0 || none.LimitSince != 0 {
		t.Errorf("no limit: %+v", none)
	}
	testkit.Eventually(t, "the next millisecond, which tells counts apart", func() bool {
		return time.Now().UnixMilli() > first.LimitSince+1
	})
	if anew := put(`{"maxClicks":60}`); anew.LimitBase != 40 || anew.LimitSince <= first.LimitSince {
		t.Errorf("a new limit: %+v", anew)
	}
}

package api_test

import (
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The webhooks of a deactivated user get no events. Events of that time are never sent. Deliveries that were already
// waiting are held until the user is active again.
func TestM5_DeactivatedUsersWebhooks(t *testing.T) {
	w := withHooks(t, usual(t), withLinks)
	link := w.create("abc")
	l, err := w.store.FullLink(t.Context(), link)
	w.ok(err)
	const events = `"events":["url.created","url.updated","url.clicked"]`
	hook := "/api/webhooks/" + w.do("POST", "/api/webhooks", `{"name":"ann","url":"`+w.url+`",`+events+`}`, as(w.ann)).want(201).str("id")
	all := "/api/webhooks/" + w.do("POST", "/api/webhooks", `{"name":"root","scope":"all","url":"`+w.url+`",`+events+`}`, as(w.root)).
		want(201).str("id")
	figure := func(path, name string) float64 { return w.do("GET", path, "", as(w.root)).want(200).num(name) }
	waiting := func() (n int) {
		w.ok(w.store.Row(t.Context(), `SELECT count(*) FROM webhook_deliveries`).Scan(&n))
		return n
	}
	seq := uint64(0)
	visit := func() {
		seq++
		w.ok(w.service.Note(t.Context(),
			[]analytics.Row{{Identity: analytics.Identity{Lane: click.Lane{Edge: 1, Epoch: 1}, Seq: seq}, Time: time.Now().UnixMilli(),
				Link:  l.Num,
				Owner: l.Workspace}}))
	}
	w.deliver()

	w.status.Store(500)
	visit()
	testkit.Eventually(w.t, "a failed attempt at each", func() bool {
		return figure(hook, "totalFailed") == 1 && figure(all, "totalFailed") == 1
	})
	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	w.status.Store(200)
	w.clock.advance(time.Minute) // the second attempts are due
	visit()
	w.do("PUT", "/api/urls/"+link, `{"title":"meanwhile"}`, as(w.root)).want(200)
	testkit.Eventually(w.t, "the administrator's webhook got all three deliveries", func() bool { return figure(all, "totalSuccess") == 3 })
	// One loop updates the figures of a webhook and its deliveries, so they show any delivery claimed in the meantime.
	testkit.Eventually(w.t, "only ann's first delivery is left", func() bool { return waiting() == 1 })
	if n := figure(hook, "totalSent"); n != 1 {
		t.Errorf("a deactivated user's webhook got %v deliveries, want only the one before deactivation", n)
	}
	failed := w.do("GET", hook+"/logs", "", as(w.root)).want(200).str("logs.0.id")
	w.do("POST", hook+"/logs/"+failed+"/retry", "", as(w.root)).want(409)

	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"ACTIVE"}`, as(w.root)).want(200)
	testkit.Eventually(w.t, "the held deliveries are sent", func() bool { return waiting() == 0 })
	w.clock.advance(time.Hour)
	visit()
	testkit.Eventually(w.t, "new clicks are delivered again", func() bool {
		return figure(hook, "totalSuccess") == 2 && figure(all, "totalSuccess") == 4
	})
	if n := figure(hook, "totalSent"); n != 3 {
		t.Errorf("%v deliveries in total, want the failed one, its second attempt and the last click", n)
	}
}

package api_test

import (
	"fmt"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// counts are what a refused deletion would lose.
func (r *reply) counts(workspaces, links, bundles int) {
	r.w.t.Helper()
	r.want(409)
	if r.num("counts.workspaces") != float64(workspaces) || r.num("counts.links") != float64(links) ||
		r.num("counts.bundles") != float64(bundles) {
		r.w.t.Fatalf("%s: want %d workspaces, %d links, %d bundles: %s", r.what, workspaces, links, bundles, r.text)
	}
}

func TestDeleteUser(t *testing.T) {
	eachWith(t, teams, func(t *testing.T, w *world) {
		link := func(slug string, o ...option) string {
			t.Helper()
			return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"`+slug+`"}`, o...).want(201).str("id")
		}
		root := as(w.root)
		del := func(id, query string) *reply { t.Helper(); return w.do("DELETE", "/api/users/"+id+query, "", root) }

		// ann alone owns Lost, shares Stays with bob, and owns Empty.
		lost, stays, empty := w.newTeam("Lost"), w.newTeam("Stays"), w.newTeam("Empty")
		w.join(stays, w.bobID, "OWNER")
		w.join(lost, w.bobID, "EDITOR")
		link("personal", as(w.ann))
		moved := link("lost", as(w.ann), within(lost))
		handed := link("stays", as(w.ann), within(stays))
		bundle := w.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"B","urlIds":[%q]}`, moved), as(w.ann), within(lost)).
			want(201).str("id")
		hook := w.do("POST", "/api/webhooks", `{"name":"W","url":"http://127.0.0.1:1/","events":["url.clicked"]}`, as(w.ann),
			within(stays)).
			want(201).str("id")
		goneHook := w.do("POST", "/api/webhooks", `{"name":"W","url":"http://127.0.0.1:1/","events":["url.clicked"]}`, as(w.ann),
			within(lost)).
			want(201).str("id")
		key := w.do("POST", "/api/api-keys", `{"name":"K"}`, as(w.ann), within(stays)).want(201).str("key")

		before := w.trace()
		del(w.annID, "").counts(2, 2, 1)
		del(w.annID, "?deleteLinks=false").counts(2, 2, 1)
		del(w.annID, "?deleteLinks=true&transferTo="+stays).wantField("transferTo")
		del(w.annID, "?transferTo="+lost).wantField("transferTo")
		del(w.annID, "?transferTo="+w.annID).wantField("transferTo")
		del(w.annID, "?transferTo="+store.NewID()).want(404)
		del(w.annID, "?transferTo=no%20slug").want(404)
		del(w.annID, "?deleteLinks=maybe").wantField("deleteLinks")
		del(w.rootID, "").want(400)
		del(store.NewID(), "").want(404)
		if w.trace() != before {
			t.Error("a refused deletion changed something")
		}
		rows := w.do("GET", "/api/audit-logs", "", root).want(200).num("total")

		del(w.annID, "?transferTo=stays").want(200).has("", "message")
		w.do("GET", "/api/urls", "", as(w.ann)).want(401)
		w.do("GET", "/api/urls", "", as(key)).want(401)
		bob := []option{as(w.bob), within(stays)}
		for _, id := range []string{moved, handed} {
			w.do("GET", "/api/urls/"+id, "", bob...).want(200).shows("userId", w.bobID)
		}
		w.do("GET", "/api/urls", "", bob...).want(200).shows("total", 3)
		w.do("GET", "/api/bundles/"+bundle, "", bob...).want(200).shows("urls.0.id", moved)
		w.do("GET", "/api/webhooks/"+hook, "", bob...).want(200)
		w.do("GET", "/api/webhooks/"+goneHook, "", root).want(404)
		for _, id := range []string{lost, empty, w.annID} {
			w.do("GET", "/api/workspaces/"+id, "", root).want(404)
		}
		if w.do("GET", "/api/audit-logs", "", root).want(200).num("total") <= rows {
			t.Error("audit rows are gone")
		}
		w.do("GET", "/api/audit-logs?action=USER_DELETED", "", root).want(200).shows("total", 1).says(userMail)

		// bob: links are deleted. An account without links just goes.
		w.do("DELETE", "/api/users/"+w.bobID, "", root).counts(1, 3, 1)
		del(w.bobID, "?deleteLinks=true").want(200)
		w.do("GET", "/api/urls/"+moved, "", root).want(404)
		link("stays", root) // the slug is free again
		// The trash of a workspace that was deleted is the administrators'. They restore links into their own workspace.
		w.do("GET", "/api/urls?status=DELETED", "", root).want(200).shows("total", 3)
		w.do("POST", "/api/urls/"+handed+"/restore", `{}`, root).want(409)
		w.do("POST", "/api/urls/"+handed+"/restore", `{"slug":"stays-2"}`, root).want(200).
			shows("workspaceId", w.rootID, "userId", w.rootID)
		del(w.person("USER").id, "").want(200)
	})
}

func TestDeleteWorkspace(t *testing.T) {
	eachWith(t, teams, func(t *testing.T, w *world) {
		from, to, other := w.newTeam("From"), w.newTeam("Into"), w.do("POST", "/api/workspaces", `{"name":"Bob's"}`, as(w.bob)).
			want(201).str("id")
		id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(w.ann), within(from)).want(201).str("id")
		del := func(query string) *reply {
			t.Helper()
			return w.do("DELETE", "/api/workspaces/"+from+query, "", as(w.ann))
		}
		del("").counts(1, 1, 0)
		del("?transferTo=" + from).wantField("transferTo")
		del("?transferTo=" + other).want(404)
		w.join(other, w.annID, "VIEWER")
		del("?transferTo=" + other).want(403)
		del("?transferTo=into&deleteLinks=true").wantField("transferTo")
		del("?transferTo=into").want(204)
		w.do("GET", "/api/urls/"+id, "", as(w.ann), within(to)).want(200)
		w.do("GET", "/api/workspaces/"+from, "", as(w.ann)).want(404)
		w.do("DELETE", "/api/workspaces/"+to+"?deleteLinks=true", "", as(w.ann)).want(204)
		w.do("GET", "/api/urls/"+id, "", as(w.root)).want(404)
	})
}

// A user with many links is deleted, and the links are moved or deleted, without a time-out.
func TestDeleteUser_with_many_links(t *testing.T) {
	const links = 11_000 // more than one transaction takes
	w := small(t, teams)
	numbers := `generate_series(CAST(? AS INTEGER), CAST(? AS INTEGER)) AS n`
	if !w.store.Shared() {
		numbers = `(WITH RECURSIVE c (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c) AS n`
	}
	for _, who := range []string{w.annID, w.bobID} {
		for from := 0; from < links; from += 5000 {
			w.exec(`INSERT INTO urls (id, user_id, workspace_num, slug, original_url, search_text, created_at, updated_at)
						SELECT CAST(? AS TEXT) || '-' || n, CAST(? AS TEXT), (SELECT num FROM users
						WHERE id = ?), 's-' || CAST(? AS TEXT) || n, 'https://example.com/', '', 1, 1 FROM `+numbers,
				who, who, who, who, from+1, min(from+5000, links))
		}
	}
	w.do("DELETE", "/api/users/"+w.annID, "", as(w.root)).counts(1, links, 0)
	w.do("DELETE", "/api/users/"+w.annID+"?transferTo="+w.bobID, "", as(w.root)).want(200)
	w.do("DELETE", "/api/users/"+w.bobID, "", as(w.root)).counts(1, 2*links, 0)
	w.do("DELETE", "/api/users/"+w.bobID+"?deleteLinks=true", "", as(w.root)).want(200)
	w.counts(0, `SELECT count(*) FROM urls`)
}

package api_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A view has the members that it was saved with, and its fields are checked.
func TestViews_are_saved(t *testing.T) {
	w := small(t, whole)
	r := w.do("POST", "/api/views", `{"name":" Spring ","screen":"links","query":"?tag=spring&status=ACTIVE"}`, as(w.ann)).want(201)
	r.has("", "id", "name", "screen", "query", "shared", "position", "createdBy", "createdAt", "updatedAt")
	r.shows("name", "Spring", "query", "tag=spring&status=ACTIVE", "shared", false, "position", 0, "createdBy", w.annID)
	path := "/api/views/" + r.str("id")
	long := strings.Repeat("é", 60)
	for body, field := range map[string]string{
		`{"name":""}`:                     "name",
		`{"name":null}`:                   "name",
		`{"name":"` + long + `x"}`:        "name",
		`{"name":"a\u0007"}`:              "name",
		`{"screen":"bundles"}`:            "screen",
		`{"screen":null}`:                 "screen",
		`{"query":"a b"}`:                 "query",
		`{"query":"a=%zz"}`:               "query",
		`{"query":"a=1;b=2"}`:             "query",
		`{"query":"a=1#b"}`:               "query",
		`{"query":"a=é"}`:                 "query",
		`{"query":"` + many2001() + `"}`:  "query",
		`{"position":-1}`:                 "position",
		`{"position":1000001}`:            "position",
		`{"position":1.5}`:                "position",
		`{"shared":"yes"}`:                "shared",
		`{"createdBy":"` + w.bobID + `"}`: "createdBy",
	} {
		w.unchanged(body, func() { w.do("PUT", path, body, as(w.ann)).wantField(field) })
	}
	w.do("POST", "/api/views", `{}`, as(w.ann)).wantField("name", "screen", "query")
	w.do("PUT", path, `{"name":"`+long+`","screen":"analytics","query":"`+many2001()[1:]+`","shared":true,"position":7}`,
		as(w.ann)).want(200)
	got := w.do("GET", "/api/views?screen=analytics", "", as(w.ann)).want(200)
	if got.num("total") != 1 || got.str("data.0.name") != long || got.at("data.0.shared") != true || got.num("data.0.position") != 7 ||
		len(got.str("data.0.query")) != 2000 {
		t.Errorf("a changed view: %s", got.text)
	}
	w.do("PUT", path, `{"query":null}`, as(w.ann)).want(200)
	w.do("GET", "/api/views?screen=bundles", "", as(w.ann)).wantField("screen")
	w.do("DELETE", path, "", as(w.ann)).want(204)
	w.do("DELETE", path, "", as(w.ann)).want(404)
	logs := w.do("GET", "/api/audit-logs?entityType=view&limit=10", "", as(w.root)).want(200).text
	for _, action := range []string{"VIEW_CREATED", "VIEW_UPDATED", "VIEW_DELETED"} {
		if !strings.Contains(logs, action) {
			t.Errorf("no audit entry %s: %s", action, logs)
		}
	}
}

// many2001 returns a query string that is one byte too long.
func many2001() string { return "q" + strings.Repeat("a", 2000) }

// Names are unique for each user and screen. New views come last, and a position moves them.
func TestViews_names_and_order(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		save := func(token, name, screen string, status int) string {
			t.Helper()
			return w.do("POST", "/api/views", fmt.Sprintf(`{"name":%q,"screen":%q,"query":""}`, name, screen), as(token)).
				want(status).str("id")
		}
		save(w.ann, "Été", "links", 201)
		second := save(w.ann, "Second", "links", 201)
		w.unchanged("a name that is taken", func() {
			save(w.ann, "été", "links", 409)
			w.do("PUT", "/api/views/"+second, `{"name":"ÉTÉ"}`, as(w.ann)).want(409)
		})
		save(w.ann, "été", "analytics", 201)
		save(w.bob, "été", "links", 201)
		w.do("PUT", "/api/views/"+second, `{"position":0,"name":"A"}`, as(w.ann)).want(200)
		w.do("GET", "/api/views?screen=links", "", as(w.ann)).want(200).shows("total", 2, "data.0.name", "A", "data.1.name", "Été")
	})
}

// A private view exists only for its owner. Members see shared views, and EDITORs change them.
func TestViews_private_and_shared(t *testing.T) {
	w := small(t, whole)
	team := w.newSpace()
	owner := both(as(team.owner.token), with("X-Workspace", team.id))
	w.enlist(team, w.annID, "EDITOR")
	w.enlist(team, w.bobID, "VIEWER")
	editor, viewer := both(as(w.ann), with("X-Workspace", team.id)), both(as(w.bob), with("X-Workspace", team.id))
	admin := both(as(w.root), with("X-Workspace", team.id))
	save := func(by option, name, more string, status int) string {
		t.Helper()
		return w.do("POST", "/api/views", fmt.Sprintf(`{"name":%q,"screen":"links","query":"tag=a"%s}`, name, more), by).
			want(status).str("id")
	}
	names := func(by option) string {
		t.Helper()
		var list []string
		for _, v := range w.do("GET", "/api/views", "", by).want(200).at("data").([]any) {
			list = append(list, v.(map[string]any)["name"].(string))
		}
		return strings.Join(list, " ")
	}
	private, shared := save(owner, "private", `,"position":1`, 201), save(editor, "shared", `,"shared":true,"position":2`, 201)
	mine := save(viewer, "mine", `,"position":3`, 201)
	w.unchanged("what a VIEWER may not", func() {
		save(viewer, "x", `,"shared":true`, 403)
		w.do("PUT", "/api/views/"+mine, `{"shared":true}`, viewer).want(403)
		w.do("PUT", "/api/views/"+shared, `{"shared":false}`, viewer).want(403)
		w.do("PUT", "/api/views/"+shared, `{"name":"x"}`, viewer).want(403)
		w.do("DELETE", "/api/views/"+shared, "", viewer).want(403)
	})
	w.unchanged("private views of others", func() {
		for _, by := range []option{editor, viewer, admin, as(w.ann), as(team.owner.token)} {
			w.do("PUT", "/api/views/"+private, `{"name":"x"}`, by).want(404)
			w.do("DELETE", "/api/views/"+private, "", by).want(404)
		}
		w.do("PUT", "/api/views/"+shared, `{"name":"x"}`, as(w.bob)).want(404) // in bob's own workspace
	})
	for want, by := range map[string]option{"private shared": owner, "shared": editor, "shared mine": viewer, "": as(w.bob)} {
		if got := names(by); got != want {
			t.Errorf("a list has %q, want %q", got, want)
		}
	}
	if got := names(admin); got != "shared" {
		t.Errorf("an administrator sees %q", got)
	}
	w.do("PUT", "/api/views/"+shared, `{"query":"tag=b"}`, owner).want(200)
	w.do("GET", "/api/views", "", viewer).says("tag=b", w.annID)
	w.do("DELETE", "/api/views/"+shared, "", owner).want(204)
	w.do("PUT", "/api/views/"+mine, `{"name":"still mine"}`, viewer).want(200)
	w.do("DELETE", "/api/views/"+mine, "", viewer).want(204)
	// Views go with their user and their workspace.
	p := w.person("USER")
	w.enlist(team, p.id, "EDITOR")
	save(both(as(p.token), with("X-Workspace", team.id)), "of one who leaves", `,"shared":true`, 201)
	w.do("DELETE", "/api/users/"+p.id, "", as(w.root)).want(200)
	if got := names(owner); got != "private" {
		t.Errorf("after a user was deleted: %q", got)
	}
	w.do("DELETE", "/api/workspaces/"+team.id, "", owner).want(204)
	var n int
	w.ok(w.store.Row(t.Context(), `SELECT count(*) FROM saved_views`).Scan(&n))
	if n != 0 {
		t.Errorf("%d views are left", n)
	}
}

// A user has at most 100 views in a workspace, also if requests come at once.
func TestViews_are_limited(t *testing.T) {
	w := small(t, whole)
	var made, refused atomic.Int64
	var work sync.WaitGroup
	for lane := range 6 {
		work.Go(func() {
			for i := range 20 {
				r := w.do("POST", "/api/views", fmt.Sprintf(`{"name":"%d-%d","screen":"links","query":""}`, lane, i), as(w.ann))
				switch r.StatusCode {
				case 201:
					made.Add(1)
				case 409:
					refused.Add(1)
				default:
					t.Errorf("status %d: %s", r.StatusCode, r.text)
				}
			}
		})
	}
	work.Wait()
	if made.Load() != 100 || refused.Load() != 20 {
		t.Errorf("%d were saved and %d refused", made.Load(), refused.Load())
	}
	w.do("POST", "/api/views", `{"name":"x","screen":"links","query":""}`, as(w.bob)).want(201)
}

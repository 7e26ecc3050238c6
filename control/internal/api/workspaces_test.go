package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/store"
)

// teams adds links and workspaces to a world. A user may own three workspaces.
func teams(w *world, cfg *api.Config, deps *api.Deps) {
	whole(w, cfg, deps)
	deps.Workspaces = workspaces.New(w.store, 3)
}

// newTeam creates a workspace with the OWNER ann.
func (w *world) newTeam(name string) string {
	w.t.Helper()
	return w.do("POST", "/api/workspaces", fmt.Sprintf(`{"name":%q}`, name), as(w.ann)).want(201).str("id")
}

// join adds a user to a workspace.
func (w *world) join(workspace, userID, role string) {
	w.t.Helper()
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		m, err := tx.WorkspaceFor(w.t.Context(), userID, workspace)
		if err != nil {
			return err
		}
		return tx.InsertMember(w.t.Context(), m.Num, userID, role, store.Now())
	}))
}

func within(workspace string) option { return with("X-Workspace", workspace) }

var workspaceNames = []string{"id", "name", "slug", "isPersonal", "ownerEmail", "role", "memberCount", "urlCount", "previews", "trashDays", "createdAt",
	"updatedAt"}

func TestWorkspaces(t *testing.T) {
	eachWith(t, teams, func(t *testing.T, w *world) {
		w.do("GET", "/api/workspaces", "", as(w.ann)).want(200).has("data.0", workspaceNames...).
			shows("total", 1, "data.0.id", w.annID, "data.0.isPersonal", true, "data.0.role", "OWNER", "data.0.ownerEmail", userMail,
				"data.0.trashDays", 30)
		r := w.do("POST", "/api/workspaces", `{"name":"  Équipe Über «1» "}`, as(w.ann)).want(201).has("", workspaceNames...)
		id := r.str("id")
		r.shows("name", "Équipe Über «1»", "slug", "equipe-ueber-1", "role", "OWNER", "memberCount", 1, "ownerEmail", nil,
			"isPersonal", false)
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(w.ann), within("equipe-ueber-1")).want(201)
		again := w.do("POST", "/api/workspaces", `{"name":"Équipe Über 1"}`, as(w.ann)).want(201).str("slug")
		if !strings.HasPrefix(again, "equipe-ueber-1-") {
			t.Fatal(again)
		}
		w.do("POST", "/api/workspaces", `{"name":"三","slug":"equipe-ueber-1"}`, as(w.ann)).want(409)
		if got := w.do("POST", "/api/workspaces", `{"name":"三"}`, as(w.ann)).want(201).str("slug"); got != "team" {
			t.Fatal(got)
		}
		w.do("POST", "/api/workspaces", `{"name":"A fourth"}`, as(w.ann)).want(409)
		for body, field := range map[string]string{
			`{"name":" "}`: "name", `{"name":"a\nb"}`: "name", `{"name":"` + strings.Repeat("ä", 101) + `"}`: "name", `{}`: "name",
			`{"name":"x","slug":"ab"}`: "slug", `{"name":"x","slug":"Abc"}`: "slug", `{"name":"x","slug":"a_b"}`: "slug",
			`{"name":"x","slug":"` +
				strings.Repeat("a", 41) + `"}`: "slug",
			`{"name":"x","slug":"01970000-0000-7000-8000-000000000000"}`: "slug", `{"name":"x","more":1}`: "more",
		} {
			w.do("POST", "/api/workspaces", body, as(w.bob)).wantField(field)
		}
		w.do("POST", "/api/workspaces", `{"name":"`+strings.Repeat("ä", 100)+`"}`, as(w.bob)).want(201)

		// The id and the slug are two names of one workspace. X-Workspace does not matter.
		for _, name := range []string{id, "equipe-ueber-1"} {
			w.do("GET", "/api/workspaces/"+name, "", as(w.ann), within(again)).want(200).shows("id", id, "urlCount", 1)
			w.do("GET", "/api/workspaces/"+name, "", as(w.bob)).want(404)
		}
		w.do("PUT", "/api/workspaces/"+id, `{"name":"Growth","slug":"growth"}`, as(w.ann)).want(200).has("", workspaceNames...).
			shows("name", "Growth", "slug", "growth", "urlCount", 1)
		if w.do("PUT", "/api/workspaces/"+id, `{"name":"Growth 2"}`, as(w.ann)).want(200).str("slug") != "growth" {
			t.Fatal("the slug is lost")
		}
		w.do("PUT", "/api/workspaces/growth", `{"slug":"team"}`, as(w.ann)).want(409)
		w.do("PUT", "/api/workspaces/growth", `{"slug":"t"}`, as(w.ann)).wantField("slug")
		w.do("GET", "/api/urls", "", as(w.ann), within("equipe-ueber-1")).want(404)

		for _, token := range []string{w.ann, w.root} {
			w.do("GET", "/api/urls", "", as(token), within("growth")).want(200).shows("data.0.workspaceId", id)
		}
		w.do("GET", "/api/urls", "", as(w.root)).want(200).shows("data.0.workspaceId", id)

		// The order is: personal, own, others. Only an administrator without a choice sees others.
		w.do("GET", "/api/workspaces", "", as(w.ann)).want(200).shows("total", 4, "data.0.id", w.annID, "data.1.slug", "growth")
		w.do("GET", "/api/workspaces?limit=100", "", as(w.root)).want(200).
			shows("total", 7, "data.0.id", w.rootID, "data.5.role", "OWNER").says(otherMail)
		w.do("GET", "/api/workspaces?search=bob%40", "", as(w.root)).want(200).shows("total", 1, "data.0.id", w.bobID)
		w.do("GET", "/api/workspaces", "", as(w.root), within("growth")).want(200).shows("total", 1)
		w.do("GET", "/api/workspaces/growth", "", as(w.root)).want(200)

		w.do("DELETE", "/api/workspaces/"+w.annID, "", as(w.ann)).want(400)
		w.do("DELETE", "/api/workspaces/growth", "", as(w.bob)).want(404)
		w.do("DELETE", "/api/workspaces/growth", "", as(w.ann)).want(409)
		w.do("DELETE", "/api/workspaces/team", "", as(w.ann)).want(204)
		w.do("GET", "/api/workspaces/team", "", as(w.ann)).want(404)
		for _, action := range []string{"WORKSPACE_CREATED", "WORKSPACE_UPDATED", "WORKSPACE_DELETED"} {
			if r := w.do("GET", "/api/audit-logs?action="+action, "", as(w.root)).want(200); r.num("total") == 0 {
				t.Errorf("no %s: %s", action, r.text)
			}
		}
	})
}

func TestMembers(t *testing.T) {
	w := small(t, teams)
	id := w.newTeam("Growth")
	cy, eve := w.person("USER"), w.person("USER")
	w.join(id, w.bobID, "ADMIN")
	w.join(id, cy.id, "VIEWER")
	path := "/api/workspaces/growth/members"
	w.do("GET", path, "", as(cy.token)).want(200).has("data.0", "userId", "email", "name", "role", "joinedAt").
		shows("total", 3, "data.0.userId", w.annID, "data.0.role", "OWNER", "data.2.email", cy.email)
	w.do("GET", path, "", as(eve.token)).want(404)

	// Each role may change only some members.
	set := func(who, whom, role string) *reply {
		t.Helper()
		return w.do("PATCH", path+"/"+whom, `{"role":"`+role+`"}`, as(who))
	}
	set(cy.token, cy.id, "EDITOR").want(403)
	set(eve.token, cy.id, "EDITOR").want(404)
	set(w.bob, cy.id, "EDITOR").want(200).shows("role", "EDITOR", "userId", cy.id)
	set(w.bob, cy.id, "OWNER").want(403)
	set(w.bob, w.annID, "VIEWER").want(403)
	set(w.bob, eve.id, "VIEWER").want(404)
	set(w.bob, cy.id, "BOSS").wantField("role")
	set(w.ann, w.annID, "VIEWER").want(400) // the last OWNER
	set(w.ann, cy.id, "OWNER").want(200)
	set(cy.token, w.annID, "EDITOR").want(200)
	set(w.ann, cy.id, "EDITOR").want(403)
	set(w.root, w.annID, "OWNER").want(200)
	w.do("PUT", "/api/workspaces/growth", `{"name":"G"}`, as(w.bob)).want(200)
	w.do("DELETE", "/api/workspaces/growth", "", as(w.bob)).want(403)
	w.do("PATCH", "/api/workspaces/"+w.annID+"/members/"+w.annID, `{"role":"VIEWER"}`, as(w.ann)).want(400)

	// Removal and leaving.
	key := w.do("POST", "/api/api-keys", `{"name":"K"}`, as(w.bob), within("growth")).want(201).str("key")
	w.do("GET", "/api/urls", "", as(key)).want(200)
	w.do("GET", "/api/workspaces", "", as(key)).want(200).shows("total", 1, "data.0.id", id)
	w.do("DELETE", path+"/"+w.annID, "", as(w.bob)).want(403)
	w.do("DELETE", path+"/"+eve.id, "", as(w.bob)).want(404)
	w.do("DELETE", path+"/"+w.bobID, "", as(w.ann)).want(204)
	w.do("GET", "/api/urls", "", as(key)).want(401)
	w.do("GET", "/api/urls", "", as(w.bob), within("growth")).want(404)
	w.join(id, w.bobID, "VIEWER")
	w.do("GET", "/api/urls", "", as(key)).want(401) // a key does not come back with its user
	w.do("DELETE", path+"/"+cy.id, "", as(w.bob)).want(403)
	w.do("DELETE", path+"/"+w.bobID, "", as(w.bob)).want(204)
	w.do("DELETE", path+"/"+cy.id, "", as(cy.token)).want(204)
	w.do("DELETE", path+"/"+w.annID, "", as(w.ann)).want(400)
	for _, action := range []string{"MEMBER_UPDATED", "MEMBER_REMOVED"} {
		if r := w.do("GET", "/api/audit-logs?action="+action, "", as(w.root)).want(200); r.num("total") < 3 {
			t.Errorf("%s: %s", action, r.text)
		}
	}
}

// A hundred OWNERs demote each other and leave at once. One OWNER remains.
func TestMembers_one_owner_remains(t *testing.T) {
	eachWith(t, teams, func(t *testing.T, w *world) {
		id := w.newTeam("Growth")
		const n = 10
		people := []person{{id: w.annID, token: w.ann}}
		for range n - 1 {
			p := w.person("USER")
			w.join(id, p.id, "OWNER")
			people = append(people, p)
		}
		var wg sync.WaitGroup
		codes := make(chan int, n*n)
		for i := range n * n {
			by, whom := people[i%n], people[i/n]
			wg.Add(1)
			go func() {
				defer wg.Done()
				method, body := "PATCH", `{"role":"EDITOR"}`
				if i%3 == 0 {
					method, body = "DELETE", ""
				}
				codes <- w.do(method, "/api/workspaces/"+id+"/members/"+whom.id, body, as(by.token)).StatusCode
			}()
		}
		wg.Wait()
		close(codes)
		count := map[int]int{}
		for c := range codes {
			count[c]++
		}
		t.Log(count)
		for c := range count {
			if c >= 500 {
				t.Errorf("status %d", c)
			}
		}
		var owners int
		w.ok(w.store.Row(t.Context(),
			`SELECT count(*) FROM workspace_members m JOIN workspaces w ON w.num = m.workspace_num WHERE w.id = ? AND m.role = 'OWNER'`,
			id).
			Scan(&owners))
		if owners != 1 {
			t.Errorf("%d owners", owners)
		}
	})
}

package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// maker is a world with a team of ann, in which bob is an ADMIN and has made something.
type maker struct {
	*world
	team string
}

func (m *maker) leaves() {
	m.do("DELETE", "/api/workspaces/"+m.team+"/members/"+m.bobID, "", as(m.ann)).want(204)
}

func (m *maker) status(status string) {
	m.do("PATCH", "/api/users/"+m.bobID+"/status", `{"status":"`+status+`"}`, as(m.root)).want(200)
}

func (m *maker) deleted() {
	m.do("DELETE", "/api/users/"+m.bobID+"?deleteLinks=true", "", as(m.root)).want(200)
}

// hook creates a webhook in the team, or in the personal workspace of the caller if options are empty.
func (m *maker) hook(options ...option) string {
	return m.do("POST", "/api/webhooks", `{"name":"h","url":"http://127.0.0.1:1/","events":["url.created"]}`, options...).
		want(201).str("id")
}

// active reports whether a webhook of the team is active.
func (m *maker) active(id string) bool {
	r := m.do("GET", "/api/webhooks/"+id, "", as(m.root)).want(200)
	if r.at("isActive") == true {
		r.shows("pauseReason", nil)
	}
	return r.at("isActive") == true
}

// paused fails the test unless the service has paused a webhook for a reason, or a person has disabled it if the reason is nil.
func (m *maker) paused(id string, reason any) {
	m.t.Helper()
	m.do("GET", "/api/webhooks/"+id, "", as(m.root)).want(200).shows("isActive", false, "pauseReason", reason)
}

// delivers reports whether a new link of a workspace leads to a delivery.
func (m *maker) delivers(who string, options ...option) bool {
	var before, after int
	m.ok(m.store.Row(m.t.Context(), `SELECT count(*) FROM webhook_deliveries`).Scan(&before))
	m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, append(options, as(who))...).want(201)
	m.ok(m.store.Row(m.t.Context(), `SELECT count(*) FROM webhook_deliveries`).Scan(&after))
	return after > before
}

func (m *maker) must(what string, ok bool) {
	m.t.Helper()
	if !ok {
		m.t.Errorf("not so: %s", what)
	}
}

// outlives has the rows of the table of lifetimes: what was made, and what happens. Each function makes it, lets it
// happen, and checks the third column.
var outlives = map[[2]string]func(m *maker){
	{"Links, bundles, tags, domains", "the member leaves the workspace"}: func(m *maker) {
		id := m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(m.bob), within(m.team)).want(201).str("id")
		m.leaves()
		m.do("GET", "/api/urls/"+id, "", as(m.ann), within(m.team)).want(200).shows("status", "ACTIVE", "userId", m.bobID)
	},
	{"API keys of a member for a workspace", "the member leaves the workspace"}: func(m *maker) {
		key, id := m.makeKey(m.bob, "", within(m.team))
		m.leaves()
		m.do("GET", "/api/urls", "", key).want(401)
		m.do("GET", "/api/api-keys/"+id, "", as(m.root)).want(404)
	},
	{"Webhooks of a member", "the member leaves the workspace"}: func(m *maker) {
		id, disabled := m.hook(as(m.bob), within(m.team)), m.hook(as(m.bob), within(m.team))
		m.do("PUT", "/api/webhooks/"+disabled, `{"isActive":false}`, as(m.bob), within(m.team)).want(200)
		m.must("it delivers before", m.delivers(m.ann, within(m.team)))
		m.leaves()
		m.paused(id, "MEMBER_REMOVED")
		m.paused(disabled, nil)
		m.must("it delivers nothing", !m.delivers(m.ann, within(m.team)))
		if _, newest := m.rowsOf("WEBHOOK_UPDATED"); !strings.Contains(newest, `"MEMBER_REMOVED"`) {
			m.t.Error(newest)
		}
		m.do("PUT", "/api/webhooks/"+id, `{"name":"n","isActive":false}`, as(m.ann), within(m.team)).want(200)
		m.paused(id, "MEMBER_REMOVED")
		m.do("PUT", "/api/webhooks/"+id, `{"isActive":true}`, as(m.ann), within(m.team)).want(200)
		m.must("an OWNER can turn it on", m.active(id) && m.delivers(m.ann, within(m.team)))
		m.do("PUT", "/api/webhooks/"+id, `{"isActive":false}`, as(m.ann), within(m.team)).want(200).shows("pauseReason", nil)
	},
	{"Webhooks of a member", "the member loses the role ADMIN"}: func(m *maker) {
		id := m.hook(as(m.bob), within(m.team))
		m.must("it delivers before", m.delivers(m.ann, within(m.team)))
		m.do("PATCH", "/api/workspaces/"+m.team+"/members/"+m.bobID, `{"role":"VIEWER"}`, as(m.ann)).want(200)
		m.paused(id, "MEMBER_DEMOTED")
		m.must("it delivers nothing", !m.delivers(m.ann, within(m.team)))
		if _, newest := m.rowsOf("WEBHOOK_UPDATED"); !strings.Contains(newest, `"MEMBER_DEMOTED"`) {
			m.t.Error(newest)
		}
		m.do("PUT", "/api/webhooks/"+id, `{"isActive":true}`, as(m.ann), within(m.team)).want(200)
		m.must("an OWNER can turn it on", m.active(id) && m.delivers(m.ann, within(m.team)))
	},
	{"Invitations", "the inviter leaves, loses the role ADMIN, or is deactivated"}: func(m *maker) {
		_, token := m.invite(m.team, "zoe@example.com", "EDITOR", m.bob)
		m.status("INACTIVE")
		m.accept(token, newcomer).want(410)
		m.status("ACTIVE")
		m.do("PATCH", "/api/workspaces/"+m.team+"/members/"+m.bobID, `{"role":"EDITOR"}`, as(m.ann)).want(200)
		m.accept(token, newcomer).want(410)
		m.leaves()
		m.accept(token, newcomer).want(410)
	},
	{"Links", "the user is deactivated"}: func(m *maker) {
		id := m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(m.bob)).want(201).str("id")
		m.status("INACTIVE")
		m.do("GET", "/api/urls/"+id, "", as(m.root)).want(200).shows("status", "ACTIVE")
	},
	{"Sessions", "the user is deactivated, deleted, or gets another role or password"}: func(m *maker) {
		m.do("PATCH", "/api/users/"+m.bobID+"/role", `{"role":"ADMIN"}`, as(m.root)).want(200)
		m.do("GET", "/api/auth/me", "", as(m.bob)).want(401)
		for _, end := range []func(){
			func() {
				m.do("POST", "/api/users/"+m.bobID+"/reset-password", `{"newPassword":"`+password+`"}`, as(m.root)).want(200)
			},
			func() { m.status("INACTIVE"); m.status("ACTIVE") },
			m.deleted,
		} {
			token, _ := m.signIn(otherMail)
			end()
			m.do("GET", "/api/auth/me", "", as(token)).want(401)
		}
	},
	{"API keys", "the user is deactivated"}: func(m *maker) {
		key, _ := m.makeKey(m.bob, "")
		m.status("INACTIVE")
		m.do("GET", "/api/urls", "", key).want(401)
		m.status("ACTIVE")
		m.do("GET", "/api/urls", "", key).want(200)
	},
	{"API keys", "the user is deleted, or an administrator resets the password"}: func(m *maker) {
		key, _ := m.makeKey(m.bob, "")
		m.do("POST", "/api/users/"+m.bobID+"/reset-password", `{"newPassword":"`+password+`"}`, as(m.root)).want(200)
		m.do("GET", "/api/urls", "", key).want(401)
		if _, newest := m.rowsOf("PASSWORD_CHANGED"); !strings.Contains(newest, `"revokedApiKeys":1`) ||
			!strings.Contains(newest, `"reset":true`) {
			m.t.Error(newest)
		}
		token, _ := m.signIn(otherMail)
		key, _ = m.makeKey(token, "")
		m.deleted()
		m.do("GET", "/api/urls", "", key).want(401)
	},
	{"Webhooks of a personal workspace", "the user is deactivated"}: func(m *maker) {
		m.hook(as(m.bob))
		m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(m.bob)).want(201)
		m.status("INACTIVE")
		m.must("nothing is delivered", !m.delivers(m.root, within(m.bobID)))
		m.status("ACTIVE")
		m.must("it delivers again", m.delivers(m.root, within(m.bobID)))
	},
	{"Webhooks of a team", "the user is deactivated"}: func(m *maker) {
		id := m.hook(as(m.bob), within(m.team))
		m.status("INACTIVE")
		m.must("it goes on", m.active(id) && m.delivers(m.ann, within(m.team)))
	},
	{"Links, bundles and webhooks in a team", "the user is deleted"}: func(m *maker) {
		id := m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(m.bob), within(m.team)).want(201).str("id")
		hook := m.hook(as(m.bob), within(m.team))
		m.deleted()
		m.do("GET", "/api/urls/"+id, "", as(m.ann), within(m.team)).want(200).shows("userId", m.annID, "status", "ACTIVE")
		m.do("GET", "/api/webhooks/"+hook, "", as(m.ann), within(m.team)).want(200).shows("userId", m.annID)
		m.paused(hook, "USER_DELETED")
	},
	{"API keys, webhooks and invitations made in a session", "the session ends"}: func(m *maker) {
		key, _ := m.makeKey(m.bob, "", within(m.team))
		hook := m.hook(as(m.bob), within(m.team))
		_, token := m.invite(m.team, "zoe@example.com", "EDITOR", m.bob)
		m.do("POST", "/api/auth/logout", "", as(m.bob)).want(200)
		m.do("GET", "/api/urls", "", key).want(200)
		m.must("the webhook goes on", m.active(hook))
		m.accept(token, newcomer).want(200)
	},
	{"API keys made with a key", "the key is deleted"}: func(m *maker) {
		maker, id := m.makeKey(m.root, "")
		child := with("X-API-Key", m.do("POST", "/api/api-keys", `{"name":"child"}`, maker).want(201).str("key"))
		grandchild := with("X-API-Key", m.do("POST", "/api/api-keys", `{"name":"grandchild"}`, child).want(201).str("key"))
		m.do("DELETE", "/api/api-keys/"+id, "", as(m.root)).want(204)
		for _, key := range []option{maker, child, grandchild} {
			m.do("GET", "/api/urls", "", key).want(401)
		}
	},
	{"Users made with a key", "the key is deleted"}: func(m *maker) {
		made := func() (key option, keyID, userID string) {
			key, keyID = m.makeKey(m.root, "")
			body := fmt.Sprintf(`{"email":"made-%s@example.com","password":"battery staple","role":"ADMIN"}`, keyID)
			return key, keyID, m.do("POST", "/api/users", body, key).want(201).str("id")
		}
		_, keyID, userID := made()
		m.do("DELETE", "/api/api-keys/"+keyID, "", as(m.root)).want(204)
		m.do("GET", "/api/users/"+userID, "", as(m.root)).want(200).shows("isActive", true)

		key, keyID, userID := made()
		child := m.do("POST", "/api/api-keys", `{"name":"child"}`, key).want(201).str("key")
		second := m.do("POST", "/api/users", `{"email":"second@example.com","password":"battery staple"}`, with("X-API-Key", child)).
			want(201).str("id")
		token := m.do("POST", "/api/auth/login", login("second@example.com", "battery staple", "")).want(200).str("accessToken")
		m.do("DELETE", "/api/api-keys/"+keyID+"?endMade=true", "", as(m.root)).want(204)
		for _, id := range []string{userID, second} {
			m.do("GET", "/api/users/"+id, "", as(m.root)).want(200).shows("isActive", false)
		}
		m.do("GET", "/api/auth/me", "", as(token)).want(401)
	},
	{"Invitations and webhooks made with a key", "the key is deleted"}: func(m *maker) {
		made := func() (keyID, hook string) {
			key, keyID := m.makeKey(m.bob, "", within(m.team))
			return keyID, m.hook(key)
		}
		// Without e-mail, keys invite nobody, so the invitation is marked as if one had.
		_, kept := m.invite(m.team, "kept@example.com", "EDITOR", m.bob)
		keyID, hook := made()
		m.exec(`UPDATE invitations SET made_by_key = ?`, keyID)
		m.do("DELETE", "/api/api-keys/"+keyID, "", as(m.bob), within(m.team)).want(204)
		m.must("the webhook goes on", m.active(hook))
		m.accept(kept, newcomer).want(200)

		_, ended := m.invite(m.team, "ended@example.com", "EDITOR", m.bob)
		keyID, hook = made()
		m.exec(`UPDATE invitations SET made_by_key = ? WHERE state = 'PENDING'`, keyID)
		m.do("DELETE", "/api/api-keys/"+keyID+"?endMade=true", "", as(m.bob), within(m.team)).want(204)
		m.leaves() // the first reason stays
		m.paused(hook, "API_KEY_DELETED")
		m.accept(ended, newcomer).want(410)
	},
	{"Everything else made with a key", "the key is deleted"}: func(m *maker) {
		key, id := m.makeKey(m.bob, "", within(m.team))
		link := m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, key).want(201).str("id")
		m.do("DELETE", "/api/api-keys/"+id+"?endMade=true", "", as(m.bob), within(m.team)).want(204)
		m.do("GET", "/api/urls/"+link, "", as(m.ann), within(m.team)).want(200)
		if _, newest := m.rowsOf("URL_CREATED"); !strings.Contains(newest, fmt.Sprintf(`"apiKeyId":%q`, id)) {
			m.t.Error(newest)
		}
	},
	{"API keys, webhooks, invitations, memberships", "the workspace is deleted"}: func(m *maker) {
		key, _ := m.makeKey(m.bob, "", within(m.team))
		hook := m.hook(as(m.bob), within(m.team))
		_, token := m.invite(m.team, "zoe@example.com", "EDITOR", m.bob)
		m.do("DELETE", "/api/workspaces/"+m.team, "", as(m.ann)).want(204)
		m.do("GET", "/api/urls", "", key).want(401)
		m.do("GET", "/api/webhooks/"+hook, "", as(m.root)).want(404)
		m.accept(token, newcomer).want(404)
		m.do("GET", "/api/workspaces/"+m.team, "", as(m.bob)).want(404)
	},
	{"Links and bundles", "the workspace is deleted"}: func(m *maker) {
		id := m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(m.bob), within(m.team)).want(201).str("id")
		m.do("DELETE", "/api/workspaces/"+m.team, "", as(m.ann)).want(409)
		m.do("DELETE", "/api/workspaces/"+m.team+"?transferTo="+m.annID, "", as(m.ann)).want(204)
		m.do("GET", "/api/urls/"+id, "", as(m.ann)).want(200)
	},
	{"The slug of a suspended link", "the link is deleted"}: func(m *maker) {
		id := m.create("phish")
		m.do("POST", "/api/urls/"+id+"/suspend", `{"reason":"Phishing"}`, as(m.root)).want(200)
		m.do("DELETE", "/api/urls/"+id+"?permanently=true", "", as(m.ann)).want(204)
		m.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"phish"}`, as(m.ann)).want(409)
	},
}

// Each row of the table in the page of security is true, and the table has all that is tested here.
func TestOutlives_table(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "operators", "security.md"))
	testkit.Must(t, err)
	_, table, _ := strings.Cut(string(page), "\n## Lifetimes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var rows [][2]string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) == 3 && strings.HasPrefix(line, "| ") && cells[0] != "| What" {
			rows = append(rows, [2]string{strings.TrimPrefix(cells[0], "| "), cells[1]})
		}
	}
	for row := range outlives {
		if !slices.Contains(rows, row) {
			t.Errorf("the page lacks the row %q", row)
		}
	}
	for _, row := range rows {
		t.Run(row[0]+", "+row[1], func(t *testing.T) {
			check := outlives[row]
			if check == nil {
				t.Fatal("nothing tests this row")
			}
			m := &maker{world: newWorld(t, usual(t), administering)}
			m.team = m.newTeam("Growth")
			m.join(m.team, m.bobID, "ADMIN")
			check(m)
		})
	}
}

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

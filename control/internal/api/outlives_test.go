package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	return m.do("GET", "/api/webhooks/"+id, "", as(m.root)).want(200).at("isActive") == true
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
		id := m.hook(as(m.bob), within(m.team))
		m.must("it delivers before", m.delivers(m.ann, within(m.team)))
		m.leaves()
		m.must("it is paused", !m.active(id) && !m.delivers(m.ann, within(m.team)))
		if _, newest := m.rowsOf("WEBHOOK_UPDATED"); !strings.Contains(newest, `"MEMBER_REMOVED"`) {
			m.t.Error(newest)
		}
		m.do("PUT", "/api/webhooks/"+id, `{"isActive":true}`, as(m.ann), within(m.team)).want(200)
		m.must("an OWNER can turn it on", m.delivers(m.ann, within(m.team)))
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
		m.do("GET", "/api/webhooks/"+hook, "", as(m.ann), within(m.team)).want(200).shows("userId", m.annID, "isActive", false)
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
		m.must("the webhook is paused", !m.active(hook))
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

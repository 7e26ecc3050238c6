package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/shared/testing/mailtest"
)

// administering lets API keys administer, which is the default of the program.
func administering(w *world, cfg *api.Config, deps *api.Deps) {
	teams(w, cfg, deps)
	manyKeys(0)(w, cfg, deps)
	cfg.KeysAdminister = true
}

// mailing is administering with e-mail.
func mailing(server *mailtest.Server) func(*world, *api.Config, *api.Deps) {
	return func(w *world, cfg *api.Config, deps *api.Deps) {
		administering(w, cfg, deps)
		withMail(server)(w, cfg, deps)
		deps.Invitations = invitations.New(invitations.Config{Console: baseURL, Mail: deps.Mail, Now: w.clock.now}, w.store, deps.Auth,
			deps.Accounts)
		deps.Workspaces.Mail(deps.Mail, baseURL)
	}
}

func TestS5_keys_invite_nobody_who_could_make_keys(t *testing.T) {
	server := mailtest.Start(t)
	w := newWorld(t, usual(t), mailing(server))
	team := w.newTeam("Growth")
	path := "/api/workspaces/" + team
	w.join(team, w.bobID, "EDITOR")
	for name, fields := range map[string]string{"members": `"scopes":["members"]`, "unlimited": ""} {
		key, _ := w.makeKey(w.ann, fields, within(team))
		for _, role := range []string{"ADMIN", "OWNER"} {
			w.do("POST", path+"/invitations", `{"email":"eve@example.com","role":"`+role+`"}`, key).want(403).says("API key")
			w.do("PATCH", path+"/members/"+w.bobID, `{"role":"`+role+`"}`, key).want(403).says("API key")
		}
		email := name + "@example.com"
		w.do("POST", path+"/invitations", `{"email":"`+email+`","role":"EDITOR"}`, key).want(201).shows("mailed", true, "link", nil)
		if m := server.Wait(t, email); m.Link == "" {
			t.Errorf("%s: no link in the e-mail", name)
		}
		w.do("PATCH", path+"/members/"+w.bobID, `{"role":"VIEWER"}`, key).want(200)
		w.do("PATCH", path+"/members/"+w.bobID, `{"role":"EDITOR"}`, key).want(200)
	}
	w.do("PATCH", path+"/members/"+w.bobID, `{"role":"ADMIN"}`, as(w.ann)).want(200)
}

func TestS5_keys_invite_only_by_mail(t *testing.T) {
	w := small(t, administering)
	team := w.newTeam("Growth")
	key, _ := w.makeKey(w.ann, `"scopes":["members"]`, within(team))
	w.do("POST", "/api/workspaces/"+team+"/invitations", `{"email":"eve@example.com","role":"EDITOR"}`, key).want(403).says("e-mail")
	w.do("GET", "/api/workspaces/"+team+"/invitations", "", key).want(200).shows("total", 0)
}

func TestS6_keys_weaken_no_sign_in(t *testing.T) {
	w := small(t, administering)
	key := w.key(w.root)
	for _, name := range []string{"require_2fa", "sso_enforce"} {
		path := "/api/settings/system/" + name
		w.do("PUT", path, `{"value":{"enabled":false}}`, as(w.root)).want(200)
		w.do("PUT", path, `{"value":{"enabled":true}}`, key).want(403).says("API key")
		w.do("DELETE", path, "", key).want(403).says("API key")
		w.do("GET", path, "", key).want(200).shows("value.enabled", false)
	}
	w.do("PUT", "/api/settings/system/x", `{"value":1}`, key).want(200)
}

// The address of a suspended link does not come back, however the link is deleted, until an administrator uses it.
func TestS8_slugs_of_suspended_links_stay_reserved(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		create := func(slug string, who string) *reply {
			return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/again","customSlug":"`+slug+`"}`, as(who))
		}
		deletions := map[string]func(id string){
			"to-the-trash": func(id string) { w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).want(204) },
			"for-good":     func(id string) { w.do("DELETE", "/api/urls/"+id+"?permanently=true", "", as(w.ann)).want(204) },
			"in-bulk":      func(id string) { w.do("DELETE", "/api/urls/bulk", `{"urlIds":["`+id+`"]}`, as(w.ann)).want(200) },
		}
		ids := map[string]string{}
		for slug, remove := range deletions {
			ids[slug] = w.create(slug)
			w.do("POST", "/api/urls/"+ids[slug]+"/suspend", `{"reason":"Phishing"}`, as(w.root)).want(200)
			remove(ids[slug])
			for _, who := range []string{w.ann, w.bob} {
				create(slug, who).want(409)
			}
			bulk := `{"urls":[{"originalUrl":"https://example.com/again","customSlug":"` + slug + `"}]}`
			w.do("POST", "/api/urls/bulk", bulk, as(w.bob)).want(201).shows("failureCount", 1)
			w.do("GET", "/api/urls/slug?slug="+slug, "", as(w.bob)).want(200).shows("status", "TAKEN")
		}
		// The link itself comes back from the trash, and is still suspended. When the suspension is lifted, the slug is like any other.
		back := ids["to-the-trash"]
		w.do("POST", "/api/urls/"+back+"/restore", `{}`, as(w.ann)).want(200).shows("status", "SUSPENDED", "slug", "to-the-trash")
		w.do("DELETE", "/api/urls/"+back+"/suspend", "", as(w.root)).want(204)
		w.do("DELETE", "/api/urls/"+back, "", as(w.ann)).want(204)
		create("to-the-trash", w.bob).want(201)
		create("for-good", w.root).want(201)
	})
}

func TestS10_webhooks_need_the_scopes_of_their_events(t *testing.T) {
	w := small(t, administering)
	hook := func(event string) string {
		return `{"name":"h","url":"http://127.0.0.1:1/","events":["` + event + `"]}`
	}
	only, _ := w.makeKey(w.ann, `"scopes":["webhooks"]`)
	both, _ := w.makeKey(w.ann, `"scopes":["webhooks","links:read"]`)
	for event, scope := range map[string]string{
		"url.created": "links:read", "routing.rule_created": "links:read", "url.clicked": "analytics:read",
		"routing.rule_matched": "analytics:read",
		"conversion.created":   "analytics:read", "domain.verified": "links:read or domains",
	} {
		w.do("POST", "/api/webhooks", hook(event), only).want(403).says(scope, event)
	}
	w.do("POST", "/api/webhooks", hook("url.clicked"), both).want(403)
	id := w.do("POST", "/api/webhooks", hook("url.created"), both).want(201).str("id")
	w.do("PUT", "/api/webhooks/"+id, `{"events":["url.clicked"]}`, both).want(403)
	w.do("PUT", "/api/webhooks/"+id, `{"url":"http://127.0.0.1:2/"}`, only).want(403)
	w.do("GET", "/api/webhooks/"+id+"/logs", "", only).want(403)
	w.do("GET", "/api/webhooks/"+id+"/logs", "", both).want(200)
	w.do("PUT", "/api/webhooks/"+id, `{"name":"n"}`, both).want(200)
	// A key with scopes never has the reach of an administrator.
	roots, _ := w.makeKey(w.root, `"scopes":["webhooks","links:read","analytics:read"]`)
	w.do("POST", "/api/webhooks", strings.Replace(hook("url.created"), "{", `{"scope":"all",`, 1), roots).want(403)
}

// The parameter is true or false, and nothing happens to a key if it is neither.
func TestLow_endMade_is_a_boolean(t *testing.T) {
	w := small(t, administering)
	key, id := w.makeKey(w.ann, "")
	for _, bad := range []string{"perhaps", "2"} {
		w.do("DELETE", "/api/api-keys/"+id+"?endMade="+bad, "", as(w.ann)).wantField("endMade")
	}
	w.do("GET", "/api/urls", "", key).want(200)
	for _, p := range w.openapi().Paths["/api/api-keys/{id}"]["delete"].Parameters {
		if p.Name == "endMade" {
			return
		}
	}
	t.Error("endMade is not documented")
}

// The others who manage webhooks learn by e-mail that those of a member who has left are paused.
func TestS10_paused_webhooks_are_told(t *testing.T) {
	server := mailtest.Start(t)
	w := newWorld(t, usual(t), mailing(server))
	// made lets bob make a webhook in a team of ann.
	made := func(name string) (team string) {
		team = w.newTeam(name)
		w.join(team, w.bobID, "ADMIN")
		w.do("POST", "/api/webhooks", `{"name":"To `+name+`","url":"http://127.0.0.1:1/","events":["url.created"]}`, as(w.bob),
			within(team)).want(201)
		return team
	}
	told := func(name, reason string) {
		t.Helper()
		if m := server.Wait(t, userMail); !strings.Contains(m.Text, "To "+name) || !strings.Contains(m.Text, otherMail) ||
			!strings.Contains(m.Text, name) {
			t.Error(m.Text)
		}
		if _, newest := w.rowsOf("WEBHOOK_UPDATED"); !strings.Contains(newest, reason) {
			t.Error(newest)
		}
	}
	w.do("DELETE", "/api/workspaces/"+made("growth")+"/members/"+w.bobID, "", as(w.bob)).want(204)
	told("growth", "MEMBER_REMOVED")
	made("sales")
	w.do("DELETE", "/api/users/"+w.bobID+"?deleteLinks=true", "", as(w.root)).want(200)
	told("sales", "USER_DELETED")
}

// A key that was made with a key has no more than its maker.
func TestKeys_made_with_a_key_are_contained(t *testing.T) {
	w := small(t, administering)
	const soon, later = "2090-01-01T00:00:00.000Z", "2090-01-02T00:00:00.000Z"
	maker, makerID := w.makeKey(w.root, `"expiresAt":"`+soon+`","allowedIps":["192.0.2.0/24"]`)
	at := from("192.0.2.1:1")
	w.do("POST", "/api/api-keys", `{"name":"k","expiresAt":"`+later+`"}`, maker, at).wantField("expiresAt")
	w.do("POST", "/api/api-keys", `{"name":"k","allowedIps":["192.0.2.7","198.51.100.1"]}`, maker, at).wantField("allowedIps")
	made := w.do("POST", "/api/api-keys", `{"name":"k","scopes":["links:read"]}`, maker, at).want(201)
	made.shows("expiresAt", soon, "allowedIps.0", "192.0.2.0/24", "madeByKeyId", makerID)
	child, childID := with("X-API-Key", made.str("key")), made.str("id")
	w.do("GET", "/api/urls", "", child, at).want(200)

	// Rotating extends nothing, and gives a key no secret of a key that it has not made.
	w.do("POST", "/api/api-keys/"+childID+"/rotate", `{"expiresAt":"`+later+`"}`, as(w.root)).wantField("expiresAt")
	w.do("POST", "/api/api-keys/"+makerID+"/rotate", `{"expiresAt":"`+later+`"}`, maker, at).wantField("expiresAt")
	_, otherID := w.makeKey(w.root, "")
	w.do("POST", "/api/api-keys/"+otherID+"/rotate", `{}`, maker, at).want(403)
	child = with("X-API-Key", w.do("POST", "/api/api-keys/"+childID+"/rotate", `{}`, maker, at).want(200).shows("expiresAt",
		soon).str("key"))
	w.do("GET", "/api/urls", "", child, at).want(200)
	if _, newest := w.rowsOf("API_KEY_ROTATED"); !strings.Contains(newest, fmt.Sprintf(`"apiKeyId":%q`, makerID)) {
		t.Error("the audit log does not name the key:", newest)
	}
}

func TestLow_invitations_to_an_address_are_limited(t *testing.T) {
	w := small(t, teams)
	first, second := w.newTeam("First"), w.newTeam("Second")
	for i := range 5 {
		w.invite([]string{first, second}[i%2], "zoe@example.com", "EDITOR", w.ann)
	}
	r := w.do("POST", "/api/workspaces/"+first+"/invitations", `{"email":"ZOE@example.com","role":"EDITOR"}`, as(w.ann)).want(429)
	if r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.invite(first, "other@example.com", "EDITOR", w.ann)
}

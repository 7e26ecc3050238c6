package api_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// makeKey creates a key with more fields than its name, such as `"scopes":["links:read"]`.
func (w *world) makeKey(token, fields string, options ...option) (credential option, id string) {
	w.t.Helper()
	if fields != "" {
		fields = "," + fields
	}
	r := w.do("POST", "/api/api-keys", `{"name":"k"`+fields+`}`, append(options, as(token))...).want(201)
	return with("X-API-Key", r.str("key")), r.str("id")
}

// manyKeys raises the limit of keys per user.
func manyKeys(days int) func(*world, *api.Config, *api.Deps) {
	return func(w *world, _ *api.Config, d *api.Deps) {
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		d.Keys = keys.New(keys.Config{PerUser: 1000, MaxDays: days}, w.store, passwords)
	}
}

// Each scope reaches one request of each class, and no other.
func TestKeys_scopes(t *testing.T) {
	w := small(t, whole)
	root := w.person("ADMIN")
	mine := w.thingsOf(root.token)
	requests := map[string]string{ // by the scopes that reach them
		"GET /api/urls":                                       "links:read links:write",
		"GET /api/urls/" + mine.id("url"):                     "links:read links:write",
		"GET /api/bundles":                                    "links:read links:write",
		"PATCH /api/urls/" + mine.id("url"):                   "links:write",
		"POST /api/urls/" + mine.id("url") + "/variants":      "links:write",
		"POST /api/urls/" + mine.id("url") + "/routing-rules": "links:write",
		"POST /api/bundles":                                   "links:write",
		"GET /api/analytics/overview":                         "analytics:read",
		"GET /api/analytics/urls/" + mine.id("url"):           "analytics:read",
		"GET /api/webhooks":                                   "webhooks",
		"DELETE /api/webhooks/" + mine.id("webhook"):          "webhooks",
		"GET /api/api-keys":                                   "",
		"DELETE /api/api-keys/" + mine.id("key"):              "",
		"POST /api/api-keys":                                  "",
		"PUT /api/auth/me":                                    "",
		"GET /api/users":                                      "",
		"GET /api/audit-logs":                                 "",
		"GET /api/settings/system":                            "",
	}
	for _, scope := range auth.ScopeNames() {
		key, _ := w.makeKey(root.token, `"scopes":["`+scope+`"]`)
		w.do("GET", "/api/auth/me", "", key).want(200) // every key may ask whose it is
		for request, scopes := range requests {
			method, path, _ := strings.Cut(request, " ")
			body := ""
			if method == "POST" || method == "PUT" || method == "PATCH" {
				body = `{"title":7}` // a request that gets through is refused for its body
			}
			before := w.trace()
			got := w.do(method, path, body, key)
			if reached := got.StatusCode != 403; reached != strings.Contains(" "+scopes+" ", " "+scope+" ") {
				t.Errorf("%s with %s: %d %s", request, scope, got.StatusCode, got.text)
			} else if !reached && (!strings.Contains(got.str("message"), "API key") && !strings.Contains(got.str("message"),
				"Only administrators") || w.trace() != before) {
				t.Errorf("%s with %s: %s", request, scope, got.text)
			}
			if got.StatusCode == 404 || got.StatusCode >= 500 {
				t.Errorf("%s with %s: %d %s", request, scope, got.StatusCode, got.text)
			}
		}
	}
	// A key with scopes has not the reach of the administrator who made it.
	other := w.thingsOf(w.person("USER").token)
	key, _ := w.makeKey(root.token, `"scopes":["links:write"]`)
	w.do("GET", "/api/urls/"+other.id("url"), "", key).want(404)
	w.do("PATCH", "/api/urls/"+other.id("url"), `{"title":"x"}`, key).want(404)
	w.do("GET", "/api/urls", "", key, with("X-Workspace", other.workspace())).want(404)
	if r := w.do("GET", "/api/urls", "", key).want(200); strings.Contains(r.text, other.id("url")) || r.num("total") == 0 {
		t.Errorf("a key with scopes lists %s", r.text)
	}
	unlimited, _ := w.makeKey(root.token, `"scopes":[]`)
	w.do("GET", "/api/urls/"+other.id("url"), "", unlimited).want(200)
	if both, _ := w.makeKey(root.token, `"scopes":["analytics:read","links:read","links:read"]`); w.do("GET", "/api/urls", "", both).
		StatusCode != 200 || w.do("GET", "/api/analytics/overview", "", both).StatusCode != 200 {
		t.Error("a key with two scopes does not have both")
	}
}

// workspace returns the id of the personal workspace of the owner.
func (th *things) workspace() string {
	return th.w.do("GET", "/api/auth/me", "", as(th.owner)).want(200).str("id")
}

func TestKeys_refuse_bad_fields(t *testing.T) {
	w := small(t, manyKeys(0))
	before := w.trace()
	many := func(n int, text string) string { return "[" + strings.Repeat(`"`+text+`",`, n-1) + `"` + text + `"]` }
	for body, field := range map[string]string{
		`"scopes":["links:read","links"]`:                      "scopes.1",
		`"scopes":[""]`:                                        "scopes.0",
		`"scopes":["links:read links:write"]`:                  "scopes.0",
		`"scopes":["LINKS:READ"]`:                              "scopes.0",
		`"scopes":[null]`:                                      "scopes.0",
		`"scopes":[7]`:                                         "scopes.0",
		`"scopes":"links:read"`:                                "scopes",
		`"scopes":{"links:read":true}`:                         "scopes",
		`"scopes":` + many(21, "links:read"):                   "scopes",
		`"scopes":` + many(40_000, "x"):                        "scopes",
		`"scopes":["\u202elinks:read"]`:                        "scopes.0",
		`"allowedIps":["10.0.0.0/33"]`:                         "allowedIps.0",
		`"allowedIps":["10.0.0.0/8","office"]`:                 "allowedIps.1",
		`"allowedIps":["10.0.0.1 10.0.0.2"]`:                   "allowedIps.0",
		`"allowedIps":["10.0.0.1,"]`:                           "allowedIps.0",
		`"allowedIps":["010.0.0.1"]`:                           "allowedIps.0",
		`"allowedIps":["::ffff:10.0.0.0/129"]`:                 "allowedIps.0",
		`"allowedIps":["١٠.٠.٠.١"]`:                            "allowedIps.0",
		`"allowedIps":["` + strings.Repeat("9", 70_000) + `"]`: "allowedIps.0",
		`"allowedIps":[""]`:                                    "allowedIps.0",
		`"allowedIps":[null]`:                                  "allowedIps.0",
		`"allowedIps":[[]]`:                                    "allowedIps.0",
		`"allowedIps":"10.0.0.1"`:                              "allowedIps",
		`"allowedIps":` + many(21, "10.0.0.1"):                 "allowedIps",
		`"expiresAt":"2001-01-01"`:                             "expiresAt",
		`"expiresAt":true`:                                     "expiresAt",
		`"isLegacy":true`:                                      "isLegacy",
		`"workspaceId":"x"`:                                    "workspaceId",
		`"scope":"links:read"`:                                 "scope",
	} {
		r := w.do("POST", "/api/api-keys", `{"name":"k",`+body+`}`, as(w.ann)).wantField(field)
		if len(r.text) > 2000 {
			t.Errorf("%.80s: a response of %d bytes", body, len(r.text))
		}
	}
	w.do("POST", "/api/api-keys", `{"name":" ","scopes":["x"],"allowedIps":["y"],"expiresAt":"2001-01-01"}`, as(w.ann)).wantField("name",
		"scopes.0", "allowedIps.0", "expiresAt")
	if w.trace() != before {
		t.Error("a refused request has changed something")
	}
	for _, body := range []string{`"scopes":null`, `"scopes":[]`, `"allowedIps":null`, `"allowedIps":[]`} {
		_, id := w.makeKey(w.ann, body)
		if r := w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200); fmt.Sprint(r.at("scopes"), r.at("allowedIps")) != "[] []" {
			t.Errorf("%s: %s", body, r.text)
		}
	}
	name := "\u202e😀\"<b>,\n=1+1"
	quoted, err := json.Marshal(name)
	w.ok(err)
	r := w.do("POST", "/api/api-keys", `{"name":`+string(quoted)+`}`, as(w.ann)).want(201)
	w.do("GET", "/api/api-keys/"+r.str("id"), "", as(w.ann)).want(200).shows("name", name)
}

func TestKeys_addresses(t *testing.T) {
	behind := func(w *world, c *api.Config, d *api.Deps) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		manyKeys(0)(w, c, d)
	}
	w := small(t, behind)
	key, id := w.makeKey(w.ann,
		`"allowedIps":[" 203.0.113.77/24 ","::ffff:198.51.100.0/120","2001:DB8::1","203.0.113.0/24","192.0.2.1/32"]`)
	r := w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200)
	if got := fmt.Sprint(r.at("allowedIps")); got != "[203.0.113.0/24 198.51.100.0/24 2001:db8::1 192.0.2.1]" {
		t.Errorf("the networks became %s", got)
	}
	forwarded := func(ip string) option { return with("X-Forwarded-For", ip) }
	for _, c := range []struct {
		what    string
		options []option
		allowed bool
	}{
		{"an allowed address", []option{from("203.0.113.5:1")}, true},
		{"an allowed address of IPv6", []option{from("[2001:db8::1]:1")}, true},
		{"a mapped address", []option{from("[::ffff:198.51.100.5]:1")}, true},
		{"another address", []option{from("192.0.2.2:1")}, false},
		{"another address that claims an allowed one", []option{from("192.0.2.2:1"), forwarded("203.0.113.5")}, false},
		{"an allowed address behind our proxy", []option{from("10.0.0.1:1"), forwarded("203.0.113.5")}, true},
		{"an allowed address behind two of our proxies", []option{from("10.0.0.1:1"), forwarded("203.0.113.5, 10.9.9.9")}, true},
		{"another address behind our proxy", []option{from("10.0.0.1:1"), forwarded("192.0.2.2")}, false},
		{"another address behind our proxy that claims an allowed one", []option{from("10.0.0.1:1"), forwarded("203.0.113.5, 192.0.2.2")},
			false},
		{"our proxy itself", []option{from("10.0.0.1:1")}, false},
		{"an allowed address that is a proxy of somebody else", []option{from("203.0.113.5:1"), forwarded("192.0.2.2")}, true},
	} {
		got := w.do("GET", "/api/auth/me", "", append(c.options, key)...)
		if c.allowed {
			got.want(200)
		} else if got.want(403); !strings.HasPrefix(got.str("message"), "This API key can't be used from ") {
			t.Errorf("%s: %s", c.what, got.text)
		}
		if t.Failed() {
			t.Fatal(c.what)
		}
	}
	w.do("GET", "/api/auth/me", "", key, from("192.0.2.2:1")).shows("message", "This API key can't be used from 192.0.2.2.")
	testkit.Eventually(t, "the last use has an allowed address", func() bool {
		ip := w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200).str("lastUsedIp")
		return ip == "203.0.113.5" || ip == "198.51.100.5" || ip == "2001:db8::1"
	})
	open, _ := w.makeKey(w.ann, "")
	w.do("GET", "/api/auth/me", "", open, from("192.0.2.2:1")).want(200)
	everywhere, _ := w.makeKey(w.ann, `"allowedIps":["0.0.0.0/0"]`)
	w.do("GET", "/api/auth/me", "", everywhere, from("192.0.2.2:1")).want(200)
	w.do("GET", "/api/auth/me", "", everywhere, from("[2001:db8::1]:1")).want(403)
}

func TestKeys_longest_life(t *testing.T) {
	w := small(t, manyKeys(30))
	day := 24 * time.Hour
	in := func(d time.Duration) string {
		return `"expiresAt":"` + time.Now().Add(d).UTC().Format(time.RFC3339) + `"`
	}
	near := func(r *reply, d time.Duration) {
		t.Helper()
		at, err := time.Parse(time.RFC3339, r.str("expiresAt"))
		if err != nil || at.Sub(time.Now().Add(d)).Abs() > time.Minute {
			t.Errorf("expires at %q, want %v from now", r.str("expiresAt"), d)
		}
	}
	w.do("POST", "/api/api-keys", `{"name":"k",`+in(31*day)+`}`, as(w.ann)).wantField("expiresAt")
	near(w.do("POST", "/api/api-keys", `{"name":"k",`+in(29*day)+`}`, as(w.ann)).want(201), 29*day)
	near(w.do("POST", "/api/api-keys", `{"name":"k","expiresAt":null}`, as(w.ann)).want(201), 30*day)
	r := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann)).want(201)
	near(r, 30*day)
	rotate := "/api/api-keys/" + r.str("id") + "/rotate"
	// A key of the time before the limit keeps its life until it is rotated.
	w.exec(`UPDATE api_keys SET expires_at = NULL WHERE id = ?`, r.str("id"))
	w.do("GET", "/api/auth/me", "", with("X-API-Key", r.str("key"))).want(200)
	w.do("POST", rotate, `{`+in(31*day)+`}`, as(w.ann)).wantField("expiresAt")
	near(w.do("POST", rotate, ``, as(w.ann)).want(200), 30*day)
	near(w.do("POST", rotate, `{`+in(day)+`}`, as(w.ann)).want(200), day)
	near(w.do("POST", rotate, `{}`, as(w.ann)).want(200), day)
	near(w.do("POST", rotate, `{"expiresAt":null}`, as(w.ann)).want(200), 30*day)
}

func TestKeys_rotate(t *testing.T) {
	w := small(t, manyKeys(0))
	key, id := w.makeKey(w.ann, `"scopes":["links:read"],"allowedIps":["192.0.2.0/24"]`)
	at := from("192.0.2.1:1")
	path := "/api/api-keys/" + id
	w.do("GET", "/api/auth/me", "", key, at).want(200)
	before := w.do("GET", path, "", as(w.ann)).want(200)
	w.do("POST", path+"/rotate", "").want(401)
	w.do("POST", path+"/rotate", "", key, at).want(403)
	w.do("POST", path+"/rotate", "", as(w.bob)).want(404)
	w.do("POST", path+"/rotate", "", as(w.root)).want(403) // an administrator would act as the user
	w.do("POST", path+"/rotate", `{"scopes":[]}`, as(w.ann)).wantField("scopes")
	w.do("POST", path+"/rotate", `{"expiresAt":"2001-01-01"}`, as(w.ann)).wantField("expiresAt")
	w.do("POST", path+"/rotate", `{"expiresAt":[]}`, as(w.ann)).wantField("expiresAt")
	w.do("POST", "/api/api-keys/"+store.NewID()+"/rotate", "", as(w.ann)).want(404)

	r := w.do("POST", path+"/rotate", "", as(w.ann)).want(200).has("", append(keyNames, "key")...)
	fresh := with("X-API-Key", r.str("key"))
	for _, name := range []string{"id", "name", "scopes", "allowedIps", "workspaceId", "createdBy", "expiresAt", "createdAt"} {
		if fmt.Sprint(r.at(name)) != fmt.Sprint(before.at(name)) {
			t.Errorf("%s became %v", name, r.at(name))
		}
	}
	r.shows("prefix", r.str("key")[:10], "lastUsedAt", nil, "lastUsedIp", nil)
	w.do("GET", "/api/auth/me", "", key, at).want(401).shows("error", "Unauthorized")
	w.do("GET", "/api/auth/me", "", fresh, at).want(200)
	w.do("GET", "/api/api-keys", "", fresh, at).want(403).says("limited to scopes")
	w.do("GET", "/api/auth/me", "", fresh, from("203.0.113.1:1")).want(403).says("can't be used from 203.0.113.1")

	w.exec(`UPDATE api_keys SET expires_at = 1 WHERE id = ?`, id)
	w.do("POST", path+"/rotate", "", as(w.ann)).wantField("expiresAt")
	w.do("GET", "/api/auth/me", "", fresh, at).want(401) // a refused rotation has not replaced the secret
	r = w.do("POST", path+"/rotate", `{"expiresAt":"2999-01-01"}`, as(w.ann)).want(200)
	r.shows("expiresAt", "2999-01-01T00:00:00.000Z")
	w.counts(2, `SELECT COUNT(*) FROM audit_logs WHERE action = 'API_KEY_ROTATED' AND entity_id = ? AND user_id = ?`, id, w.annID)
}

// A key of an earlier release has its old rights until it is rotated, and the same rights in the new form afterwards.
func TestKeys_legacy(t *testing.T) {
	w := small(t, whole)
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	w.ok(err)
	for i, role := range []string{"USER", "ADMIN"} {
		p := w.person(role)
		own, foreign := w.thingsOf(p.token), w.thingsOf(w.person("USER").token)
		id, key := store.NewID(), "sl_"+strings.Repeat(fmt.Sprint(i), 61)
		hash, err := passwords.Hash(t.Context(), key)
		w.ok(err)
		// As a program of that release inserts it.
		w.exec(`INSERT INTO api_keys (id, user_id, name, prefix, lookup, hash, expires_at, created_at)
			VALUES (?, ?, 'old', ?, ?, ?, NULL, 1)`, id, p.id, key[:10], auth.Digest(key), hash)
		rights := func(key option) {
			t.Helper()
			w.do("GET", "/api/auth/me", "", key).want(200)
			w.do("PUT", "/api/auth/me", `{"name":"x"}`, key).want(200)
			w.do("GET", "/api/urls/"+own.id("url"), "", key).want(200)
			w.do("GET", "/api/analytics/overview", "", key).want(200)
			w.do("GET", "/api/webhooks/"+own.id("webhook"), "", key).want(200)
			w.do("GET", "/api/api-keys", "", key).want(200)
			if role == "ADMIN" {
				w.do("GET", "/api/urls/"+foreign.id("url"), "", key).want(200)
				w.do("GET", "/api/users", "", key).want(200)
			} else {
				w.do("GET", "/api/urls/"+foreign.id("url"), "", key).want(404)
				w.do("GET", "/api/users", "", key).want(403)
			}
		}
		rights(with("X-API-Key", key))
		w.do("GET", "/api/api-keys/"+id, "", as(p.token)).want(200).shows("isLegacy", true, "workspaceId", p.id)
		r := w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(p.token)).want(200)
		if r.at("isLegacy") != false || r.str("workspaceId") != p.id || len(r.str("key")) != 63 {
			t.Error(r.text)
		}
		w.do("GET", "/api/auth/me", "", with("X-API-Key", key)).want(401)
		rights(with("X-API-Key", r.str("key")))
	}
}

func TestKeys_of_a_team(t *testing.T) {
	w := small(t, manyKeys(0))
	ctx := t.Context()
	team, foreign := store.Workspace{ID: store.NewID(), Name: "Team", Slug: "team"},
		store.Workspace{ID: store.NewID(), Name: "F", Slug: "foreign"}
	w.ok(w.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.InsertWorkspace(ctx, &foreign, w.bobID); err != nil {
			return err
		}
		if err := tx.InsertWorkspace(ctx, &team, w.annID); err != nil {
			return err
		}
		return tx.InsertMember(ctx, team.Num, w.bobID, store.RoleAdmin, 1)
	}))
	role := func(userID, role string) {
		t.Helper()
		w.exec(`UPDATE workspace_members SET role = ? WHERE workspace_num = ? AND user_id = ?`, role, team.Num, userID)
	}
	in := func(slug string) option { return with("X-Workspace", slug) }
	personal, _ := w.makeKey(w.ann, "")
	key, id := w.makeKey(w.ann, "", in("team"))
	w.do("GET", "/api/api-keys/"+id, "", as(w.bob), in("team")).want(200).
		shows("workspaceId", team.ID, "createdBy.email", userMail, "createdBy.id", w.annID)
	w.do("GET", "/api/api-keys", "", as(w.bob), in("team")).want(200).shows("total", 1, "apiKeys.0.id", id)
	w.do("GET", "/api/api-keys", "", as(w.ann)).want(200).shows("total", 1).omits(id)
	w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(404)
	w.do("GET", "/api/api-keys/"+id, "", as(w.bob), in("foreign")).want(404)
	w.do("DELETE", "/api/api-keys/"+id, "", as(w.bob), in("foreign")).want(404)
	w.do("GET", "/api/api-keys", "", key).want(200)
	w.do("GET", "/api/api-keys", "", key, in("team")).want(200)
	w.do("GET", "/api/api-keys", "", key, in(w.annID)).want(403)
	w.do("GET", "/api/api-keys", "", key, in("foreign")).want(404)
	w.do("GET", "/api/api-keys", "", personal, in("team")).want(403)
	// An administrator of the workspace would get the rights of its owner.
	w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.bob), in("team")).want(403)
	w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.root)).want(403)
	w.do("GET", "/api/api-keys", "", key).want(200)

	role(w.bobID, store.RoleEditor)
	for _, request := range []string{"GET /api/api-keys", "POST /api/api-keys", "GET /api/api-keys/" + id, "DELETE /api/api-keys/" + id,
		"POST /api/api-keys/" + id + "/rotate"} {
		method, path, _ := strings.Cut(request, " ")
		w.do(method, path, "", as(w.bob), in("team")).want(403)
	}
	// The present role of a key's user limits the key.
	role(w.annID, store.RoleViewer)
	w.do("GET", "/api/api-keys", "", key).want(403)
	w.exec(`DELETE FROM workspace_members WHERE workspace_num = ? AND user_id = ?`, team.Num, w.annID)
	w.do("GET", "/api/api-keys", "", key).want(401)
	w.do("GET", "/api/auth/me", "", personal).want(200)

	// The key of an administrator who is no member would work for nobody.
	w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.root), in("team")).want(403)
	w.do("DELETE", "/api/api-keys/"+id, "", as(w.root)).want(204)
}

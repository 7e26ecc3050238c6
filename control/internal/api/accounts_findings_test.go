package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
)

// key makes an API key in a session.
func (w *world) key(token string) option {
	w.t.Helper()
	return with("X-API-Key", w.do("POST", "/api/api-keys", `{"name":"k"}`, as(token)).want(201).str("key"))
}

// escalations are what a stolen key of an administrator could use to stay.
func (w *world) escalations() [][3]string {
	ann := "/api/users/" + w.annID
	return [][3]string{
		{"POST", "/api/users", `{"email":"eve@example.com","password":"battery staple","role":"ADMIN"}`},
		{"PATCH", ann + "/role", `{"role":"ADMIN"}`}, {"PATCH", ann + "/status", `{"status":"INACTIVE"}`}, {"PATCH", ann + "/2fa", `{"enabled":false}`},
		{"POST", ann + "/reset-password", `{"newPassword":"battery staple"}`}, {"PATCH", ann + "/reset-password", `{"newPassword":"battery staple"}`}, {"DELETE", ann, ""},
		{"POST", "/api/admin/oidc-providers", `{"name":"Evil","slug":"evil","discoveryUrl":"https://evil.example","clientId":"x","clientSecret":"y"}`},
		{"PUT", "/api/admin/oidc-providers/corp", `{"discoveryUrl":"https://evil.example"}`}, {"DELETE", "/api/admin/oidc-providers/corp", ""},
		{"DELETE", ann + "/oidc-accounts/x", ""},
	}
}

func TestM1_AdminKeysDoNotAdminister(t *testing.T) {
	eachWith(t, withSSO(nil), func(t *testing.T, w *world) {
		w.do("POST", "/api/admin/oidc-providers", providerJSON("corp", "http://127.0.0.1:1", "x"), as(w.root)).want(201)
		key := w.key(w.root)
		before := w.do("GET", "/api/users", "", as(w.root)).want(200).text + w.do("GET", "/api/admin/oidc-providers", "", as(w.root)).want(200).text
		for _, e := range w.escalations() {
			if r := w.do(e[0], e[1], e[2], key).want(403); !strings.Contains(r.text, "API key") {
				t.Errorf("%s: %s", r.what, r.text)
			}
		}
		if after := w.do("GET", "/api/users", "", as(w.root)).want(200).text + w.do("GET", "/api/admin/oidc-providers", "", as(w.root)).want(200).text; after != before {
			t.Errorf("something changed: %s and before %s", after, before)
		}
		// The rest of what the interface promises to keys stays.
		w.do("GET", "/api/users", "", key).want(200)
		w.do("GET", "/api/users/"+w.annID, "", key).want(200)
		w.do("PATCH", "/api/users/"+w.annID+"/name", `{"name":"Ann"}`, key).want(200)
		w.do("GET", "/api/admin/oidc-providers/corp", "", key).want(200)
		w.do("PUT", "/api/settings/system/x", `{"value":1}`, key).want(200)
	})
}

func TestM1_AdminKeysAdministerWhereTheSettingSaysSo(t *testing.T) {
	w := small(t, func(w *world, c *api.Config, d *api.Deps) {
		withSSO(nil)(w, c, d)
		c.KeysAdminister = true
	})
	key := w.key(w.root)
	w.do("POST", "/api/users", `{"email":"carol@example.com","password":"battery staple"}`, key).want(201)
	w.do("PATCH", "/api/users/"+w.annID+"/role", `{"role":"ADMIN"}`, key).want(200)
	w.do("POST", "/api/admin/oidc-providers", providerJSON("corp", "http://127.0.0.1:1", "x"), key).want(201)
	w.do("POST", "/api/api-keys", `{"name":"second"}`, key).want(201)
	for _, q := range []string{"POST /api/auth/password", "POST /api/auth/2fa/setup"} {
		method, path, _ := strings.Cut(q, " ")
		w.do(method, path, "", key).want(403)
	}
	w.do("POST", "/api/users/"+w.rootID+"/reset-password", `{"newPassword":"battery staple"}`, key).want(400)
	w.do("POST", "/api/users", `{"email":"dave@example.com","password":"battery staple"}`, w.key(w.bob)).want(403) // no administrator's
}

func TestM1_NobodyResetsTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		me := "/api/users/" + w.rootID
		for _, method := range []string{"POST", "PATCH"} {
			if r := w.do(method, me+"/reset-password", `{"newPassword":"battery staple"}`, as(w.root)).want(400); !strings.Contains(r.str("message"), "/api/auth/password") {
				t.Error(r.text)
			}
		}
		w.secondFactor(w.root)
		if r := w.do("PATCH", me+"/2fa", `{"enabled":false}`, as(w.root)).want(400); !strings.Contains(r.str("message"), "/api/auth/2fa/disable") {
			t.Error(r.text)
		}
		if r := w.do("GET", "/api/auth/me", "", as(w.root)).want(200); r.at("twoFactorEnabled") != true {
			t.Error(r.text)
		}
		w.do("POST", "/api/auth/login", login(adminMail, password, "")).want(200)
	})
}

func TestM2_KeysMakeNoKeys(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		key := w.key(w.ann)
		if r := w.do("POST", "/api/api-keys", `{"name":"for ever"}`, key).want(403); !strings.Contains(r.text, "API key") {
			t.Error(r.text)
		}
		if r := w.do("GET", "/api/api-keys", "", key).want(200); r.num("total") != 1 {
			t.Error(r.text)
		}
	})
}

func TestM2_AResetRevokesKeysAndAChangeOffersTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		key, bobs := w.key(w.ann), w.key(w.bob)
		w.do("GET", "/api/auth/me", "", key).want(200) // so that it is remembered
		change := func(from, to, more string) {
			t.Helper()
			w.do("PUT", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q%s}`, from, to, more), as(w.ann)).want(200)
		}
		change(password, "battery staple", "")
		change("battery staple", password, `,"revokeApiKeys":false`)
		w.do("GET", "/api/auth/me", "", key).want(200)
		change(password, "battery staple", `,"revokeApiKeys":true`)
		w.do("GET", "/api/auth/me", "", key).want(401)
		if _, newest := w.rowsOf("PASSWORD_CHANGED"); !strings.Contains(newest, `"revokedApiKeys":1`) {
			t.Error(newest)
		}

		key = w.key(w.ann)
		w.do("GET", "/api/auth/me", "", key).want(200)
		w.do("POST", "/api/users/"+w.annID+"/reset-password", `{"newPassword":"another horse"}`, as(w.root)).want(200)
		w.do("GET", "/api/auth/me", "", key).want(401)
		if _, newest := w.rowsOf("PASSWORD_CHANGED"); !strings.Contains(newest, `"revokedApiKeys":1`) || !strings.Contains(newest, `"reset":true`) {
			t.Error(newest)
		}
		w.do("GET", "/api/auth/me", "", bobs).want(200)
	})
}

func TestAPI2_ShortListsAreArrays(t *testing.T) {
	eachWith(t, withSSO(nil), func(t *testing.T, w *world) {
		lists := []string{"/api/auth/sso", "/api/admin/oidc-providers", "/api/users/" + w.annID + "/oidc-accounts", "/api/settings/system"}
		for _, path := range lists {
			if n := len(w.do("GET", path, "", as(w.root)).want(200).list()); n != 0 {
				t.Errorf("%s: %d", path, n)
			}
		}
		if r := w.do("GET", "/api/auth/methods", "").want(200).has("", "password", "sso", "passkeys"); strings.TrimSpace(r.text) != `{"password":true,"sso":[],"passkeys":false}` {
			t.Error(r.text)
		}
		p := startIDP(t, ann)
		w.add("corp", p)
		w.signOn("corp").entered("/")
		for i := range 120 { // whole and in order, beyond what was a page
			w.do("PUT", fmt.Sprintf("/api/settings/system/k%03d", i), `{"value":1}`, as(w.root)).want(200)
		}
		settings := w.do("GET", "/api/settings/system?limit=5&page=2", "", as(w.root)).want(200)
		if n := len(settings.list()); n != 120 || settings.str("0.key") != "k000" || settings.str("119.key") != "k119" {
			t.Errorf("%d settings, from %s to %s", n, settings.str("0.key"), settings.str("119.key"))
		}
		for _, path := range lists[:3] {
			if n := len(w.do("GET", path, "", as(w.root)).want(200).list()); n != 1 {
				t.Errorf("%s: %d", path, n)
			}
		}
		if r := w.do("GET", "/api/auth/sso", ""); strings.TrimSpace(r.text) != `[{"slug":"corp","name":"Corp"}]` {
			t.Error(r.text)
		}
		w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
		if r := w.do("GET", "/api/auth/methods", ""); strings.TrimSpace(r.text) != `{"password":false,"sso":[{"slug":"corp","name":"Corp"}],"passkeys":false}` {
			t.Error(r.text)
		}
	})
}

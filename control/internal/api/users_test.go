package api_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestUsers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := w.do("POST", "/api/users", `{"email":" Carol@Example.com ","password":"battery staple","role":"ADMIN","name":"Carol"}`,
			as(w.root)).
			want(201).has("", userNames...)
		carol := r.str("id")
		r.shows("email", "Carol@Example.com", "role", "ADMIN", "name", "Carol")
		w.do("GET", "/api/users/"+carol, "", as(w.root)).want(200).shows("email", "Carol@Example.com")
		w.do("POST", "/api/users", `{"email":"carol@example.com","password":"battery staple"}`, as(w.root)).want(409)
		w.do("POST", "/api/users", `{"email":"x","password":"1","role":"USER"}`, as(w.root)).wantField("email", "password")
		w.do("POST", "/api/users", `{"email":"x","password":"1","role":"KING","age":3}`, as(w.root)).wantField("role", "age")
		w.do("POST", "/api/users", `{"role":null}`, as(w.root)).wantField("email", "password")

		for query, want := range map[string]float64{
			"": 4, "?search=EXAMPLE": 4, "?search=carol": 1, "?search=%25": 0, "?role=ADMIN": 2, "?status=INACTIVE": 0,
			"?role=USER&status=ACTIVE": 2, "?page=9": 4, "?whatever=1": 4,
		} {
			w.do("GET", "/api/users"+query, "", as(w.root)).want(200).has("", "data", "total", "page", "pageSize", "totalPages").
				shows("total", want)
		}
		w.do("GET", "/api/users?limit=3", "", as(w.root)).want(200).
			shows("pageSize", 3, "totalPages", 2, "data.#", 3, "data.0.id", carol)
		w.do("GET", "/api/users?pageSize=2&page=2", "", as(w.root)).want(200).shows("page", 2, "data.#", 2)
		for query, field := range map[string]string{"page=0": "page", "limit=0": "limit", "limit=101": "limit", "pageSize=x": "pageSize",
			"role=king": "role", "status=x": "status", "page=99999999999999999999": "page"} {
			w.do("GET", "/api/users?"+query, "", as(w.root)).wantField(field)
		}
	})
}

func TestUsers_changes(t *testing.T) {
	w := small(t, nil)
	me, ann := "/api/users/"+w.rootID, "/api/users/"+w.annID
	root := as(w.root)
	w.do("PATCH", ann+"/name", `{"name":"Ann B."}`, root).want(200).has("", userNames...).shows("name", "Ann B.")
	w.do("PATCH", ann+"/role", `{"role":"KING"}`, root).wantField("role")
	w.do("PATCH", ann+"/role", `{}`, root).wantField("role")
	w.do("PATCH", me+"/role", `{"role":"USER"}`, root).wantField("role")
	w.do("PATCH", me+"/status", `{"status":"INACTIVE"}`, root).wantField("status")
	w.do("PATCH", ann+"/status", `{}`, root).wantField("status")
	w.do("PATCH", ann+"/status", `{"status":"ACTIVE","isActive":false}`, root).wantField("isActive")
	w.do("DELETE", me, "", root).want(400)

	w.do("PATCH", ann+"/role", `{"role":"ADMIN"}`, root).want(200).shows("role", "ADMIN")
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(401) // a role change ends sessions
	ann2, _ := w.signIn(userMail)
	w.do("GET", "/api/users", "", as(ann2)).want(200)

	key := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(ann2)).want(201).str("key")
	w.do("PATCH", ann+"/status", `{"isActive":false}`, root).want(200).shows("status", "INACTIVE")
	w.do("GET", "/api/auth/me", "", as(ann2)).want(401)
	w.do("GET", "/api/auth/me", "", as(key)).want(401)
	w.do("PATCH", ann+"/status", `{"status":"ACTIVE"}`, root).want(200)
	w.do("GET", "/api/auth/me", "", as(key)).want(200)

	ann3, _ := w.signIn(userMail)
	w.do("POST", ann+"/reset-password", `{"newPassword":"short"}`, root).wantField("newPassword")
	w.do("POST", ann+"/reset-password", `{"newPassword":"a new password"}`, root).want(200).has("", "message")
	w.do("GET", "/api/auth/me", "", as(ann3)).want(401)
	w.do("POST", "/api/auth/login", login(userMail, "a new password", "")).want(200)
	w.do("PATCH", ann+"/reset-password", `{"newPassword":"`+password+`"}`, root).want(200)

	ann4, _ := w.signIn(userMail)
	secret := w.do("POST", "/api/auth/2fa/setup", "", as(ann4)).want(201).str("secret")
	w.do("POST", "/api/auth/2fa/enable", `{"code":"`+w.code(secret)+`"}`, as(ann4)).want(200)
	w.do("PATCH", ann+"/2fa", `{"enabled":true}`, root).wantField("enabled")
	w.do("PATCH", ann+"/2fa", "", root).want(200).shows("twoFactorEnabled", false)
	w.signIn(userMail)

	w.do("DELETE", ann, "", root).want(200).has("", "message")
	w.do("GET", ann, "", root).want(404)
	w.do("GET", "/api/auth/me", "", as(ann4)).want(401)
	w.do("GET", "/api/auth/me", "", as(key)).want(401)
	for _, q := range [][3]string{
		{"DELETE", ann, ""}, {"PATCH", ann + "/name", `{"name":"x"}`}, {"PATCH", ann + "/role", `{"role":"USER"}`},
		{"PATCH", ann + "/status", `{"status":"ACTIVE"}`},
		{"PATCH", ann + "/2fa", ""}, {"POST", ann + "/reset-password", `{"newPassword":"battery staple"}`},
		{"GET", "/api/users/%27%20or%201=1", ""},
	} {
		w.do(q[0], q[1], q[2], root).want(404)
	}
	for _, action := range []string{"USER_LOGIN", "USER_CREATED", "USER_UPDATED", "USER_DELETED", "PASSWORD_CHANGED", "TWO_FACTOR_ENABLED",
		"TWO_FACTOR_DISABLED"} {
		var n int
		w.ok(w.store.Row(t.Context(), `SELECT COUNT(*) FROM audit_logs WHERE action = ?`, action).Scan(&n))
		if n == 0 {
			t.Errorf("no %s in the audit log", action)
		}
	}
	var leaked int
	w.ok(w.store.Row(t.Context(),
		`SELECT COUNT(*) FROM audit_logs WHERE COALESCE(old_value,'') || COALESCE(new_value,'') || metadata LIKE ?`,
		"%"+password+"%").Scan(&leaked))
	if leaked != 0 {
		t.Error("a password is in the audit log")
	}
}

// keyNames are the names in the description of an API key.
var keyNames = []string{"id", "name", "prefix", "scopes", "allowedIps", "workspaceId", "createdBy", "madeByKeyId", "isLegacy", "expiresAt",
	"createdAt", "lastUsedAt", "lastUsedIp"}

func TestKeys(t *testing.T) {
	w := small(t, nil)
	r := w.do("POST", "/api/api-keys", `{"name":" CI ","expiresAt":"2999-01-01"}`, as(w.ann)).want(201).has("", append(keyNames, "key")...)
	key, id := r.str("key"), r.str("id")
	if len(key) != 63 || !strings.HasPrefix(key, "sl_") || r.str("prefix") != key[:10] ||
		r.str("expiresAt") != "2999-01-01T00:00:00.000Z" ||
		r.str("name") != "CI" {
		t.Fatal(r.text)
	}
	for _, credential := range []option{with("X-API-Key", key), as(key)} {
		w.do("GET", "/api/auth/me", "", credential).want(200).shows("id", w.annID)
	}
	testkit.Eventually(w.t, "the last use is written", func() bool {
		return w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200).has("", keyNames...).str("lastUsedAt") != ""
	})
	w.do("GET", "/api/api-keys", "", as(w.ann)).want(200).has("", "apiKeys", "data", "total", "page", "pageSize", "totalPages").
		shows("total", 1, "apiKeys.0.id", id, "data.0.id", id).omits(key)
	forever := w.do("POST", "/api/api-keys", `{"name":"forever","expiresAt":null}`, as(w.ann)).want(201).shows("expiresAt", nil)
	w.do("POST", "/api/api-keys", `{"name":"third","expiresAt":""}`, as(w.ann)).want(201)
	w.do("POST", "/api/api-keys", `{"name":"one too many"}`, as(w.ann)).want(409)
	w.do("POST", "/api/api-keys", `{}`, as(w.bob)).wantField("name")
	w.do("POST", "/api/api-keys", `{"name":" ","expiresAt":"2001-01-01T00:00:00Z"}`, as(w.bob)).wantField("name", "expiresAt")
	w.do("POST", "/api/api-keys", `{"name":3,"expiresAt":"soon"}`, as(w.bob)).wantField("name", "expiresAt")
	w.do("POST", "/api/api-keys", `{"name":"x","expiresAt":"2027-02-30"}`, as(w.bob)).want(400)

	w.do("GET", "/api/api-keys/"+id, "", as(w.bob)).want(404)
	w.do("DELETE", "/api/api-keys/"+id, "", as(w.bob)).want(404)
	w.do("GET", "/api/api-keys/"+id, "", as(w.root)).want(200)
	if r := w.do("DELETE", "/api/api-keys/"+id, "", as(w.ann)).want(204); r.text != "" {
		t.Fatal(r.text)
	}
	w.do("GET", "/api/auth/me", "", with("X-API-Key", key)).want(401)
	w.do("DELETE", "/api/api-keys/"+id, "", as(w.ann)).want(404)
	w.do("DELETE", "/api/api-keys/"+forever.str("id"), "", as(w.root)).want(204)

	var leaked int
	w.ok(w.store.Row(t.Context(), `SELECT COUNT(*) FROM audit_logs WHERE COALESCE(old_value,'') || COALESCE(new_value,'') LIKE ?`,
		"%"+key+"%").Scan(&leaked))
	if leaked != 0 || strings.Contains(w.logs.String(), key) {
		t.Error("a key is in the audit log or in the logs")
	}
}

func TestKeys_expired(t *testing.T) {
	w := small(t, nil)
	r := w.do("POST", "/api/api-keys", `{"name":"k","expiresAt":"2999-01-01"}`, as(w.ann)).want(201)
	key := with("X-API-Key", r.str("key"))
	w.do("GET", "/api/auth/me", "", key).want(200)
	_, err := w.expire(r.str("id"))
	w.ok(err)
	w.do("GET", "/api/auth/me", "", key).want(401).shows("error", "Key Expired")
	w.do("GET", "/api/api-keys", "", as(w.ann)).want(200).shows("total", 1)
}

func TestKeys_end_no_session_at_logout(t *testing.T) {
	w := small(t, nil)
	key := with("X-API-Key", w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann)).want(201).str("key"))
	w.do("PUT", "/api/auth/me", `{"name":"x"}`, key).want(200)
	w.do("POST", "/api/auth/logout", "", key).want(200)
	w.do("GET", "/api/auth/me", "", key).want(200)
}

func TestSettings(t *testing.T) {
	w := small(t, nil)
	root, path := as(w.root), "/api/settings/system/theme"
	if r := w.do("GET", path, "", root).want(200); strings.TrimSpace(r.text) != "null" {
		t.Fatal(r.text)
	}
	r := w.do("PUT", path, `{"value":{"a":[1,"x",null]},"description":"why"}`, root).want(200).has("", "id", "key", "value", "description",
		"createdAt", "updatedAt")
	id := r.str("id")
	w.do("PUT", path, `{"value":"dark"}`, root).want(200).shows("id", id, "value", "dark", "description", "why")
	w.do("PUT", path, `{"value":null,"description":null}`, root).want(200).shows("value", nil, "description", nil)
	w.do("PUT", path, `{}`, root).wantField("value")
	w.do("PUT", path, `{"value":1,"description":5,"x":1}`, root).wantField("description", "x")
	w.do("PUT", "/api/settings/system/a%20b", `{"value":1}`, root).wantField("key")
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":true}`, root).wantField("value")
	w.do("GET", "/api/settings/system", "", root).want(200).shows("0.key", "theme")
	w.do("DELETE", path, "", root).want(204)
	w.do("DELETE", path, "", root).want(404)
}

package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/store"
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
	ann2, _ := w.signIn(userMail)
	w.do("GET", "/api/users", "", as(ann2)).want(200)

	w.do("PATCH", ann+"/status", `{"isActive":false}`, root).want(200).shows("status", "INACTIVE")
	w.do("PATCH", ann+"/status", `{"status":"ACTIVE"}`, root).want(200)

	w.do("POST", ann+"/reset-password", `{"newPassword":"short"}`, root).wantField("newPassword")
	w.do("POST", ann+"/reset-password", `{"newPassword":"a new password"}`, root).want(200).has("", "message")
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

	w.do("DELETE", "/api/api-keys/"+id, "", as(w.ann)).want(204)
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
	w.do("GET", path, "", root).want(200).is("null")
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

var auditNames = []string{"id", "userId", "user", "action", "entityType", "entityId", "entityName", "entityExists", "oldValue", "newValue",
	"ipAddress", "userAgent", "metadata", "createdAt"}

func TestAuditLogs(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		u := w.create("abc")
		w.do("PUT", "/api/urls/"+u, `{"title":"x"}`, as(w.ann), with("X-Request-ID", "req-1"), with("User-Agent", "curl")).want(200)
		w.do("POST", "/api/auth/login", `{"email":"nobody@example.com","password":"`+password+`"}`).want(401)

		r := w.do("GET", "/api/audit-logs?entityType=url", "", as(w.root)).want(200).has("", "logs", "data", "total", "page", "pageSize",
			"totalPages", "totalIsExact").has("logs.0", auditNames...).has("logs.0.user", "id", "email", "name")
		r.shows("total", 2, "pageSize", 20, "page", 1, "logs.#", 2, "logs.0.action", "URL_UPDATED", "data.1.action", "URL_CREATED")
		r.shows("logs.0.user.email", userMail, "logs.0.userId", w.annID, "logs.0.entityId", u, "logs.0.oldValue.title", nil,
			"logs.0.newValue.title", "x", "logs.0.metadata.requestId", "req-1", "logs.0.metadata.method", "PUT",
			"logs.0.metadata.path", "/api/urls/"+u, "logs.0.userAgent", "curl", "logs.0.ipAddress", "192.0.2.1", "logs.1.oldValue", nil)
		r.shows("logs.0.entityName", "/abc", "logs.0.entityExists", true)
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", r.str("logs.0.createdAt")); err != nil {
			t.Error(err)
		}
		today, yesterday := time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
		for query, want := range map[string]float64{
			"action=URL_CREATED": 1, "entityId=" + u: 2, "userId=" + w.annID + "&action=URL_UPDATED": 1, "entityId=" + u +
				"&startDate=" + today: 2,
			"entityId=" + u + "&endDate=" + yesterday: 0, "entityId=" + u + "&endDate=" + today: 2, "entityId=" + u + "&endDate=" + today +
				"&startDate=" + yesterday: 2,
			"entityId=" + u + "&startDate=2099-01-01T00:00:00Z": 0, "entityId=" + u + "&page=5": 2, "entityId=" + u + "&startDate=" +
				time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04"): 0,
		} {
			w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).want(200).shows("total", want)
		}
		for _, size := range []string{"limit", "pageSize"} {
			r := w.do("GET", "/api/audit-logs?page=2&"+size+"=1&sortOrder=asc&entityType=url", "", as(w.root)).want(200)
			r.shows("pageSize", 1, "totalPages", 2, "logs.0.action", "URL_UPDATED")
		}
		for _, sort := range []string{"createdAt", "action", "entityType", "userId"} {
			w.do("GET", "/api/audit-logs?sortBy="+sort, "", as(w.root)).want(200)
		}
		for query, field := range map[string]string{
			"sortBy=hash": "sortBy", "sortOrder=up": "sortOrder", "startDate=x": "startDate", "endDate=2026-13-01": "endDate",
			"startDate=2027-01-02&endDate=2027-01-01": "endDate",
			"page=0": "page", "limit=101": "limit", "pageSize=0": "pageSize",
		} {
			w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).wantField(field)
		}

		// Some rows have no user. A deleted user is still named by id.
		r = w.do("GET", "/api/audit-logs?action=USER_LOGIN&limit=1", "", as(w.root)).want(200)
		r.shows("logs.0.user", nil, "logs.0.metadata.success", false)
		w.do("DELETE", "/api/users/"+w.annID+"?deleteLinks=true", "", as(w.root)).want(200)
		r = w.do("GET", "/api/audit-logs?entityId="+u, "", as(w.root)).want(200)
		r.shows("logs.0.user", nil, "logs.0.userId", w.annID)
		w.do("GET", "/api/audit-logs?action=USER_DELETED", "", as(w.root)).want(200).
			shows("logs.0.entityName", userMail, "logs.0.entityExists", false)
		var n int
		w.ok(w.store.EachAudit(t.Context(), func(store.AuditRow) error { n++; return nil }))
		w.do("GET", "/api/audit-logs", "", as(w.root)).want(200).shows("total", float64(n))
	})
}

// A typing mistake in a filter must not look like an empty log.
func TestAPI4_UnknownAuditAction(t *testing.T) {
	w := small(t, nil)
	for query, field := range map[string]string{
		"action=nonsense": "action", "action=user_login": "action", "action=USER_LOGIN%20": "action", "entityType=nonsense": "entityType",
		"entityType=URL": "entityType",
	} {
		r := w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).wantField(field)
		if r.at("errors.1") != nil || !strings.Contains(r.str("message"), "must be one of ") {
			t.Error(r.text)
		}
	}
	w.do("GET", "/api/audit-logs?action=x&entityType=y", "", as(w.root)).wantField("action", "entityType")
	for _, query := range []string{"action=", "entityType=", "action=SETTINGS_UPDATED", "entityType=settings",
		"action=USER_LOGIN&entityType=user"} {
		w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).want(200)
	}
}

// A visitor is erased by address only. The tests of standalone and of the click stores check which data is erased.
func TestOps6_Erase_refuses_other_input(t *testing.T) {
	w := small(t, func(w *world, _ *api.Config, d *api.Deps) { d.Privacy = privacy.New(w.store, nil) })
	for _, bad := range []string{`{}`, `{"ip":""}`, `{"ip":"203.0.113.0/24"}`, `{"ip":"fe80::1%eth0"}`, `{"ip":"0.0.0.0"}`, `{"ip":7}`,
		`{"address":"203.0.113.77"}`} {
		w.unchanged(bad, func() { w.do("POST", "/api/privacy/erase", bad, as(w.root)).want(400) })
	}
}

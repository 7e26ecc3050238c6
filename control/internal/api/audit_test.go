package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

var auditNames = []string{"id", "userId", "user", "action", "entityType", "entityId", "entityName", "entityExists", "oldValue", "newValue", "ipAddress", "userAgent", "metadata", "createdAt"}

func TestAuditLogs(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		u := w.create("abc")
		w.do("PUT", "/api/urls/"+u, `{"title":"x"}`, as(w.ann), with("X-Request-ID", "req-1"), with("User-Agent", "curl")).want(200)
		w.do("POST", "/api/auth/login", `{"email":"nobody@example.com","password":"`+password+`"}`).want(401)

		r := w.do("GET", "/api/audit-logs?entityType=url", "", as(w.root)).want(200).has("", "logs", "data", "total", "page", "pageSize", "totalPages", "totalIsExact").has("logs.0", auditNames...).has("logs.0.user", "id", "email", "name")
		if r.num("total") != 2 || r.num("pageSize") != 20 || r.num("page") != 1 || len(r.at("logs").([]any)) != 2 || r.str("logs.0.action") != "URL_UPDATED" || r.str("data.1.action") != "URL_CREATED" {
			t.Fatal(r.text)
		}
		if r.str("logs.0.user.email") != userMail || r.str("logs.0.userId") != w.annID || r.str("logs.0.entityId") != u || r.at("logs.0.oldValue.title") != nil || r.str("logs.0.newValue.title") != "x" ||
			r.str("logs.0.metadata.requestId") != "req-1" || r.str("logs.0.metadata.method") != "PUT" || r.str("logs.0.metadata.path") != "/api/urls/"+u || r.str("logs.0.userAgent") != "curl" ||
			r.str("logs.0.ipAddress") != "192.0.2.1" || r.at("logs.1.oldValue") != nil {
			t.Error(r.text)
		}
		if r.str("logs.0.entityName") != "/abc" || r.at("logs.0.entityExists") != true {
			t.Errorf("the changed link is %q, exists: %v", r.str("logs.0.entityName"), r.at("logs.0.entityExists"))
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", r.str("logs.0.createdAt")); err != nil {
			t.Error(err)
		}
		today, yesterday := time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
		for query, want := range map[string]float64{
			"action=URL_CREATED": 1, "entityId=" + u: 2, "userId=" + w.annID + "&action=URL_UPDATED": 1, "entityId=" + u + "&startDate=" + today: 2,
			"entityId=" + u + "&endDate=" + yesterday: 0, "entityId=" + u + "&endDate=" + today: 2, "entityId=" + u + "&endDate=" + today + "&startDate=" + yesterday: 2,
			"entityId=" + u + "&startDate=2099-01-01T00:00:00Z": 0, "entityId=" + u + "&page=5": 2, "entityId=" + u + "&startDate=" + time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04"): 0,
		} {
			if r := w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).want(200); r.num("total") != want {
				t.Errorf("%s: %s", query, r.text)
			}
		}
		for _, size := range []string{"limit", "pageSize"} {
			r := w.do("GET", "/api/audit-logs?page=2&"+size+"=1&sortOrder=asc&entityType=url", "", as(w.root)).want(200)
			if r.num("pageSize") != 1 || r.num("totalPages") != 2 || r.str("logs.0.action") != "URL_UPDATED" {
				t.Error(r.text)
			}
		}
		for _, sort := range []string{"createdAt", "action", "entityType", "userId"} {
			w.do("GET", "/api/audit-logs?sortBy="+sort, "", as(w.root)).want(200)
		}
		for query, field := range map[string]string{
			"sortBy=hash": "sortBy", "sortOrder=up": "sortOrder", "startDate=x": "startDate", "endDate=2026-13-01": "endDate", "startDate=2027-01-02&endDate=2027-01-01": "endDate",
			"page=0": "page", "limit=101": "limit", "pageSize=0": "pageSize",
		} {
			w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).wantField(field)
		}

		// Some rows have no user. A deleted user is still named by id.
		r = w.do("GET", "/api/audit-logs?action=USER_LOGIN&limit=1", "", as(w.root)).want(200)
		if r.at("logs.0.user") != nil || r.at("logs.0.metadata.success") != false {
			t.Error(r.text)
		}
		w.do("DELETE", "/api/users/"+w.annID+"?deleteLinks=true", "", as(w.root)).want(200)
		r = w.do("GET", "/api/audit-logs?entityId="+u, "", as(w.root)).want(200)
		if r.at("logs.0.user") != nil || r.str("logs.0.userId") != w.annID {
			t.Error(r.text)
		}
		if r = w.do("GET", "/api/audit-logs?action=USER_DELETED", "", as(w.root)).want(200); r.str("logs.0.entityName") != userMail || r.at("logs.0.entityExists") != false {
			t.Errorf("the deleted user: %s", r.text)
		}
		w.do("GET", "/api/audit-logs", "", as(w.bob)).want(403)
		w.do("GET", "/api/audit-logs", "").want(401)
		var n int
		w.ok(w.store.EachAudit(t.Context(), func(store.AuditRow) error { n++; return nil }))
		if r := w.do("GET", "/api/audit-logs", "", as(w.root)).want(200); r.num("total") != float64(n) {
			t.Error(r.text)
		}
	})
}

// A typing mistake in a filter must not look like an empty log.
func TestAPI4_UnknownAuditAction(t *testing.T) {
	w := small(t, nil)
	for query, field := range map[string]string{
		"action=nonsense": "action", "action=user_login": "action", "action=USER_LOGIN%20": "action", "entityType=nonsense": "entityType", "entityType=URL": "entityType",
	} {
		r := w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).wantField(field)
		if r.at("errors.1") != nil || !strings.Contains(r.str("message"), "must be one of ") {
			t.Error(r.text)
		}
	}
	w.do("GET", "/api/audit-logs?action=x&entityType=y", "", as(w.root)).wantField("action", "entityType")
	w.do("GET", "/api/audit-logs?action=x", "", as(w.ann)).want(403)
	for _, query := range []string{"action=", "entityType=", "action=SETTINGS_UPDATED", "entityType=settings", "action=USER_LOGIN&entityType=user"} {
		w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).want(200)
	}
}

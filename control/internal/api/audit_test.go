package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

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
		w.do("GET", "/api/audit-logs", "", as(w.bob)).want(403)
		w.do("GET", "/api/audit-logs", "").want(401)
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
	w.do("GET", "/api/audit-logs?action=x", "", as(w.ann)).want(403)
	for _, query := range []string{"action=", "entityType=", "action=SETTINGS_UPDATED", "entityType=settings",
		"action=USER_LOGIN&entityType=user"} {
		w.do("GET", "/api/audit-logs?"+query, "", as(w.root)).want(200)
	}
}

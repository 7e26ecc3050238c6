package api_test

import (
	"encoding/base64"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// withLinks adds the use cases of links, rules and variants to a world.
func withLinks(w *world, c *api.Config, deps *api.Deps) {
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	w.ok(err)
	policy := link.Policy{Hosts: []string{"sho.rt"}}
	deps.Links = links.New(links.Config{BaseURL: baseURL, Destinations: policy, Computing: c.Computing}, w.store, passwords)
	deps.Routing = routing.New(policy, w.store)
}

var urlNames = []string{"id", "slug", "domain", "shortUrl", "originalUrl", "title", "userId", "workspaceId", "status", "clickCount", "clickBaseline",
	"hasPassword", "expiresAt",
	"startsAt", "expiredUrl", "maxClicks", "redirectCode", "externalId", "suspendedReason", "tags",
	"utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent", "utmId", "utmSourcePlatform", "isABTesting", "isAbTest",
	"isSmartRouting", "defaultUrl",
	"ogTitle", "ogDescription", "ogImage", "ogImageUrl", "twitterCardType", "trackConversions", "stickiness", "forwardPath", "notes", "createdAt",
	"updatedAt", "health", "healthReason", "healthUrl", "healthSince", "healthCheckedAt", "healthStatusCode"}

// create creates a link for ann and returns its id.
func (w *world) create(slug string) string {
	w.t.Helper()
	return w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com/%s","customSlug":%q}`, slug, slug), as(w.ann)).
		want(201).str("id")
}

// unchanged fails the test if f changes the change log, the audit log or the number of links.
func (w *world) unchanged(what string, f func()) {
	w.t.Helper()
	before := w.trace()
	f()
	if w.trace() != before {
		w.t.Errorf("%s changed the data", what)
	}
}

// audited returns the newest audit row. It fails unless the row has the given action and entity and the log is intact.
func (w *world) audited(action, entityType, entityID string) store.AuditRow {
	w.t.Helper()
	var last store.AuditRow
	w.ok(w.store.EachAudit(w.t.Context(), func(r store.AuditRow) error {
		last = r
		return nil
	}))
	if last.Action != action || last.EntityType != entityType || last.EntityID.String != entityID {
		w.t.Errorf("audit: %s of %s %s, want %s of %s %s", last.Action, last.EntityType, last.EntityID.String, action, entityType, entityID)
	}
	if _, err := audit.Verify(w.t.Context(), w.store.Conn, audit.Checks{}); err != nil {
		w.t.Error(err)
	}
	return last
}

func TestURLs_create(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		r := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/a%2Fb?x=1#f"}`, as(w.ann)).want(201).has("", urlNames...)
		if slug := r.str("slug"); !link.ValidSlug(slug) || len(slug) != 7 || r.str("shortUrl") != baseURL+"/"+slug {
			t.Errorf("generated slug: %s", r.text)
		}
		r.shows("originalUrl", "https://example.com/a%2Fb?x=1#f", "status", "ACTIVE", "userId", w.annID, "clickCount", 0.0,
			"hasPassword", false, "redirectCode", 302.0, "workspaceId", w.annID)
		for _, name := range []string{"title", "expiresAt", "utmSource", "defaultUrl", "ogTitle", "ogImage", "ogImageUrl",
			"twitterCardType"} {
			r.shows(name, nil)
		}
		w.audited("URL_CREATED", "url", r.str("id"))
		if rev := r.Header.Get("X-Config-Revision"); rev != "1" {
			t.Errorf("revision %q", rev)
		}

		at := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
		r = w.do("POST", "/api/urls", `{"originalUrl":" https://exämple.com/ü ","customSlug":"My_Slug-1","title":" Tïtle ","password":"pass","expiresAt":"`+at+`",
		"utmSource":"a","utmMedium":"b","utmCampaign":"c","utmTerm":"d","utmContent":"e","utmId":"f","utmSourcePlatform":"g","status":"INACTIVE","isAbTest":true,
		"defaultUrl":"https://d.example","ogTitle":"t","ogDescription":"d","twitterCardType":"summary","bundleIds":[]}`, as(w.ann)).want(201).has("", urlNames...)
		for name, want := range map[string]any{
			"slug": "My_Slug-1", "originalUrl": "https://xn--exmple-cua.com/%C3%BC", "title": "Tïtle", "hasPassword": true, "expiresAt": at,
			"status":    "INACTIVE",
			"utmSource": "a", "utmMedium": "b", "utmCampaign": "c", "utmTerm": "d", "utmContent": "e", "utmId": "f",
			"utmSourcePlatform": "g",
			"isABTesting":       true, "isAbTest": true, "isSmartRouting": false, "defaultUrl": "https://d.example", "ogTitle": "t",
			"ogDescription":   "d",
			"twitterCardType": "summary",
		} {
			r.shows(name, want)
		}
		row := w.audited("URL_CREATED", "url", r.str("id"))
		u, err := w.store.LinkByID(t.Context(), r.str("id"))
		w.ok(err)
		if bcrypt.CompareHashAndPassword([]byte(u.PasswordHash), []byte("pass")) != nil {
			t.Error("the stored password is not a hash")
		}
		if strings.Contains(row.New.String+w.logs.String()+r.text, u.PasswordHash) || strings.Contains(row.New.String, `"pass"`) {
			t.Error("a secret is in the audit log, the logs or the response")
		}
		w.do("GET", "/api/urls/"+u.ID, "", as(w.ann)).want(200).has("", urlNames...)

		w.unchanged("a taken slug", func() {
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"My_Slug-1"}`, as(w.bob)).want(409)
		})
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"my_slug-1"}`, as(w.bob)).want(201)
		for _, empty := range []string{`""`, `null`} {
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":`+empty+`,"title":`+empty+`,"password":`+empty+
				`,"expiresAt":`+empty+`}`, as(w.ann)).want(201)
		}
	})
}

func TestURLs_create_refuses(t *testing.T) {
	w := small(t, withLinks)
	long := strings.Repeat("x", 2100)
	past := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	w.unchanged("a refused creation", func() {
		for body, fields := range map[string][]string{
			``:                     {"originalUrl"},
			`{}`:                   {"originalUrl"},
			`{"originalUrl":null}`: {"originalUrl"},
			`{"originalUrl":""}`:   {"originalUrl"},
			`{"originalUrl":7}`:    {"originalUrl"},
			`{"originalUrl":["https://example.com"]}`:                           {"originalUrl"},
			`{"originalUrl":"https://example.com","customSlug":"ab"}`:           {"customSlug"},
			`{"originalUrl":"https://example.com","customSlug":"ÄÖÜ"}`:          {"customSlug"},
			`{"originalUrl":"https://example.com","customSlug":"a/b"}`:          {"customSlug"},
			`{"originalUrl":"https://example.com","customSlug":"HealthZ"}`:      {"customSlug"},
			`{"originalUrl":"https://example.com","customSlug":"` + long + `"}`: {"customSlug"},
			`{"originalUrl":"https://example.com","title":"` + long + `"}`:      {"title"},
			`{"originalUrl":"https://example.com","password":"abc"}`:            {"password"},
			`{"originalUrl":"https://example.com","password":"` + long + `"}`:   {"password"},
			`{"originalUrl":"https://example.com","expiresAt":"` + past + `"}`:  {"expiresAt"},
			`{"originalUrl":"https://example.com","expiresAt":"soon"}`:          {"expiresAt"},
			`{"originalUrl":"https://example.com","expiresAt":1893456000}`:      {"expiresAt"},
			`{"originalUrl":"https://example.com","status":"EXPIRED"}`:          {"status"},
			`{"originalUrl":"https://example.com","isABTesting":"yes"}`:         {"isABTesting"},
			`{"originalUrl":"https://example.com","defaultUrl":"example"}`:      {"defaultUrl"},
			`{"originalUrl":"https://example.com","ogImage":"og-images/../x"}`:  {"ogImage"},
			`{"originalUrl":"https://example.com","bundleIds":["x"]}`:           {"bundleIds.0"},
			`{"originalUrl":"https://example.com","bundleIds":"x"}`:             {"bundleIds"},
			`{"originalUrl":"https://example.com","id":"x","slug":"y"}`:         {"id", "slug"},
			`{"originalUrl":"https://example.com","originalURL":"https://e"}`:   {"originalURL"},
			// All problems at once.
			`{"originalUrl":"ftp://x","customSlug":"a b","title":"` + long + `","utmId":"` + long + `","ogTitle":"` + long +
				`","ogDescription":"` +
				long + `","twitterCardType":"big","password":"x","status":"ON"}`: {
				"originalUrl", "customSlug", "title", "utmId", "ogTitle", "ogDescription", "twitterCardType", "password", "status"},
		} {
			w.do("POST", "/api/urls", body, as(w.ann)).wantField(fields...)
		}
		for _, to := range []string{"ftp://example.com", "https://sho.rt/abc", "http://10.0.0.1/"} { // package link has all rules
			w.do("POST", "/api/urls", `{"originalUrl":"`+to+`"}`, as(w.ann)).wantField("originalUrl")
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","defaultUrl":"`+to+`"}`, as(w.ann)).wantField("defaultUrl")
		}
	})
}

func TestURLs_update(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	path := "/api/urls/" + id
	for i, method := range []string{"PUT", "PATCH"} {
		title := fmt.Sprintf("title %d", i)
		w.do(method, path, fmt.Sprintf(`{"title":%q,"password":"secret%d","utmSource":"news","expiresAt":"2040-01-02","status":"INACTIVE"}`,
			title, i), as(w.ann)).want(200).
			has("", urlNames...).
			shows("title", title, "hasPassword", true, "expiresAt", "2040-01-02T00:00:00.000Z", "status", "INACTIVE",
				"originalUrl", "https://example.com/abc")
		row := w.audited("URL_UPDATED", "url", id)
		if !strings.Contains(row.New.String, title) || !strings.Contains(row.New.String, `"password":"***"`) ||
			strings.Contains(row.New.String, "originalUrl") {
			t.Errorf("audit: %s to %s", row.Old.String, row.New.String)
		}
		w.unchanged("an update without changes", func() {
			w.do(method, path, ``, as(w.ann)).want(200)
			w.do(method, path, fmt.Sprintf(`{"title":%q,"status":"INACTIVE"}`, title), as(w.ann)).want(200)
		})
		empty := []string{`""`, `null`}[i]
		r := w.do(method, path, `{"title":`+empty+`,"password":`+empty+`,"utmSource":`+empty+`,"expiresAt":`+empty+`,"defaultUrl":`+empty+
			`,"ogTitle":`+empty+`,"ogImage":`+empty+`,"twitterCardType":`+empty+`,"status":"ACTIVE"}`, as(w.ann)).want(200)
		for _, name := range []string{"title", "utmSource", "expiresAt", "defaultUrl", "ogTitle", "ogImage"} {
			r.shows(name, nil)
		}
		r.shows("hasPassword", false, "status", "ACTIVE")
	}
	// An expiry in the past makes a link expire.
	w.do("PUT", path, `{"expiresAt":"2020-01-01T00:00:00Z"}`, as(w.ann)).want(200).shows("status", "EXPIRED")
	key := "og-images/" + id + "/12.webp"
	w.do("PUT", path, `{"ogImage":"`+key+`"}`, as(w.ann)).want(200).
		shows("ogImageUrl", baseURL+"/api/og-images/og-images%2F"+id+"%2F12.webp")

	w.unchanged("a refused update", func() {
		for body, field := range map[string]string{
			`{"originalUrl":null}`: "originalUrl", `{"originalUrl":""}`: "originalUrl",
			`{"originalUrl":"https://sho.rt/abc"}`: "originalUrl",
			`{"status":""}`:                        "status", `{"status":null}`: "status", `{"status":"EXPIRED"}`: "status",
			`{"customSlug":"other"}`:       "customSlug",
			`{"clickCount":5}`:             "clickCount",
			`{"userId":"` + w.bobID + `"}`: "userId", `{"isABTesting":true}`: "isABTesting", `{"isAbTest":true}`: "isABTesting",
			`{"password":"abc"}`:                              "password",
			`{"ogImage":"og-images/` + w.annID + `/12.webp"}`: "ogImage", `{"bundleIds":["x"]}`: "bundleIds.0",
		} {
			w.do("PATCH", path, body, as(w.ann)).wantField(field)
		}
	})
}

// Notes can be set, kept, cleared and read by the owner, and never reach an edge.
func TestURLs_notes(t *testing.T) {
	w := small(t, withLinks)
	const private = "approved by Zoë\\nuntil spring"
	shown := strings.ReplaceAll(private, `\n`, "\n")
	r := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","notes":" `+private+` "}`, as(w.ann)).want(201)
	id := r.str("id")
	path := "/api/urls/" + id
	if row := w.audited("URL_CREATED", "url", id); r.at("notes") != shown || !strings.Contains(row.New.String, `"notes":"`+private) {
		t.Errorf("created: %s, audited %s", r.text, row.New.String)
	}
	list := w.do("GET", "/api/urls", "", as(w.ann)).want(200)
	if one := w.do("GET", path, "", as(w.ann)).want(200); one.at("notes") != shown || list.at("data.0.notes") != shown {
		t.Errorf("detail %s, list %s", one.text, list.text)
	}
	l, err := w.store.FullLink(t.Context(), id)
	w.ok(err)
	if record := fmt.Sprintf("%+v", publish.Record(&l, baseURL)); strings.Contains(record, "Zoë") {
		t.Errorf("the record for edges contains the notes: %s", record)
	}

	w.do("PATCH", path, `{"title":"t"}`, as(w.ann)).want(200).shows("notes", shown)
	for _, empty := range []string{`null`, `""`} {
		w.do("PUT", path, `{"notes":"`+private+`"}`, as(w.ann)).want(200)
		r := w.do("PUT", path, `{"notes":`+empty+`}`, as(w.ann)).want(200)
		if row := w.audited("URL_UPDATED", "url", id); r.at("notes") != nil || row.New.String != `{"notes":null}` ||
			row.Old.String != `{"notes":"`+private+`"}` {
			t.Errorf("cleared with %s: %s, audited %s to %s", empty, r.text, row.Old.String, row.New.String)
		}
	}

	longest := strings.Repeat("ü", 2000)
	w.do("POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://example.com","notes":"`+longest+
		`"},{"originalUrl":"https://example.com","notes":"`+longest+`x"}]}`, as(w.ann)).
		shows("succeeded.0.url.notes", longest, "failed.0.field", "notes")
	w.do("PUT", path, `{"notes":"`+longest+`x"}`, as(w.ann)).wantField("notes")
	w.do("PUT", path, `{"notes":7}`, as(w.ann)).wantField("notes")

	doc := w.do("GET", "/api/openapi.json", "").want(200)
	for _, schema := range []string{"URL", "CreateURL", "UpdateURL", "BulkItem"} {
		if doc.at("components.schemas."+schema+".properties.notes") == nil {
			t.Errorf("OpenAPI: %s has no notes", schema)
		}
	}
}

func TestURLs_delete(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).want(204)
	row := w.audited("URL_DELETED", "url", id)
	if !strings.Contains(row.Old.String, `"slug":"abc"`) || row.New.Valid {
		t.Errorf("audit: %s to %s", row.Old.String, row.New.String)
	}
	w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(404)
	w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).want(404)
	if again := w.create("abc"); again == id {
		t.Error("the id was reused")
	}
}

func TestURLs_list(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		for i := range 12 {
			w.create(fmt.Sprintf("slug%02d", i))
		}
		w.do("PATCH", "/api/urls/bulk", `{"urlIds":["`+w.create("off")+`"],"status":"INACTIVE"}`, as(w.ann)).want(200)
		expired := w.create("old")
		w.do("PUT", "/api/urls/"+expired, `{"expiresAt":"2020-01-01"}`, as(w.ann)).want(200)
		w.do("POST", "/api/urls", `{"originalUrl":"https://bob.example","customSlug":"bobs"}`, as(w.bob)).want(201)

		w.do("GET", "/api/urls", "", as(w.ann)).want(200).has("", "data", "total", "page", "pageSize", "totalPages", "totalIsExact",
			"nextCursor").has("data.0", urlNames...).
			shows("total", 14, "page", 1, "pageSize", 10, "totalPages", 2, "data.#", 10, "data.0.slug", "old", "data.0.status", "EXPIRED")
		for query, want := range map[string]int{
			"page=2": 4, "page=3": 0, "page=2&limit=5": 5, "pageSize=100": 14, "limit=3&pageSize=7": 3, "search=SLUG0&limit=50": 10,
			"search=example.com/slug11": 1, "search=%25": 0,
			"status=ACTIVE&limit=50": 12, "status=INACTIVE": 1, "status=EXPIRED": 1, "sortBy=title&sortOrder=asc": 10, "nonsense=1": 10,
			"search=%27%3B+DROP+TABLE+urls%3B--": 0,
		} {
			w.do("GET", "/api/urls?"+query, "", as(w.ann)).want(200).shows("data.#", want)
		}
		w.do("GET", "/api/urls?sortBy=slug&sortOrder=asc", "", as(w.ann)).want(200).shows("data.0.slug", "off")
		w.do("GET", "/api/urls", "", as(w.root)).want(200).shows("total", 15)
		for query, field := range map[string]string{
			"page=0": "page", "page=-1": "page", "page=x": "page", "limit=0": "limit", "limit=101": "limit", "pageSize=1000": "pageSize",
			"sortBy=password_hash": "sortBy",
			"sortOrder=up":         "sortOrder", "status=active": "status", "search=" + strings.Repeat("x", 3000): "search",
			"search=%00": "search",
			"search=%ff": "search",
		} {
			w.do("GET", "/api/urls?"+query, "", as(w.ann)).wantField(field)
		}
		w.do("GET", "/api/urls/stats", "", as(w.ann)).want(200).
			has("", "totalUrls", "activeUrls", "inactiveUrls", "expiredUrls", "scheduledUrls", "exhaustedUrls", "suspendedUrls",
				"totalClicks").
			shows("totalUrls", 14, "activeUrls", 12, "inactiveUrls", 1, "expiredUrls", 1)
	})
}

func TestURLs_check_a_slug(t *testing.T) {
	w := small(t, withLinks)
	long := strings.Repeat("x", 50)
	for _, slug := range []string{"spring", "spring-2", long} {
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"`+slug+`"}`, as(w.bob)).want(201)
	}
	for slug, want := range map[string]string{
		"summer": "FREE <nil>", "spring": "TAKEN spring-3", "Login": "RESERVED Login-2", long: "TAKEN " + long[:48] + "-2",
		"a":        "INVALID <nil>",
		"a%20b%2F": "INVALID <nil>",
	} {
		r := w.do("GET", "/api/urls/slug?slug="+slug, "", as(w.ann)).want(200).has("", "slug", "domain", "shortUrl", "status", "suggestion")
		if got := fmt.Sprint(r.at("status"), " ", r.at("suggestion")); got != want {
			t.Errorf("%q: %s, want %s", slug, got, want)
		}
	}
	w.do("GET", "/api/urls/slug?slug=summer&shared=true", "", as(w.ann)).want(200).shows("shortUrl", baseURL+"/summer")
	w.do("GET", "/api/urls/slug?slug=summer&domain=go.example.org", "", as(w.ann)).wantField("domain")
	w.do("GET", "/api/urls/slug?slug=", "", as(w.ann)).wantField("slug")
	w.do("GET", "/api/urls/slug?slug="+strings.Repeat("x", 101), "", as(w.ann)).wantField("slug")
}

func TestURLs_suggest_campaign_values(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		for i, v := range []string{"news", "news", "Newsletter", "ads"} {
			token := w.ann
			if i == 1 {
				token = w.bob
			}
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","utmSource":"`+v+`","utmSourcePlatform":"p"}`,
				as(token)).want(201)
		}
		w.do("GET", "/api/urls/utm-suggestions?field=utmSource&q=NEWS", "", as(w.bob)).want(200).has("", "field", "suggestions").
			shows("field", "utmSource", "suggestions", "[map[count:2 value:news] map[count:1 value:Newsletter]]")
		w.do("GET", "/api/urls/utm-suggestions?field=utmSourcePlatform", "", as(w.ann)).want(200).shows("suggestions.0.count", 4)
		w.do("GET", "/api/urls/utm-suggestions", "", as(w.ann)).wantField("field")
		w.do("GET", "/api/urls/utm-suggestions?field=slug", "", as(w.ann)).wantField("field")
		w.do("GET", "/api/urls/utm-suggestions?field=utmId&q="+strings.Repeat("x", 101), "", as(w.ann)).wantField("q")
	})
}

// Campaign names can be confidential. Unless they are shared, users get suggestions from their own links only, and
// counts include only those links.
func TestLow_UTMSuggestionsOfOwnLinks(t *testing.T) {
	own := func(w *world, cfg *api.Config, deps *api.Deps) {
		withLinks(w, cfg, deps)
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		deps.Links = links.New(links.Config{BaseURL: baseURL, OwnSuggestions: true}, w.store, passwords)
	}
	w := newWorld(t, usual(t), own)
	for token, values := range map[string][]string{w.ann: {"news", "news", "secret-launch"}, w.bob: {"news", "ads"}} {
		for _, v := range values {
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","utmCampaign":"`+v+`"}`, as(token)).want(201)
		}
	}
	for token, want := range map[string]string{
		w.ann: "[map[count:2 value:news] map[count:1 value:secret-launch]]", w.bob: "[map[count:1 value:ads] map[count:1 value:news]]",
		w.root: "[]",
	} {
		w.do("GET", "/api/urls/utm-suggestions?field=utmCampaign", "", as(token)).want(200).shows("suggestions", want)
	}
	w.do("GET", "/api/urls/utm-suggestions?field=utmCampaign&q=secret", "", as(w.bob)).want(200).shows("suggestions", "[]")
}

func TestURLs_QR_code(t *testing.T) {
	w := small(t, withLinks)
	path := "/api/urls/" + w.create("abc") + "/qrcode"
	browser := "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
	for _, q := range []struct{ query, accept, kind string }{
		{"", "", "application/json"}, {"", "*/*", "application/json"}, {"", "application/json", "application/json"},
		{"?format=json", browser, "application/json"},
		{"", browser, "image/png"}, {"", "image/png", "image/png"}, {"?format=png", "", "image/png"}, {"?format=svg", "", "image/svg+xml"},
		{"", "image/svg+xml", "image/svg+xml"},
		{"?width=64&color=%23ff0000&background=0f0", "image/*", "image/png"}, {"?format=pdf&shape=dots&level=H&margin=0", browser,
			"application/pdf"},
	} {
		r := w.do("GET", path+q.query, "", as(w.ann), with("Accept", q.accept)).want(200)
		kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		if kind != q.kind {
			t.Errorf("%q with Accept %q: %s, want %s", q.query, q.accept, kind, q.kind)
		}
		body := r.text
		if kind == "application/json" {
			data, ok := strings.CutPrefix(r.has("", "qrCode").str("qrCode"), "data:image/png;base64,")
			b, err := base64.StdEncoding.DecodeString(data)
			if !ok || err != nil {
				t.Fatalf("%s: %v", r.text, err)
			}
			kind, body = "image/png", string(b)
		}
		if kind == "image/png" {
			img, err := png.Decode(strings.NewReader(body))
			testkit.Must(t, err)
			if want := map[bool]int{true: 64, false: 300}[strings.Contains(q.query, "width")]; img.Bounds().Dx() != want {
				t.Errorf("%q: %v", q.query, img.Bounds())
			}
		}
	}
	for query, field := range map[string]string{
		"width=63": "width", "width=2049": "width", "width=1e3": "width", "width=99999999999999999999": "width", "color=red": "color",
		"background=%22%3E%3Cscript%3E": "background", "format=gif": "format",
		"shape=star": "shape", "level=X": "level", "margin=17": "margin", "margin=-1": "margin",
	} {
		w.do("GET", path+"?"+query, "", as(w.ann)).wantField(field)
	}
}

package api_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func (w *world) revision() uint64 {
	w.t.Helper()
	rev, err := w.store.Revision(w.t.Context())
	w.ok(err)
	return rev
}

func TestBulk_create(t *testing.T) {
	w := small(t, withLinks)
	w.create("taken")
	before := w.revision()
	r := w.do("POST", "/api/urls/bulk", `{"urls":[
			{"originalUrl":"https://example.com/0"},
			{"originalUrl":"https://example.com/1","customSlug":"zzz","password":"topsecret","title":"t"},
			{"originalUrl":"nonsense"},
			{"originalUrl":"https://example.com/3","customSlug":"taken"},
			{"originalUrl":"https://example.com/4","customSlug":"zzz"},
			{"customSlug":"none"},
			{"originalUrl":"https://example.com/6","customSlug":"aaa","password":"topsecret"},
			{"originalUrl":"https://example.com/7","password":"abc"},
			{"originalUrl":"https://example.com/8","customSlug":"login"}]}`, as(w.ann)).want(201)
	r.has("", "total", "successCount", "failureCount", "succeeded", "failed").has("succeeded.0", "index", "url").has("succeeded.0.url",
		urlNames...).has("failed.0", "index", "error", "field")
	r.shows("total", 9, "successCount", 3, "failureCount", 6)
	var got []string
	for i := range 3 {
		at := fmt.Sprintf("succeeded.%d.", i)
		got = append(got, fmt.Sprint(r.num(at+"index"), strings.TrimPrefix(r.str(at+"url.originalUrl"), "https://example.com"),
			r.at(at+"url.hasPassword")))
	}
	for i := range 6 {
		at := fmt.Sprintf("failed.%d.", i)
		got = append(got, fmt.Sprint(r.num(at+"index"), r.str(at+"field")))
		if r.str(at+"error") == "" {
			t.Error(r.text)
		}
	}
	if want := "[0/0false 1/1true 6/6true 2originalUrl 3customSlug 4customSlug 5originalUrl 7password 8customSlug]"; strings.ReplaceAll(
		fmt.Sprint(got), " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("%v, want %s", got, want)
	}
	if strings.Contains(r.text, "topsecret") || strings.Contains(w.logs.String(), "topsecret") {
		t.Error("the response contains a password")
	}
	if w.revision() != before+1 {
		t.Errorf("revision %d after %d", w.revision(), before)
	}
	row := w.audited("URL_BULK_CREATED", "url", "")
	if !strings.Contains(row.New.String, "aaa") || strings.Contains(row.New.String, "topsecret") ||
		!strings.Contains(row.Metadata, `"count":3`) {
		t.Errorf("audit: %s %s", row.New.String, row.Metadata)
	}
	w.unchanged("a request without one good item", func() {
		w.do("POST", "/api/urls/bulk", `{"urls":[{},{"originalUrl":"https://example.com","customSlug":"taken"}]}`, as(w.ann)).want(201).
			shows("failureCount", 2, "succeeded.#", 0)
	})
	w.unchanged("a refused request", func() {
		for body, field := range map[string]string{
			`{}`: "urls", `{"urls":[]}`: "urls", `{"urls":null}`: "urls", `{"urls":{}}`: "urls", `{"urls":[5]}`: "urls.0",
			`{"urls":[{"originalUrl":5}]}`:                                  "urls.0.originalUrl",
			`{"urls":[{"originalUrl":"https://example.com","slug":"abc"}]}`: "urls.0.slug", `{"urls":[` + strings.Repeat(`{},`, 1000) +
				`{}]}`: "urls",
		} {
			w.do("POST", "/api/urls/bulk", body, as(w.ann)).wantField(field)
		}
	})
}

func TestBulk_of_a_thousand(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		var items []string
		for i := range 1000 {
			slug := ""
			if i%2 == 0 {
				slug = fmt.Sprintf(`,"customSlug":"custom-%d"`, i)
			}
			items = append(items,
				fmt.Sprintf(
					`{"originalUrl":"https://example.com/some/page/%d?with=parameters"%s,"title":"A title of usual length, number %d"}`,
					i, slug, i))
		}
		start := time.Now()
		r := w.do("POST", "/api/urls/bulk", `{"urls":[`+strings.Join(items, ",")+`]}`, as(w.ann)).want(201)
		t.Logf("1,000 links in %v", time.Since(start))
		r.shows("successCount", 1000, "succeeded.999.index", 999)
		var ids []string
		for _, made := range r.at("succeeded").([]any) {
			ids = append(ids, fmt.Sprintf("%q", made.(map[string]any)["url"].(map[string]any)["id"]))
		}
		all := `"urlIds":[` + strings.Join(ids, ",") + `]`
		start = time.Now()
		w.do("PATCH", "/api/urls/bulk", `{`+all+`,"operation":{"type":"utm","utmSource":"news"}}`, as(w.ann)).want(200)
		t.Logf("1,000 links updated in %v", time.Since(start))
		start = time.Now()
		w.do("DELETE", "/api/urls/bulk", `{`+all+`}`, as(w.ann)).want(200)
		t.Logf("1,000 links deleted in %v", time.Since(start))
	})
}

func TestBulk_update(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		a, b := w.create("aaa"), w.create("bbb")
		both := fmt.Sprintf(`"urlIds":[%q,%q,%q]`, b, a, b)
		for body, want := range map[string]func(store.Link) bool{
			`"status":"INACTIVE"`:                               func(u store.Link) bool { return !u.Active },
			`"operation":"status","value":"ACTIVE"`:             func(u store.Link) bool { return u.Active },
			`"operation":{"type":"status","status":"INACTIVE"}`: func(u store.Link) bool { return !u.Active },
			`"operation":{"type":"status","value":"ACTIVE"}`:    func(u store.Link) bool { return u.Active },
			`"operation":{"type":"expiration","expiresAt":"2040-01-01T00:00:00Z"}`: func(u store.Link) bool {
				return u.ExpiresAt == 2208988800000
			},
			`"operation":{"type":"expiration","expiresAt":null}`: func(u store.Link) bool { return u.ExpiresAt == 0 },
			`"operation":"expiration","value":"2041-01-01"`: func(u store.Link) bool {
				return u.ExpiresAt > 2208988800000
			},
			`"operation":{"type":"utm","utmSource":"s","utmId":"i"}`: func(u store.Link) bool {
				return u.UTM.Source == "s" && u.UTM.ID == "i"
			},
			`"operation":{"type":"utm","value":{"utmMedium":"m","utmSource":""}}`: func(u store.Link) bool {
				return u.UTM.Medium == "m" && u.UTM.Source == ""
			},
			`"operation":"utm","value":{"utmMedium":null,"utmSourcePlatform":"plat"}`: func(u store.Link) bool {
				return u.UTM.Medium == "" && u.UTM.SourcePlatform == "plat"
			},
		} {
			before := w.revision()
			w.do("PATCH", "/api/urls/bulk", `{`+both+`,`+body+`}`, as(w.ann)).want(200).has("", "updatedCount", "updatedIds", "message").
				shows("updatedCount", 2, "updatedIds", fmt.Sprintf("[%s %s]", b, a))
			for _, id := range []string{a, b} {
				u, err := w.store.LinkByID(t.Context(), id)
				w.ok(err)
				if !want(u) {
					t.Errorf("%s: %+v", body, u)
				}
			}
			if rev := w.revision(); rev > before+1 {
				t.Errorf("%s created %d revisions", body, rev-before)
			} else if rev > before {
				w.audited("URL_BULK_UPDATED", "url", "")
			}
		}
		foreign := w.do("POST", "/api/urls", `{"originalUrl":"https://bob.example"}`, as(w.bob)).want(201).str("id")
		w.unchanged("a refused update", func() {
			for _, ids := range []string{`"urlIds":["` + a + `","unknown"]`, `"urlIds":["` + a + `","` + foreign + `"]`} {
				w.do("PATCH", "/api/urls/bulk", `{`+ids+`,"operation":{"type":"utm","utmTerm":"no"}}`, as(w.ann)).want(404)
				w.do("DELETE", "/api/urls/bulk", `{`+ids+`}`, as(w.ann)).want(404)
			}
			for body, field := range map[string]string{
				``: "status", `"status":"ON"`: "status", `"status":null`: "status", `"value":"x"`: "operation",
				`"operation":"explode","value":1`: "operation", `"operation":"status"`: "value",
				`"operation":"status","value":5`: "value", `"operation":"expiration","value":"soon"`: "value",
				`"operation":"expiration"`:                        "value",
				`"operation":"utm","value":{}`:                    "value",
				`"operation":"utm","value":{"utmSource":5,"x":1}`: "value.x", `"operation":5`: "operation", `"operation":[]`: "operation",
				`"operation":null`: "operation", `"operation":{}`: "operation.type",
				`"operation":{"type":5}`: "operation.type", `"operation":{"type":"status","status":"ACTIVE","x":1}`: "operation.x",
				`"operation":{"type":"utm"}`: "operation",
				`"operation":{"type":"utm","utmSource":"` + strings.Repeat("x", 300) + `"}`: "utmSource",
				`"operation":{"type":"expiration"}`:                                         "operation.expiresAt",
				`"operation":{"type":"bundle"}`:                                             "operation.bundleId",
				`"status":"ACTIVE","operation":"status"`:                                    "status",
				`"operation":{"type":"status","status":"ACTIVE"},"value":1`:                 "value",
			} {
				if body != "" {
					body = "," + body
				}
				w.do("PATCH", "/api/urls/bulk", `{`+both+body+`}`, as(w.ann)).wantField(field)
			}
			for ids, field := range map[string]string{`[]`: "urlIds", `null`: "urlIds", `"x"`: "urlIds", `[5]`: "urlIds.0",
				`[` + strings.Repeat(`"x",`, 1000) + `"x"]`: "urlIds"} {
				w.do("PATCH", "/api/urls/bulk", `{"urlIds":`+ids+`,"status":"ACTIVE"}`, as(w.ann)).wantField(field)
				w.do("DELETE", "/api/urls/bulk", `{"urlIds":`+ids+`}`, as(w.ann)).wantField(field)
			}
			w.do("PATCH", "/api/urls/bulk", `{`+both+`,"operation":"bundle","value":"unknown"}`, as(w.ann)).want(404)
		})
	})
}

func TestBulk_delete(t *testing.T) {
	w := small(t, withLinks)
	a, b, c := w.create("aaa"), w.create("bbb"), w.create("ccc")
	before := w.revision()
	r := w.do("DELETE", "/api/urls/bulk", fmt.Sprintf(`{"urlIds":[%q,%q,%q]}`, c, a, c), as(w.ann)).want(200).has("", "deletedCount",
		"deletedIds")
	if r.num("deletedCount") != 2 || fmt.Sprint(r.at("deletedIds")) != fmt.Sprintf("[%s %s]", c, a) || w.revision() != before+1 {
		t.Error(r.text)
	}
	w.audited("URL_BULK_DELETED", "url", "")
	w.do("GET", "/api/urls/"+a, "", as(w.ann)).want(404)
	w.do("GET", "/api/urls/"+b, "", as(w.ann)).want(200)
}

// An ADMIN who changes links of several workspaces at once leaves an audit entry in each of them.
func TestBulk_of_several_workspaces(t *testing.T) {
	w := small(t, withLinks)
	mine := w.create("one")
	theirs := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(w.bob)).want(201).str("id")
	ids := `{"urlIds":["` + mine + `","` + theirs + `"]`
	w.do("PATCH", "/api/urls/bulk", ids+`,"status":"INACTIVE"}`, as(w.root)).want(200)
	w.do("DELETE", "/api/urls/bulk", ids+`}`, as(w.root)).want(200)
	for workspace, id := range map[string]string{w.annID: mine, w.bobID: theirs} {
		for _, action := range []string{"URL_BULK_UPDATED", "URL_BULK_DELETED"} {
			r := w.do("GET", "/api/audit-logs?action="+action, "", as(w.root), with("X-Workspace", workspace)).want(200)
			if r.num("total") != 1 || r.num("data.0.metadata.count") != 1 || r.at("data.0.oldValue."+id) == nil {
				t.Errorf("%s of %s: %s", action, id, r.text)
			}
		}
	}
}

// docs/users/api.md documents how destinations are rewritten. The test tries each example in every destination field.
func TestAPI9_DestinationsAreStoredAsDocumented(t *testing.T) {
	w := small(t, withLinks)
	page, err := os.ReadFile(testkit.Source(t, "docs/users/api.md"))
	w.ok(err)
	rows := regexp.MustCompile("(?m)^\\| `(https?://[^`]+)` \\| `(https?://[^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 8 {
		t.Fatalf("the page has %d examples", len(rows))
	}
	for i, row := range rows {
		sent, stored := row[1], row[2]
		r := w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":%q,"defaultUrl":%q}`, sent, sent), as(w.ann)).want(201)
		again := w.do("GET", "/api/urls/"+r.str("id"), "", as(w.ann)).want(200)
		v := w.do("POST", "/api/urls/"+r.str("id")+"/variants", fmt.Sprintf(`{"name":"v%d","targetUrl":%q}`, i, sent), as(w.ann)).want(201)
		if r.str("originalUrl") != stored || again.str("originalUrl") != stored || again.str("defaultUrl") != stored ||
			v.str("targetUrl") != stored {
			t.Errorf("%s is stored as %s, %s and %s; the page documents %s", sent, again.str("originalUrl"), again.str("defaultUrl"),
				v.str("targetUrl"), stored)
		}
		w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":%q}`, stored), as(w.ann)).want(201).shows("originalUrl", stored)
	}
	if doc := w.do("GET", "/api/openapi.json", "").text; !strings.Contains(doc, "xn--bcher-kva.example") ||
		!strings.Contains(doc, "percent-encoded") {
		t.Error("the OpenAPI document does not describe how destinations are rewritten")
	}
}

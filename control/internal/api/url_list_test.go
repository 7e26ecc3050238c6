package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// slugs returns the sorted slugs of a list of URLs.
func (r *reply) slugs() string {
	var list []string
	for _, u := range r.at("data").([]any) {
		list = append(list, u.(map[string]any)["slug"].(string))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestURLs_filters(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		make := func(slug, more string, options ...option) string {
			return w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com/x","customSlug":%q%s}`, slug, more),
				append([]option{as(w.ann)}, options...)...).want(201).str("id")
		}
		bundle := w.do("POST", "/api/bundles", `{"name":"B"}`, as(w.ann)).want(201).str("id")
		theirs := w.do("POST", "/api/bundles", `{"name":"B"}`, as(w.bob)).want(201).str("id")
		make("aaa", `,"tags":["red","big"],"utmCampaign":"Spring","title":"100%"`)
		make("bbb", `,"tags":["Red"],"utmCampaign":"spring","bundleIds":["`+bundle+`"],"title":"100 km"`)
		make("ccc", `,"tags":["big"],"status":"INACTIVE","bundleIds":["`+bundle+`"]`)
		make("ddd", `,"startsAt":"2099-01-01T00:00:00.000Z"`)
		for _, account := range []string{w.annID, w.bobID} {
			who := map[string]option{w.annID: as(w.ann), w.bobID: as(w.bob)}[account]
			w.do("POST", "/api/domains", `{"hostname":"go.example.com"}`, who).want(201)
			w.do("POST", "/api/domains", `{"hostname":"empty.bücher.example.com"}`, who).want(201)
		}
		make("aaa", `,"tags":["red"],"domain":"go.example.com"`)
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"ggg","domain":"go.example.com"}`, as(w.bob)).want(201)
		team := w.team("the-team")
		w.member(team, w.bobID, "EDITOR")
		make("eee", `,"tags":["red"]`, in(team))
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"fff","tags":["red"]}`, as(w.bob), in(team)).want(201)

		for query, want := range map[string]string{
			"":                                   "aaa aaa bbb ccc ddd",
			"tag=RED":                            "aaa aaa bbb",
			"tag=red&tag=big":                    "aaa",
			"tag=red&tag=red":                    "aaa aaa bbb",
			"tag=unknown":                        "",
			"tag=red&tag=unknown":                "",
			"tag=red&search=bbb":                 "bbb",
			"search=bb":                          "bbb",
			"search=100%25":                      "aaa",
			"search=00_k":                        "",
			"search=EXAMPLE.com":                 "aaa aaa bbb ccc ddd",
			"utmCampaign=spring":                 "bbb",
			"utmCampaign=sprin":                  "",
			"bundleId=" + bundle:                 "bbb ccc",
			"bundleId=" + theirs:                 "",
			"bundleId=x":                         "",
			"bundleId=" + bundle + "&tag=big":    "ccc",
			"status=INACTIVE&tag=big":            "ccc",
			"status=SCHEDULED":                   "ddd",
			"status=SCHEDULED&tag=red":           "",
			"createdBy=" + w.annID:               "aaa aaa bbb ccc ddd",
			"createdBy=" + w.bobID:               "",
			"createdBy=x":                        "",
			"createdFrom=2020-01-01":             "aaa aaa bbb ccc ddd",
			"createdFrom=2099-01-01":             "",
			"createdBefore=2020-01-01T00:00:00Z": "",
			"createdFrom=2020-01-01&createdBefore=2099-01-01T00:00:00%2B02:00&tag=big": "aaa ccc",
			"domain=sho.rt":                          "aaa bbb ccc ddd",
			"domain=SHO.RT&tag=red&status=ACTIVE":    "aaa bbb",
			"domain=other.example":                   "",
			"domain=go.example.com":                  "aaa",
			"domain=GO.example.com&tag=red":          "aaa",
			"domain=go.example.com&tag=big":          "",
			"domain=empty.xn--bcher-kva.example.com": "",
			"domain=empty.b%C3%BCcher.example.com":   "",
			"domain=go.example.com/aaa":              "",
		} {
			for _, sort := range []string{"createdAt", "title", "slug", "expiresAt", "clickCount", "updatedAt"} {
				r := w.do("GET", "/api/urls?sortBy="+sort+"&"+query, "", as(w.ann)).want(200)
				if got := r.slugs(); got != want || r.num("total") != float64(len(strings.Fields(want))) || r.at("totalIsExact") != true {
					t.Errorf("%s by %s: %s, total %v, want %s", query, sort, got, r.at("total"), want)
				}
			}
			r := w.do("GET", "/api/urls/export?format=json&"+query, "", as(w.ann)).want(200)
			var list []map[string]any
			w.ok(json.Unmarshal([]byte(r.text), &list))
			var exported []string
			for _, u := range list {
				exported = append(exported, u["slug"].(string))
			}
			slices.Sort(exported)
			if got := strings.Join(exported, " "); got != want {
				t.Errorf("export of %s: %s, want %s", query, got, want)
			}
		}
		if got := w.do("GET", "/api/urls?createdBy="+w.bobID+"&tag=red", "", as(w.ann), in(team)).want(200).slugs(); got != "fff" {
			t.Errorf("links of a creator in a team: %s", got)
		}
		// An administrator without a choice sees all workspaces, and tags of one name in all of them.
		if got := w.do("GET", "/api/urls?tag=red", "", as(w.root)).want(200).slugs(); got != "aaa aaa bbb eee fff" {
			t.Errorf("links of all workspaces: %s", got)
		}
		if got := w.do("GET", "/api/urls?domain=go.example.com", "", as(w.root)).want(200).slugs(); got != "aaa ggg" {
			t.Errorf("links on a domain of two workspaces: %s", got)
		}
		for query, field := range map[string]string{
			"status=DONE": "status", "tag=%20": "tag.0", "tag=" + strings.Repeat("x", 41): "tag.0",
			"domain=" + strings.Repeat("x", 254):   "domain",
			"bundleId=" + strings.Repeat("x", 101): "bundleId", "createdBy=a%00": "createdBy", "utmCampaign=%FF": "utmCampaign",
			"createdFrom=yesterday": "createdFrom", "createdBefore=2027-02-30": "createdBefore",
		} {
			w.do("GET", "/api/urls?"+query, "", as(w.ann)).wantField(field)
			w.do("GET", "/api/urls/export?"+query, "", as(w.ann)).wantField(field)
		}
		w.do("GET", "/api/urls/export?format=xml", "", as(w.ann)).wantField("format")
	})
}

func TestURLs_export_csv(t *testing.T) {
	w := small(t, whole)
	w.do("POST", "/api/urls",
		`{"originalUrl":"https://example.com/?a=\"b\",c","customSlug":"abc",`+
			`"title":"=HYPERLINK(1)","notes":"two\nlines","tags":["+1","b"],"maxClicks":7}`, as(w.ann)).want(201)
	w.create("other")
	r := w.do("GET", "/api/urls/export?search=abc", "", as(w.ann)).want(200)
	if r.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(r.Header.Get("Content-Disposition"),
		`filename="urls.csv"`) {
		t.Errorf("headers: %v", r.Header)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(r.text, "\uFEFF"))).ReadAll()
	w.ok(err)
	if len(rows) != 2 {
		t.Fatalf("%d rows: %s", len(rows), r.text)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[1][i]
	}
	for name, want := range map[string]string{"slug": "abc", "shortUrl": "https://sho.rt/abc",
		"originalUrl": "https://example.com/?a=%22b%22,c", "title": "'=HYPERLINK(1)", "notes": "two\nlines",
		"tags": "'+1, b", "maxClicks": "7", "hasPassword": "false", "expiresAt": "", "status": "ACTIVE"} {
		if got[name] != want && name != "originalUrl" {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// Totals are exact up to 10,000. Pages after that exist, and an export has all links.
func TestURLs_totals_of_long_lists(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		fill := func(from, to int) {
			w.exec(`WITH RECURSIVE n (i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO urls (id, user_id, slug, original_url, search_text, created_at, updated_at) SELECT 'l' || i, CAST(? AS TEXT), 'slug' || i,
			'https://example.com', 'slug' || i, i, i FROM n`, from, to, w.annID)
		}
		total := func(query string) string {
			r := w.do("GET", "/api/urls?"+query, "", as(w.ann)).want(200)
			return fmt.Sprint(r.num("total"), r.at("totalIsExact"), r.num("totalPages"), len(r.at("data").([]any)))
		}
		fill(1, store.MaxTotal)
		for _, query := range []string{"", "search=slug", "status=ACTIVE", "createdBy=" + w.annID, "domain=sho.rt"} {
			if got := total(query); got != "10000 true 1000 10" {
				t.Errorf("%s: %s", query, got)
			}
		}
		fill(store.MaxTotal+1, store.MaxTotal+15)
		for _, query := range []string{"", "search=slug", "status=ACTIVE", "createdBy=" + w.annID, "search=slug&createdBy=" + w.annID} {
			if got := total(query); got != "10000 false 1000 10" {
				t.Errorf("%s: %s", query, got)
			}
			if got := total("page=1002&" + query); got != "10000 false 1000 5" {
				t.Errorf("%s: last page: %s", query, got)
			}
		}
		if got := total("search=slug10001"); got != "1 true 1 1" {
			t.Errorf("search: %s", got)
		}
		if n := strings.Count(w.do("GET", "/api/urls/export", "", as(w.ann)).want(200).text, "\r\n"); n != store.MaxTotal+16 {
			t.Errorf("%d lines in the export", n)
		}
		w.do("GET", "/api/urls/stats", "", as(w.ann)).want(200).shows("totalUrls", store.MaxTotal+15, "activeUrls", store.MaxTotal+15)
	})
}

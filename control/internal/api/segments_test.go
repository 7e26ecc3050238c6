package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Filters of a segment are checked as a report checks them, and are parameters of a report.
func TestSegments(t *testing.T) {
	w := small(t, whole)
	tag := w.do("POST", "/api/tags", `{"name":"spring"}`, as(w.ann)).want(201).str("name")
	body := `{"name":" Phones ","filters":{"country":["DE","Unknown"],"device":["MOBILE"],"tag":["` + tag + `"],"bot":["false"]}}`
	r := w.do("POST", "/api/segments", body, as(w.ann)).want(201)
	r.has("", "id", "name", "filters", "createdAt", "updatedAt")
	r.has("filters", "country", "device", "tag", "bot")
	r.shows("name", "Phones", "filters.country.1", "Unknown")
	path := "/api/segments/" + r.str("id")
	query := url.Values{"country": {"DE", "Unknown"}, "device": {"MOBILE"}, "tag": {tag}, "bot": {"false"}}
	w.do("GET", "/api/analytics/overview?"+query.Encode(), "", as(w.ann)).want(200)
	many := `"` + strings.TrimSuffix(strings.Repeat(`a","`, 21), `","`) + `"`
	for filters, field := range map[string]string{
		`{}`:                       "filters",
		`null`:                     "filters",
		`{"country":[]}`:           "filters",
		`{"country":["Germany"]}`:  "filters.country",
		`{"device":["PHONE"]}`:     "filters.device",
		`{"os":[""]}`:              "filters.os",
		`{"city":[` + many + `]}`:  "filters.city",
		`{"variantId":["x"]}`:      "filters.variantId",
		`{"domain":["a b"]}`:       "filters.domain",
		`{"bundleId":["none"]}`:    "filters.bundleId",
		`{"bot":["true","Bingo"]}`: "filters.bot",
		`{"colour":["red"]}`:       "filters.colour",
		`{"os":"iOS"}`:             "filters.os",
		`{"os":[1]}`:               "filters.os.0",
	} {
		w.unchanged(filters, func() {
			w.do("PUT", path, `{"filters":`+filters+`}`, as(w.ann)).wantField(field)
			w.do("POST", "/api/segments", `{"name":"x","filters":`+filters+`}`, as(w.ann)).wantField(field)
		})
	}
	w.do("POST", "/api/segments", `{}`, as(w.ann)).wantField("name", "filters")
	w.do("PUT", path, `{"name":""}`, as(w.ann)).wantField("name")
	w.do("PUT", path, `{"filters":{"os":["iOS"]}}`, as(w.ann)).want(200).shows("name", "Phones", "filters.os.0", "iOS", "filters.country", nil)
	w.do("DELETE", path, "", as(w.ann)).want(204)
	w.do("DELETE", path, "", as(w.ann)).want(404)
	logs := w.do("GET", "/api/audit-logs?entityType=segment&limit=10", "", as(w.root)).want(200).text
	for _, action := range []string{"SEGMENT_CREATED", "SEGMENT_UPDATED", "SEGMENT_DELETED"} {
		if !strings.Contains(logs, action) {
			t.Errorf("no audit entry %s: %s", action, logs)
		}
	}
}

// Names are unique in a workspace, and a workspace has a limited number of segments.
func TestSegments_names_and_limit(t *testing.T) {
	eachWith(t, whole, func(_ *testing.T, w *world) {
		save := func(token, name string, status int) string {
			return w.do("POST", "/api/segments", fmt.Sprintf(`{"name":%q,"filters":{"os":["iOS"]}}`, name), as(token)).want(status).str("id")
		}
		save(w.ann, "Été", 201)
		second := save(w.ann, "Second", 201)
		w.unchanged("a name that is taken", func() {
			save(w.ann, "été", 409)
			w.do("PUT", "/api/segments/"+second, `{"name":"ÉTÉ"}`, as(w.ann)).want(409)
		})
		save(w.bob, "été", 201)
		w.do("GET", "/api/segments", "", as(w.ann)).want(200).shows("total", 2, "data.0.name", "Second", "data.1.name", "Été")
		for i := range 198 {
			save(w.ann, fmt.Sprint(i), 201)
		}
		w.unchanged("a segment too many", func() { save(w.ann, "too many", 409) })
	})
}

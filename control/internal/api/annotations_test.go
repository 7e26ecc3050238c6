package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/store"
)

// Notes have the members that they were saved with, and their fields are checked.
func TestAnnotations_notes(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		link, other := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(w.ann)).want(201), w.create("other")
		id := link.str("id")
		at := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
		instant := at.Format("2006-01-02T15:04:05.000Z")
		all := w.do("POST", "/api/annotations", `{"at":"`+instant+`","text":" All "}`, as(w.ann)).want(201)
		all.shows("kind", "NOTE", "at", instant, "text", "All", "urlId", nil, "urlName", nil, "urlCount", 1, "userId", w.annID)
		of := w.do("POST", "/api/annotations", `{"at":"`+instant+`","text":"One","urlId":"`+id+`"}`, as(w.ann)).want(201)
		of.shows("urlId", id, "urlName", "/"+link.str("slug"))
		path := "/api/annotations/" + of.str("id")
		for body, field := range map[string]string{
			`{"text":""}`: "text", `{"text":null}`: "text", `{"text":"` + strings.Repeat("é", 281) + `"}`: "text", `{"text":"a\u0000"}`: "text",
			`{"at":null}`: "at", `{"at":"yesterday"}`: "at", `{"at":"1969-01-01"}`: "at", `{"at":1}`: "at", `{"urlId":"` + id + `"}`: "urlId",
		} {
			w.unchanged(body, func() { w.do("PUT", path, body, as(w.ann)).wantField(field) })
		}
		w.do("POST", "/api/annotations", `{}`, as(w.ann)).wantField("at", "text")
		w.do("POST", "/api/annotations", `{"at":"`+instant+`","text":"x","urlId":"`+other+`"}`, as(w.bob)).want(404)
		texts := func(query string) (list string) {
			t.Helper()
			for _, a := range w.do("GET", "/api/annotations?"+query, "", as(w.ann)).want(200).at("annotations").([]any) {
				if text, ok := a.(map[string]any)["text"].(string); ok {
					list += text + " "
				}
			}
			return list
		}
		day := at.Format(time.DateOnly)
		if got := texts("startDate=" + day + "&endDate=" + day); got != "All One " && got != "One All " {
			t.Errorf("notes of the workspace: %q", got)
		}
		if got := texts("urlId=" + other); got != "All " {
			t.Errorf("notes of another link: %q", got)
		}
		if got := texts("endDate=2020-01-01"); got != "" {
			t.Errorf("notes of another time: %q", got)
		}
		w.do("GET", "/api/annotations?startDate=x", "", as(w.ann)).wantField("startDate")
		w.do("PUT", path, `{"text":"Two","at":"`+instant+`"}`, as(w.ann)).want(200).shows("text", "Two", "urlId", id)
		// A note stays with its link in the trash, and is deleted with it.
		w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).want(204)
		if got := texts(""); got != "All " {
			t.Errorf("notes after the link was deleted: %q", got)
		}
		w.do("PUT", path, `{"text":"Three"}`, as(w.ann)).want(404)
		w.do("POST", "/api/urls/"+id+"/restore", `{}`, as(w.ann)).want(200)
		w.do("PUT", path, `{"text":"Three"}`, as(w.ann)).want(200)
		w.do("DELETE", "/api/urls/"+id+"?permanently=true", "", as(w.ann)).want(204)
		var n int
		w.ok(w.store.Row(t.Context(), `SELECT count(*) FROM annotations`).Scan(&n))
		if n != 1 {
			t.Errorf("%d notes are stored after the link was deleted for good", n)
		}
		w.do("DELETE", "/api/annotations/"+all.str("id"), "", as(w.ann)).want(204)
		w.do("DELETE", "/api/annotations/"+all.str("id"), "", as(w.ann)).want(404)
	})
}

// Changes of destinations and rules and decisions of experiments are annotations; other changes are not.
func TestAnnotations_from_history(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		a, b := w.create("first"), w.create("second")
		change := func(method, path, body string, status int) *reply {
			t.Helper()
			return w.do(method, path, body, as(w.ann)).want(status)
		}
		kinds := func(query string) (list string) {
			t.Helper()
			for _, one := range w.do("GET", "/api/annotations?"+query, "", as(w.ann)).want(200).at("annotations").([]any) {
				list += one.(map[string]any)["kind"].(string) + " "
			}
			return list
		}
		change("PUT", "/api/urls/"+a, `{"title":"\"originalUrl\":","notes":"\"routingRules\":"}`, 200)
		if got := kinds(""); got != "" {
			t.Errorf("without a change of a destination: %s", got)
		}
		change("PUT", "/api/urls/"+a, `{"originalUrl":"https://example.com/new"}`, 200)
		rule := change("POST", "/api/urls/"+a+"/routing-rules", ruleBody("R", formA), 201).str("id")
		change("DELETE", "/api/urls/"+a+"/routing-rules/"+rule, "", 204)
		u, err := w.store.LinkByID(t.Context(), b)
		w.ok(err)
		for _, action := range []string{"EXPERIMENT_CREATED", "EXPERIMENT_UPDATED", "EXPERIMENT_DECIDED"} {
			w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
				return audit.Append(t.Context(), tx, audit.Entry{Action: action, EntityType: "experiment", EntityID: b,
					Workspace: u.Workspace, New: map[string]any{}})
			}))
		}
		if got := kinds("urlId=" + a); got != "DESTINATION_CHANGED RULES_CHANGED RULES_CHANGED " {
			t.Errorf("of the first link: %s", got)
		}
		if got := kinds("urlId=" + b); got != "EXPERIMENT_STARTED EXPERIMENT_DECIDED " {
			t.Errorf("of the second link: %s", got)
		}
		if got := kinds("timeRange=last_24_hours&interval=hour"); strings.Count(got, " ") != 5 {
			t.Errorf("of the workspace: %s", got)
		}
		if got := w.do("GET", "/api/annotations", "", as(w.bob)).want(200); strings.Contains(got.text, "RULES") {
			t.Errorf("a stranger sees %s", got.text)
		}
		first := w.do("GET", "/api/annotations?urlId="+a, "", as(w.ann)).want(200)
		first.shows("annotations.0.userId", w.annID, "annotations.0.urlId", a, "annotations.0.urlName", "/first", "annotations.0.text", nil, "isTruncated", false)
		w.do("PUT", "/api/annotations/"+first.str("annotations.0.id"), `{"text":"x"}`, as(w.ann)).want(404)
	})
}

package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// tagsOf returns the tags of a link, joined by "|".
func (w *world) tagsOf(id string, options ...option) string {
	w.t.Helper()
	return joined(w.do("GET", "/api/urls/"+id, "", append([]option{as(w.ann)}, options...)...).want(200).at("tags"))
}

func joined(list any) string {
	var names []string
	for _, v := range list.([]any) {
		names = append(names, v.(string))
	}
	return strings.Join(names, "|")
}

func TestTags_of_links(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		r := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","tags":[" Spring ","news","NEWS"]}`, as(w.ann)).want(201)
		id := r.str("id")
		path := "/api/urls/" + id
		if got := joined(r.at("tags")); got != "news|Spring" {
			t.Errorf("tags of a new link: %s", got)
		}
		// A tag that exists keeps its spelling, and its first use gives it the default colour.
		w.do("POST", "/api/tags", `{"name":"Über","color":"#10B981"}`, as(w.ann)).want(201)
		w.do("PATCH", path, `{"tags":["über","SPRING"]}`, as(w.ann)).want(200)
		if got := w.tagsOf(id); got != "Spring|Über" {
			t.Errorf("tags after an update: %s", got)
		}
		w.do("PATCH", path, `{"title":"x"}`, as(w.ann)).want(200)
		if got := w.tagsOf(id); got != "Spring|Über" {
			t.Errorf("an update without tags changed them: %s", got)
		}
		w.do("GET", "/api/audit-logs?action=URL_UPDATED&limit=1&entityId="+id+"&sortOrder=asc", "", as(w.root)).want(200).
			says(`"tags":["news","Spring"]`, `"tags":["Spring","Über"]`)
		long := strings.Repeat("é", 40)
		for body, field := range map[string]string{
			`{"tags":[""]}`:                  "tags.0",
			`{"tags":["a","` + long + `x"]}`: "tags.1",
			`{"tags":["a\u0000"]}`:           "tags.0",
			`{"tags":[null]}`:                "tags.0",
			`{"tags":"a"}`:                   "tags",
			`{"tags":[{"name":"a"}]}`:        "tags.0",
			`{"tags":[` + many(21) + `]}`:    "tags",
		} {
			w.unchanged(body, func() { w.do("PUT", path, body, as(w.ann)).wantField(field) })
		}
		w.do("PUT", path, `{"tags":[`+many(20)+`]}`, as(w.ann)).want(200)
		w.do("PUT", path, `{"tags":["`+long+`"]}`, as(w.ann)).want(200)
		w.do("PUT", path, `{"tags":null}`, as(w.ann)).want(200)
		if got := w.tagsOf(id); got != "" {
			t.Errorf("tags after null: %s", got)
		}

		// Bulk requests: each new link has its own tags, and an operation adds tags.
		made := w.do("POST", "/api/urls/bulk",
			`{"urls":[{"originalUrl":"https://example.com","tags":["a"]},{"originalUrl":"https://example.com","tags":["`+long+
				`x"]},{"originalUrl":"https://example.com","tags":["b","A"]}]}`, as(w.ann)).want(201)
		if made.num("successCount") != 2 || made.str("failed.0.field") != "tags.0" || joined(made.at("succeeded.1.url.tags")) != "a|b" {
			t.Errorf("bulk creation: %s", made.text)
		}
		one, two := made.str("succeeded.0.url.id"), made.str("succeeded.1.url.id")
		bulk := func(op string) *reply {
			return w.do("PATCH", "/api/urls/bulk", fmt.Sprintf(`{"urlIds":[%q,%q],"operation":%s}`, one, two, op), as(w.ann))
		}
		bulk(`"tags","value":["c","B"]`).want(200)
		if got := w.tagsOf(one) + " " + w.tagsOf(two); got != "a|b|c a|b|c" {
			t.Errorf("bulk update: %s", got)
		}
		bulk(`{"type":"tags","tags":["d"]}`).want(200)
		bulk(`"removeTags","value":["A","d","unknown"]`).want(200)
		if got := w.tagsOf(one) + " " + w.tagsOf(two); got != "b|c b|c" {
			t.Errorf("bulk removal: %s", got)
		}
		bulk(`{"type":"removeTags","tags":["c"]}`).want(200)
		if got := w.tagsOf(one); got != "b" {
			t.Errorf("bulk removal: %s", got)
		}
		w.unchanged("a removal of what is no list of names", func() {
			bulk(`"removeTags","value":"b"`).wantField("value")
			bulk(`{"type":"removeTags","tags":[1]}`).wantField("operation.tags")
			bulk(`"removeTags","value":["` + long + `x"]`).wantField("tags.0")
		})
		w.unchanged("too many tags in a bulk update", func() { bulk(`"tags","value":[` + many(20) + `]`).wantField("tags") })
	})
}

// many returns n names of tags as members of a JSON list.
func many(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"tag %d"`, i))
	}
	return strings.Join(names, ",")
}

func TestTags_lifecycle(t *testing.T) {
	w := small(t, whole)
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","tags":["News","Spring"]}`, as(w.ann)).want(201).str("id")
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","tags":["news"]}`, as(w.ann)).want(201)
	r := w.do("GET", "/api/tags", "", as(w.ann)).want(200)
	r.has("data.0", "id", "name", "color", "urlCount", "createdAt", "updatedAt")
	r.shows("total", 2, "data.0.name", "News", "data.0.urlCount", 2, "data.0.color", "#6B7280", "data.1.urlCount", 1)
	news, spring := "/api/tags/"+r.str("data.0.id"), "/api/tags/"+r.str("data.1.id")
	w.do("POST", "/api/tags", `{"name":"NEWS"}`, as(w.ann)).want(409)
	w.do("PUT", news, `{"name":"spring"}`, as(w.ann)).want(409)
	w.do("PUT", news, `{"color":"red"}`, as(w.ann)).wantField("color")
	w.do("PUT", news, `{"name":" "}`, as(w.ann)).wantField("name")
	w.do("POST", "/api/tags", `{"color":"#fff"}`, as(w.ann)).wantField("name")
	w.do("PUT", news, `{"name":"The News","color":"#fff"}`, as(w.ann)).want(200).shows("urlCount", 2, "name", "The News")
	if got := w.tagsOf(id); got != "Spring|The News" {
		t.Errorf("tags after renaming: %s", got)
	}
	w.do("GET", "/api/tags?search=NEW", "", as(w.ann)).want(200).shows("total", 1)
	// Another workspace has tags of its own.
	w.do("POST", "/api/tags", `{"name":"spring"}`, as(w.bob)).want(201)

	w.do("DELETE", spring, "", as(w.ann)).want(204)
	w.do("DELETE", spring, "", as(w.ann)).want(404)
	if got := w.tagsOf(id); got != "The News" {
		t.Errorf("tags after deletion: %s", got)
	}

	// A link that moves leaves its tags. The previous release moves links without regard to tags.
	team := w.team("the-team")
	w.do("POST", "/api/urls/transfer", transferring(team.ID, id), as(w.ann)).want(200)
	if got := w.tagsOf(id, in(team)); got != "" {
		t.Errorf("tags after the transfer: %s", got)
	}
	w.do("PATCH", "/api/urls/"+id, `{"tags":["news"]}`, as(w.ann), in(team)).want(200)
	w.exec(`UPDATE urls SET workspace_num = (SELECT num FROM users WHERE id = ?) WHERE id = ?`, w.annID, id) // as the previous release does
	if got := w.tagsOf(id); got != "" {
		t.Errorf("tags after a transfer by the previous release: %s", got)
	}
}

// Links that get the same new tags at once, and a tag that is deleted meanwhile, never fail.
func TestTags_concurrently(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		a, b := w.create("aaa"), w.create("bbb")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 10 {
					names := fmt.Sprintf(`["one %d","two %d","both"]`, j, j)
					if i%2 == 1 {
						names = fmt.Sprintf(`["both","two %d","one %d"]`, j, j)
					}
					w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","tags":`+names+`}`, as(w.ann)).want(201)
					w.do("PATCH", "/api/urls/bulk", fmt.Sprintf(`{"urlIds":[%q,%q],"operation":"tags","value":["both"]}`, a, b),
						as(w.ann)).want(200)
					list, _, err := w.store.Tags(t.Context(), store.TagFilter{Search: "both", Limit: 1})
					w.ok(err)
					if i == 0 && len(list) == 1 {
						w.do("DELETE", "/api/tags/"+list[0].ID, "", as(w.ann)).want(204)
					}
				}
			})
		}
		wg.Wait()
		w.do("GET", "/api/tags?search=one", "", as(w.ann)).want(200).shows("total", 10, "data.0.urlCount", 8)
	})
}

func TestUTMTemplates(t *testing.T) {
	w := small(t, whole)
	r := w.do("POST", "/api/utm-templates", `{"name":" Newsletter ","utmSource":"news","utmMedium":" email ","utmId":""}`,
		as(w.ann)).want(201)
	r.has("", "id", "name", "utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent", "utmId", "utmSourcePlatform", "createdAt",
		"updatedAt")
	r.shows("name", "Newsletter", "utmMedium", "email", "utmId", nil, "utmTerm", nil)
	path := "/api/utm-templates/" + r.str("id")
	w.unchanged("bad input", func() {
		w.do("POST", "/api/utm-templates", `{"name":"NEWSLETTER"}`, as(w.ann)).want(409)
		w.do("POST", "/api/utm-templates", `{"utmSource":"x"}`, as(w.ann)).wantField("name")
		w.do("PUT", path, `{"name":"`+strings.Repeat("x", 101)+`"}`, as(w.ann)).wantField("name")
		w.do("PUT", path, `{"utmTerm":"`+strings.Repeat("x", 256)+`"}`, as(w.ann)).wantField("utmTerm")
		w.do("PUT", path, `{"utmterm":"x"}`, as(w.ann)).want(400)
	})
	w.do("POST", "/api/utm-templates", `{"name":"newsletter"}`, as(w.bob)).want(201)
	w.do("PUT", path, `{"utmSource":null,"utmCampaign":"spring"}`, as(w.ann)).want(200).
		shows("utmSource", nil, "utmMedium", "email", "utmCampaign", "spring")
	w.do("GET", "/api/utm-templates?search=NEWS", "", as(w.ann)).want(200).shows("total", 1, "data.0.utmCampaign", "spring")
	w.do("DELETE", path, "", as(w.ann)).want(204)
	w.do("DELETE", path, "", as(w.ann)).want(404)
	w.do("GET", "/api/audit-logs?entityType=utm_template&userId="+w.annID, "", as(w.root)).want(200).shows("total", 3)
}

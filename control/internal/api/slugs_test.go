package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// linkAt creates a link on a domain and returns the answer.
func (w *world) linkAt(domain, slug string) *reply {
	w.t.Helper()
	return w.do("POST", "/api/urls",
		fmt.Sprintf(`{"originalUrl":"https://example.com/","customSlug":%q,"domain":%q}`, slug, domain), as(w.ann))
}

func TestSlugs_of_a_domain(t *testing.T) {
	w := small(t, whole)
	id := w.do("POST", "/api/domains", `{"hostname":"go.acme.com"}`, as(w.ann)).want(201).
		shows("caseSensitive", true, "slugs", "basic", "minSlugLength", 3.0).str("id")
	put := func(body string) *reply { return w.do("PUT", "/api/domains/"+id, body, as(w.ann)) }
	for body, field := range map[string]string{`{"slugs":"any"}`: "slugs", `{"minSlugLength":0}`: "", `{"minSlugLength":4}`: "minSlugLength",
		`{"minSlugLength":-1}`: "minSlugLength", `{"caseSensitive":"no"}`: "caseSensitive"} {
		if r := put(body); field != "" {
			r.want(400)
			if !strings.Contains(r.text, field) {
				t.Errorf("%s: %s", body, r.text)
			}
		}
	}
	w.linkAt("go.acme.com", "ab").want(400)
	w.linkAt("go.acme.com", "a.b").want(400)
	w.linkAt("go.acme.com", "Spring").want(201)
	w.linkAt("go.acme.com", "spring").want(201)
	w.linkAt("sho.rt", "Spring").want(201)

	// While slugs would meet, they are named, and nothing changes.
	r := put(`{"caseSensitive":false,"minSlugLength":1}`).want(409)
	if !strings.Contains(r.text, "Spring = spring") {
		t.Errorf("the slugs are not named: %s", r.text)
	}
	w.do("GET", "/api/domains/"+id, "", as(w.ann)).want(200).shows("caseSensitive", true, "minSlugLength", 3.0)

	list := w.do("GET", "/api/urls?search=spring&domain=go.acme.com", "", as(w.ann)).want(200)
	for i := range 2 {
		if slug := fmt.Sprint(list.at(fmt.Sprintf("data.%d.slug", i))); slug == "spring" {
			w.do("DELETE", "/api/urls/"+fmt.Sprint(list.at(fmt.Sprintf("data.%d.id", i))), "", as(w.ann)).want(204)
		}
	}
	put(`{"caseSensitive":false,"slugs":"extended","minSlugLength":1}`).want(200).
		shows("caseSensitive", false, "slugs", "extended", "minSlugLength", 1.0)
	w.linkAt("go.acme.com", "SPRING").want(409)
	w.linkAt("sho.rt", "SPRING").want(201)
	w.do("GET", "/api/urls/availability?slug=sPRING&domain=go.acme.com", "", as(w.ann))
	for slug, want := range map[string]string{"x": "x", "conf/2024": "conf/2024", "script.py": "script.py", "Straße": "Straße", "ÉTÉ": "éTé", "春": "春"} {
		if r := w.linkAt("go.acme.com", slug).want(201); r.str("slug") != want {
			t.Errorf("%s: %s", slug, r.text)
		}
	}
	w.linkAt("go.acme.com", "X").want(409)
	w.linkAt("go.acme.com", "CONF/2024").want(409)
	w.linkAt("go.acme.com", "e\u0301t\u00e9").want(409) // "éTé" in another form
	w.linkAt("go.acme.com", "sаle").want(400)           // a Cyrillic letter
	for _, reserved := range []string{"c", "api/x", "a/verify", "Login"} {
		if r := w.linkAt("go.acme.com", reserved).want(400); !strings.Contains(r.text, "reserved") {
			t.Errorf("%s: %s", reserved, r.text)
		}
	}
	// The link in the trash cannot come back under its slug.
	// Upserts find a link in any case.
	up := w.do("PUT", "/api/urls/bulk", `{"items":[{"customSlug":"SPRING","domain":"go.acme.com","title":"found"}]}`, as(w.ann))
	if up.StatusCode == 200 && !strings.Contains(up.text, "UPDATED") {
		t.Errorf("upsert: %s", up.text)
	}
	put(`{"caseSensitive":true}`).want(200).shows("caseSensitive", true)
	w.linkAt("go.acme.com", "SPRING").want(201)
}

func TestSlugs_of_the_base_host(t *testing.T) {
	w := small(t, whole)
	put := func(value string) *reply {
		return w.do("PUT", "/api/settings/system/base_slugs", `{"value":`+value+`}`, as(w.root))
	}
	for _, bad := range []string{`null`, `1`, `{"slugs":"x"}`, `{"minSlugLength":9}`, `{"unknown":1}`, `[]`} {
		put(bad).want(400)
	}
	w.linkAt("sho.rt", "Spring").want(201)
	w.linkAt("sho.rt", "sPring").want(201)
	put(`{"caseSensitive":false}`).want(409)
	put(`{"minSlugLength":1,"slugs":"extended"}`).want(200)
	w.linkAt("sho.rt", "2s/spring").want(201).shows("shortUrl", baseURL+"/2s/spring")
	w.linkAt("sho.rt", "a").want(201)
	w.do("DELETE", "/api/settings/system/base_slugs", "", as(w.root)).want(204)
	w.linkAt("sho.rt", "b").want(400)
}

// Links that are created while a domain stops to distinguish cases never meet: either the change is refused, or the links are.
func TestSlugs_race(t *testing.T) {
	w := small(t, whole)
	id := w.do("POST", "/api/domains", `{"hostname":"go.acme.com"}`, as(w.ann)).want(201).str("id")
	for round := range 5 {
		var group sync.WaitGroup
		for _, slug := range []string{"Race", "rAce", "raCe", "RACE"} {
			group.Go(func() { w.linkAt("go.acme.com", fmt.Sprintf("%s-%d", slug, round)) })
		}
		group.Go(func() { w.do("PUT", "/api/domains/"+id, `{"caseSensitive":false}`, as(w.ann)) })
		group.Wait()
		now := w.do("GET", "/api/domains/"+id, "", as(w.ann)).want(200)
		list := w.do("GET", fmt.Sprintf("/api/urls?search=race-%d&domain=go.acme.com", round), "", as(w.ann)).want(200)
		if now.at("caseSensitive") == false && list.at("data.1") != nil {
			t.Fatalf("round %d: %s", round, list.text)
		}
		if now.at("caseSensitive") == true {
			w.do("PUT", "/api/domains/"+id, `{"caseSensitive":false}`, as(w.ann)).want(409)
			return
		}
		w.do("PUT", "/api/domains/"+id, `{"caseSensitive":true}`, as(w.ann)).want(200)
	}
}

func TestPreviews_of_a_workspace(t *testing.T) {
	w := small(t, whole)
	id := w.do("GET", "/api/workspaces", "", as(w.ann)).want(200).str("data.0.id")
	w.do("GET", "/api/workspaces/"+id, "", as(w.ann)).want(200).shows("previews", true)
	w.do("PUT", "/api/workspaces/"+id, `{"previews":false}`, as(w.ann)).want(200).shows("previews", false)
	w.do("PUT", "/api/workspaces/"+id, `{"name":"Other"}`, as(w.ann)).want(200).shows("previews", false)
	w.do("PUT", "/api/workspaces/"+id, `{"previews":"no"}`, as(w.ann)).want(400)
}

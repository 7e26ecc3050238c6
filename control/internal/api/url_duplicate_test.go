package api_test

import (
	"fmt"
	"testing"
)

// A copy has what its original has, except what only one link may have. It changes nothing about the original.
func TestDuplicate(t *testing.T) {
	w := small(t, withLinks)
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/a","customSlug":"spring","title":"Spring","tags":["red","big"],"externalId":"x-1","password":"open sesame",
			"expiresAt":"2099-01-01T00:00:00.000Z","maxClicks":5,"notes":"For the fair","utmSource":"fair","redirectCode":307,"stickiness":"hash"}`, as(w.ann)).want(201).str("id")
	path := "/api/urls/" + id
	w.do("POST", path+"/routing-rules",
		`{"name":"Phones","targetUrl":"https://example.com/phone",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"DEVICE","operator":"equals","value":"mobile"}]}}`, as(w.ann)).want(201)
	w.do("POST", path+"/variants", `{"name":"b","targetUrl":"https://example.com/b","weight":30}`, as(w.ann)).want(201)
	w.do("PUT", path, `{"isSmartRouting":true,"isABTesting":true}`, as(w.ann)).want(200)
	w.exec(`UPDATE urls SET click_count = 5, exhausted_at = 1 WHERE id = ?`, id)
	before := w.do("GET", path, "", as(w.ann)).want(200)

	r := w.do("POST", path+"/duplicate", `{}`, as(w.ann)).want(201).has("", urlNames...)
	for _, name := range urlNames {
		switch name {
		case "id", "slug", "shortUrl", "externalId", "clickCount", "status", "createdAt", "updatedAt":
		default:
			if got, want := fmt.Sprint(r.at(name)), fmt.Sprint(before.at(name)); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
	}
	if r.str("id") == id || r.str("slug") == "spring" || r.at("externalId") != nil || r.at("clickCount") != 0.0 ||
		r.at("status") != "ACTIVE" {
		t.Error(r.text)
	}
	copied := "/api/urls/" + r.str("id")
	for part, list := range map[string]string{"routing-rules": "rules", "variants": "variants"} {
		one, two := w.do("GET", path+"/"+part, "", as(w.ann)).want(200), w.do("GET", copied+"/"+part, "", as(w.ann)).want(200)
		for _, name := range []string{"name", "targetUrl", "conditions", "weight", "isActive"} {
			if got, want := two.at(list+".0."+name), one.at(list+".0."+name); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s of %s is %v, want %v", name, part, got, want)
			}
		}
		if two.str(list+".0.id") == one.str(list+".0.id") || one.str(list+".0.name") == "" {
			t.Errorf("%s: %s", part, two.text)
		}
	}
	if now := w.do("GET", path, "", as(w.ann)).want(200); now.text != before.text {
		t.Errorf("the original is %s, was %s", now.text, before.text)
	}
	var hashes int
	w.ok(w.store.Row(t.Context(), `SELECT count(DISTINCT password_hash) FROM urls WHERE id IN (?, ?)`, id, r.str("id")).Scan(&hashes))
	if hashes != 1 {
		t.Error("the copy has another password")
	}

	w.do("POST", path+"/duplicate", `{"customSlug":"spring-de","title":"Frühling"}`, as(w.ann)).want(201).
		shows("slug", "spring-de", "title", "Frühling")
}

func TestDuplicate_refused(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	path := "/api/urls/" + id + "/duplicate"
	w.unchanged("refused copies", func() {
		w.do("POST", path, `{"customSlug":"abc"}`, as(w.ann)).want(409)
		w.do("POST", path, `{"customSlug":"a/b"}`, as(w.ann)).want(400).wantField("customSlug")
		w.do("POST", path, `{"domain":"go.unknown.example"}`, as(w.ann)).want(400).wantField("domain")
		w.do("POST", path, `{}`, as(w.bob)).want(404)
		w.do("POST", "/api/urls/nonsense/duplicate", `{}`, as(w.ann)).want(404)
	})
	w.exec(`UPDATE urls SET suspended_at = 1 WHERE id = ?`, id)
	w.unchanged("copies of a suspended link", func() { w.do("POST", path, `{}`, as(w.ann)).want(409) })
}

package api_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

func TestTrash(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		id := w.do("POST", "/api/urls",
			`{"originalUrl":"https://example.com/","customSlug":"abc","title":"T","externalId":"x-1","tags":["red"],"password":"open `+
				`sesame","maxClicks":100}`, as(w.ann)).want(201).str("id")
		path := "/api/urls/" + id
		rule := w.do("POST", path+"/routing-rules",
			`{"name":"A","targetUrl":"https://a.example/",`+
				`"conditions":{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}}`, as(w.ann)).
			want(201).str("id")
		variant := w.do("POST", path+"/variants", `{"name":"A","targetUrl":"https://a.example/"}`, as(w.ann)).want(201).str("id")
		first, last := w.create("first"), w.create("last")
		bundle := w.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"B","urlIds":[%q,%q,%q]}`, first, id, last), as(w.ann)).
			want(201).str("id")
		w.exec(`UPDATE urls SET click_count = 7 WHERE id = ?`, id)
		before := w.do("GET", path, "", as(w.ann)).want(200)
		num := func() (num uint64) {
			w.ok(w.store.Row(t.Context(), `SELECT num FROM urls WHERE id = ?`, id).Scan(&num))
			return num
		}
		number := num()
		history := w.do("GET", path+"/history", "", as(w.ann)).want(200).at("total")

		w.do("DELETE", path, "", as(w.ann)).want(204)
		w.do("GET", path, "", as(w.ann)).want(404)
		w.do("DELETE", path, "", as(w.ann)).want(404)
		w.do("GET", path+"/history", "", as(w.ann)).want(404)
		w.do("GET", "/api/urls?status=DELETED&search=ABC&sortBy=deletedAt", "", as(w.ann)).want(200).
			has("data.0", append([]string{"deletedAt", "purgeAt", "deletedBy"}, urlNames...)...).
			shows("total", 1.0, "data.0.id", id, "data.0.status", "DELETED", "data.0.clickCount", 7.0, "data.0.tags.0", "red")
		for _, query := range []string{"status=DELETED&search=nothing", "status=DELETED&page=2"} {
			w.do("GET", "/api/urls?"+query, "", as(w.ann)).want(200).omits(id)
		}
		w.do("GET", "/api/urls?status=DELETED", "", as(w.bob)).want(200).shows("total", 0.0)
		w.do("GET", "/api/urls?status=DELETED&sortBy=nonsense", "", as(w.ann)).want(400).wantField("sortBy")

		w.do("POST", "/api/urls", `{"originalUrl":"https://other.example/","customSlug":"abc","externalId":"x-1"}`, as(w.ann)).want(201)
		w.unchanged("refused restorations", func() {
			w.do("POST", path+"/restore", `{}`, as(w.bob)).want(404)
			w.do("POST", path+"/restore", `{}`, as(w.ann)).want(409).shows("errors.0.field", "externalId")
			w.do("POST", path+"/restore", `{"externalId":null}`, as(w.ann)).want(409).shows("errors.0.field", "slug")
			w.do("POST", path+"/restore", `{"slug":"a/b"}`, as(w.ann)).want(400).wantField("slug")
			w.do("POST", path+"/restore", `{"slug":"api"}`, as(w.ann)).want(400).wantField("slug")
			w.do("POST", "/api/urls/"+first+"/restore", `{}`, as(w.ann)).want(404)
		})
		after := w.do("POST", path+"/restore", `{"slug":"abc-2","externalId":"x-2"}`, as(w.ann)).want(200)
		for _, name := range urlNames {
			switch name {
			case "slug", "shortUrl", "externalId", "tags":
			default:
				after.shows(name, before.at(name))
			}
		}
		if after.str("slug") != "abc-2" || after.str("externalId") != "x-2" || after.at("tags.0") != "red" || num() != number ||
			after.at("clickCount") != 7.0 {
			t.Errorf("number %d, was %d: %s", num(), number, after.text)
		}
		w.do("GET", path+"/routing-rules/"+rule, "", as(w.ann)).want(200)
		w.do("GET", path+"/variants/"+variant, "", as(w.ann)).want(200)
		w.do("GET", "/api/bundles/"+bundle, "", as(w.ann)).shows("urls.1.id", id, "urls.1.order", 1.0, "urlCount", 3.0)
		w.do("GET", path+"/history", "", as(w.ann)).want(200).
			shows("total", history.(float64)+1, "data.0.action", "URL_RESTORED", "data.0.changes.slug.new", "abc-2")

		w.do("DELETE", "/api/urls/bulk", fmt.Sprintf(`{"urlIds":[%q,%q]}`, id, first), as(w.ann)).want(200)
		w.do("DELETE", path+"?permanently=true", "", as(w.bob)).want(404)
		w.do("DELETE", path+"?permanently=true", "", as(w.ann)).want(204)
		w.do("POST", path+"/restore", `{}`, as(w.ann)).want(404)
		w.do("DELETE", "/api/urls/"+last+"?permanently=true", "", as(w.ann)).want(204)
		w.do("GET", "/api/urls?status=DELETED", "", as(w.ann)).shows("total", 1.0, "data.0.id", first)
		var rows int
		w.ok(w.store.Row(t.Context(), `SELECT count(*) FROM link_history WHERE link_num = ?`, number).Scan(&rows))
		if rows != 0 {
			t.Errorf("%d rows of history of a link that was deleted for good", rows)
		}
		w.exec(`UPDATE link_trash SET deleted_at = ?`, store.Now()-(31*24*time.Hour).Milliseconds())
		if n, err := w.store.PurgeTrash(t.Context(), store.Now()-w.store.TrashTime().Milliseconds(), 10); n != 1 || err != nil {
			t.Errorf("%d links purged, %v", n, err)
		}
	})
}

func TestExternalIDs(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		for _, x := range []string{"plain", "a%2Fb", "%C3%BC%20x", "history"} {
			path := "/api/urls/by-external-id/" + x
			w.do("GET", path, "", as(w.ann)).want(404)
			w.do("PUT", path, `{"title":"x"}`, as(w.ann)).want(400).wantField("originalUrl")
			w.do("PUT", path, `{"originalUrl":"https://example.com/"}`, as(w.ann), with("If-Match", "*")).want(412)
			made := w.do("PUT", path, `{"originalUrl":"https://example.com/"}`, as(w.ann)).want(201)
			again := w.do("PUT", path, `{"title":"T"}`, as(w.ann), with("If-Match", made.Header.Get("ETag"))).want(200)
			if again.str("id") != made.str("id") || again.str("title") != "T" || w.do("GET", path, "", as(w.ann)).want(200).
				str("id") != made.str("id") {
				t.Error(again.text)
			}
			w.do("PUT", path, `{"externalId":"other"}`, as(w.ann)).want(400).wantField("externalId")
			w.do("PUT", path, `{"customSlug":"another"}`, as(w.ann)).want(400).wantField("customSlug")
			w.do("GET", path, "", as(w.bob)).want(404)
		}
		r := w.do("POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://a.example/","externalId":"plain"},{"originalUrl":"https://a.example/","externalId":"new"},
			{"originalUrl":"https://a.example/","externalId":"new"},{"originalUrl":"https://a.example/","customSlug":"mine","externalId":"plain"},{"originalUrl":"https://a.example/"}]}`, as(w.ann)).want(201)
		r.shows("successCount", 2.0, "failed.0.index", 0.0, "failed.0.field", "externalId", "failed.1.index", 2.0,
			"failed.2.field", "externalId")
		var made atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				switch r := w.do("PUT", "/api/urls/by-external-id/once", `{"originalUrl":"https://example.com/"}`,
					as(w.ann)); r.StatusCode {
				case 201:
					made.Add(1)
				case 200:
				default:
					t.Error(r.text)
				}
			})
		}
		wg.Wait()
		if made.Load() != 1 {
			t.Errorf("%d links were made", made.Load())
		}
	})
}

package api_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
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
	})
	w.exec(`UPDATE urls SET suspended_at = 1 WHERE id = ?`, id)
	w.unchanged("copies of a suspended link", func() { w.do("POST", path, `{}`, as(w.ann)).want(409) })
}

func TestURLs_lifetime(t *testing.T) {
	w := small(t, withLinks)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z") }
	start, end := in(time.Hour), in(2*time.Hour)
	r := w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com","customSlug":"sale","startsAt":%q,"expiresAt":%q,"expiredUrl":"https://example.com/over",
			"maxClicks":1e2,"redirectCode":308,"externalId":" sku-7 "}`, start, end), as(w.ann)).want(201)
	r.shows("startsAt", start, "expiresAt", end, "expiredUrl", "https://example.com/over", "maxClicks", 100, "redirectCode", 308,
		"externalId", "sku-7", "status", "SCHEDULED")
	path := "/api/urls/" + r.str("id")
	for body, field := range map[string]string{
		`{"startsAt":"` + in(3*time.Hour) + `"}`:            "startsAt",
		`{"startsAt":true}`:                                 "startsAt",
		`{"expiredUrl":"javascript:alert(1)"}`:              "expiredUrl",
		`{"expiredUrl":"` + baseURL + `/sale"}`:             "expiredUrl",
		`{"maxClicks":-1}`:                                  "maxClicks",
		`{"maxClicks":1.5}`:                                 "maxClicks",
		`{"maxClicks":1e300}`:                               "maxClicks",
		`{"redirectCode":200}`:                              "redirectCode",
		`{"redirectCode":"302"}`:                            "redirectCode",
		`{"externalId":"` + strings.Repeat("x", 256) + `"}`: "externalId",
	} {
		w.unchanged(body, func() { w.do("PUT", path, body, as(w.ann)).wantField(field) })
	}

	// An external id is unique in its workspace, whatever sets it.
	other := w.create("other")
	w.unchanged("a taken external id", func() {
		w.do("PUT", "/api/urls/"+other, `{"externalId":"sku-7"}`, as(w.ann)).want(409)
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","externalId":"sku-7"}`, as(w.ann)).want(409)
	})
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","externalId":"sku-7"}`, as(w.bob)).want(201)

	// The status follows from the fields, and filters find it.
	set := func(f func(*store.Link)) {
		t.Helper()
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			u, err := tx.LockLink(t.Context(), r.str("id"))
			if err != nil {
				return err
			}
			f(&u)
			return tx.UpdateLink(t.Context(), &u)
		}))
	}
	is := func(status string) {
		t.Helper()
		w.do("GET", path, "", as(w.ann)).want(200).shows("status", status)
		stats := w.do("GET", "/api/urls/stats", "", as(w.ann)).want(200)
		for _, s := range store.LinkStatuses {
			want := map[bool]float64{s == status: 1}[true]
			if s == store.StatusActive {
				want++ // the other link
			}
			found := w.do("GET", "/api/urls?status="+s, "", as(w.ann)).want(200).num("total")
			counted := stats.num(map[string]string{"ACTIVE": "activeUrls", "INACTIVE": "inactiveUrls", "EXPIRED": "expiredUrls",
				"SCHEDULED": "scheduledUrls", "EXHAUSTED": "exhaustedUrls", "SUSPENDED": "suspendedUrls"}[s])
			if float64(found) != want || float64(counted) != want {
				t.Errorf("%s: %v links have the status %s, %v are counted; want %v", status, found, s, counted, want)
			}
		}
	}
	is("SCHEDULED")
	w.do("PUT", path, `{"startsAt":null,"maxClicks":null,"redirectCode":null,"expiredUrl":null,"externalId":null}`, as(w.ann)).want(200)
	is("ACTIVE")
	w.do("PUT", path, `{"status":"INACTIVE","startsAt":"`+start+`"}`, as(w.ann)).want(200)
	is("INACTIVE")
	set(func(u *store.Link) { u.ExhaustedAt = 1 })
	is("EXHAUSTED")
	w.do("PUT", path, `{"startsAt":null,"expiresAt":"2020-01-01"}`, as(w.ann)).want(200)
	is("EXPIRED")
	set(func(u *store.Link) { u.SuspendedAt, u.SuspendReason = 1, "phishing" })
	is("SUSPENDED")
	w.do("GET", path, "", as(w.ann)).want(200).shows("suspendedReason", "phishing")
}

// A limit counts from the moment when a link gets one. Changing it goes on with the same count.
func TestURLs_limit_starts_a_count(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	put := func(body string) store.Link {
		t.Helper()
		w.do("PUT", "/api/urls/"+id, body, as(w.ann)).want(200)
		return w.row(id)
	}
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetClickCounts(t.Context(), []store.Counted{{Num: w.row(id).Num, Count: 30}}, store.Raise)
	}))
	first := put(`{"maxClicks":50}`)
	if first.LimitBase != 30 || first.LimitSince == 0 {
		t.Errorf("%+v", first)
	}
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetClickCounts(t.Context(), []store.Counted{{Num: first.Num, Count: 40}}, store.Raise)
	}))
	if again := put(`{"maxClicks":60}`); again.LimitBase != 30 || again.LimitSince != first.LimitSince {
		t.Errorf("another limit: %+v", again)
	}
	if none := put(`{"maxClicks":null}`); none.LimitBase != 0 || none.LimitSince != 0 {
		t.Errorf("no limit: %+v", none)
	}
	testkit.Eventually(t, "the next millisecond, which tells counts apart", func() bool {
		return time.Now().UnixMilli() > first.LimitSince+1
	})
	if anew := put(`{"maxClicks":60}`); anew.LimitBase != 40 || anew.LimitSince <= first.LimitSince {
		t.Errorf("a new limit: %+v", anew)
	}
}

// The members of a team see who created and who deleted each other's links.
func TestTeams_see_who_created_and_deleted_links(t *testing.T) {
	w := small(t, teams)
	team := w.newTeam("Growth")
	w.join(team, w.bobID, "EDITOR")
	w.do("PUT", "/api/auth/me", `{"name":"Bob B."}`, as(w.bob)).want(200)
	ann, bob := both(as(w.ann), with("X-Workspace", team)), both(as(w.bob), with("X-Workspace", team))
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, bob).want(201).has("", urlNames...).str("id")
	w.do("GET", "/api/urls/"+id, "", ann).want(200).shows("createdByName", "Bob B.", "createdByEmail", otherMail)
	w.do("GET", "/api/urls", "", ann).want(200).shows("data.0.createdByName", "Bob B.")
	w.do("DELETE", "/api/urls/"+id, "", bob).want(204)
	w.do("GET", "/api/urls?status=DELETED", "", ann).want(200).shows("data.0.deletedByName", "Bob B.", "data.0.deletedByEmail", otherMail)
	w.do("GET", "/api/urls?status=DELETED", "", bob).want(200).has("data.0", append([]string{"deletedAt", "purgeAt", "deletedBy"},
		urlNames...)...)
	w.do("GET", "/api/urls?status=DELETED", "", as(w.root)).want(200).
		shows("data.0.deletedByEmail", otherMail, "data.0.createdByEmail", otherMail)
}

// Edges load a limited number of links. No way to create one more succeeds, and nothing else is refused.
func TestLimit_of_links_is_refused_everywhere(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLiteURL, "postgres": storetest.PostgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" && !testkit.Size(false, true) {
				t.Skip("in make proof")
			}
			st, err := store.Open(t.Context(), store.Config{URL: url(t), MaxLinks: 3, BaseURL: "https://sho.rt", Trash: testkit.Patience})
			testkit.Must(t, err)
			t.Cleanup(func() { _ = st.Close() })
			limitOfLinks(newWorld(t, st, whole))
		})
	}
}

func limitOfLinks(w *world) {
	create := func(by string) *reply {
		return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, as(by))
	}
	full := func(r *reply) {
		w.t.Helper()
		if text := r.want(409).str("message"); !strings.Contains(text, "The service has 3 links, which is the limit.") {
			w.t.Errorf("the message is %q", text)
		}
		if got := w.do("GET", "/api/urls/stats", "", as(w.ann)).num("totalUrls"); got != 2 {
			w.t.Errorf("%v links of ann", got)
		}
	}
	first := create(w.ann).want(201).str("id")
	trashed := create(w.ann).want(201).str("id")
	w.do("DELETE", "/api/urls/"+trashed, "", as(w.ann)).want(204)
	create(w.ann).want(201)
	create(w.bob).want(201)
	full(create(w.ann))
	full(create(w.bob)) // also for others
	full(w.do("POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://example.com/1"},{"originalUrl":"https://example.com/2"}]}`,
		as(w.ann)))
	full(w.do("PUT", "/api/urls/by-external-id/crm-1", `{"originalUrl":"https://example.com/"}`, as(w.ann)))
	full(w.do("POST", "/api/urls/"+first+"/duplicate", `{}`, as(w.ann)))
	full(w.do("POST", "/api/urls/"+trashed+"/restore", `{}`, as(w.ann)))

	// An import ends with the reason, without a part of its rows.
	id := w.uploadLinks("url\nhttps://example.com/a\nhttps://example.com/b\n")
	r := w.imported(id, `{"mapping":{"originalUrl":"url"},"conflicts":"skip"}`)
	if r.progress() != "FAILED: done 0, created 0, updated 0, skipped 0, renamed 0, failed 0" ||
		!strings.Contains(r.text, "The service has 3 links, which is the limit.") {
		w.t.Errorf("the import: %s", r.text)
	}

	// Requests that create nothing work. A deleted link makes room for exactly one.
	w.do("PATCH", "/api/urls/"+first, `{"title":"new"}`, as(w.ann)).want(200)
	team := w.team("the-team")
	w.do("POST", "/api/urls/transfer", transferring(team.ID, first), as(w.ann)).want(200)
	w.do("DELETE", "/api/urls/"+first, "", as(w.ann), in(team)).want(204)
	w.do("POST", "/api/urls/"+trashed+"/restore", `{}`, as(w.ann)).want(200)
	full(create(w.bob))
}

package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/store"
)

var upsertNames = []string{"result", "id", "shortUrl", "externalId", "etag", "changes", "routingRules", "variants", "error"}

// upsert sends items and returns the reply.
func (w *world) upsert(items string, options ...option) *reply {
	w.t.Helper()
	return w.do("PUT", "/api/urls/bulk", `{"items":[`+items+`]}`, append([]option{as(w.ann)}, options...)...).want(200)
}

// plan sends items for a dry run, which must change nothing.
func (w *world) plan(items string) (r *reply) {
	w.t.Helper()
	w.unchanged("a dry run", func() {
		r = w.do("PUT", "/api/urls/bulk?dryRun=true", `{"items":[`+items+`]}`, as(w.ann)).want(200).shows("dryRun", true)
	})
	return r
}

// results returns the results of the items in one word each.
func (r *reply) results() string {
	var list []string
	for i := range r.at("items").([]any) {
		list = append(list, r.str(fmt.Sprintf("items.%d.result", i)))
	}
	return strings.Join(list, " ")
}

func (r *reply) wantResults(want string) *reply {
	r.w.t.Helper()
	if got := r.results(); got != want {
		r.w.t.Fatalf("%s, want %s: %s", got, want, r.text)
	}
	return r
}

const phones = `{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}`

// everything is an item with everything that an item can have.
const everything = `{"externalId":"crm:1","customSlug":"whole","originalUrl":"https://example.com/a","title":"A","tags":["Two","one"],"notes":"n",
	"expiresAt":"2040-01-01T00:00:00Z","maxClicks":5,"redirectCode":301,"password":"secret","stickiness":"hash",
	"rules":[{"name":"phones","targetUrl":"https://example.com/m","conditions":` + phones + `,"priority":3},
		{"name":"off","targetUrl":"https://example.com/o","conditions":` + phones + `,"isActive":false}],
	"variants":[{"name":"b","targetUrl":"https://example.com/b","weight":30},{"name":"c","targetUrl":"https://example.com/c"}]}`

// An item is created, then unchanged, then updated, and what a dry run says is what happens.
func TestUpsert_creates_updates_and_leaves_links(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		const plain = `{"customSlug":"plain","originalUrl":"https://example.com/p"}`
		both := everything + "," + plain
		w.plan(both).wantResults("CREATED CREATED").shows("createdCount", 2, "items.0.id", nil, "items.0.etag", nil,
			"items.0.shortUrl", "https://sho.rt/whole")
		before := w.revision()
		r := w.upsert(both).wantResults("CREATED CREATED").has("", "dryRun", "createdCount", "updatedCount", "unchangedCount", "refusedCount",
			"items").has("items.0", upsertNames...)
		if w.revision() != before+1 {
			t.Errorf("revision %d after %d", w.revision(), before)
		}
		id := r.str("items.0.id")
		w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).headed("ETag", r.str("items.0.etag")).
			shows("externalId", "crm:1", "slug", "whole", "title", "A", "tags.0", "one", "tags.1", "Two", "hasPassword", true, "maxClicks", 5,
				"isSmartRouting", true, "isABTesting", true)
		rules := w.do("GET", "/api/urls/"+id+"/routing-rules", "", as(w.ann)).want(200).shows("rules.0.name", "phones", "rules.1.isActive", false)
		w.do("GET", "/api/urls/"+id+"/variants", "", as(w.ann)).want(200).shows("variants.0.name", "b", "variants.1.weight", 50)
		w.unchanged("the same again", func() { w.upsert(both).wantResults("UNCHANGED UNCHANGED").shows("items.0.etag", r.str("items.0.etag")) })
		w.plan(both).wantResults("UNCHANGED UNCHANGED")

		change := `{"externalId":"crm:1","title":"B","tags":["one"],"password":"another","variants":null,"rules":[
			{"name":"new","targetUrl":"https://example.com/n","conditions":` + phones + `},
			{"name":"phones","targetUrl":"https://example.com/m2","priority":3,
				"conditions":{"conditions":[{"value":"mobile","operator":"EQUALS","type":"device"}],"operator":"and"}}]}`
		for _, r := range []*reply{w.plan(change), w.upsert(change)} {
			r.wantResults("UPDATED").shows("updatedCount", 1, "items.0.id", id, "items.0.changes.title.old", "A",
				"items.0.changes.title.new", "B", "items.0.changes.tags.old.1", "Two", "items.0.changes.tags.new.#", 1,
				"items.0.changes.password.new", "***", "items.0.changes.isABTesting.new", false, "items.0.routingRules.#", 3,
				"items.0.routingRules.0.name", "new", "items.0.routingRules.1.changes.targetUrl.new", "https://example.com/m2",
				"items.0.routingRules.2.name", "off", "items.0.variants.#", 2, "items.0.variants.0.changes.name.new", nil)
			if strings.Contains(r.text, `"another"`) {
				t.Error("the response contains a password")
			}
		}
		w.do("GET", "/api/urls/"+id+"/routing-rules", "", as(w.ann)).want(200).shows("rules.#", 2, "rules.0.id", rules.str("rules.0.id"))
		w.do("GET", "/api/urls/"+id+"/history", "", as(w.ann)).want(200).shows("data.0.action", "URL_BULK_UPDATED")
		w.unchanged("the same again", func() { w.upsert(change).wantResults("UNCHANGED") })
		row := w.audited("URL_BULK_UPDATED", "url", "")
		for _, want := range []string{"routingRules", "variants", `"title":"B"`} {
			if !strings.Contains(row.New.String, want) {
				t.Errorf("audit: %s", row.New.String)
			}
		}
	})
}

// Each item is refused with its own problems, which name their place in the request, and the others are applied.
func TestUpsert_refuses_items_one_by_one(t *testing.T) {
	w := small(t, withLinks)
	w.create("taken")
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"foreign"}`, as(w.bob)).want(201)
	w.upsert(`{"externalId":"x","customSlug":"mine","originalUrl":"https://example.com/"}`).wantResults("CREATED")
	for _, c := range []struct {
		item, field string
		status      int
	}{
		{`{"originalUrl":"https://example.com/"}`, "externalId", 400},
		{`{"externalId":"new"}`, "originalUrl", 400},
		{`{"externalId":"x","title":"` + strings.Repeat("x", 256) + `"}`, "title", 400},
		{`{"externalId":"x","customSlug":"other"}`, "customSlug", 400},
		{`{"externalId":"x","domain":"go.example.net"}`, "domain", 400},
		{`{"externalId":"y","customSlug":"mine"}`, "customSlug", 409},
		{`{"customSlug":"foreign","title":"t"}`, "customSlug", 409},
		{`{"customSlug":"api","originalUrl":"https://example.com/"}`, "customSlug", 400},
		{`{"externalId":"x","ifMatch":"\"1\""}`, "", 412}, {`{"externalId":"new","ifMatch":"*"}`, "", 412},
		{`{"externalId":"x","ifMatch":"1"}`, "ifMatch", 400},
		{`{"externalId":"new","originalUrl":"https://example.com/","ifNoneMatch":"\"1\""}`, "ifNoneMatch", 400},
		{`{"externalId":"x","expiresAt":"soon"}`, "expiresAt", 400},
		{`{"externalId":"x","isABTesting":true}`, "isABTesting", 400},
		{`{"externalId":"x","bundleIds":["01970000-0000-7000-8000-000000000000"]}`, "bundleIds.0", 400},
		{`{"externalId":"x","variants":[{"name":"a","targetUrl":"nonsense"}]}`, "variants.0.targetUrl", 400},
		{`{"externalId":"x","rules":[{"name":"a","targetUrl":"https://example.com/","conditions":` + phones + `},
			{"name":"b","targetUrl":"https://sho.rt/x","conditions":` + phones + `}]}`, "rules.1.targetUrl", 400},
		{`{"externalId":"x","rules":[{"id":"01970000-0000-7000-8000-000000000000","name":"a","targetUrl":"https://example.com/",
			"conditions":` + phones + `}]}`, "rules.0.id", 400},
		{`{"externalId":"x","rules":[{"name":"a","targetUrl":"https://example.com/",
			"conditions":{"operator":"AND","conditions":[{"type":"moon","operator":"in","value":[]}]}}]}`, "rules.0.conditions.conditions.0.type", 400},
	} {
		good := fmt.Sprintf(`{"customSlug":"taken","title":%q}`, store.NewID())
		at := "items.1." + c.field
		for _, r := range []*reply{w.plan(good + "," + c.item), w.upsert(good + "," + c.item)} {
			r.wantResults("UPDATED REFUSED").shows("refusedCount", 1, "items.1.error.statusCode", c.status,
				"items.1.error.errors.0.field", strings.TrimSuffix(at, "."))
		}
	}
	w.unchanged("refused requests", func() {
		for body, field := range map[string]string{`{}`: "items", `{"items":[]}`: "items", `{"items":[5]}`: "items.0",
			`{"items":[{"originalUrl":5}]}`: "items.0.originalUrl", `{"items":[{"slug":"abc"}]}`: "items.0.slug",
			`{"items":[` + strings.Repeat(`{},`, 1000) + `{}]}`: "items"} {
			w.do("PUT", "/api/urls/bulk", body, as(w.ann)).wantField(field)
		}
	})
	w.upsert(`{"customSlug":"once","originalUrl":"https://example.com/"},{"customSlug":"once","title":"t"}`).
		wantResults("CREATED REFUSED").says("names the same link as item 0")
}

// An item can expect a version of its link, and gives a link that has none an external id.
func TestUpsert_versions_and_external_ids(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("old")
	r := w.upsert(`{"externalId":"crm:7","customSlug":"old"}`).wantResults("UPDATED").shows("items.0.id", id,
		"items.0.changes.externalId.new", "crm:7", "items.0.externalId", "crm:7")
	tag := strings.ReplaceAll(r.str("items.0.etag"), `"`, `\"`)
	w.upsert(`{"externalId":"crm:7","title":"t","ifMatch":"` + tag + `"}`).wantResults("UPDATED")
	w.upsert(`{"externalId":"crm:7","title":"u","ifMatch":"` + tag + `"}`).wantResults("REFUSED").says("has changed meanwhile")
	w.upsert(`{"externalId":"crm:7","title":"u","ifMatch":"*"}`).wantResults("UPDATED")
	only := `{"externalId":"crm:8","originalUrl":"https://example.com/8","ifNoneMatch":"*"}`
	w.plan(only).wantResults("CREATED")
	w.upsert(only+`,{"externalId":"crm:7","title":"v","ifNoneMatch":"*"}`).wantResults("CREATED REFUSED").
		shows("items.1.error.statusCode", 409.0, "items.1.error.errors.0.field", "items.1.ifNoneMatch")
	w.unchanged("a link that exists", func() { w.upsert(only).wantResults("REFUSED") })
}

// A request compares and sets at most 30 passwords, and the same password again is free.
func TestUpsert_passwords(t *testing.T) {
	w := small(t, withLinks)
	var items []string
	for i := range 33 {
		items = append(items, fmt.Sprintf(`{"externalId":"p%d","originalUrl":"https://example.com/","password":"secret%d"}`, i, i%32))
	}
	many := strings.Join(items, ",")
	for _, r := range []*reply{w.plan(many), w.upsert(many)} {
		r.wantResults(strings.Repeat("CREATED ", 30)+"REFUSED REFUSED CREATED").shows("items.30.error.errors.0.field", "items.30.password")
	}
	w.unchanged("the same passwords", func() { w.upsert(many).wantResults(strings.Repeat("UNCHANGED ", 30) + "REFUSED REFUSED UNCHANGED") })
	w.upsert(`{"externalId":"p0","password":null}`).wantResults("UPDATED").shows("items.0.changes.password.old", "***")
}

// A link from another service keeps its date, its end and its password hash.
func TestUpsert_keeps_what_another_service_knew(t *testing.T) {
	w := small(t, withLinks)
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	moved := `{"externalId":"old:1","originalUrl":"https://example.com/","createdAt":"2019-02-03T04:05:06Z","expiresAt":"2020-01-01T00:00:00Z",` +
		`"passwordHash":"` + string(hash) + `"}`
	w.plan(moved).wantResults("CREATED")
	id := w.upsert(moved).wantResults("CREATED").str("items.0.id")
	w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("createdAt", "2019-02-03T04:05:06.000Z", "expiresAt",
		"2020-01-01T00:00:00.000Z", "hasPassword", true)
	w.upsert(moved).wantResults("UNCHANGED")
	w.upsert(`{"externalId":"old:1","createdAt":"2018-01-01T00:00:00Z"}`).wantResults("UNCHANGED")
	w.upsert(`{"externalId":"old:1","password":"secret"}`).wantResults("UNCHANGED")
	w.upsert(`{"externalId":"old:1","password":"another"}`).wantResults("UPDATED")
	for fields, field := range map[string]string{
		`"createdAt":"2999-01-01T00:00:00Z"`: "createdAt", `"createdAt":"once"`: "createdAt", `"expiresAt":"2020-01-01T00:00:00Z"`: "expiresAt",
		`"passwordHash":"secret"`: "passwordHash", `"password":"secret","passwordHash":"` + string(hash) + `"`: "passwordHash",
		`"passwordHash":"` + strings.Replace(string(hash), "$04$", "$13$", 1) + `"`: "passwordHash",
	} {
		r := w.upsert(`{"externalId":"old:2","originalUrl":"https://example.com/",` + fields + `}`).wantResults("REFUSED")
		r.shows("items.0.error.errors.0.field", "items.0."+field)
	}
}

// A link enters and leaves bundles, and that alone is no new version of the link.
func TestUpsert_bundles(t *testing.T) {
	w := small(t, func(w *world, c *api.Config, deps *api.Deps) {
		withLinks(w, c, deps)
		deps.Bundles = bundles.New(w.store, &clickLines{}, nil)
	})
	var ids [2]string
	for i := range ids {
		ids[i] = w.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"b%d"}`, i), as(w.ann)).want(201).str("id")
	}
	item := func(list ...string) string {
		return fmt.Sprintf(`{"externalId":"x","originalUrl":"https://example.com/","bundleIds":[%s]}`, strings.Join(list, ","))
	}
	one, two := fmt.Sprintf("%q", ids[0]), fmt.Sprintf("%q", ids[1])
	r := w.upsert(item(one)).wantResults("CREATED")
	w.upsert(item(one)).wantResults("UNCHANGED")
	w.upsert(item(two, one)).wantResults("UPDATED").shows("items.0.changes.bundleIds.new.#", 2, "items.0.etag", r.str("items.0.etag"))
	w.upsert(item()).wantResults("UPDATED").shows("items.0.changes.bundleIds.old.#", 2)
	w.do("GET", "/api/bundles/"+ids[0], "", as(w.ann)).want(200).shows("urls.#", 0)
}

// Of concurrent requests with the same items, one creates each link, and the others find it.
func TestUpsert_at_once(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		var lists [2][]string
		for i := range 40 {
			by := fmt.Sprintf(`"externalId":"e%d"`, i)
			if i%2 == 0 {
				by = fmt.Sprintf(`"customSlug":"slug%d"`, i)
			}
			item := `{` + by + `,"originalUrl":"https://example.com/","tags":["t` + fmt.Sprint(i%3) + `"]}`
			lists[0], lists[1] = append(lists[0], item), append([]string{item}, lists[1]...)
		}
		created := make([]float64, 6)
		var all sync.WaitGroup
		for i := range created {
			all.Go(func() {
				created[i] = w.upsert(strings.Join(lists[i%2], ",")).shows("refusedCount", 0).num("createdCount")
			})
		}
		all.Wait()
		total := 0.0
		for _, n := range created {
			total += n
		}
		if total != 40 {
			t.Errorf("%v links were created, want 40", created)
		}
		w.do("GET", "/api/urls", "", as(w.ann)).want(200).shows("total", 40)
	})
}

// A thousand links are created, left and planned in one request each.
func TestUpsert_of_a_thousand(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		var items []string
		for i := range 1000 {
			items = append(items, fmt.Sprintf(`{"externalId":"crm:%d","originalUrl":"https://example.com/some/page/%d?with=parameters",`+
				`"title":"A title of usual length, number %d","tags":["one","two"],"rules":[{"name":"phones",`+
				`"targetUrl":"https://example.com/m/%d","conditions":%s}]}`, i, i, i, i, phones))
		}
		all := strings.Join(items, ",")
		timed := func(what string, f func()) {
			start := time.Now()
			f()
			t.Logf("1,000 links %s in %v", what, time.Since(start))
		}
		timed("planned", func() { w.plan(all).shows("createdCount", 1000) })
		timed("created", func() { w.upsert(all).shows("createdCount", 1000) })
		timed("planned again", func() { w.plan(all).shows("unchangedCount", 1000) })
		body := `{"items":[` + all + `]}`
		timed("planned again, without the checks of this test", func() {
			r := httptest.NewRequest("PUT", "/api/urls/bulk?dryRun=true", strings.NewReader(body))
			as(w.ann)(r)
			w.server.Handler().ServeHTTP(httptest.NewRecorder(), r)
		})
		timed("left", func() { w.upsert(all).shows("unchangedCount", 1000) })
		changed := strings.ReplaceAll(all, "/m/", "/n/")
		timed("changed", func() { w.upsert(strings.ReplaceAll(changed, "A title", "Another title")).shows("updatedCount", 1000) })
	})
}

// Links that are created, updated and left have their events, and no others.
func TestUpsert_events(t *testing.T) {
	h := withHooks(t, usual(t), withLinks)
	h.do("POST", "/api/webhooks", `{"name":"mine","url":"`+h.url+`","events":["url.created","url.updated","routing.rule_created",`+
		`"routing.rule_deleted"]}`, as(h.ann)).want(201)
	const plain = `{"customSlug":"plain","originalUrl":"https://example.com/p"}`
	h.upsert(everything + "," + plain)
	h.upsert(everything + "," + plain)
	h.upsert(`{"externalId":"crm:1","title":"B","rules":[]},` + plain)
	want := "routing.rule_created:2 routing.rule_deleted:2 url.created:2 url.updated:1"
	rows, err := h.store.Query(t.Context(), `SELECT event, count(*) FROM webhook_deliveries GROUP BY event ORDER BY event`)
	h.ok(err)
	defer rows.Close()
	var got []string
	for rows.Next() {
		var event string
		var n int
		h.ok(rows.Scan(&event, &n))
		got = append(got, fmt.Sprintf("%s:%d", event, n))
	}
	if h.ok(rows.Err()); strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// Clicks that another service has counted stand in the link and apart from its own clicks.
func TestUpsert_click_baseline(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		item := func(baseline string) string {
			return `{"externalId":"old:1","originalUrl":"https://example.com/","clickBaseline":` + baseline + `}`
		}
		const counted = `{"count":1234,"until":"2025-03-04T05:06:07Z","source":" Bitly "}`
		w.plan(item(counted)).wantResults("CREATED")
		id := w.upsert(item(counted)).wantResults("CREATED").str("items.0.id")
		w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("clickBaseline.count", 1234.0, "clickBaseline.until",
			"2025-03-04T05:06:07.000Z", "clickBaseline.source", "Bitly", "clickCount", 0.0)
		w.upsert(item(counted)).wantResults("UNCHANGED")
		w.upsert(`{"externalId":"old:1","title":"A"}`).wantResults("UPDATED")
		copied := w.do("POST", "/api/urls/"+id+"/duplicate", `{}`, as(w.ann)).want(201)
		copied.shows("clickBaseline", nil)
		changed := w.upsert(item(`{"count":1300,"until":"2025-03-05","source":"Bitly"}`)).wantResults("UPDATED")
		changed.shows("items.0.changes.clickBaseline.old.count", 1234.0, "items.0.changes.clickBaseline.new.until", "2025-03-05T00:00:00.000Z")
		w.upsert(item(`null`)).wantResults("UPDATED").shows("items.0.changes.clickBaseline.new", nil)
		for baseline, field := range map[string]string{
			`{"count":-1,"until":"2025-03-04T05:06:07Z","source":"x"}`: "count", `{"count":1,"until":"once","source":"x"}`: "until",
			`{"count":1,"until":"2999-01-01T00:00:00Z","source":"x"}`: "until", `{"count":1,"until":null,"source":"x"}`: "until",
			`{"count":1,"until":"2025-03-04T05:06:07Z","source":" "}`:                               "source",
			`{"count":1,"until":"2025-03-04T05:06:07Z","source":"` + strings.Repeat("x", 61) + `"}`: "source",
			`{"count":1000000000001,"until":"2025-03-04T05:06:07Z","source":"x"}`:                   "count",
		} {
			r := w.upsert(item(baseline)).wantResults("REFUSED")
			r.shows("items.0.error.errors.0.field", "items.0.clickBaseline."+field)
		}
	})
}

package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// clickLines is a fake click store with fixed results.
type clickLines struct {
	mu    sync.Mutex
	query analytics.Query // the last query
	lines []analytics.Line
	err   error
}

func (c *clickLines) Lines(_ context.Context, q analytics.Query) ([]analytics.Line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.query = q
	return c.lines, c.err
}

// newBundles creates a world with links and bundles. The time is 2027-03-10 23:30 UTC.
func newBundles(t *testing.T, st *store.Store) (*world, *clickLines) {
	t.Helper()
	clicks := &clickLines{}
	w := newWorld(t, st, func(w *world, c *api.Config, deps *api.Deps) {
		withLinks(w, c, deps)
		now := func() time.Time { return time.Date(2027, 3, 10, 23, 30, 0, 0, time.UTC) }
		deps.Bundles = bundles.New(st, clicks, now)
	})
	return w, clicks
}

var (
	bundleNames = []string{"id", "name", "description", "color", "icon", "status", "userId", "urlCount", "totalClicks", "urls", "createdAt",
		"updatedAt"}
	bundleURLNames = []string{"id", "slug", "shortUrl", "originalUrl", "title", "clickCount", "status", "createdAt", "order"}
)

// inOrder lists the slugs of a bundle's links. It fails unless their orders are 0, 1, 2, …
func (r *reply) inOrder() string {
	r.w.t.Helper()
	list, _ := r.at("urls").([]any)
	var slugs []string
	for i, u := range list {
		m := u.(map[string]any)
		if m["order"] != float64(i) {
			r.w.t.Errorf("%s: place %d has order %v", r.what, i, m["order"])
		}
		slugs = append(slugs, m["slug"].(string))
	}
	if r.num("urlCount") != float64(len(list)) {
		r.w.t.Errorf("%s: urlCount: %s", r.what, r.text)
	}
	return strings.Join(slugs, " ")
}

// holds fails the test unless a bundle has links with these slugs, in this order.
func (r *reply) holds(slugs string) *reply {
	r.w.t.Helper()
	testkit.Equal(r.w.t, r.inOrder(), slugs, "links of the bundle: %s", r.what)
	return r
}

func TestBundles(t *testing.T) {
	w, _ := newBundles(t, usual(t))
	one, two := w.create("one"), w.create("two")
	r := w.do("POST", "/api/bundles", `{"name":" Spring "}`, as(w.ann)).want(201).has("", bundleNames...).holds("").
		shows("name", "Spring", "color", "#3B82F6", "icon", "folder", "description", nil, "status", "ACTIVE", "userId", w.annID,
			"totalClicks", 0)
	spring := "/api/bundles/" + r.str("id")
	w.audited("BUNDLE_CREATED", "bundle", r.str("id"))
	r = w.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"Full","description":"d","color":"#abc","icon":"star","urlIds":[%q,%q,%q]}`, two,
		one, two), as(w.ann)).want(201).has("urls.0", bundleURLNames...).holds("two one").
		shows("color", "#abc", "icon", "star", "description", "d", "urls.0.shortUrl", baseURL+"/two", "urls.0.status", "ACTIVE")
	full := "/api/bundles/" + r.str("id")
	if row := w.audited("BUNDLE_CREATED", "bundle", r.str("id")); !strings.Contains(row.New.String, one) {
		t.Errorf("audit: %s", row.New.String)
	}
	w.exec(`UPDATE urls SET click_count = CASE slug WHEN 'one' THEN 5 ELSE 2 END`)
	w.do("GET", full, "", as(w.ann)).want(200).has("", bundleNames...).shows("totalClicks", 7, "urls.1.clickCount", 5)

	r = w.do("PUT", full, `{"name":"Fuller","description":null,"color":"","icon":null}`, as(w.ann)).want(200).has("", bundleNames...).
		holds("two one").shows("name", "Fuller", "description", nil, "color", "#3B82F6", "icon", "folder")
	if row := w.audited("BUNDLE_UPDATED", "bundle", r.str("id")); !strings.Contains(row.Old.String, `"name":"Full"`) ||
		!strings.Contains(row.New.String, `"name":"Fuller"`) {
		t.Errorf("audit: %s, %s", row.Old.String, row.New.String)
	}
	w.unchanged("an update without changes", func() { w.do("PUT", full, `{"name":"Fuller"}`, as(w.ann)).want(200) })
	w.unchanged("an update without changes", func() { w.do("PUT", full, ``, as(w.ann)).want(200) })

	for body, field := range map[string]string{
		`{}`: "name", `{"name":""}`: "name", `{"name":null}`: "name", `{"name":"  "}`: "name", `{"name":"` + strings.Repeat("ü", 101) +
			`"}`: "name", `{"name":1}`: "name",
		`{"name":"x","color":"blue"}`: "color", `{"name":"x","color":"#12345"}`: "color", `{"name":"x","icon":"a\nb"}`: "icon",
		`{"name":"x","icon":"` + strings.Repeat("x", 51) + `"}`:          "icon",
		`{"name":"x","description":"` + strings.Repeat("x", 1001) + `"}`: "description", `{"name":"x","status":"ARCHIVED"}`: "status",
		`{"name":"x","urlIds":"y"}`: "urlIds",
	} {
		w.unchanged(body, func() { w.do("POST", "/api/bundles", body, as(w.ann)).wantField(field) })
	}
	w.do("PUT", full, `{"name":""}`, as(w.ann)).wantField("name")
	w.do("PUT", full, `{"urlIds":[]}`, as(w.ann)).wantField("urlIds")
	w.unchanged("an unknown link", func() {
		w.do("POST", "/api/bundles", `{"name":"x","urlIds":["`+one+`","unknown"]}`, as(w.ann)).want(404)
	})

	// Archive and restore.
	w.do("POST", full+"/archive", "", as(w.ann)).want(201).has("", bundleNames...).holds("two one").shows("status", "ARCHIVED")
	w.audited("BUNDLE_UPDATED", "bundle", strings.TrimPrefix(full, "/api/bundles/"))
	w.unchanged("archiving twice", func() { w.do("POST", full+"/archive", "", as(w.ann)).want(201) })
	for query, want := range map[string]string{"": "Spring", "?status=ACTIVE": "Spring", "?status=ARCHIVED": "Fuller",
		"?search=SPR":  "Spring",
		"?search=full": "", "?search=full&status=ARCHIVED": "Fuller", "?page=2": ""} {
		r := w.do("GET", "/api/bundles"+query, "", as(w.ann)).want(200).has("", "data", "total", "page", "pageSize", "totalPages")
		if r.str("data.0.name") != want || r.num("pageSize") != 10 || len(r.at("data").([]any)) > 1 {
			t.Errorf("%s: %s", query, r.text)
		}
	}
	w.do("GET", "/api/bundles?status=GONE", "", as(w.ann)).wantField("status")
	w.do("POST", full+"/restore", "", as(w.ann)).want(201).shows("status", "ACTIVE")
	for _, size := range []string{"limit", "pageSize"} {
		r := w.do("GET", "/api/bundles?page=2&"+size+"=1", "", as(w.ann)).want(200)
		r.shows("data.0.name", "Spring", "total", 2, "totalPages", 2, "pageSize", 1)
	}

	w.do("DELETE", full, "", as(w.ann)).want(204)
	w.audited("BUNDLE_DELETED", "bundle", strings.TrimPrefix(full, "/api/bundles/"))
	w.do("GET", full, "", as(w.ann)).want(404)
	w.do("GET", "/api/urls/"+one, "", as(w.ann)).want(200)
	w.do("GET", spring, "", as(w.ann)).want(200)
}

func TestBundles_change_links(t *testing.T) {
	w, _ := newBundles(t, usual(t))
	a, b, c := w.create("aaa"), w.create("bbb"), w.create("ccc")
	id := w.do("POST", "/api/bundles", `{"name":"x"}`, as(w.ann)).want(201).str("id")
	path := "/api/bundles/" + id
	w.do("POST", path+"/urls", `{"urlId":"`+b+`"}`, as(w.ann)).want(201).has("", bundleNames...).holds("bbb")
	if row := w.audited("BUNDLE_UPDATED", "bundle", id); !strings.Contains(row.New.String, b) {
		t.Errorf("audit: %s", row.New.String)
	}
	w.unchanged("adding twice", func() { w.do("POST", path+"/urls", `{"urlId":"`+b+`"}`, as(w.ann)).want(409) })
	for body, field := range map[string]string{`{}`: "urlId", `{"urlId":null}`: "urlId", `{"urlId":""}`: "urlId", `{"urlId":1}`: "urlId",
		`{"urlId":"` + a + `","order":0}`: "order"} {
		w.do("POST", path+"/urls", body, as(w.ann)).wantField(field)
	}
	w.do("POST", path+"/urls", `{"urlId":"unknown"}`, as(w.ann)).want(404)

	w.unchanged("a batch with an unknown link", func() {
		w.do("POST", path+"/urls/batch", `{"urlIds":["`+a+`","unknown"]}`, as(w.ann)).want(404)
	})
	w.do("POST", path+"/urls/batch", fmt.Sprintf(`{"urlIds":[%q,%q,%q,%q]}`, c, b, a, c), as(w.ann)).want(201).
		has("", bundleNames...).holds("bbb ccc aaa")
	w.unchanged("a batch that is in", func() { w.do("POST", path+"/urls/batch", `{"urlIds":["`+a+`"]}`, as(w.ann)).want(201) })
	w.do("POST", path+"/urls/batch", `{"urlIds":[]}`, as(w.ann)).wantField("urlIds")
	w.do("POST", path+"/urls/batch", `{}`, as(w.ann)).wantField("urlIds")

	for _, m := range []struct {
		url   string
		order int
		want  string
	}{{a, 0, "aaa bbb ccc"}, {a, 1, "bbb aaa ccc"}, {b, 2, "aaa ccc bbb"}, {a, 99, "ccc bbb aaa"}, {b, 0, "bbb ccc aaa"}} {
		w.do("PATCH", path+"/urls/"+m.url+"/order", fmt.Sprintf(`{"order":%d}`, m.order), as(w.ann)).want(200).
			has("", bundleNames...).holds(m.want)
		w.audited("BUNDLE_UPDATED", "bundle", id)
	}
	w.unchanged("moving nowhere", func() { w.do("PATCH", path+"/urls/"+b+"/order", `{"order":0}`, as(w.ann)).want(200) })
	for _, body := range []string{`{}`, `{"order":-1}`, `{"order":null}`, `{"order":"1"}`, `{"order":1.5}`} {
		w.do("PATCH", path+"/urls/"+b+"/order", body, as(w.ann)).wantField("order")
	}
	w.do("PATCH", path+"/urls/unknown/order", `{"order":1}`, as(w.ann)).want(404)

	w.do("DELETE", path+"/urls/"+c, "", as(w.ann)).want(200).has("", bundleNames...).holds("bbb aaa")
	w.audited("BUNDLE_UPDATED", "bundle", id)
	w.do("DELETE", path+"/urls/"+c, "", as(w.ann)).want(404)
	w.do("GET", "/api/urls/"+c, "", as(w.ann)).want(200)
	w.do("DELETE", "/api/urls/"+b, "", as(w.ann)).want(204)
	w.do("GET", path, "", as(w.ann)).want(200).holds("aaa")
	w.do("DELETE", "/api/urls/bulk", `{"urlIds":["`+a+`"]}`, as(w.ann)).want(200)
	w.do("GET", path, "", as(w.ann)).want(200).holds("")
}

func TestBundles_belong_to_their_owners(t *testing.T) {
	w, _ := newBundles(t, usual(t))
	mine := w.create("mine")
	id := w.do("POST", "/api/bundles", `{"name":"x","urlIds":["`+mine+`"]}`, as(w.ann)).want(201).str("id")
	theirs := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"theirs"}`, as(w.bob)).want(201).str("id")
	path := "/api/bundles/" + id
	// An administrator sees and edits all bundles, but cannot put other users' links into a user's bundle.
	w.do("GET", "/api/bundles", "", as(w.root)).want(200).shows("total", 1)
	w.do("PUT", path, `{"name":"y"}`, as(w.root)).want(200)
	w.do("POST", path+"/urls", `{"urlId":"`+theirs+`"}`, as(w.root)).wantField("urlId")
	r := w.do("POST", "/api/bundles", `{"name":"all","urlIds":["`+theirs+`","`+mine+`"]}`, as(w.root)).want(201).holds("theirs mine")
	all := "/api/bundles/" + r.str("id")
	// Without the role they see only their own data.
	w.do("POST", "/api/users", `{"email":"second@example.com","password":"`+password+`","role":"ADMIN"}`, as(w.root)).want(201)
	second, _ := w.signIn("second@example.com")
	w.do("PATCH", "/api/users/"+w.rootID+"/role", `{"role":"USER"}`, as(second)).want(200)
	root, _ := w.signIn(adminMail)
	w.do("GET", all, "", as(root)).want(200).holds("")
}

func TestBundles_set_through_links(t *testing.T) {
	w, _ := newBundles(t, usual(t))
	bundle := func(name string) string {
		return w.do("POST", "/api/bundles", `{"name":"`+name+`"}`, as(w.ann)).want(201).str("id")
	}
	x, y := bundle("x"), bundle("y")
	hold := func(inX, inY string) {
		t.Helper()
		w.do("GET", "/api/bundles/"+x, "", as(w.ann)).want(200).holds(inX)
		w.do("GET", "/api/bundles/"+y, "", as(w.ann)).want(200).holds(inY)
	}
	foreign := w.do("POST", "/api/bundles", `{"name":"f"}`, as(w.bob)).want(201).str("id")
	create := func(slug, ids string) *reply {
		return w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com","customSlug":%q,"bundleIds":%s}`, slug, ids),
			as(w.ann))
	}
	a := create("aaa", fmt.Sprintf(`[%q,%q,%q]`, y, x, y)).want(201).str("id")
	w.audited("BUNDLE_UPDATED", "bundle", y)
	hold("aaa", "aaa")
	w.unchanged("a foreign bundle", func() { create("bbb", `["`+x+`","`+foreign+`"]`).wantField("bundleIds.1") })
	w.unchanged("too many bundles", func() { create("bbb", `[`+strings.Repeat(`"x",`, 100)+`"x"]`).wantField("bundleIds") })
	b := create("bbb", `["`+x+`"]`).want(201).str("id")
	create("ccc", `null`).want(201)

	// An update replaces the bundles.
	w.do("PUT", "/api/urls/"+a, `{"bundleIds":["`+x+`"]}`, as(w.ann)).want(200)
	hold("aaa bbb", "")
	w.unchanged("the same bundles", func() { w.do("PUT", "/api/urls/"+a, `{"bundleIds":["`+x+`"]}`, as(w.ann)).want(200) })
	w.do("PATCH", "/api/urls/"+a, `{"title":"t","bundleIds":[]}`, as(w.ann)).want(200)
	w.audited("BUNDLE_UPDATED", "bundle", x)
	hold("bbb", "")
	w.do("PATCH", "/api/urls/"+a, `{"bundleIds":["`+foreign+`"]}`, as(w.ann)).wantField("bundleIds.0")

	// A bulk operation adds bundles.
	for _, operation := range []string{`"operation":"bundle","value":"` + x + `"`, `"operation":{"type":"bundle","bundleId":"` + x + `"}`} {
		w.do("PATCH", "/api/urls/bulk", fmt.Sprintf(`{"urlIds":[%q,%q],%s}`, b, a, operation), as(w.ann)).want(200).
			has("", "updatedCount", "updatedIds", "message").shows("updatedCount", 2)
		hold("bbb aaa", "")
	}
	w.do("PATCH", "/api/urls/bulk", `{"urlIds":["`+a+`"],"operation":"bundle","value":"`+foreign+`"}`, as(w.ann)).want(404)
	w.do("PATCH", "/api/urls/bulk", `{"urlIds":["`+a+`","unknown"],"operation":"bundle","value":"`+y+`"}`, as(w.ann)).want(404)
	hold("bbb aaa", "")

	// Items of a bulk creation are independent of each other.
	w.do("POST", "/api/urls/bulk", fmt.Sprintf(`{"urls":[{"originalUrl":"https://e.com","customSlug":"m1","bundleIds":[%q]},{"originalUrl":"https://e.com","customSlug":"m2x","bundleIds":[%q]},
			{"originalUrl":"https://e.com","customSlug":"m3x","bundleIds":[%q,%q]},{"originalUrl":"https://e.com","customSlug":"m4x","bundleIds":[%q]}]}`, y, y, foreign, y, y), as(w.ann)).want(201).shows("successCount", 2, "failed.1.field", "bundleIds.0")
	hold("bbb aaa", "m2x m4x")
}

func TestBundles_stats(t *testing.T) {
	w, clicks := newBundles(t, usual(t))
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("%q", w.create(fmt.Sprintf("s%02d", i))))
	}
	w.exec(`UPDATE urls SET click_count = num`)
	empty := "/api/bundles/" + w.do("POST", "/api/bundles", `{"name":"empty"}`, as(w.ann)).want(201).str("id") + "/stats"
	id := w.do("POST", "/api/bundles", `{"name":"x","urlIds":[`+strings.Join(ids, ",")+`]}`, as(w.ann)).want(201).str("id")
	path := "/api/bundles/" + id + "/stats"
	clicks.lines = []analytics.Line{{Period: analytics.Period{Day: analytics.DayOn(2027, 3, 5)}, Clicks: 3},
		{Period: analytics.Period{Day: analytics.DayOn(2027, 3, 10)}, Clicks: 4}}
	r := w.do("GET", path, "", as(w.ann)).want(200).has("", "bundleId", "urlCount", "totalClicks", "topUrls", "topUrl", "clickTrend").
		has("topUrls.0", "id", "domain", "slug", "clickCount").has("clickTrend.0", "date", "clicks")
	r.shows("bundleId", id, "urlCount", 12, "totalClicks", 78, "topUrls.#", 10, "topUrls.0.slug", "s11", "topUrls.0.clickCount", 12)
	r.has("topUrl", "domain", "slug", "clicks").shows("topUrl.slug", "s11", "topUrl.clicks", 12)
	r.shows("clickTrend.#", 7, "clickTrend.0.date", "2027-03-04", "clickTrend.0.clicks", 0, "clickTrend.1.clicks", 3,
		"clickTrend.6.date", "2027-03-10", "clickTrend.6.clicks", 4)
	if q := clicks.query; len(q.Links) != 12 || q.Bots != analytics.People || q.Every != analytics.Days || q.To-q.From != 7*24*3600*1000 {
		t.Errorf("query %+v", q)
	}
	// In Tokyo the next day has begun.
	w.do("GET", path+"?timezone=Asia/Tokyo", "", as(w.ann)).want(200).shows("clickTrend.6.date", "2027-03-11", "clickTrend.5.clicks", 4)
	for _, zone := range []string{"Local", "Nowhere/Else", "../x"} {
		w.do("GET", path+"?timezone="+zone, "", as(w.ann)).wantField("timezone")
	}
	clicks.err = errors.New("no")
	w.do("GET", path, "", as(w.ann)).want(500)
	w.do("GET", empty, "", as(w.ann)).want(200).shows("urlCount", 0, "topUrls.#", 0, "topUrl", nil, "clickTrend.#", 7)
}

func TestBundles_change_at_the_same_time(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w, _ := newBundles(t, st)
		var ids []string
		for i := range 16 {
			ids = append(ids, w.create(fmt.Sprintf("s%02d", i)))
		}
		path := "/api/bundles/" + w.do("POST", "/api/bundles", `{"name":"x"}`, as(w.ann)).want(201).str("id")
		var wg sync.WaitGroup
		for i, id := range ids {
			wg.Go(func() {
				add := w.do("POST", path+"/urls", `{"urlId":"`+id+`"}`, as(w.ann))
				testkit.Equal(t, add.StatusCode, 201, "%s", add.text)
				move := w.do("PATCH", path+"/urls/"+id+"/order", fmt.Sprintf(`{"order":%d}`, i%3), as(w.ann))
				testkit.Equal(t, move.StatusCode, 200, "%s", move.text)
				if i%4 == 0 {
					testkit.Equal(t, w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).StatusCode, 204, "a deletion")
				}
			})
		}
		wg.Wait()
		testkit.Equal(t, len(strings.Fields(w.do("GET", path, "", as(w.ann)).want(200).inOrder())), 12, "links of the bundle")
	})
}

func TestBundles_hold_a_thousand_links(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), func(w *world, c *api.Config, deps *api.Deps) {
		withLinks(w, c, deps)
		deps.Bundles = bundles.New(w.store, &clickLines{}, nil)
	})
	var items []string
	for range bundles.MaxURLs {
		items = append(items, `{"originalUrl":"https://example.com"}`)
	}
	r := w.do("POST", "/api/urls/bulk", `{"urls":[`+strings.Join(items, ",")+`]}`, as(w.ann)).want(201)
	var ids []string
	for i := range bundles.MaxURLs {
		ids = append(ids, fmt.Sprintf("%q", r.str(fmt.Sprintf("succeeded.%d.url.id", i))))
	}
	path := "/api/bundles/" + w.do("POST", "/api/bundles", `{"name":"x","urlIds":[`+strings.Join(ids, ",")+`]}`, as(w.ann)).
		want(201).str("id")
	one := w.create("one")
	w.do("POST", path+"/urls", `{"urlId":"`+one+`"}`, as(w.ann)).wantField("urlId")
	w.do("POST", "/api/bundles", `{"name":"x","urlIds":["`+one+`",`+strings.Join(ids, ",")+`]}`, as(w.ann)).wantField("urlIds")
	w.do("GET", path, "", as(w.ann)).want(200).shows("urlCount", bundles.MaxURLs)
}

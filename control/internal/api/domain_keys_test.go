package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/store"
	visitors "github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// keyWorld is a leakWorld whose first workspace has links on a custom domain.
type keyWorld struct {
	*leakWorld
	host, key string // of the link "spring"; responses show host/spring, and never the key
	domain    uint64
	checked   int
	shown     int // responses that contain the address
}

// check fails the test if a text contains the key.
func (k *keyWorld) check(what, text string) {
	k.t.Helper()
	if k.key == "" {
		return
	}
	k.checked++
	if at := strings.Index(text, k.key); at >= 0 {
		k.t.Errorf("%s shows the key: …%s…", what, text[max(0, at-150):min(len(text), at+150)])
	}
	if strings.Contains(text, k.host+"/spring") {
		k.shown++
	}
}

// try sends a request of the workspace's owner and checks the response.
func (k *keyWorld) try(method, path, body string) *reply {
	k.t.Helper()
	r := k.do(method, path, body, k.a.callers["the OWNER"])
	k.check(r.what, r.text)
	return r
}

// live creates a link, changes it in every way, deletes and restores it, and returns its id.
func (k *keyWorld) live() string {
	m := k.a
	r := k.try("POST", "/api/domains", fmt.Sprintf(`{"hostname":%q,"isDefault":true}`, k.host)).want(201)
	domain := r.str("id")
	k.dns.Set(k.t, "_shortline."+k.host, fmt.Sprintf("TXT %q", r.str("records.0.value")))
	k.try("POST", "/api/domains/"+domain+"/verify", "").want(200).shows("status", "ACTIVE")
	d, err := k.store.DomainByID(k.t.Context(), domain)
	k.ok(err)
	k.domain, k.key = d.Num, link.Key(d.Num, "spring")
	hook := k.try("GET", "/api/webhooks/"+m.ids["webhook"], "").want(200).str("url")
	k.try("POST", "/api/webhooks",
		fmt.Sprintf(
			`{"name":"all","url":"%s/all","events":["url.created","url.updated",`+
				`"url.deleted","url.restored","url.clicked","routing.rule_created",`+
				`"routing.rule_updated","routing.rule_deleted","routing.rule_matched"]}`,
			strings.TrimSuffix(hook, "/"+m.marker))).want(201)

	id := k.try("POST", "/api/urls",
		`{"originalUrl":"https://example.com/","customSlug":"spring","externalId":"x-1","tags":["t"],"bundleIds":["`+m.ids["bundle"]+
			`"],"maxClicks":1000}`).want(201).str("id")
	path := "/api/urls/" + id
	k.try("PUT", "/api/urls/by-external-id/x-1", `{"title":"A title"}`).want(200)
	k.try("PUT", "/api/urls/by-external-id/x-1", `{"customSlug":"other"}`).want(400).says(k.host + "/spring")
	for what, r := range map[string]*reply{
		"a slug that is taken": k.try("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"spring"}`).want(409),
		"in bulk": k.try("POST", "/api/urls/bulk",
			`{"urls":[{"originalUrl":"https://example.com/","customSlug":"spring"},{"originalUrl":"https://example.com/","customSlug":"summer"}]}`).
			want(201),
		"a transfer": k.try("POST", "/api/urls/transfer", fmt.Sprintf(`{"urlIds":[%q],"workspaceId":%q}`, id, k.b.workspace)).want(409),
	} {
		if !strings.Contains(r.text, k.host) {
			k.t.Errorf("%s: %s", what, r.text)
		}
	}
	m.ids["variant"] = k.try("POST", path+"/variants", `{"name":"V","targetUrl":"https://v.example/"}`).want(201).str("id")
	m.ids["rule"] = k.try("POST", path+"/routing-rules", ruleBody("R", formA)).want(201).str("id")
	k.try("PATCH", path, `{"isABTesting":true,"title":"Another"}`).want(200)
	history := k.try("GET", path+"/history", "").want(200)
	k.try("POST", path+"/rollback", fmt.Sprintf(`{"revision":%v}`, history.at("data.2.revision"))).want(200)
	k.try("PATCH", path, `{"isABTesting":true}`)
	for range 3 {
		k.clickIn(m, id)
	}
	for _, r := range []*reply{k.do("POST", path+"/suspend", `{"reason":"Spam"}`, as(k.root)).want(200),
		k.do("DELETE", path+"/suspend", "", as(k.root)).want(204)} {
		k.check(r.what, r.text)
	}
	k.ok(abuse.New(abuse.Config{}, k.store).Accept(k.t.Context(), visitors.Report{Link: k.row(id).Num, Reason: "SPAM"}))
	list, _, err := k.store.Cases(k.t.Context(), store.CaseFilter{URLID: id, Limit: 1})
	k.ok(err)
	m.ids["report"] = list[0].ID
	k.ok(k.store.Tx(k.t.Context(), func(tx *store.Tx) error {
		return tx.CountMissing(k.t.Context(), "e", "r", 1, presence.Day(time.Now()), time.Now().UnixMilli(),
			[]store.Missing{{Domain: d.Num, Slug: "spring-2", Count: 7}})
	}))
	_, err = presence.New(presence.Config{}, k.store).Report(k.t.Context(), snapshot.Status{Edge: "a", Run: "r1", SetAside: []string{k.key},
		SetAsideReasons: map[string]string{k.key: "no such type"}})
	k.ok(err)
	if r := k.do("GET", "/api/edges", "", as(k.root)).want(200); r.str("edges.0.setAside.0.domain") != k.host ||
		r.str("edges.0.setAside.0.slug") != "spring" || r.str("edges.0.setAside.0.reason") == "" {
		k.t.Errorf("edges: %s", r.text)
	}
	k.try("DELETE", path, "").want(204)
	k.check("the report of a deleted link", k.do("GET", "/api/admin/reports", "", as(k.root)).want(200).text)
	k.try("GET", "/api/urls?status=DELETED", "").want(200)
	k.restore(path, domain, d)
	return id
}

// restore brings the link back, also after its domain has failed and with another one.
func (k *keyWorld) restore(path, domain string, d store.Domain) {
	fail := func(status string) {
		k.ok(k.store.Tx(k.t.Context(), func(tx *store.Tx) error {
			d.Status = status
			if err := tx.UpdateDomain(k.t.Context(), &d); err != nil {
				return err
			}
			return tx.TouchDomain(k.t.Context(), &d)
		}))
	}
	refused := func(what string) {
		k.t.Helper()
		r := k.try("POST", path+"/restore", `{}`).want(409)
		if r.str("errors.0.field") != "domain" || !strings.Contains(r.str("errors.0.message"), k.host) {
			k.t.Errorf("%s: %s", what, r.text)
		}
	}
	fail(store.DomainFailed)
	refused("the domain failed")
	fail(store.DomainActive)
	k.try("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"spring"}`).want(201)
	k.try("POST", path+"/restore", `{}`).want(409).shows("errors.0.field", "slug").says(k.host + "/spring")
	for _, wrong := range []string{`"none.example.com"`, `"https://` + k.host + `"`} {
		k.try("POST", path+"/restore", `{"domain":`+wrong+`}`).wantField("domain")
	}
	k.try("POST", path+"/restore", `{"domain":null}`).want(200).shows("shortUrl", "https://sho.rt/spring")
	k.try("DELETE", path, "").want(204)
	k.try("POST", path+"/restore", `{"domain":"`+k.host+`","slug":"spring-1"}`).want(200).shows("shortUrl", "https://"+k.host+"/spring-1")
}

// No response, file, webhook or stream shows the key by which edges find a link on a custom domain.
func TestKeys_of_links_on_custom_domains_stay_internal(t *testing.T) {
	l := newLeakWorld(t, usual(t))
	l.t = t
	k := &keyWorld{leakWorld: l, host: "go.example.com"}
	m := l.a
	m.ids["url"] = k.live()
	fill := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(p string) string { return m.id(strings.Trim(p, "{}")) })
	}
	for _, r := range append(table(t), moreRows...) {
		if r.method != "GET" && !strings.Contains(r.path, "/explain") && !strings.HasSuffix(r.path, "/info") {
			continue
		}
		for _, caller := range []option{m.callers["the OWNER"], as(l.root)} {
			got := l.do(r.method, fill(r.path), fill(r.body), caller)
			k.check(got.what, got.text)
		}
	}
	for _, path := range []string{"/api/urls?limit=100", "/api/urls?search=spring&sortBy=slug", "/api/urls?domain=" + k.host,
		"/api/urls/export", "/api/urls/export?format=json", "/api/audit-logs?limit=100", "/api/analytics/groups?by=domain",
		"/api/analytics/export?includeClicks=true", "/api/analytics/urls/" + m.ids["url"] + "/export?format=json&includeClicks=true",
		"/api/analytics/top-urls", "/api/analytics/missing", "/api/webhooks/" + m.ids["webhook"] + "/logs?limit=100",
		"/api/bundles/" + m.ids["bundle"] + "/stats", "/api/analytics/overview?domain=" + k.host} {
		k.try("GET", path, "").want(200)
	}
	k.streams()
	k.hooked()
	k.figures()
	t.Logf("%d texts, %d with the address", k.checked, k.shown)
	if k.shown < 25 {
		t.Errorf("only %d of %d texts show the address, so the test could not find a key", k.shown, k.checked)
	}
}

// streams checks the live feed.
func (k *keyWorld) streams() {
	k.t.Helper()
	server := httptest.NewServer(k.server.Handler())
	k.t.Cleanup(server.CloseClientConnections)
	lw := &liveWorld{clickWorld: k.clickWorld, url: server.URL}
	events, _ := lw.listenAs("", k.a.callers["the OWNER"])
	k.clickIn(k.a, k.a.ids["url"])
	testkit.Eventually(k.t, "the click is in the live feed", func() bool {
		select {
		case e := <-events:
			k.check("the live feed", e.data)
			return strings.Contains(e.data, `"domain":"`+k.host+`"`) && strings.Contains(e.data, `"shortUrl":"https://`+k.host+`/spring-1"`)
		default:
			return false
		}
	})
}

// hooked checks the bodies of all webhook deliveries.
func (k *keyWorld) hooked() {
	k.t.Helper()
	missing := map[string]bool{}
	for _, event := range []string{"url.created", "url.updated", "url.deleted", "url.restored", "url.clicked"} {
		missing[event] = true
	}
	testkit.Eventually(k.t, "every event with the address is delivered", func() bool {
		k.mu.Lock()
		bodies := append([]string{}, k.delivered["/all"]...)
		k.mu.Unlock()
		for _, body := range bodies {
			k.check("a webhook", body)
			for event := range missing {
				if strings.Contains(body, `"event":"`+event+`"`) &&
					strings.Contains(body, `"domain":"`+k.host+`","shortUrl":"https://`+k.host+
						`/spring`) {
					delete(missing, event)
				}
			}
		}
		return len(missing) == 0
	})
}

// figures checks reports by domain, also after a link was deleted for good.
func (k *keyWorld) figures() {
	k.t.Helper()
	clicks := func(domain string) float64 {
		k.t.Helper()
		// With a limit, because the cache may have earlier reports without.
		return k.try("GET", "/api/analytics/overview?limit=7&domain="+domain, "").want(200).num("totalClicks")
	}
	all := k.try("GET", "/api/analytics/overview?limit=7", "").want(200).num("totalClicks")
	for range 2 {
		if on, off := clicks(k.host), clicks("sho.rt"); on != 4 || off != all-4 || clicks("none.example.com") != 0 {
			k.t.Errorf("%v clicks on the domain and %v on the host of the service, of %v", on, off, all)
		}
		r := k.try("GET", "/api/analytics/groups?by=domain", "").want(200)
		found := map[string]float64{}
		for i := range r.at("groups").([]any) {
			found[r.str(fmt.Sprintf("groups.%d.name", i))] = r.num(fmt.Sprintf("groups.%d.clicks", i))
		}
		if found[k.host] != 4 || found["sho.rt"]+found[""] != all-4 || r.num("totalClicks") != all {
			k.t.Errorf("by domain: %s", r.text)
		}
		k.do("DELETE", "/api/urls/"+k.a.ids["url"]+"?permanently=true", "", k.a.callers["the OWNER"])
	}
}

// E-mails name a link by its domain and its slug.
func TestKeys_of_links_on_custom_domains_are_not_sent_by_email(t *testing.T) {
	w := newTold(t, usual(t))
	team := w.newTeam("Acme")
	w.join(team, w.bobID, "EDITOR")
	d := store.Domain{ID: store.NewID(), Hostname: "go.example.com", Status: store.DomainActive, Token: "x", CreatedAt: 1, UpdatedAt: 1}
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		if err := tx.Row(t.Context(), `SELECT num FROM workspaces WHERE id = ?`, team).Scan(&d.Workspace); err != nil {
			return err
		}
		_, err := tx.InsertDomain(t.Context(), &d)
		return err
	}))
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"spring","domain":"go.example.com"}`, as(w.bob),
		within(team)).want(201).str("id")
	w.do("POST", "/api/urls/"+id+"/suspend", `{"reason":"Spam"}`, as(w.root)).want(200)
	for _, to := range []string{userMail, otherMail} {
		m := w.Wait(t, to)
		if text := m.Subject + m.Text; !strings.Contains(text, "go.example.com/spring") ||
			strings.Contains(text, link.Key(d.Num, "spring")) {
			t.Errorf("%s gets %q:\n%s", to, m.Subject, m.Text)
		}
	}
}

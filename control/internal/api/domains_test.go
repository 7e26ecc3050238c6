package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/store"
	visitors "github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/mailtest"
)

// domainsFor returns the use cases of domains, which ask a DNS server of the test.
func domainsFor(w *world) (*domains.Service, *dnstest.Server) {
	w.t.Helper()
	server := dnstest.New(w.t)
	checker, err := dnscheck.New(dnscheck.Config{Resolvers: []string{server.Addr}})
	w.ok(err)
	return domains.New(domains.Config{Checker: checker, Targets: dnscheck.Targets{Hostname: "edge.sho.rt"},
		Names: hostname.Policy{Own: []string{"sho.rt"}}, Destinations: link.Policy{Hosts: []string{"sho.rt"}}}, w.store), server
}

func TestDomains(t *testing.T) {
	w := small(t, whole)
	r := w.do("POST", "/api/domains", `{"hostname":"Go.Bücher.example.com","rootUrl":"https://example.com","isDefault":true}`,
		as(w.ann)).want(201)
	r.has("", "id", "hostname", "displayName", "workspaceId", "status", "suspendReason", "records", "certificate", "rootUrl", "notFoundUrl",
		"expiredUrl", "hsts", "brandName", "brandLogoUrl", "appLinks", "caseSensitive", "slugs", "minSlugLength", "isDefault", "urlCount",
		"checkedAt", "createdAt", "updatedAt")
	name, path := "go.xn--bcher-kva.example.com", "/api/domains/"+r.str("id")
	r.shows("hostname", name, "displayName", "go.bücher.example.com", "status", "PENDING", "records.0.name", "_shortline."+name,
		"records.1.type", "CNAME", "records.1.value", "edge.sho.rt")
	w.dns.Set(t, "_shortline."+name, fmt.Sprintf("TXT %q", r.str("records.0.value")))
	w.dns.Set(t, name, "CNAME edge.sho.rt.")
	w.dns.Set(t, "edge.sho.rt", "A 198.51.100.1")
	w.do("POST", path+"/verify", "", as(w.ann)).want(200).shows("status", "ACTIVE", "records.0.found", true, "records.1.found", true)
	w.unchanged("bad input", func() {
		for hostname, reason := range map[string]string{"https://x.example.com": "scheme", "sho.rt": "this service itself"} {
			r := w.do("POST", "/api/domains", fmt.Sprintf(`{"hostname":%q}`, hostname), as(w.ann)).wantField("hostname")
			if !strings.Contains(r.str("errors.0.message"), reason) {
				t.Errorf("%q: %s, want %q", hostname, r.str("errors.0.message"), reason)
			}
		}
		w.do("POST", "/api/domains", `{}`, as(w.ann)).wantField("hostname")
		w.do("POST", "/api/domains", `{"hostname":"`+name+`"}`, as(w.ann)).want(409)
		w.do("POST", "/api/domains", `{"hostname":"`+name+`"}`, as(w.bob)).want(409)
		w.do("PUT", path, `{"hsts":-1}`, as(w.ann)).wantField("hsts")
		for _, name := range []string{strings.Repeat("é", 61), "two\\nlines"} {
			w.do("PUT", path, `{"brandName":"`+name+`"}`, as(w.ann)).wantField("brandName")
		}
		for _, logo := range []string{"http://example.com/logo.png", "/logo.png", "data:image/png;base64,AA", "https://",
			"https://user@example.com/x.png", "https://a;script-src/x.png", "https://*", "https://*/logo.png", "https://*.example.com/logo.png",
			// A star would stand for every host in a content security policy.
			"https://example.com/" + strings.Repeat("x", 2048)} {
			w.do("PUT", path, fmt.Sprintf(`{"brandLogoUrl":%q}`, logo), as(w.ann)).wantField("brandLogoUrl")
		}
		w.do("PUT", path, `{"notFoundUrl":"https://`+name+`/x"}`, as(w.ann)).wantField("notFoundUrl")
		w.do("PUT", path, `{"hostname":"other.example.com"}`, as(w.ann)).want(400)
		for body, field := range map[string]string{
			`{"appLinks":{"apple":[]}}`: "appLinks.apple", `{"appLinks":{"apple":"{}"}}`: "appLinks.apple",
			`{"appLinks":{"android":{}}}`: "appLinks.android",
			`{"appLinks":{"other":{}}}`:   "appLinks.other", `{"appLinks":{"android":["` + strings.Repeat("x", 16<<10) + `"]}}`: "appLinks",
		} {
			w.do("PUT", path, body, as(w.ann)).wantField(field)
		}
	})
	w.do("PUT", path, `{"rootUrl":null,"hsts":300,"brandLogoUrl":"https://example.com/logo.png"}`, as(w.ann)).want(200).shows("rootUrl", nil, "hsts", 300, "isDefault", true)
	// Files for apps are kept apart from each other.
	w.do("PUT", path, `{"appLinks":{"apple": {"applinks": {"details": []}}, "android": [ {"relation": []} ]}}`, as(w.ann)).want(200).
		says(`"appLinks":{"apple":{"applinks":{"details":[]}},"android":[{"relation":[]}]}`)
	w.do("PUT", path, `{"appLinks":{"apple":null}}`, as(w.ann)).want(200).says(`"appLinks":{"apple":null,"android":[{"relation":[]}]}`)
	w.do("PUT", path, `{"appLinks":null}`, as(w.ann)).want(200).shows("appLinks.android", nil)
	w.do("GET", "/api/domains?search=BCHER", "", as(w.ann)).want(200).shows("total", 1, "data.0.hostname", name)
	w.do("GET", "/api/audit-logs?entityType=domain&userId="+w.annID, "", as(w.root)).want(200).shows("total", 6)
}

func TestDomains_have_links_of_their_own(t *testing.T) {
	w := small(t, whole)
	one := w.do("POST", "/api/domains", `{"hostname":"one.example.com"}`, as(w.ann)).want(201).str("id")
	w.do("POST", "/api/domains", `{"hostname":"two.example.com","isDefault":true}`, as(w.ann)).want(201)
	create := func(fields, want string) string {
		t.Helper()
		r := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"spring"`+fields+`}`, as(w.ann)).want(201)
		if r.str("shortUrl") != want || r.str("slug") != "spring" || "https://"+r.str("domain")+"/spring" != want {
			t.Errorf("created with %q: %s", fields, r.text)
		}
		return r.str("id")
	}
	id := create(`,"domain":"ONE.example.com"`, "https://one.example.com/spring")
	create(``, "https://two.example.com/spring")
	create(`,"domain":null`, "https://sho.rt/spring")
	w.unchanged("bad input", func() {
		for _, domain := range []string{"three.example.com", "one.example.com/x", "https://one.example.com", "-", " - "} {
			w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com","domain":%q}`, domain), as(w.ann)).
				wantField("domain")
		}
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","domain":"one.example.com"}`, as(w.bob)).wantField("domain")
		for _, domain := range []string{`"one.example.com"`, `"two.example.com"`, `""`} {
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"spring","domain":`+domain+`}`,
				as(w.ann)).want(409)
		}
		w.do("DELETE", "/api/domains/"+one, "", as(w.ann)).want(409)
	})
	w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("shortUrl", "https://one.example.com/spring")
	r := w.do("POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://example.com/a","customSlug":"autumn","domain":"one.example.com"},
			{"originalUrl":"https://example.com/b","customSlug":"autumn"},{"originalUrl":"https://example.com/c","customSlug":"autumn","domain":"none.example.com"},
			{"originalUrl":"https://example.com/d","customSlug":"autumn","domain":""},{"originalUrl":"https://example.com/e","customSlug":"autumn","domain":"two.example.com"}]}`, as(w.ann)).want(201)
	r.shows("successCount", 3, "failed.0.field", "domain", "failed.1.field", "customSlug")
	w.do("GET", "/api/domains/"+one, "", as(w.ann)).want(200).shows("urlCount", 2)
}

// served returns the host names that edges serve.
func (w *world) served() (names []string) {
	w.t.Helper()
	list, _, err := w.store.HostsAfter(w.t.Context(), 0, true)
	w.ok(err)
	for i := range list {
		names = append(names, list[i].Hostname)
	}
	return names
}

// A domain goes with its workspace: with the links to another one, or out of service.
func TestDomains_of_a_deleted_workspace(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		for _, fate := range []string{"move", "delete"} {
			team := w.do("POST", "/api/workspaces", `{"name":"`+fate+`"}`, as(w.ann)).want(201).str("id")
			there := func(req *http.Request) { as(w.ann)(req); req.Header.Set("X-Workspace", team) }
			name := fate + ".example.com"
			r := w.do("POST", "/api/domains", `{"hostname":"`+name+`"}`, there).want(201)
			w.dns.Set(t, "_shortline."+name, fmt.Sprintf("TXT %q", r.str("records.0.value")))
			w.do("POST", "/api/domains/"+r.str("id")+"/verify", "", there).want(200)
			id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","domain":"`+name+`"}`, there).want(201).str("id")
			w.unchanged("a transfer", func() {
				w.do("POST", "/api/urls/transfer", fmt.Sprintf(`{"urlIds":[%q],"workspaceId":%q}`, id, w.annID), there).want(409)
			})
			if list := w.served(); !slices.Contains(list, name) {
				t.Fatalf("served: %v", list)
			}
			if fate == "delete" {
				w.do("DELETE", "/api/workspaces/"+team+"?deleteLinks=true", "", there).want(204)
				if list := w.served(); slices.Contains(list, name) {
					t.Errorf("served after the deletion: %v", list)
				}
				continue
			}
			home := w.do("GET", "/api/workspaces", "", as(w.ann)).want(200).str("data.0.id")
			w.do("POST", "/api/domains", `{"hostname":"`+name+`"}`, as(w.ann)).want(409)
			w.do("DELETE", "/api/workspaces/"+team+"?transferTo="+home, "", there).want(204)
			w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("domain", name)
			if r := w.do("GET", "/api/domains?search="+name, "", as(w.ann)).want(200); r.num("total") != 1 ||
				!slices.Contains(w.served(), name) {
				t.Errorf("the domain: %s, served %v", r.text, w.served())
			}
		}
	})
}

// Explain answers as an edge does for the domain of the link.
func TestExplain_on_custom_domains(t *testing.T) {
	w := small(t, whole)
	const name = "go.example.com"
	r := w.do("POST", "/api/domains", `{"hostname":"`+name+
		`","notFoundUrl":"https://example.com/lost","expiredUrl":"https://example.com/over"}`, as(w.ann)).want(201)
	domain, proof := "/api/domains/"+r.str("id"), r.str("records.0.value")
	create := func(fields string) string {
		return w.do("POST", "/api/urls", `{"domain":"`+name+`",`+fields+`}`, as(w.ann)).want(201).str("id")
	}
	plain, own, loop := create(`"originalUrl":"https://example.com/x"`),
		create(`"originalUrl":"https://example.com/x","expiredUrl":"https://example.com/own"`),
		create(`"originalUrl":"https://GO.example.com:8080/x"`)
	later := create(`"originalUrl":"https://example.com/x","startsAt":"2099-01-01T00:00:00.000Z"`)
	explain := func(id, visit, outcome string, status float64) {
		t.Helper()
		w.do("POST", "/api/urls/"+id+"/explain", visit, as(w.ann)).want(200).shows("outcome", outcome, "status", status)
	}
	explain(plain, `{}`, "ABSENT", 404)
	w.dns.Set(t, "_shortline."+name, fmt.Sprintf("TXT %q", proof))
	w.do("POST", domain+"/verify", "", as(w.ann)).want(200)
	explain(plain, `{}`, "REDIRECT", 302)
	explain(loop, `{}`, "LOOP", 508)
	explain(later, `{}`, "ABSENT", 302)
	for _, id := range []string{plain, own} {
		w.do("PATCH", "/api/urls/"+id, `{"expiresAt":"2030-01-01T00:00:00.000Z"}`, as(w.ann)).want(200)
		explain(id, `{"time":"2031-01-01T00:00:00.000Z"}`, "ENDED", 302)
	}
	w.do("PUT", domain, `{"notFoundUrl":null,"expiredUrl":null}`, as(w.ann)).want(200)
	explain(later, `{}`, "ABSENT", 404)
	explain(plain, `{"time":"2031-01-01T00:00:00.000Z"}`, "GONE", 410)
	explain(own, `{"time":"2031-01-01T00:00:00.000Z"}`, "ENDED", 302)
}

// internal fails the test if a text contains a key by which edges find a link on a custom domain. Texts show the domain and the slug.
func (l *leakWorld) internal(what, text string) {
	l.t.Helper()
	for _, m := range []*marked{l.a, l.b} {
		if m == nil || m.key == "" {
			continue
		}
		if at := strings.Index(text, m.key); at >= 0 {
			l.t.Errorf("%s shows the key: …%s…", what, text[max(0, at-150):min(len(text), at+150)])
		}
		if strings.Contains(text, m.host+"/"+m.slugOf) {
			l.addressed++
		}
	}
}

// changes changes the link on a custom domain of a workspace in every way. Each response names it by its domain and its slug.
func (l *leakWorld) changes(m *marked) {
	l.t.Helper()
	path, address := "/api/urls/"+m.ids["url"], m.host+"/"+m.slugOf
	taken := fmt.Sprintf(`"originalUrl":"https://example.com/","domain":%q,"customSlug":%q`, m.host, m.slugOf)
	steps := func(list ...[5]any) {
		l.t.Helper()
		for _, c := range list {
			l.ask(c[0].(string), c[1].(string), c[2].(string), m.callers["the OWNER"]).want(c[3].(int)).says(c[4].(string))
		}
	}
	steps([5]any{"PATCH", path, `{"externalId":"x-1","maxClicks":1000}`, 200, address},
		[5]any{"PUT", "/api/urls/by-external-id/x-1", `{"title":"A title"}`, 200, address},
		[5]any{"PUT", "/api/urls/by-external-id/x-1", `{"customSlug":"other"}`, 400, address},
		[5]any{"POST", "/api/urls", `{` + taken + `}`, 409, m.host},
		[5]any{"POST", "/api/urls/bulk", `{"urls":[{` + taken + `},{"originalUrl":"https://example.com/","domain":"` + m.host + `"}]}`,
			201, m.host},
		[5]any{"POST", "/api/urls/transfer", fmt.Sprintf(`{"urlIds":[%q],"workspaceId":%q}`, m.ids["url"], l.b.workspace), 409, m.host},
		[5]any{"POST", path + "/duplicate", fmt.Sprintf(`{"domain":%q}`, m.host), 201, m.host},
		[5]any{"GET", path + "/history", "", 200, ""})
	revision := l.ask("GET", path+"/history", "", m.callers["the OWNER"]).at("data.1.revision")
	steps([5]any{"POST", path + "/rollback", fmt.Sprintf(`{"revision":%v}`, revision), 200, address})

	d, err := l.store.DomainByID(l.t.Context(), m.ids["domain"])
	l.ok(err)
	for _, r := range []*reply{l.ask("POST", path+"/suspend", `{"reason":"Spam"}`, as(l.root)).want(200),
		l.ask("DELETE", path+"/suspend", "", as(l.root)).want(204)} {
		l.internal(r.what, r.text)
	}
	l.ok(abuse.New(abuse.Config{}, l.store).Accept(l.t.Context(), visitors.Report{Link: l.row(m.ids["url"]).Num, Reason: "SPAM"}))
	l.ok(l.store.Tx(l.t.Context(), func(tx *store.Tx) error {
		return tx.CountMissing(l.t.Context(), "e", "r", 1, presence.Day(time.Now()), time.Now().UnixMilli(),
			[]store.Missing{{Domain: d.Num, Slug: "spring-2", Count: 7}})
	}))
	_, err = presence.New(presence.Config{}, l.store).Report(l.t.Context(), snapshot.Status{Edge: "a", Run: "r1", SetAside: []string{m.key},
		SetAsideReasons: map[string]string{m.key: "no such type"}})
	l.ok(err)
	l.ask("GET", "/api/edges", "", as(l.root)).want(200).
		shows("edges.0.setAside.0.domain", m.host, "edges.0.setAside.0.slug", m.slugOf, "edges.0.setAside.0.reason", "no such type")
	steps([5]any{"GET", "/api/analytics/missing", "", 200, m.host}, [5]any{"DELETE", path, "", 204, ""},
		[5]any{"GET", "/api/urls?status=DELETED", "", 200, address})

	// The link comes back only to a domain in service, and to an address that is free.
	status := func(status string) {
		l.ok(l.store.Tx(l.t.Context(), func(tx *store.Tx) error {
			d.Status = status
			if err := tx.UpdateDomain(l.t.Context(), &d); err != nil {
				return err
			}
			return tx.TouchDomain(l.t.Context(), &d)
		}))
	}
	status(store.DomainFailed)
	l.ask("POST", path+"/restore", `{}`, m.callers["the OWNER"]).want(409).shows("errors.0.field", "domain").says(m.host)
	status(store.DomainActive)
	steps([5]any{"POST", "/api/urls", `{` + taken + `}`, 201, address}, [5]any{"POST", path + "/restore", `{}`, 409, address},
		[5]any{"POST", path + "/restore", `{"domain":"none.example.com"}`, 400, "domain"},
		[5]any{"POST", path + "/restore", `{"domain":"https://` + m.host + `"}`, 400, "domain"},
		[5]any{"POST", path + "/restore", `{"domain":null}`, 200, "https://sho.rt/" + m.slugOf}, [5]any{"DELETE", path, "", 204, ""},
		[5]any{"POST", path + "/restore", `{"domain":"` + m.host + `","slug":"` + m.slugOf + `-1"}`, 200, "https://" + address + "-1"},
		[5]any{"GET", "/api/bundles/" + m.ids["bundle"] + "/stats", "", 200, ""},
		[5]any{"GET", "/api/urls/export?format=json", "", 200, address})
	for _, path := range []string{"/api/admin/reports", "/api/audit-logs?limit=100"} {
		l.ask("GET", path, "", as(l.root)).want(200)
	}
	on := func(domain string) float64 {
		return l.ask("GET", "/api/analytics/overview?limit=7&domain="+domain, "", m.callers["the OWNER"]).want(200).num("totalClicks")
	}
	here := on(m.host)
	r := l.ask("GET", "/api/analytics/groups?by=domain", "", m.callers["the OWNER"]).want(200)
	group := slices.IndexFunc(r.at("groups").([]any), func(g any) bool { return g.(map[string]any)["name"] == m.host })
	r.shows(fmt.Sprintf("groups.%d.clicks", group), here)
	l.ask("DELETE", path, "", m.callers["the OWNER"]).want(204)
	steps([5]any{"DELETE", path + "?permanently=true", "", 204, ""})
	if now := on(m.host); now != here || here == 0 || on("none.example.com") != 0 {
		l.t.Errorf("%v clicks on the domain before a deletion, %v afterwards", here, now)
	}
}

// E-mails name a link by its domain and its slug.
func TestKeys_of_links_on_custom_domains_are_not_sent_by_email(t *testing.T) {
	w := newScreened(t, usual(t), nil, mailtest.Start(t))
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
		m := w.mails.Wait(t, to)
		if text := m.Subject + m.Text; !strings.Contains(text, "go.example.com/spring") ||
			strings.Contains(text, link.Key(d.Num, "spring")) {
			t.Errorf("%s gets %q:\n%s", to, m.Subject, m.Text)
		}
	}
}

package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/shared/link"
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
		"expiredUrl", "hsts", "brandName", "brandLogoUrl", "appLinks", "isDefault", "urlCount", "checkedAt", "createdAt", "updatedAt")
	name, path := "go.xn--bcher-kva.example.com", "/api/domains/"+r.str("id")
	r.shows("hostname", name, "displayName", "go.bücher.example.com", "status", "PENDING", "records.0.name", "_shortline."+name,
		"records.1.type", "CNAME", "records.1.value", "edge.sho.rt")
	w.dns.Set(t, "_shortline."+name, fmt.Sprintf("TXT %q", r.str("records.0.value")))
	w.dns.Set(t, name, "CNAME edge.sho.rt.")
	w.dns.Set(t, "edge.sho.rt", "A 198.51.100.1")
	w.do("POST", path+"/verify", "", as(w.ann)).want(200).shows("status", "ACTIVE", "records.0.found", true, "records.1.found", true)
	w.unchanged("bad input", func() {
		for hostname, reason := range map[string]string{
			"": "empty", "https://x.example.com": "scheme", "x.example.com:8443": "port", "x.example.com/path": "path",
			"*.example.com": "wildcard",
			"sho.rt":        "this service itself",
			"10.0.0.1":      "IP address", "[2001:db8::1]": "IP address", "2130706433": "IP address", "localhost": ".localhost",
			"co.uk":                            "public suffix",
			"github.io":                        "public suffix",
			strings.Repeat("a.", 125) + "coms": "253", "p\u0430ypal.com": "several scripts",
		} {
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
			"https://user@example.com/x.png", "https://a;script-src/x.png", "https://example.com/" + strings.Repeat("x", 2048)} {
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
		for _, c := range [][2]string{{"GET", path}, {"PUT", path}, {"DELETE", path}, {"POST", path + "/verify"}} {
			w.do(c[0], c[1], map[bool]string{true: `{}`}[c[0] == "PUT"], as(w.bob)).want(404)
		}
	})
	w.do("PUT", path, `{"rootUrl":null,"hsts":300}`, as(w.ann)).want(200).shows("rootUrl", nil, "hsts", 300, "isDefault", true)
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

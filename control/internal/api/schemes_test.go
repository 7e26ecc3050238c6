package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"golang.org/x/crypto/bcrypt"
)

// withSchemes makes a world whose operator allows long destinations and other schemes.
func withSchemes(w *world, c *api.Config, deps *api.Deps) {
	whole(w, c, deps)
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	w.ok(err)
	policy := link.Policy{Hosts: []string{"sho.rt"}, MaxBytes: link.MaxDestination,
		Schemes: []string{"http", "https", "mailto", "tel", "myapp", "intent"}}
	screen := links.WithoutLoops(w.store, nil)
	deps.Links = links.New(links.Config{BaseURL: baseURL, Destinations: policy, Screen: screen}, w.store, passwords)
	deps.Routing = routing.New(policy, w.store).Screening(screen)
	deps.Imports = imports.New(imports.Config{PerWorkspace: 1000, Logger: c.Logger}, w.store, deps.Links)
	w.imports = deps.Imports
}

// everyDestination sends a destination in each request that can store one, and calls f with the reply and the field.
func (w *world) everyDestination(id, url string, f func(r *reply, field string)) {
	w.t.Helper()
	quoted, err := json.Marshal(url)
	w.ok(err)
	rule := `{"name":"r","targetUrl":` + string(quoted) + `,"conditions":` + onPhone + `}`
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/api/urls", `{"originalUrl":%s}`, "originalUrl"},
		{"POST", "/api/urls", `{"originalUrl":"https://example.com/","expiredUrl":%s}`, "expiredUrl"},
		{"PATCH", "/api/urls/" + id, `{"originalUrl":%s}`, "originalUrl"},
		{"PATCH", "/api/urls/" + id, `{"expiredUrl":%s}`, "expiredUrl"},
		{"PATCH", "/api/urls/" + id + "/routing-rules/settings", `{"defaultUrl":%s}`, "defaultUrl"},
		{"POST", "/api/urls/" + id + "/variants", `{"name":"v","targetUrl":%s,"weight":1}`, "targetUrl"},
		{"POST", "/api/urls/" + id + "/routing-rules", "", "targetUrl"},
	} {
		body := rule
		if c.body != "" {
			body = fmt.Sprintf(c.body, quoted)
		}
		f(w.do(c.method, c.path, body, as(w.ann)), c.field)
	}
}

const onPhone = `{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}`

// Destinations of the greatest length and with other schemes are stored by every way, and come back as they were.
func TestDestinations_long_and_with_other_schemes(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		long := "https://example.com/?q="
		long += strings.Repeat("x", link.MaxDestination-len(long))
		for i, url := range []string{long, "mailto:a@example.com?subject=x", "tel:+15550123", "myapp://open?x=1",
			"intent://x#Intent;scheme=myapp;S.browser_fallback_url=https%3A%2F%2Fexample.com%2F;end"} {
			id := w.create(fmt.Sprint("link", i))
			w.everyDestination(id, url, func(r *reply, field string) {
				t.Helper()
				if r.StatusCode/100 != 2 {
					t.Fatalf("%.60s: %d %.300s", url, r.StatusCode, r.text)
				}
				if got := r.str(field); got != url && r.str("url."+field) != url {
					t.Errorf("%.60s became %.60s in %s", url, got, r.what)
				}
			})
			w.do("POST", "/api/urls/"+id+"/duplicate", `{}`, as(w.ann)).want(201).shows("originalUrl", url)
			item, err := json.Marshal(map[string]string{"originalUrl": url, "externalId": fmt.Sprint("item", i)})
			w.ok(err)
			w.do("POST", "/api/urls/bulk", `{"urls":[`+string(item)+`]}`, as(w.ann)).want(201).shows("successCount", 1)
			if got := w.upsert(`{"externalId":"up` + fmt.Sprint(i) + `",` + strings.TrimPrefix(string(item), `{"externalId":"item`+fmt.Sprint(i)+`",`)).
				results(); got != "CREATED" {
				t.Errorf("upsert of %.60s: %s", url, got)
			}
		}
		file, rows := w.exported()
		for _, row := range rows {
			w.do("PATCH", "/api/urls/"+row["id"], `{"originalUrl":"https://example.org/"}`, as(w.ann)).want(200)
		}
		w.importAll(file, "overwrite")
		if _, after := w.exported(); len(after) != len(rows) {
			t.Errorf("%d rows after the import, %d before", len(after), len(rows))
		} else {
			for name, row := range rows {
				if after[name]["originalUrl"] != row["originalUrl"] || after[name]["expiredUrl"] != row["expiredUrl"] {
					t.Errorf("%s was imported as %.60s", name, after[name]["originalUrl"])
				}
			}
		}
		w.everyDestination(w.create("last"), long+"x", func(r *reply, field string) { r.wantField(field) })
	})
}

// A scheme that is never allowed is refused by every way, and by default only http and https are allowed.
func TestDestinations_refuse_schemes(t *testing.T) {
	w := small(t, withSchemes)
	id := w.create("link")
	w.unchanged("a scheme", func() {
		for _, url := range []string{"javascript:alert(1)", "JAVA\tSCRIPT:alert(1)", "data:text/html,x", "view-source:https://example.com/",
			"myapp://open?url=javascript%3Aalert(1)", "intent://x#Intent;scheme=javascript;end", "sms:+15550123"} {
			w.everyDestination(id, url, func(r *reply, field string) { r.wantField(field) })
		}
	})
	plain := newWorld(t, storetest.Open(t), whole)
	for _, url := range []string{"mailto:a@example.com", "tel:+15550123", "myapp://open"} {
		plain.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":%q}`, url), as(plain.ann)).wantField("originalUrl")
	}
}

// A destination on a custom domain in service would be a link to a link, which may lead back. It is refused by every way, whichever
// workspace has the domain. A domain that nobody has proved is none.
func TestDestinations_refuse_loops_over_custom_domains(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		w.do("POST", "/api/domains", `{"hostname":"go.acme.com"}`, as(w.ann)).want(201)
		id := w.create("link")
		for _, url := range []string{"https://go.acme.com/x", "https://other.acme.com/"} {
			w.do("PATCH", "/api/urls/"+id, fmt.Sprintf(`{"originalUrl":%q}`, url), as(w.ann)).want(200)
		}
		w.exec(`UPDATE domains SET status = 'ACTIVE' WHERE hostname = 'go.acme.com'`)
		w.unchanged("a loop", func() {
			for _, url := range []string{"https://go.acme.com/x", "http://GO.acme.com.:8080/", "https://ｇｏ.acme.com/x",
				"intent://x#Intent;scheme=myapp;S.browser_fallback_url=https%3A%2F%2Fgo.acme.com%2Fx;end"} {
				w.everyDestination(id, url, func(r *reply, field string) { r.wantField(field) })
			}
			w.do("POST", "/api/urls", `{"originalUrl":"https://go.acme.com/x"}`, as(w.bob)).wantField("originalUrl")
		})
		const two = `{"urls":[{"originalUrl":"https://go.acme.com/x"},{"originalUrl":"https://example.com/"}]}`
		w.do("POST", "/api/urls/bulk", two, as(w.ann)).want(201).shows("successCount", 1, "failed.0.index", 0, "failed.0.field", "originalUrl")
	})
}

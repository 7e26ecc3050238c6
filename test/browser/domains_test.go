package browser_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/nametest"
	"github.com/shortline/shortline/shared/testkit"
)

// ownDomain is a domain as the API returns it.
type ownDomain struct {
	ID      string
	Records []struct{ Type, Name, Value string }
}

// point sets the records that a domain asks for.
func point(n *nametest.Server, d ownDomain) {
	for _, r := range d.Records {
		if text := r.Type + " " + r.Value; r.Type == "TXT" {
			n.Set(r.Name, `TXT "`+r.Value+`"`)
		} else {
			n.Set(r.Name, text+".")
		}
	}
}

const acme = "go.acme.example.com"

// at sends a visit to a host of the program, and returns the status.
func at(t *testing.T, base, host, path string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("User-Agent", laptop)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestConsole_domains(t *testing.T) {
	names := nametest.Start(t)
	names.Set("edge.sho.example.com", "A 198.51.100.1")
	base := standalone(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.example.com")
	b := open(t, base)
	b.also("409 (Conflict)")
	b.visit("/console/domains")
	b.signIn("admin@example.com", adminPassword)
	b.sees("Links under your own name")
	b.accessible()
	b.looks("130-no-domains")

	b.press("Add domain")
	b.fill("hostname", "https://go.acme.example.com/x")
	b.press("Add domain")
	b.until(`document.querySelector('dialog [data-field=hostname] .wrong') && document.activeElement.name === 'hostname'`)
	b.looks("131-new-domain-refused")
	b.fill("hostname", acme)
	b.press("Add domain")
	b.sees("Set these records at your DNS provider.")
	b.sees("_shortline." + acme)
	b.sees("edge.sho.example.com")
	var d ownDomain
	var id string
	b.eval(`location.pathname.split('/').pop()`, &id)
	b.ask("GET", "/api/domains/"+id, nil, &d)
	b.press("Copy the value of the TXT record")
	b.sees("Copied the value of the TXT record.")

	// The page looks for the records by itself, says what it found instead, and keeps the focus.
	b.eval(`document.querySelector('[aria-label="Copy the name of the CNAME record"]').focus()`, nil)
	b.sees("No TXT record at _shortline." + acme + " yet.")
	b.looks("132-domain-without-records")
	b.accessible()
	names.Set("_shortline."+acme, `TXT "something else"`)
	names.Set(acme, "A 203.0.113.7")
	b.sees("has another value")
	b.sees("203.0.113.7; expected a CNAME record with edge.sho.example.com.")
	b.until(`document.activeElement.ariaLabel === 'Copy the name of the CNAME record'`)
	b.looks("133-domain-with-wrong-records")
	b.onPhone("/console/domains/"+id, "has another value")

	// A hidden page asks nothing.
	const checks = `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/verify')).length`
	var before, after int
	b.eval(`Object.defineProperty(document, 'hidden', {configurable: true, get: () => true}); document.dispatchEvent(new Event('visibilitychange'))`, nil)
	b.eval(checks, &before)
	time.Sleep(8 * time.Second) // longer than the pause between checks
	if b.eval(checks, &after); after != before {
		t.Errorf("a hidden page looked for the records %d times", after-before)
	}
	point(names, d)
	b.eval(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`, nil)
	b.sees("All records are right.")
	b.until(`document.querySelector('.heading .badge').textContent === 'Active' && document.querySelectorAll('.found .yes').length === 2`)
	b.looks("134-domain-active")
	b.accessible()
	b.press("Check now")
	b.until(`[...document.querySelectorAll('button')].some((e) => e.textContent === 'Check now' && !e.disabled)`)

	// Settings, with errors at their fields.
	b.fill("rootUrl", "https://"+acme+"/again")
	b.set("hsts", "300")
	b.sees("refuse it without a valid certificate")
	b.press("Save")
	b.until(`document.querySelector('[data-field=rootUrl] .wrong')`)
	b.eval(`document.querySelector('[name=hsts]').scrollIntoView({block: 'end'})`, nil)
	b.looks("135-domain-settings-refused")
	b.fill("rootUrl", "https://example.com/home")
	b.eval(`document.querySelector('[name=isDefault]').click()`, nil)
	b.press("Save")
	b.sees("Saved.")
	b.until(`[...document.querySelectorAll('.heading .badge')].some((e) => e.textContent === 'Default')`)
	b.press("Links that open apps")
	b.fill("appLinks.apple", "{")
	b.press("Save")
	b.until(`document.querySelector('[data-field="appLinks.apple"] .wrong')?.textContent.startsWith('Invalid JSON')`)
	b.fill("appLinks.apple", "[]")
	b.press("Save")
	b.until(`document.querySelector('[data-field="appLinks.apple"] .wrong')?.textContent === 'must be a JSON object or null'`) // of the API
	b.fill("appLinks.apple", `{"applinks": {"details": []}}`)
	b.eval(`document.querySelector('.notice')?.remove()`, nil)
	b.press("Save")
	b.sees("Saved.")
	testkit.Within(t, 10*time.Second, "the edge serves the file for iOS", func() bool {
		return at(t, base, acme, "/.well-known/apple-app-site-association") == http.StatusOK
	})
	var saved struct {
		RootURL   string
		HSTS      int
		IsDefault bool
	}
	b.ask("GET", "/api/domains/"+id, nil, &saved)
	if saved.RootURL != "https://example.com/home" || saved.HSTS != 300 || !saved.IsDefault {
		t.Errorf("saved: %+v", saved)
	}
	b.visit("/console/domains")
	b.sees("1 domain")
	b.accessible()
	b.looks("136-domains")
	b.onPhone("/console/domains", "1 domain")

	// Links: the default domain is chosen, and the same slug works on both hosts.
	b.visit("/console/links")
	host := strings.TrimPrefix(base, "http://")
	for _, choice := range []string{acme, ""} {
		b.press("New link")
		b.until(`document.querySelector('dialog [name=domain]:not([hidden])')?.value === '` + acme + `'`)
		b.set("domain", choice)
		b.fill("originalUrl", "https://example.com/spring")
		b.fill("customSlug", "spring")
		b.looks("137-new-link")
		b.press("Create link")
		b.until(`!document.querySelector('dialog')`)
	}
	b.sees(acme + "/spring")
	b.sees(host + "/spring")
	b.until(`document.querySelector('[aria-label="QR code of ` + acme + `/spring"]') && document.querySelector('[aria-label="QR code of spring"]')`)
	b.accessible()
	b.looks("138-links")
	b.set("domain", "127.0.0.1")
	b.sees("1 link")
	b.until(`document.querySelector('.rows').innerText.includes('` + host + `/spring')`)
	b.set("domain", acme)
	b.sees("1 link")
	b.until(`document.querySelector('.rows').innerText.includes('` + acme + `/spring')`)
	b.until(`location.search === '?domain=` + acme + `' && !document.querySelector('.rows').innerText.includes('` + host + `')`)
	b.do(chromedp.Reload())
	b.sees("1 link")
	b.press("QR code of " + acme + "/spring")
	b.until(`document.querySelector('dialog img')?.alt.includes('` + acme + `/spring')`)
	b.press("Close")
	testkit.Within(t, 10*time.Second, "the edge serves the link", func() bool { return at(t, base, acme, "/spring") == http.StatusFound })

	// A missing slug becomes a link on the domain that visitors asked.
	testkit.Within(t, 40*time.Second, "the missing slug is reported", func() bool {
		at(t, base, acme, "/autumn")
		var missing struct{ Data []struct{ Host, Slug string } }
		b.ask("GET", "/api/analytics/missing", nil, &missing)
		time.Sleep(time.Second)
		return len(missing.Data) > 0 && missing.Data[0].Host == acme
	})
	b.visit("/console/domains")
	b.choose("Personal") // owners see the slugs of their domains
	b.sees(acme + "/autumn")
	b.looks("139-missing-slugs")
	b.choose("All workspaces")
	b.until(`!location.search`)
	b.visit("/console/abuse")
	b.press("Create the link " + acme + "/autumn")
	b.until(`document.querySelector('dialog [name=customSlug]')?.value === 'autumn' && document.querySelector('dialog [name=domain]').value === '` + acme + `'`)
	b.fill("originalUrl", "https://example.com/autumn")
	b.press("Create link")
	b.sees(acme + "/autumn")

	// An administrator takes the domain out of service.
	b.visit("/console/domains/" + id)
	b.press("Suspend…")
	b.press("Suspend")
	b.until(`document.querySelector('dialog [data-field=reason] .wrong')`)
	b.fill("reason", hostile)
	b.press("Suspend")
	b.sees("This domain is suspended. " + hostile)
	b.looks("139-suspended")
	b.accessible()
	testkit.Within(t, 10*time.Second, "the link stops", func() bool { return at(t, base, acme, "/autumn") == http.StatusNotFound })
	b.press("Lift suspension")
	b.sees("The suspension was lifted.")
	b.until(`document.querySelector('.heading .badge').textContent === 'Active'`)

	// A domain with links stays, and the dialog leads to them.
	b.visit("/console/domains/" + id)
	b.press("Delete")
	b.press("Delete")
	b.sees("The domain has 2 links.")
	b.looks("139-delete-refused")
	b.press("Show the links of " + acme)
	b.sees("2 links")
	b.until(`!document.querySelector('dialog') && location.search === '?domain=` + acme + `'`)
	var empty ownDomain
	b.ask("POST", "/api/domains", map[string]string{"hostname": "gärten.example.com"}, &empty)
	b.visit("/console/domains/" + empty.ID)
	b.sees("gärten.example.com")
	b.sees("xn--grten-gra.example.com")
	b.press("Delete")
	b.press("Delete")
	b.sees("1 domain")

	// A link from the trash gets another domain if its own one is gone.
	b.ask("POST", "/api/domains", map[string]string{"hostname": "old.example.com"}, &empty)
	b.ask("DELETE", "/api/urls/"+b.made(map[string]any{"originalUrl": "https://example.com/old", "customSlug": "old", "domain": "old.example.com"}).ID, nil, nil)
	b.ask("DELETE", "/api/domains/"+empty.ID, nil, nil)
	b.visit("/console/links?status=DELETED")
	b.press("Restore old.example.com/old")
	b.sees("old.example.com is not in service any more.")
	b.looks("139-restore")
	b.set("domain", acme)
	b.press("Restore")
	b.sees(acme + "/old works again.")
	b.silent()
}

// Members who do not manage domains see them without controls.
func TestConsole_domains_for_members(t *testing.T) {
	names := nametest.Start(t)
	b := open(t, standalone(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.example.com"))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.user("ann@example.com")
	b.ask("POST", "/api/workspaces", map[string]string{"name": "Growth", "slug": "growth"}, nil)
	var invited struct{ Link string }
	b.ask("POST", "/api/workspaces/growth/invitations", map[string]string{"email": "ann@example.com", "role": "EDITOR"}, &invited)
	b.visit("/console/domains?workspace=growth")
	b.press("Add domain")
	b.fill("hostname", acme)
	b.press("Add domain")
	b.sees("Set these records")
	var path string
	b.eval(`location.pathname`, &path)
	b.as("ann@example.com", annPassword)
	b.visit(invited.Link[strings.Index(invited.Link, "/login"):])
	b.press("Accept")
	b.sees("No links yet")
	b.visit("/console/domains?workspace=growth")
	b.sees("1 domain")
	const controls = `[...document.querySelectorAll('main button')].map((e) => e.ariaLabel ?? e.textContent).filter((name) => !name.startsWith('Copy the'))`
	var seen []string
	if b.eval(controls, &seen); len(seen) > 0 {
		t.Errorf("the list shows %q to an editor", seen)
	}
	b.press(acme)
	b.sees("_shortline." + acme)
	if b.eval(controls, &seen); len(seen) > 0 {
		t.Errorf("the domain shows %q to an editor", seen)
	}
	b.until(`!document.querySelector('main form')`)
	b.press("Links")
	b.press("New link")
	b.until(`document.querySelector('dialog [name=domain] option[value="` + acme + `"]')`)
	b.silent()
}

// The picture of docs/users/domains.md: one record is found, and the other one is still missing.
func TestPictures_domain(t *testing.T) {
	if !*update {
		t.Skip("writes docs/images; run `go test -run TestPictures_domain -update .`")
	}
	names := nametest.Start(t)
	names.Set("edge.sho.rt", "A 198.51.100.1")
	names.Set("go.acme.com", "CNAME edge.sho.rt.")
	b := atPublicURL(t, standalone(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.rt", "BASE_URL="+publicURL))
	b.do(emulation.SetDeviceMetricsOverride(1280, 780, 1, false))
	b.scheme("light")
	b.visit("/console/domains")
	b.signIn("admin@example.com", adminPassword)
	b.press("Add domain")
	b.fill("hostname", "go.acme.com")
	b.press("Add domain")
	b.sees("No TXT record at _shortline.go.acme.com yet.")
	b.picture("domain")
	b.silent()
}

// accessible checks the page with axe (https://github.com/dequelabs/axe-core) in both colour schemes, if AXE names its
// script, and with the list of faults always.
func (b *browser) accessible() {
	b.t.Helper()
	var found []string
	b.eval(faults, &found)
	if script := os.Getenv("AXE"); script != "" {
		source, err := os.ReadFile(script)
		if err != nil {
			b.t.Fatal(err)
		}
		b.eval(string(source)+";0", nil)
		for _, colours := range []string{"light", "dark"} {
			b.scheme(colours)
			var more []string
			b.do(chromedp.Evaluate(`axe.run({resultTypes: ['violations']}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.html + ' ' + n.failureSummary)))`, &more, awaited))
			found = append(found, more...)
		}
		b.scheme("")
	}
	for _, f := range found {
		b.t.Errorf("accessibility: %s", f)
	}
}

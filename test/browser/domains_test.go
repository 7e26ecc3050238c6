package browser_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// narrow shows the page on a very small phone, where nothing may be cut off.
func (b *browser) narrow(name string) {
	b.t.Helper()
	b.do(emulation.SetDeviceMetricsOverride(320, 640, 1, false))
	b.settle()
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.shot(name)
	b.do(emulation.ClearDeviceMetricsOverride())
}

// holds waits until a field of the dialog has a text, which may come from a file.
func (b *browser) holds(field, text string) {
	b.t.Helper()
	quoted, _ := json.Marshal(strings.TrimSpace(text))
	b.until(fmt.Sprintf(`document.querySelector('dialog [name=%s]').value.trim() === %s`, field, quoted))
}

// An owner adds a domain in steps: its name, then the records, which the page looks for by itself.
func TestDomains_setup(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.hurry()
	b.visit("/console/links")
	b.press("Domains", "Links under your own name")
	b.inspect("domains-empty")

	b.press("Add domain")
	b.until(`location.search === '?new=1'`)
	b.fill("hostname", "https://go.acme.example.com/x")
	b.press("Continue")
	b.until(`document.querySelector('dialog [name=hostname]').getAttribute('aria-invalid') === 'true' && document.activeElement.name === ` +
		`'hostname'`)
	b.inspect("domain-refused")
	b.fill("hostname", b.acme())
	b.press("Continue", "Set these records at your DNS provider.", "_shortline."+b.acme(), "edge.sho.example.com")
	b.until(`document.querySelector('.setup [aria-current=step]').textContent.includes('DNS records')`)
	id := b.text(`location.pathname.split('/').pop()`)
	var d ownDomain
	b.ask("GET", "/api/domains/"+id, nil, &d)

	// The page looks for the records by itself, says what it found instead and what helps, and keeps the focus.
	b.focusOn(`[aria-label="Copy the value of the TXT record"]`)
	b.sees("No TXT record at _shortline."+b.acme()+" yet.", "Check that the record is at _shortline."+b.acme())
	b.inspectNarrow("domain-missing")
	b.at.set("_shortline."+b.acme(), `TXT "something else"`)
	b.at.set(b.acme(), "A 203.0.113.7")
	b.sees("has another value", "203.0.113.7; expected a CNAME record with edge.sho.example.com.")
	b.until(`document.activeElement.ariaLabel === 'Copy the value of the TXT record'`)
	b.looks("domain-wrong")

	// A hidden page asks nothing. Only requests that begin after it was hidden count: an earlier one may still be on its way.
	var hiddenAt float64
	b.eval(`Object.defineProperty(document, 'hidden', {configurable: true, get: () => true}); document.dispatchEvent(new `+
		`Event('visibilitychange')); performance.now()`, &hiddenAt)
	b.do(chromedp.Evaluate(fmt.Sprintf(`new Promise((done) => setTimeout(() => done(true), %d))`, 20*pauses), nil, awaited))
	var begun int
	b.eval(fmt.Sprintf(`performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/verify') && e.startTime > %f).length`,
		hiddenAt), &begun)
	if begun != 0 {
		t.Errorf("a hidden page looked for the records %d times", begun)
	}
	b.at.point(d)
	b.eval(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`, nil)
	b.press("Check again", "All records are right.")
	b.until(`document.querySelectorAll('.record.right').length === 2 && document.querySelector('.head .badge').textContent === 'Active'`)
	b.until(`document.querySelector('.setup [aria-current=step]').textContent.includes('Certificate')`)
	b.sees("upload your own")
	b.inspect("domain-active")
	b.press("Domains", "1 domain")
	b.inspectNarrow("domains")
	b.do(chromedp.SendKeys(`[type=search]`, "nothing", chromedp.ByQuery))
	b.sees("No domain matches")
	b.until(`location.search === '?search=nothing'`)
	b.barrierFree()
}

// The settings of a domain: problems appear at their fields, only changes are sent, and a draft survives.
func TestDomains_settings(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	d := b.domain()
	b.visit("/console/domains/" + d.ID)
	b.do(chromedp.Click(`.tabs a[href$="/settings"]`))
	b.sees("Links that open apps")
	b.fill("rootUrl", "https://"+b.acme()+"/again")
	b.fill("brandName", "Acme")
	b.set("hsts", "300")
	b.sees("refuse it without a valid certificate")
	b.fill("apple", "{")
	b.press("Save", "This is not valid JSON.")
	b.until(`document.activeElement.name === 'apple'`)
	b.fill("apple", "[]")
	b.press("Save")
	b.until(`document.querySelector('[name=rootUrl]').getAttribute('aria-invalid') === 'true' && ` +
		`document.querySelector('[name=apple]').getAttribute('aria-invalid') === 'true' && ` +
		`document.querySelector('[name=android]').getAttribute('aria-invalid') !== 'true'`)
	b.inspect("domain-settings-refused")
	b.press("DNS and certificate")
	b.do(chromedp.Click(`.tabs a[href$="/settings"]`))
	b.sees("Restored what you typed before.")
	b.until(`document.querySelector('[name=brandName]').value === 'Acme'`)
	b.fill("rootUrl", "https://example.com/home")
	b.fill("apple", `{"applinks": {"details": []}}`)
	b.click(`document.querySelector('[name=isDefault]')`)
	b.press("Save", "Saved.")
	b.until(`[...document.querySelectorAll('.head .badge')].some((e) => e.textContent === 'Default')`)
	b.inspectNarrow("domain-settings")
	b.has("/api/domains/"+d.ID, `{"rootUrl": "https://example.com/home", "brandName": "Acme", "hsts": 300, "isDefault": true}`)
	testkit.Eventually(t, "the edge serves the file for iOS", func() bool {
		return at(t, b.base, b.acme(), "/.well-known/apple-app-site-association") == http.StatusOK
	})

	// An administrator of the system takes the domain out of service, and back.
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("spring"), "domain": b.acme()})
	testkit.Eventually(t, "the edge serves the link", func() bool {
		return at(t, b.base, b.acme(), "/"+b.own("spring")) == http.StatusFound
	})
	b.visit("/console/domains/" + d.ID)
	b.press("Suspend", "links: 1")
	b.press("Suspend")
	b.until(`document.querySelector('dialog [name=reason]').getAttribute('aria-invalid') === 'true'`)
	b.inspect("domain-suspend")
	b.fill("reason", hostile)
	b.press("Suspend", "This domain is suspended.", hostile)
	b.inspect("domain-suspended")
	testkit.Eventually(t, "the link stops", func() bool { return at(t, b.base, b.acme(), "/"+b.own("spring")) == http.StatusGone })
	b.press("Lift the suspension", "The suspension was lifted.")
	b.until(`document.querySelector('.head .badge').textContent === 'Active'`)

	// A domain with links stays, and the dialog leads to them.
	b.press("Delete", "Delete the 1 link first")
	b.inspect("domain-delete-refused")
	b.press("Show links", "1 link")
	b.until(`location.search === '?domain=` + b.acme() + `'`)
	var empty ownDomain
	gardens := b.own("gärten") + ".example.com"
	b.ask("POST", "/api/domains", map[string]string{"hostname": gardens}, &empty)
	b.visit("/console/domains/"+empty.ID, gardens, "xn--grten"+b.mark)
	b.press("Delete")
	b.until(`document.querySelector('dialog .danger').getAttribute('aria-disabled') === 'true'`)
	b.focusOn(`dialog input`)
	b.do(chromedp.SendKeys(`dialog input`, gardens, chromedp.ByQuery))
	b.looks("domain-delete")
	b.press("Delete", gardens+" was deleted.", "1 domain")
}

// An owner uploads a certificate of their own. The private key does not stay in the page.
func TestDomains_certificate(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	d := b.domain()
	own, key, _ := ownCertificate(t, b.acme())
	other, otherKey, _ := ownCertificate(t, "other.example.com")
	b.visit("/console/domains/" + d.ID)
	b.press("Upload your own")
	b.fill("certificate", other)
	b.fill("privateKey", otherKey)
	b.press("Save")
	b.until(`document.querySelector('dialog [name=certificate]').getAttribute('aria-invalid') === 'true'`)
	b.inspect("certificate-refused")
	file := filepath.Join(t.TempDir(), "chain.pem")
	testkit.Must(t, os.WriteFile(file, []byte(own), 0o600))
	b.do(chromedp.SetUploadFiles(`.pem:has([name=certificate]) input[type=file]`, []string{file}, chromedp.ByQuery))
	b.holds("certificate", own)
	b.press("Save")
	b.until(`document.querySelector('dialog [name=privateKey]').getAttribute('aria-invalid') === 'true'`)
	b.fill("privateKey", key)
	b.press("Save", "You uploaded this certificate.", "Acme Issuing CA")
	b.sees("Expires soon") // in ten days
	whole := b.text(`document.documentElement.outerHTML + JSON.stringify(sessionStorage)`)
	if block, _ := pem.Decode([]byte(key)); block == nil || strings.Contains(whole, strings.Split(key, "\n")[1]) {
		t.Error("the page still has the private key")
	}
	b.inspect("certificate")
	b.visit("/console/domains")
	b.until(`document.querySelector('[data-name=Certificate] .badge.warn')?.textContent.startsWith('Until')`)
	b.visit("/console/domains/" + d.ID)
	b.press("Remove the uploaded one", "browsers can no longer open the domain over https")
	b.press("Remove the uploaded one", "The uploaded certificate was removed.")
}

// Members who may not change domains see them without controls.
func TestDomains_for_members(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.user("ann")
	team := b.team("Growth", "growth")
	var invited struct{ Link string }
	b.ask("POST", "/api/workspaces/"+team.ID+"/invitations", map[string]string{"email": b.mail("ann"), "role": "VIEWER"}, &invited)
	in := "?workspace=" + b.own("growth")
	b.visit("/console/domains" + in)
	b.press("Add domain")
	b.fill("hostname", b.acme())
	b.press("Continue", "Set these records")
	path := b.text(`location.pathname`)
	b.as(b.mail("ann"))
	b.visit(invited.Link[strings.Index(invited.Link, "/login"):])
	b.press("Join the workspace", "You have joined the workspace.", "No links yet")
	b.visit("/console/domains"+in, "1 domain")
	const controls = `[...document.querySelectorAll('main button')].map((e) => e.ariaLabel ?? e.textContent).filter((name) => !name.startsWith('Copy the'))`
	var seen []string
	if b.eval(controls, &seen); len(seen) > 0 {
		t.Errorf("the list shows %q to a viewer", seen)
	}
	b.visit(path+in, "_shortline."+b.acme())
	if b.eval(controls, &seen); len(seen) > 0 {
		t.Errorf("the domain shows %q to a viewer", seen)
	}
	b.until(`!document.querySelector('main form') && !document.querySelector('.tabs')`)
	b.visit(path+"/settings"+in, "_shortline."+b.acme())
	b.until(`!document.querySelector('main form')`)
}

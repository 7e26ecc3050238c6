package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// axe is a checker of accessibility (https://github.com/dequelabs/axe-core), which the console's npm packages contain.
const axe = "control/internal/console/web/node_modules/axe-core/axe.min.js"

// inspect checks a state of the page with axe, and takes its pictures.
func (b *browser) inspect(name string) {
	b.t.Helper()
	b.barrierFree()
	b.looks(name)
}

// inspectNarrow is inspect for a state that must also fit a very small phone.
func (b *browser) inspectNarrow(name string) {
	b.t.Helper()
	b.inspect(name)
	b.narrow(name + "-narrow")
}

// violations is what axe finds on the page, an empty list without barriers.
const violations = `axe.run({resultTypes: ['violations']}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.html + ' ' + n.failureSummary)))`

// loadAxe makes the checker known to the page.
func (b *browser) loadAxe() {
	b.t.Helper()
	var known bool
	if b.eval(`Boolean(window.axe)`, &known); known {
		return
	}
	script, err := os.ReadFile(testkit.Source(b.t, axe))
	if err != nil {
		b.t.Fatalf("deploy/dev/web installs it: %v", err)
	}
	b.do(chromedp.Evaluate(string(script), nil))
}

// barrierFree checks the page with axe, and in make proof in each theme. The themes differ in colours only, whose contrasts the
// console's own test computes (contrast.test.ts).
func (b *browser) barrierFree() {
	b.t.Helper()
	b.barrierFreeIn(testkit.Size([]string{"light"}, themes)...)
}

var themes = []string{"light", "dark", "contrast"}

// barrierFreeIn is barrierFree in some themes.
func (b *browser) barrierFreeIn(themes ...string) {
	b.t.Helper()
	b.loadAxe()
	for _, theme := range themes {
		var problems []string
		b.eval(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme), nil)
		b.settle()
		b.do(chromedp.Evaluate(violations, &problems, awaited))
		for _, problem := range problems {
			b.t.Errorf("%s: %s", theme, problem)
		}
	}
	b.eval(`document.documentElement.dataset.theme = 'light'`, nil)
}

// A user who signs in has a first link after three actions: press the button, paste the address, press Enter.
func TestJourney_first_link(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.sees("No links yet")
	b.inspect("empty")

	end := b.journey(3)
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	b.looks("create")
	b.barrierFree()
	b.keys(kb.Enter)
	b.sees("is ready", "1 link", "example.com/spring")
	end()
	b.made(map[string]any{"originalUrl": "https://example.com/second", "customSlug": b.own("taken")})

	// The server's error appears at its field, inside the dialog.
	b.press("New link")
	b.fill("originalUrl", "example.com/third")
	b.press("More options")
	b.fill("customSlug", b.own("taken"))
	b.press("Create link")
	b.until(`document.querySelector('dialog [name=customSlug]').getAttribute('aria-invalid') === 'true'`)
	b.until(`document.activeElement.name === 'customSlug'`)
	b.barrierFree()

	// The text in the form survives Escape and a page that is loaded again.
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.visit("/console/links?new=1")
	b.until(`document.querySelector('dialog [name=originalUrl]')?.value === 'example.com/third'`)
	b.fill("customSlug", b.own("free"))
	b.press("Create link", "3 links")
}

// A session that ends while somebody types asks for the password on top of the form, and nothing is lost.
func TestConsole_session_ends_while_typing(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	b.pressAfterSession("Create link")
	b.insist()
	b.until(`document.querySelector('dialog[open] [name=password]')`)
	b.inspect("again")
	b.fill("password", password)
	b.press("Sign in", "is ready", "1 link")
}

// The search, the filters and the order are in the address. Back leads to the place in the list that was left.
func TestConsole_list(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.many(300)
	long := strings.Repeat("\U0001F680", 255)
	b.ask("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/emoji", "customSlug": b.own("emoji"), "title": long}, nil)
	b.ask("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/arabic", "customSlug": b.own("arabic"),
		"title": strings.Repeat("رابط ", 50)}, nil)
	b.visit("/console/links", "302 links")
	b.until(`document.querySelectorAll('li.link').length < 40`)
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.inspect("links")

	// Rows that come into view are loaded.
	b.eval(`scrollTo(0, document.body.scrollHeight)`, nil)
	b.sees("Page 0")
	b.eval(`scrollTo(0, 0)`, nil)

	b.do(input.DispatchKeyEvent(input.KeyRawDown).WithKey("/"), input.DispatchKeyEvent(input.KeyUp).WithKey("/"))
	b.until(`document.activeElement.type === 'search'`)
	b.do(input.InsertText("page 29"))
	b.until(`location.search === '?search=page+29'`)
	b.sees("11 links")
	b.sorts("slug")
	b.until(`location.search.includes('sort=slug')`)
	b.until(`document.querySelector('li.link .short')?.textContent.endsWith('` + b.own("page-000029") + `')`)
	b.do(chromedp.Reload())
	b.sees("11 links")
	b.until(`document.querySelector('input[type=search]').value === 'page 29'`)

	// Many links at once, and undo.
	b.until(`document.querySelectorAll('li.link .pick input').length === 11`)
	b.eval(`document.querySelectorAll('li.link .pick input').forEach((box) => box.click())`, nil)
	b.sees("11 selected")
	b.inspect("selected")
	b.press("Delete", "11 links moved to the trash", "No link matches")
	b.press("Undo")
	b.until(`document.querySelectorAll('li.link').length === 11`) // the message about the trash also has the text "11 links"
	b.click(`document.querySelectorAll('li.link .pick input')[0]`)
	b.press("Disable", "1 link disabled")
	b.until(`document.querySelector('li.link .badge')?.textContent === 'Disabled'`)
}

type language struct{ code, title string }

// languages are one with long words and one from right to left, and in make proof all of the console.
var languages = testkit.Size([]language{{"de", "Neuer Link"}, {"ar", "رابط"}},
	[]language{{"de", "Neuer Link"}, {"fr", "Nouveau lien"}, {"es", "enlace"}, {"ja", "リンク"}, {"ar", "رابط"}, {"en", "New link"}})

// The console speaks six languages, one from right to left, and works at 400 % zoom, which is 320 pixels wide.
func TestConsole_languages_and_zoom(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.ask("POST", "/api/urls",
		map[string]any{"originalUrl": "https://example.com/a/rather/long/destination/of/a/campaign?utm_source=newsletter",
			"customSlug": b.own("spring"), "tags": []string{"newsletter", "summer"}}, nil)
	b.visit("/console/links", "1 link")
	for _, language := range languages {
		b.eval(fmt.Sprintf(`localStorage.setItem('shortline.language', %q)`, language.code), nil)
		b.do(chromedp.Reload())
		b.sees(language.title)
		b.until(fmt.Sprintf(`document.documentElement.lang === %q`, language.code))
		b.until(`document.documentElement.scrollWidth <= innerWidth`)
		b.barrierFreeIn(themes...)
		b.looks("" + language.code)
		b.narrow(language.code + "-320")
	}
}

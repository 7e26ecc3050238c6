package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// The address of a screen names the workspace, so a tab keeps it, and a colleague who opens the address sees the same.
func TestWorkspaces_in_addresses(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.until(`location.search === ''`)
	growth := b.own("growth")
	b.ask("POST", "/api/workspaces", map[string]any{"name": "Growth", "slug": growth}, nil)
	b.visit("/console/links?workspace=" + growth)
	b.until(`document.querySelector('.switcher')?.textContent.includes('Growth')`)
	b.until(`location.search === '?workspace=` + growth + `'`)
	b.press("Analytics")
	b.until(`location.pathname.endsWith('/analytics') && new URLSearchParams(location.search).get('workspace') === '` + growth + `'`)
	b.until(`[...document.querySelectorAll('nav a[href^="/console"]')].every((e) => new URL(e.href).searchParams.get('workspace') === '` +
		growth + `')`)
	address := b.text(`location.pathname + location.search`)

	colleague := b.session()
	colleague.visit(address)
	colleague.until(`document.querySelector('.switcher')?.textContent.includes('Growth')`)
	colleague.visit("/console/links?workspace=unknown&search=x")
	colleague.until(
		`new URLSearchParams(location.search).get('search') === 'x' && new URLSearchParams(location.search).get('workspace') !== 'unknown'`)

	b.visit("/console/links?workspace=" + growth)
	b.until(`document.querySelector('.switcher')?.textContent.includes('Growth')`)
	b.click(`document.querySelector('.switcher > button')`)
	b.until(`[...document.querySelectorAll('.switcher .panel button')].some((e) => e.textContent.includes('Personal'))`)
	b.click(`[...document.querySelectorAll('.switcher .panel button')].find((e) => e.textContent.includes('Personal'))`)
	b.until(`location.search === '' && document.querySelector('.switcher > button').textContent.includes('Personal')`)
	b.eval(`history.back()`, nil)
	b.until(`location.search === '?workspace=` + growth +
		`' && document.querySelector('.switcher > button').textContent.includes('Growth')`)
}

// A page that was opened under another name of this machine goes to the right one. Under a foreign name it says where to go,
// because the API refuses its changes.
func TestConsole_opened_at_another_address(t *testing.T) {
	t.Parallel()
	base := shared(t).base
	b := open(t, base)
	b.tolerant = true // the page goes to another address
	b.base = strings.Replace(base, "127.0.0.1", "localhost", 1)
	b.visit("/console/keys?a=b", "Sign in")
	b.until(fmt.Sprintf(`location.href === %q`, base+"/console/keys?a=b"))

	foreign := open(t, strings.Replace(base, "127.0.0.1", "other.example", 1))
	foreign.tolerant = true // the API refuses the requests of the page
	foreign.visit("/console/keys", "You opened this page at "+foreign.base)
	foreign.until(fmt.Sprintf(`document.querySelector('.notice a').href === %q`, base+"/"))
	foreign.looks("astray")
}

// The found links are exported, and the places of the old console lead to the screens of this one.
func TestConsole_export_and_old_places(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	spring := b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": b.own("spring"), "title": "Spring"})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "customSlug": b.own("autumn"), "title": "Autumn"})
	b.visit("/console/links?search=spring", "1 link")
	b.eval(`(() => {
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { blob.text().then((text) => window.file = text); return make.call(URL, blob); };
		HTMLAnchorElement.prototype.click = function () { window.fileName = this.download; };
	})()`, nil)
	b.press("Export")
	b.until(`window.fileName?.endsWith('.csv') && window.file?.includes('spring') && !window.file.includes('autumn')`)
	for from, want := range map[string]string{
		"/console/overview": "/console/analytics", "/console/new/links": "/console/links", "/console/abuse": "/console/reports",
		"/console/links/" + spring.ID + "/variants": "/console/links/" + spring.ID + "/experiment", "/console/links/" + spring.ID +
			"/edit": "/console/links/" + spring.ID,
	} {
		b.visit(from)
		b.until(fmt.Sprintf(`location.pathname === %q && document.querySelector('h1')`, want))
	}
	b.also("404")
	b.visit("/console/nothing", "This page does not exist")
}

package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A link is changed: only the changed fields are sent, problems are at their fields, and two people who
// change one link lose nothing.
func TestConsole_edit(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("412")
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "Store",
		"tags": []string{"a"}})
	b.visit("/console/links")
	b.press("Store")
	b.press("Edit "+b.bare("store"), "Schedule and limits")
	b.inspect("edit")

	b.fill("title", "The store")
	b.press("Schedule and limits")
	b.fill("maxClicks", "-3")
	b.press("Campaign (UTM)")
	b.fill("utmSource", "mail")
	b.sees("https://example.com/?utm_source=mail")
	b.press("Password and more")
	b.fill("password", "abc")
	b.press("Save")
	b.until(`document.querySelector('[name=maxClicks]').getAttribute('aria-invalid') === 'true'`)
	b.until(`document.activeElement.name === 'maxClicks'`)
	b.inspect("edit-problem")
	b.fill("maxClicks", "3")
	b.fill("password", "abcd")
	b.press("Save", "Saved")
	b.edits("store", "A password is set.")
	b.has("/api/urls/"+link.ID, `{"title": "The store", "maxClicks": 3, "utmSource": "mail", "originalUrl": "https://example.com/"}`)

	// A change of another field by somebody else is kept.
	b.fill("title", "Mine")
	b.ask("PUT", "/api/urls/"+link.ID, map[string]any{"notes": "theirs"}, nil)
	b.press("Save", "has changed other fields of this link meanwhile.")
	b.press("Save mine")
	b.until(`document.querySelector('.leads b').textContent === 'Mine' && !document.querySelector('dialog')`)
	b.has("/api/urls/"+link.ID, `{"title": "Mine", "notes": "theirs"}`)

	// A change of the same field shows both versions.
	b.edits("store")
	b.until(`document.querySelector('[name=notes]').value === 'theirs'`)
	b.fill("title", "Mine again")
	b.ask("PUT", "/api/urls/"+link.ID, map[string]any{"title": "Theirs again"}, nil)
	b.press("Save", "has changed the same fields meanwhile.", "Mine again", "Theirs again")
	b.inspect("edit-conflict")
	b.do(chromedp.Reload())
	b.sees("Restored what you typed before.")
	b.until(`document.querySelector('[name=title]').value === 'Mine again'`)
	b.press("Save")
	b.until(`document.querySelector('.leads b').textContent === 'Mine again'`)
	b.has("/api/urls/"+link.ID, `{"title": "Mine again"}`)
}

// The page of a link says whether the link works and how often it was visited, and has what is done with its address. An expiry in
// the past is named before it is saved, and afterwards the page says that the link has ended.
func TestConsoleMedium_the_page_of_a_link_says_its_state(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "Store"})
	path := "/console/links/" + link.ID
	b.visit(path, "Active", "clicks by people, 30 days")
	short := b.bare("store")
	b.press("Copy " + short)
	b.until(`document.querySelector('.toasts').innerText.trim() !== ''`)
	b.until(`document.querySelector('a[aria-label=` + quoted("Open "+short) + `]').href === ` + quoted(b.short("store")))
	b.inspectNarrow("link-head")
	b.press("QR code")
	b.until(`location.pathname === ` + quoted(path+"/qr"))
	b.visit(path, "Active")
	b.click(`document.querySelector('.monthly a')`)
	b.until(`location.pathname === ` + quoted(path+"/analytics"))

	b.visit(path + "?edit=1")
	b.press("Schedule and limits")
	b.set("expiresAt", "2126-01-01T12:00")
	b.until(`!document.body.innerText.includes('This time is in the past.')`)
	b.set("expiresAt", "2026-01-01T12:00")
	b.sees("This time is in the past. The link ends as soon as you save.")
	b.press("Save", "Saved. Visitors cannot use the link now: Expired")
	b.until(`document.querySelector('.states').textContent.startsWith('Ended')`)
	b.inspectNarrow("link-expired")
	b.edits("store")
	b.set("expiresAt", "")
	b.set("maxClicks", "1")
	b.press("Save", "Saved")
	b.until(`document.querySelector('.states').textContent === 'Active, ends after 1 more click'`)
}

// bare is the short address of one of the test's links without its scheme.
func (b *browser) bare(name string) string { return strings.TrimPrefix(b.short(name), "http://") }

// edits opens the form of the link whose page is shown.
func (b *browser) edits(name string, then ...string) {
	b.t.Helper()
	b.press("Edit " + b.bare(name))
	b.until(`document.querySelector('dialog [name=originalUrl]')`)
	b.sees(then...)
}

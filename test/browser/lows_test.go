package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// The error of the sign-in has its icon beside the text on the smallest phone, too, and moves no field.
func TestConsoleSignIn_error_is_beside_its_icon(t *testing.T) {
	t.Parallel()
	b := newVisitor(t, "USER")
	b.do(emulation.SetDeviceMetricsOverride(320, 700, 1, true))
	b.visit("/console/links", "Sign in")
	const top = `document.querySelector('[name=email]').getBoundingClientRect().top`
	var before float64
	b.eval(top, &before)
	b.signIn(b.email, "not the password")
	b.until(`document.querySelector('.notice.bad svg')`)
	b.until(`(() => { const [icon, text] = ['svg', 'p'].map((e) => document.querySelector('.notice.bad ' + e).getBoundingClientRect());
		return icon.bottom > text.top && text.bottom > icon.top && icon.right <= text.left; })()`)
	var after float64
	if b.eval(top, &after); after != before {
		t.Errorf("the field moved from %v to %v", before, after)
	}
	b.inspect("signin-error")
}

// The keys of the palette are inside of its button in every language.
func TestConsolePalette_keys_are_inside_of_the_button(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for _, language := range []string{"de", "fr", "en"} {
		b.speaks(language)
		b.visit("/console/tags")
		b.until(shown)
		b.until(`(() => { const [button, keys] = ['.jump', '.jump kbd'].map((e) => document.querySelector(e).getBoundingClientRect());
			return keys.right <= button.right && keys.left >= button.left && document.querySelector('.jump').scrollWidth <= document.querySelector('.jump').clientWidth; })()`)
	}
	b.speaks("de")
	b.visit("/console/tags")
	b.until(shown)
	b.looks("palette-button-german")
}

// Links stay selected after an action, for the next one.
func TestConsoleSelection_stays_after_an_action(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for _, slug := range []string{"one", "two", "three"} {
		b.made(map[string]any{"originalUrl": "https://example.com/" + slug, "customSlug": b.own(slug)})
	}
	b.visit("/console/links", "3 links")
	b.until(`document.querySelectorAll('li.link .pick input').length === 3`)
	b.eval(`[...document.querySelectorAll('li.link .pick input')].slice(0, 2).forEach((box) => box.click())`, nil)
	b.press("Disable", "2 links disabled", "2 selected")
	b.until(`document.querySelectorAll('li.link .badge.INACTIVE').length === 2`)
	b.press("Enable", "2 links enabled", "2 selected")
	b.press("Delete", "2 links moved to the trash", "1 link")
	b.until(`!document.querySelector('.bulk')`)
}

// The palette finds bundles and tags by their name.
func TestConsolePalette_finds_bundles_and_tags(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "tags": []string{"meadow"}})
	bundle := b.post("/api/bundles", map[string]any{"name": "Meadow flowers"})
	b.visit("/console/links", "1 link")
	b.key("k", input.ModifierCtrl)
	b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
	b.keys("meadow")
	b.until(`['Bundles', 'Tags'].every((kind) => [...document.querySelectorAll('[role=option]')].some((e) => ` +
		`e.textContent.includes('eadow') && e.textContent.includes(kind)))`)
	b.inspect("palette-found")
	b.click(`[...document.querySelectorAll('[role=option]')].find((e) => e.textContent.includes('Tags'))`)
	b.until(`location.search === '?tag=meadow'`)
	b.key("k", input.ModifierCtrl)
	b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
	b.keys("meadow fl" + kb.Enter) // before the bundle is in the list
	b.until(`location.pathname === '/console/bundles/` + bundle + `'`)
}

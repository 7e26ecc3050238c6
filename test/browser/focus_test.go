package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// focused describes where the focus is; "" is nowhere.
const focused = `(document.activeElement && document.activeElement !== document.body ? document.activeElement.outerHTML.slice(0, 80) : '')`

// keepsFocus fails the test if the focus falls to the body, after what a person did there has had its effect.
func (b *browser) keepsFocus(what string) {
	b.t.Helper()
	b.until(`document.querySelector('h1') && !document.querySelector('[aria-busy=true]')`)
	b.settle()
	var at string
	if b.eval(focused, &at); at == "" {
		b.t.Errorf("%s: the focus fell to the body", what)
	}
}

// keyOn presses the button with the given accessible name as a person with a keyboard does.
func (b *browser) keyOn(what, name string) {
	b.t.Helper()
	b.act("there is a button "+name, `(() => {
		const e = [...`+within+`.querySelectorAll('button, summary, input[type=checkbox]')].find((e) => e.checkVisibility() && !e.disabled && e.ariaBusy !== 'true' &&
			(e.getAttribute('aria-label') ?? e.textContent).trim() === `+quoted(name)+`);
		e?.focus();
		e?.click();
		return e;
	})()`)
	b.keepsFocus(what + ": " + name)
}

// The actions that remove their own button.
func TestF5_focus_after_actions_that_remove_their_button(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "The store"})
	for _, n := range strings.Fields("one two three") {
		b.made(map[string]any{"originalUrl": "https://example.com/" + n, "customSlug": b.own(n)})
	}
	b.visit("/console/links/"+link.ID+"/rules", "Add rule")
	b.keyOn("rules", "Add rule")
	b.keyOn("rules", "Cancel")
	b.rule(link, "Phones", "https://example.com/app", when("os", "equals", "iOS"))
	b.do(chromedp.Reload())
	b.keyOn("rules", "Edit Phones")
	b.keyOn("rules", "Save")
	b.until(`!document.querySelector('form.ruleform, form [name=targetUrl]')`)
	b.keepsFocus("rules: after Save")
	b.keyOn("rules", "Delete Phones")
	b.until(`!document.querySelector('ol.rules li')`)
	b.keepsFocus("rules: after Delete")

	for _, action := range []string{"Disable", "Enable", "Delete"} {
		b.visit("/console/links", "4 links")
		b.eval(`document.querySelector('li.link input[type=checkbox]').focus()`, nil)
		b.eval(`document.querySelector('li.link input[type=checkbox]').click()`, nil)
		b.keyOn("links", action)
		b.settle()
		b.keepsFocus("links: after " + action)
	}
}

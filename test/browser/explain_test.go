package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The simulator says what is missing and what a visitor had in words of the console, not in those of the API.
func TestConsoleMedium_the_simulator_speaks_words(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "isSmartRouting": true})
	days := map[string]any{"type": "day_of_week", "operator": "in", "value": map[string]any{"days": []int{3}, "timezone": "Europe/Berlin"}}
	share := map[string]any{"type": "percentage", "operator": "less_than", "value": 100}
	b.rule(link, "Europeans", "https://example.com/eu", when("device", "equals", "MOBILE"), when("country", "equals", "DE"),
		when("continent", "equals", "EU"), when("language", "equals", "de"), when("visitor", "equals", "new"), days, share)
	b.visit("/console/links/" + link.ID + "/rules")
	b.press("Add rule")
	b.press("Add condition")
	b.pick(0, "Condition", "country")
	b.press("Try it before you save", "Complete this first:", "This rule · Destination: must not be empty",
		"This rule · Country: value must not be empty")
	b.until(`!/draft|rules\.|condition[s.]*\d/.test(document.querySelector('.tryout').innerText)`)
	b.inspectNarrow("try-unready")
	b.press("Replay the last 1,000 visitors")
	b.until(`document.querySelectorAll('.tryout .notice').length === 2 && !document.querySelector('.tryout').innerText.includes('draft')`)

	b.press("Cancel")
	b.press("Edit Europeans")
	b.press("Try it before you save")
	b.set("time", "2026-11-25T12:00Z") // a Wednesday in Berlin; the zone of the browser is none that is near midnight
	b.sees("visitor: phone", "visitor: Germany", "visitor: Europe", "visitor: German", "visitor: new", "visitor: Wednesday (Europe/Berlin)")
	b.until(`/visitor: [\d.]+%/.test(document.querySelector('.tryout').innerText)`)
	b.eval(`localStorage.setItem('shortline.language', 'de')`, nil)
	b.do(chromedp.Reload())
	b.press("Vor dem Speichern ausprobieren")
	b.set("time", "2026-11-25T12:00Z")
	b.sees("Besucher: Smartphone", "Besucher: Europa", "Besucher: Deutsch", "Besucher: Mittwoch (Europe/Berlin)")
	b.inspectNarrow("try-words")
}

// Saved rules are tried without a form, by everybody who sees them.
func TestConsoleMedium_saved_rules_are_tried(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "isSmartRouting": true})
	b.rule(link, "Phones", "https://example.com/phones", when("device", "equals", "MOBILE"))
	b.visit("/console/links/" + link.ID + "/rules")
	b.press("Test a visitor", "Goes to example.com/phones: the rule “Phones” decides.")
	b.until(`!document.querySelector('.replay')`) // there is nothing to compare
	b.inspectNarrow("try-saved")
	b.click(`document.querySelector('.rule [role=switch]')`)
	b.sees("Goes to example.com: no rule matches")
	b.click(`document.querySelector('.rule [role=switch]')`)
	b.sees("the rule “Phones” decides.")
	b.ask("PATCH", "/api/urls/"+link.ID+"/routing-rules/settings", map[string]any{"isSmartRouting": false}, nil)
	b.do(chromedp.Reload())
	b.press("Test a visitor", "Goes to example.com: no rule matches", "Phones · Smart routing is off, so no rule has an effect.")
	b.press("Turn it on", "the rule “Phones” decides.")
}

// A click in Live leads to its explanation: where the rules send such a visitor, and why.
func TestConsoleMedium_a_click_is_explained(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := wrongPlace(t, b)
	b.visit("/console/live?tab=recent&link="+link.ID, "Big screens")
	explain := `document.querySelector('.clicklist tbody button')`
	b.until(explain + `.ariaLabel.startsWith('Explain the click at ')`)
	b.inspectNarrow("clicks-why")
	b.eval(explain+`.focus()`, nil)
	b.click(explain)
	b.sees("Goes to example.com/big: the rule “Big screens” decides.", "visitor: phone")
	b.inspectNarrow("click-explained")
	b.do(chromedp.Reload()) // the address has the click
	b.sees("Goes to example.com/big: the rule “Big screens” decides.")
	b.press("Close")
	b.until(`!document.querySelector('dialog') && !location.search.includes('why=')`)

	// So does a click at this moment, of any link of the workspace.
	b.visit("/console/live")
	b.until(`document.querySelector('.signal.on')`)
	follow(t, b.short("store"), laptop, "https://news.example.org/")
	b.until(explain)
	b.eval(explain+`.focus()`, nil)
	b.click(explain)
	b.sees("Goes to example.com: no rule matches", "visitor: computer")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog') && document.activeElement === ` + explain)
	end := b.journey(2)
	b.click(explain)
	b.sees("Goes to example.com: no rule matches")
	end()

	// The visitor of the click can be changed, to compare.
	b.press("Try another visitor")
	b.until(`document.querySelector('dialog [name=agent]').selectedOptions[0].text.startsWith('computer')`)
	b.inspectNarrow("click-changed")
	b.eval(`(() => {
		const e = document.querySelector('dialog [name=agent]');
		e.value = 'iphone';
		e.dispatchEvent(new Event('change', {bubbles: true}));
	})()`, nil)
	b.sees("Goes to example.com/big: the rule “Big screens” decides.")
	b.press("Routing rules", "If Device is not computer, go to")
}

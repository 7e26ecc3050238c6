package browser_test

import (
	"encoding/json"
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rule adds a routing rule for visitors of whom all conditions hold.
func (b *browser) rule(link url, name, target string, conditions ...map[string]any) (id string) {
	b.t.Helper()
	return b.post("/api/urls/"+link.ID+"/routing-rules", map[string]any{"name": name, "targetUrl": target,
		"conditions": map[string]any{"operator": "AND", "conditions": conditions}})
}

// when is a condition of a rule.
func when(kind, operator, value string) map[string]any {
	return map[string]any{"type": kind, "operator": operator, "value": value}
}

// pick changes the select or the input with that label, in the n-th condition of the builder.
func (b *browser) pick(n int, label, value string) {
	b.t.Helper()
	b.actions++
	b.until(fmt.Sprintf(`(() => {
		const e = document.querySelectorAll('.condition')[%d]?.querySelector('select[aria-label=%q], input[aria-label=%q]');
		if (!e) return false;
		e.focus();
		e.value = %q;
		e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true}));
		return true;
	})()`, n, label, label, value))
	b.settle()
}

// center returns the middle of an element on the screen.
func (b *browser) center(selector string) (x, y float64) {
	b.t.Helper()
	var at []float64
	b.eval(fmt.Sprintf(
		`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`,
		selector),
		&at)
	return at[0], at[1]
}

// conditions returns the conditions that the form shows as JSON, on one line.
func (b *browser) conditions() string {
	b.t.Helper()
	b.press("JSON")
	text := b.text(`JSON.stringify(JSON.parse(document.querySelector('.conditions textarea').value))`)
	b.press("Builder")
	return text
}

// The rule "iPhones in Germany during working hours" is built without JSON, and an edge follows it.
func TestJourney_a_rule_without_JSON(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "isSmartRouting": true})
	b.visit("/console/links/"+link.ID+"/rules", "No rules yet")
	b.inspect("rules-empty")

	end := b.journey(16)
	b.press("Add rule")
	b.fill("name", "iPhones in Germany at work")
	b.press("Add condition")
	b.pick(0, "Condition", "os")
	b.pick(0, "Value", "iOS")
	b.press("Add condition")
	b.pick(1, "Condition", "country")
	b.pick(1, "Value", "DE")
	b.press("Add condition")
	b.pick(2, "Condition", "time")
	b.pick(2, "Time zone", "Europe/Berlin")
	b.press("Add condition")
	b.pick(3, "Condition", "day_of_week")
	b.pick(3, "Time zone", "Europe/Berlin")
	b.sees("If Operating system is iOS, Country is Germany, Time of day is from 09:00 to 18:00 (Europe/Berlin), and Day of the week is " +
		"Monday, Tuesday, Wednesday, Thursday, or Friday (Europe/Berlin), go to")
	b.inspect("rules-form")

	// The server's problem is at its field, and the form keeps everything.
	b.aside(func() { b.press("Save") })
	b.until(`document.querySelector('[name=targetUrl]').getAttribute('aria-invalid') === 'true'`)
	b.fill("targetUrl", "example.com/app")
	b.press("Save", "iPhones in Germany at work saved", "go to example.com/app.")
	end()
	b.inspect("rules")

	// A visitor gets the rule that the console saved.
	b.press("Edit iPhones in Germany at work")
	want := `{"operator":"AND","conditions":[{"type":"os",` +
		`"operator":"equals","value":"iOS"},{"type":"country","operator":"equals","value":"DE"},` +
		`{"type":"time","operator":"between","value":{"start":"09:00","end":"18:00","timezone":"Europe/Berlin"}},` +
		`{"type":"day_of_week","operator":"in","value":{"days":[1,2,3,4,5],"timezone":"Europe/Berlin"}}]}`
	var got, expected any
	testkit.Must(t, json.Unmarshal([]byte(b.conditions()), &got))
	testkit.Must(t, json.Unmarshal([]byte(want), &expected))
	if fmt.Sprint(got) != fmt.Sprint(expected) {
		t.Errorf("the conditions are\n%v, want\n%v", got, expected)
	}
}

// A template leads from the list of links to a rule that sends iPhones to the App Store.
func TestJourney_an_iPhone_rule(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "The store"})
	b.visit("/console/links", "The store")
	end := b.journey(9)
	b.click(`document.querySelector('a[href*="/links/` + link.ID + `"]')`)
	b.press("Routing rules", "No rules yet", "Sends iPhones and iPads to the App Store.")
	b.press("App download, iOS", "If Operating system is iOS, go to")
	b.until(`document.activeElement.name === 'targetUrl'`)
	b.fill("targetUrl", "apps.apple.com/app/1")
	b.press("Save", "App download, iOS saved", "go to apps.apple.com/app/1.", "Everybody else", "Goes to example.com.")
	end()
}

// One press makes a rule with a condition that makes sense, and the destination is next. Such a rule needs no name.
func TestConsole_rules_begin_with_a_button(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	b.visit("/console/links/"+link.ID+"/rules", "No rules yet")
	for _, start := range [][2]string{{"Country", "If Country is "}, {"Language", "If Language begins with English, go to"},
		{"Hours", "If Time of day is from 09:00 to 18:00"}, {"Device", "If Device is phone, go to"}} {
		b.press(start[0], start[1])
		b.until(`document.activeElement.name === 'targetUrl'`)
		if start[0] != "Device" {
			b.press("Cancel", "No rules yet")
		}
	}
	b.sees("Without a name, it is called “Device is phone”.")
	b.inspectNarrow("rules-quick")
	b.fill("targetUrl", "example.com/m")
	b.press("Save", "Device is phone saved")
	for range 3 {
		follow(t, b.short("store"), phone, "")
	}
	follow(t, b.short("store"), laptop, "")
	testkit.Eventually(t, "the rule has its part of the clicks", func() (seen bool) {
		b.do(chromedp.Reload())
		b.sees("Device is phone")
		b.settle()
		b.eval(`document.querySelector('.rule .reached')?.innerText.startsWith('75%') === true`, &seen)
		return seen
	})
	b.sees("of the clicks, 30 days", "Everybody else", "25%")
	b.press("Templates", "Business hours")
	b.inspectNarrow("rules-reach")
	b.press("Actions for Device is phone", "Delete Device is phone")
	b.inspectNarrow("rules-menu")
}

// Rules are copied to two links. One of them was changed meanwhile: it is named, stays as it is, and gets the rules the second time.
func TestConsole_rules_are_copied_to_other_links(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	from := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	b.rule(from, "Phones", "https://example.com/phones", when("device", "equals", "MOBILE"))
	b.rule(from, "Germany", "https://example.com/de", when("country", "equals", "DE"))
	hats := b.made(map[string]any{"originalUrl": "https://example.com/hats", "customSlug": b.own("hats"), "title": "Hats"})
	b.rule(hats, "Phones", "https://example.com/hats/phones", when("device", "equals", "MOBILE"))
	b.rule(hats, "Tablets", "https://example.com/hats/tablets", when("device", "equals", "TABLET"))
	coats := b.made(map[string]any{"originalUrl": "https://example.com/coats", "customSlug": b.own("coats"), "title": "Coats"})

	b.visit("/console/links/" + from.ID + "/rules")
	b.press("Copy to links", "Copy rules to other links")
	choose := func(name string) {
		b.fill("to", name)
		b.click(`[...document.querySelectorAll('[role=option]')].find((one) => one.textContent.startsWith('` + name + `'))`)
	}
	choose("Hats")
	b.sees("Adds Germany. Replaces Phones.")
	choose("Coats")
	b.sees("Copy to 2 links")
	b.click(`document.querySelector('[value=replace]')`)
	b.sees("Removes Tablets.")
	b.inspectNarrow("rules-copy")
	b.ask("PUT", "/api/urls/"+hats.ID, map[string]any{"title": "Hats, new"}, nil)
	b.press("Copy to 2 links", "Rules copied to 1 link", "1 link has not changed. The reason is below.", "Hats, new")
	b.inspectNarrow("rules-copy-failed")
	names := func(link url) (list string) {
		var saved struct{ Rules []struct{ Name string } }
		b.ask("GET", "/api/urls/"+link.ID+"/routing-rules", nil, &saved)
		for _, one := range saved.Rules {
			list += one.Name + " "
		}
		return list
	}
	if names(coats) != names(from) || names(hats) != "Phones Tablets " {
		t.Errorf("coats have %s, hats have %s", names(coats), names(hats))
	}
	b.press("Copy to 1 link", "Rules copied to 1 link")
	b.until(`!document.querySelector('dialog[open]')`)
	if names(hats) != names(from) {
		t.Errorf("hats have %s, want %s", names(hats), names(from))
	}
	b.click(`[...document.querySelectorAll('.toast button')].findLast((one) => one.textContent.trim() === 'Undo')`)
	b.sees("The links have their former rules again")
	if names(hats) != "Phones Tablets " {
		t.Errorf("after undo, hats have %s", names(hats))
	}
}

// Conditions move with the mouse and with the keys, and a move can be undone.
func TestConsole_rule_parts_move(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	group := map[string]any{"operator": "OR", "conditions": []any{when("city", "equals", "C")}}
	b.rule(link, "Movers", "https://example.com/a", when("city", "equals", "A"), when("city", "equals", "B"), group)
	b.visit("/console/links/"+link.ID+"/rules", "City is A, City is B, and City is C")
	b.press("Edit Movers", "Add group")
	order := func() (text string) {
		b.eval(`(() => { const say = (list) => [...list.children].filter((e) => e.dataset.part).map((e) => { const inner = `+
			`e.querySelector(':scope > .group > ul'); return inner ? '(' + say(inner) + ')' : e.querySelector('input[aria-label=Value]').value; `+
			`}).join(' '); return say(document.querySelector('.builder > .group > ul')); })()`, &text)
		return text
	}
	if got := order(); got != "A B (C)" {
		t.Fatalf("the builder shows %s", got)
	}

	// By keyboard: A goes over B, into the group and behind C.
	b.focusOn(`.handle`)
	for _, want := range []string{"B A (C)", "B (A C)", "B (C A)", "B (C) A"} {
		b.keys(kb.ArrowDown)
		b.settle()
		if got := order(); got != want {
			t.Fatalf("the builder shows %s, want %s", got, want)
		}
		b.until(`document.activeElement.classList.contains('handle')`)
	}
	for range 4 {
		b.press("Undo")
	}
	b.settle()
	if got := order(); got != "A B (C)" {
		t.Fatalf("after undo, the builder shows %s", got)
	}

	// By mouse: B goes into the group, behind C.
	b.eval(`document.querySelectorAll('.builder > .group > ul > li')[1].querySelector('.handle').id = 'from'; `+
		`document.querySelectorAll('.builder .group .group .condition')[0].id = 'to'; 0`, nil)
	fromX, fromY := b.center("#from")
	toX, toY := b.center("#to")
	var height float64
	b.eval(`document.querySelector('#to').getBoundingClientRect().height`, &height)
	b.do(
		input.DispatchMouseEvent(input.MousePressed, fromX, fromY).WithButton(input.Left).WithClickCount(1),
		input.DispatchMouseEvent(input.MouseMoved, fromX+3, fromY+10).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseMoved, toX, toY+height/2-3).WithButton(input.Left),
	)
	b.until(`document.querySelector('.mark')`)
	b.looks("rules-drag")
	b.do(input.DispatchMouseEvent(input.MouseReleased, toX, toY+height/2-3).WithButton(input.Left).WithClickCount(1))
	b.settle()
	if got := order(); got != "A (C B)" {
		t.Fatalf("after dragging, the builder shows %s", got)
	}
}

// Two people change one rule: the second one sees the version of the first and loses nothing.
func TestConsole_rule_conflict(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("412")
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	rule := b.rule(link, "Phones", "https://example.com/a", when("device", "equals", "MOBILE"))
	b.visit("/console/links/" + link.ID + "/rules")
	b.press("Edit Phones")
	b.fill("name", "Mine")
	b.ask("PUT", "/api/urls/"+link.ID+"/routing-rules/"+rule, map[string]any{"name": "Theirs"}, nil)
	b.press("Save", "has changed this rule", "Theirs")
	b.until(`document.querySelector('[name=name]').value === 'Mine'`)
	b.inspect("rules-conflict")

	// A page that is loaded again has the draft.
	b.do(chromedp.Reload())
	b.press("Edit Theirs", "You have changes of this rule that are not saved.")
	b.until(`document.querySelector('[name=name]').value === 'Mine'`)
	b.press("Save", "Mine saved")
}

// Somebody finds out why a visitor goes to the wrong place, tries a better rule on visitors of the past, and saves it.
func TestConsole_rule_is_tried_before_it_is_saved(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	b.rule(link, "Phones", "https://example.com/phones", when("device", "equals", "MOBILE"))
	for range 3 {
		follow(t, b.short("store"), phone, "")
		follow(t, b.short("store"), laptop, "")
	}
	b.visit("/console/links/" + link.ID + "/rules")
	b.press("Edit Phones")
	b.press("Try it before you save", "Goes to example.com/phones: the rule “Phones” decides.")
	b.set("agent", "windows")
	b.sees("Goes to example.com: no rule matches", "visitor: computer")
	b.inspect("rules-try")

	// The draft counts, not what is saved.
	b.pick(0, "Value", "DESKTOP")
	b.sees("Goes to example.com/phones: the rule “Phones” decides.")
	testkit.Eventually(t, "the replay has all visitors", func() (seen bool) {
		b.press("Replay the last 1,000 visitors")
		b.settle()
		b.eval(`document.body.innerText.includes('6 of 6 visitors would go somewhere else.')`, &seen)
		return seen
	})
	b.sees("This rule would have sent 3 visitors, 50%.")
	b.until(`[...document.querySelectorAll('.replay tbody tr')].map((row) => row.innerText.trim().replace(/\s+/g, ' ')).sort().join('; ') ` +
		`=== 'example.com example.com/phones 3; example.com/phones example.com 3'`)
	b.inspect("rules-replay")
	b.press("Cancel", "If Device is phone, go to example.com/phones.")
}

// wrongPlace makes a link with a rule that sends phones to the wrong page, and waits until such a click is stored.
func wrongPlace(t *testing.T, b *browser) url {
	t.Helper()
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "Store",
		"isSmartRouting": true})
	b.rule(link, "Big screens", "https://example.com/big", when("device", "not_equals", "DESKTOP"))
	testkit.Eventually(t, "the click is stored with its rule", func() (stored bool) {
		follow(t, b.short("store"), phone, "")
		var clicks struct {
			Clicks []struct{ RoutingRuleID *string }
		}
		b.ask("GET", "/api/analytics/urls/"+link.ID+"/recent-clicks", nil, &clicks)
		return len(clicks.Clicks) > 0 && clicks.Clicks[0].RoutingRuleID != nil
	})
	return link
}

// Somebody on a phone landed on the wrong page. The latest clicks name the rule that decided, and the rule says why.
func TestJourney_why_a_visitor_went_to_the_wrong_place(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := wrongPlace(t, b)
	b.visit("/console/live?tab=recent&link="+link.ID, "Big screens")
	end := b.journey(2)
	b.press("Big screens")
	b.until(`document.querySelector('[name=name]')?.value === 'Big screens'`)
	b.sees("If Device is not computer, go to")
	b.press("Try it before you save", "Goes to example.com/big: the rule “Big screens” decides.")
	end()
	b.barrierFree()
	b.do(chromedp.NavigateBack())
	b.sees("Big screens")
}

package browser_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
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
	b.keyOn("rules", "Actions for Phones")
	b.keyOn("rules", "Delete Phones")
	b.until(`!document.querySelector('ol.rules li')`)
	b.keepsFocus("rules: after Delete")

	for _, action := range []string{"Disable", "Enable", "Delete"} {
		b.visit("/console/links", "4 links")
		b.focusOn(`li.link input[type=checkbox]`)
		b.eval(`document.activeElement.click()`, nil)
		b.keyOn("links", action)
		b.settle()
		b.keepsFocus("links: after " + action)
	}
}

// walkAll activates everything on the present screen that a person can: buttons, boxes, and what is in the dialogs that they open.
// Actions that delete come last. It returns after which actions the focus was lost, what was activated, and whether the screen was
// left.
const walkAll = `async (before) => {
	const done = new Set(before), lost = [], place = location.pathname;
	const frames = async () => { for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); };
	const settled = async () => { do await frames(); while (requests > 0 || document.querySelector('[aria-busy=true]')); await frames(); };
	const dialog = () => [...document.querySelectorAll('dialog[open]')].pop();
	const nameOf = (e) => (dialog()?.querySelector('h2').textContent ?? '') + ': ' + e.localName + ' ' +
		(e.getAttribute('aria-label') ?? (e.labels?.[0] ?? e).textContent).trim().replace(/\d+/g, '0');
	const look = (name) => { if (!document.activeElement || document.activeElement === document.body) lost.push(name); };
	const wanted = (e) => e.checkVisibility() && !e.disabled && !done.has(nameOf(e)) &&
		!(dialog() && e.matches('header button'));
	for (let left = 80; left > 0; left--) {
		const all = [...(dialog() ?? document.querySelector('main')).querySelectorAll('button, summary, input[type=checkbox], input[type=radio]')].filter(wanted);
		const e = all.find((one) => !one.matches('.danger')) ?? all[0];
		const name = e ? nameOf(e) : 'Escape in ' + dialog()?.querySelector('h2').textContent;
		if (!e && !dialog()) break;
		done.add(name);
		if (e) { e.focus(); e.click(); }
		else dialog().dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true, cancelable: true}));
		await settled();
		look(name);
		if (location.pathname !== place) return {lost, done: [...done], left: true};
	}
	return {lost, done: [...done], left: false};
}`

// requests counts the requests of the page that have no answer yet.
const requests = `window.requests = 0; { const send = fetch; window.fetch = async (...all) => { requests++; try { return await send(...all); } finally { requests--; } }; }`

// paths are the paths of the console's routes, with the ids of objects. A screen that is new is among them.
func paths(t *testing.T, furnished []screen) (list []string) {
	t.Helper()
	ids := map[string]string{}
	for _, s := range furnished {
		if part := strings.Split(s.path, "/"); len(part) > 2 {
			ids[part[1]] = part[2]
		}
	}
	lines, err := os.ReadFile(testkit.Source(t, "control/internal/console/dist/app/screens.txt"))
	testkit.Must(t, err)
	choice := regexp.MustCompile(`\(\?(?:<id>|:)([\w|-]+)\)`)
	for line := range strings.Lines(string(lines)) {
		path := strings.Trim(strings.ReplaceAll(strings.TrimSpace(line), `\/`, "/"), "^$")
		path = strings.Replace(path, `(?<id>[\w-]+)`, ids[strings.Split(path, "/")[1]], 1)
		all := []string{path}
		if inner := regexp.MustCompile(`^(.*)\(\?:(/.*)\)\?$`).FindStringSubmatch(path); inner != nil {
			all = []string{inner[1], inner[1] + inner[2]} // with the optional part, and without
		}
		for _, one := range all {
			found := choice.FindStringSubmatch(one)
			if found == nil {
				list = append(list, one)
				continue
			}
			for _, word := range strings.Split(found[1], "|") {
				list = append(list, strings.TrimSuffix(strings.Replace(one, found[0], word, 1), "?"))
			}
		}
	}
	for _, s := range furnished {
		if strings.Contains(s.path, "?") {
			list = append(list, s.path)
		}
	}
	return list
}

// leaves are screens whose actions end the session or make signing in impossible; the tests of these screens check the focus there.
var leaves = []string{"/account/sessions"}

// After every action on every screen, the focus is somewhere in the page. The screens come from the console's routes, and the actions from
// the screens. Screens of objects come first, because their objects are deleted.
func TestF5_focus_after_every_action(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t))
	b.tolerant = true // actions on forms that are not filled in are refused
	b.authenticator()
	all := paths(t, b.furnish())
	if len(all) < 35 || slices.ContainsFunc(all, func(path string) bool { return strings.ContainsAny(path, "(<[") }) {
		t.Fatalf("unexpected paths %q", all)
	}
	b.onEachPage(requests)
	activated := 0
	slices.SortStableFunc(all, func(x, y string) int { return strings.Count(y, "/") - strings.Count(x, "/") })
	for _, path := range all {
		if slices.Contains(leaves, path) {
			continue
		}
		result := struct {
			Lost, Done []string
			Left       bool
		}{Left: true}
		for result.Left {
			b.visit("/console" + path)
			b.until(shown + ` && requests === 0`)
			known := len(result.Done)
			b.do(chromedp.Evaluate(fmt.Sprintf("(%s)([%s])", walkAll, quotedAll(result.Done)), &result, awaited))
			activated += len(result.Done) - known
			for _, name := range result.Lost {
				t.Errorf("%s: after %q the focus is on the body", path, name)
			}
		}
	}
	t.Logf("%d actions on %d screens", activated, len(all))
	if activated < 150 {
		t.Errorf("only %d actions were found", activated)
	}
}

// quotedAll is texts as JavaScript literals.
func quotedAll(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = quoted(text)
	}
	return strings.Join(list, ",")
}

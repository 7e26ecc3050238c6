package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// measures records, from the start of a page on, when a first row is in the document, layout shifts, and how long each interaction
// took from the input to the next picture.
const measures = `(() => {
	const m = window.measures = {row: 0, shifts: [], slowest: 0};
	new PerformanceObserver((list) => list.getEntries().filter((e) => !e.hadRecentInput).forEach((e) => m.shifts.push(...e.sources.map((s) => (s.node?.outerHTML ?? s.node?.data ?? '').slice(0, 80))))).observe({type: 'layout-shift', buffered: true});
	new PerformanceObserver((list) => list.getEntries().forEach((e) => { m.slowest = Math.max(m.slowest, e.duration); })).observe({type: 'event', durationThreshold: 16, buffered: true});
	const watch = new MutationObserver(() => {
		if (!document.querySelector('li.link')) return;
		watch.disconnect();
		requestAnimationFrame(() => requestAnimationFrame(() => m.row = performance.now()));
	});
	watch.observe(document, {childList: true, subtree: true});
})()`

// measured makes the browser execute the measures at the start of each page.
func (b *browser) measured() {
	b.t.Helper()
	b.onEachPage(measures)
}

// clickMouse presses the mouse on an element, as a person does. A click by script is not an interaction.
func (b *browser) clickMouse(selector string) {
	b.t.Helper()
	x, y := b.center(selector)
	b.do(chromedp.MouseClickXY(x, y))
}

// many creates links with titles and with two of 200 tags each.
func (b *browser) many(links int) {
	b.t.Helper()
	for at := 0; at < links; at += 100 {
		urls := make([]map[string]any, min(100, links-at))
		for i := range urls {
			n := at + i
			urls[i] = map[string]any{"originalUrl": fmt.Sprintf("https://example.com/page/%d", n),
				"customSlug": b.own(fmt.Sprintf("page-%06d", n)),
				"title":      fmt.Sprintf("Page %d", n), "tags": []string{fmt.Sprintf("tag %03d", n%200), fmt.Sprintf("tag %03d", n/7%200)}}
		}
		b.ask("POST", "/api/urls/bulk", map[string]any{"urls": urls}, nil)
	}
}

// The first screen does not grow with the number of links: requests, bytes, elements and rows have bounds, and nothing moves.
// make proof measures how long it takes with 100,000 links.
func TestConsole_first_screen_has_bounds(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.many(1000)
	b.measured()
	b.visit("/console/links", "1,000 links")
	b.until(`measures.row > 0 && !document.querySelector('[aria-busy=true]')`)
	b.settle()
	var first struct {
		Requests, Bytes, Elements, Rows int
		Shifts                          []string
	}
	b.eval(`(() => {
		const all = performance.getEntriesByType('resource');
		return {requests: all.length, bytes: all.reduce((n, e) => n + e.encodedBodySize, 0), elements: document.querySelectorAll('*').length,
			rows: document.querySelectorAll('li.link').length, shifts: measures.shifts};
	})()`, &first)
	t.Logf("the first screen: %+v", first)
	// Whether data arrives before the first frame depends on the speed of the machine.
	if testkit.Size(false, true) && len(first.Shifts) > 0 {
		t.Errorf("elements moved: %q", first.Shifts)
	}
	if first.Requests > 15 || first.Bytes > 250_000 || first.Elements > 1500 || first.Rows > 40 {
		t.Errorf("the first screen is too large, or it moves: %+v", first)
	}

	// The wheel keeps the number of rows. A word in the search asks the server once for each letter at most.
	b.do(input.DispatchMouseEvent(input.MouseWheel, 600, 400).WithDeltaX(0).WithDeltaY(30_000))
	b.until(`scrollY > 1000 && [...document.querySelectorAll('li.link .name a')].some((e) => e.checkVisibility())`)
	b.until(`document.querySelectorAll('li.link').length <= 40`)
	b.eval(`scrollTo(0, 0); performance.clearResourceTimings()`, nil)
	b.clickMouse("input[type=search]")
	b.do(input.InsertText("page 98"))
	b.until(`location.search === '?search=page+98'`)
	b.sees("11 links")
	b.until(`performance.getEntriesByType('resource').filter((e) => e.name.includes('search=')).length <= 2`)
}

// thousandConditions makes a link with ten rules of 100 conditions each, and opens the form of the last one.
func (b *browser) thousandConditions() {
	b.t.Helper()
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("many"), "title": strings.Repeat("رابط ", 51)})
	for i := range 10 {
		list := make([]map[string]any, 100)
		for j := range list {
			list[j] = map[string]any{"type": "city", "operator": "equals", "value": fmt.Sprintf("City %d", i*100+j)}
		}
		b.ask("POST", "/api/urls/"+link.ID+"/routing-rules", map[string]any{"name": fmt.Sprintf("Rule %d", i),
			"targetUrl": "https://example.com/many", "priority": i + 1,
			"conditions": map[string]any{"operator": "OR", "conditions": list}}, nil)
	}
	b.visit("/console/links/"+link.ID+"/rules", "City 999")
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.press("Edit Rule 9")
	b.until(`document.querySelectorAll('[data-part]').length === 100`)
	b.eval(`[...document.querySelectorAll('input[aria-label=Value]')].pop().focus()`, nil)
}

// The rules of a link with 1,000 conditions can be read and changed. A letter in one of 100 conditions of a form changes that one.
func TestConsole_thousand_conditions(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.thousandConditions()
	b.settle()
	b.eval(`window.changed = 0; new MutationObserver((list) => changed += list.length).observe(document.body, {subtree: true, childList: `+
		`true, attributes: true, characterData: true})`, nil)
	b.do(typed("x"))
	b.until(`[...document.querySelectorAll('input[aria-label=Value]')].pop().value.includes('x')`)
	b.settle()
	var changed int
	if b.eval(`changed`, &changed); changed > 20 {
		t.Errorf("a letter changed the document in %d places", changed)
	}
	b.press("Add group")
}

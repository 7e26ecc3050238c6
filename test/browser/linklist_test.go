package browser_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// filter sets a filter of the list of links, as a person does: it chooses what to filter by, and one of the values.
func (b *browser) filter(by, search, value string) {
	b.t.Helper()
	b.press("Filter")
	option := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.popover [role=option]')].find((e) => e.textContent === %q)`, text)
	}
	b.click(option(by))
	b.until(fmt.Sprintf(`document.querySelector('.popover [name=find]')?.ariaLabel === %q`, by))
	if search != "" {
		b.fill("find", search)
	}
	b.click(option(value))
	b.until(`!document.querySelector('.popover')`)
}

// sorts chooses the order of the list of links.
func (b *browser) sorts(order string) {
	b.t.Helper()
	b.press("Display")
	b.until(`document.querySelector('.popover [name=sort]')`)
	b.set("sort", order)
	b.keys(kb.Escape)
	b.until(`!document.querySelector('.popover') && document.activeElement.dataset.menu === 'display'`)
}

// rowAt is the element of a row of the list.
func rowAt(n int) string { return fmt.Sprintf(`document.querySelector('[data-row="%d"]')`, n) }

// shortAt is the short address that a row shows.
func (b *browser) shortAt(n int) string {
	b.t.Helper()
	b.until(rowAt(n) + `?.querySelector('.short')`)
	return b.text(rowAt(n) + `.querySelector('.short').textContent`)
}

// The filters are chips with sentences. Each can be removed, and the first link is near the top of the page.
func TestLinkList_filters_are_chips(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Beach", "tags": []string{"spring", "fair"}})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Ski", "tags": []string{"spring"}})
	b.visit("/console/links", "2 links")
	b.until(rowAt(0) + `.getBoundingClientRect().top <= 150`)
	b.press("Filter")
	b.until(`document.querySelector('.popover [role=option]')`)
	b.inspectNarrow("list-filter")
	b.keys(kb.Escape)
	b.until(`document.activeElement.dataset.menu === 'filter' && !document.querySelector('.popover')`)

	b.filter("Tag", "spr", "spring")
	b.until(`document.querySelector('.active .chip').textContent === 'Tag: spring'`)
	b.filter("Tag", "fair", "fair")
	b.sees("1 link")
	b.filter("Status", "", "Active")
	b.until(`location.search === '?tag=spring&tag=fair&status=ACTIVE'`)
	b.inspect("list-chips")
	b.press("Remove Tag: fair", "2 links")
	b.press("Remove Status: Active")
	b.until(`location.search === '?tag=spring'`)
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.active .chip').textContent === 'Tag: spring'`)
}

// The date of creation has ranges, and one with a first and a last day that the user chooses.
func TestLinkList_dates_of_creation(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Beach"})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Ski"})
	b.visit("/console/links", "2 links")
	b.filter("Created", "", "Last 7 days")
	b.until(`document.querySelector('.active .chip').textContent === 'Created: Last 7 days'`)
	b.sees("2 links")

	// Pressing the chip opens its values.
	b.press("Created: Last 7 days")
	b.click(`[...document.querySelectorAll('.popover [role=option]')].find((e) => e.textContent === 'Own range')`)
	b.until(`document.querySelector('.between input[name=from]:enabled')`)
	b.keepsFocus("choosing two days")
	b.fill("from", "2020-02-29")
	b.fill("to", "2020-02-01")
	b.inspectNarrow("list-created")
	b.press("Done") // the filter has the two days in their order
	b.until(`location.search === '?created=2020-02-01..2020-02-29' && !document.querySelector('.popover')`)
	b.until(`/^Created: Feb 1\D+29, 2020$/.test(document.querySelector('.active .chip').textContent)`)
	b.sees("0 links")
	b.press("Clear the filters", "2 links")
}

// A row has the short address as its largest text, which a click copies, and says what is special about its link.
func TestLinkList_rows_and_display(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	soon := time.Now().Add(71 * time.Hour).UTC().Format(time.RFC3339)
	link := b.made(map[string]any{"originalUrl": "https://example.com/long/way", "customSlug": b.own("fair"), "title": "The fair",
		"expiresAt": soon, "tags": []string{"spring"}, "utmCampaign": "warm days", "password": "a-password"})
	b.post("/api/bundles", map[string]any{"name": "Coast", "urlIds": []string{link.ID}})
	b.made(map[string]any{"originalUrl": "https://example.com/few", "maxClicks": 100})
	b.many(7)
	b.visit("/console/links?sort=oldest", "9 links", "Ends in 3 days", "0 of 100 clicks", "Coast", "warm days", "spring")
	b.until(`(() => {
		const sizes = [...` + rowAt(0) + `.querySelectorAll('*')].map((e) => parseFloat(getComputedStyle(e).fontSize));
		return parseFloat(getComputedStyle(` + rowAt(0) + `.querySelector('.short')).fontSize) === Math.max(...sizes);
	})()`)
	b.press("Copy " + b.shortAt(0))
	b.until(`document.querySelector('.toasts').innerText.trim() !== ''`)
	b.inspectNarrow("list-rows")

	b.press("Display")
	b.until(`document.querySelector('.popover [name=density]')`)
	b.inspectNarrow("list-display")
	b.set("density", "compact")
	b.click(`document.querySelector('.popover [name=campaign]')`)
	b.keys(kb.Escape)
	b.until(rowAt(0) + `.getBoundingClientRect().height === 40 && !document.body.innerText.includes('warm days')`)
	b.inspect("list-compact")
	b.do(chromedp.Reload())
	b.sees("9 links")
	b.until(rowAt(0) + `.getBoundingClientRect().height === 40 && !document.body.innerText.includes('warm days')`)
}

// Keys move through the list and act on the link with the focus. The list keeps the place, the selection and the focus.
func TestLinkList_keys(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.many(300)
	b.visit("/console/links?sort=slug", "300 links")
	focused := func(n int) string {
		return fmt.Sprintf(`document.activeElement === document.querySelector('[data-row="%d"] .name a')`, n)
	}
	b.until(rowAt(0) + `.querySelector('.name a')`)
	b.keys("j")
	b.until(focused(0))
	b.keys("j", "j", "x", "k", "X")
	b.until(focused(1))
	b.sees("2 selected")
	b.keys("c")
	b.until(`document.querySelector('.toasts').innerText.trim() !== ''`)
	b.inspect("list-selected")
	// In one step, so that no row is drawn between two keys.
	b.eval(`for (let i = 0; i < 40; i++)
		document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))`, nil)
	b.until(focused(41))
	b.until(rowAt(41) + `.getBoundingClientRect().bottom <= innerHeight`)
	var place float64
	b.eval(`scrollY`, &place)
	b.keys("e")
	b.until(`location.pathname.length > '/console/links/'.length`)
	b.do(chromedp.NavigateBack())
	b.until(focused(41) + fmt.Sprintf(` && Math.abs(scrollY - %f) < 2`, place))
	b.sees("2 selected")
	b.keys("?")
	b.sees("Next or previous link")
	b.keys(kb.Escape)
}

// The menu of a link has all that can be done with it.
func TestLinkList_menu(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for _, slug := range []string{"one", "two"} {
		b.made(map[string]any{"originalUrl": "https://example.com/" + slug, "customSlug": b.own(slug)})
	}
	b.visit("/console/links?sort=slug", "2 links")
	menu := "Actions for " + b.shortAt(0)
	item := func(text string) {
		t.Helper()
		b.click(fmt.Sprintf(`[...document.querySelectorAll('[role=menuitem]')].find((e) => e.textContent.trim() === %q)`, text))
	}
	b.press(menu)
	b.until(`document.activeElement.role === 'menuitem'`)
	b.inspectNarrow("list-menu")
	b.keys(kb.Escape)
	b.until(fmt.Sprintf(`document.activeElement.ariaLabel === %q`, menu))
	b.press(menu)
	item("Disable")
	b.sees("1 link disabled")
	b.until(`document.querySelector('li.link .badge')?.textContent === 'Disabled'`)
	b.keepsFocus("menu: after Disable")
	b.press(menu)
	item("Duplicate")
	b.until(`document.querySelector('dialog [name=customSlug]')`)
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.press(menu)
	item("Move to the trash")
	b.sees("1 link moved to the trash", "1 link")
	b.keepsFocus("menu: after the trash")
	b.click(`[...document.querySelectorAll('.toast')].find((e) => e.textContent.includes('trash')).querySelector('button')`)
	b.sees("2 links")
}

// broken lets the page believe that some destinations are broken. The service itself needs hours to find that. Lists that ask for
// broken links get those whose destination contains a text.
func (b *browser) broken(text string) {
	b.t.Helper()
	b.onEachPage(`{
		const plain = window.fetch;
		window.fetch = async (input, init) => {
			const url = new URL(input.url ?? input, location.href);
			const asked = url.searchParams.get('health') === 'broken';
			if (url.pathname !== '/api/urls' || !asked) return plain(input, init);
			url.searchParams.delete('health');
			const answer = await plain(url.href, init);
			const list = await answer.json();
			list.data = list.data.filter((one) => one.originalUrl.includes(` + quoted(text) + `));
			for (const one of list.data) Object.assign(one, {health: 'broken', healthReason: 'gone'});
			return new Response(JSON.stringify({...list, total: list.data.length}), {headers: answer.headers});
		};
	}`)
}

// Broken links are found and mended together in eight actions, with a look at the result before, and a way back.
func TestJourney_broken_links_are_mended_in_bulk(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for _, page := range []string{"old/1", "old/2", "old/3", "new/4"} {
		b.made(map[string]any{"originalUrl": "https://example.com/" + page})
	}
	b.broken("/old/")
	b.visit("/console/links", "4 links")

	end := b.journey(8)
	b.filter("Destination", "", "Broken") // 3
	b.sees("3 links")
	b.click(`document.querySelector('.listtools .pick input')`) // 4
	b.press("Edit")                                             // 5
	b.fill("find", "/old/")                                     // 6
	b.fill("with", "/new/")                                     // 7
	b.sees("3 links change", "https://example.com/new/3")
	b.aside(func() { b.inspectNarrow("bulk-edit") })
	b.press("Change 3 links", "3 links changed") // 8
	end()
	b.has("/api/urls?search=/new/", `{"total": 4}`)
	b.press("Undo", "3 links changed back")
	b.has("/api/urls?search=/old/", `{"total": 3}`)

	// Links that are refused stay as they were. They are listed, and the list can be downloaded.
	b.sees("3 selected")
	b.press("Edit")
	b.fill("find", "https://example.com/old/1")
	b.fill("with", "javascript:1")
	b.sees("0 links change", "2 are so already", "1 is refused")
	b.aside(func() { b.inspect("bulk-edit-refused") })
}

// Many links are moved to another bundle and another domain together.
func TestLinkList_bulk_edit_moves_links(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	domain := b.domain()
	var ids [2]string // of the bundles
	for i, name := range []string{"Spring fair", "Autumn fair"} {
		var bundle struct{ ID string }
		b.ask("POST", "/api/bundles", map[string]any{"name": name}, &bundle)
		ids[i] = bundle.ID
	}
	for i := range 3 {
		b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own(fmt.Sprint("stand", i)), "bundleIds": ids[:1]})
	}
	b.visit("/console/links", "3 links")
	b.click(`document.querySelector('.listtools .pick input')`)
	b.press("Edit")
	b.takes("bundle", "autumn", "Autumn fair")
	b.takes("removeBundle", "spring", "Spring fair")
	b.takes("domain", domain.Hostname, domain.Hostname)
	b.sees("3 links change", "Slugs stay. The old addresses stop working.")
	b.inspectNarrow("bulk-edit-places")
	b.press("Change 3 links", "3 links changed")
	b.has("/api/bundles/"+ids[0], `{"urlCount": 0}`)
	b.has("/api/bundles/"+ids[1], `{"urlCount": 3}`)
	b.has("/api/urls?domain="+domain.Hostname, `{"total": 3}`)
	b.press("Undo", "3 links changed back")
	b.has("/api/bundles/"+ids[0], `{"urlCount": 3}`)
	b.has("/api/urls?domain="+domain.Hostname, `{"total": 0}`)
}

// fits the list in Arabic.
func TestLinkList_in_arabic(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/long/way", "customSlug": b.own("fair"), "title": "سوق الربيع", "tags": []string{"spring"}})
	b.eval(`localStorage.setItem('shortline.language', 'ar')`, nil)
	b.visit("/console/links?tag=spring")
	b.until(`document.dir === 'rtl' && document.querySelector('.chip')`)
	b.click(`document.querySelector('li.link .pick input')`)
	b.until(`document.querySelector('.bulk')`)
	b.inspectNarrow("list-arabic")
	b.do(emulation.ClearDeviceMetricsOverride())
}

package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// takes searches a choice and takes the option with that text.
func (b *browser) takes(name, search, option string) {
	b.t.Helper()
	within := `([...document.querySelectorAll('dialog[open]')].pop() ?? document)`
	b.until(fmt.Sprintf(`%s.querySelector('[name=%s]')?.checkVisibility()`, within, name))
	b.eval(fmt.Sprintf(`(() => { const e = %s.querySelector('[name=%s]'); e.focus(); e.click(); })()`, within, name), nil)
	if search != "" {
		b.fill(name, search)
	}
	at := fmt.Sprintf(`[...%s.querySelectorAll('.picker [role=option]')].find((e) => e.textContent === %q)`, within, option)
	b.click(at)
}

// Tags are created, changed and deleted, and lead to their links and reports.
func TestLabels_tags(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/tags", "No tags yet")
	b.barrierFree()
	b.press("New tag")
	b.fill("name", "Summer")
	b.press("Create tag", "Saved")
	b.press("New tag")
	b.fill("name", "summer")
	b.press("Create tag")
	b.until(`document.querySelector('dialog [name=name]').getAttribute('aria-invalid') === 'true'`)
	b.barrierFree()
	b.press("Cancel")
	b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Beach", "tags": []string{"Summer"}})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Ski"})
	b.press("Edit Summer")
	b.fill("name", "Summer 2027")
	b.press("Save")
	b.until(`document.querySelector('td a')?.textContent === 'Summer 2027'`)
	b.inspect("tags")
	b.do(chromedp.Click(`td a`))
	b.sees("1 link", "Beach")
	b.until(`document.querySelector('.active .chip')?.textContent === 'Tag: Summer 2027'`)
	b.visit("/console/tags")
	b.press("Delete Summer 2027", "It is removed from 1 link, which stays.")
	b.looks("tags-delete")
	b.press("Delete", "No tags yet")
	b.visit("/console/links", "2 links")
}

// All of 200 tags can be found and chosen.
func TestLabels_many_tags(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for i := range 10 {
		var urls []map[string]any
		for j := range 20 {
			urls = append(urls, map[string]any{"originalUrl": "https://example.com/", "tags": []string{fmt.Sprintf("tag %03d", i*20+j)}})
		}
		b.ask("POST", "/api/urls/bulk", map[string]any{"urls": urls}, nil)
	}
	b.visit("/console/tags", "Page 1 of 10")
	b.barrierFree()
	b.visit("/console/links")
	b.filter("Tag", "19", "tag 119")
	b.sees("1 link")
	b.until(`location.search === '?tag=tag+119' && document.querySelector('.active .chip').textContent === 'Tag: tag 119'`)

	// The arrow keys go through the list, Escape leaves it, and Enter takes nothing that an earlier text found.
	b.press("Remove Tag: tag 119", "200 links")
	options := func(n int) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelectorAll('.popover [role=option]').length === %d`, n))
	}
	b.press("Filter")
	b.click(`[...document.querySelectorAll('.popover [role=option]')].find((e) => e.textContent === 'Tag')`)
	b.until(`document.querySelector('.popover [name=find]').ariaLabel === 'Tag'`)
	b.fill("find", "tag 00")
	options(10)
	b.inspect("tag-picker")
	b.keys(kb.ArrowDown, kb.ArrowDown, kb.ArrowUp, kb.Enter)
	b.until(`location.search === '?tag=tag+001'`)
	b.press("Tag: tag 001")
	b.until(`document.querySelector('.popover [name=find]').ariaLabel === 'Tag'`)
	b.fill("find", "tag 01")
	options(10)
	b.keys(kb.Escape)
	b.until(`!document.querySelector('.popover') && location.search === '?tag=tag+001'`)
	b.press("Tag: tag 001")
	b.until(`document.querySelector('.popover [name=find]').ariaLabel === 'Tag'`)
	b.fill("find", "nothing like it")
	b.sees("Nothing found")
	b.keys(kb.Enter)
	b.until(`location.search === '?tag=tag+001'`)
	b.press("Remove Tag: tag 001", "200 links")

	// A tag whose name begins with that of another one is not cut short.
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "tags": []string{"tag 0", "tag 00"}})
	b.visit("/console/links/" + link.ID + "?edit=1")
	b.until(`document.querySelector('.chips input')`)
	b.focusOn(`.chips input`)
	for _, letter := range "tag 0077" {
		b.do(input.InsertText(string(letter)))
	}
	b.keys(kb.Enter)
	b.until(`document.querySelectorAll('.chips .chip').length === 3 && document.querySelectorAll('.chips .chip')[2].textContent === ` +
		`'tag 0077'`)
}

// Templates fill in the campaign of a link.
func TestLabels_templates(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": b.own("one")})
	b.visit("/console/templates", "No UTM templates yet")
	b.press("New template")
	b.fill("name", "Newsletter")
	b.fill("utmSource", "mail")
	b.fill("utmMedium", "email")
	b.fill("utmId", "n-7")
	b.press("Create template", "Newsletter")
	b.inspect("templates")
	b.press("Edit Newsletter")
	b.fill("utmMedium", "newsletter")
	b.press("Save")
	b.until(`document.querySelector('table').textContent.includes('newsletter')`)
	b.has("/api/utm-templates", `{"data": [{"utmSource": "mail", "utmMedium": "newsletter", "utmId": "n-7"}]}`)
	b.visit("/console/links/" + link.ID + "?edit=1")
	b.press("Campaign (UTM)")
	b.takes("template", "news", "Newsletter")
	b.sees("https://example.com/1?utm_source=mail&utm_medium=newsletter&utm_id=n-7")
	b.press("Save", "Saved")

	// The values of other links are suggested, and a campaign is kept as a template.
	b.visit("/console/links?new=1")
	b.fill("originalUrl", "example.com/2")
	b.press("More options")
	b.press("Campaign (UTM)")
	b.fill("utmMedium", "news")
	b.until(`[...document.querySelectorAll('dialog [name=utmMedium] + datalist option')].map((e) => e.value).join() === 'newsletter'`)
	b.fill("utmCampaign", "spring sale")
	b.sees("https://example.com/2?utm_medium=news&utm_campaign=spring+sale")
	b.inspect("campaign")
	b.press("Save as a template")
	b.until(`document.querySelector('dialog [name=utmCampaign]')?.value === 'spring sale'`)
	b.fill("name", "Spring")
	b.looks("template-form")
	b.press("Create template", "utm_medium=news&utm_campaign=spring+sale")
	b.until(`location.search === ''`)
	b.visit("/console/links?new=1")
	b.until(`document.querySelector('dialog [name=utmMedium]')?.value === 'news'`) // the link is still a draft
	b.takes("template", "", "Newsletter")
	b.until(`document.querySelector('dialog [name=utmSource]').value === 'mail' && document.querySelector('dialog ` +
		`[name=utmCampaign]').value === ''`)
	b.press("Create link", "2 links")
	b.has("/api/urls?search=example.com/2", `{"data": [{"utmSource": "mail", "utmId": "n-7"}]}`)
}

// A bundle has links in an order, figures, and an archive.
func TestLabels_bundles(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("412")
	for _, name := range []string{"Alpha", "Beta", "Gamma"} {
		b.made(map[string]any{"originalUrl": "https://example.com/" + name, "title": name})
	}
	b.visit("/console/bundles", "No bundles yet")
	b.press("New bundle")
	b.fill("name", "Launch")
	b.fill("description", "Links of the launch")
	b.press("Create bundle", "Links of the launch")
	b.inspect("bundles")
	b.do(chromedp.Click(`td a`))
	b.sees("No links yet")
	b.press("Add links")
	b.until(`document.querySelectorAll('dialog .tick').length === 3`)
	b.fill("search", "beta")
	b.until(`document.querySelectorAll('dialog .tick').length === 1`)
	b.click(`document.querySelector('dialog .tick input')`)
	b.fill("search", "alpha")
	b.until(`document.querySelectorAll('dialog .tick').length === 2`)
	b.click(`document.querySelectorAll('dialog .tick input')[1]`)
	b.inspect("bundle-add")
	b.press("Add")
	order := `[...document.querySelectorAll('tbody td:first-child a')].map((e) => e.textContent).join()`
	b.until(order + ` === 'Beta,Alpha'`)
	b.press("Move Alpha up")
	b.until(order + ` === 'Alpha,Beta'`)
	b.inspect("bundle")
	b.press("Show in the list of links", "2 links")
	b.until(`document.querySelector('.active .chip')?.textContent === 'Bundle: Launch'`)
	b.do(chromedp.NavigateBack())
	b.press("Remove Alpha from the bundle")
	b.until(order + ` === 'Beta'`)
	b.press("Undo")
	b.until(order + ` === 'Alpha,Beta'`)
	b.press("Remove Beta from the bundle")
	b.until(order + ` === 'Alpha'`)

	// Two people who change a bundle lose nothing.
	id := b.text(`location.pathname.split('/').pop()`)
	b.press("Edit")
	b.fill("name", "Mine")
	b.ask("PUT", "/api/bundles/"+id, map[string]any{"name": "Theirs", "description": "Theirs too"}, nil)
	b.press("Save", "has changed Theirs meanwhile.")
	b.inspect("bundle-conflict")
	b.press("Save mine")
	b.until(`document.querySelector('h1').textContent === 'Mine'`)
	b.sees("Theirs too")
	b.press("Edit")
	b.fill("name", "Mine again")
	b.ask("PUT", "/api/bundles/"+id, map[string]any{"name": "Theirs again"}, nil)
	b.press("Save")
	b.press("Use theirs")
	b.until(`document.querySelector('dialog [name=name]').value === 'Theirs again'`)
	b.fill("name", "Launch 2026")
	b.press("Save")
	b.until(`document.querySelector('h1').textContent === 'Launch 2026'`)
	b.press("Edit")
	b.fill("name", "Launch 2027")
	b.press("Save")
	b.until(`document.querySelector('h1').textContent === 'Launch 2027'`)
	b.press("Archive", "Its links keep working.")
	b.visit("/console/bundles?status=ARCHIVED")
	b.press("Restore Launch 2027", "Nothing matches")
	b.visit("/console/links", "3 links")
	b.filter("Bundle", "", "Launch 2027")
	b.sees("1 link")
	b.visit("/console/bundles")
	b.press("Delete Launch 2027", "Its 1 link stays.")
	b.press("Delete", "No bundles yet")
}

// The filters, the search and the order of the list are saved under a name, and shared.
func TestLabels_views(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Beach", "tags": []string{"summer"}})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Ski"})
	b.visit("/console/links?tag=summer&sort=title", "1 link")
	b.press("Save this view")
	b.fill("name", "Summer")
	b.click(`document.querySelector('[name=shared]')`)
	b.inspect("view-save")
	b.press("Save", "Summer saved")
	b.until(`document.querySelector('[name=view]').selectedOptions[0].textContent === 'Summer (shared)'`)
	b.visit("/console/links", "2 links")
	b.until(`document.querySelectorAll('[name=view] option').length === 2`)
	b.eval(`(() => { const s = document.querySelector('[name=view]'); s.value = s.options[1].value; s.dispatchEvent(new Event('change', `+
		`{bubbles: true})); })()`, nil)
	b.until(`location.search.startsWith('?tag=summer&sort=title&view=')`)
	b.sees("1 link")
	b.inspect("view")

	// A view gets another name, and other filters.
	b.press("Edit Summer")
	b.fill("name", "Warm")
	b.press("Save")
	b.until(`document.querySelector('[name=view]').selectedOptions[0].textContent === 'Warm (shared)'`)
	b.sorts("clicks")
	b.until(`document.querySelector('[name=view]').selectedOptions[0].textContent === 'Not saved'`)
	b.press("Save this view")
	b.until(`document.querySelector('dialog [name=name]').value === 'Warm'`)
	b.sees("This replaces your view of that name.")
	b.press("Save")
	b.until(`document.querySelector('[name=view]').selectedOptions[0].textContent === 'Warm (shared)'`)
	b.has("/api/views?screen=links", `{"data": [{"name": "Warm", "query": "tag=summer&sort=clicks", "shared": true}]}`)

	// A saved name takes over another selection.
	b.visit("/console/links?search=ski")
	b.press("Save this view")
	b.fill("name", "warm")
	b.sees("This replaces your view of that name.")
	b.press("Save", "warm saved")
	b.press("Delete warm")
	b.press("Delete", "warm deleted")
	b.until(`document.querySelectorAll('[name=view] option').length === 1`)
}

// The list is filtered by bundle, campaign and creator.
func TestLabels_filters(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	beach := b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Beach", "utmCampaign": "warm days"})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Ski"})
	bundle := b.post("/api/bundles", map[string]any{"name": "Coast", "urlIds": []string{beach.ID}})
	b.visit("/console/links", "2 links")
	b.filter("Bundle", "coa", "Coast")
	b.sees("1 link")
	b.until(`location.search === '?bundle=` + bundle + `'`)
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.active .chip')?.textContent === 'Bundle: Coast'`)
	b.press("Remove Bundle: Coast", "2 links")
	b.filter("Campaign", "warm", "warm days")
	b.sees("1 link")
	b.until(`document.querySelector('.active .chip').textContent === 'Campaign: warm days'`)
	b.press("Filter")
	b.until(`document.querySelector('.popover [role=option]') && !document.querySelector('.popover').textContent.includes('Created by')`)
	b.barrierFree()

	// Where other people work, the list is filtered by who made a link.
	b.user("ann")
	b.team("Team", "team")
	b.joins(b.mail("ann"), "team", "VIEWER", b.email)
	b.visit("/console/links?workspace=" + b.own("team"))
	b.filter("Created by", "ann", b.mail("ann"))
	b.until(`new URLSearchParams(location.search).has('creator')`)
	b.sees("No link matches")
	b.looks("filters")
	b.narrow("filters-320")
}

// The labels of the chart are complete, the last one too.
func TestConsoleChart_labels_are_inside(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	bundle := b.post("/api/bundles", map[string]any{"name": "Launch", "urlIds": []string{link.ID}})
	follow(t, b.short("store"), laptop, "https://www.example.org/")
	b.becomes("/api/bundles/"+bundle, `{"totalClicks": 1}`)
	b.visit("/console/bundles/" + bundle)
	b.until(`document.querySelector('.chart .axes text')`)
	for _, width := range []int64{1280, 900, 390} {
		b.do(emulation.SetDeviceMetricsOverride(width, 800, 1, width < 500))
		b.until(fmt.Sprintf(`innerWidth === %d`, width))
		b.settle()
		b.until(`(() => { const box = document.querySelector('.chart svg').getBoundingClientRect(); return [...document.querySelectorAll('.chart .axes text')].every((e) => {
			const own = e.getBoundingClientRect(); return own.right <= box.right + 0.5 && own.left >= box.left - 0.5; }); })()`)
	}
	b.do(emulation.ClearDeviceMetricsOverride())
	b.looks("bundle-chart")
}

package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// Tags are created, changed and deleted, and lead to their links and reports.
func TestNewLabels_tags(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	b.visit("/console/new/tags")
	b.sees("No tags yet")
	b.barrierFree()
	b.press("New tag")
	b.fill("name", "Summer")
	b.press("Create tag")
	b.sees("Saved")
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
	b.barrierFree()
	b.looks("new-tags")
	b.do(chromedp.Click(`td a`))
	b.sees("1 link")
	b.sees("Beach")
	b.until(`document.querySelector('[name=tag]').value === 'Summer 2027'`)
	b.visit("/console/new/tags")
	b.press("Delete Summer 2027")
	b.sees("It is removed from 1 link, which stays.")
	b.looks("new-tags-delete")
	b.press("Delete")
	b.sees("No tags yet")
	b.visit("/console/new/links")
	b.sees("2 links")
	b.silent()
}

// All of 200 tags can be found and chosen.
func TestNewLabels_many_tags(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	for i := range 10 {
		var urls []map[string]any
		for j := range 20 {
			urls = append(urls, map[string]any{"originalUrl": "https://example.com/", "tags": []string{fmt.Sprintf("tag %03d", i*20+j)}})
		}
		b.ask("POST", "/api/urls/bulk", map[string]any{"urls": urls}, nil)
	}
	b.visit("/console/new/tags")
	b.sees("Page 1 of 4")
	b.visit("/console/new/links")
	b.until(`document.querySelectorAll('[name=tag] option').length === 201`)
	b.set("tag", "tag 199")
	b.sees("1 link")
	b.silent()
}

// Templates fill in the campaign of a link.
func TestNewLabels_templates(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	link := b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": "one"})
	b.visit("/console/new/templates")
	b.sees("No UTM templates yet")
	b.press("New template")
	b.fill("name", "Newsletter")
	b.fill("utmSource", "mail")
	b.fill("utmMedium", "email")
	b.fill("utmId", "n-7")
	b.press("Create template")
	b.sees("Newsletter")
	b.barrierFree()
	b.looks("new-templates")
	b.press("Edit Newsletter")
	b.fill("utmMedium", "newsletter")
	b.press("Save")
	b.until(`document.querySelector('table').textContent.includes('newsletter')`)
	var templates struct {
		Data []struct{ ID, UTMSource, UTMMedium, UTMID string }
	}
	b.ask("GET", "/api/utm-templates", nil, &templates)
	if len(templates.Data) != 1 || templates.Data[0].UTMMedium != "newsletter" || templates.Data[0].UTMSource != "mail" || templates.Data[0].UTMID != "n-7" {
		t.Fatalf("the templates are %+v", templates.Data)
	}
	b.visit("/console/new/links/" + link.ID)
	b.press("Campaign (UTM)")
	b.until(`[...document.querySelectorAll('select option')].some((e) => e.textContent === 'Newsletter')`)
	b.eval(`(() => { const s = [...document.querySelectorAll('select')].find((e) => [...e.options].some((o) => o.textContent === 'Newsletter')); s.value = [...s.options].find((o) => o.textContent === 'Newsletter').value; s.dispatchEvent(new Event('change', {bubbles: true})); })()`, nil)
	b.sees("https://example.com/1?utm_source=mail&utm_medium=newsletter&utm_id=n-7")
	b.press("Save")
	b.sees("Saved")
	b.silent()
}

// A bundle has links in an order, figures, and an archive.
func TestNewLabels_bundles(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	for _, name := range []string{"Alpha", "Beta", "Gamma"} {
		b.made(map[string]any{"originalUrl": "https://example.com/" + name, "title": name})
	}
	b.visit("/console/new/bundles")
	b.sees("No bundles yet")
	b.press("New bundle")
	b.fill("name", "Launch")
	b.fill("description", "Links of the launch")
	b.press("Create bundle")
	b.sees("Links of the launch")
	b.barrierFree()
	b.looks("new-bundles")
	b.do(chromedp.Click(`td a`))
	b.sees("No links yet")
	b.press("Add links")
	b.until(`document.querySelectorAll('dialog .tick').length === 3`)
	b.fill("search", "beta")
	b.until(`document.querySelectorAll('dialog .tick').length === 1`)
	b.eval(`document.querySelector('dialog .tick input').click()`, nil)
	b.fill("search", "alpha")
	b.until(`document.querySelectorAll('dialog .tick').length === 2`)
	b.eval(`document.querySelectorAll('dialog .tick input')[1].click()`, nil)
	b.barrierFree()
	b.looks("new-bundle-add")
	b.press("Add")
	order := `[...document.querySelectorAll('tbody td:first-child a')].map((e) => e.textContent).join()`
	b.until(order + ` === 'Beta,Alpha'`)
	b.press("Move Alpha up")
	b.until(order + ` === 'Alpha,Beta'`)
	b.barrierFree()
	b.looks("new-bundle")
	b.press("Show in the list of links")
	b.sees("2 links")
	b.until(`document.querySelector('[name=bundle]').selectedOptions[0].textContent === 'Launch'`)
	b.do(chromedp.NavigateBack())
	b.press("Remove Beta from the bundle")
	b.until(order + ` === 'Alpha'`)
	b.press("Edit")
	b.fill("name", "Launch 2027")
	b.press("Save")
	b.until(`document.querySelector('h1').textContent === 'Launch 2027'`)
	b.press("Archive")
	b.sees("Its links keep working.")
	b.visit("/console/new/bundles?status=ARCHIVED")
	b.press("Restore Launch 2027")
	b.sees("Nothing matches")
	b.visit("/console/new/links")
	b.sees("3 links")
	b.eval(`document.querySelector('[name=bundle]').focus()`, nil)
	b.until(`document.querySelectorAll('[name=bundle] option').length === 2`)
	b.visit("/console/new/bundles")
	b.press("Delete Launch 2027")
	b.sees("Its 1 link stays.")
	b.press("Delete")
	b.sees("No bundles yet")
	b.silent()
}

// The filters, the search and the order of the list are saved under a name, and shared.
func TestNewLabels_views(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Beach", "tags": []string{"summer"}})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Ski"})
	b.visit("/console/new/links?tag=summer&sort=title")
	b.sees("1 link")
	b.press("Save this view")
	b.fill("name", "Summer")
	b.eval(`document.querySelector('[name=shared]').click()`, nil)
	b.barrierFree()
	b.looks("new-view-save")
	b.press("Save")
	b.sees("Summer saved")
	b.until(`document.querySelector('[name=view]').selectedOptions[0].textContent === 'Summer (shared)'`)
	b.visit("/console/new/links")
	b.sees("2 links")
	b.until(`document.querySelectorAll('[name=view] option').length === 2`)
	b.eval(`(() => { const s = document.querySelector('[name=view]'); s.value = s.options[1].value; s.dispatchEvent(new Event('change', {bubbles: true})); })()`, nil)
	b.until(`location.search === '?tag=summer&sort=title'`)
	b.sees("1 link")
	b.barrierFree()
	b.looks("new-view")

	// A saved name takes over another selection.
	b.visit("/console/new/links?search=ski")
	b.press("Save this view")
	b.fill("name", "Summer")
	b.sees("This replaces your view of that name.")
	b.press("Save")
	b.sees("Summer saved")
	b.press("Delete Summer")
	b.press("Delete")
	b.sees("Summer deleted")
	b.until(`document.querySelectorAll('[name=view] option').length === 1`)
	b.silent()
}

package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// Deleted links are restored as they were or elsewhere, one or many at a time, or are deleted for good.
func TestTrash(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.user("mia")
	for i := range 5 {
		l := b.made(map[string]any{"originalUrl": fmt.Sprintf("https://example.com/%d", i), "title": fmt.Sprintf("Sale %d", i),
			"customSlug": b.own(fmt.Sprintf("sale-%d", i)), "externalId": fmt.Sprintf("x-%d", i)})
		b.ask("DELETE", "/api/urls/"+l.ID, nil, nil)
	}
	b.made(map[string]any{"originalUrl": "https://example.com/new", "customSlug": b.own("sale-4"), "externalId": "x-4"})

	// Saved addresses of the list with the old status lead to the trash.
	b.visit("/console/links?status=DELETED")
	b.until(`location.pathname.endsWith('/trash')`)
	b.sees("5 links", "30 days left", "Deleted links can be restored for 30 days.")
	b.inspectNarrow("trash")

	base := strings.TrimPrefix(b.base, "http://")
	b.press("Restore "+base+"/"+b.own("sale-0"), "1 link restored", "4 links")

	// The server names the external id first and the slug then. Both stay in the form.
	b.press("Restore " + base + "/" + b.own("sale-4"))
	b.until(`document.querySelector('dialog [name=externalId]')`)
	b.fill("externalId", "x-5")
	b.press("Restore")
	b.until(`document.querySelector('dialog [name=slug]') && document.querySelector('dialog [name=externalId]').value === 'x-5'`)
	b.inspect("trash-taken")
	b.fill("slug", b.own("sale-5"))
	b.press("Restore", "/"+b.own("sale-5")+" is ready", "3 links")

	// A failure among many leaves the failed links selected.
	b.made(map[string]any{"originalUrl": "https://example.com/other", "customSlug": b.own("sale-3")})
	b.until(`document.querySelectorAll('li.link .pick input').length === 3`)
	b.eval(`document.querySelectorAll('li.link .pick input').forEach((box) => box.click())`, nil)
	b.sees("3 selected")
	b.looks("trash-selected")
	b.press("Restore", "2 links restored", "1 link could not be changed", "1 selected")
	b.until(`document.querySelectorAll('li.link').length === 1`)
	b.press("Delete for good", "Delete 1 link for good?")
	b.barrierFree()
	b.click(`[...document.querySelectorAll('dialog button')].find((e) => e.type === 'submit')`)
	b.sees("1 link deleted for good", "The trash is empty")
	b.visit("/console/links", "6 links")
}

// In a team, the trash says who deleted a link.
func TestTrash_of_a_team(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.user("mia")
	b.team("Team", "team")
	b.joins(b.mail("mia"), "team", "EDITOR", b.email)
	b.as(b.mail("mia"))
	b.visit("/console/links?new=1&workspace=" + b.own("team"))
	b.fill("originalUrl", "example.com")
	b.press("Create link", "1 link")
	b.until(`document.querySelector('li.link .pick input')`)
	b.click(`document.querySelector('li.link .pick input')`)
	b.press("Delete", "1 link moved to the trash")
	b.as(b.email)
	b.visit("/console/trash?workspace=" + b.own("team"))
	b.until(`document.querySelector('li.link .facts').textContent.includes('by ` + b.mail("mia") + `')`)
}

// Without a trash, the console asks before it deletes.
func TestTrash_turned_off(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t, "TRASH_DAYS=0"))
	b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": b.own("one")})
	two := b.made(map[string]any{"originalUrl": "https://example.com/2", "customSlug": b.own("two")})
	b.visit("/console/trash", "This server does not keep deleted links.")
	b.visit("/console/links/" + two.ID)
	b.press("Actions for " + b.bare("two"))
	b.press("Delete", "Delete 1 link for good?")
	b.press("Delete for good", "1 link")
	b.until(`document.querySelector('li.link .pick input')`)
	b.click(`document.querySelector('li.link .pick input')`)
	b.press("Delete", "Delete 1 link for good?")
	b.press("Delete for good", "No links yet")
}

// figuresLate sends requests for figures only after a deletion, as if the page had been open for a moment only.
const figuresLate = `{
	const send = fetch;
	let go;
	const deleted = new Promise((done) => { go = done; });
	window.fetch = async (...all) => {
		if (String(all[0]).includes('/api/analytics/urls/')) await deleted;
		const answer = await send(...all);
		if (all[1]?.method === 'DELETE') go();
		return answer;
	};
}`

// A link is turned off and on, duplicated with its rules, and deleted with a way back.
func TestLink_actions(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": b.own("spring"), "title": "Spring",
		"tags": []string{"fair"}})
	b.rule(link, "Phones", "https://example.com/phone", when("DEVICE", "equals", "mobile"))
	b.visit("/console/links/" + link.ID)
	actions := "Actions for " + b.bare("spring")
	b.press(actions)
	b.press("Disable", "1 link disabled", "Disabled")
	b.press("Undo")
	b.until(`document.querySelector('.states').textContent === 'ActiveHas routing rules'`)
	b.press(actions)
	b.until(`[...document.querySelectorAll('[role=menuitem]')].some((e) => e.textContent === 'Disable')`)
	b.inspectNarrow("link-actions")

	b.press("Duplicate")
	b.fill("customSlug", b.own("spring"))
	b.sees("/" + b.own("spring") + " is taken")
	b.press("Duplicate")
	b.until(`document.querySelector('dialog [name=customSlug]').getAttribute('aria-invalid') === 'true'`)
	b.inspect("duplicate")
	b.fill("customSlug", b.own("spring-de"))
	b.fill("title", "Spring in German")
	b.press("Duplicate", "/"+b.own("spring-de")+" is ready", "Spring in German")
	b.press("Close")
	b.until(`!location.pathname.includes('` + link.ID + `')`)
	b.press("Routing rules", "Phones")

	b.onEachPage(figuresLate)
	b.visit("/console/links/" + link.ID)
	b.press(actions)
	b.press("Delete", "1 link moved to the trash")
	b.until(`location.pathname.endsWith('/links')`)
	b.press("Undo")
	b.until(`location.pathname.includes('` + link.ID + `')`)
	b.sees("Spring")
}

// Many links get and lose tags at once, and get a bundle. Other tags stay.
func TestLabels_of_many_links(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/1", "tags": []string{"old", "past"}})
	b.made(map[string]any{"originalUrl": "https://example.com/2"})
	b.ask("POST", "/api/bundles", map[string]any{"name": "Coast"}, nil)
	b.visit("/console/links", "2 links")
	b.until(`document.querySelectorAll('li.link .pick input').length === 2`)
	b.eval(`document.querySelectorAll('li.link .pick input').forEach((box) => box.click())`, nil)
	b.press("Label", "Label 2 links")
	b.eval(`(() => { const e = document.querySelector('dialog .chips input'); e.value = 'fair,'; e.dispatchEvent(new Event('input', `+
		`{bubbles: true})); })()`, nil)
	b.eval(`(() => { const e = document.querySelectorAll('dialog .chips input')[1]; e.value = 'past,'; e.dispatchEvent(new Event('input', `+
		`{bubbles: true})); })()`, nil)
	b.takes("bundle", "coa", "Coast")
	b.inspect("label-links")
	b.press("Save", "2 links changed")
	b.until(`[...document.querySelectorAll('li.link .facts')].every((e) => e.textContent.includes('fair'))`)
	b.until(`[...document.querySelectorAll('li.link .facts')].some((e) => e.textContent.includes('old'))`)
	b.until(`[...document.querySelectorAll('li.link .facts')].every((e) => !e.textContent.includes('past'))`)
	b.filter("Bundle", "coa", "Coast")
	b.until(`location.search.startsWith('?bundle=')`)
	b.sees("2 links")
}

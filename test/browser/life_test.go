package browser_test

import "testing"

// The history of a link says who changed what, and leads back to each version.
func TestConsole_history(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("412")
	link := b.made(map[string]any{"originalUrl": "https://example.com/one", "customSlug": b.own("store")})
	path := "/api/urls/" + link.ID
	b.ask("PUT", path, map[string]any{"title": "Store <b>", "originalUrl": "https://example.com/two", "expiresAt": "2099-01-02T11:04:05Z"},
		nil)
	b.rule(link, "Phones", "https://m.example.com/", when("device", "equals", "MOBILE"))
	b.visit("/console/links/" + link.ID)
	b.press("History", "Rule “Phones” added", "https://example.com/one", "Store <b>")
	b.until(`document.querySelectorAll('.versions > li').length === 3`)
	b.until(`document.querySelectorAll('.versions > li .badge').length === 1 && document.querySelector('.versions > li ` +
		`.badge').textContent === 'Now'`)
	// At eleven o'clock UTC, it is that day in the zone of the test, which is the one where it is noon now.
	b.until(`/Jan 2, 2099/.test(document.querySelector('.versions').textContent)`)
	b.inspectNarrow("history")

	// A change by somebody else since the page was read is not undone without a word.
	back := `[...document.querySelectorAll('.versions button')].pop()`
	b.ask("PUT", path, map[string]any{"notes": "theirs"}, nil)
	b.click(back)
	b.sees("Restore this version?")
	b.until(`['Destination', 'Title', 'Expires', 'Notes', 'Rule “Phones” changed'].every((name) => ` +
		`[...document.querySelectorAll('dialog .reach li')].some((e) => e.textContent === name))`)
	b.inspect("history-restore")
	b.press("Restore this version")
	b.until(`document.querySelector('dialog .notice.bad')`)
	b.until(`document.querySelectorAll('.versions > li').length === 4`)
	b.has(path, `{"title": "Store <b>"}`) // the refused rollback has changed nothing
	b.press("Restore this version", "Restored. Visitors get this version within a second.", "Earlier version restored")
	var got url
	b.ask("GET", path, nil, &got)
	if got.OriginalURL != "https://example.com/one" || got.Title != "" || got.Notes != nil && *got.Notes != "" {
		t.Errorf("the link is %+v", got)
	}
	b.has(path+"/routing-rules", `{"rules": []}`)
}

// Selected links move to another workspace with everything that belongs to them.
func TestConsole_links_move_to_another_workspace(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.team("Team", "team")
	one := b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "One"})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Two"})
	b.visit("/console/links?sort=title", "2 links")
	b.until(`document.querySelector('li.link .pick input')`)
	b.click(`document.querySelector('li.link .pick input')`)
	b.press("Move", "Move 1 link to another workspace")
	b.inspect("move")
	b.press("Move", "1 link moved")
	b.until(`document.querySelectorAll('li.link').length === 1 && !document.querySelector('dialog, .bulk')`)
	if id := b.within("team", "GET", "/api/urls/"+one.ID, nil); id != one.ID {
		t.Errorf("the link in the other workspace: %q", id)
	}
}

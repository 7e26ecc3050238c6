package browser_test

import "testing"

// The history of a link says who changed what, and leads back to each version.
func TestConsole_history(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("412")
	link := b.made(map[string]any{"originalUrl": "https://example.com/one", "customSlug": b.own("store")})
	path := "/api/urls/" + link.ID
	b.ask("PUT", path, map[string]any{"title": "Store <b>", "originalUrl": "https://example.com/two", "expiresAt": "2099-01-02T03:04:05Z"}, nil)
	b.ask("POST", path+"/routing-rules", map[string]any{"name": "Phones", "targetUrl": "https://m.example.com/", "conditions": map[string]any{"operator": "AND", "conditions": []any{map[string]any{"type": "device", "operator": "equals", "value": "MOBILE"}}}}, nil)
	b.visit("/console/links/" + link.ID)
	b.press("History")
	b.sees("Rule “Phones” added")
	b.sees("https://example.com/one")
	b.sees("Store <b>")
	b.until(`document.querySelectorAll('.versions > li').length === 3`)
	b.until(`document.querySelectorAll('.versions > li .badge').length === 1 && document.querySelector('.versions > li .badge').textContent === 'Now'`)
	b.until(`/Jan 2, 2099/.test(document.querySelector('.versions').textContent)`)
	b.inspectNarrow("history")

	// A change by somebody else since the page was read is not undone without a word.
	back := `[...document.querySelectorAll('.versions button')].pop()`
	b.ask("PUT", path, map[string]any{"notes": "theirs"}, nil)
	b.click(back)
	b.sees("Restore this version?")
	b.until(`['Destination', 'Title', 'Expires', 'Notes', 'Rule “Phones” changed'].every((name) => [...document.querySelectorAll('dialog .reach li')].some((e) => e.textContent === name))`)
	b.inspect("history-restore")
	b.press("Restore this version")
	b.until(`document.querySelector('dialog .notice.bad')`)
	b.until(`document.querySelectorAll('.versions > li').length === 4`)
	if got := b.read(link.ID); got.Title != "Store <b>" {
		t.Errorf("the refused rollback has changed the link: %+v", got)
	}
	b.press("Restore this version")
	b.sees("Restored. Visitors get this version within a second.")
	b.sees("Earlier version restored")
	got := b.read(link.ID)
	if got.OriginalURL != "https://example.com/one" || got.Title != "" || got.Notes != nil && *got.Notes != "" {
		t.Errorf("the link is %+v", got)
	}
	var rules struct{ Data []any }
	b.ask("GET", path+"/routing-rules", nil, &rules)
	if len(rules.Data) != 0 {
		t.Errorf("the rules are %v", rules.Data)
	}
}

// Selected links move to another workspace with everything that belongs to them.
func TestConsole_links_move_to_another_workspace(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.team("Team", "team")
	one := b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "One"})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "title": "Two"})
	b.visit("/console/links?sort=title")
	b.sees("2 links")
	b.until(`document.querySelector('li.link .pick input')`)
	b.click(`document.querySelector('li.link .pick input')`)
	b.press("Move")
	b.sees("Move 1 link to another workspace")
	b.inspect("move")
	b.press("Move")
	b.sees("1 link moved")
	b.until(`document.querySelectorAll('li.link').length === 1 && !document.querySelector('dialog, .bulk')`)
	if id := b.within("team", "GET", "/api/urls/"+one.ID, nil); id != one.ID {
		t.Errorf("the link in the other workspace: %q", id)
	}
}

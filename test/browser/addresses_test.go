package browser_test

import "testing"

// Each address names its workspace: the personal one by naming none. An address of another workspace of the user says so, and
// offers the change.
func TestConsoleHigh2_addresses_name_their_workspace(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	own := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("mine"), "title": "My own"})
	b.team("Team", "team")
	theirs := b.within("team", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("ours"),
		"title": "Our own"})

	b.visit("/console/links?workspace=" + b.own("team"))
	b.sees("Our own")
	b.visit("/console/links/"+own.ID, "My own")
	b.until(current + ` === 'Personal' && location.search === ''`)

	b.also("404")
	b.visit("/console/links/"+theirs, "This page is in the workspace Team.")
	b.looks("elsewhere")
	b.narrow("elsewhere-320")
	b.press("Go to this workspace", "Our own")
	b.until(current + ` === 'Team' && location.search === ` + quoted("?workspace="+b.own("team")))

	// Also where the link is in the query.
	b.visit("/console/live?link="+theirs, "This page is in the workspace Team.")
	b.press("Go to this workspace", "Live: Our own")

	b.visit("/console")
	b.until(current + ` === 'Team'`) // the start names no screen, so the last choice stays
}

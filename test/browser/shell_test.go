package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// All places of the navigation are visible in a window of 900 pixels. In a lower one they scroll, and the present one is in view.
func TestConsoleMedium_the_navigation_is_not_cut(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.visit("/console/reports", "Reports")
	places := `document.querySelector('.places')`
	b.until(`document.querySelectorAll('.places a').length > 18 && !!document.querySelector('.navsteps')`)
	b.until(places + `.scrollHeight <= ` + places + `.clientHeight`)
	b.shot("shell-900")
	b.do(chromedp.EmulateViewport(1280, 600))
	b.visit("/console/reports", "Reports")
	b.until(`((box, here) => here.top >= box.top && here.bottom <= box.bottom)(` + places +
		`.getBoundingClientRect(), document.querySelector('.places [aria-current]').getBoundingClientRect())`)
	b.shot("shell-600")
}

// A group of the navigation stays closed, with the present place in sight.
func TestConsole_groups_of_the_navigation(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	b.visit("/console/domains", "Domains")
	b.inspect("navigation")
	b.press("Setup")
	b.until(`!document.querySelector('.places a[href$="/keys"]') && !!document.querySelector('.places a[href$="/domains"]')`)
	b.press("Reports")
	b.inspect("navigation-closed")
	b.visit("/console/links", "Links")
	b.until(`!document.querySelector('.places a[href$="/domains"], .places a[href$="/live"]')`)
	b.press("Setup")
	b.until(`!!document.querySelector('.places a[href$="/domains"]') && !document.querySelector('.places a[href$="/live"]')`)
}

// A failing webhook has a badge at its place and on the bell, and a sentence that leads there. A closed group has the badge.
func TestConsole_notices(t *testing.T) {
	t.Parallel()
	_, address := receiving(t)
	b := consoleAt(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"))
	b.press("Notices", "Nothing needs you")
	b.inspect("notices-none")
	b.keys(kb.Escape)
	hook := b.post("/api/webhooks", map[string]any{"name": "Shop", "url": address + "/hooks", "events": []string{"url.created"}})
	for range 3 {
		b.ask("POST", "/api/webhooks/"+hook+"/test", nil, nil)
	}
	b.becomes("/api/workspaces/"+b.ownWorkspace()+"?attention=true", `{"attention": [{"kind": "webhook"}]}`)
	b.visit("/console/links", "Links")
	badge := func(of string) string {
		return `document.querySelector('` + of + ` .badge')?.textContent.startsWith('1')`
	}
	b.until(badge(`.places a[href$="/webhooks"]`) + ` && ` + badge(".bell"))
	b.press("Setup")
	b.until(badge(".navgroup"))
	b.do(chromedp.Click(`.bell button`, chromedp.ByQuery))
	b.sees("A webhook fails or is paused", "Waits for you")
	b.inspectNarrow("notices")
	b.press("A webhook fails or is paused")
	b.until(`location.pathname === '/console/webhooks' && !document.querySelector('dialog[open]')`)
}

// A message goes by itself, but not while the pointer or the focus is on it. One with a button stays twice as long.
func TestConsole_messages_go_by_themselves(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("one")})
	b.visit("/console/links", "1 link")
	lasts := func(want string) {
		t.Helper()
		// keepMessages has a style of its own.
		if got := b.text(`(() => {
			const kept = document.adoptedStyleSheets;
			document.adoptedStyleSheets = [];
			const delay = getComputedStyle(document.querySelector('.toast')).animationDelay;
			document.adoptedStyleSheets = kept;
			return delay;
		})()`); got != want {
			t.Errorf("the message lasts %s, want %s", got, want)
		}
	}
	state := func(want string) {
		t.Helper()
		b.until(`getComputedStyle(document.querySelector('.toast')).animationPlayState === ` + quoted(want))
	}
	goes := func() {
		t.Helper()
		b.until(`document.querySelector('.toast').getAnimations().map((one) => one.finish()).length === 1`)
		b.until(`!document.querySelector('.toast')`)
	}
	b.press("Copy " + b.bare("one"))
	b.until(`document.querySelector('.toast')`)
	lasts("6s")
	state("running")
	var at struct{ X, Y float64 }
	b.eval(`(() => { const {x, y} = document.querySelector('.toast').getBoundingClientRect(); return {x: x + 5, y: y + 5}; })()`, &at)
	b.do(input.DispatchMouseEvent(input.MouseMoved, at.X, at.Y))
	state("paused")
	b.do(input.DispatchMouseEvent(input.MouseMoved, 0, 0))
	state("running")
	goes()

	b.press("Actions for " + b.shortAt(0))
	b.click(`[...document.querySelectorAll('[role=menuitem]')].find((e) => e.textContent.trim() === 'Move to the trash')`)
	b.sees("1 link moved to the trash")
	lasts("12s")
	b.focusOn(".toast button")
	state("paused")
	b.eval(`document.activeElement.blur()`, nil)
	state("running")
	goes()
}

// The first steps tick themselves, and can be put away.
func TestConsole_first_steps(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/links", "Links")
	b.press("First steps", "0 of 5 done", "Create the first link", "Create a workspace for a team")
	b.inspectNarrow("first-steps")
	b.keys(kb.Escape)
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("one")})
	b.post("/api/workspaces", map[string]any{"name": "Team of " + b.email})
	b.visit("/console/links", "1 link")
	b.press("First steps", "2 of 6 done", "Move your links to the team")
	b.inspect("first-steps-begun")
	b.press("Do not show again")
	b.until(`!document.querySelector('.navsteps')`)
	b.visit("/console/links", "1 link")
	b.until(`!!document.querySelector('.bell') && !document.querySelector('.navsteps')`)
}

// Nothing of an A/B test is wider than a very small phone, in a language with long words.
func TestConsoleMedium_a_test_fits_a_small_phone_in_German(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes"), "title": "Shoes",
		"isABTesting": true})
	for _, name := range []string{"Photos", "Video"} {
		b.post("/api/urls/"+link.ID+"/variants", map[string]any{"name": name, "targetUrl": "https://shop.example.com/" + name,
			"weight": 50})
	}
	b.eval(`localStorage.setItem('shortline.language', 'de')`, nil)
	path := "/console/links/" + link.ID + "/experiment"
	b.visit(path, "Video")
	b.inspectNarrow("german-test")
	b.ask("PUT", "/api/urls/"+link.ID, map[string]any{"trackConversions": true, "stickiness": "cookie"}, nil)
	b.ask("PUT", "/api/urls/"+link.ID+"/experiment", map[string]any{"goal": "purchase", "optimize": "bandit", "onWinner": "promote"}, nil)
	b.visit(path, "Video")
	b.inspectNarrow("german-experiment")
}

// ownWorkspace is the id of the personal workspace of the user.
func (b *browser) ownWorkspace() string {
	b.t.Helper()
	var me struct{ ID string }
	b.ask("GET", "/api/auth/me", nil, &me)
	return me.ID
}

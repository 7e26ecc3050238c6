package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

const annPassword = "long-enough-too"

// user creates a user, as the administrator who is signed in, and returns the id.
func (b *browser) user(email string) (id string) {
	b.t.Helper()
	var u struct{ ID string }
	b.ask("POST", "/api/users", map[string]string{"email": email, "password": annPassword}, &u)
	return u.ID
}

// as signs in as another user without the page's knowledge. Visit a page afterwards.
func (b *browser) as(email, password string) {
	b.t.Helper()
	b.ask("POST", "/api/auth/login", map[string]string{"email": email, "password": password}, nil)
}

func TestConsole_sessions(t *testing.T) {
	base := standalone(t)
	b, elsewhere := open(t, base), open(t, base)
	for _, w := range []*browser{b, elsewhere} {
		w.visit("/console/account")
		w.signIn("admin@example.com", adminPassword)
		w.sees("Sessions")
	}
	b.do(chromedp.Reload())
	b.sees("this one")
	b.until(`document.querySelectorAll('[aria-label^="End the session of Chrome on Linux"]').length === 1`)
	b.looks("100-sessions")
	b.onPhone("/console/account", "this one")
	b.eval(`document.querySelector('[aria-label^="End the session"]').click()`, nil)
	b.sees("The session has ended.")
	b.until(`!document.querySelector('[aria-label^="End the session"]')`)
	elsewhere.press("Links")
	elsewhere.sees("Sign in")

	elsewhere.signIn("admin@example.com", adminPassword)
	elsewhere.sees("No links yet")
	b.do(chromedp.Reload())
	b.press("End all others")
	b.sees("You stay signed in here.")
	b.press("End all others")
	b.sees("All other sessions have ended.")
	b.until(`!document.querySelector('[aria-label^="End the session"]')`)
	elsewhere.press("Bundles")
	elsewhere.sees("Sign in")
	b.silent()
	elsewhere.silent()
}

func TestConsole_moves_links(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.user("ann@example.com")
	b.press("Sign out")
	b.signIn("ann@example.com", annPassword)
	b.sees("No links yet")
	for i := range 3 {
		b.ask("POST", "/api/urls", map[string]string{"originalUrl": fmt.Sprintf("https://example.com/%d", i), "customSlug": fmt.Sprintf("slug-%d", i)}, nil)
	}
	b.visit("/console/links")
	b.sees("3 links")
	b.eval(`document.querySelector('[aria-label="Select slug-0"]').click()`, nil)
	b.sees("1 selected")
	b.press("Move to workspace…")
	b.sees("There is no other workspace in which you may create links.")
	b.ask("POST", "/api/workspaces", map[string]string{"name": "Growth", "slug": "growth"}, nil)
	b.press("Select all on this page")
	b.sees("3 selected")
	b.looks("108-selected")
	b.eval(`document.querySelector('[aria-label="Select slug-1"]').click()`, nil)
	b.sees("2 selected")
	b.press("Move to workspace…")
	b.sees("Members of the new workspace see these 2 links")
	b.press("Move")
	b.until(`document.querySelector('dialog [data-field=workspaceId] .wrong')`)
	b.looks("109-move")
	b.eval(`document.querySelector('dialog select').selectedIndex = 1`, nil)
	b.press("Move")
	b.sees("Moved to Growth.")
	b.sees("1 link")
	b.until(`!document.body.innerText.includes('selected')`)
	b.visit("/console/links?workspace=growth")
	b.sees("2 links")
	b.press("example.com/2")
	b.sees("Clicks per day")
	b.press("Move to workspace")
	b.sees("Members of the new workspace see this link")
	b.eval(`document.querySelector('dialog select').selectedIndex = 1`, nil)
	b.press("Move")
	b.sees("Moved to Personal.")
	b.sees("1 link")
	b.silent()
}

package browser_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/mailtest"
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

// also lets the browser report responses with a status that the test causes on purpose.
func (b *browser) also(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = regexp.MustCompile(b.expected.String() + "|" + regexp.QuoteMeta(status))
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

func TestConsole_requires_a_second_factor(t *testing.T) {
	b := open(t, standalone(t))
	b.also("403 (Forbidden)")
	b.visit("/console/settings")
	b.signIn("admin@example.com", adminPassword)
	b.sees("Optional. Each user decides.")
	b.user("ann@example.com")
	b.looks("101-second-factor-optional")
	b.press("Require it")
	b.sees("You need one yourself first.")
	b.press("Require it")
	b.sees("second factor yourself") // message of the API
	b.looks("102-second-factor-refused")
	b.press("Cancel")
	b.visit("/console/account")
	b.enrol()
	b.visit("/console/settings")
	b.press("Require it")
	b.press("Require it")
	b.sees("Required of everybody who signs in.")
	b.onPhone("/console/settings", "Required of everybody")
	b.press("Sign out")
	b.sees("Sign in")

	// Ann gets to her page through the set-up, also if she was there before.
	b.visit("/console/bundles")
	b.signIn("ann@example.com", annPassword)
	b.sees("Your administrators require a second factor.")
	b.looks("103-enrol")
	b.onPhone("/console/bundles", "Your administrators require")
	b.enrol()
	b.sees("No bundles")
	b.silent()
}

// enrol sets up codes of an authenticator app on the present page.
func (b *browser) enrol() {
	b.t.Helper()
	b.press("Set up")
	b.sees("Code from the app")
	var secret string
	b.do(chromedp.Text("code.secret", &secret, chromedp.ByQuery))
	b.fill("code", totp(b.t, secret, time.Now()))
	b.press("Turn on")
	b.sees("recovery codes")
	b.press("Done")
}

func TestConsole_forgotten_password(t *testing.T) {
	server := mailtest.Start(t)
	base := standalone(t, server.Env()...)
	b := open(t, base)
	b.visit("/login")
	b.press("Forgot your password?")
	b.sees("you get a message with a link")
	b.looks("104-forgot")
	b.onPhone("/login#forgot", "you get a message with a link")
	b.do(chromedp.Reload())
	b.press("Send the link")
	b.until(`document.querySelector('.wrong')`)
	b.fill("email", "admin@example.com")
	b.press("Send the link")
	b.sees("If an account has the email admin@example.com")
	b.looks("105-forgot-sent")

	link := server.Wait(t, "admin@example.com").Link
	b.visit(strings.TrimPrefix(link, base))
	b.sees("Choose a new password")
	b.fill("newPassword", "password")
	b.fill("again", "passwort")
	b.press("Set the password")
	b.until(`document.querySelector('[data-field=again] .wrong')`)
	b.fill("again", "password")
	b.press("Set the password")
	b.until(`document.querySelector('[data-field=newPassword] .wrong')`) // a common one
	b.looks("106-reset-refused")
	b.fill("newPassword", "correct horse battery")
	b.fill("again", "correct horse battery")
	b.press("Set the password")
	b.sees("Your password is changed.")
	b.press("Sign in")
	b.signIn("admin@example.com", "correct horse battery")
	b.sees("No links yet")
	b.press("Sign out")
	b.sees("Forgot your password?")

	// The link works once.
	b.visit(strings.TrimPrefix(link, base))
	b.sees("New password again")
	b.fill("newPassword", "another long password")
	b.fill("again", "another long password")
	b.press("Set the password")
	b.sees("was used already or has expired")
	b.looks("107-reset-used")
	b.press("Ask for a new link")
	b.sees("you get a message with a link")
	b.silent()
}

func TestConsole_offers_no_reset_without_mail(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.sees("Password")
	var offered bool
	b.eval(`document.body.innerText.includes('Forgot')`, &offered)
	if offered {
		t.Error("the sign-in page offers to reset a password although the installation sends no e-mail")
	}
	b.visit("/login#reset=")
	b.sees("The address is incomplete.")
	b.silent()
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

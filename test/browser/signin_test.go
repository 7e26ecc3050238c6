package browser_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testing/mailtest"
)

// codes turns codes of an authenticator app on for the user who is signed in, without the page's knowledge.
func (b *browser) codes() (secret string, recovery []string) {
	b.t.Helper()
	var setup struct{ Secret string }
	b.ask("POST", "/api/auth/2fa/setup", map[string]string{}, &setup)
	var on struct{ RecoveryCodes []string }
	b.ask("POST", "/api/auth/2fa/enable", map[string]string{"code": totp(b.t, setup.Secret, time.Now())}, &on)
	return setup.Secret, on.RecoveryCodes
}

// pressAfterSession ends the session and presses a button of a form. Another request of the page may notice the end first, and its
// question for the password then covers the form.
func (b *browser) pressAfterSession(name string) {
	b.t.Helper()
	b.do(network.ClearBrowserCookies())
	b.act("there is a form with a button "+name, `(() => {
		const e = [...document.querySelectorAll('dialog form button')].findLast((e) => e.textContent.trim() === `+quoted(name)+`);
		e?.click();
		return e;
	})()`)
	b.sees("Your session has ended")
}

// leave ends the session and shows the sign-in.
func (b *browser) leave() {
	b.t.Helper()
	b.do(network.ClearBrowserCookies())
	b.visit("/console/links")
	b.do(chromedp.Reload())
	b.sees("Sign in")
}

func TestSignIn_second_factor(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	_, recovery := b.codes()
	b.leave()
	b.inspectNarrow("signin")
	b.signIn(b.email, "wrong")
	b.sees("Email or password is not right.")
	b.signIn(b.email, password)
	b.until(`document.activeElement.name === 'twoFactorCode' && document.activeElement.inputMode === 'numeric'`)
	b.inspect("signin-code")
	b.do(typed("000000"), typed(kb.Enter))
	b.sees("The code is not right.")
	b.press("Use a recovery code")
	b.until(`document.activeElement.name === 'twoFactorCode' && document.activeElement.inputMode === 'text'`)
	b.looks("signin-recovery")
	b.fill("twoFactorCode", recovery[0])
	b.press("Sign in", "New link")

	// Each code works once, and the way back leads to the password.
	b.leave()
	b.signIn(b.email, password)
	b.press("Use a recovery code")
	b.fill("twoFactorCode", recovery[0])
	b.press("Sign in", "The code is not right.")
	b.press("Back")
	b.until(`document.querySelector('[name=email]').value === ` + quoted(b.email))
}

// A session that ends while somebody types asks for password and code on top of the form, and nothing is lost.
func TestConsole_session_ends_while_typing_with_second_factor(t *testing.T) {
	t.Parallel()
	b := newVisitor(t, "USER")
	b.visit("/console/links")
	b.signIn(b.email, password) // browsers close the dialog below, too, unless somebody has typed before it opened
	b.sees("New link")
	_, recovery := b.codes()
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	b.press("More options")
	b.fill("title", "The whole spring sale")
	b.pressAfterSession("Create link")
	b.fill("password", password)
	b.press("Sign in")
	b.until(`document.activeElement.name === 'twoFactorCode'`)
	b.inspect("again-code")
	b.insist()
	b.until(`document.querySelector('dialog [name=originalUrl]').value === 'example.com/spring'`)
	b.press("Use a recovery code")
	b.fill("twoFactorCode", recovery[1])
	b.press("Sign in", "is ready", "The whole spring sale")
}

// The sign-in in another tab, such as through an identity provider, also ends the waiting on top of a form.
func TestConsole_session_ends_while_typing_and_begins_in_another_tab(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	b.pressAfterSession("Create link")
	b.as(b.email)
	b.eval(`dispatchEvent(new Event('focus'))`, nil)
	b.sees("is ready")
}

// While somebody types, administrators begin to require a second factor. Its set-up appears on top of the form.
func TestConsole_second_factor_becomes_required_while_typing(t *testing.T) {
	t.Parallel()
	base := standalone(t)
	root, b := consoleAt(t, base), open(t, base)
	root.user("ann")
	root.codes()
	b.also("403 (Forbidden)")
	b.visit("/console/links")
	b.signIn(b.mail("ann"), password)
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	root.ask("PUT", "/api/settings/system/require_2fa", map[string]any{"value": map[string]bool{"enabled": true}}, nil)
	b.press("Create link", "Your administrators require one")
	b.inspect("required-typing")

	// Before the console, the same page appears after the sign-in, also for the page of an address.
	b.do(chromedp.Reload())
	b.sees("Set up a second factor")
	b.until(`!document.querySelector('dialog')`)
	b.inspectNarrow("required")
	b.visit("/console/links?new=1", "Your administrators require one")
	b.setUp("Set up an authenticator app")
	b.press("I have saved them")
	b.until(`document.querySelector('dialog [name=originalUrl]')?.value === 'example.com/spring'`)
	b.press("Create link", "is ready")
}

// setUp goes through the dialogs of an authenticator app, until they show the recovery codes.
func (b *browser) setUp(button string) {
	b.t.Helper()
	b.press(button)
	b.press("Continue")
	b.until(`document.querySelector('dialog .scan')?.naturalWidth > 100 && document.activeElement.name === 'code'`)
	b.fill("code", totp(b.t, b.text(`document.querySelector('dialog .secret input').value`), time.Now()))
	b.press("Turn on", "They are not shown again.")
}

func TestSignIn_lockout(t *testing.T) {
	t.Parallel()
	b := newVisitor(t, "USER")
	b.also("429 (Too Many Requests)")
	b.visit("/console/links")
	for range 5 {
		b.signIn(b.email, "wrong")
		b.until(`document.querySelector('.signin .notice, .notice') && !document.querySelector('[aria-busy=true]')`)
	}
	b.signIn(b.email, "wrong")
	b.sees("Too many attempts. You can try again in")
	first := b.text(`document.querySelector('[role=timer]').textContent`)
	b.inspect("signin-locked")
	b.until(`/in [12]?\d seconds/.test(document.querySelector('[role=timer]').textContent)`)
	if then := b.text(`document.querySelector('[role=timer]').textContent`); first == then {
		t.Errorf("the waiting time stays %q", first)
	}
}

// The links of e-mails have the same paths as before, below the path of the console.
func TestSignIn_forgotten_password(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	base := standalone(t, server.Env()...)
	b := open(t, base)
	b.visit("/console/links")
	b.press("Forgot your password?", "you get a link to choose a new password")
	b.until(`location.pathname + location.hash === '/login#forgot'`)
	b.inspect("forgot")
	b.do(chromedp.Reload())
	b.sees("Send the link")
	b.press("Send the link")
	b.until(`document.activeElement.name === 'email' && document.activeElement.ariaInvalid === 'true'`)
	b.fill("email", b.email)
	b.press("Send the link", "If "+b.email+" has an account")
	b.inspect("forgot-sent")

	link := strings.TrimPrefix(server.Wait(t, b.email).Link, base)
	if !strings.HasPrefix(link, "/login#reset=") {
		t.Fatalf("the e-mail leads to %s", link)
	}
	b.visit(link, "Choose a new password")
	b.fill("newPassword", "password")
	b.press("Set the password")
	b.until(`document.activeElement.name === 'newPassword' && document.activeElement.ariaInvalid === 'true'`) // a common one
	b.inspectNarrow("reset")
	b.fill("newPassword", "correct horse battery")
	b.press("Set the password", "Your password is changed.")
	b.until(`location.hash === ''`)
	b.press("Sign in")
	b.signIn(b.email, "correct horse battery")
	b.sees("New link")

	// The link works once, also for somebody who is signed in.
	b.visit(link, "Choose a new password")
	b.fill("newPassword", "another long password")
	b.press("Set the password", "was used already or has expired")
	b.inspect("reset-used")
	b.press("Ask for a new link", "you get a link to choose a new password")
	b.visit("/login#reset=", "The address is incomplete.")
	b.visit("/login")
	b.sees("New link") // signed in already
}

func TestSignIn_offers_no_reset_without_mail(t *testing.T) {
	t.Parallel()
	b := open(t, shared(t).base)
	b.visit("/console/", "Password")
	b.settle()
	if strings.Contains(b.text(`document.body.innerText`), "Forgot") {
		t.Error("the sign-in page offers to reset a password although the installation sends no e-mail")
	}
}

// Somebody without an account, and then somebody with one, accepts an invitation that was sent by e-mail. It works once.
func TestSignIn_invitation(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	base := standalone(t, server.Env()...)
	b := consoleAt(t, base)
	w := b.team("Growth", "growth")
	invite := func(email string) string {
		t.Helper()
		b.ask("POST", "/api/workspaces/"+w.ID+"/invitations", map[string]string{"email": email, "role": "EDITOR"}, nil)
		return strings.TrimPrefix(server.Wait(t, email).Link, base)
	}
	b.user("ann")
	carla, ann := invite(b.mail("carla")), invite(b.mail("ann"))

	b.also("403 (Forbidden)")
	b.also("410 (Gone)")
	b.visit(carla, "You are signed in as "+b.email+".")
	b.inspect("invited-present")
	b.press("Join the workspace")
	b.sees("This invitation is for " + b.mail("carla") + ".") // message of the API
	b.press("Use another account", "Create an account to join")
	b.fill("name", "Carla \u202e<b>")
	b.fill("password", "password")
	b.press("Create account")
	b.until(`document.activeElement.name === 'password' && document.activeElement.ariaInvalid === 'true'`)
	b.inspectNarrow("invited")
	b.fill("name", "Carla")
	b.fill("password", "correct horse battery")
	b.press("Create account", "You have joined the workspace.", "New link")
	b.until(`localStorage.getItem('shortline.workspace') === ` + quoted(w.ID)) // where Carla works
	b.visit(carla, "You are signed in as "+b.mail("carla")+".")
	b.press("Join the workspace", "used already")
	b.looks("invited-used")

	// Somebody with an account tries to make another one, and gets the sign-in instead.
	b.do(network.ClearBrowserCookies())
	b.visit("/console/links")
	b.visit(ann, "Create an account to join")
	b.fill("name", "Ann")
	b.fill("password", "correct horse battery")
	b.press("Create account", "The address "+b.mail("ann")+" has an account.")
	b.inspect("invited-known")
	b.signIn(b.mail("ann"), password)
	b.sees("You are signed in as " + b.mail("ann") + ".")
	b.press("Join the workspace", "You have joined the workspace.")
	b.visit("/login#invitation=", "The address is incomplete.")
}

// The links of notices name a workspace by its id. The console works there afterwards.
func TestConsole_link_of_an_email_names_a_workspace(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	w, other := b.team("Growth", "growth"), b.team("Sales", "sales")
	for _, c := range []struct {
		name  string
		shown ownWorkspace
	}{{w.ID, w}, {other.Slug, other}, {w.ID, w}} {
		b.visit("/console/domains?workspace="+c.name, "Domains")
		b.until(`location.search === '?workspace=` + c.shown.Slug + `' && ` +
			`localStorage.getItem('shortline.workspace') === '` + c.shown.ID + `'`)
	}
}

// The address after the sign-in is one of the console, and not another site.
func TestSignIn_leads_only_to_the_console(t *testing.T) {
	t.Parallel()
	b := newVisitor(t, "USER")
	for next, want := range map[string]string{
		"%2Fconsole%2Fkeys": "/console/keys", "": "/console/links",
		"https%3A%2F%2Fexample.com%2F": "/console/links", "%2F%2Fexample.com": "/console/links",
		"%2Fconsole%2F..%2F..%2Fapi%3C": "/console/links",
	} {
		b.do(network.ClearBrowserCookies())
		b.visit("/login?next=" + next)
		b.signIn(b.email, password)
		b.until(`location.pathname === '` + want + `' && location.search === ''`)
	}
}

func TestSignIn_identity_provider(t *testing.T) {
	t.Parallel()
	issuer, client, secret := identityProvider(t)
	b := consoleAt(t, standalone(t, "OIDC_ALLOW_PRIVATE=true"))
	b.expected = regexp.MustCompile(b.expected.String() + "|" + regexp.QuoteMeta("a request to elsewhere: "+issuer))
	const name = `Acme <img src=x onerror=alert(1)>`
	b.ask("POST", "/api/admin/oidc-providers", map[string]string{"name": name, "slug": "acme", "discoveryUrl": issuer, "clientId": client,
		"clientSecret": secret}, nil)
	b.ask("PUT", "/api/settings/system/sso_enforce", map[string]any{"value": map[string]bool{"enabled": true}}, nil)
	b.do(network.ClearBrowserCookies())
	b.visit("/console/keys?new=1", "Passwords are turned off.")
	b.inspect("signin-sso")
	b.press("Continue with " + name)
	// An administrator confirms the link with the password. The provider returns to the sign-in page.
	b.until(`location.pathname + location.search === '/login?error=link_required'`)
	b.visit("/login?error=link_required", "One more step, only this time")
	b.inspect("signin-link")
	b.signIn(b.email, password)
	b.sees("New link")
	b.until(`location.pathname === '/console/links' && location.search === ''`)

	// The next time, the provider leads to the page that was asked for.
	b.do(network.ClearBrowserCookies())
	b.visit("/console/keys?new=1")
	b.press("Continue with " + name)
	b.until(`location.pathname + location.search === '/console/keys?new=1' && document.querySelector('dialog [name=name]')`)

	// On top of a form, the provider opens in another tab.
	b.fill("name", "Website")
	b.option("all", "click")
	b.pressAfterSession("Create key")
	b.until(`[...document.querySelectorAll('dialog .others a')].some((a) => a.target === '_blank' && a.pathname === ` +
		`'/api/auth/sso/acme/login')`)
	b.inspect("again-sso")

	for code, says := range map[string]string{"access_denied": "refused access", "email_not_verified": "not verified",
		"<b>unheard</b>": "failed. Try again", "constructor": "failed. Try again"} {
		b.visit("/login?error="+code, says)
	}
}

// A passkey signs in without a user name. On top of a form, that of somebody else does not.
func TestSignIn_passkey(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, onLocalhost(t))
	device := b.authenticator()
	b.user("ann")
	b.leave()
	b.signIn(b.mail("ann"), password)
	b.sees("New link")
	b.visit("/console/account/security")
	b.press("Add a passkey")
	b.fill("name", "Laptop")
	b.press("Continue", "Passkey added")
	if n := len(b.credentials(device)); n != 1 {
		t.Fatalf("the device has %d passkeys", n)
	}
	b.leave()
	b.looks("signin-passkey")
	b.press("Sign in with a passkey", "New link", b.mail("ann"))

	b.leave()
	b.signIn(b.email, password)
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	b.pressAfterSession("Create link")
	b.press("Sign in with a passkey", "That passkey belongs to another account. Sign in as "+b.email+".")
	b.barrierFree()
	b.fill("password", password)
	b.press("Sign in", "is ready")
}

// The link past the navigation moves the focus to the content.
func TestConsole_skip_link(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.do(page.BringToFront())
	b.click(`document.querySelector('.skip')`)
	b.until(`document.activeElement.id === 'content'`)
	b.until(`location.pathname.startsWith('/console')`)
	b.sees("New link")
}

// A wrong password is said without moving the fields and buttons: the answer takes a while, and somebody may be typing again.
func TestConsole_signing_in_moves_nothing(t *testing.T) {
	t.Parallel()
	b := newVisitor(t, "USER")
	b.measured()
	b.visit("/console/", "Sign in")
	b.until(`!!document.querySelector('.signin [name=password]')`)
	b.settle()
	b.signIn(b.email, "wrong")
	b.until(`!!document.querySelector('.signin .notice.bad')`)
	b.settle()
	var shifts []string
	if b.eval(`measures.shifts`, &shifts); len(shifts) > 0 {
		t.Errorf("elements moved: %q", shifts)
	}
	b.until(`((icon, text) => icon.left < text.left && icon.top < text.bottom && text.top < icon.bottom)(` +
		`document.querySelector('.notice.bad .icon').getBoundingClientRect(), document.querySelector('.notice.bad p').getBoundingClientRect())`)
	b.inspect("signin-wrong")
}

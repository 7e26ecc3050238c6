package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

func TestAccount_profile(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.click(`document.querySelector('.own a')`)
	b.sees("Member since")
	b.until(`location.pathname === '/console/account'`)
	b.inspectNarrow("account")

	// A name that was typed and not saved stays when another tab is opened.
	b.fill("name", strings.Repeat("a", 256))
	b.press("Security", "Authenticator app")
	b.press("Profile")
	b.until(`document.querySelector('[name=name]').value.length === 256`)
	b.press("Save")
	b.until(`document.activeElement.name === 'name' && document.activeElement.ariaInvalid === 'true'`)
	b.fill("name", "Ann <b>Example</b>")
	b.press("Save", "Saved")
	b.until(`document.querySelector('.own bdi').textContent === 'Ann <b>Example</b>'`)
	b.has("/api/auth/me", `{"name": "Ann <b>Example</b>"}`)

	b.set("theme", "dark")
	b.until(`document.documentElement.dataset.theme === 'dark'`)
	b.set("theme", "auto")
	b.set("language", "ar")
	b.sees("الملف الشخصي")
	b.until(`document.documentElement.dir === 'rtl' && document.documentElement.scrollWidth <= innerWidth`)
	b.inspect("account-ar")
	b.set("language", "de")
	b.sees("Mitglied seit")
	b.visit("/console/account/security", "Authenticator-App")
	b.inspect("account-de")
}

func TestAccount_password(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	elsewhere := b.session()
	b.ask("POST", "/api/api-keys", map[string]string{"name": "Website"}, nil)
	b.visit("/console/account/security")
	b.fill("currentPassword", "wrong")
	b.fill("newPassword", "password")
	b.press("Change password")
	b.until(`document.querySelectorAll('main [aria-invalid=true]').length > 0 && document.activeElement.ariaInvalid === 'true'`)
	b.inspect("account-password")
	b.fill("currentPassword", password)
	b.fill("newPassword", "password")
	b.press("Change password")
	b.until(`document.activeElement.name === 'newPassword' && document.activeElement.ariaInvalid === 'true'`)
	b.click(`[...document.querySelectorAll('main label')].find((e) => e.textContent === 'Show password')`)
	b.until(`document.querySelector('[name=newPassword]').type === 'text'`)
	b.click(`document.querySelector('[name=revokeApiKeys]')`)
	b.fill("newPassword", "correct horse battery")
	b.press("Change password", "your API keys are deleted")
	b.until(`document.querySelector('[name=newPassword]').value === ''`)
	kept := b.text(`JSON.stringify({...sessionStorage}) + JSON.stringify({...localStorage})`)
	if strings.Contains(kept, "correct horse") || strings.Contains(kept, password) {
		t.Errorf("a password is in the storage of the browser: %s", kept)
	}
	b.has("/api/api-keys", `{"total": 0}`)
	elsewhere.press("Domains", "Your session has ended")
	elsewhere.fill("password", "correct horse battery")
	elsewhere.press("Sign in", "Links under your own name")
}

func TestAccount_authenticator_app(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/account/security", "a stolen password is not enough")
	b.inspectNarrow("account-security")
	b.press("Set up")
	b.press("Continue")
	b.until(`document.querySelector('dialog .scan')?.naturalWidth > 100 && document.activeElement.name === 'code'`)
	b.inspectNarrow("account-scan")
	b.fill("code", "000000")
	b.press("Turn on")
	b.until(`document.activeElement.name === 'code' && document.activeElement.ariaInvalid === 'true'`)
	b.press("Cancel")
	b.setUp("Set up")
	b.inspectNarrow("account-recovery")
	codes := b.text(`document.querySelector('dialog .recovery').textContent`)
	if n := len(strings.Fields(codes)); n != 10 {
		t.Errorf("there are %d recovery codes: %q", n, codes)
	}

	// The codes do not vanish at Escape, and can be saved as a file.
	b.insist()
	b.until(`document.querySelector('dialog[open] .recovery')`)
	b.eval(`URL.createObjectURL = ((f) => (blob) => { blob.text().then((text) => { window.saved = text; }); return f(blob); })(
		URL.createObjectURL.bind(URL))`, nil)
	b.press("Download")
	b.until(`window.saved?.trim() === document.querySelector('.recovery').textContent`)
	b.press("I have saved them")
	b.until(`!document.querySelector('dialog')`)
	b.sees("After your password")
	b.until(`document.querySelector('main .badge.good')?.textContent === 'On'`)
	b.has("/api/auth/me", `{"twoFactorEnabled": true}`)
	b.press("Turn off", "Your recovery codes stop working.")
	b.fill("password", "wrong")
	b.fill("code", "000000")
	b.press("Turn off")
	b.until(`document.querySelector('dialog [aria-invalid=true]')`)
	b.inspect("account-turn-off")
	b.fill("password", password)
	b.fill("code", strings.Fields(codes)[0])
	b.press("Turn off", "The authenticator app is off.")
	b.until(`!document.querySelector('dialog') && document.querySelector('main .badge').textContent === 'Off'`)
}

func TestAccount_passkeys(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, onLocalhost(t))
	b.also("409")
	device := b.authenticator()
	b.visit("/console/account/security")
	const name = `Laptop <img src=x onerror=alert(1)> 🔑`
	b.press("Add a passkey")
	b.fill("name", name)
	b.inspect("passkey-add")
	b.press("Continue", "Passkey added", name)
	b.press("Add a passkey")
	b.press("Continue", "already has a passkey")
	b.press("Cancel")
	b.inspectNarrow("passkeys")

	b.press("Rename " + name)
	b.fill("name", strings.Repeat("a", 101))
	b.press("Save")
	b.until(`document.activeElement.ariaInvalid === 'true'`)
	b.fill("name", "Phone")
	b.press("Save")
	b.until(`!document.querySelector('dialog') && document.querySelector('main td bdi').textContent === 'Phone'`)
	b.has("/api/auth/passkeys", `{"data": [{"name": "Phone"}]}`)

	// A copied passkey is refused at the sign-in, and the list tells.
	copied := b.credentials(device)[0]
	b.leave()
	b.press("Sign in with a passkey", "New link")
	b.leave()
	b.do(webauthn.ClearCredentials(device), webauthn.AddCredential(device, copied))
	b.press("Sign in with a passkey", "may have been copied")
	b.signIn(b.email, password)
	b.sees("New link")
	b.visit("/console/account/security", "May have been copied.")
	b.inspect("passkeys-copied")

	b.press("Remove Phone", "It is your only passkey.")
	b.barrierFree()
	b.press("Remove", "Phone removed")
	b.until(`!document.querySelector('main table')`)
}

// At an address where browsers have no passkeys, the console does not offer them.
func TestAccount_passkeys_at_an_address(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/account/security", "Passkeys need a console at an https address")
	if strings.Contains(b.text(`document.body.innerText`), "Add a passkey") {
		t.Error("the console offers passkeys")
	}
}

func TestAccount_sessions(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	elsewhere := b.session()
	b.visit("/console/account/sessions", "This one")
	b.until(`document.querySelectorAll('[aria-label^="End the session of Chrome on Linux, 127.0.0.1"]').length === 1`)
	b.inspectNarrow("sessions")
	b.click(`document.querySelector('[aria-label^="End the session"]')`)
	b.sees("The session has ended.")
	b.until(`!document.querySelector('[aria-label^="End the session"]')`)
	elsewhere.press("Domains", "Your session has ended")
	elsewhere.fill("password", password)
	elsewhere.press("Sign in", "Links under your own name")

	b.do(chromedp.Reload())
	b.press("End all others", "End 1 other session?")
	b.inspect("sessions-all")
	b.press("End all others", "All other sessions have ended.")
	b.until(`!document.querySelector('[aria-label^="End the session"]')`)
	elsewhere.press("API keys", "Your session has ended")
}

package browser_test

import (
	"strings"
	"testing"
	"time"

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
	b.press("Security")
	b.sees("Authenticator app")
	b.press("Profile")
	b.until(`document.querySelector('[name=name]').value.length === 256`)
	b.press("Save")
	b.until(`document.activeElement.name === 'name' && document.activeElement.ariaInvalid === 'true'`)
	b.fill("name", "Ann <b>Example</b>")
	b.press("Save")
	b.sees("Saved")
	b.until(`document.querySelector('.own bdi').textContent === 'Ann <b>Example</b>'`)
	var me struct{ Name string }
	b.ask("GET", "/api/auth/me", nil, &me)
	if me.Name != "Ann <b>Example</b>" {
		t.Errorf("the name is %q", me.Name)
	}

	b.set("theme", "dark")
	b.until(`document.documentElement.dataset.theme === 'dark'`)
	b.set("theme", "auto")
	b.set("language", "ar")
	b.sees("الملف الشخصي")
	b.until(`document.documentElement.dir === 'rtl' && document.documentElement.scrollWidth <= innerWidth`)
	b.inspect("account-ar")
	b.set("language", "de")
	b.sees("Mitglied seit")
	b.visit("/console/account/security")
	b.sees("Authenticator-App")
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
	b.press("Change password")
	b.sees("your API keys are deleted")
	b.until(`document.querySelector('[name=newPassword]').value === ''`)
	var kept string
	b.eval(`JSON.stringify({...sessionStorage}) + JSON.stringify({...localStorage})`, &kept)
	if strings.Contains(kept, "correct horse") || strings.Contains(kept, password) {
		t.Errorf("a password is in the storage of the browser: %s", kept)
	}
	var keys struct{ Total int }
	b.ask("GET", "/api/api-keys", nil, &keys)
	if keys.Total != 0 {
		t.Errorf("%d API keys are left", keys.Total)
	}
	elsewhere.press("Domains")
	elsewhere.sees("Your session has ended")
	elsewhere.fill("password", "correct horse battery")
	elsewhere.press("Sign in")
	elsewhere.sees("Links under your own name")
}

func TestAccount_authenticator_app(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/account/security")
	b.sees("a stolen password is not enough")
	b.inspectNarrow("account-security")
	b.press("Set up")
	b.press("Continue")
	b.until(`document.querySelector('dialog .scan')?.naturalWidth > 100 && document.activeElement.name === 'code'`)
	b.inspectNarrow("account-scan")
	b.fill("code", "000000")
	b.press("Turn on")
	b.until(`document.activeElement.name === 'code' && document.activeElement.ariaInvalid === 'true'`)
	b.press("Cancel")
	_, codes := b.setUp("Set up")
	if n := len(strings.Fields(codes)); n != 10 {
		t.Errorf("there are %d recovery codes: %q", n, codes)
	}
	b.sees("After your password")
	b.until(`document.querySelector('main .badge.good')?.textContent === 'On'`)
	var me struct{ TwoFactorEnabled bool }
	b.ask("GET", "/api/auth/me", nil, &me)
	if !me.TwoFactorEnabled {
		t.Error("the second factor is off")
	}
	b.press("Turn off")
	b.sees("Your recovery codes stop working.")
	b.fill("password", "wrong")
	b.fill("code", "000000")
	b.press("Turn off")
	b.until(`document.querySelector('dialog [aria-invalid=true]')`)
	b.inspect("account-turn-off")
	b.fill("password", password)
	b.fill("code", strings.Fields(codes)[0])
	b.press("Turn off")
	b.sees("The authenticator app is off.")
	b.until(`!document.querySelector('dialog') && document.querySelector('main .badge').textContent === 'Off'`)
}

// The recovery codes can be saved as a file, and do not vanish at Escape.
func TestAccount_recovery_codes(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/account/security")
	b.press("Set up")
	b.press("Continue")
	b.until(`document.activeElement.name === 'code'`)
	var secret string
	b.eval(`document.querySelector('dialog .secret input').value`, &secret)
	b.fill("code", totp(t, secret, time.Now()))
	b.press("Turn on")
	b.sees("They are not shown again.")
	b.inspectNarrow("account-recovery")
	for range 3 {
		b.keys("\u001b")
		b.settle()
	}
	b.until(`document.querySelector('dialog[open] .recovery')`)
	b.eval(`URL.createObjectURL = ((f) => (blob) => { blob.text().then((text) => { window.saved = text; }); return f(blob); })(URL.createObjectURL.bind(URL))`, nil)
	b.press("Download")
	b.until(`window.saved?.trim() === document.querySelector('.recovery').textContent`)
	b.press("I have saved them")
	b.until(`!document.querySelector('dialog')`)
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
	b.press("Continue")
	b.sees("Passkey added")
	b.sees(name)
	b.press("Add a passkey")
	b.press("Continue")
	b.sees("already has a passkey")
	b.press("Cancel")
	b.inspectNarrow("passkeys")

	b.press("Rename " + name)
	b.fill("name", strings.Repeat("a", 101))
	b.press("Save")
	b.until(`document.activeElement.ariaInvalid === 'true'`)
	b.fill("name", "Phone")
	b.press("Save")
	b.until(`!document.querySelector('dialog') && document.querySelector('main td bdi').textContent === 'Phone'`)
	var list struct{ Data []struct{ Name string } }
	b.ask("GET", "/api/auth/passkeys", nil, &list)
	if len(list.Data) != 1 || list.Data[0].Name != "Phone" {
		t.Errorf("the passkeys are %+v", list)
	}

	// A copied passkey is refused at the sign-in, and the list tells.
	copied := b.credentials(device)[0]
	b.leave()
	b.press("Sign in with a passkey")
	b.sees("New link")
	b.leave()
	b.do(webauthn.ClearCredentials(device), webauthn.AddCredential(device, copied))
	b.press("Sign in with a passkey")
	b.sees("may have been copied")
	b.signIn(b.email, password)
	b.sees("New link")
	b.visit("/console/account/security")
	b.sees("May have been copied.")
	b.inspect("passkeys-copied")

	b.press("Remove Phone")
	b.sees("It is your only passkey.")
	b.barrierFree()
	b.press("Remove")
	b.sees("Phone removed")
	b.until(`!document.querySelector('main table')`)
}

// At an address where browsers have no passkeys, the console does not offer them.
func TestAccount_passkeys_at_an_address(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/account/security")
	b.sees("Passkeys need a console at an https address")
	var offered bool
	b.eval(`document.body.innerText.includes('Add a passkey')`, &offered)
	if offered {
		t.Error("the console offers passkeys")
	}
}

func TestAccount_sessions(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	elsewhere := b.session()
	b.visit("/console/account/sessions")
	b.sees("This one")
	b.until(`document.querySelectorAll('[aria-label^="End the session of Chrome on Linux, 127.0.0.1"]').length === 1`)
	b.inspectNarrow("sessions")
	b.click(`document.querySelector('[aria-label^="End the session"]')`)
	b.sees("The session has ended.")
	b.until(`!document.querySelector('[aria-label^="End the session"]')`)
	elsewhere.press("Domains")
	elsewhere.sees("Your session has ended")
	elsewhere.fill("password", password)
	elsewhere.press("Sign in")
	elsewhere.sees("Links under your own name")

	b.do(chromedp.Reload())
	b.press("End all others")
	b.sees("End 1 other session?")
	b.inspect("sessions-all")
	b.press("End all others")
	b.sees("All other sessions have ended.")
	b.until(`!document.querySelector('[aria-label^="End the session"]')`)
	elsewhere.press("API keys")
	elsewhere.sees("Your session has ended")
}

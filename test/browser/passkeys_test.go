package browser_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testkit"
)

// authenticator adds an authenticator to the browser that holds passkeys and verifies its user.
func (b *browser) authenticator() (id webauthn.AuthenticatorID) {
	b.t.Helper()
	b.do(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Ctap2version: webauthn.Ctap2versionCtap21, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
	return id
}

// credentials returns the passkeys in the authenticator.
func (b *browser) credentials(id webauthn.AuthenticatorID) (list []*webauthn.Credential) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		list, err = webauthn.GetCredentials(id).Do(ctx)
		return err
	}))
	return list
}

// onLocalhost runs standalone at localhost. Browsers offer no passkeys at an IP address.
func onLocalhost(t *testing.T) string {
	t.Helper()
	addr := testkit.FreeAddr(t)
	base := strings.Replace("http://"+addr, "127.0.0.1", "localhost", 1)
	standalone(t, "LISTEN_ADDR="+addr, "BASE_URL="+base)
	return base
}

func TestConsole_passkeys(t *testing.T) {
	b := open(t, onLocalhost(t))
	device := b.authenticator()
	b.visit("/console/account")
	b.sees("Sign in with a passkey")
	b.looks("22-sign-in-with-passkeys")

	// The device has no passkey yet.
	b.do(webauthn.SetUserVerified(device, true))
	b.press("Sign in with a passkey")
	b.until(`document.querySelector('.alert:not([hidden])')`)
	b.signIn("admin@example.com", adminPassword)

	// Enrol.
	const name = `Laptop <img src=x onerror=alert(1)> 🔑`
	b.press("Add a passkey")
	b.fill("name", name)
	b.looks("23-add-a-passkey")
	b.press("Continue")
	b.sees("Passkey added.")
	b.sees(name)
	list := b.credentials(device)
	if len(list) != 1 || !list[0].IsResidentCredential || list[0].RpID != "localhost" {
		t.Fatalf("the authenticator holds %+v", list)
	}
	b.press("Add a passkey")
	b.press("Continue")
	b.sees("already has a passkey")
	b.press("Cancel")
	b.faultless("/console/account", name)
	b.onPhone("/console/account", name)
	b.visit("/console/account")
	b.sees(name)
	b.looks("24-passkeys")
	b.do(emulation.SetDeviceMetricsOverride(390, 844, 2, true))
	b.eval(`[...document.querySelectorAll('h2')].find((e) => e.textContent === 'Passkeys').scrollIntoView()`, nil)
	b.settle()
	b.shot("24-passkeys-phone-list")
	b.do(emulation.ClearDeviceMetricsOverride())

	// Sign in without a user name.
	enter := func() {
		t.Helper()
		b.press("Sign out")
		b.until(`location.pathname === '/login'`)
		b.press("Sign in with a passkey")
	}
	enter()
	b.sees("No links yet")
	b.visit("/console/account")
	b.sees("last used")

	// A device that does not verify its user is not enough.
	b.press("Sign out")
	b.until(`location.pathname === '/login'`)
	b.do(webauthn.SetUserVerified(device, false))
	b.press("Sign in with a passkey")
	b.until(`document.querySelector('.alert:not([hidden])')`)
	b.do(webauthn.SetUserVerified(device, true))
	b.press("Sign in with a passkey")
	b.sees("No links yet")

	// A copy of the authenticator, whose counter is older, is refused and reported.
	copied := b.credentials(device)[0]
	enter()
	b.sees("No links yet")
	b.press("Sign out")
	b.until(`location.pathname === '/login'`)
	b.do(webauthn.ClearCredentials(device), webauthn.AddCredential(device, copied))
	b.press("Sign in with a passkey")
	b.sees("may have been copied")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.visit("/console/account")
	b.sees("may have been copied")
	b.looks("25-copied-passkey")

	// After its removal, the passkey fails, and the password still works.
	b.press("Remove " + name)
	b.press("Remove")
	b.sees("Removed.")
	enter()
	b.sees("does not belong to an account here")
	b.looks("26-passkey-refused")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.visit("/console/account")
	b.sees("Add a passkey")
	b.silent()
}

// At an address where browsers have no passkeys, the console does not offer them.
func TestConsole_passkeys_at_an_address(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/console/account")
	b.sees("Sign in")
	b.signIn("admin@example.com", adminPassword)
	b.sees("Passkeys are not available here")
	var offered bool
	b.eval(`document.body.innerText.includes('Add a passkey')`, &offered)
	if offered {
		t.Error("the console offers passkeys")
	}
	b.press("Sign out")
	b.until(`location.pathname === '/login' && document.querySelector('form')`)
	b.eval(`document.body.innerText.includes('passkey')`, &offered)
	if offered {
		t.Error("the sign-in page offers passkeys")
	}
	b.silent()
}

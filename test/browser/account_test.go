package browser_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testkit"
)

// totp returns the code of an authenticator app at a time (RFC 6238).
func totp(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		t.Fatalf("decode the secret %q: %v", secret, err)
	}
	mac := hmac.New(sha1.New, key)
	_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix()/30))) // Write of a hash never fails
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1e6)
}

func (b *browser) signIn(email, password string) {
	b.t.Helper()
	b.fill("email", email)
	b.fill("password", password)
	b.press("Sign in")
}

func TestConsole_second_factor_and_roles(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/console/users")
	b.signIn("admin@example.com", adminPassword)
	b.sees("New user") // the requested page
	b.press("New user")
	b.fill("email", "ann@example.com")
	b.fill("password", "long-enough-too")
	b.press("Create user")
	b.sees("ann@example.com")
	b.press("Sign out")
	b.sees("Sign in")

	b.signIn("ann@example.com", "long-enough-too")
	b.sees("No links yet")
	var menu string
	b.do(chromedp.Text("nav[aria-label=Main]", &menu, chromedp.ByQuery))
	for _, name := range []string{"Users", "Identity providers", "System settings", "Edges"} {
		if slices.Contains(strings.Split(menu, "\n"), name) {
			t.Errorf("the menu of a normal user contains %s", name)
		}
	}
	for _, name := range []string{"edges", "providers", "settings"} {
		b.visit("/console/" + name)
		b.sees("Page not found")
	}
	b.visit("/console/webhooks")
	b.press("New webhook")
	b.sees("Address")
	var scopes int
	b.eval(`document.querySelectorAll('dialog [name=scope]').length`, &scopes)
	if scopes > 0 {
		t.Error("a normal user is offered a scope for the links of all users")
	}

	b.visit("/console/account")
	b.press("Set up")
	b.sees("Code from the app")
	var secret, recovery string
	b.do(chromedp.Text("code.secret", &secret, chromedp.ByQuery))
	b.fill("code", "000000")
	b.press("Turn on")
	b.until(`document.querySelector('.wrong, .alert:not([hidden])')`)
	b.fill("code", totp(t, secret, time.Now()))
	b.press("Turn on")
	b.sees("recovery codes")
	b.eval(`document.querySelector('pre.secret').textContent.split('\n')[0]`, &recovery)
	b.press("Done")
	b.press("Sign out")
	b.sees("Sign in")

	b.signIn("ann@example.com", "long-enough-too")
	b.sees("From your authenticator app")
	b.looks("20-second-factor")
	b.fill("twoFactorCode", recovery)
	b.press("Sign in")
	b.sees("No links yet")

	// When the session ends elsewhere, the console shows the sign-in and then returns to the same page.
	b.do(chromedp.Evaluate(`fetch('/api/auth/logout', {method: 'POST'}).then(() => true)`, nil, awaited))
	b.press("API keys")
	b.until(`location.pathname === '/login' && location.search.includes('keys')`)
	b.silent()
}

// faults lists accessibility problems of a page for users of screen readers and keyboards.
const faults = `(() => {
	const out = [];
	for (const e of document.querySelectorAll('input, select, textarea')) if (!e.labels.length && !e.ariaLabel) out.push('no label: ' + e.name);
	for (const e of document.querySelectorAll('button, a[href], summary')) if (!(e.ariaLabel ?? e.textContent).trim()) out.push('no name: ' + e.outerHTML);
	for (const e of document.querySelectorAll('img:not([alt])')) out.push('no alternative: ' + e.src);
	for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) out.push('an order of its own: ' + e.outerHTML);
	const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push('twice the id ' + id);
	if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
	if (document.querySelectorAll('main').length !== 1) out.push('not one main');
	const { scrollWidth, clientWidth } = document.documentElement; // on a phone, innerWidth grows with overflowing content
	if (scrollWidth > clientWidth) out.push('wider than the screen by ' + (scrollWidth - clientWidth));
	return out;
})()`

// onPhone checks a page on a very narrow screen and then restores the screen size.
func (b *browser) onPhone(path, text string) {
	b.t.Helper()
	b.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	b.faultless(path, text)
	b.do(emulation.ClearDeviceMetricsOverride())
}

func (b *browser) faultless(path, text string) {
	b.t.Helper()
	b.visit(path)
	b.sees(text)
	b.until(`document.querySelector('h1') && !document.querySelector('.loading')`)
	var found []string
	b.eval(faults, &found)
	for _, f := range found {
		b.t.Errorf("%s: %s", path, f)
	}
}

func TestConsole_on_a_phone_and_with_a_screen_reader(t *testing.T) {
	b := open(t, standalone(t))
	b.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	b.faultless("/login", "Sign in")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.press("New link")
	b.fill("originalUrl", "https://example.com/a-very-long-address-without-any-place-to-break-it-0123456789012345678901234567890123456789")
	b.fill("customSlug", "a-slug-as-long-as-slugs-may-be-0123456789-01234567")
	b.press("Create link")
	b.sees("1 link")
	var id string
	b.eval(`document.querySelector('.row .title').pathname`, &id)
	for path, text := range map[string]string{
		"/console/links": "Links", id: "Clicks per day", id + "/clicks": "Live", id + "/rules": "Where does", id + "/variants": "No test", id + "/preview": "How it looks", id + "/edit": "Save",
		"/console/overview": "Overview", "/console/bundles": "No bundles", "/console/webhooks": "No webhooks", "/console/keys": "API keys", "/console/account": "Second factor", "/console/users": "Users", "/console/providers": "No identity providers", "/console/settings": "No settings", "/console/edges": "Online", "/console/audit": "Audit log", "/console/abuse": "No reports",
	} {
		b.faultless(path, text)
	}

	// Names and URLs of maximal length without a break opportunity.
	long := strings.Repeat("a", 100)
	b.ask("PUT", strings.Replace(id, "/console/links/", "/api/urls/", 1), map[string]string{"ogTitle": long, "ogDescription": long + long}, nil)
	var bundle, hook struct{ ID string }
	b.ask("POST", "/api/bundles", map[string]any{"name": long, "description": long, "urlIds": []string{strings.TrimPrefix(id, "/console/links/")}}, &bundle)
	b.ask("POST", "/api/webhooks", map[string]any{"name": long, "url": "https://example.com/" + strings.Repeat(long, 3), "events": []string{"url.clicked"}, "headers": map[string]string{long: long}}, &hook)
	b.ask("POST", "/api/admin/oidc-providers", map[string]string{"name": long, "slug": long[:50], "discoveryUrl": "https://example.com/" + long, "clientId": long, "clientSecret": "secret"}, nil)
	b.ask("PUT", "/api/settings/system/"+long, map[string]any{"value": long, "description": long}, nil)
	for path, text := range map[string]string{
		id + "/preview": "Each network", "/console/bundles": "1 bundle", "/console/bundles/" + bundle.ID: "Add links", "/console/webhooks": "1 webhook",
		"/console/webhooks/" + hook.ID: "Nothing sent yet", "/console/providers": "copy it", "/console/settings": long,
	} {
		b.faultless(path, text)
		b.shot("80-long" + strings.ReplaceAll(path, "/", "-"))
	}

	// Keyboard focus: the title of a new page gets it, a dialog keeps it and returns it, and a redrawn list keeps it.
	b.press("Links")
	b.until(`document.activeElement?.tagName === 'H1' && document.activeElement.textContent === 'Links'`)
	b.eval(`document.querySelector('[aria-label^="QR code"]').focus()`, nil)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`!document.querySelector('dialog') && document.activeElement.ariaLabel?.startsWith('QR code')`)
	b.eval(`document.querySelector('[aria-label^="Disable"]').focus()`, nil)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.ariaLabel?.startsWith('Enable')`)
	b.silent()
}

// A user opens localhost instead of 127.0.0.1. A session there could change nothing, because the origin differs from
// BASE_URL.
func TestConsole_opened_at_another_address(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.base = strings.Replace(base, "127.0.0.1", "localhost", 1)
	b.visit("/console/keys")
	b.sees("Sign in")
	b.until(fmt.Sprintf(`location.origin === %q && location.search.includes('keys')`, base))
}

// The checks of silent must detect problems: this test causes some.
func TestBrowser_detects_problems(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.sees("Sign in")
	for what, script := range map[string]string{
		"Content Security Policy": `document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = true'}))`,
		"style-src":               `document.body.setAttribute('style', 'color: red')`,
		"exception":               `setTimeout(() => { throw new Error('of a test') })`,
		"console":                 `console.error('of a test')`,
		"connect-src":             `fetch('http://192.0.2.1/').catch(() => {})`,
	} {
		b.eval(script+", 0", nil)
		testkit.Within(t, 5*time.Second, "the browser reports a problem of the kind "+what, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.ContainsFunc(b.complaints, func(c string) bool { return strings.Contains(c, what) })
		})
	}
	var ran bool
	b.eval(`Boolean(window.ran)`, &ran)
	if ran {
		t.Error("an inline script ran")
	}
}

func TestConsole_identity_providers(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	const name = `Acme <img src=x onerror=alert(1)>`
	var status int
	b.do(chromedp.Evaluate(fmt.Sprintf(`fetch('/api/admin/oidc-providers', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(
		{name: %q, slug: 'acme', discoveryUrl: 'https://example.com/', clientId: 'shortline', clientSecret: 'a-secret'})}).then((r) => r.status)`, name), &status, awaited))
	if status != 201 {
		t.Fatalf("create an identity provider: status %d", status)
	}
	b.press("Sign out")
	b.sees("Sign in with " + name)
	var address string
	b.eval(`document.querySelector('.providers a').getAttribute('href')`, &address)
	if address != "/api/auth/sso/acme/login?redirect=%2Fconsole%2Flinks" {
		t.Errorf("the sign-in button links to %s", address)
	}
	for code, says := range map[string]string{"access_denied": "refused access", "email_not_verified": "not verified", "<b>unheard</b>": "Something went wrong. Try again"} {
		b.visit("/login?error=" + code)
		b.sees(says)
	}
	b.looks("21-identity-providers")
	b.silent()
}

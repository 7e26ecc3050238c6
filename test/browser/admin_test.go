package browser_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// identityProvider starts the test identity provider. It signs in admin@example.com.
func identityProvider(t *testing.T) (issuer, client, secret string) {
	t.Helper()
	idp := filepath.Join(t.TempDir(), "idp")
	build := exec.Command("go", "build", "-o", idp, ".")
	build.Dir, build.Env, build.Stderr = "../../control/internal/platform/idptest/idp", append(os.Environ(), "GOWORK=off"), os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal("build the identity provider:", err)
	}
	cmd := exec.Command(idp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "issuer %s client %q secret %q", &issuer, &client, &secret); err != nil {
		t.Fatalf("unexpected output of the identity provider %q: %v", line, err)
	}
	return issuer, client, secret
}

func TestConsole_providers(t *testing.T) {
	issuer, client, secret := identityProvider(t)
	b := open(t, standalone(t, "OIDC_ALLOW_PRIVATE=true"))
	b.expected = regexp.MustCompile(b.expected.String() + "|" + regexp.QuoteMeta("a request to elsewhere: "+issuer))
	b.visit("/console/providers")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No identity providers")
	b.sees("once a provider is active")
	b.until(`[...document.querySelectorAll('main button')].find((e) => e.textContent === 'Turn passwords off').disabled`)
	b.looks("60-no-providers")

	b.press("New provider")
	b.fill("slug", "with space")
	b.fill("discoveryUrl", "not an address")
	b.fill("scopes", "profile")
	b.press("Create provider")
	for _, name := range []string{"name", "slug", "discoveryUrl", "clientId", "clientSecret", "scopes"} {
		b.until(`document.querySelector('dialog [data-field=` + name + `] .wrong')`)
	}
	b.until(`document.activeElement.closest('dialog form') && document.activeElement.getAttribute('aria-invalid')`)
	b.looks("61-new-provider-refused")
	for name, value := range map[string]string{"name": hostile, "slug": "acme", "discoveryUrl": issuer, "clientId": client, "clientSecret": secret} {
		b.fill(name, value)
	}
	b.eval(`document.querySelector('dialog [name=scopes]').value = ''`, nil)
	b.fill("scopes", "openid email")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees("/api/auth/sso/acme/callback")
	b.sees("set (never shown)")
	var whole string
	b.eval(`document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((e) => e.value).join()`, &whole)
	if strings.Contains(whole, secret) {
		t.Error("the page still holds the client's secret")
	}
	b.press("Edit " + hostile)
	b.fill("name", "Acme & Co")
	b.press("Save")
	b.sees("Acme & Co")
	b.looks("62-providers")
	b.onPhone("/console/providers", "Acme & Co")
	b.eval(`document.querySelector('[aria-label="Disable Acme & Co"]').focus()`, nil)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees("Disabled. New sign-ins are refused")
	b.until(`document.activeElement.ariaLabel === 'Enable Acme & Co'`)
	b.press("Sign out")
	b.sees("Sign in")
	b.until(`!document.querySelector('.providers a')`)

	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.press("Identity providers")
	b.press("Enable Acme & Co")
	b.sees("On, in addition to the providers.")
	b.press("Turn passwords off")
	b.sees("Test this first")
	b.press("Turn off")
	b.sees("Off. Users sign in through a provider only.")
	b.press("Sign out")
	b.sees("Password sign-in is turned off.")
	b.press("Sign in with Acme & Co")
	b.sees("One more step") // an administrator confirms the link, although passwords are off
	b.looks("64-link-required")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.press("Sign out")
	b.sees("Password sign-in is turned off.")
	b.press("Sign in with Acme & Co")
	b.sees("No links yet") // through the provider; the stored client secret is still valid
	b.press("Identity providers")
	b.press("Allow passwords")
	b.sees("On, in addition to the providers.")

	b.press("Users")
	b.press("Accounts of admin@example.com at identity providers")
	b.sees("Acme & Co")
	b.looks("63-accounts")
	b.press("Unlink admin@example.com at Acme & Co")
	b.sees("An account is linked when the user signs in")
	b.press("Close")
	b.press("Identity providers")
	b.press("Delete Acme & Co")
	b.sees("The users stay.")
	b.press("Delete")
	b.sees("No identity providers")
	b.silent()
}

func TestConsole_settings(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/console/settings")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No settings")
	b.looks("70-no-settings")
	b.press("New setting")
	b.fill("value", "{")
	b.press("Save")
	b.until(`document.querySelector('dialog [data-field=key] .wrong')?.textContent === 'is required'`)
	b.fill("key", "two words")
	b.press("Save")
	b.until(`document.querySelector('dialog [data-field=value] .wrong')?.textContent.includes('Invalid JSON')`)
	b.fill("value", `{"text": "<b>bold</b>", "list": [1, 2]}`)
	b.press("Save")
	b.until(`document.querySelector('dialog [data-field=key] .wrong')?.textContent.includes('letters')`) // message of the API
	b.looks("71-setting-refused")
	b.fill("key", "sso_enforce")
	b.press("Save")
	b.until(`document.querySelector('dialog [data-field=value] .wrong')?.textContent.includes('enabled')`)
	b.fill("key", "banner.text")
	b.fill("description", hostile)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees(`"text": "<b>bold</b>"`)
	b.sees(hostile)
	b.press("New setting")
	b.fill("key", "banner.text")
	b.fill("value", "1")
	b.press("Save")
	b.until(`document.querySelector('dialog [data-field=key] .wrong')?.textContent.includes('already exists')`)
	b.press("Cancel")
	b.press("Edit banner.text")
	b.fill("value", `{"text": "plain"}`)
	b.press("Save")
	b.sees(`"text": "plain"`)
	b.sees(hostile) // the description stays
	b.looks("72-settings")
	b.onPhone("/console/settings", "banner.text")
	var kept struct {
		Value struct{ Text string }
	}
	b.ask("GET", "/api/settings/system/banner.text", nil, &kept)
	if kept.Value.Text != "plain" {
		t.Errorf("unexpected setting %+v", kept)
	}
	b.press("Delete banner.text")
	b.sees("Delete this setting?")
	b.press("Delete")
	b.sees("No settings")
	b.silent()
}

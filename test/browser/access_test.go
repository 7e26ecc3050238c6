package browser_test

import (
	"strconv"
	"testing"
)

// Administrators add an identity provider. Its secret is never shown or kept in the browser, and rules are changed after a question.
func TestAccess_providers(t *testing.T) {
	t.Parallel()
	issuer, client, secret := identityProvider(t)
	b := consoleAt(t, standalone(t, "OIDC_ALLOW_PRIVATE=true"))
	b.visit("/console/providers")
	b.also("403")
	b.sees("No identity providers yet")
	b.until(`document.querySelector('main .named:nth-of-type(2) button, main .named:last-of-type button').disabled`)
	b.inspect("providers-none")
	b.press("New provider")
	b.fill("name", "Acme")
	b.fill("slug", "A b")
	b.fill("discoveryUrl", issuer)
	b.fill("clientId", client)
	b.fill("clientSecret", secret)
	b.press("Save")
	b.until(`document.activeElement.name === 'slug' && document.activeElement.ariaInvalid === 'true'`)
	b.inspect("provider-form")
	b.until(`!JSON.stringify(sessionStorage).includes(` + strconv.Quote(secret) + `)`)
	b.fill("slug", "acme")
	b.fill("allowedDomains", "example.com, example.org")
	b.press("Save", "Callback address, to register at the provider")
	b.until(`document.querySelector('.secret input').value.endsWith('/api/auth/sso/acme/callback')`)
	b.until(`!document.body.innerHTML.includes(` + strconv.Quote(secret) + `)`)
	b.inspectNarrow("providers")

	// Only what was changed is sent, so the secret stays.
	b.press("Edit")
	b.fill("name", "Acme Inc.")
	b.press("Save")
	b.until(`[...document.querySelectorAll('h2')].some((e) => e.textContent === 'Acme Inc.')`)
	b.has("/api/admin/oidc-providers",
		`[{"name": "Acme Inc.", "allowedDomains": ["example.com", "example.org"], "hasClientSecret": true, "isActive": true}]`)

	// Passwords are turned off and on. A second factor is refused, because the administrator has none.
	rule := func(n string) string {
		return `document.querySelectorAll('main .named')[` + n + `].querySelector('button')`
	}
	b.click(rule("1"))
	b.sees("Try that first: if it fails, nobody can sign in.")
	b.inspect("passwords-off")
	b.press("Turn on")
	b.until(`document.querySelectorAll('main .named')[1].querySelector('.badge.good')`)
	b.click(rule("1"))
	b.sees("Everybody can sign in with a password again")
	b.press("Turn off")
	b.until(`!document.querySelectorAll('main .named')[1].querySelector('.badge.good')`)
	b.click(rule("0"))
	b.press("Turn on")
	b.until(`document.querySelector('dialog .notice.bad')`)
	b.press("Cancel")

	b.click(`[...document.querySelectorAll('main section button')].find((e) => e.textContent.trim() === 'Turn off')`)
	b.sees("New sign-ins are refused; sessions continue.")
	b.press("Delete", "Delete Acme Inc.?")
	b.press("Delete", "No identity providers yet")
}

// Settings are JSON values. Mistakes are shown at their field.
func TestAccess_settings(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t))
	b.visit("/console/settings", "All settings have their default values.")
	b.press("New setting")
	b.fill("key", "team.color")
	b.fill("value", `{"a": `)
	b.press("Save", "This is not valid JSON")
	b.until(`document.activeElement.name === 'value'`)
	b.inspect("setting")
	b.fill("value", `{"a": [1]}`)
	b.fill("description", "Colours <b>")
	b.press("Save", "Colours <b>", `{"a":[1]}`)
	b.inspectNarrow("settings")
	b.press("New setting")
	b.fill("key", "team.color")
	b.fill("value", "1")
	b.press("Save", "already exists; edit it instead")
	b.press("Cancel")
	b.press("Edit team.color")
	b.fill("value", "7")
	b.press("Save")
	b.until(`document.querySelector('td code').textContent === '7'`)
	b.has("/api/settings/system/team.color", `{"value": 7, "description": "Colours <b>"}`)
	b.press("Delete team.color")
	b.press("Delete", "All settings have their default values.")
}

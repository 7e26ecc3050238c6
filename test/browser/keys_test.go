package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestConsole_keys_with_limits(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/console/keys")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No API keys")
	b.press("New key")
	b.fill("name", hostile)
	b.press("Allowed addresses")
	b.fill("allowedIps", "203.0.113.0/24\nnowhere")
	b.press("Create key")
	b.until(`document.querySelector('dialog [data-field=allowedIps] .wrong')`)
	b.looks("110-key-refused")
	b.eval(`document.querySelector('dialog [name=allowedIps]').value = ''`, nil)
	b.fill("allowedIps", "203.0.113.0/24, 2001:db8::1")
	b.eval(`for (const n of ['links:read', 'analytics:read']) document.querySelector('dialog [name="' + n + '"]').click()`, nil)
	b.press("Create key")
	b.sees("It is not shown again.")
	var first, second string
	b.do(chromedp.Text("#new-key", &first, chromedp.ByQuery))
	b.press("Done")
	b.sees(hostile)
	b.sees("links:read, analytics:read")
	b.sees("from 203.0.113.0/24, 2001:db8::1")
	b.looks("111-keys")
	b.onPhone("/console/keys", "links:read, analytics:read")
	b.press("Replace " + hostile)
	b.sees("The present one stops working immediately.")
	b.press("Replace")
	b.sees("It is not shown again.")
	b.do(chromedp.Text("#new-key", &second, chromedp.ByQuery))
	if !strings.HasPrefix(second, "sl_") || first == second {
		t.Errorf("the key %q was replaced by %q", first, second)
	}
	b.press("Done")
	b.sees("links:read, analytics:read") // the limits stay
	b.press("Delete " + hostile)
	b.press("Delete")
	b.sees("No API keys")
	b.silent()
}

package browser_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// A key is made with the rights that somebody chooses, shown once, rotated and deleted. What is typed survives Escape.
func TestConsole_keys(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/keys", "No API keys")
	b.inspect("keys-empty")
	b.press("New key")
	b.fill("name", "Website")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.press("New key")
	b.until(`document.querySelector('dialog [name=name]').value === 'Website'`)
	// A key has all permissions only if somebody says so, and it ends in 90 days unless somebody says otherwise.
	b.press("Create key", "Choose what the key may do.")
	b.until(`document.activeElement.getAttribute('aria-invalid') === 'true' && document.activeElement.querySelector('[name=rights]')`)
	b.until(`Math.abs(new Date(document.querySelector('[name=expiresAt]').dataset.value) - Date.now() - 90 * 86_400_000) < 3_700_000`)
	b.option("some", "click")
	b.press("Create key", "Choose what the key may do.")
	for _, right := range []string{"links:read", "analytics:read"} {
		b.click(fmt.Sprintf(`document.querySelector('dialog [name="%s"]')`, right))
		b.until(fmt.Sprintf(`document.querySelector('dialog [name="%s"]').checked`, right))
	}
	b.fill("allowedIps", "127.0.0.0/8, everywhere")
	b.press("Create key")
	b.until(`document.querySelector('[name=allowedIps]').getAttribute('aria-invalid') === 'true' && document.activeElement.name === ` +
		`'allowedIps'`)
	b.inspect("key-form")
	b.fill("allowedIps", "127.0.0.0/8")
	b.press("Create key", "It is not shown again")
	b.inspect("key-made")
	made := func() (key string) {
		b.eval(`document.querySelector('dialog .secret input').value`, &key)
		if !regexp.MustCompile(`^sl_[0-9A-Za-z]{60}$`).MatchString(key) {
			t.Fatalf("the dialog shows %q", key)
		}
		return key
	}
	status := func(method, path, key string) int {
		return request(t, method, b.base+path, map[string]string{"Authorization": "Bearer " + key}).StatusCode
	}
	first := made()
	b.keys(kb.Escape) // the dialog stays until somebody says that the key is copied
	b.until(`document.querySelector('dialog .secret input')`)
	b.press("I have copied it")
	b.until(`!document.querySelector('dialog')`)
	if read, write := status("GET", "/api/urls", first), status("POST", "/api/urls", first); read != 200 || write != 403 {
		t.Errorf("with the key: read %d, write %d", read, write)
	}
	b.sees("Read links, Read reports")
	b.inspectNarrow("keys-list")

	b.click(`document.querySelector('[aria-label="Rotate Website"]')`)
	b.sees("Rotate Website?")
	b.barrierFree()
	b.click(`document.querySelector('dialog .danger')`)
	b.sees("It is not shown again")
	second := made()
	b.press("I have copied it")
	if old, now := status("GET", "/api/urls", first), status("GET", "/api/urls", second); old != 401 || now != 200 {
		t.Errorf("after the rotation: old key %d, new key %d", old, now)
	}
	b.click(`document.querySelector('[aria-label="Delete Website"]')`)
	b.sees("Delete Website?")
	b.click(`document.querySelector('dialog .danger')`)
	b.sees("No API keys")
	if gone := status("GET", "/api/urls", second); gone != 401 {
		t.Errorf("a deleted key: %d", gone)
	}
}

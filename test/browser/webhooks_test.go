package browser_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
)

// receiving starts a receiver of webhooks, which refuses everything until accept is called.
func receiving(t *testing.T) (*receiver, string) {
	t.Helper()
	there := &receiver{}
	server := httptest.NewServer(there)
	t.Cleanup(server.Close)
	return there, server.URL
}

// A webhook whose receiver refuses everything is failing, in the list and on its page, although it is enabled.
func TestFault14_failing_webhook_is_not_active(t *testing.T) {
	t.Parallel()
	there, address := receiving(t)
	b := consoleAt(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"))
	hook := b.post("/api/webhooks", map[string]any{
		"name": "Shop", "url": address + "/hooks/a-rather-long-path/to-the-receiver", "events": []string{"url.created"}})
	for range 3 {
		b.ask("POST", "/api/webhooks/"+hook+"/test", nil, nil)
	}
	b.press("Webhooks", "1 webhook")
	b.until(`document.querySelector('[data-name=Health] .badge.bad')?.textContent === 'Failing'`)
	b.sees("Nothing has arrived yet: all 3 attempts failed.", "The receiver answered 500")
	b.until(`document.querySelector('[data-name="Success rate"]').textContent.startsWith('0%')`)
	b.until(`!document.querySelector('main .badge.good') && !document.querySelector('main').innerText.includes('Active')`)
	b.inspectNarrow("webhooks-failing")
	b.press("Shop")
	b.until(`document.querySelector('.head .badge.bad')?.textContent === 'Failing'`)
	b.until(`document.querySelector('.notice.bad').innerText.includes('all 3 attempts failed')`)
	b.until(`!document.querySelector('.head .badge.good')`)
	b.inspectNarrow("webhook-failing")

	// One success ends it; a failure afterwards is an accident at first.
	there.accept()
	b.press("Send a test")
	b.until(`document.querySelector('.head .badge.good')?.textContent === 'Working' && !document.querySelector('.notice.bad')`)
	b.press("Disable")
	b.until(`document.querySelector('.head .badge').textContent === 'Disabled'`)
	b.sees("Events are not sent until you enable it again.")
}

// Somebody makes a webhook, keeps its secret, sends a test, and sends failed deliveries again.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	there, address := receiving(t)
	b := consoleAt(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"))
	b.press("Webhooks", "Tell another system what happens")
	b.inspect("webhooks-empty")
	b.press("New webhook")
	b.fill("name", "Shop")
	b.fill("url", "not an address")
	b.fill("headers", "X-Token")
	b.press("Create webhook", "must be a name that is not given yet, a colon and a value")
	b.fill("headers", "X-Token: abc")
	b.press("Create webhook")
	b.until(`document.querySelector('dialog [name=url]').getAttribute('aria-invalid') === 'true' && document.querySelector('dialog ` +
		`.hookevents.wrong')`)
	b.inspectNarrow("webhook-refused")
	b.fill("url", address)
	b.tick("url.created")
	b.tick("url.deleted")
	b.press("Create webhook", "It is not shown again.")
	b.inspect("webhook-secret")
	secret := b.text(`document.querySelector('dialog .secret input').value`)
	b.press("I have kept it", "Nothing sent yet")
	id := b.text(`location.pathname.split('/').pop()`)
	if len(secret) < 20 {
		t.Fatalf("the secret is %q", secret)
	}
	b.until(fmt.Sprintf(`!(document.documentElement.outerHTML + JSON.stringify(sessionStorage)).includes(%q)`, secret))

	// A test shows the answer, whatever it is.
	b.press("Send a test", "The receiver answered 500")
	b.until(`document.querySelector('pre.attemptbody').textContent.trim() === ` + fmt.Sprintf("%q", hostile))
	b.inspect("webhook-test")
	last := there.latest("webhook.test")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(last.body))
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); last.signature != want || last.custom != "abc" {
		t.Errorf("signed with %s, want %s; the header is %q", last.signature, want, last.custom)
	}
	b.press("How receivers verify a delivery", "timingSafeEqual")
	b.barrierFree()

	// The log follows events, tells when the next attempt is made, and filters.
	b.made(map[string]any{"originalUrl": "https://example.com/a"})
	b.made(map[string]any{"originalUrl": "https://example.com/b"})
	testkit.Eventually(t, "deliveries fail", func() bool {
		var w struct{ TotalFailed, Waiting int }
		b.ask("GET", "/api/webhooks/"+id, nil, &w)
		return w.TotalFailed >= 3 && w.Waiting == 2
	})
	b.press("Refresh")
	b.until(`[...document.querySelectorAll('.factlist div')].find((e) => e.textContent.startsWith('Waiting')).textContent === 'Waiting2'`)
	b.until(`![...document.querySelectorAll('.factlist div')].find((e) => e.textContent.startsWith('Next attempt')).textContent.includes('–')`)
	b.set("event", "url.created")
	b.until(`location.search.includes('event=url.created') && document.querySelectorAll('.attempt').length >= 2 && ` +
		`[...document.querySelectorAll('.attempt .mono')].every((e) => e.textContent !== 'webhook.test')`)
	b.until(`document.querySelector('.hookdays').innerText.includes('attempts in 14 days succeeded')`)
	b.eval(`document.querySelector('.hookdays').scrollIntoView()`, nil)
	b.inspectNarrow("webhook-log")
	b.set("status", "success")
	b.sees("No delivery matches")
	b.set("status", "failed")

	// A delivery has a pane with its attempts, from which it is sent again. The rest is sent with one button.
	b.click(`document.querySelector('.attempt .linkbutton')`)
	b.sees("https://example.com/", "Response", "Attempt 1")
	b.until(`location.search.includes('delivery=')`)
	b.inspectNarrow("webhook-delivery")
	there.accept()
	b.click(`[...document.querySelectorAll('dialog .button')].find((e) => e.textContent === 'Send again')`)
	b.sees("Sent again. The receiver answered 200.")
	b.until(`document.querySelector('.tries .badge.good') && document.querySelector('.tries .badge.bad')`)
	b.press("Close")
	b.until(`!location.search.includes('delivery=')`)
	b.set("status", "success")
	b.until(`document.querySelectorAll('.attempt').length >= 1 && document.querySelector('.attempt .badge.good')`)
	b.set("status", "")
	b.press("Send all failed again", "It keeps its id")
	b.inspect("webhook-repeat")
	b.press("Send all failed again", "being sent again")
	b.becomes("/api/webhooks/"+id, `{"waiting": 0, "failureStreak": 0}`)
	b.press("Refresh")
	b.until(`document.querySelector('.head .badge.good')?.textContent === 'Working'`)
	b.press("Delete", "This cannot be undone.")
	b.press("Delete", "Shop was deleted.", "Tell another system what happens")
}

// Two people change a webhook: only what each changed is sent, so both changes stay.
func TestWebhooks_changes_by_two_people(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"))
	b.also("412 (Precondition Failed)")
	hook := b.post("/api/webhooks", map[string]any{"name": "Shop", "url": "http://127.0.0.1:1/old",
		"events": []string{"url.created"}, "headers": map[string]string{"X-Token": "abc"}})
	b.visit("/console/webhooks/" + hook)
	b.press("Edit")
	b.fill("name", "Shop of Berlin")
	b.ask("PUT", "/api/webhooks/"+hook, map[string]any{"url": "http://127.0.0.1:1/new"}, nil)
	b.press("Save")
	b.until(`document.querySelector('dialog .notice.bad')`)
	b.inspect("webhook-conflict")
	b.press("Save mine", "The webhook was saved.", "Shop of Berlin", "http://127.0.0.1:1/new")
	b.has("/api/webhooks/"+hook, `{"name": "Shop of Berlin", "url": "http://127.0.0.1:1/new"}`)
	var now struct{ Headers map[string]string }
	if b.ask("GET", "/api/webhooks/"+hook, nil, &now); len(now.Headers) != 1 {
		t.Errorf("%+v", now)
	}

	// The form keeps its values when somebody leaves it.
	b.press("Edit")
	b.fill("name", "Shop of Hamburg")
	b.press("Cancel")
	b.press("Edit", "Restored what you typed before.")
	b.until(`document.querySelector('dialog [name=name]').value === 'Shop of Hamburg'`)
	b.press("Discard")
	b.until(`document.querySelector('dialog [name=name]').value === 'Shop of Berlin'`)
	b.do(chromedp.SendKeys(`dialog [name=name]`, "!", chromedp.ByQuery))
	b.press("Save", "Shop of Berlin!")
}

// The navigation says on every screen that a webhook fails, until it works or is turned off.
func TestConsoleBadge_failing_webhooks(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	id := b.post("/api/webhooks", map[string]any{"name": "Shop", "url": receiver.URL, "events": []string{"url.created"}})
	b.visit("/console/tags", "No tags yet")
	b.until(`!document.querySelector('nav .badge')`)
	b.ask("POST", "/api/webhooks/"+id+"/test", nil, nil)
	b.visit("/console/tags")
	b.until(`document.querySelector('nav .badge')?.innerText.trim().startsWith('1') && document.querySelector('nav ` +
		`.badge').textContent.includes('need attention')`)
	b.inspect("badge")
	b.ask("PUT", "/api/webhooks/"+id, map[string]any{"isActive": false}, nil)
	b.click(`document.querySelector('nav a[href$="/webhooks"]')`)
	b.until(`document.querySelector('h1')?.textContent === 'Webhooks' && !document.querySelector('nav .badge')`)
}

// Somebody rotates the secret of a webhook, sees until when the old one is valid, and ends it.
func TestWebhooks_rotate_the_secret(t *testing.T) {
	t.Parallel()
	there, address := receiving(t)
	there.accept()
	b := consoleAt(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"))
	var hook struct{ ID, Secret string }
	b.ask("POST", "/api/webhooks", map[string]any{"name": "Shop", "url": address, "events": []string{"url.created"}}, &hook)
	b.visit("/console/webhooks/"+hook.ID, "Nothing sent yet")
	b.press("Rotate the secret", "A new secret is made and shown once.")
	b.until(`document.querySelector('dialog [name=overlapSeconds]').value === '86400'`)
	b.inspectNarrow("webhook-rotate")
	b.looks("webhook-rotate")
	b.set("overlapSeconds", "604800")
	b.press("Make a new secret", "It is not shown again.")
	secret := b.text(`document.querySelector('dialog .secret input').value`)
	if secret == hook.Secret || len(secret) < 20 {
		t.Fatalf("the new secret is %q, the old one %q", secret, hook.Secret)
	}
	b.press("I have kept it", "The old secret is valid too, until")
	b.inspectNarrow("webhook-rotated")
	b.looks("webhook-rotated")
	b.until(fmt.Sprintf(`!document.documentElement.outerHTML.includes(%q)`, secret))
	b.press("End the old secret", "This cannot be undone.")
	b.press("End the old secret", "Only the new secret is valid now.")
	b.until(`!document.querySelector('main').innerText.includes('The old secret')`)
	b.has("/api/webhooks/"+hook.ID, `{"oldSecretUntil": null, "hasSecret": true}`)

	// A leaked secret ends at once.
	b.press("Rotate the secret")
	b.set("overlapSeconds", "0")
	b.press("Make a new secret", "It is not shown again.")
	b.press("I have kept it")
	b.until(`!document.querySelector('dialog') && !document.querySelector('main').innerText.includes('The old secret')`)
}

package browser_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testkit"
)

// receiver is a webhook receiver. It rejects deliveries until accepts is set.
type receiver struct {
	mu      sync.Mutex
	accepts bool
	got     []delivered
}

type delivered struct{ event, signature, custom, body string }

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body) // the signature check detects an incomplete body
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, delivered{q.Header.Get("X-Webhook-Event"), q.Header.Get("X-Webhook-Signature"), q.Header.Get("X-Token"), string(body)})
	if !r.accepts {
		http.Error(w, hostile, http.StatusInternalServerError)
	}
}

func (r *receiver) accept() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepts = true
}

func (r *receiver) latest(event string) (out delivered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.got {
		if d.event == event {
			out = d
		}
	}
	return out
}

// tick toggles the named checkbox in the open dialog, by keyboard.
func (b *browser) tick(name string) {
	b.t.Helper()
	b.until(`document.querySelector('dialog[open] [name="` + name + `"]')`)
	b.eval(`document.querySelector('dialog[open] [name="`+name+`"]').focus()`, nil)
	b.do(chromedp.KeyEvent(" "))
}

func TestConsole_webhooks(t *testing.T) {
	there := &receiver{}
	server := httptest.NewServer(there)
	t.Cleanup(server.Close)
	b := open(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"))
	b.visit("/console/webhooks")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No webhooks")
	b.looks("30-no-webhooks")

	b.press("New webhook")
	b.fill("name", hostile)
	b.fill("url", "not an address")
	b.press("Create webhook")
	b.until(`document.querySelector('dialog [data-field=url] .wrong') && document.querySelector('dialog [data-field=events] .wrong')`)
	b.until(`document.activeElement.name === 'url'`)
	b.looks("31-new-webhook-refused")
	b.fill("url", server.URL)
	b.tick("url.created")
	b.press("Custom headers")
	b.fill("headers", "no colon")
	b.press("Create webhook")
	b.until(`document.querySelector('dialog [data-field=headers] .wrong')`)
	b.fill("headers", "X-Token: abc:def\nX-Other: 1")
	b.do(chromedp.KeyEvent(kb.Tab)) // to the Cancel button, then to the Create button
	b.do(chromedp.KeyEvent(kb.Tab))
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees("It is not shown again.")
	b.shot("32-secret")
	var secret string
	b.do(chromedp.Text("#new-secret", &secret, chromedp.ByQuery))
	b.press("Done")
	b.sees("Nothing sent yet")
	b.sees(hostile)
	b.sees("X-Other, X-Token")
	var whole string
	b.eval(`document.documentElement.outerHTML`, &whole)
	if strings.Contains(whole, secret) || strings.Contains(whole, "abc:def") {
		t.Error("the page still holds the secret or a header's value")
	}

	b.press("Send a test")
	b.sees("The test failed")
	b.sees("The receiver answered 500")
	b.sees(hostile)
	b.until(`document.activeElement.textContent === 'Send a test'`)
	there.accept()
	b.press("Send webhook.test again")
	b.sees("Sent again. Status 200.")
	b.looks("33-webhook")
	d := there.latest("webhook.test")
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(d.body)) // Write of a hash never fails
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); d.signature != want || d.custom != "abc:def" {
		t.Errorf("the delivery has the signature %q, want %q, and the custom header %q", d.signature, want, d.custom)
	}

	b.press("Links")
	b.press("New link")
	b.fill("originalUrl", "https://example.com/told")
	b.press("Create link")
	testkit.Within(t, 20*time.Second, "the receiver gets the event of the link", func() bool { return strings.Contains(there.latest("url.created").body, "https://example.com/told") })
	b.press("Webhooks")
	b.sees("1 webhook")
	b.looks("34-webhooks")
	b.press("Edit " + hostile)
	b.tick("url.created")
	b.tick("url.clicked")
	b.tick("noSecret")
	b.fill("name", "Orders & more")
	b.press("Save")
	b.sees("Orders & more")
	b.sees("url.clicked")
	b.eval(`document.querySelector('[aria-label="Disable Orders & more"]').focus()`, nil)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.ariaLabel === 'Enable Orders & more'`)
	b.press("Orders & more")
	b.sees("no, because it has no secret")
	b.sees("url.created") // in the log
	var path string
	b.eval(`location.pathname`, &path)
	b.onPhone(path, "Orders & more")
	b.press("Enable")
	b.sees("Active")
	b.press("Delete")
	b.sees("Delete this webhook?")
	b.press("Delete")
	b.sees("No webhooks")
	b.silent()
}

package browser_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// A webhook whose deliveries fail says so in the list and on its page, with figures and the error. It is never shown as working.
func TestFault14_a_failing_webhook_is_not_active(t *testing.T) {
	t.Parallel()
	there := &receiver{}
	server := httptest.NewServer(there)
	t.Cleanup(server.Close)
	b := newConsole(t, standalone(t, "WEBHOOK_ALLOW_PRIVATE=true"), "")
	b.visit("/console/new/webhooks")
	b.sees("No webhooks")
	b.barrierFree()
	b.looks("new-webhooks-empty")

	b.press("New webhook")
	b.fill("name", "Warehouse")
	b.fill("url", server.URL)
	b.press("Save")
	b.until(`document.querySelector('dialog fieldset[aria-invalid=true] [role=alert]')`)
	b.barrierFree()
	b.looks("new-webhook-form")
	b.eval(`document.querySelector('dialog [name="url.created"]').click()`, nil)
	b.press("Save")
	b.sees("Deliveries are signed with this secret")
	b.barrierFree()
	b.press("I have copied it")
	b.sees("Nothing sent yet")

	b.press("Send a test")
	b.sees("The delivery failed")
	b.sees("Failing")
	b.eval(`document.querySelector('.delivery').open = true`, nil)
	b.barrierFree()
	b.looks("new-webhook-failing")
	b.do(emulation.SetDeviceMetricsOverride(320, 640, 1, false))
	b.settle()
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.looks("new-webhook-phone")
	b.do(emulation.ClearDeviceMetricsOverride())
	b.visit("/console/new/webhooks")
	b.until(`document.querySelector('.badge.bad')?.textContent === 'Failing' && !document.querySelector('.badge.good')`)
	b.sees("1 failed")
	b.barrierFree()
	b.looks("new-webhooks")

	// The failed delivery is sent again when the receiver works.
	there.accept()
	b.press("Warehouse")
	b.sees("1 of 1 attempts failed, the last one too")
	b.press("Send again")
	b.sees("The delivery succeeded")
	b.until(`!document.querySelector('.notice.bad[role=alert]')`)
	b.until(`[...document.querySelectorAll('.badge')].some((one) => one.textContent === 'Some attempts fail')`)
	b.press("Disable")
	b.sees("Events are no longer sent")
	b.until(`document.querySelector('.head .badge').textContent === 'Off'`)
	b.press("Edit")
	b.fill("name", "Stock")
	b.press("Save")
	b.until(`!document.querySelector('dialog') && document.querySelector('h1').textContent === 'Stock'`)
	b.press("Delete")
	b.sees("Delete Stock?")
	b.barrierFree()
	b.eval(`document.querySelector('dialog .danger').click()`, nil)
	b.sees("No webhooks")
	b.until(fmt.Sprintf(`location.pathname === %q`, "/console/new/webhooks"))
	b.silent()
}

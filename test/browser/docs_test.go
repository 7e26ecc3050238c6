package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The page at /api shows the OpenAPI document without other origins, under its strict policy. Its requests use the
// session of the browser.
func TestAPI_page(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/api", "Short links, routing rules")
	b.looks("api")
	b.do(chromedp.Click("#operations-tag-Account h3, #operations-tag-Account", chromedp.ByQuery))
	b.sees("/api/auth/me")
	b.do(chromedp.Click("#operations-Account-getMe .opblock-summary-control", chromedp.ByQuery))
	b.do(chromedp.Click("#operations-Account-getMe .execute", chromedp.ByQuery))
	b.sees(b.email)
	b.looks("api-operation")
}

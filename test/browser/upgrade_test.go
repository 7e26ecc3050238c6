package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/network"
)

// A page that is open during an upgrade is loaded again when it needs a file that the new release does not have. It is
// loaded again only once, and not at all if the file is missing for another reason.
func TestConsole_survives_an_upgrade(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("404")
	b.do(network.SetCacheDisabled(true)) // a file that Chromium has in memory is not asked for, so it cannot be missing
	b.visit("/console/links", "No links yet")
	end := b.answerWith("/static/app/assets/manage-*", 404, "")
	b.eval(`window.marked = true`, nil)
	b.press("Tags")
	b.until(`document.querySelector('main [role=alert] button') && window.marked`)
	end()
	b.press("Try again", "New tag")

	b.visit("/console/links")
	end = b.answerWith("/static/app/assets/manage-*", 404, "")
	b.eval(`window.marked = true; const own = fetch; window.fetch = async (at, ...more) => at === '/console/' ? new Response('<script `+
		`src="/static/app/assets/newer.js">') : own(at, ...more); undefined`, nil)
	b.press("Tags")
	b.until(`!window.marked && location.pathname === '/console/tags' && document.querySelector('main [role=alert] button')`)
	end()
	b.press("Try again", "New tag")
}

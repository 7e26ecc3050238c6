package browser_test

import (
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Clicks appear while they happen. A pause holds them, bots are shown on demand, and a connection that is lost is repaired with
// the clicks that were missed.
func TestLive_feed(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("ERR_INTERNET_DISCONNECTED")
	spring := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("spring"), "title": "Spring"})
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("autumn"), "title": "Autumn"})
	b.visit("/console/live")
	b.until(`document.querySelector('.signal.on')`)
	b.sees("Waiting for the next click")
	b.inspect("live-empty")
	rows := func(n int) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelectorAll('.clicklist tbody tr').length === %d`, n))
	}

	follow(t, b.short("spring"), phone, "https://www.instagram.com/")
	rows(1)
	follow(t, b.short("autumn"), laptop, "")
	rows(2)
	b.until(`/\/autumn/.test(document.querySelector('.clicklist tbody tr').innerText) && ` +
		`/Computer/.test(document.querySelector('.clicklist tbody tr').innerText)`)
	b.sees("2 clicks in the last minute")
	follow(t, b.short("autumn"), crawler, "")
	b.press("Pause")
	follow(t, b.short("spring"), laptop, "")
	b.sees("1 new click")
	rows(2)
	b.inspect("live")
	b.press("Resume")
	rows(3)

	// The server sends what was missed during a failure of the network.
	offline := func(on bool) {
		b.do(network.EmulateNetworkConditions(on, 0, -1, -1))
	}
	offline(true)
	// Chromium does not cut a request that is under way. If the page was opening its stream at that moment, the stream stays open, and
	// the page does not notice that the network is gone. Another event tells it.
	b.until(`document.querySelector('.signal.lost') ?? (dispatchEvent(new Event('offline')), false)`)
	follow(t, b.short("spring"), phone, "")
	rows(3)
	b.inspect("live-lost")
	offline(false)
	b.until(`document.querySelector('.signal.on')`)
	rows(4)
	b.sees("1 missed click was fetched")

	// One link, with bots.
	b.visit("/console/live?bots=1&link=" + spring.ID)
	b.until(`document.querySelector('.signal.on')`)
	follow(t, b.short("autumn"), laptop, "")
	follow(t, b.short("spring"), crawler, "")
	b.until(`/Googlebot/.test(document.querySelector('.clicklist tbody')?.innerText)`)
	rows(1)
}

// The table of clicks was 23,167 px tall on a phone, broke addresses inside, and lacked seconds, rules and variants.
func TestFault17_clicks_are_compact_and_complete(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("spring"), "title": "Spring"})
	b.ask("PUT", "/api/urls/"+link.ID, map[string]any{"isSmartRouting": true}, nil)
	b.rule(link, "Phones", "https://example.com/phone", when("device", "equals", "MOBILE"))
	path := "/console/live?tab=recent&link=" + link.ID
	b.visit(path, "No clicks yet")
	b.barrierFree()
	for range 24 {
		follow(t, b.short("spring"), laptop, "https://l.instagram.com/?u=x")
	}
	follow(t, b.short("spring"), phone, "")
	testkit.Eventually(t, "the clicks are stored", func() bool {
		b.visit(path)
		b.until(`document.querySelector('.clicklist, .empty')`)
		text := b.text(`document.querySelector('main').innerText`)
		return strings.Contains(text, "25 clicks") && strings.Contains(text, "Phones")
	})
	b.until(`document.querySelectorAll('.clicklist tbody tr').length === 20`)
	b.until(`[...document.querySelectorAll('.clicklist time')].every((e) => /\d:\d\d:\d\d/.test(e.textContent))`)
	b.until(`[...document.querySelectorAll('.clicklist .address')].length > 0`)
	b.until(`[...document.querySelectorAll('.clicklist .address')].every((e) => e.getClientRects().length === 1)`)
	b.inspect("clicks")
	b.do(chromedp.EmulateViewport(390, 800))
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.until(`document.documentElement.scrollHeight < 4000`)
	b.until(`[...document.querySelectorAll('.clicklist .address')].every((e) => e.getClientRects().length === 1)`)
	b.press("Next")
	b.until(`document.querySelectorAll('.clicklist tbody tr').length === 5 && location.search.includes('page=2')`)
	b.set("device", "MOBILE")
	b.sees("1 click")
	b.until(`document.querySelectorAll('.clicklist tbody tr').length === 1 && !location.search.includes('page=')`)
}

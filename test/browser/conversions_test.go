package browser_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// salesPage is a page of a web site that sends conversions. It calls sl.track before the script is there.
const salesPage = `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>
<script>window.sl = window.sl || {q: [], track: function () { sl.q.push(arguments); }}; %s</script>
<script async src="%s/sl.js" data-key="%s"></script>`

// figure returns a metric of the program.
func figure(t *testing.T, ops, name string) string {
	t.Helper()
	res, err := http.Get("http://" + ops + "/metrics")
	testkit.Must(t, err)
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return value
		}
	}
	t.Fatalf("no metric %s", name)
	return ""
}

// A visitor goes from a short link to a shop on another site, whose pages keep the click id and send conversions.
func TestScript_sends_conversions_across_origins(t *testing.T) {
	ops := testkit.FreeAddr(t)
	base := standalone(t, "OPS_ADDR="+ops, "ENCRYPTION_KEY="+strings.Repeat("k", 32))
	var key string
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		early := ""
		if r.URL.Path == "/landing" {
			early = `sl.track("view");`
		}
		fmt.Fprintf(w, salesPage, early, base, key)
	}))
	t.Cleanup(shop.Close)
	at, err := neturl.Parse(shop.URL)
	testkit.Must(t, err)
	site := func(name, path string) string { return "http://" + name + ":" + at.Port() + path }

	b := open(t, base)
	b.also(".example:" + at.Port()) // requests to the shop
	b.visit("/console/")
	b.signIn(b.email, password)
	b.sees("No links yet")
	var settings struct{ PublishableKey string }
	b.ask("PUT", "/api/conversions/settings", map[string]any{"hosts": []string{"shop.example"}}, &settings)
	if key = settings.PublishableKey; key == "" {
		t.Fatal("no publishable key")
	}
	b.ask("POST", "/api/urls", map[string]any{"originalUrl": site("shop.example", "/landing?a=1#top"), "customSlug": b.own("to-shop"),
		"trackConversions": true}, nil)
	accepted := func(n string) {
		t.Helper()
		testkit.Eventually(t, n+" conversions are accepted", func() bool {
			return figure(t, ops, "shortline_edge_conversions_accepted_total") == n
		})
	}
	testkit.Eventually(t, "the edge has the link and the keys", func() bool {
		return strings.Contains(request(t, "GET", base+"/to-shop", nil).Header.Get("Location"), "?a=1&sl_click=")
	})

	// From the short link to the shop: what was queued is sent when the script is there.
	b.visit("/to-shop")
	b.until(`window.sl?.id`)
	first, address := b.text(`sl.id`), b.text(`location.href`)
	if want := site("shop.example", "/landing?a=1&sl_click="+first+"#top"); address != want {
		t.Errorf("the page is %s, want %s", address, want)
	}
	accepted("1")
	b.eval(`void sl.track("purchase", {value: 49.9, currency: "EUR", externalId: "order 1"})`, nil)
	accepted("2")

	// Another page, and the same page again, have the id; a conversion counts once.
	go2 := func(address string) {
		t.Helper()
		b.do(chromedp.Navigate(address))
		b.until(`window.sl?.id`)
	}
	go2(site("shop.example", "/thanks"))
	if id := b.text(`sl.id`); id != first {
		t.Errorf("the next page has the id %s, want %s", id, first)
	}
	b.do(chromedp.Reload())
	b.until(`window.sl?.id === '` + first + `'`)
	b.eval(`void sl.track("purchase", {value: 49.9, currency: "EUR"})`, nil)
	testkit.Eventually(t, "the repetition is rejected", func() bool {
		return figure(t, ops, "shortline_edge_conversions_rejected_total") == "1"
	})

	// The newest click wins, also when the first page is opened again.
	b.visit("/to-shop")
	b.until(`window.sl?.id && sl.id !== '` + first + `'`)
	accepted("3")
	second := b.text(`sl.id`)
	go2(site("shop.example", "/old?sl_click="+first))
	if id := b.text(`sl.id`); id != second {
		t.Errorf("an old page brings back the old click")
	}
	go2(site("shop.example", "/old?sl_click=<script>"))
	if id := b.text(`sl.id`); id != second {
		t.Errorf("something else than an id is kept: %s", id)
	}

	// Without sendBeacon, fetch sends.
	b.eval(`Object.defineProperty(navigator, 'sendBeacon', {value: undefined}); void sl("sign-up")`, nil)
	accepted("4")
	if got := figure(t, ops, "shortline_conversion_spool_appended_total"); got != "4" {
		t.Errorf("%s conversions are in the spool", got)
	}

	// Pages of another site are refused, and a page without an id sends nothing.
	b.also("403 (Forbidden)")
	refused := func() string { return figure(t, ops, `shortline_edge_answers_total{outcome="refused"}`) }
	before := refused()
	go2(site("evil.example", "/?sl_click="+second))
	b.eval(`void sl.track("purchase", {value: 1, currency: "EUR"})`, nil)
	testkit.Eventually(t, "the other site is refused", func() bool { return refused() != before })
	b.do(chromedp.Navigate(site("other.example", "/")))
	b.until(`window.sl && !sl.q`)
	b.eval(`void sl.track("purchase")`, nil)
	accepted("4")
}

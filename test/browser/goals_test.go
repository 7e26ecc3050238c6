package browser_test

import (
	neturl "net/url"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The report of a workspace shows the conversions of one goal, and its revenue by currency: amounts in two are never added up.
func TestConsole_goals_and_currencies(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://shop.example.com/", "customSlug": b.own("shop"), "trackConversions": true})
	var key struct{ Key string }
	b.ask("POST", "/api/api-keys", map[string]any{"name": "shop", "scopes": []string{"conversions:write"}}, &key)
	var clicks []string
	testkit.Eventually(t, "the edge adds ids of clicks", func() bool {
		to, err := neturl.Parse(request(t, "GET", b.short("shop"), map[string]string{"User-Agent": phone}).Header.Get("Location"))
		testkit.Must(t, err)
		if id := to.Query().Get("sl_click"); id != "" {
			clicks = append(clicks, id)
		}
		return len(clicks) == 3
	})
	_, err := api(b.base, key.Key).Conversions.Send(t.Context(), client.ConversionItems{Items: []client.ConversionItem{
		{ClickID: clicks[0], Name: "purchase", Value: client.Set(20.0), Currency: client.Set("EUR")},
		{ClickID: clicks[1], Name: "purchase", Value: client.Set(5.0), Currency: client.Set("USD")},
		{ClickID: clicks[2], Name: "newsletter"},
	}})
	testkit.Must(t, err)
	b.becomes("/api/analytics/conversions?timeRange=last_90_days",
		`{"goals": [{"name": "purchase", "conversions": 2}, {"name": "newsletter", "conversions": 1}]}`)

	card := func(title, value string) string {
		return `[...document.querySelectorAll('.figures button')].find((e) => e.textContent.startsWith(` + quoted(title) +
			`) && e.querySelector('b').textContent === ` + quoted(value) + `)`
	}
	b.visit("/console/analytics", "Goal")
	b.until(card("Conversions", "3"))
	b.until(card("Revenue (EUR)", "€20.00") + " && " + card("Revenue (USD)", "$5.00"))
	b.inspectNarrow("analytics-goals")
	b.click(card("Revenue (USD)", "$5.00"))
	b.until(card("Revenue (USD)", "$5.00") + `.ariaPressed === 'true' && /metric=revenue/.test(location.search) && ` +
		`/currency=USD/.test(location.search)`)

	b.set("goal", "newsletter")
	b.until(`/goal=newsletter/.test(location.search)`)
	b.until(card("Conversions", "1"))
	b.set("goal", "purchase")
	b.until(card("Conversions", "2"))
}

//go:build proof

package main_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/shoptest"
	"github.com/shortline/shortline/shared/testkit"
)

// A shop sells better with one of three pages. Shortline finds and promotes that page, while the program is killed again and
// again. At the end the stored conversions are those of the shop's own ledger. VISITORS and N set the numbers of visitors and
// kills; the largest form so far had 100,000 and 50.
func TestExperiment_end_to_end(t *testing.T) {
	t.Parallel()
	visitors, kills := number(t, "VISITORS", 9000), number(t, "N", 3)
	p := start(t, "TRUSTED_PROXIES=127.0.0.0/8", "WEBHOOK_ALLOW_PRIVATE=true", "EXPERIMENT_EVERY=1s", "ENCRYPTION_KEY="+attackKey)
	c := p.Login()
	decided := decisions(t, c)
	link := c.CreateURL("https://shop.example.com/", map[string]any{"trackConversions": true})
	ids := map[string]string{}
	for _, page := range []string{"/plain", "/photo", "/video"} {
		var v struct{ ID string }
		c.Do("POST", "/api/urls/"+link.ID+"/variants", map[string]any{"name": page[1:], "weight": 10, "targetUrl": "https://shop.example.com" + page}, 201, &v)
		ids[v.ID] = page
	}
	c.Do("PUT", "/api/urls/"+link.ID+"/experiment", map[string]any{"goal": "purchase", "onWinner": "promote"}, 200, nil)
	var key struct{ Key string }
	c.Do("POST", "/api/api-keys", map[string]any{"name": "shop", "scopes": []string{"conversions:write"}}, 201, &key)

	began := time.Now()
	shop := shoptest.Start(t, shoptest.Config{
		Links: []string{"http://" + p.Addr + "/" + link.Slug}, API: []string{"http://" + p.Addr}, Key: key.Key, Goal: "purchase",
		Rates: map[string]float64{"/plain": 0.05, "/photo": 0.05, "/video": 0.09}, Visitors: visitors, Seed: 17, Workers: 8,
	})
	p.killWhile(shop, visitors, kills)
	sales := shop.Wait()
	t.Logf("%d visitors and %d kills in %v: %+v", visitors, kills, time.Since(began).Round(time.Second), sales)

	var report experimentReport
	testkit.Eventually(t, "the experiment is decided", func() bool {
		c.Do("GET", "/api/urls/"+link.ID+"/experiment", nil, 200, &report)
		return report.Decision.Status == "WINNER"
	})
	if ids[report.Decision.VariantID] != "/video" {
		t.Errorf("the winner is %s: %+v", ids[report.Decision.VariantID], report.Decision)
	}
	testkit.Eventually(t, "the webhook arrives", func() bool { return len(decided()) > 0 })
	testkit.Eventually(t, "all visitors get the winner", func() bool {
		for range 20 {
			if _, location := p.follow(link.Slug, nil); len(location) < 31 || location[:31] != "https://shop.example.com/video?" {
				return false
			}
		}
		return true
	})

	c.Do("GET", "/api/urls/"+link.ID+"/experiment", nil, 200, &report)
	for _, arm := range report.Arms {
		page := ids[arm.VariantID]
		// The figures stay those of the decision, so the shop can have more.
		if arm.Conversions == 0 || arm.Conversions > sales.Orders[page] || arm.Visitors <= arm.Conversions {
			t.Errorf("the report of %s has %d conversions of %d visitors; the shop had %d of %d", page, arm.Conversions, arm.Visitors, sales.Orders[page], sales.Visitors[page])
		}
	}
	p.equalsLedger(c, link.ID, shop)
	if got := decided(); len(got) != 1 || ids[got[0]] != "/video" {
		t.Errorf("the webhook was sent for the variants %v", got)
	}
}

// decisions makes a webhook and returns a function with the winners that it has received.
func decisions(t *testing.T, c *client) func() []string {
	t.Helper()
	var mu sync.Mutex
	winners := map[string]string{} // by delivery; a killed program can repeat a delivery
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var event struct {
			Event string
			Data  struct{ VariantID string }
		}
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		if err != nil || event.Event != "experiment.decided" {
			t.Errorf("unexpected webhook: %s %v", body, err)
		}
		mu.Lock()
		defer mu.Unlock()
		winners[r.Header.Get("X-Webhook-Delivery-Id")] = event.Data.VariantID
	}))
	t.Cleanup(receiver.Close)
	c.Do("POST", "/api/webhooks", map[string]any{"name": "decisions", "url": receiver.URL, "secret": "the secret of the receiver", "events": []string{"experiment.decided"}}, 201, nil)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Collect(maps.Values(winners))
	}
}

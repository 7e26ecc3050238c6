package main_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/shoptest"
	"github.com/shortline/shortline/shared/testkit"
)

// A shop reports its orders while the program is killed N times. At the end the stored conversions are those of the shop's own
// ledger: none is lost, repeated or altered, and each belongs to its click. VISITORS sets the number of visitors; the full form has
// 100,000 and 50 kills.
func TestConversions_equal_the_ledger(t *testing.T) {
	t.Parallel()
	visitors, kills := number(t, "VISITORS", 4000), number(t, "N", 3)
	p := start(t, "TRUSTED_PROXIES=127.0.0.0/8", "RATE_LIMIT_DEFAULT=0", "ENCRYPTION_KEY="+attackKey)
	c := p.Login()
	link := c.CreateURL("https://shop.example.com/", map[string]any{"trackConversions": true})
	for _, page := range []string{"/plain", "/photo", "/video"} {
		c.Do("POST", "/api/urls/"+link.ID+"/variants", map[string]any{"name": page[1:], "weight": 10, "targetUrl": "https://shop.example.com" + page}, 201, nil)
	}
	var key struct{ Key string }
	c.Do("POST", "/api/api-keys", map[string]any{"name": "shop", "scopes": []string{"conversions:write"}}, 201, &key)
	p.published(link.Slug)
	publishable := shopPages(c)

	began := time.Now()
	shop := shoptest.Start(t, shoptest.Config{
		Publishable: publishable, Origin: shopOrigin,
		Links: []string{"http://" + p.Addr + "/" + link.Slug}, API: []string{"http://" + p.Addr}, Key: key.Key, Goal: "purchase",
		Rates: map[string]float64{"/plain": 0.05, "/photo": 0.05, "/video": 0.09}, Visitors: visitors, Seed: 17, Workers: 8,
	})
	p.killWhile(shop, visitors, kills)
	sales := shop.Wait()
	t.Logf("%d visitors and %d kills in %v: %+v", visitors, kills, time.Since(began).Round(time.Second), sales)
	if sales.Unnamed > visitors/1000 {
		t.Errorf("%d visitors came without a click id", sales.Unnamed)
	}
	if sales.Retries == 0 {
		t.Error("no kill interrupted the shop")
	}
	p.equalsLedger(shop)
}

// shopOrigin is the origin of the shop's pages.
const shopOrigin = "https://shop.example.com"

// shopPages lets pages of the shop send conversions. It returns the publishable key.
func shopPages(c *client) string {
	var settings struct{ PublishableKey string }
	c.Do("PUT", "/api/conversions/settings", map[string]any{"hosts": []string{"shop.example.com"}}, 200, &settings)
	return settings.PublishableKey
}

// killWhile kills and restarts the program a number of times, spread over the visitors of a shop.
func (p *program) killWhile(shop *shoptest.Shop, visitors, kills int) {
	p.t.Helper()
	for i := range kills {
		testkit.Within(p.t, time.Hour, "more visitors", func() bool {
			select {
			case <-shop.Done():
				return true
			default:
				return shop.Visited() >= visitors*(i+1)/(kills+1)
			}
		})
		p.Kill()
		p.Start()
	}
}

// equalsLedger stops the program when all conversions are attributed, and compares its click store with the ledger of a shop.
func (p *program) equalsLedger(shop *shoptest.Shop) {
	p.t.Helper()
	var wrong []string
	stored := p.storedWhen(func(stored []shoptest.Stored) bool {
		wrong = shop.Differences(stored)
		return len(wrong) == 0
	})
	if len(wrong) > 0 {
		p.t.Fatalf("%d differences between the click store and the ledger, such as %s", len(wrong), wrong[0])
	}
	p.t.Logf("the ledger and the click store have the same %d conversions", len(stored))
}

// storedWhen stops the program and returns its stored conversions. While they are not as wanted, it lets the program work for
// some seconds: a conversion may be stored before its click, and is attributed by a search that runs every five seconds.
func (p *program) storedWhen(wanted func([]shoptest.Stored) bool) []shoptest.Stored {
	p.t.Helper()
	keys := theirKeys(p.t, attackKey)
	for tries := 0; ; tries++ {
		p.Stop()
		stored := storedConversions(p.t, p.Dir, keys)
		if wanted(stored) || tries == 5 {
			return stored
		}
		p.Start()
		time.Sleep(8 * time.Second)
	}
}

// number returns a number of the environment, or the given one.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number of at least 1", name, text)
	}
	return n
}

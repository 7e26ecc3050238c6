package main_test

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/shoptest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A shop reports its orders while the program is killed N times. At the end the stored conversions are those of the shop's own
// ledger: none is lost, repeated or altered, and each belongs to its click. VISITORS sets the number of visitors; the largest form so
// far had 100,000 and 50 kills.
func TestConversions_equal_the_ledger(t *testing.T) {
	t.Parallel()
	visitors, kills := number(t, "VISITORS", testkit.Size(1000, 4000)), number(t, "N", testkit.Size(1, 3))
	p := start(t, "TRUSTED_PROXIES=127.0.0.0/8", "ENCRYPTION_KEY="+attackKey)
	c := p.Login()
	link := c.link(shortline.CreateLink{OriginalURL: "https://shop.example.com/", TrackConversions: shortline.Set(true)})
	for _, page := range []string{"/plain", "/photo", "/video"} {
		c.variant(link.ID, "https://shop.example.com"+page, 10)
	}
	key := c.key()
	publishable := shopPages(c)

	began := time.Now()
	shop := shoptest.Start(t, shoptest.Config{
		Publishable: publishable, Origin: shopOrigin,
		Links: []string{"http://" + p.Addr + "/" + link.Slug}, API: []string{"http://" + p.Addr}, Key: key, Goal: "purchase",
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
	p.equalsLedger(c, link.ID, shop)
}

// shopOrigin is the origin of the shop's pages.
const shopOrigin = "https://shop.example.com"

// shopPages lets pages of the shop send conversions. It returns the publishable key.
func shopPages(c *client) string {
	settings, err := c.Conversions.PutSettings(c.t.Context(), shortline.PutConversionSettings{
		Hosts: shortline.Set([]string{"shop.example.com"})})
	testkit.Must(c.t, err)
	return *settings.PublishableKey
}

// killWhile kills and restarts the program a number of times, spread over the visitors of a shop.
func (p *program) killWhile(shop *shoptest.Shop, visitors, kills int) {
	p.t.Helper()
	for i := range kills {
		testkit.Eventually(p.t, "more visitors", func() bool {
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

// conversions returns the conversions of a link: the fields of the export by the names of its columns.
func (c *client) conversions(link string) (list []map[string]string) {
	c.t.Helper()
	export, err := c.Conversions.Export(c.t.Context(), link, shortline.ExportConversionsParams{})
	testkit.Must(c.t, err)
	defer export.Close()
	rows, err := csv.NewReader(export).ReadAll()
	if err != nil || len(rows) == 0 {
		c.t.Fatalf("export: %v in %v", err, rows)
	}
	for _, row := range rows[1:] {
		one := map[string]string{}
		for i, field := range row {
			one[rows[0][i]] = field
		}
		list = append(list, one)
	}
	return list
}

// equalsLedger stops the program when all conversions are attributed, and compares its click store with the ledger of a shop. A
// conversion may be stored before its click, and is attributed by a search that runs every five seconds.
func (p *program) equalsLedger(c *client, link string, shop *shoptest.Shop) {
	p.t.Helper()
	orders := len(shop.Ledger())
	testkit.Eventually(p.t, "all conversions are stored and attributed", func() bool {
		attributed := 0
		for _, one := range c.conversions(link) {
			if one["clickId"] != "" {
				attributed++
			}
		}
		return attributed >= orders
	})
	p.Stop()
	stored := storedConversions(p.t, p.Dir, theirKeys(p.t, attackKey))
	if wrong := shop.Differences(stored); len(wrong) > 0 {
		p.t.Fatalf("%d differences between the click store and the ledger, such as %s", len(wrong), wrong[0])
	}
	p.t.Logf("the ledger and the click store have the same %d conversions", len(stored))
}

// theirKeys derives the keys of click ids as a program with that ENCRYPTION_KEY does.
func theirKeys(t testing.TB, secret string) *conversion.Keys {
	t.Helper()
	first, last := conversion.PeriodsAt(time.Now(), 90*24*time.Hour)
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{[]byte(secret)}, first, last))
	testkit.Must(t, err)
	return keys
}

// storedConversions reads the conversions out of the click store of a program that is stopped.
func storedConversions(t testing.TB, dir string, keys *conversion.Keys) (list []shoptest.Stored) {
	t.Helper()
	const statement = `SELECT link, ts, tag, goal, value, currency, external_id, attributed FROM conversions`
	eachRow(t, "duckdb", filepath.Join(dir, "clicks.duckdb")+"?access_mode=read_only", statement, func(scan func(...any) error) error {
		var c shoptest.Stored
		var id conversion.ClickID
		err := scan(&id.Link, &id.Time, &id.Tag, &c.Goal, &c.Value, &c.Currency, &c.Number, &c.Attributed)
		text, ok := id.Append(nil, keys)
		if err == nil && !ok {
			err = fmt.Errorf("no key for %+v", id)
		}
		c.Click = string(text)
		list = append(list, c)
		return err
	})
	return list
}

package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	neturl "net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testkit"
)

// buy visits a link and reports whether the visitor buys. Video sells more often than photos.
func buy(t *testing.T, b *browser, key string, visits int) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	sold := map[string]int{}
	var sales []map[string]any
	for range visits {
		req, err := http.NewRequest("GET", b.base+"/shoes", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", phone)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		to, err := neturl.Parse(res.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		sold[to.Path]++
		if every := map[string]int{"/photos": 10, "/video": 2}[to.Path]; every > 0 && sold[to.Path]%every == 0 {
			sales = append(sales, map[string]any{"clickId": to.Query().Get("sl_click"), "name": "purchase", "value": 20, "currency": "EUR", "externalId": fmt.Sprint("order-", to.Path, sold[to.Path])})
		}
	}
	body, err := json.Marshal(sales)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", b.base+"/api/conversions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("conversions: %s", res.Status)
	}
}

// An A/B test has an outcome: visitors, conversions, ranges, probabilities and a decision, and the winner can be used.
func TestFault09_an_experiment_has_an_outcome(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	u := b.made(map[string]any{"originalUrl": "https://shop.example.com/", "customSlug": "shoes", "title": "Shoes"})
	b.visit("/console/links/" + u.ID + "/experiment")
	b.sees("No A/B test")
	b.barrierFree()
	b.looks("experiment-empty")
	for _, name := range []string{"Photos", "Video"} {
		b.press("New variant")
		b.fill("name", name)
		b.fill("targetUrl", map[string]string{"Photos": "shop.example.com/photos", "Video": "shop.example.com/video"}[name])
		b.press("Save")
		b.until(fmt.Sprintf(`!document.querySelector('dialog') && [...document.querySelectorAll('.table bdi')].some((one) => one.textContent === %q)`, name))
	}
	b.until(`[...document.querySelectorAll('[data-name=Share]')].every((one) => one.textContent.replace(/\s/g, '') === '50%')`)
	b.press("New variant")
	b.fill("name", "Text")
	b.fill("targetUrl", "not an address")
	b.press("Save")
	b.until(`document.querySelector('dialog [name=targetUrl]').getAttribute('aria-invalid') === 'true'`)
	b.barrierFree()
	b.press("Cancel")

	b.sees("The test is on")
	b.press("Begin the experiment")
	b.sees("Nothing is decided yet")
	b.sees("/sl.js")
	b.barrierFree()
	b.looks("experiment-begun")

	var key struct{ Key string }
	b.ask("POST", "/api/api-keys", map[string]any{"name": "shop", "scopes": []string{"conversions:write"}}, &key)
	testkit.Within(t, 10*time.Second, "edges know the settings", func() bool {
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Get(b.base + "/shoes")
		if err != nil {
			return false
		}
		res.Body.Close()
		to, err := neturl.Parse(res.Header.Get("Location"))
		return err == nil && to.Query().Get("sl_click") != ""
	})
	buy(t, b, key.Key, 600)
	testkit.Within(t, 20*time.Second, "the report has the visitors", func() bool {
		var report struct {
			Arms []struct{ Visitors, Conversions int }
		}
		b.ask("GET", "/api/urls/"+u.ID+"/experiment", nil, &report)
		return len(report.Arms) == 2 && report.Arms[0].Visitors+report.Arms[1].Visitors >= 600 && report.Arms[1].Conversions > 50
	})
	b.visit("/console/links/" + u.ID + "/experiment")
	b.until(`document.querySelectorAll('.arms tbody tr').length === 2 && document.querySelectorAll('.interval .span').length === 2`)
	var widths []float64
	b.eval(`[...document.querySelectorAll('.interval .span')].map((one) => one.getBoundingClientRect().width)`, &widths)
	for _, width := range widths {
		if width < 4 || width > 150 {
			t.Errorf("a range is %v pixels wide", width)
		}
	}
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.sees("Uplift")
	b.sees("Revenue per visitor (EUR)")
	b.barrierFree()
	b.looks("experiment")
	b.do(emulation.SetDeviceMetricsOverride(320, 640, 1, false))
	b.settle()
	b.until(`document.documentElement.scrollWidth <= innerWidth`)
	b.looks("experiment-phone")
	b.do(emulation.ClearDeviceMetricsOverride())

	// The chart of several days is also a table. This test has one day only, so the browser answers with two.
	var experiment map[string]any
	b.ask("GET", "/api/urls/"+u.ID+"/experiment", nil, &experiment)
	today := experiment["series"].([]any)[0].(map[string]any)
	experiment["series"] = []any{map[string]any{"date": "2026-01-31", "arms": today["arms"]}, today}
	answer, err := json.Marshal(experiment)
	if err != nil {
		t.Fatal(err)
	}
	end := b.answerWith("/api/urls/*/experiment", 200, string(answer))
	b.do(chromedp.Reload())
	b.press("Show as a table")
	b.sees("Saturday")
	b.until(`[...document.querySelectorAll('details .table tbody tr')].length === 2 && document.querySelectorAll('details .table th').length === 3`)
	b.barrierFree()
	end()
	b.do(chromedp.Reload())

	// The winner gets all visitors, after a question that says so.
	b.click(`[...document.querySelectorAll('.arms tbody tr')].find((row) => row.innerText.includes('Video')).querySelector('button')`)
	b.sees("Send everybody to Video?")
	b.barrierFree()
	b.looks("experiment-promote")
	b.click(`document.querySelector('dialog .danger')`)
	b.until(`!document.querySelector('dialog')`)
	b.until(`[...document.querySelectorAll('[data-name=Share]')].map((one) => one.textContent.replace(/\s/g, '')).join() === '0%,100%'`)
	b.silent()
}

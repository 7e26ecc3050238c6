package browser_test

import (
	"encoding/json"
	"fmt"
	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	neturl "net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// buy visits a link and reports whether the visitor buys. Video sells more often than photos.
func buy(t *testing.T, b *browser, key string, visits int) {
	t.Helper()
	sold := map[string]int{}
	var sales []client.ConversionItem
	for range visits {
		res := request(t, "GET", b.short("shoes"), map[string]string{"User-Agent": phone})
		to, err := neturl.Parse(res.Header.Get("Location"))
		testkit.Must(t, err)
		sold[to.Path]++
		if every := map[string]int{"/photos": 10, "/video": 2}[to.Path]; every > 0 && sold[to.Path]%every == 0 {
			sales = append(sales, client.ConversionItem{ClickID: to.Query().Get("sl_click"), Name: "purchase", Value: client.Set(20.0),
				Currency: client.Set("EUR"), ExternalID: client.Set(fmt.Sprint("order-", to.Path, sold[to.Path]))})
		}
	}
	_, err := api(b.base, key).Conversions.Send(t.Context(), client.ConversionItems{Items: sales})
	testkit.Must(t, err)
}

// An A/B test has an outcome: visitors, conversions, ranges, probabilities and a decision, and the winner can be used.
func TestFault09_an_experiment_has_an_outcome(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	u := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes"), "title": "Shoes"})
	b.visit("/console/links/"+u.ID+"/experiment", "Begin an A/B test")
	b.inspectNarrow("experiment-empty")
	// The first variant does not take all visitors: the present destination is one, too, and the guide says so before.
	b.sees("A: the present destination", "As soon as you start, 50% of the visitors still go to shop.example.com/photos, and 50% go elsewhere.")
	b.fill("weight1", "25")
	b.sees("66.7% of the visitors still go", "There are no conversions yet.")
	// How long it takes follows what is typed.
	b.fill("rate", "5")
	b.sees("Each variant needs about 17,000 visitors.", "Nobody has come in the last 30 days")
	b.fill("effect", "50")
	b.sees("Each variant needs about 2,900 visitors.")
	b.fill("name1", "Video")
	b.fill("targetUrl", "not an address")
	b.press("Start the test")
	b.until(`document.querySelector('.plan [name=targetUrl]').getAttribute('aria-invalid') === 'true'`)
	b.inspectNarrow("experiment-guide")
	b.fill("weight1", "50")
	b.fill("targetUrl", "shop.example.com/video")
	b.press("Start the test", "Experiment begun", "The test is on")
	b.until(`[...document.querySelectorAll('[data-name=Share]')].length === 2`)
	b.sees("Video", "shop.example.com/photos")
	b.until(`[...document.querySelectorAll('[data-name=Share]')].every((one) => one.textContent.replace(/\s/g, '') === '50%')`)
	b.press("New variant")
	b.fill("name", "Text")
	b.fill("targetUrl", "not an address")
	b.press("Save")
	b.until(`document.querySelector('dialog [name=targetUrl]').getAttribute('aria-invalid') === 'true'`)
	b.barrierFree()
	b.press("Cancel")

	b.sees("The test is on", "Nothing is decided yet", "/sl.js")
	b.inspect("experiment-begun")

	var key struct{ Key string }
	b.ask("POST", "/api/api-keys", map[string]any{"name": "shop", "scopes": []string{"conversions:write"}}, &key)
	testkit.Eventually(t, "edges know the settings", func() bool {
		res := request(t, "GET", b.short("shoes"), nil)
		to, err := neturl.Parse(res.Header.Get("Location"))
		return err == nil && to.Query().Get("sl_click") != ""
	})
	buy(t, b, key.Key, 600)
	testkit.Eventually(t, "the report has the visitors", func() bool {
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
	b.sees("Uplift", "Revenue per visitor (EUR)")
	b.until(`/% in truth probably/.test(document.querySelector('.arms .change').innerText.replace(/\s+/g, ' '))`)
	b.inspectNarrow("experiment")

	// The chart of several days is also a table. This test has one day only, so the browser answers with two.
	var experiment map[string]any
	b.ask("GET", "/api/urls/"+u.ID+"/experiment", nil, &experiment)
	today := experiment["series"].([]any)[0].(map[string]any)
	experiment["series"] = []any{map[string]any{"date": "2026-01-31", "arms": today["arms"]}, today}
	answer, err := json.Marshal(experiment)
	testkit.Must(t, err)
	end := b.answerWith("/api/urls/*/experiment", 200, string(answer))
	b.do(chromedp.Reload())
	b.press("Show as a table", "Saturday")
	b.until(`[...document.querySelectorAll('details .table tbody tr')].length === 2 && document.querySelectorAll('details .table ` +
		`th').length === 3`)
	b.barrierFree()
	end()
	b.do(chromedp.Reload())

	// The winner gets all visitors, after a question that says so.
	b.click(`[...document.querySelectorAll('.arms tbody tr')].find((row) => row.innerText.includes('Video')).querySelector('button')`)
	b.sees("Send everybody to Video?")
	b.inspect("experiment-promote")
	b.click(`document.querySelector('dialog .danger')`)
	b.until(`!document.querySelector('dialog')`)
	b.until(`[...document.querySelectorAll('[data-name=Share]')].map((one) => one.textContent.replace(/\s/g, '')).join() === '0%,100%'`)
}

// A test begins with the destination that it tries, and nothing else that has to be typed.
func TestJourney_a_test_begins(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes"), "title": "Shoes"})
	b.visit("/console/links", "Shoes")
	end := b.journey(6)
	b.click(`document.querySelector('a[href*="/links/` + link.ID + `"]')`)
	b.press("A/B test", "Begin an A/B test")
	b.fill("targetUrl", "shop.example.com/video")
	b.press("Start the test", "Experiment begun", "Nothing is decided yet")
	end()
	var report struct {
		Goal string
		Arms []struct {
			Name   string
			Weight int
		}
	}
	b.ask("GET", "/api/urls/"+link.ID+"/experiment", nil, &report)
	if fmt.Sprint(report) != "{purchase [{A 50} {B 50}]}" {
		t.Errorf("the experiment is %v", report)
	}
}

// Without a goal, visitors are split and nothing is measured.
func TestConsole_a_test_without_a_goal_splits_the_visitors(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes")})
	b.visit("/console/links/"+link.ID+"/experiment", "Begin an A/B test")
	b.click(`[...document.querySelectorAll('[name=success]')].at(-1)`)
	b.sees("Without a goal there is nothing to measure.", "It goes on until you stop it.")
	b.fill("targetUrl", "shop.example.com/video")
	b.press("New variant")
	b.fill("targetUrl2", "shop.example.com/text")
	b.sees("33.3%")
	b.press("Start the test", "The test is on", "Begin the experiment")
	var variants struct {
		HasExperiment bool
		Variants      []struct{ Name string }
	}
	b.ask("GET", "/api/urls/"+link.ID+"/variants", nil, &variants)
	if fmt.Sprint(variants) != "{false [{A} {B} {C}]}" {
		t.Errorf("the variants are %v", variants)
	}
}

// The tab of a link without an experiment does not ask for its report, which the API would refuse.
func TestConsoleExperiment_is_not_asked_for_if_there_is_none(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	u := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes")})
	b.visit("/console/links/" + u.ID + "/experiment")
	b.until(shown)
	b.settle()
	b.until(`performance.getEntriesByType('resource').some((e) => e.name.endsWith('/variants')) && ` +
		`!performance.getEntriesByType('resource').some((e) => e.name.endsWith('/experiment'))`)
}

package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// The page of a link says what the link does: whether it works, who visits it, where visitors go, and who changed it.
func TestOverview(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/store?lang=en", "customSlug": b.own("store"), "title": "The store",
		"tags": []string{"summer"}, "utmCampaign": "june", "ogTitle": "Everything for summer"})
	b.rule(link, "Phones", "https://example.com/app", when("device", "equals", "MOBILE"))
	for _, name := range []string{"Photos", "Video"} {
		b.ask("POST", "/api/urls/"+link.ID+"/variants", map[string]any{"name": name, "weight": 50,
			"targetUrl": "https://example.com/" + name}, nil)
	}
	served(t, b.short("store"))
	for range 3 {
		follow(t, b.short("store"), laptop, "")
	}
	follow(t, b.short("store"), phone, "")
	request(t, "GET", b.short("store"), map[string]string{"User-Agent": crawler})
	b.becomes("/api/analytics/urls/"+link.ID+"?timeRange=last_30_days&includeBots=true", `{"totalClicks": 5}`)

	path := "/console/links/" + link.ID
	b.visit(path, "Active", "Sends 25% of visitors by rules")
	b.until(`document.querySelector('h1').textContent === ` + quoted(b.bare("store")))
	b.until(`[...document.querySelectorAll('.monthly a')].map((e) => e.innerText.replace(/\s+/g, ' ').trim()).join() === ` +
		`'4 clicks by people, 30 days,1 click by bots, 30 days'`)
	b.sees("If Device is phone, go to example.com/app", "Rule “Phones” added", "summer", "june", "Everything for summer")
	b.until(`document.querySelectorAll('.latest li').length === 3`)
	b.until(`document.querySelector('.overview img.code, .overview .code img, .qrpart img')?.naturalWidth > 0`)
	b.inspectNarrow("overview")

	// One click on the address copies it.
	b.click(`document.querySelector('h1 button')`)
	b.until(`document.querySelector('.toasts').innerText.trim() !== ''`) // browsers without a window cannot copy

	// The sheet gives the focus back, and what was typed is still there.
	b.focusOn(`[aria-label=` + quoted("Edit "+b.bare("store")) + `]`) // as a press with a pointer or a key does
	b.press("Edit " + b.bare("store"))
	b.until(`document.querySelector('dialog [name=title]')`)
	b.fill("title", "The new store")
	b.until(`document.querySelector('.linkpreview .typed').textContent === ` + quoted(b.bare("store")))
	b.keys(kb.Escape)
	b.until(fmt.Sprintf(`!document.querySelector('dialog') && document.activeElement.ariaLabel === %q`, "Edit "+b.bare("store")))
	b.sees("You have changes to this link that are not saved.")
	b.inspect("overview-unsaved")
	b.press("Continue editing")
	b.until(`document.querySelector('dialog [name=title]').value === 'The new store'`)
	b.press("Save", "Saved")
	b.until(`document.querySelector('.leads b').textContent === 'The new store' && !document.querySelector('dialog')`)
	b.until(`document.querySelector('.latest li').textContent.startsWith('Title')`)
}

package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// All places of the navigation are visible in a window of 900 pixels. In a lower one they scroll, and the present one is in view.
func TestConsoleMedium_the_navigation_is_not_cut(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.visit("/console/reports", "Reports")
	places := `document.querySelector('.places')`
	b.until(`document.querySelectorAll('.places a').length > 18`)
	b.until(places + `.scrollHeight <= ` + places + `.clientHeight`)
	b.shot("shell-900")
	b.do(chromedp.EmulateViewport(1280, 600))
	b.visit("/console/reports", "Reports")
	b.until(`((box, here) => here.top >= box.top && here.bottom <= box.bottom)(` + places +
		`.getBoundingClientRect(), document.querySelector('.places [aria-current]').getBoundingClientRect())`)
	b.shot("shell-600")
}

// Nothing of an A/B test is wider than a very small phone, in a language with long words.
func TestConsoleMedium_a_test_fits_a_small_phone_in_German(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes"), "title": "Shoes",
		"isABTesting": true})
	for _, name := range []string{"Photos", "Video"} {
		b.post("/api/urls/"+link.ID+"/variants", map[string]any{"name": name, "targetUrl": "https://shop.example.com/" + name,
			"weight": 50})
	}
	b.eval(`localStorage.setItem('shortline.language', 'de')`, nil)
	path := "/console/links/" + link.ID + "/experiment"
	b.visit(path, "Video")
	b.inspectNarrow("german-test")
	b.ask("PUT", "/api/urls/"+link.ID, map[string]any{"trackConversions": true, "stickiness": "cookie"}, nil)
	b.ask("PUT", "/api/urls/"+link.ID+"/experiment", map[string]any{"goal": "purchase", "optimize": "bandit", "onWinner": "promote"}, nil)
	b.visit(path, "Video")
	b.inspectNarrow("german-experiment")
}

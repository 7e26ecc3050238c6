package browser_test

import (
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"testing"

	"github.com/chromedp/chromedp"
)

// Both forms say who sees the title, and the page that asks for a password shows it.
func TestFault04_forms_say_that_visitors_see_the_title(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/links?new=1")
	const hint = "Visitors see it on the password page"
	b.press("More options", hint)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("prices"), "title": "Secret prices",
		"password": "correct horse"})
	b.visit("/console/links/"+link.ID+"?edit=1", hint)
	b.also("404")
	testkit.Eventually(t, "the page that asks for the password shows the title", func() (shown bool) {
		b.do(chromedp.Navigate(b.short("prices")))
		b.eval(`document.body.innerText.includes("Secret prices")`, &shown)
		return shown
	})
}

// Back and Forward keep the place in a long list, and so does a visit of a link.
func TestFault12_the_list_keeps_its_place(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.many(300)
	b.visit("/console/links?sort=slug", "300 links")
	b.eval(`scrollTo(0, 9000)`, nil)
	const shown = `[...document.querySelectorAll('li.link .name a')].find((e) => e.getBoundingClientRect().top > 200)`
	b.until(`scrollY === 9000 && ` + shown)
	name := b.text(shown + `.textContent`)
	b.click(shown)
	b.until(fmt.Sprintf(`document.querySelector('.leads b')?.textContent === %q && scrollY === 0`, name))
	b.do(chromedp.NavigateBack())
	b.until(fmt.Sprintf(`Math.abs(scrollY - 9000) < 2 && %s?.textContent === %q`, shown, name))
	b.do(chromedp.NavigateForward())
	b.until(fmt.Sprintf(`document.querySelector('.leads b')?.textContent === %q`, name))
	b.do(chromedp.NavigateBack())
	b.until(fmt.Sprintf(`Math.abs(scrollY - 9000) < 2 && %s?.textContent === %q`, shown, name))
	b.do(chromedp.Reload())
	b.until(fmt.Sprintf(`Math.abs(scrollY - 9000) < 2 && %s?.textContent === %q`, shown, name))
}

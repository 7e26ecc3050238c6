package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// An older form that fixes a title does not bring an older destination back.
func TestFault02_no_update_is_lost(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	b.also("412")
	link := b.made(map[string]any{"originalUrl": "https://example.com/old", "customSlug": "store"})
	b.visit("/console/links/" + link.ID)
	b.until(`document.querySelector('[name=originalUrl]')?.value === 'https://example.com/old'`)
	b.ask("PUT", "/api/urls/"+link.ID, map[string]any{"originalUrl": "https://example.com/new"}, nil)
	b.fill("title", "The store")
	b.press("Save")
	b.sees("Somebody else has changed other fields of this link meanwhile.")
	b.press("Save mine")
	b.until(`document.querySelector('h1')?.textContent === 'The store'`)
	if got := b.read(link.ID); got.OriginalURL != "https://example.com/new" || got.Title != "The store" {
		t.Errorf("the link is %+v", got)
	}
	b.until(`document.querySelector('[name=originalUrl]').value === 'https://example.com/new'`)
	b.silent()
}

// Both forms say who sees the title, and the page that asks for a password shows it.
func TestFault04_forms_say_that_visitors_see_the_title(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "/links?new=1")
	const hint = "Visitors see it on the password page"
	b.press("More options")
	b.sees(hint)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": "prices", "title": "Secret prices", "password": "correct horse"})
	b.visit("/console/links/" + link.ID)
	b.sees(hint)
	b.silent()
	b.do(chromedp.Navigate(b.base + "/prices"))
	b.sees("Secret prices")
}

// Back and Forward keep the place in a long list, and so does a visit of a link.
func TestFault12_the_list_keeps_its_place(t *testing.T) {
	t.Parallel()
	b := newConsole(t, standalone(t), "")
	for at := 0; at < 300; at += 100 {
		var urls []map[string]any
		for i := at; i < at+100; i++ {
			urls = append(urls, map[string]any{"originalUrl": "https://example.com/", "customSlug": fmt.Sprintf("page-%03d", i), "title": fmt.Sprintf("Page %03d", i)})
		}
		b.ask("POST", "/api/urls/bulk", map[string]any{"urls": urls}, nil)
	}
	b.visit("/console/links?sort=slug")
	b.sees("300 links")
	b.eval(`scrollTo(0, 9000)`, nil)
	const shown = `[...document.querySelectorAll('li.link .name a')].find((e) => e.getBoundingClientRect().top > 200)`
	b.until(`scrollY === 9000 && ` + shown)
	var name string
	b.eval(shown+`.textContent`, &name)
	b.click(shown)
	b.until(fmt.Sprintf(`document.querySelector('h1')?.textContent === %q && scrollY === 0`, name))
	b.do(chromedp.NavigateBack())
	b.until(fmt.Sprintf(`Math.abs(scrollY - 9000) < 2 && %s?.textContent === %q`, shown, name))
	b.do(chromedp.NavigateForward())
	b.until(fmt.Sprintf(`document.querySelector('h1')?.textContent === %q`, name))
	b.do(chromedp.NavigateBack())
	b.until(fmt.Sprintf(`Math.abs(scrollY - 9000) < 2 && %s?.textContent === %q`, shown, name))
	b.do(chromedp.Reload())
	b.until(fmt.Sprintf(`Math.abs(scrollY - 9000) < 2 && %s?.textContent === %q`, shown, name))
	b.silent()
}

package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// After the sign-in, the first link is copied in three actions, and its QR code is one more away.
func TestJourney_first_link_and_its_code(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	end := b.journey(3)
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	b.keys(kb.Enter)
	b.sees("is ready")
	end()
	end = b.journey(1)
	b.press("QR code")
	b.until(`document.querySelector('img.code')?.naturalWidth > 0 && location.pathname.endsWith('/qr')`)
	end()
}

// The form for a new link says which links lead to the destination already, offers a slug that people can read, and shows what visitors
// will see.
func TestNewLink_offers_the_rest(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/fair", "customSlug": b.own("first")})
	b.made(map[string]any{"originalUrl": "https://example.com/fair/more"})
	b.visit("/console/links?new=1")
	b.fill("originalUrl", "example.com/fair/")
	b.sees("1 link leads there already: " + b.bare("first"))
	b.fill("title", b.own("Spring Fair"))
	idea := strings.ReplaceAll(strings.ToLower(b.own("Spring Fair")), " ", "-")
	b.press("Use " + idea)
	b.until(`document.querySelector('dialog [name=customSlug]').value === ` + quoted(idea))
	b.until(`document.querySelector('.linkpreview .typed').textContent.endsWith(` + quoted("/"+idea) + `)`)
	b.until(`document.querySelector('.nextcode')`)
	if got := b.scanned(".nextcode"); got != b.base+"/"+idea {
		t.Errorf("the code leads to %q", got)
	}
	b.inspect("new-link-code")
	b.press("More options")
	b.press("Campaign (UTM)")
	b.fill("utmSource", "mail")
	b.until(`document.querySelector('.linkpreview mark').textContent === '?utm_source=mail'`)
	b.inspectNarrow("new-link")
	b.press("Create link", "/"+idea+" is ready")
	b.visit("/console/links?new=1")
	b.fill("originalUrl", "https://example.com/fair")
	b.sees("2 links lead there already:")
	b.press("Show them", "3 links")
}

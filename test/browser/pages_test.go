package browser_test

import (
	"bytes"
	"github.com/shortline/shortline/shared/testing/testkit"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// picture is a PNG of a size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			m.Set(x, y, color.RGBA{uint8(x), uint8(y), 160, 255})
		}
	}
	var b bytes.Buffer
	testkit.Must(t, png.Encode(&b, m))
	return b.Bytes()
}

// aSite serves a page with a title, a description, an image and an icon.
func aSite(t *testing.T) string {
	t.Helper()
	image := picture(t, 320, 168)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fair":
			_, _ = w.Write(
				[]byte(`<!doctype html><title>The spring fair</title><meta name=description content="Three days of music, food and games in the old ` +
					`harbour."><meta property="og:image" content="/image.png">`))
		case "/image.png", "/favicon.ico":
			_, _ = w.Write(image)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A new link shows what its destination says about itself, and takes its title unless somebody types another one.
func TestPages(t *testing.T) {
	t.Parallel()
	site := aSite(t)
	b := consoleAt(t, standalone(t, "PAGE_PREVIEWS=true", "PAGE_PREVIEW_ALLOW_PRIVATE=true", "ALLOW_PRIVATE_DESTINATIONS=true"))
	b.press("New link")
	b.fill("originalUrl", site+"/fair")
	b.sees("The spring fair", "Three days of music")
	b.until(`document.querySelector('.linkpreview img')?.naturalWidth === 320`)
	b.until(`document.querySelector('[name=title]').value === 'The spring fair' && !document.querySelector('dialog details').open`)
	b.inspect("page-card")
	b.press("Create link", "is ready")
	b.until(`document.querySelector('li.link .name').textContent.includes('The spring fair')`)

	// The icon is fetched after the list has asked for it.
	testkit.Eventually(t, "the icon of the site", func() (shown bool) {
		b.do(chromedp.Reload())
		b.until(`document.querySelector('li.link .siteicon')`)
		b.do(chromedp.Evaluate(
			`new Promise((done) => setTimeout(() => done((document.querySelector('.siteicon img')?.naturalWidth ?? 0) > 0), 300))`,
			&shown, awaited))
		return shown
	})

	b.press("New link")
	b.press("More options")
	b.fill("title", "My own title")
	b.fill("originalUrl", site+"/fair")
	b.sees("Three days of music")
	b.until(`document.querySelector('[name=title]').value === 'My own title'`)
	b.fill("originalUrl", site+"/missing")
	b.sees("This page cannot be read at present.")
	b.press("Create link", "is ready")
	b.until(`[...document.querySelectorAll('li.link .name')].some((e) => e.textContent.includes('My own title'))`)
}

// Everything about a link can be entered when it is created.
func TestLink_with_everything(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.press("New link")
	b.fill("originalUrl", "example.com/fair")
	b.press("More options")
	b.press("Schedule and limits")
	b.press("Password and more")
	b.fill("customSlug", b.own("fair"))
	b.fill("maxClicks", "many")
	b.fill("password", "open sesame")
	b.set("expiresAt", "2099-05-01T12:00")
	b.fill("notes", "For the booth")
	b.press("Create link")
	b.until(`document.querySelector('dialog [name=maxClicks]').getAttribute('aria-invalid') === 'true'`)
	b.inspect("everything")
	b.fill("maxClicks", "500")
	b.press("Create link", "/"+b.own("fair")+" is ready")
	b.has("/api/urls", `{"data": [{"maxClicks": 500, "hasPassword": true, "notes": "For the booth"}]}`)
	var list struct{ Data []struct{ ExpiresAt string } }
	if b.ask("GET", "/api/urls", nil, &list); !strings.HasPrefix(list.Data[0].ExpiresAt, "2099-05") {
		t.Errorf("the link expires at %s", list.Data[0].ExpiresAt)
	}
}

// A row shows the clicks of 30 days.
func TestLinks_trends(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("spring"), "title": "Spring"})
	b.made(map[string]any{"originalUrl": "https://example.com/", "title": "Quiet"})
	for range 3 {
		follow(t, b.short("spring"), laptop, "")
	}
	testkit.Eventually(t, "the clicks are counted", func() (shown bool) {
		b.visit("/console/links", "2 links")
		b.do(chromedp.Evaluate(
			`new Promise((done) => setTimeout(() => done(document.querySelector('svg.trend title')?.textContent === '3 clicks in 30 days'), 500))`,
			&shown, awaited))
		return shown
	})
	b.until(`document.querySelectorAll('svg.trend').length === 1`)
	b.inspect("trends")
}

package browser_test

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testkit"
)

// photo writes an image with a colour gradient and returns its path.
func photo(t *testing.T, width, height int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.RGBA{uint8(255 * x / width), uint8(255 * y / height), 140, 255})
		}
	}
	path := filepath.Join(t.TempDir(), "photo.png")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// crawl returns the page that a social network gets for a link.
func crawl(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestConsole_preview(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	var made struct{ ID string }
	b.ask("POST", "/api/urls", map[string]string{"originalUrl": "https://example.com/page", "customSlug": "shown", "title": "For me alone"}, &made)
	b.visit("/console/links/" + made.ID)
	b.press("Preview")
	b.sees("networks follow the link")
	b.looks("50-no-preview")

	const words = `Spring <script>alert(3)</script> sale`
	b.fill("ogTitle", words)
	b.until(`document.querySelector('.social.small h3')?.textContent.startsWith('Spring <script>')`) // the preview follows the input
	b.fill("ogDescription", "Half price until Sunday.")
	b.eval(`document.querySelector('[name=ogDescription]').removeAttribute('maxlength')`, nil)
	b.do(chromedp.SetValue("[name=ogDescription]", strings.Repeat("x", 201), chromedp.ByQuery))
	b.press("Save")
	b.until(`document.querySelector('[data-field=ogDescription] .wrong')`)
	b.fill("ogDescription", "Half price until Sunday.")
	b.do(chromedp.KeyEvent(kb.Tab)) // to the card type, then to the save button
	b.do(chromedp.KeyEvent(kb.Tab))
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees("Saved.")
	testkit.Within(t, 10*time.Second, "a network gets the title and description", func() bool {
		page := crawl(t, base+"/shown")
		return strings.Contains(page, `og:title" content="Spring &lt;script&gt;`) && strings.Contains(page, "Half price until Sunday.") && !strings.Contains(page, "og:image")
	})

	b.press("Upload")
	b.until(`document.querySelector('[data-field=file] .wrong')?.textContent === 'choose a file'`)
	text := filepath.Join(t.TempDir(), "no-image.png")
	if err := os.WriteFile(text, []byte("<svg onload=alert(4)>"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles("[name=file]", []string{text}, chromedp.ByQuery))
	b.press("Upload")
	b.until(`/JPEG/.test(document.querySelector('[data-field=file] .wrong')?.textContent)`) // error text of the API
	b.looks("51-preview-refused")
	b.do(chromedp.SetUploadFiles("[name=file]", []string{photo(t, 1600, 900)}, chromedp.ByQuery))
	b.press("Upload")
	b.sees("Uploaded.")
	b.until(`document.querySelector('.social:not(.small) img')?.naturalWidth > 1000`)
	b.until(`document.activeElement.name === 'file'`)
	b.looks("52-preview")
	testkit.Within(t, 10*time.Second, "a network gets the image", func() bool { return strings.Contains(crawl(t, base+"/shown"), "og:image") })
	b.onPhone("/console/links/"+made.ID+"/preview", "Each network has its own layout")
	b.eval(`(() => { const e = document.querySelector('[name=twitterCardType]'); e.value = 'summary'; e.dispatchEvent(new Event('input', {bubbles: true})); })()`, nil)
	b.until(`document.querySelector('.social.small img')`)
	b.looks("53-preview-small")
	b.press("Remove the image")
	b.sees("Removed.")
	b.until(`!document.querySelector('.social img')`)
	testkit.Within(t, 10*time.Second, "networks no longer get the image", func() bool { return !strings.Contains(crawl(t, base+"/shown"), "og:image") })
	b.silent()
}

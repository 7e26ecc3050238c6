package browser_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The form of a link shows about how networks show it, and keeps what was typed while an image is uploaded.
func TestConsole_social_preview(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "picture.png")
	testkit.Must(t, os.WriteFile(file, picture(t, 600, 315), 0o600))
	b := newConsole(t)
	b.also("400")
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("launch")})
	b.visit("/console/links/" + link.ID + "?edit=1")
	b.press("Social preview")
	b.fill("ogTitle", "Launch <b> of the \U0001F680")
	b.fill("ogDescription", "All about it")
	b.until(`document.querySelector('.social.small .strong').textContent.startsWith('Launch <b>')`)
	b.do(chromedp.SetUploadFiles(`[name=image]`, []string{file}))
	b.until(`document.querySelector('.social:not(.small) img')?.naturalWidth === 600`)
	b.until(`document.querySelector('[name=ogDescription]').value === 'All about it'`)
	b.barrierFree()
	b.eval(`document.querySelector('.social').scrollIntoView({block: 'end'})`, nil)
	b.looks("social")
	b.narrow("social-320")
	b.press("Save")
	b.until(`!document.querySelector('dialog') && !document.querySelector('.notice')`)
	b.becomes("/api/urls/"+link.ID, `{"ogTitle": "Launch <b> of the 🚀", "ogDescription": "All about it"}`)
	var got struct{ OGImage string }
	if b.ask("GET", "/api/urls/"+link.ID, nil, &got); got.OGImage == "" {
		t.Error("the link has no image")
	}

	// The page of the link shows it, too. A file that is no image is refused at its field.
	b.until(`document.querySelector('.overview .social img')?.naturalWidth === 600`)
	b.edits("launch")
	text := filepath.Join(t.TempDir(), "notes.png")
	testkit.Must(t, os.WriteFile(text, []byte("no image"), 0o600))
	b.do(chromedp.SetUploadFiles(`[name=image]`, []string{text}))
	b.until(`document.querySelector('.filepicker button')?.getAttribute('aria-invalid') === 'true'`)
	b.barrierFree()
	b.press("Remove the image")
	b.until(`document.querySelector('dialog .social.small') && !document.querySelector('.social img')`)
}

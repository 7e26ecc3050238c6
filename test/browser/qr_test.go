package browser_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode/decoder"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// scanned reads the QR code in a picture of the page, in twice the size of the screen.
func (b *browser) scanned(selector string) string {
	b.t.Helper()
	var shot []byte
	b.do(chromedp.ScreenshotScale(selector, 2, &shot, chromedp.ByQuery))
	return decoded(b.t, shot)
}

// decoded reads the QR code in a picture that is not rotated and has no other dark pixels. It divides the dark area into modules itself.
// The library's search for a code is made for photos and misses about one code in a hundred. A test that used it would fail by chance,
// because the codes contain the server's random port.
func decoded(t *testing.T, picture []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Errorf("not a PNG: %v", err)
		return ""
	}
	box := darkPart(img)
	for size := 21; size <= 177; size += 4 { // modules per side: 21 in version 1, 177 in version 40
		modules, err := gozxing.NewSquareBitMatrix(size)
		testkit.Must(t, err)
		for y := range size {
			for x := range size {
				if dark(img, box.Min.X+(2*x+1)*box.Dx()/(2*size), box.Min.Y+(2*y+1)*box.Dy()/(2*size)) {
					modules.Set(x, y)
				}
			}
		}
		if got, err := decoder.NewDecoder().DecodeWithoutHint(modules); err == nil {
			return got.GetText()
		}
	}
	t.Error("the picture is no QR code")
	return ""
}

// darkPart returns the smallest rectangle with all dark pixels.
func darkPart(img image.Image) (box image.Rectangle) {
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if dark(img, x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

func dark(img image.Image, x, y int) bool {
	pixel, _ := color.GrayModel.Convert(img.At(x, y)).(color.Gray)
	return pixel.Y < 128
}

// The code on the screen and the downloaded one lead to the link in every shape, and colours that cameras cannot tell apart
// are named.
func TestQR_designer(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("spring"), "title": "Spring"})
	b.visit("/console/links/" + link.ID)
	b.press("QR code")
	b.until(`document.querySelector('img.code')?.complete`)
	b.inspect("qr")
	// The page keeps the files that it offers, because a headless browser saves none.
	b.eval(`(() => {
		const files = {}, make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
		URL.createObjectURL = (blob) => {
			const url = make.call(URL, blob);
			files[url] = blob;
			return url;
		};
		HTMLAnchorElement.prototype.click = function () {
			if (!this.download) return click.call(this);
			files[this.href].arrayBuffer().then((a) => window.file = {name: this.download, text: btoa(String.fromCharCode(...new Uint8Array(a)))});
		};
	})()`, nil)
	saved := func(format string) []byte {
		t.Helper()
		b.eval(`window.file = undefined`, nil)
		b.press("Download " + strings.ToUpper(format))
		b.until(`window.file?.name === ` + quoted(b.own("spring")+"."+format))
		text := b.text(`window.file.text`)
		file, err := base64.StdEncoding.DecodeString(text)
		testkit.Must(t, err)
		return file
	}
	for _, shape := range []string{"rounded", "dots", "square"} {
		b.set("shape", shape)
		b.until(`location.search.includes('shape=` + shape + `') && document.querySelector('img.code').complete`)
		b.settle()
		if got := b.scanned("img.code"); got != b.short("spring") {
			t.Errorf("%s: the screen shows %q", shape, got)
		}
		if got := decoded(t, saved("png")); got != b.short("spring") {
			t.Errorf("%s: the PNG has %q", shape, got)
		}
	}
	if file := saved("svg"); !bytes.HasPrefix(file, []byte("<svg")) {
		t.Errorf("the SVG begins with %.20q", file)
	}
	if file := saved("pdf"); !bytes.HasPrefix(file, []byte("%PDF-")) {
		t.Errorf("the PDF begins with %.20q", file)
	}

	// With a logo, the code can still be scanned, from the screen and from the file.
	logo := filepath.Join(t.TempDir(), "logo.png")
	testkit.Must(t, os.WriteFile(logo, picture(t, 200, 120), 0o600))
	b.eval(`window.before = document.querySelector('img.code').src`, nil)
	b.do(chromedp.SetUploadFiles(`input[name=logo]`, []string{logo}, chromedp.ByQuery))
	b.until(`document.querySelector('img.code')?.complete && document.querySelector('img.code').src !== window.before && ` +
		`location.search.includes('level=H')`)
	b.until(`document.querySelector('[name=level]').options.length === 2`)
	b.settle()
	b.inspect("qr-logo")
	if got := b.scanned("img.code"); got != b.short("spring") {
		t.Errorf("with a logo, the screen shows %q", got)
	}
	if got := decoded(t, saved("png")); got != b.short("spring") {
		t.Errorf("with a logo, the PNG has %q", got)
	}
	b.press("Remove logo.png")
	b.until(`document.querySelector('[name=level]').options.length === 4 && !document.querySelector('.filepicker .file')`)

	b.visit("/console/links/"+link.ID+"/qr?color=%23bbbbbb", "Many cameras need at least 4:1")
	b.barrierFree()
}

// The codes of the selected links are on one sheet.
func TestQR_sheet(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for _, slug := range []string{"spring", "autumn"} {
		b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own(slug), "title": "The " + slug})
	}
	b.visit("/console/links")
	b.until(`document.querySelectorAll('li.link .pick input').length === 2`)
	b.eval(`document.querySelectorAll('li.link .pick input').forEach((box) => box.click())`, nil)
	b.press("QR sheet", "2 codes")
	b.until(`document.querySelectorAll('.codes img.code').length === 2 && [...document.querySelectorAll('.codes img')].every((e) => ` +
		`e.complete)`)
	b.settle()
	for i, slug := range []string{"autumn", "spring"} {
		if got := b.scanned(`.codes li:nth-child(` + string(rune('1'+i)) + `) img`); got != b.short(slug) {
			t.Errorf("code %d is of %q", i, got)
		}
	}
	b.sees("The spring")
	b.inspect("qr-sheet")
	b.set("caption", "address")
	b.until(`!document.querySelector('.codes').innerText.includes('The spring')`)
}

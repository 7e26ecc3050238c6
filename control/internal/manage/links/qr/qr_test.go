package qr_test

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	decoder "github.com/makiuchi-d/gozxing/qrcode"

	"github.com/shortline/shortline/control/internal/manage/links/qr"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestPNG(t *testing.T) {
	t.Parallel()
	red := color.NRGBA{200, 0, 0, 255}
	for _, width := range []int{qr.MinWidth, 300, 301, qr.MaxWidth} {
		b, err := qr.PNG("https://sho.rt/abc1234", qr.Style{Width: width, Color: red, Background: qr.White, Margin: qr.DefaultMargin})
		testkit.Must(t, err)
		img, err := png.Decode(bytes.NewReader(b))
		testkit.Must(t, err)
		if got := img.Bounds().Dx(); got != width || img.Bounds().Dy() != width {
			t.Errorf("width %d drawn as %v", width, img.Bounds())
		}
		if nrgba(img.At(0, 0)) != qr.White {
			t.Errorf("the quiet zone is %v", img.At(0, 0))
		}
		// The finder pattern: its top left corner is the first dark pixel on the diagonal.
		d := 0
		for nrgba(img.At(d, d)) == qr.White {
			d++
		}
		if nrgba(img.At(d, d)) != red || d < width/20 {
			t.Errorf("width %d: first dark pixel %v at %d", width, img.At(d, d), d)
		}
	}
}

// One bit a pixel and one line of runs: the pictures stay small.
func TestPictures_are_small(t *testing.T) {
	t.Parallel()
	style := qr.Style{Width: qr.MaxWidth, Color: qr.Black, Background: qr.White, Margin: qr.DefaultMargin}
	b, err := qr.PNG("https://sho.rt/abc1234", style)
	if err != nil || len(b) > 16<<10 || b[24] != 1 {
		t.Errorf("PNG: %d bytes, bit depth %d, %v", len(b), b[24], err)
	}
	b, err = qr.SVG("https://sho.rt/abc1234", style)
	if err != nil || len(b) > 8<<10 {
		t.Errorf("SVG: %d bytes, %v", len(b), err)
	}
}

// Another library scans the codes: texts of all encodings and of several sizes, dark on light and in colours.
func TestPNG_can_be_scanned(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://sho.rt/abc1234", "HTTPS://SHO.RT/ABC", "0123456789", "https://sho.rt/" + strings.Repeat("a-Long_slug", 9),
		"https://example.com/?q=" + strings.Repeat("x1~", 100),
		"otpauth://totp/Shortline:ann@example.com?algorithm=SHA1&digits=6&issuer=Shortline&period=30&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
	} {
		for _, style := range []qr.Style{
			{Width: qr.DefaultWidth, Color: qr.Black, Background: qr.White, Margin: qr.DefaultMargin},
			{Width: testkit.Size(800, qr.MaxWidth), Color: color.NRGBA{0x1d, 0x4e, 0xd8, 255},
				Background: color.NRGBA{0xff, 0xed, 0xd5, 255},
				Margin:     qr.DefaultMargin},
		} {
			b, err := qr.PNG(text, style)
			testkit.Must(t, err)
			img, err := png.Decode(bytes.NewReader(b))
			testkit.Must(t, err)
			bitmap, err := gozxing.NewBinaryBitmapFromImage(img)
			testkit.Must(t, err)
			got, err := decoder.NewQRCodeReader().Decode(bitmap, nil)
			if err != nil {
				t.Errorf("%q, %d pixels wide: %v", text, style.Width, err)
			} else if level := got.GetResultMetadata()[gozxing.ResultMetadataType_ERROR_CORRECTION_LEVEL]; got.GetText() != text ||
				level != "M" {
				t.Errorf("%q was scanned as %q, level %v", text, got.GetText(), level)
			}
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	b, err := qr.SVG("https://sho.rt/abc1234", qr.Style{Width: 300, Color: color.NRGBA{0x1a, 0x2b, 0x3c, 255}, Background: qr.White,
		Margin: qr.DefaultMargin})
	testkit.Must(t, err)
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`width="300"`, `fill="#1a2b3c"`, `fill="#ffffff"`, "M4 4h7v1h-7z"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in the picture", want)
		}
	}
}

func TestParseColor(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]color.NRGBA{
		"": qr.Black, "#ff8000": {255, 128, 0, 255}, "ff8000": {255, 128, 0, 255}, "#F80": {255, 136, 0, 255},
	} {
		if got, err := qr.ParseColor(in, qr.Black); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"#", "#12", "#1234567", "red", "#gggggg", "+12345", "1_2_34", "#ffff", "#ff8000\"/>"} {
		if _, err := qr.ParseColor(in, qr.Black); err == nil {
			t.Errorf("%q was taken for a colour", in)
		}
	}
}

func nrgba(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

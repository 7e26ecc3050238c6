package qr_test

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/links/qr"
)

var (
	black = color.NRGBA{0, 0, 0, 255}
	white = color.NRGBA{255, 255, 255, 255}
)

func TestPNG(t *testing.T) {
	t.Parallel()
	red := color.NRGBA{200, 0, 0, 255}
	for _, width := range []int{qr.MinWidth, 300, 301, qr.MaxWidth} {
		b, err := qr.PNG("https://sho.rt/abc1234", qr.Style{Width: width, Color: red, Background: white})
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if got := img.Bounds().Dx(); got != width || img.Bounds().Dy() != width {
			t.Errorf("width %d drawn as %v", width, img.Bounds())
		}
		if nrgba(img.At(0, 0)) != white {
			t.Errorf("the quiet zone is %v", img.At(0, 0))
		}
		// The finder pattern: its top left corner is the first dark pixel on the diagonal.
		d := 0
		for nrgba(img.At(d, d)) == white {
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
	style := qr.Style{Width: qr.MaxWidth, Color: black, Background: white}
	b, err := qr.PNG("https://sho.rt/abc1234", style)
	if err != nil || len(b) > 16<<10 || b[24] != 1 {
		t.Errorf("PNG: %d bytes, bit depth %d, %v", len(b), b[24], err)
	}
	b, err = qr.SVG("https://sho.rt/abc1234", style)
	if err != nil || len(b) > 8<<10 {
		t.Errorf("SVG: %d bytes, %v", len(b), err)
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	b, err := qr.SVG("https://sho.rt/abc1234", qr.Style{Width: 300, Color: color.NRGBA{0x1a, 0x2b, 0x3c, 255}, Background: white})
	if err != nil {
		t.Fatal(err)
	}
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
		"": black, "#ff8000": {255, 128, 0, 255}, "ff8000": {255, 128, 0, 255}, "#F80": {255, 136, 0, 255},
	} {
		if got, err := qr.ParseColor(in, black); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"#", "#12", "#1234567", "red", "#gggggg", "+12345", "1_2_34", "#ffff", "#ff8000\"/>"} {
		if _, err := qr.ParseColor(in, black); err == nil {
			t.Errorf("%q was taken for a colour", in)
		}
	}
}

func nrgba(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

package qr_test

import (
	"bytes"
	"compress/zlib"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	decoder "github.com/makiuchi-d/gozxing/qrcode"

	"github.com/shortline/shortline/control/internal/manage/links/qr"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const address = "https://sho.rt/abc1234"

// scan decodes an image with another library and returns the text and the level of error correction.
func scan(t *testing.T, img image.Image) (text, level string) {
	t.Helper()
	bitmap, err := gozxing.NewBinaryBitmapFromImage(img)
	testkit.Must(t, err)
	got, err := decoder.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true})
	testkit.Must(t, err)
	level, _ = got.GetResultMetadata()[gozxing.ResultMetadataType_ERROR_CORRECTION_LEVEL].(string)
	return got.GetText(), level
}

// Every shape, level and pair of colours can be scanned, as PNG and as PDF.
func TestShapes_can_be_scanned(t *testing.T) {
	t.Parallel()
	for _, shape := range qr.Shapes {
		for _, level := range qr.Levels {
			for name, colors := range map[string][2]color.NRGBA{
				"black": {qr.Black, qr.White}, "blue on sand": {{0x1d, 0x4e, 0xd8, 255}, {0xff, 0xed, 0xd5, 255}},
				"green": {{0x0b, 0x6e, 0x55, 255}, qr.White},
			} {
				t.Run(string(shape)+" "+level+" "+name, func(t *testing.T) {
					t.Parallel()
					style := qr.Style{Width: 400, Color: colors[0], Background: colors[1], Shape: shape, Level: level,
						Margin: qr.DefaultMargin}
					b, err := qr.PNG(address, style)
					testkit.Must(t, err)
					img, err := png.Decode(bytes.NewReader(b))
					testkit.Must(t, err)
					if text, got := scan(t, img); text != address || got != level {
						t.Errorf("the PNG was scanned as %q, level %s", text, got)
					}
					b, err = qr.PDF(address, style)
					testkit.Must(t, err)
					if text, got := scan(t, drawn(t, b, style)); text != address || got != level {
						t.Errorf("the PDF was scanned as %q, level %s", text, got)
					}
				})
			}
		}
	}
}

// drawn draws the modules of a PDF: each closed outline is a module, filled with the colour that was set before.
func drawn(t *testing.T, file []byte, s qr.Style) image.Image {
	t.Helper()
	_, rest, _ := bytes.Cut(file, []byte("stream\n"))
	r, err := zlib.NewReader(bytes.NewReader(rest))
	testkit.Must(t, err)
	content, err := io.ReadAll(r)
	testkit.Must(t, err)
	const scale = 12
	img := image.NewNRGBA(image.Rect(0, 0, s.Width, s.Width))
	var fill color.NRGBA
	var outline [][2]float64
	paint := func(inside func(x, y float64) bool) {
		for y := range s.Width {
			for x := range s.Width {
				if inside((float64(x)+.5)/scale, (float64(y)+.5)/scale) {
					img.SetNRGBA(x, y, fill)
				}
			}
		}
	}
	for _, line := range strings.Split(string(content), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var v []float64
		for _, w := range words[:len(words)-1] {
			if f, err := strconv.ParseFloat(w, 64); err == nil {
				v = append(v, f)
			}
		}
		switch words[len(words)-1] {
		case "rg":
			fill = color.NRGBA{uint8(math.Round(v[0] * 255)), uint8(math.Round(v[1] * 255)), uint8(math.Round(v[2] * 255)), 255}
		case "m", "l":
			outline = append(outline, [2]float64{v[0], v[1]})
		case "c":
			from := outline[len(outline)-1]
			for i := 1; i <= 8; i++ {
				u := float64(i) / 8
				at := func(k int) float64 {
					return math.Pow(1-u, 3)*from[k] + 3*u*(1-u)*(1-u)*v[k] + 3*u*u*(1-u)*v[2+k] + u*u*u*v[4+k]
				}
				outline = append(outline, [2]float64{at(0), at(1)})
			}
		case "h":
			module(img, outline, scale, fill)
			outline = nil
		case "f":
			if len(v) == 4 {
				paint(func(float64, float64) bool { return true })
			}
		}
	}
	return img
}

// module fills an outline, by the rule of even and odd crossings.
func module(img *image.NRGBA, outline [][2]float64, scale int, fill color.NRGBA) {
	left, top := math.Inf(1), math.Inf(1)
	for _, p := range outline {
		left, top = min(left, p[0]), min(top, p[1])
	}
	for py := int(top) * scale; py < (int(top)+1)*scale; py++ {
		for px := int(left) * scale; px < (int(left)+1)*scale; px++ {
			x, y, in := (float64(px)+.5)/float64(scale), (float64(py)+.5)/float64(scale), false
			for i, p := range outline {
				q := outline[(i+1)%len(outline)]
				if (p[1] > y) != (q[1] > y) && x < (q[0]-p[0])*(y-p[1])/(q[1]-p[1])+p[0] {
					in = !in
				}
			}
			if in {
				img.SetNRGBA(px, py, fill)
			}
		}
	}
}

// aLogo is an image with a transparent corner.
func aLogo(width, height int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			if x+y > 10 {
				m.SetNRGBA(x, y, color.NRGBA{200, uint8(x), uint8(y), 255})
			}
		}
	}
	return m
}

// A code with a logo in the middle can still be scanned: in every shape, for long and short texts, and for logos of any proportion.
func TestLogo_can_be_scanned(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, text := range []string{"HTTPS://A.B/C", address, "https://sho.rt/" + strings.Repeat("a-Long_slug", 4)} {
		for _, shape := range qr.Shapes {
			for _, level := range qr.LogoLevels {
				for _, size := range []image.Point{{480, 480}, {480, 60}, {60, 480}, {1, 1}} {
					if tried++; tried%testkit.Size(11, 1) > 0 {
						continue // make proof tries all combinations
					}
					style := qr.Style{Width: 600, Color: qr.Black, Background: qr.White, Shape: shape, Level: level,
						Margin: qr.DefaultMargin,
						Logo:   aLogo(size.X, size.Y)}
					b, err := qr.PNG(text, style)
					testkit.Must(t, err)
					img, err := png.Decode(bytes.NewReader(b))
					testkit.Must(t, err)
					if got, was := scan(t, img); got != text || was != level {
						t.Errorf("%s, %s, %v: scanned %q with the level %s", shape, level, size, got, was)
					}
					if size.X == size.Y && size.X > 1 {
						if c := nrgba(img.At(300, 300)); c.R != 200 {
							t.Errorf("the middle is %v, not the logo", c)
						}
					}
				}
			}
		}
	}
}

// SVG and PDF contain the logo at the place that PNG has.
func TestLogo_in_other_formats(t *testing.T) {
	t.Parallel()
	style := qr.Style{Width: 600, Color: qr.Black, Background: qr.White, Level: "H", Margin: qr.DefaultMargin, Logo: aLogo(40, 20)}
	svg, err := qr.SVG(address, style)
	testkit.Must(t, err)
	if !strings.Contains(string(svg), `href="data:image/png;base64,`) || strings.Count(string(svg), "<image") != 1 {
		t.Error("the SVG has no logo")
	}
	pdf, err := qr.PDF(address, style)
	testkit.Must(t, err)
	for _, want := range []string{"/XObject<</Logo 5 0 R>>", "/Width 40/Height 20/ColorSpace/DeviceRGB", "/SMask 6 0 R",
		"/ColorSpace/DeviceGray"} {
		if !strings.Contains(string(pdf), want) {
			t.Errorf("the PDF lacks %s", want)
		}
	}
	style.Logo = nil
	if plain, err := qr.PDF(address, style); err != nil || strings.Contains(string(plain), "XObject") {
		t.Error("a code without a logo has one", err)
	}
}

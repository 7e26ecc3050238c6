// Package qr draws QR codes as PNG and SVG images, and parses their colours. A library encodes the text, with error
// correction level M (up to 15 % of the code may be damaged).
package qr

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// The limits and the default of an image's width, in pixels.
const (
	MinWidth     = 64
	MaxWidth     = 2048
	DefaultWidth = 300
)

// quietZone is the width of the empty border that ISO/IEC 18004 requires, in modules.
const quietZone = 4

// The default colours of a code.
var (
	Black = color.NRGBA{A: 255}
	White = color.NRGBA{255, 255, 255, 255}
)

// Style is the appearance of a code. The image is Width pixels wide and high, or one pixel per module if the code has
// more modules than that.
type Style struct {
	Width             int // MinWidth to MaxWidth
	Color, Background color.NRGBA
}

// ParseColor parses a hexadecimal colour, RGB or RRGGBB, with or without a leading #. It returns def for "".
func ParseColor(s string, def color.NRGBA) (color.NRGBA, error) {
	if s == "" {
		return def, nil
	}
	hex := strings.TrimPrefix(s, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 || strings.ContainsAny(hex, "+_") {
		return color.NRGBA{}, errors.New("must be a hexadecimal colour, such as #1a2b3c")
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}, nil
}

// PNG returns an image with a palette of two colours, which takes one bit per pixel.
func PNG(text string, s Style) ([]byte, error) {
	bits, err := modules(text)
	if err != nil {
		return nil, err
	}
	n := len(bits)
	side := max(s.Width, n)
	scale := side / n
	margin := (side - scale*n) / 2
	img := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{s.Background, s.Color})
	for y, row := range bits {
		line := img.Pix[(margin+y*scale)*img.Stride:][:img.Stride]
		for x, dark := range row {
			if dark {
				for i := range scale {
					line[margin+x*scale+i] = 1
				}
			}
		}
		for i := 1; i < scale; i++ {
			copy(img.Pix[(margin+y*scale+i)*img.Stride:][:img.Stride], line)
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode PNG: %w", err)
	}
	return b.Bytes(), nil
}

// SVG returns an image whose dark modules are one path of horizontal runs.
func SVG(text string, s Style) ([]byte, error) {
	bits, err := modules(text)
	if err != nil {
		return nil, err
	}
	n := len(bits)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" shape-rendering="crispEdges">`, s.Width, s.Width, n, n)
	fmt.Fprintf(&b, `<path fill="%s" d="M0 0h%dv%dH0z"/><path fill="%s" d="`, hexOf(s.Background), n, n, hexOf(s.Color))
	for y, row := range bits {
		for x := 0; x < n; x++ {
			from := x
			for x < n && row[x] {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.Bytes(), nil
}

// modules returns the rows of a code, including the quiet zone; true is a dark module.
func modules(text string) ([][]bool, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("encode QR code: %w", err)
	}
	rows := make([][]bool, code.Bounds().Dy()+2*quietZone)
	for y := range rows {
		rows[y] = make([]bool, len(rows))
		for x := range rows {
			inside := image.Pt(x-quietZone, y-quietZone)
			rows[y][x] = inside.In(code.Bounds()) && code.At(inside.X, inside.Y) == color.Black
		}
	}
	return rows, nil
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

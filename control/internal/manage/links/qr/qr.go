// Package qr draws QR codes as PNG, SVG and PDF in several shapes, and parses their colours. A library encodes the text.
package qr

import (
	"bytes"
	"cmp"
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

// DefaultMargin is the width of the empty border that ISO/IEC 18004 requires, in modules.
const (
	DefaultMargin = 4
	MaxMargin     = 16
)

// levels are how much of a code may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %.
var levels = map[string]qr.ErrorCorrectionLevel{"": qr.M, "L": qr.L, "M": qr.M, "Q": qr.Q, "H": qr.H}

// Levels has the names of the levels of error correction.
var Levels = []string{"L", "M", "Q", "H"}

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
	Shape             Shape       // "" is Squares
	Level             string      // one of Levels; "" is M
	Margin            int         // in modules, 0 to MaxMargin
	Logo              image.Image // in the middle, nil without one; Level must then be one of LogoLevels
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

// PNG returns an image with a palette. Squares need two colours, which take one bit per pixel.
func PNG(text string, s Style) ([]byte, error) {
	g, err := s.grid(text)
	if err != nil {
		return nil, err
	}
	n := len(g.bits)
	side := max(s.Width, n)
	scale := side / n
	border := (side - scale*n) / 2
	palette, full := shades(s), uint8(grades*grades)
	if g.shape == Squares {
		palette, full = color.Palette{s.Background, s.Color}, 1
	}
	img := image.NewPaletted(image.Rect(0, 0, side, side), palette)
	tiles := map[int][]uint8{}
	for y, row := range g.bits {
		for x, dark := range row {
			if !dark {
				continue
			}
			round := g.corners(x, y)
			if tiles[round] == nil {
				tiles[round] = tile(round, scale, full)
			}
			for i := range scale {
				copy(img.Pix[(border+y*scale+i)*img.Stride+border+x*scale:], tiles[round][i*scale:][:scale])
			}
		}
	}
	var b bytes.Buffer
	var whole image.Image = img
	if s.Logo != nil {
		whole = g.stamp(img, s.Logo, scale, border)
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, whole); err != nil {
		return nil, fmt.Errorf("encode PNG: %w", err)
	}
	return b.Bytes(), nil
}

// SVG returns an image whose dark modules are one path: horizontal runs of squares, or the outline of each module.
func SVG(text string, s Style) ([]byte, error) {
	g, err := s.grid(text)
	if err != nil {
		return nil, err
	}
	n := len(g.bits)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d"`, s.Width, s.Width, n, n)
	if g.shape == Squares {
		b.WriteString(` shape-rendering="crispEdges"`)
	}
	fmt.Fprintf(&b, `><path fill="%s" d="M0 0h%dv%dH0z"/><path fill="%s" d="`, hexOf(s.Background), n, n, hexOf(s.Color))
	if g.shape == Squares {
		g.runs(&b)
	} else {
		op := func(letter byte) func(...float64) {
			return func(points ...float64) {
				b.WriteByte(letter)
				for _, p := range points {
					fmt.Fprintf(&b, "%.4g ", p)
				}
			}
		}
		g.outlines(op('M'), op('L'), op('C'), func() { b.WriteByte('z') })
	}
	b.WriteString(`"/>`)
	if s.Logo != nil {
		logo, err := g.svgLogo(s.Logo)
		if err != nil {
			return nil, err
		}
		b.WriteString(logo)
	}
	b.WriteString(`</svg>`)
	return b.Bytes(), nil
}

// runs writes the dark modules of each row as rectangles, which is the shortest path of squares.
func (g grid) runs(b *bytes.Buffer) {
	n := len(g.bits)
	for y, row := range g.bits {
		for x := 0; x < n; x++ {
			from := x
			for x < n && row[x] {
				x++
			}
			if x > from {
				fmt.Fprintf(b, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
}

// grid encodes a text and adds the margin.
func (s Style) grid(text string) (grid, error) {
	code, err := qr.Encode(text, levels[s.Level], qr.Auto)
	if err != nil {
		return grid{}, fmt.Errorf("encode QR code: %w", err)
	}
	rows := make([][]bool, code.Bounds().Dy()+2*s.Margin)
	for y := range rows {
		rows[y] = make([]bool, len(rows))
		for x := range rows {
			inside := image.Pt(x-s.Margin, y-s.Margin)
			rows[y][x] = inside.In(code.Bounds()) && code.At(inside.X, inside.Y) == color.Black
		}
	}
	g := grid{rows, s.Margin, cmp.Or(s.Shape, Squares)}
	if s.Logo != nil {
		g.clear()
	}
	return g, nil
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

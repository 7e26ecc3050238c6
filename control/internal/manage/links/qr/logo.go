package qr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/draw"
)

// logoShare is the width of a logo as a share of the code's, without the margin. Its area is 5 % of the code, which the levels Q
// and H repair with a large reserve for dirt and glare.
const logoShare = .22

// LogoLevels has the levels of error correction with which a code can have a logo.
var LogoLevels = []string{"Q", "H"}

// MaxLogo is the size in pixels to which callers scale logos, in both directions.
const MaxLogo = 480

// hole returns the modules in the middle of the code that the logo takes: the first one of a row, and how many.
func (g grid) hole() (first, count int) {
	n := len(g.bits) - 2*g.margin // odd, as in every code
	count = int(logoShare*float64(n))/2*2 + 1
	return g.margin + (n-count)/2, count
}

// clear removes the modules under the logo.
func (g grid) clear() {
	first, count := g.hole()
	for y := first; y < first+count; y++ {
		clear(g.bits[y][first : first+count])
	}
}

// place returns where the logo goes, in modules: as large as possible within the hole, without a border of a third of a module.
func (g grid) place(logo image.Image) (x, y, width, height float64) {
	const border = 1. / 3
	first, count := g.hole()
	room := float64(count) - 2*border
	size := logo.Bounds().Size()
	scale := room / float64(max(size.X, size.Y))
	width, height = float64(size.X)*scale, float64(size.Y)*scale
	return float64(first) + border + (room-width)/2, float64(first) + border + (room-height)/2, width, height
}

// stamp draws the logo on an image of the code, whose modules are scale pixels wide and begin at border.
func (g grid) stamp(code image.Image, logo image.Image, scale, border int) image.Image {
	img := image.NewNRGBA(code.Bounds())
	draw.Draw(img, img.Rect, code, image.Point{}, draw.Src)
	x, y, width, height := g.place(logo)
	at := func(v float64) int { return border + int(v*float64(scale)+.5) }
	draw.CatmullRom.Scale(img, image.Rect(at(x), at(y), at(x+width), at(y+height)), logo, logo.Bounds(), draw.Over, nil)
	return img
}

// svgLogo returns the element with the logo.
func (g grid) svgLogo(logo image.Image) (string, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, logo); err != nil {
		return "", fmt.Errorf("encode the logo: %w", err)
	}
	x, y, width, height := g.place(logo)
	return fmt.Sprintf(`<image x="%.4g" y="%.4g" width="%.4g" height="%.4g" href="data:image/png;base64,%s"/>`,
		x, y, width, height, base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// pdfLogo returns the logo as PDF has images: rows of RGB, and the opacity as an image of its own (ISO 32000-1, section 8.9.5).
func pdfLogo(logo image.Image) (colors, opacity []byte, err error) {
	pack := func(samples int, of func(color.NRGBA) []byte) ([]byte, error) {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		box := logo.Bounds()
		row := make([]byte, 0, box.Dx()*samples)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			row = row[:0]
			for x := box.Min.X; x < box.Max.X; x++ {
				row = append(row, of(color.NRGBAModel.Convert(logo.At(x, y)).(color.NRGBA))...)
			}
			if _, err := z.Write(row); err != nil {
				return nil, fmt.Errorf("compress the logo: %w", err)
			}
		}
		err := z.Close()
		return b.Bytes(), err
	}
	if colors, err = pack(3, func(c color.NRGBA) []byte { return []byte{c.R, c.G, c.B} }); err != nil {
		return nil, nil, err
	}
	opacity, err = pack(1, func(c color.NRGBA) []byte { return []byte{c.A} })
	return colors, opacity, err
}

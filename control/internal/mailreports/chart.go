package mailreports

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// The picture is twice as large as it is shown, for fine screens. It has no background, and its colours have a contrast of at least
// 3 to white and to the dark grey of mail programs.
const (
	chartWidth, chartHeight = 1120, 400
	chartTop, chartBottom   = 40, 44
	chartLeft               = 8
)

var (
	barColour  = color.NRGBA{0x2f, 0x7b, 0xe8, 0xff}
	lineColour = color.NRGBA{0x8a, 0x8f, 0x98, 0xff}
)

// Bar is one day of a chart.
type Bar struct {
	Label       string // ASCII, a few characters; "" for none
	Now, Before int64
}

// Draw draws the bars, and marks of what they were in the period before, as a PNG.
func Draw(bars []Bar) ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, chartWidth, chartHeight))
	most := int64(1)
	for _, b := range bars {
		most = max(most, b.Now, b.Before)
	}
	const base = chartHeight - chartBottom
	fill := func(r image.Rectangle, c color.Color) {
		draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
	height := func(n int64) int { return int(float64(n) / float64(most) * (base - chartTop)) }
	drawText(img, chartLeft, 2, fmt.Sprint(most))
	for x := chartLeft; x < chartWidth; x += 12 { // the largest value
		fill(image.Rect(x, chartTop-2, x+4, chartTop), lineColour)
	}
	step := float64(chartWidth-2*chartLeft) / float64(max(1, len(bars)))
	for i, b := range bars {
		left, right := chartLeft+int(float64(i)*step), chartLeft+int(float64(i+1)*step)
		gap := max(2, (right-left)/8)
		fill(image.Rect(left+gap, base-height(b.Now), right-gap, base), barColour)
		if b.Before > 0 {
			y := base - height(b.Before)
			fill(image.Rect(left+1, y-3, right-1, y+3), lineColour)
		}
		drawText(img, (left+right)/2-14*len(b.Label)/2, base+12, b.Label)
	}
	fill(image.Rect(chartLeft, base, chartWidth-chartLeft, base+2), lineColour)
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
}

// drawText draws ASCII text in twice the size of the font, whose letters are 7 by 13 points.
func drawText(on *image.NRGBA, x, y int, s string) {
	small := image.NewAlpha(image.Rect(0, 0, 7*len(s), 13))
	d := font.Drawer{Dst: small, Src: image.Opaque, Face: basicfont.Face7x13, Dot: fixed.P(0, 11)}
	d.DrawString(s)
	for i := range 7 * len(s) {
		for j := range 13 {
			if small.AlphaAt(i, j).A > 0 {
				draw.Draw(on, image.Rect(x+2*i, y+2*j, x+2*i+2, y+2*j+2), image.NewUniform(lineColour), image.Point{}, draw.Src)
			}
		}
	}
}

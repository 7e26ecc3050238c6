package qr

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"math"
)

// Shape is the form of the dark modules.
type Shape string

// The shapes. The three large squares in the corners stay squares with Dots, because scanners look for them.
const (
	Squares Shape = "square"
	Rounded Shape = "rounded" // corners are round where no neighbour continues them
	Dots    Shape = "dots"
)

// Shapes has all shapes.
var Shapes = []Shape{Squares, Rounded, Dots}

// finder is the width of a large square in a corner, in modules.
const finder = 7

// The corners of a module that are round.
const (
	topLeft = 1 << iota
	topRight
	bottomRight
	bottomLeft
	dot = 1<<4 - 1 // all corners
)

// grid has the modules of a code, with its margin.
type grid struct {
	bits   [][]bool
	margin int
	shape  Shape
}

func (g grid) dark(x, y int) bool {
	return x >= 0 && y >= 0 && x < len(g.bits) && y < len(g.bits) && g.bits[y][x]
}

func (g grid) inFinder(x, y int) bool {
	first, last := g.margin+finder, len(g.bits)-g.margin-finder
	return x < first && y < first || x >= last && y < first || x < first && y >= last
}

// corners returns which corners of a dark module are round.
func (g grid) corners(x, y int) (round int) {
	switch {
	case g.shape == Dots && !g.inFinder(x, y):
		return dot
	case g.shape != Rounded:
		return 0
	}
	up, right, down, left := g.dark(x, y-1), g.dark(x+1, y), g.dark(x, y+1), g.dark(x-1, y)
	for _, c := range []struct {
		corner int
		flat   bool
	}{{topLeft, up || left}, {topRight, up || right}, {bottomRight, down || right}, {bottomLeft, down || left}} {
		if !c.flat {
			round |= c.corner
		}
	}
	return round
}

// covers tells whether a point of a module, from 0 to 1, is inside its shape.
func covers(round int, x, y float64) bool {
	corner := topLeft
	switch {
	case x >= .5 && y < .5:
		corner = topRight
	case x >= .5:
		corner = bottomRight
	case y >= .5:
		corner = bottomLeft
	}
	return round&corner == 0 || math.Hypot(x-.5, y-.5) <= .5
}

// grades is the number of samples of a pixel in each direction, for smooth edges.
const grades = 3

// tile returns how much of each pixel of a module is covered, from 0 to full, which is 1 or grades².
func tile(round, scale int, full uint8) []uint8 {
	t := make([]uint8, scale*scale)
	if round == 0 {
		for i := range t {
			t[i] = full
		}
		return t
	}
	step := 1 / float64(grades*scale)
	for y := range grades * scale {
		for x := range grades * scale {
			if covers(round, (float64(x)+.5)*step, (float64(y)+.5)*step) {
				t[y/grades*scale+x/grades]++
			}
		}
	}
	return t
}

// shades returns the colours of pixels from uncovered to covered.
func shades(s Style) color.Palette {
	mix := func(a, b uint8, i int) uint8 { return uint8((int(a)*(grades*grades-i) + int(b)*i) / (grades * grades)) }
	p := make(color.Palette, grades*grades+1)
	for i := range p {
		p[i] = color.NRGBA{mix(s.Background.R, s.Color.R, i), mix(s.Background.G, s.Color.G, i), mix(s.Background.B, s.Color.B, i), 255}
	}
	return p
}

// bend is the distance of the control points of a quarter of a circle from its ends, for the radius 0.5.
const bend = .5 * .5523

// outlines writes the outline of every dark module with the given commands for move, line, curve and close.
func (g grid) outlines(move, line, curve func(points ...float64), end func()) {
	for y, row := range g.bits {
		for x, dark := range row {
			if !dark {
				continue
			}
			round := g.corners(x, y)
			// The middles of the sides and the corners between them, clockwise from the top.
			l, t := float64(x), float64(y)
			mx, my, r, b := l+.5, t+.5, l+1, t+1
			move(mx, t)
			for _, c := range []struct {
				corner                       int
				fromX, fromY, x, y, toX, toY float64
			}{
				{topRight, mx, t, r, t, r, my}, {bottomRight, r, my, r, b, mx, b}, {bottomLeft, mx, b, l, b, l, my},
				{topLeft, l, my, l, t, mx, t},
			} {
				if round&c.corner == 0 {
					line(c.x, c.y)
					line(c.toX, c.toY)
					continue
				}
				pull := func(from, to float64) float64 { return from + (to-from)*2*bend }
				curve(pull(c.fromX, c.x), pull(c.fromY, c.y), pull(c.toX, c.x), pull(c.toY, c.y), c.toX, c.toY)
			}
			end()
		}
	}
}

// PDF returns a page of the size of the code, at 96 pixels per inch, with lines and curves instead of pixels.
func PDF(text string, s Style) ([]byte, error) {
	g, err := s.grid(text)
	if err != nil {
		return nil, err
	}
	side := float64(s.Width) * 72 / 96
	scale := side / float64(len(g.bits))
	var page bytes.Buffer
	z := zlib.NewWriter(&page)
	op := func(name string) func(...float64) {
		return func(points ...float64) {
			for _, p := range points {
				fmt.Fprintf(z, "%.4g ", p)
			}
			fmt.Fprintln(z, name)
		}
	}
	fill := func(c color.NRGBA) { op("rg")(float64(c.R)/255, float64(c.G)/255, float64(c.B)/255) }
	fill(s.Background)
	fmt.Fprintf(z, "0 0 %.4f %.4f re f\n%.6f 0 0 %.6f 0 %.4f cm\n", side, side, scale, -scale, side)
	fill(s.Color)
	g.outlines(op("m"), op("l"), op("c"), func() { op("h")() })
	fmt.Fprintln(z, "f")
	if s.Logo != nil {
		// An image fills the unit square upwards, and the page is upside down.
		x, y, width, height := g.place(s.Logo)
		fmt.Fprintf(z, "q %.4f 0 0 %.4f %.4f %.4f cm /Logo Do Q\n", width, -height, x, y+height)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress PDF: %w", err)
	}
	return document(side, page.Bytes(), s.Logo)
}

// document wraps the compressed content of a page. logo is the image that the page calls Logo; nil without one.
func document(side float64, page []byte, logo image.Image) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	object := func(format string, values ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, values...)
		b.WriteString("\nendobj\n")
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object("<</Type/Pages/Kids[3 0 R]/Count 1>>")
	resources := ""
	if logo != nil {
		resources = "/XObject<</Logo 5 0 R>>"
	}
	object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.4f %.4f]/Resources<<%s>>/Contents 4 0 R>>", side, side, resources)
	object("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", len(page), page)
	if logo != nil {
		colors, opacity, err := pdfLogo(logo)
		if err != nil {
			return nil, err
		}
		picture := func(space, more string, data []byte) {
			object("<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/%s/BitsPerComponent 8%s/Length "+
				"%d/Filter/FlateDecode>>\nstream\n%s\nendstream",
				logo.Bounds().Dx(), logo.Bounds().Dy(), space, more, len(data), data)
		}
		picture("DeviceRGB", "/SMask 6 0 R", colors)
		picture("DeviceGray", "", opacity)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes(), nil
}

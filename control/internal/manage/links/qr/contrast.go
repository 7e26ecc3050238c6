package qr

import (
	"image/color"
	"math"
)

// Contrasts between the colour of a code and its background, as WCAG 2 computes them: from 1 for equal colours to 21 for black
// and white.
const (
	// MinContrast is the least contrast that can be drawn. Below it, cameras see a blank picture.
	MinContrast = 1.5
	// GoodContrast is what many cameras need.
	GoodContrast = 4
)

// Contrast returns the contrast between the colours of the style.
func (s Style) Contrast() float64 {
	a, b := luminance(s.Color), luminance(s.Background)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

// Inverted reports whether the code is lighter than its background. ISO/IEC 18004 wants it darker, and many scanners find no
// other code.
func (s Style) Inverted() bool { return luminance(s.Color) > luminance(s.Background) }

// luminance returns the relative luminance of a colour, from 0 to 1.
// https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

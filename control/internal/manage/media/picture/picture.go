// Package picture turns an image that somebody sent into one that is safe and small enough to show to everybody:
// at most 1200 by 630 pixels, WebP at quality 80, or GIF if it was one, made anew from pixels alone. Nothing of
// the file that came survives but what can be seen: no EXIF, no profile, no comment, no second file behind the
// first.
//
// It promises that what a file says of itself is checked before memory is taken for it: the kind by content, the
// pixels, the frames, and what decoding would take. The kinds are JPEG, PNG, WebP that doesn't move, and GIF.
// Decoding takes up to MaxMemory besides some 80 MiB for scaling and encoding; callers see to it that there is
// one at a time. Colours are taken to be sRGB, whatever profile a file carries.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"runtime/debug"

	"golang.org/x/image/webp"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// The limits of what is taken and made.
const (
	MaxWidth  = 1200       // of what is made, pixels
	MaxHeight = 630        // of what is made, pixels
	MaxPixels = 50_000_000 // of what is taken
	MaxFrames = 500        // of what is taken
	MaxMemory = 200 << 20  // bytes that decoding may take

	maxSide = 65_535
	quality = 80
)

// The extensions of what is made, which also tell the format.
const (
	WebP = "webp"
	GIF  = "gif"
)

// Picture is an image that was made here.
type Picture struct {
	Bytes         []byte
	Ext           string // WebP or GIF
	Width, Height int
}

// Convert makes a Picture of a file. What is wrong with the file is a problem.Invalid about the field "file".
func Convert(ctx context.Context, file []byte) (p Picture, err error) {
	h, err := inspect(file)
	if err != nil {
		return Picture{}, err
	}
	if h.memory > 16<<20 {
		// Garbage of this size would otherwise stay until the heap has doubled.
		defer debug.FreeOSMemory()
	}
	if h.kind == kindGIF {
		return convertGIF(ctx, file)
	}
	src, err := decode(h.kind, file)
	if err != nil {
		return Picture{}, broken(err)
	}
	b := src.Bounds()
	if b.Dx() != h.width || b.Dy() != h.height {
		return Picture{}, broken(errors.New("its parts differ in size"))
	}
	// The limits are those of the picture as it is looked at.
	most := image.Pt(MaxWidth, MaxHeight)
	if h.orientation >= 5 {
		most = image.Pt(MaxHeight, MaxWidth)
	}
	small := scale(src, fit(b.Size(), most), best)
	src = nil
	if err := ctx.Err(); err != nil {
		return Picture{}, err
	}
	upright := orient(small, h.orientation)
	out, err := encodeWebP(straighten(upright))
	if err != nil {
		return Picture{}, fmt.Errorf("encode WebP: %w", err)
	}
	return Picture{out, WebP, upright.Rect.Dx(), upright.Rect.Dy()}, nil
}

func decode(kind kind, file []byte) (image.Image, error) {
	r := bytes.NewReader(file)
	switch kind {
	case kindJPEG:
		return jpeg.Decode(r)
	case kindPNG:
		return png.Decode(r)
	case kindWebP:
		m, err := webp.Decode(r)
		switch m := m.(type) {
		case *image.YCbCr:
			widen(m)
		case *image.NYCbCrA:
			widen(&m.YCbCr)
		}
		return m, err
	}
	panic("BUG: a kind without a decoder")
}

// widen stretches planes from the range of television, 16 to 235 and 16 to 240, in which WebP has them (RFC 6386,
// section 9.2), to the whole range, in which Go takes them to be.
func widen(m *image.YCbCr) {
	var luma, chroma [256]byte
	for v := range 256 {
		luma[v] = clamp(float64(v-16) * 255 / 219)
		chroma[v] = clamp(float64(v-128)*255/224 + 128)
	}
	for i, v := range m.Y {
		m.Y[i] = luma[v]
	}
	for _, plane := range [][]byte{m.Cb, m.Cr} {
		for i, v := range plane {
			plane[i] = chroma[v]
		}
	}
}

func clamp(v float64) byte { return byte(math.Round(max(0, min(255, v)))) }

func refused(format string, args ...any) error { return problem.OfField("file", format, args...) }

func broken(err error) error {
	return refused("is damaged or not an image that can be read: %s", err)
}

// straighten divides the colours of an image by their opacity, which is how WebP wants them. The image is changed.
func straighten(m *image.RGBA) *image.RGBA {
	for i := 0; i+3 < len(m.Pix); i += 4 {
		if a := uint32(m.Pix[i+3]); a != 0 && a != 0xff {
			for c := i; c < i+3; c++ {
				m.Pix[c] = uint8(min(255, (uint32(m.Pix[c])*255+a/2)/a))
			}
		}
	}
	return m
}

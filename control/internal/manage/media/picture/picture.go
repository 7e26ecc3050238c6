// Package picture converts uploaded images to safe, small ones: WebP with quality 80, or GIF for GIFs, of at most 1200
// by 630 pixels. The result is encoded from pixels alone, so no EXIF data, colour profile, comment or appended file
// survives.
//
// Input can be JPEG, PNG, still WebP, and GIF. The format is detected by content. Before memory is allocated, the
// headers are checked for pixels, frames and the memory that decoding takes. Decoding takes up to MaxMemory, and
// scaling and encoding about 80 MiB more, so callers must convert one image at a time. Colours are treated as sRGB,
// whatever the embedded profile.
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

// The limits of input and output.
const (
	MaxWidth  = 1200       // of the output, pixels
	MaxHeight = 630        // of the output, pixels
	MaxPixels = 50_000_000 // of the input
	MaxFrames = 500        // of the input
	MaxMemory = 200 << 20  // for decoding, in bytes

	maxSide = 65_535
	quality = 80
)

// The output formats, as file extensions.
const (
	WebP = "webp"
	GIF  = "gif"
)

// Picture is a converted image.
type Picture struct {
	Bytes         []byte
	Ext           string // WebP or GIF
	Width, Height int
}

// Convert converts a file. If the file is unusable, the error is a problem.Invalid about the field "file".
func Convert(ctx context.Context, file []byte) (p Picture, err error) {
	h, err := inspect(file)
	if err != nil {
		return Picture{}, err
	}
	if h.memory > 16<<20 {
		// Otherwise garbage of this size stays until the heap has doubled.
		defer debug.FreeOSMemory()
	}
	if h.kind == kindGIF {
		return convertGIF(ctx, file)
	}
	upright, err := shrink(ctx, h, file, MaxWidth, MaxHeight)
	if err != nil {
		return Picture{}, err
	}
	out, err := encodeWebP(straighten(upright))
	if err != nil {
		return Picture{}, fmt.Errorf("encode WebP: %w", err)
	}
	return Picture{out, WebP, upright.Rect.Dx(), upright.Rect.Dy()}, nil
}

// Thumbnail decodes a file and returns its pixels, of a GIF those of the first frame, in an image of at most the given size.
// The errors and limits are those of Convert.
func Thumbnail(ctx context.Context, file []byte, width, height int) (*image.RGBA, error) {
	h, err := inspect(file)
	if err != nil {
		return nil, err
	}
	if h.memory > 16<<20 {
		defer debug.FreeOSMemory()
	}
	if h.kind == kindGIF {
		return firstFrame(file, h, width, height)
	}
	return shrink(ctx, h, file, width, height)
}

// shrink decodes a still image and returns it upright and in at most the given size.
func shrink(ctx context.Context, h header, file []byte, width, height int) (*image.RGBA, error) {
	src, err := decode(h.kind, file)
	if err != nil {
		return nil, broken(err)
	}
	b := src.Bounds()
	if b.Dx() != h.width || b.Dy() != h.height {
		return nil, broken(errors.New("its header and pixels differ in size"))
	}
	// The limits apply to the image after its rotation.
	most := image.Pt(width, height)
	if h.orientation >= 5 {
		most = image.Pt(height, width)
	}
	small := scale(src, fit(b.Size(), most), best)
	src = nil
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return orient(small, h.orientation), nil
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

// widen scales planes from the limited range of WebP, 16 to 235 and 16 to 240 (RFC 6386, section 9.2), to the full
// range that image.YCbCr has.
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
	return refused("is damaged or not a readable image: %s", err)
}

// straighten divides the colours of an image by their opacity in place, because WebP needs non-premultiplied colours.
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

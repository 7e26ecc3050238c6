package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
)

const (
	// maxMotion limits the pixels of all frames together. Decoded, each takes a byte, and garbage can take as much again.
	maxMotion = 100_000_000
	// maxGIF limits the size of an encoded GIF, in bytes.
	maxGIF = 20 << 20
)

// inspectGIF counts the frames and sums up their pixels, because gif.DecodeAll allocates all frames and has no limits.
// It skips exactly what gif.DecodeAll skips: otherwise a file could hide frames from it.
func inspectGIF(file []byte) (h header, frames int, ok bool) {
	if len(file) < 13 {
		return h, 0, false
	}
	size := func(b []byte) (w, h int) {
		return int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	}
	h = header{kind: kindGIF, orientation: 1}
	h.width, h.height = size(file[6:])
	at := 13 + colours(file[10])
	for at < len(file) {
		block, rest := file[at], file[at+1:]
		switch {
		case block == 0x3b: // the trailer; bytes after it are ignored
			return h, frames, frames > 0
		case block == 0x21 && len(rest) >= 2: // an extension
			at += 2
			switch rest[0] {
			case 0x01: // text
				at += 13
			case 0xff: // of an application
				at += 1 + int(rest[1])
			}
		case block == 0x2c && len(rest) >= 9: // a frame
			frames++
			w, high := size(rest[4:])
			h.memory += int64(w) * int64(high)
			at += 11 + colours(rest[8])
		default:
			return h, frames, false
		}
		for at < len(file) && file[at] != 0 { // sub-blocks
			at += 1 + int(file[at])
		}
		at++
	}
	return h, frames, false
}

// colours returns the size of the colour table that the flags announce, in bytes.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// firstFrame returns the first frame of a GIF in at most the given size.
func firstFrame(file []byte, h header, width, height int) (*image.RGBA, error) {
	m, err := gif.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, broken(err)
	}
	canvas := image.Pt(h.width, h.height)
	out := image.NewRGBA(image.Rectangle{Max: fit(canvas, image.Pt(width, height))})
	r := place(m.Bounds(), canvas, out.Rect.Max)
	draw.Draw(out, r, scale(m, r.Size(), quick), image.Point{}, draw.Src)
	return out, nil
}

// convertGIF scales each frame and encodes all of them again. Frames keep their palettes, delays and disposal.
func convertGIF(ctx context.Context, file []byte) (Picture, error) {
	g, err := gif.DecodeAll(bytes.NewReader(file))
	if err != nil {
		return Picture{}, broken(err)
	}
	canvas := image.Pt(g.Config.Width, g.Config.Height)
	size := fit(canvas, image.Pt(MaxWidth, MaxHeight))
	g.Config.Width, g.Config.Height = size.X, size.Y
	for i, m := range g.Image {
		if err := ctx.Err(); err != nil {
			return Picture{}, err
		}
		if size != canvas {
			g.Image[i] = scaleFrame(m, place(m.Rect, canvas, size))
		}
	}
	out := gifOutput{ctx: ctx}
	if err := gif.EncodeAll(&out, g); err != nil {
		return Picture{}, fmt.Errorf("encode GIF: %w", err)
	}
	return Picture{out.Bytes(), GIF, size.X, size.Y}, nil
}

// gifOutput is a buffer that refuses too many bytes, and ends with its context.
type gifOutput struct {
	bytes.Buffer
	ctx context.Context
}

func (o *gifOutput) Write(b []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if o.Len()+len(b) > maxGIF {
		return 0, refused("would be larger than %d MiB", maxGIF>>20)
	}
	return o.Buffer.Write(b)
}

// place returns the pixels of a scaled canvas that a frame covers, if only in part.
func place(r image.Rectangle, canvas, size image.Point) image.Rectangle {
	return image.Rect(r.Min.X*size.X/canvas.X, r.Min.Y*size.Y/canvas.Y,
		(r.Max.X*size.X+canvas.X-1)/canvas.X, (r.Max.Y*size.Y+canvas.Y-1)/canvas.Y)
}

// scaleFrame scales a frame with the colours of its palette. A pixel that is transparent in part becomes opaque: frames
// of animations have only the pixels that change, so a pixel that stays clear would show a trace of earlier frames.
func scaleFrame(m *image.Paletted, to image.Rectangle) *image.Paletted {
	small, out := scale(m, to.Size(), quick), image.NewPaletted(to, m.Palette)
	known := map[[4]byte]uint8{} // a search in the palette takes long
	for i := range out.Pix {
		p := [4]byte(small.Pix[4*i:])
		index, ok := known[p]
		if !ok {
			c := color.NRGBAModel.Convert(color.RGBA{p[0], p[1], p[2], p[3]}).(color.NRGBA)
			if c.A > 0 {
				c.A = 255
			}
			index = uint8(m.Palette.Index(c))
			known[p] = index
		}
		out.Pix[i] = index
	}
	return out
}

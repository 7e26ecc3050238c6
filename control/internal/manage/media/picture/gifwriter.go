package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
)

// maxGIF limits the size of an encoded GIF, in bytes.
const maxGIF = 20 << 20

// gifWriter encodes an animation one frame at a time: gif.EncodeAll wants all frames at once, which for 500 frames is
// more memory than an upload may use. Each frame is encoded by image/gif as a GIF of its own, and its blocks are
// appended to the output. Frames are full pictures. If none has transparent pixels, only the changed rectangle is
// stored.
type gifWriter struct {
	out   bytes.Buffer
	size  image.Point
	holes bool // some frame has transparent pixels; set before the first call of add
	last  *image.RGBA
}

// A GIF without a global colour table has a header of fixed length, then its frames, then a trailer of one byte.
const (
	gifHeader  = 13
	gifTrailer = 0x3b
)

func newGIFWriter(size image.Point, loops int, moves bool) *gifWriter {
	w := &gifWriter{size: size}
	le := binary.LittleEndian
	b := append(le.AppendUint16(le.AppendUint16([]byte("GIF89a"), uint16(size.X)), uint16(size.Y)), 0, 0, 0)
	if moves && loops >= 0 {
		b = append(le.AppendUint16(append(b, "\x21\xff\x0bNETSCAPE2.0\x03\x01"...), uint16(loops)), 0)
	}
	w.out.Write(b)
	return w
}

// add appends a frame. The writer keeps m to compare the next frame with it.
func (w *gifWriter) add(m *image.RGBA, delay uint16) error {
	rect, disposal := m.Rect, byte(gif.DisposalBackground)
	if !w.holes {
		rect, disposal = w.changed(m), gif.DisposalNone
	}
	var one bytes.Buffer
	err := gif.EncodeAll(&one, &gif.GIF{
		Image: []*image.Paletted{w.paint(m, rect)}, Delay: []int{int(delay)}, Disposal: []byte{disposal},
		Config: image.Config{Width: w.size.X, Height: w.size.Y},
	})
	if err != nil {
		return fmt.Errorf("encode GIF: %w", err)
	}
	w.last = m
	w.out.Write(one.Bytes()[gifHeader : one.Len()-1])
	if w.out.Len() > maxGIF {
		return refused("would be larger than %d MiB", maxGIF>>20)
	}
	return nil
}

func (w *gifWriter) finish() []byte {
	w.out.WriteByte(gifTrailer)
	return w.out.Bytes()
}

// changed returns the smallest rectangle that contains all pixels that differ from the last frame, or one pixel if none
// does.
func (w *gifWriter) changed(m *image.RGBA) image.Rectangle {
	if w.last == nil {
		return m.Rect
	}
	var r image.Rectangle
	for y := range m.Rect.Dy() {
		row, old := m.Pix[y*m.Stride:][:4*m.Rect.Dx()], w.last.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		if bytes.Equal(row, old) {
			continue
		}
		left, right := 0, len(row)
		for row[left] == old[left] {
			left++
		}
		for row[right-1] == old[right-1] {
			right--
		}
		r = r.Union(image.Rect(left/4, y, (right-1)/4+1, y+1))
	}
	if r.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return r
}

// paint reduces part of a frame to at most 256 colours. Transparent pixels, and pixels that equal the last frame's
// where that frame stays visible, get a transparent colour of their own, which is the last of the palette.
func (w *gifWriter) paint(m *image.RGBA, rect image.Rectangle) *image.Paletted {
	pix := make([]byte, 0, 4*rect.Dx()*rect.Dy()) // the other pixels
	clear := make([]bool, 0, rect.Dx()*rect.Dy())
	for y := rect.Min.Y; y < rect.Max.Y; y++ {
		for x := rect.Min.X; x < rect.Max.X; x++ {
			p := [4]byte(m.Pix[y*m.Stride+4*x:][:4])
			c := w.holes && p[3] < 128 || !w.holes && w.last != nil && p == [4]byte(w.last.Pix[y*m.Stride+4*x:][:4])
			if clear = append(clear, c); !c {
				p = solid(p)
				pix = append(pix, p[:]...)
			}
		}
	}
	palette, indices := quantize(pix, 255)
	out := &image.Paletted{Pix: make([]byte, len(clear)), Stride: rect.Dx(), Rect: rect, Palette: palette}
	if len(indices) < len(clear) {
		out.Palette = append(out.Palette, color.RGBA{})
	}
	for i, c := range clear {
		if c {
			out.Pix[i] = byte(len(out.Palette) - 1)
		} else {
			out.Pix[i], indices = indices[0], indices[1:]
		}
	}
	return out
}

// solid removes the opacity of a pixel, because GIF has none.
func solid(p [4]byte) [4]byte {
	if a := uint32(p[3]); a < 255 {
		for i := range 3 {
			p[i] = byte(min(255, uint32(p[i])*255/a))
		}
		p[3] = 255
	}
	return p
}

package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/draw"
	"image/gif"
)

// maxMotion limits the pixels of all frames together. Each frame counts as large as the canvas, because it is drawn,
// scaled and encoded in that size.
const maxMotion = 128_000_000

// How a frame is disposed of before the next one is drawn.
const (
	disposeNone       = 1
	disposeBackground = 2
	disposePrevious   = 3
)

// frame is an encoded frame of a GIF.
type frame struct {
	rect        image.Rectangle
	block       []byte // from the image descriptor to the end of the data
	delay       uint16 // hundredths of a second
	disposal    uint8
	transparent int // index of the transparent colour, or -1
}

// movie is a GIF, split into its frames (GIF89a specification, W3C).
type movie struct {
	size   image.Point
	head   []byte // the screen descriptor and the global colour table
	frames []frame
	loops  int // repetitions; 0 repeats forever, -1 plays once
	area   int // pixels of all frames
}

func inspectGIF(file []byte) (header, bool) {
	if len(file) < 13 {
		return header{}, false
	}
	h := header{kind: kindGIF, width: int(binary.LittleEndian.Uint16(file[6:])), height: int(binary.LittleEndian.Uint16(file[8:])), orientation: 1}
	return h, true // split computes the memory
}

// split finds the frames without decoding them, so that the limits on frames and pixels apply before memory is
// allocated. gif.DecodeAll has no such limits, and holds all frames in memory at the same time.
func split(file []byte) (*movie, error) {
	cut := refused("is damaged or not a readable image: it is truncated")
	if len(file) < 13 {
		return nil, cut
	}
	m := &movie{size: image.Pt(int(binary.LittleEndian.Uint16(file[6:])), int(binary.LittleEndian.Uint16(file[8:]))), loops: -1}
	at := 13 + colours(file[10])
	if at > len(file) {
		return nil, cut
	}
	m.head = file[6:at]
	next := frame{transparent: -1}
	for {
		if at >= len(file) {
			return nil, cut
		}
		switch block := file[at]; block {
		case 0x3b: // the trailer; bytes after it are ignored
			if len(m.frames) == 0 {
				return nil, refused("is damaged or not a readable image: it has no frame")
			}
			return m, nil
		case 0x21:
			body, end := subBlocks(file, at+2)
			if end < 0 {
				return nil, cut
			}
			switch label := file[at+1]; {
			case label == 0xf9 && len(body) >= 4:
				next.disposal, next.delay, next.transparent = body[0]>>2&7, binary.LittleEndian.Uint16(body[1:]), -1
				if body[0]&1 != 0 {
					next.transparent = int(body[3])
				}
			case label == 0xff && len(body) >= 14 && string(body[:11]) == "NETSCAPE2.0" && body[11] == 1:
				m.loops = int(binary.LittleEndian.Uint16(body[12:]))
			}
			at = end
		case 0x2c:
			if at+11 > len(file) {
				return nil, cut
			}
			x, y := int(binary.LittleEndian.Uint16(file[at+1:])), int(binary.LittleEndian.Uint16(file[at+3:]))
			next.rect = image.Rect(x, y, x+int(binary.LittleEndian.Uint16(file[at+5:])), y+int(binary.LittleEndian.Uint16(file[at+7:])))
			if next.rect.Empty() || !next.rect.In(image.Rectangle{Max: m.size}) {
				return nil, refused("is damaged or not a readable image: a frame is outside the canvas")
			}
			_, end := subBlocks(file, at+11+colours(file[at+9]))
			if end < 0 {
				return nil, cut
			}
			next.block = file[at:end]
			m.frames = append(m.frames, next)
			next, at = frame{transparent: -1}, end
			m.area += m.size.X * m.size.Y
			switch {
			case len(m.frames) > MaxFrames:
				return nil, refused("has more than %d frames", MaxFrames)
			case len(m.frames) > 1 && m.area > maxMotion:
				return nil, refused("has more than %d megapixels in all frames together", maxMotion/1_000_000)
			}
		default:
			return nil, refused("is damaged or not a readable image: it has a block of an unknown kind")
		}
	}
}

// colours returns the size of the colour table that the flags announce, in bytes.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// subBlocks finds the end of a sequence of sub-blocks, -1 if there is none. body has its first bytes, at least 16 if
// there are as many, which is enough to read an extension.
func subBlocks(file []byte, at int) (body []byte, end int) {
	for {
		if at >= len(file) {
			return nil, -1
		}
		n := int(file[at])
		at++
		if n == 0 {
			return body, at
		}
		if at+n > len(file) {
			return nil, -1
		}
		if len(body) < 16 {
			body = append(body, file[at:at+n]...)
		}
		at += n
	}
}

// image decodes one frame, as a GIF of its own, so that only one decoded frame is in memory.
func (m *movie) image(f *frame) (*image.Paletted, error) {
	var b bytes.Buffer
	b.WriteString("GIF89a")
	b.Write(m.head)
	if f.transparent >= 0 {
		b.Write([]byte{0x21, 0xf9, 4, 1, 0, 0, byte(f.transparent), 0})
	}
	b.Write(f.block)
	b.WriteByte(0x3b)
	img, err := gif.Decode(&b)
	if err != nil {
		return nil, broken(err)
	}
	return img.(*image.Paletted), nil
}

// holes reports whether a displayed frame can have transparent pixels. opaque reports whether the first one has none.
func (m *movie) holes(opaque bool) bool {
	if !opaque || m.frames[0].disposal == disposePrevious {
		return true
	}
	for _, f := range m.frames {
		if f.disposal == disposeBackground {
			return true
		}
	}
	return false
}

// memory estimates the memory that drawing the frames takes, in bytes.
func (m *movie) memory() int64 {
	n := 4 * int64(m.size.X) * int64(m.size.Y)
	var largest int64
	for _, f := range m.frames {
		area := int64(f.rect.Dx()) * int64(f.rect.Dy())
		each := 2 * area // an interlaced frame is copied to sort its rows
		if f.disposal == disposePrevious {
			each += 4 * area
		}
		largest = max(largest, each)
	}
	return n + largest
}

// firstFrame returns the first frame of a GIF in at most the given size.
func firstFrame(file []byte, width, height int) (*image.RGBA, error) {
	m, err := split(file)
	if err != nil {
		return nil, err
	}
	if m.memory() > MaxMemory {
		return nil, refused("has too many pixels for its format")
	}
	f := &m.frames[0]
	img, err := m.image(f)
	if err != nil {
		return nil, err
	}
	canvas := image.NewRGBA(image.Rectangle{Max: m.size})
	draw.Draw(canvas, f.rect, img, f.rect.Min, draw.Over)
	return scale(canvas, fit(m.size, image.Pt(width, height)), quick), nil
}

// convertGIF draws each frame as it is displayed, scales it and encodes it.
func convertGIF(ctx context.Context, file []byte) (Picture, error) {
	m, err := split(file)
	if err != nil {
		return Picture{}, err
	}
	if m.memory() > MaxMemory {
		return Picture{}, refused("has too many pixels for its format")
	}
	size := fit(m.size, image.Pt(MaxWidth, MaxHeight))
	out := newGIFWriter(size, m.loops, len(m.frames) > 1)
	canvas := image.NewRGBA(image.Rectangle{Max: m.size})
	for i := range m.frames {
		if err := ctx.Err(); err != nil {
			return Picture{}, err
		}
		f := &m.frames[i]
		img, err := m.image(f)
		if err != nil {
			return Picture{}, err
		}
		var before *image.RGBA
		if f.disposal == disposePrevious {
			before = image.NewRGBA(f.rect)
			draw.Draw(before, f.rect, canvas, f.rect.Min, draw.Src)
		}
		draw.Draw(canvas, f.rect, img, f.rect.Min, draw.Over)
		if i == 0 {
			out.holes = m.holes(canvas.Opaque())
		}
		if err := out.add(scale(canvas, size, quick), f.delay); err != nil {
			return Picture{}, err
		}
		switch f.disposal {
		case disposeBackground:
			draw.Draw(canvas, f.rect, image.Transparent, image.Point{}, draw.Src)
		case disposePrevious:
			draw.Draw(canvas, f.rect, before, f.rect.Min, draw.Src)
		}
	}
	return Picture{out.finish(), GIF, size.X, size.Y}, nil
}

package picture

import (
	"bytes"
	"cmp"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"image"
	"math/bits"
	"slices"
)

// maxGIF bounds what is made, in bytes.
const maxGIF = 20 << 20

// gifWriter writes frames that are given one after the other, each as the whole picture. Where no frame has
// holes, only what has changed is written.
type gifWriter struct {
	out   bytes.Buffer
	size  image.Point
	holes bool // some frame has some; set before the first is added
	last  *image.RGBA
	bins  []bin // of all colours, cut to 5 bits each
}

func newGIFWriter(size image.Point, loops int, moves bool) *gifWriter {
	w := &gifWriter{size: size, bins: make([]bin, 1<<15)}
	w.out.WriteString("GIF89a")
	w.numbers(size.X, size.Y)
	w.out.Write([]byte{0, 0, 0})
	if moves && loops >= 0 {
		w.out.WriteString("\x21\xff\x0bNETSCAPE2.0\x03\x01")
		w.numbers(loops)
		w.out.WriteByte(0)
	}
	return w
}

func (w *gifWriter) numbers(list ...int) {
	for _, n := range list {
		w.out.Write(binary.LittleEndian.AppendUint16(nil, uint16(n)))
	}
}

// add writes a frame; w keeps it.
func (w *gifWriter) add(m *image.RGBA, delay uint16) error {
	rect, disposal := m.Rect, byte(disposeBackground)
	if !w.holes {
		rect, disposal = w.changed(m), disposeNone
	}
	palette, clear, indices := w.paint(m, rect)
	w.last = m

	flags := disposal << 2
	if clear >= 0 {
		flags |= 1
	}
	w.out.Write([]byte{0x21, 0xf9, 4, flags, byte(delay), byte(delay >> 8), byte(max(0, clear)), 0, 0x2c})
	w.numbers(rect.Min.X, rect.Min.Y, rect.Dx(), rect.Dy())
	size := max(1, bits.Len(uint(len(palette)-1))) // bits of an index
	w.out.WriteByte(0x80 | byte(size-1))
	for i := range 1 << size {
		if i < len(palette) {
			w.out.Write(palette[i][:])
		} else {
			w.out.Write([]byte{0, 0, 0})
		}
	}
	width := max(2, size)
	w.out.WriteByte(byte(width))
	var packed bytes.Buffer
	z := lzw.NewWriter(&packed, lzw.LSB, width)
	if _, err := z.Write(indices); err != nil {
		return fmt.Errorf("encode GIF: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("encode GIF: %w", err)
	}
	for part := range slices.Chunk(packed.Bytes(), 255) {
		w.out.WriteByte(byte(len(part)))
		w.out.Write(part)
	}
	w.out.WriteByte(0)
	if w.out.Len() > maxGIF {
		return refused("would be larger than %d MiB", maxGIF>>20)
	}
	return nil
}

func (w *gifWriter) finish() []byte {
	w.out.WriteByte(0x3b)
	return w.out.Bytes()
}

// changed is the smallest rectangle outside of which the frame is like the last one: one pixel if nothing is new.
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

// paint gives a part of a frame a palette of at most 256 colours. clear is the index of the transparent one, which
// stands for holes or for what is like in the last frame, or -1.
func (w *gifWriter) paint(m *image.RGBA, rect image.Rectangle) (palette [][3]byte, clear int, indices []byte) {
	clear = -1
	indices = make([]byte, 0, rect.Dx()*rect.Dy())
	keep := func(y int, x int, p [4]byte) bool {
		if w.holes {
			return p[3] < 128
		}
		return w.last != nil && p == [4]byte(w.last.Pix[y*m.Stride+4*x:][:4])
	}
	each := func(f func(p [4]byte, clear bool) bool) bool {
		for y := rect.Min.Y; y < rect.Max.Y; y++ {
			for x := rect.Min.X; x < rect.Max.X; x++ {
				p := [4]byte(m.Pix[y*m.Stride+4*x:][:4])
				kept := keep(y, x, p)
				if w.holes && !kept && p[3] < 255 {
					p = solid(p)
				}
				if !f(p, kept) {
					return false
				}
			}
		}
		return true
	}

	exact := map[[3]byte]byte{}
	var last [3]byte
	seen, cleared := false, false
	few := each(func(p [4]byte, kept bool) bool {
		if kept {
			cleared = true
			return true
		}
		if c := [3]byte(p[:3]); !seen || c != last {
			last, seen = c, true
			if _, ok := exact[c]; !ok {
				if len(exact) == 255 {
					return false
				}
				exact[c] = byte(len(palette))
				palette = append(palette, c)
			}
		}
		return true
	})
	index := func(c [3]byte) byte { return exact[c] }
	if !few {
		for i := range w.bins {
			w.bins[i] = bin{}
		}
		each(func(p [4]byte, kept bool) bool {
			cleared = cleared || kept
			if !kept {
				w.bins[coarse([3]byte(p[:3]))].count([3]byte(p[:3]))
			}
			return true
		})
		palette = medianCut(w.bins, 255)
		index = func(c [3]byte) byte { return w.bins[coarse(c)].index }
	}
	if cleared || len(palette) == 0 {
		clear = len(palette)
		palette = append(palette, [3]byte{})
	}
	var lastIndex byte
	seen = false
	each(func(p [4]byte, kept bool) bool {
		if kept {
			indices = append(indices, byte(clear))
			return true
		}
		if c := [3]byte(p[:3]); !seen || c != last {
			last, lastIndex, seen = c, index(c), true
		}
		indices = append(indices, lastIndex)
		return true
	})
	return palette, clear, indices
}

// solid is a pixel's colour without its opacity, which GIF doesn't have.
func solid(p [4]byte) [4]byte {
	a := uint32(p[3])
	for i := range 3 {
		p[i] = byte(min(255, uint32(p[i])*255/a))
	}
	return p
}

// bin counts colours that are alike.
type bin struct {
	n, r, g, b uint32
	index      byte // of the palette's colour that stands for it
}

func coarse(c [3]byte) int { return int(c[0]>>3)<<10 | int(c[1]>>3)<<5 | int(c[2]>>3) }

func (b *bin) count(c [3]byte) {
	b.n++
	b.r += uint32(c[0])
	b.g += uint32(c[1])
	b.b += uint32(c[2])
}

// medianCut groups the bins that are in use into at most n groups, cutting always where most pixels differ most
// (Heckbert 1982), and gives each its mean colour.
func medianCut(bins []bin, n int) [][3]byte {
	var all []int
	for i := range bins {
		if bins[i].n > 0 {
			all = append(all, i)
		}
	}
	groups := [][]int{all}
	spread := func(group []int) (axis uint, width int) {
		for _, shift := range []uint{10, 5, 0} {
			low, high := 31, 0
			for _, i := range group {
				v := i >> shift & 31
				low, high = min(low, v), max(high, v)
			}
			if high-low > width {
				axis, width = shift, high-low
			}
		}
		return axis, width
	}
	weigh := func(group []int) (score int) {
		var pixels int
		for _, i := range group {
			pixels += int(bins[i].n)
		}
		_, width := spread(group)
		return pixels * width
	}
	scores := []int{weigh(all)}
	for len(groups) < n {
		at := 0
		for i := range scores {
			if scores[i] > scores[at] {
				at = i
			}
		}
		if scores[at] == 0 {
			break // every group is one bin
		}
		group := groups[at]
		axis, _ := spread(group)
		slices.SortFunc(group, func(a, b int) int { return cmp.Or(cmp.Compare(a>>axis&31, b>>axis&31), cmp.Compare(a, b)) })
		var pixels, half uint32
		for _, i := range group {
			pixels += bins[i].n
		}
		cut := 0
		for cut < len(group)-1 && half < (pixels+1)/2 {
			half += bins[group[cut]].n
			cut++
		}
		groups[at], groups = group[:cut], append(groups, group[cut:])
		scores[at] = weigh(groups[at])
		scores = append(scores, weigh(group[cut:]))
	}
	palette := make([][3]byte, len(groups))
	for g, group := range groups {
		var sum bin
		for _, i := range group {
			sum.n, sum.r, sum.g, sum.b = sum.n+bins[i].n, sum.r+bins[i].r, sum.g+bins[i].g, sum.b+bins[i].b
			bins[i].index = byte(g)
		}
		palette[g] = [3]byte{byte(sum.r / sum.n), byte(sum.g / sum.n), byte(sum.b / sum.n)}
	}
	return palette
}

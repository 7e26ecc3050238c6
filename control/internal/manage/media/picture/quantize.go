package picture

import (
	"cmp"
	"image/color"
	"slices"
)

// quantize maps opaque RGBA pixels to a palette of at most n colours, and returns the palette and each pixel's index.
// At most n colours are kept exactly; more are reduced by median cut (Heckbert 1982) over 5 bits of each channel.
func quantize(pix []byte, n int) (color.Palette, []byte) {
	indices := make([]byte, 0, len(pix)/4)
	if palette, ok := keepColours(pix, n, &indices); ok {
		return palette, indices
	}
	bins := make([]bin, 1<<15)
	for p := range slices.Chunk(pix, 4) {
		b := &bins[binOf(p)]
		b.add(bin{n: 1, r: uint32(p[0]), g: uint32(p[1]), b: uint32(p[2])})
	}
	palette := medianCut(bins, n)
	indices = indices[:0]
	for p := range slices.Chunk(pix, 4) {
		indices = append(indices, bins[binOf(p)].index)
	}
	return palette, indices
}

// keepColours appends the indices of the pixels. It returns false if they have more than n colours.
func keepColours(pix []byte, n int, indices *[]byte) (palette color.Palette, ok bool) {
	known := map[[4]byte]byte{}
	var last [4]byte // most neighbours have the same colour
	var index byte
	for p := range slices.Chunk(pix, 4) {
		if c := [4]byte(p); c != last || len(palette) == 0 {
			if index, ok = known[c]; !ok {
				if len(palette) == n {
					return nil, false
				}
				index = byte(len(palette))
				known[c], palette = index, append(palette, color.RGBA{c[0], c[1], c[2], 255})
			}
			last = c
		}
		*indices = append(*indices, index)
	}
	return palette, true
}

// bin sums up the pixels whose colours have the same upper 5 bits in each channel.
type bin struct {
	n, r, g, b uint32
	index      byte // of the palette colour that replaces these pixels
}

func binOf(p []byte) int { return int(p[0]>>3)<<10 | int(p[1]>>3)<<5 | int(p[2]>>3) }

func (b *bin) add(o bin) { b.n, b.r, b.g, b.b = b.n+o.n, b.r+o.r, b.g+o.g, b.b+o.b }

// box is a set of bins that becomes one colour of the palette.
type box struct {
	bins  []int // numbers of bins
	axis  uint  // shift of the channel in which the bins differ most
	score int   // pixels times that difference; 0 if there is only one bin
}

func newBox(bins []bin, members []int) box {
	b := box{bins: members}
	width, pixels := 0, 0
	for _, axis := range []uint{10, 5, 0} {
		low, high := 31, 0
		for _, i := range members {
			v := i >> axis & 31
			low, high = min(low, v), max(high, v)
		}
		if high-low > width {
			b.axis, width = axis, high-low
		}
	}
	for _, i := range members {
		pixels += int(bins[i].n)
	}
	b.score = pixels * width
	return b
}

// split cuts the box in two, each with about half of the pixels.
func (b box) split(bins []bin) (box, box) {
	slices.SortFunc(b.bins, func(x, y int) int { return cmp.Or(cmp.Compare(x>>b.axis&31, y>>b.axis&31), cmp.Compare(x, y)) })
	var pixels, below uint32
	for _, i := range b.bins {
		pixels += bins[i].n
	}
	cut := 0
	for cut < len(b.bins)-1 && below < (pixels+1)/2 {
		below += bins[b.bins[cut]].n
		cut++
	}
	return newBox(bins, b.bins[:cut]), newBox(bins, b.bins[cut:])
}

// medianCut splits the box with the highest score until there are n boxes. Each box's mean becomes a colour, and its
// bins get the colour's index.
func medianCut(bins []bin, n int) color.Palette {
	var used []int
	for i := range bins {
		if bins[i].n > 0 {
			used = append(used, i)
		}
	}
	boxes := []box{newBox(bins, used)}
	for len(boxes) < n {
		at := 0
		for i := range boxes {
			if boxes[i].score > boxes[at].score {
				at = i
			}
		}
		if boxes[at].score == 0 {
			break
		}
		low, high := boxes[at].split(bins)
		boxes[at] = low
		boxes = append(boxes, high)
	}
	palette := make(color.Palette, len(boxes))
	for i, b := range boxes {
		var sum bin
		for _, at := range b.bins {
			sum.add(bins[at])
			bins[at].index = byte(i)
		}
		palette[i] = color.RGBA{byte(sum.r / sum.n), byte(sum.g / sum.n), byte(sum.b / sum.n), 255}
	}
	return palette
}

package picture

import (
	"slices"
	"testing"
)

// The palette of an image of many colours has no unused and no repeated entry, and no pixel changes by more than a cut
// of a channel into bins and boxes explains.
func TestQuantize_uses_the_whole_palette(t *testing.T) {
	t.Parallel()
	var pix []byte
	for r := range 64 {
		for g := range 64 {
			pix = append(pix, byte(r*4), byte(g*4), byte(255-2*r-2*g), 255)
		}
	}
	palette, indices := quantize(pix, 255)
	if len(palette) != 255 || len(indices) != 64*64 {
		t.Fatalf("%d colours, %d indices", len(palette), len(indices))
	}
	used := map[any]int{}
	var off int
	for i, index := range indices {
		used[palette[index]]++
		r, g, b, _ := palette[index].RGBA()
		for c, v := range []uint32{r, g, b} {
			d := int(v>>8) - int(pix[4*i+c])
			off = max(off, d, -d)
		}
	}
	if len(used) != 255 {
		t.Errorf("%d colours are used", len(used))
	}
	if off > 16 {
		t.Errorf("a channel is off by %d", off)
	}
}

func TestQuantize_keeps_few_colours(t *testing.T) {
	t.Parallel()
	var pix []byte
	for i := range 510 { // the shades differ in one channel only, twice each
		pix = append(pix, byte(i/2), 0, 0, 255)
	}
	palette, indices := quantize(pix, 255)
	if len(palette) != 255 || slices.Max(indices) != 254 {
		t.Fatalf("%d colours, largest index %d", len(palette), slices.Max(indices))
	}
	for i, index := range indices {
		if r, _, _, _ := palette[index].RGBA(); byte(r>>8) != pix[4*i] {
			t.Fatalf("pixel %d is %d, want %d", i, r>>8, pix[4*i])
		}
	}
}

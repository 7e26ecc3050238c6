package picture

import (
	"image"
	"image/draw"

	scaler "golang.org/x/image/draw"
)

// The scalers: best for single images, and quick for GIFs of hundreds of frames.
var (
	best  scaler.Scaler = scaler.CatmullRom
	quick scaler.Scaler = scaler.ApproxBiLinear
)

// fit returns the largest size with the same aspect ratio that is within most and not larger than size.
func fit(size, most image.Point) image.Point {
	w, h := size.X, size.Y
	if w <= most.X && h <= most.Y {
		return size
	}
	if int64(w)*int64(most.Y) > int64(h)*int64(most.X) {
		return image.Pt(most.X, max(1, int((int64(h)*int64(most.X)+int64(w)/2)/int64(w))))
	}
	return image.Pt(max(1, int((int64(w)*int64(most.Y)+int64(h)/2)/int64(h))), most.Y)
}

// scale returns a copy of an image in another size, with its corner at 0, 0. It averages pixels first if the image
// becomes much smaller, because the best scaler takes 32 bytes per pixel between its two passes.
func scale(src image.Image, size image.Point, with scaler.Scaler) *image.RGBA {
	b := src.Bounds()
	if kx, ky := b.Dx()/size.X, b.Dy()/size.Y; kx > 1 || ky > 1 {
		src = average(src, image.Pt(b.Dx()/max(1, kx), b.Dy()/max(1, ky)))
		b = src.Bounds()
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	if b.Size() == size {
		draw.Draw(out, out.Rect, src, b.Min, draw.Src)
	} else {
		with.Scale(out, out.Rect, src, b, scaler.Src, nil)
	}
	return out
}

// average shrinks an image. Each pixel becomes the mean of the pixels that it replaces. It reads a few rows at a time.
func average(src image.Image, size image.Point) *image.RGBA {
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	out := image.NewRGBA(image.Rectangle{Max: size})
	rows := image.NewRGBA(image.Rect(0, 0, w, h/size.Y+1))
	for y := range size.Y {
		top, bottom := y*h/size.Y, (y+1)*h/size.Y
		draw.Draw(rows, image.Rect(0, 0, w, bottom-top), src, image.Pt(b.Min.X, b.Min.Y+top), draw.Src)
		for x := range size.X {
			left, right := x*w/size.X, (x+1)*w/size.X
			var sum [4]uint64
			for row := range bottom - top {
				for _, p := range chunk4(rows.Pix[row*rows.Stride+4*left : row*rows.Stride+4*right]) {
					sum[0] += uint64(p[0])
					sum[1] += uint64(p[1])
					sum[2] += uint64(p[2])
					sum[3] += uint64(p[3])
				}
			}
			n := uint64((bottom - top) * (right - left))
			to := out.Pix[y*out.Stride+4*x:]
			for c := range sum {
				to[c] = uint8((sum[c] + n/2) / n)
			}
		}
	}
	return out
}

// chunk4 iterates over pixels.
func chunk4(pix []byte) func(func(int, [4]byte) bool) {
	return func(yield func(int, [4]byte) bool) {
		for i := 0; i+4 <= len(pix); i += 4 {
			if !yield(i/4, [4]byte(pix[i:i+4])) {
				return
			}
		}
	}
}

// orient rotates and mirrors an image so that it is upright. how is the orientation in EXIF.
func orient(m *image.RGBA, how int) *image.RGBA {
	if how <= 1 {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	size := image.Pt(w, h)
	if how >= 5 {
		size = image.Pt(h, w)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sx, sy int
			switch how {
			case 2:
				sx, sy = w-1-x, y
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sx, sy = x, h-1-y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, h-1-x
			case 7:
				sx, sy = w-1-y, h-1-x
			case 8:
				sx, sy = w-1-y, x
			}
			copy(out.Pix[y*out.Stride+4*x:][:4], m.Pix[sy*m.Stride+4*sx:])
		}
	}
	return out
}

package picture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"runtime"
	"testing"

	libwebp "github.com/chai2010/webp"
	scaler "golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func convert(t testing.TB, file []byte) picture.Picture {
	t.Helper()
	p, err := picture.Convert(t.Context(), file)
	testkit.Must(t, err)
	return p
}

// look decodes a converted image, and fails if its format or size is wrong.
func look(t testing.TB, p picture.Picture) image.Image {
	t.Helper()
	if p.Ext != picture.WebP {
		t.Fatalf("a %s", p.Ext)
	}
	if _, err := webp.Decode(bytes.NewReader(p.Bytes)); err != nil { // a second decoder
		t.Fatal(err)
	}
	m, err := libwebp.Decode(bytes.NewReader(p.Bytes))
	testkit.Must(t, err)
	if straight, ok := m.(*image.RGBA); ok { // the decoder returns non-premultiplied colours, although the type says otherwise
		m = &image.NRGBA{Pix: straight.Pix, Stride: straight.Stride, Rect: straight.Rect}
	}
	if m.Bounds() != image.Rect(0, 0, p.Width, p.Height) {
		t.Fatalf("made %v, says %d by %d", m.Bounds(), p.Width, p.Height)
	}
	return m
}

// near reports whether two colours are almost equal.
func near(a, b color.Color) bool { return within(a, b, 14) }

func within(a, b color.Color, most int) bool {
	x, y := color.NRGBAModel.Convert(a).(color.NRGBA), color.NRGBAModel.Convert(b).(color.NRGBA)
	d := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return d(x.A, y.A) < 12 && (x.A < 12 || d(x.R, y.R) <= most && d(x.G, y.G) <= most && d(x.B, y.B) <= most)
}

// wantCorners fails if the quarters of an image have other colours.
func wantCorners(t testing.TB, m image.Image, c ...color.NRGBA) {
	t.Helper()
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	for i, at := range []image.Point{{w / 4, h / 4}, {w * 3 / 4, h / 4}, {w / 4, h * 3 / 4}, {w * 3 / 4, h * 3 / 4}} {
		if got := m.At(at.X, at.Y); !near(got, c[i]) {
			t.Errorf("quarter %d is %v, want %v", i, color.NRGBAModel.Convert(got), c[i])
		}
	}
}

func TestConvert_sizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, toW, toH int }{
		{1, 1, 1, 1}, {40, 30, 40, 30}, {1200, 630, 1200, 630}, {1201, 630, 1200, 629}, {1200, 631, 1198, 630}, {2400, 1260, 1200, 630},
		{4000, 100, 1200, 30}, {100, 4000, 16, 630},
		{1500, 1500, 630, 630}, {1900, 900, 1200, 568}, {20000, 1, 1200, 1}, {1, 20000, 1, 630}, {2001, 1499, 841, 630},
	} {
		t.Run(fmt.Sprintf("%dx%d", c.w, c.h), func(t *testing.T) {
			t.Parallel()
			for name, file := range map[string][]byte{"png": asPNG(four(c.w, c.h)), "jpeg": asJPEG(four(c.w, c.h))} {
				p := convert(t, file)
				m := look(t, p)
				if p.Width != c.toW || p.Height != c.toH {
					t.Errorf("%s: %d by %d, want %d by %d", name, p.Width, p.Height, c.toW, c.toH)
				}
				if c.toW > 20 && c.toH > 20 {
					wantCorners(t, m, red, green, blue, yellow)
				}
			}
		})
	}
}

func TestConvert_kinds_of_pixels(t *testing.T) {
	t.Parallel()
	src := four(64, 64)
	as := func(m draw.Image) image.Image { draw.Draw(m, m.Bounds(), src, image.Point{}, draw.Src); return m }
	r := image.Rect(0, 0, 64, 64)
	for name, file := range map[string][]byte{
		"palette":    asPNG(as(image.NewPaletted(r, color.Palette{red, green, blue, yellow}))),
		"deep":       asPNG(as(image.NewNRGBA64(r))),
		"opaque":     asPNG(as(image.NewRGBA(r))),
		"webp":       asWebP(t, src),
		"jpeg":       asJPEG(src),
		"webp, long": extended(asWebP(t, src), 64, 64, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantCorners(t, look(t, convert(t, file)), red, green, blue, yellow)
		})
	}
	grey := color.NRGBA{128, 128, 128, 255}
	wantCorners(t, look(t, convert(t, asPNG(corners(64, 64, grey, grey, grey, grey)))), grey, grey, grey, grey)
}

func TestConvert_keeps_transparency(t *testing.T) {
	t.Parallel()
	clear, half := color.NRGBA{}, color.NRGBA{200, 40, 90, 128}
	for _, size := range []int{64, 1300} {
		m := look(t, convert(t, asPNG(corners(size, size, red, clear, half, green))))
		wantCorners(t, m, red, clear, half, green)
	}
}

func TestConvert_turns_images_upright(t *testing.T) {
	t.Parallel()
	// The displayed corners, in the order top left, top right, bottom left, bottom right, of an image that is stored as
	// a, b, c, d.
	seen := map[int]string{0: "abcd", 1: "abcd", 2: "badc", 3: "dcba", 4: "cdab", 5: "acbd", 6: "cadb", 7: "dbca", 8: "bdac", 9: "abcd"}
	colours := map[rune]color.NRGBA{'a': red, 'b': green, 'c': blue, 'd': yellow}
	for how, want := range seen {
		for _, size := range []image.Point{{80, 40}, {1300, 650}} {
			src := four(size.X, size.Y)
			for name, file := range map[string][]byte{
				"jpeg":          withSegment(asJPEG(src), 0xe1, append([]byte("Exif\x00\x00"), exif(binary.BigEndian, how)...)),
				"little endian": withSegment(asJPEG(src), 0xe1, append([]byte("Exif\x00\x00"), exif(binary.LittleEndian, how)...)),
				"png":           withChunk(asPNG(src), "eXIf", exif(binary.LittleEndian, how)),
			} {
				if size.X > 80 && name != "jpeg" && testkit.Size(true, false) {
					continue // make proof also converts large pictures of the other kinds
				}
				t.Run(fmt.Sprintf("%d %s %d", how, name, size.X), func(t *testing.T) {
					t.Parallel()
					p := convert(t, file)
					var c []color.NRGBA
					for _, r := range want {
						c = append(c, colours[r])
					}
					wantCorners(t, look(t, p), c...)
					w, h := size.X, size.Y
					if how >= 5 && how <= 8 {
						w, h = h, w
					}
					if size.X == 80 && (p.Width != w || p.Height != h) || p.Width > picture.MaxWidth || p.Height > picture.MaxHeight ||
						size.X == 1300 &&
							p.Width != 1200 && p.Height != 630 {
						t.Errorf("%d by %d", p.Width, p.Height)
					}
				})
			}
		}
	}
	p := convert(t, extended(asWebP(t, four(80, 40)), 80, 40, exif(binary.BigEndian, 6)))
	wantCorners(t, look(t, p), blue, red, yellow, green)
}

func TestConvert_leaves_nothing_but_pixels(t *testing.T) {
	t.Parallel()
	const secret = "GPS 48.8584,2.2945"
	tail := []byte("<script>" + secret + "</script>")
	g := valid(t)["gif"]
	comment := append([]byte{0x21, 0xfe, byte(len(secret))}, append([]byte(secret), 0)...)
	for name, file := range map[string][]byte{
		"jpeg exif": withSegment(asJPEG(four(40, 30)), 0xe1, append(append([]byte("Exif\x00\x00"), exif(binary.BigEndian, 1)...),
			secret...)),
		"jpeg comment":  withSegment(asJPEG(four(40, 30)), 0xfe, []byte(secret)),
		"jpeg profile":  withSegment(asJPEG(four(40, 30)), 0xe2, []byte("ICC_PROFILE\x00"+secret)),
		"png text":      withChunk(asPNG(four(40, 30)), "tEXt", []byte("Comment\x00"+secret)),
		"webp exif":     extended(asWebP(t, four(40, 30)), 40, 30, append(exif(binary.BigEndian, 1), secret...)),
		"jpeg and more": append(asJPEG(four(40, 30)), tail...),
		"png and more":  append(asPNG(four(40, 30)), tail...),
		"gif and more":  append(bytes.Clone(g), tail...),
		"gif comment":   bytes.Join([][]byte{g[:len(g)-1], comment, {0x3b}}, nil),
	} {
		p := convert(t, file)
		for _, s := range []string{secret, "SPY", "Exif", "EXIF", "ICC", "<script"} {
			if !bytes.Contains(file, []byte(secret)) || bytes.Contains(p.Bytes, []byte(s)) {
				t.Errorf("%s: %q is left", name, s)
			}
		}
	}
}

func TestConvert_refuses(t *testing.T) {
	t.Parallel()
	for name, file := range hostile(t) {
		p, err := picture.Convert(t.Context(), file)
		if !problem.Is(err, problem.Invalid) {
			t.Errorf("%s: %d bytes of %s, %v", name, len(p.Bytes), p.Ext, err)
		}
		var e *problem.Error
		if errors.As(err, &e) && (len(e.Fields) != 1 || e.Fields[0].Field != "file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, file := range valid(t) {
		if _, err := picture.Convert(cancelled, file); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its caller has gone: %v", name, err)
		}
	}
}

func TestConvert_takes_no_memory_for_bombs(t *testing.T) {
	for name, file := range bombs() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := picture.Convert(t.Context(), file)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 1<<20 {
			t.Errorf("%s: took %d KiB, %v", name, n>>10, err)
		}
	}
}

// play draws the frames of a GIF like a browser.
func play(t testing.TB, file []byte) (*gif.GIF, []*image.RGBA) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(file))
	testkit.Must(t, err)
	screen := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	var shown []*image.RGBA
	for i, f := range g.Image {
		before := image.NewRGBA(screen.Rect)
		copy(before.Pix, screen.Pix)
		draw.Draw(screen, f.Rect, f, f.Rect.Min, draw.Over)
		now := image.NewRGBA(screen.Rect)
		copy(now.Pix, screen.Pix)
		shown = append(shown, now)
		switch g.Disposal[i] {
		case gif.DisposalBackground:
			draw.Draw(screen, f.Rect, image.Transparent, image.Point{}, draw.Src)
		case gif.DisposalPrevious:
			screen = before
		}
	}
	return g, shown
}

// movie returns a GIF of n frames with a moving box, using the given disposal methods in turn.
func movie(w, h, n, colours int, disposals []byte, firstHasHoles bool) []byte {
	g := &gif.GIF{Config: image.Config{Width: w, Height: h}, LoopCount: 3}
	for i := range n {
		var pal color.Palette
		for c := range colours {
			pal = append(pal, color.RGBA{uint8(c * 7), uint8(i * 40), uint8(255 - c), 255})
		}
		pal = append(pal, color.Transparent)
		g.Config.ColorModel = pal
		r := image.Rect(0, 0, w, h)
		if i > 0 {
			r = image.Rect(i*w/n/2, i*h/n/2, w/2+i*w/n/2, h/2+i*h/n/2)
		}
		m := image.NewPaletted(r, pal)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				c := (x + y*3) % colours
				if (i > 0 || firstHasHoles) && (x/4+y/4)%5 == 0 {
					c = colours
				}
				m.SetColorIndex(x, y, uint8(c))
			}
		}
		g.Image, g.Delay, g.Disposal = append(g.Image, m), append(g.Delay, 3+i), append(g.Disposal, disposals[i%len(disposals)])
	}
	return asGIF(g)
}

func TestConvert_keeps_animations(t *testing.T) {
	t.Parallel()
	const none, background, previous = gif.DisposalNone, gif.DisposalBackground, gif.DisposalPrevious
	for name, c := range map[string]struct {
		disposals []byte
		holes     bool
		colours   int
	}{
		"each on the last one":         {[]byte{none}, false, 40},
		"with holes":                   {[]byte{none}, true, 40},
		"cleared":                      {[]byte{background}, false, 40},
		"taken back":                   {[]byte{none, previous}, false, 40},
		"all ways":                     {[]byte{none, previous, background, previous}, true, 40},
		"taken back from the first on": {[]byte{previous}, false, 40},
		"of many colours":              {[]byte{none, background}, true, 255},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := movie(60, 40, 5, c.colours, c.disposals, c.holes)
			p := convert(t, file)
			if p.Ext != picture.GIF || p.Width != 60 || p.Height != 40 {
				t.Fatalf("%s of %d by %d", p.Ext, p.Width, p.Height)
			}
			was, before := play(t, file)
			is, after := play(t, p.Bytes)
			if len(after) != len(before) || is.LoopCount != was.LoopCount || fmt.Sprint(is.Delay) != fmt.Sprint(was.Delay) {
				t.Fatalf("%d frames, %d loops, %v", len(after), is.LoopCount, is.Delay)
			}
			for i := range before {
				if !bytes.Equal(after[i].Pix, before[i].Pix) {
					t.Errorf("frame %d differs", i)
				}
			}
		})
	}
	for _, way := range [][]byte{{none}, {none, previous}, {none, background}} {
		t.Run(fmt.Sprintf("smaller, way %d", way), func(t *testing.T) {
			t.Parallel()
			file := movie(1500, 700, 4, 40, way, false)
			_, before := play(t, file)
			_, after := play(t, convert(t, file).Bytes)
			for i := range before {
				want := image.NewRGBA(after[i].Rect)
				scaler.CatmullRom.Scale(want, want.Rect, before[i], before[i].Rect, scaler.Src, nil)
				var off float64
				for at, v := range want.Pix {
					now := after[i].Pix[at]
					off += float64(max(now, v) - min(now, v))
				}
				if off /= float64(len(want.Pix)); off > 8 {
					t.Errorf("frame %d differs by %.1f", i, off)
				}
			}
		})
	}
	t.Run("smaller", func(t *testing.T) {
		t.Parallel()
		pal := color.Palette{red, green, blue, yellow}
		g := &gif.GIF{Delay: []int{1, 2, 3}, LoopCount: -1}
		for i := range 3 {
			m := image.NewPaletted(image.Rect(0, 0, 2400, 1300), pal)
			draw.Draw(m, m.Rect, corners(2400, 1300, pal[i].(color.NRGBA), green, blue, yellow), image.Point{}, draw.Src)
			g.Image = append(g.Image, m)
		}
		p := convert(t, asGIF(g))
		is, shown := play(t, p.Bytes)
		if p.Width != 1163 || p.Height != 630 || len(shown) != 3 || is.LoopCount != -1 || is.Config.Width != 1163 {
			t.Fatalf("%d by %d, %d frames, %d loops", p.Width, p.Height, len(shown), is.LoopCount)
		}
		for i := range shown {
			wantCorners(t, shown[i], pal[i].(color.NRGBA), green, blue, yellow)
		}
	})
	t.Run("still", func(t *testing.T) {
		t.Parallel()
		m := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{red, green, blue, yellow})
		draw.Draw(m, m.Rect, four(30, 20), image.Point{}, draw.Src)
		p := convert(t, asGIF(&gif.GIF{Image: []*image.Paletted{m}, Delay: []int{0}}))
		is, shown := play(t, p.Bytes)
		if p.Ext != picture.GIF || len(shown) != 1 || is.LoopCount != -1 {
			t.Fatalf("%s, %d frames, %d loops", p.Ext, len(shown), is.LoopCount)
		}
		wantCorners(t, shown[0], red, green, blue, yellow)
	})
}

func FuzzConvert(f *testing.F) {
	for _, file := range valid(f) {
		f.Add(file)
	}
	for _, file := range bombs() {
		if len(file) < 1000 {
			f.Add(file)
		}
	}
	f.Add(withSegment(asJPEG(four(8, 8)), 0xe1, append([]byte("Exif\x00\x00"), exif(binary.BigEndian, 6)...)))
	f.Add(withChunk(asPNG(four(8, 8)), "eXIf", exif(binary.LittleEndian, 5)))
	f.Add(movie(20, 10, 3, 4, []byte{1, 2, 3}, true))
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := picture.Convert(t.Context(), file)
		if err != nil {
			if !problem.Is(err, problem.Invalid) {
				t.Fatal(err)
			}
			return
		}
		if p.Width < 1 || p.Width > picture.MaxWidth || p.Height < 1 || p.Height > picture.MaxHeight {
			t.Fatalf("%d by %d", p.Width, p.Height)
		}
		if p.Ext == picture.GIF {
			play(t, p.Bytes)
			return
		}
		look(t, p)
	})
}

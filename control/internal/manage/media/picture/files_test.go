package picture_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var (
	red    = color.NRGBA{220, 20, 20, 255}
	green  = color.NRGBA{20, 200, 20, 255}
	blue   = color.NRGBA{20, 20, 220, 255}
	yellow = color.NRGBA{230, 230, 20, 255}
)

// corners returns an image with one colour per quarter: top left, top right, bottom left, bottom right.
func corners(w, h int, c ...color.NRGBA) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			i := 0
			if x >= w/2 {
				i++
			}
			if y >= h/2 {
				i += 2
			}
			m.SetNRGBA(x, y, c[i])
		}
	}
	return m
}

func four(w, h int) *image.NRGBA { return corners(w, h, red, green, blue, yellow) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func asPNG(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func asJPEG(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func asWebP(t testing.TB, m image.Image) []byte {
	t.Helper()
	p, err := picture.Convert(t.Context(), asPNG(m))
	testkit.Must(t, err)
	return p.Bytes
}

func asGIF(g *gif.GIF) []byte {
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// chunk returns a PNG chunk.
func chunk(name string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, name...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// pngOf returns a PNG of zeros in any size, without allocating its pixels.
func pngOf(w, h int, depth, kind byte, bytesPerPixel int, interlaced byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	head = append(head, depth, kind, 0, 0, interlaced)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	row := make([]byte, 1+w*bytesPerPixel)
	for range h {
		_ = must(z.Write(row))
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head)...)
	return append(append(out, chunk("IDAT", packed.Bytes())...), chunk("IEND", nil)...)
}

// exif returns minimal EXIF data with an orientation.
func exif(order binary.AppendByteOrder, how int) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 0x010f) // the camera's maker, within the entry
	b = order.AppendUint16(b, 2)
	b = order.AppendUint32(b, 4)
	b = append(b, "SPY\x00"...)
	b = order.AppendUint16(b, 0x0112)
	b = order.AppendUint16(b, 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, uint16(how))
	b = order.AppendUint16(b, 0)
	return order.AppendUint32(b, 0)
}

// withSegment inserts a segment after the start of a JPEG.
func withSegment(file []byte, marker byte, body []byte) []byte {
	seg := append([]byte{0xff, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))...)
	return bytes.Join([][]byte{file[:2], seg, body, file[2:]}, nil)
}

// withChunk inserts a chunk after the header of a PNG.
func withChunk(file []byte, name string, body []byte) []byte {
	const at = 8 + 25
	return bytes.Join([][]byte{file[:at], chunk(name, body), file[at:]}, nil)
}

// riff returns a WebP file with the chunks.
func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func riffChunk(name string, body []byte) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body))), body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// extended adds EXIF data to a simple WebP file.
func extended(file []byte, w, h int, meta []byte) []byte {
	head := []byte{8, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), 0, byte(h - 1), byte((h - 1) >> 8), 0}
	return riff(riffChunk("VP8X", head), file[12:], riffChunk("EXIF", meta))
}

// bombs returns files whose headers announce far more than they contain.
func bombs() map[string][]byte {
	gifHead := func(w, h uint16) []byte {
		b := binary.LittleEndian.AppendUint16([]byte("GIF89a"), w)
		b = binary.LittleEndian.AppendUint16(b, h)
		return append(b, 0x80, 0, 0, 0, 0, 0, 255, 255, 255)
	}
	gifFrame := func(w, h uint16) []byte {
		b := []byte{0x2c, 0, 0, 0, 0}
		b = binary.LittleEndian.AppendUint16(b, w)
		b = binary.LittleEndian.AppendUint16(b, h)
		return append(b, 0, 2, 2, 0x4c, 1, 0)
	}
	pngHead := func(w, h uint32, rest ...byte) []byte {
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
		file := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, rest...))...)
		return append(append(file, chunk("IDAT", []byte{0x78, 0x9c, 1, 0, 0, 0xff, 0xff})...), chunk("IEND", nil)...)
	}
	jpegHead := func(marker byte, w, h uint16) []byte {
		b := append([]byte{0xff, 0xd8, 0xff, marker, 0, 17, 8}, binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, h), w)...)
		b = append(b, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)
		return append(b, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0, 0, 0xff, 0xd9)
	}
	many := gifHead(1, 1)
	for range picture.MaxFrames + 1 {
		many = append(many, gifFrame(1, 1)...)
	}
	long := gifHead(1000, 1000)
	for range 200 {
		long = append(long, gifFrame(1000, 1000)...)
	}
	// image/gif skips 13 bytes of a text and the whole name of an application, which may look like the end of the file.
	start, rest := append(gifHead(1000, 1000), gifFrame(1, 1)...), long[len(gifHead(0, 0)):]
	behindText := slices.Concat(start, []byte{0x21, 1, 0, 0x3b}, make([]byte, 12), rest)
	behindName := slices.Concat(start, []byte{0x21, 0xff, 0, 0x3b}, make([]byte, 0x3b+1), rest)
	return map[string][]byte{
		"gif of 4 gigapixels":          append(append(gifHead(65535, 65535), gifFrame(65535, 65535)...), 0x3b),
		"gif with a frame of them":     append(append(gifHead(10, 10), gifFrame(65535, 65535)...), 0x3b),
		"gif of 51 megapixels":         append(append(gifHead(7142, 7142), gifFrame(1, 1)...), 0x3b),
		"gif of 501 frames":            append(many, 0x3b),
		"gif of 200 megapixels in all": append(long, 0x3b),
		"gif of them behind a text":    append(behindText, 0x3b),
		"gif of them behind a name":    append(behindName, 0x3b),
		"png of 2^31 by 1":             pngHead(1<<31-1, 1, 8, 6, 0, 0, 0),
		"png of 2^32 by 2^32":          pngHead(1<<32-1, 1<<32-1, 8, 6, 0, 0, 0),
		"png of 51 megapixels":         pngHead(51000, 1000, 1, 0, 0, 0, 0),
		"png of 40 deep megapixels":    pngHead(40000, 1000, 16, 6, 0, 0, 0),
		"png of 40 interlaced":         pngHead(40000, 1000, 8, 6, 0, 0, 1),
		"png that is very wide":        pngHead(500000, 90, 8, 0, 0, 0, 0),
		"png without height":           pngHead(500, 0, 8, 0, 0, 0, 0),
		"jpeg of 4 gigapixels":         jpegHead(0xc0, 65535, 65535),
		"jpeg of 51 megapixels":        jpegHead(0xc0, 51000, 1000),
		"progressive jpeg of 40":       jpegHead(0xc2, 40000, 1000),
		"webp of 268 megapixels":       riff(riffChunk("VP8L", []byte{0x2f, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0})),
		"webp of 40 lossless megapixels": riff(riffChunk("VP8L", binary.LittleEndian.AppendUint32([]byte{0x2f},
			uint32(8000-1|(5000-1)<<14)))),
	}
}

// hostile returns files that are not supported images, or more than one format.
func hostile(t testing.TB) map[string][]byte {
	out := map[string][]byte{
		"nothing":         {},
		"text":            []byte("hello"),
		"html":            []byte("<!doctype html><script>alert(1)</script>"),
		"svg":             []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`),
		"svg after a bom": []byte("\ufeff<?xml version=\"1.0\"?><svg/>"),
		"bmp": []byte(
			"BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18\x00"),
		"tiff":               exif(binary.LittleEndian, 1),
		"pdf":                []byte("%PDF-1.7\n"),
		"zip":                []byte("PK\x03\x04aaaaaaaaaaaaaaaaaaaa"),
		"script as gif":      []byte("GIF89a/*aaaaaaaaaa*/=1;alert(document.domain)//;"),
		"html as gif":        []byte("GIF87a<script>alert(1)</script>"),
		"html as jpeg":       []byte("\xff\xd8\xff<script>alert(1)</script>"),
		"html as png":        []byte("\x89PNG\r\n\x1a\n<script>alert(1)</script>"),
		"html as webp":       []byte("RIFF\xff\xff\x00\x00WEBP<script>alert(1)</script>"),
		"animated webp":      riff(riffChunk("VP8X", []byte{2, 0, 0, 0, 9, 0, 0, 9, 0, 0}), riffChunk("ANIM", make([]byte, 6))),
		"only a jpeg start":  {0xff, 0xd8, 0xff},
		"only a gif header":  []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"only a png header":  []byte("\x89PNG\r\n\x1a\n"),
		"only a webp header": []byte("RIFF\x04\x00\x00\x00WEBP"),
	}
	for name, file := range bombs() {
		out[name] = file
	}
	for name, file := range valid(t) {
		for cut := 1; cut < 24; cut++ {
			out[fmt.Sprintf("%s cut at %d/24", name, cut)] = file[:len(file)*cut/24]
		}
		out[name+" without its first byte"] = file[1:]
	}
	return out
}

// valid returns one file of each format.
func valid(t testing.TB) map[string][]byte {
	pal := color.Palette{red, green, blue, color.Transparent}
	frame := func(x0, y0, x1, y1 int, c uint8) *image.Paletted {
		m := image.NewPaletted(image.Rect(x0, y0, x1, y1), pal)
		for i := range m.Pix {
			m.Pix[i] = c
		}
		return m
	}
	return map[string][]byte{
		"jpeg": asJPEG(four(40, 30)),
		"png":  asPNG(four(40, 30)),
		"webp": asWebP(t, four(40, 30)),
		"gif":  asGIF(&gif.GIF{Image: []*image.Paletted{frame(0, 0, 40, 30, 0), frame(5, 5, 20, 20, 1)}, Delay: []int{5, 7}}),
	}
}

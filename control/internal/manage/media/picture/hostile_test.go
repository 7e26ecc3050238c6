package picture_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// planted is a text that must not survive a conversion.
const planted = "PLANTED-48.8584N-2.2945E"

// crowd returns n random hostile files: bombs, files of two formats, truncated, overwritten and spliced files, and
// valid ones with location data.
func crowd(t testing.TB, n int) map[string][]byte {
	rng := rand.New(rand.NewPCG(7, 8))
	good, bad := valid(t), hostile(t)
	for _, size := range []int{1, 2, 7, 64, 300, 1201} {
		good[fmt.Sprint("png of ", size)] = asPNG(four(size, size))
		good[fmt.Sprint("jpeg of ", size)] = asJPEG(four(size, size))
	}
	for i, how := range [][]byte{{0}, {1}, {2}, {3}, {1, 2, 3}} {
		good[fmt.Sprint("gif of way ", i)] = movie(60, 40, 7, 30, how, i%2 == 0)
	}
	names := slices.Sorted(maps.Keys(good))
	any := func() (string, []byte) {
		name := names[rng.IntN(len(names))]
		return name, bytes.Clone(good[name])
	}
	out := map[string][]byte{}
	for name, file := range bad {
		out[name] = file
	}
	for i := len(out); len(out) < n; i++ {
		name, file := any()
		switch kind := i % 8; kind {
		case 0:
			out[fmt.Sprintf("%d: %s cut", i, name)] = file[:rng.IntN(len(file))]
		case 1:
			for range 1 + rng.IntN(20) {
				file[rng.IntN(len(file))] ^= 1 << rng.IntN(8)
			}
			out[fmt.Sprintf("%d: %s flipped", i, name)] = file
		case 2: // the first bytes contain sizes and lengths
			for range 1 + rng.IntN(4) {
				file[rng.IntN(min(len(file), 64))] = byte(rng.Uint32())
			}
			out[fmt.Sprintf("%d: %s with another head", i, name)] = file
		case 3:
			other, tail := any()
			at := rng.IntN(len(file))
			out[fmt.Sprintf("%d: %s and then %s", i, name, other)] = append(file[:at:at], tail[rng.IntN(len(tail)):]...)
		case 4:
			out[fmt.Sprintf("%d: %s and a page", i, name)] = append(file, "<html><script>"+planted+"</script>PK\x03\x04"...)
		case 5:
			text := append([]byte("Exif\x00\x00"), exif(binary.BigEndian, rng.IntN(10))...)
			out[fmt.Sprintf("%d: jpeg that tells", i)] = withSegment(asJPEG(four(16+rng.IntN(400), 16+rng.IntN(400))), 0xe1,
				append(text, planted...))
		case 6:
			text := append(exif(binary.LittleEndian, rng.IntN(10)), planted...)
			out[fmt.Sprintf("%d: png that tells", i)] = withChunk(withChunk(asPNG(four(16+rng.IntN(400), 16+rng.IntN(400))), "eXIf", text),
				"iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"+planted))
		default:
			w, h := 16+rng.IntN(100), 16+rng.IntN(100)
			out[fmt.Sprintf("%d: webp that tells", i)] = extended(asWebP(t, four(w, h)), w, h,
				append(exif(binary.LittleEndian, rng.IntN(10)),
					planted...))
		}
	}
	if testkit.Size(true, false) {
		return out
	}
	// The largest allowed images.
	out["png of 50 megapixels"] = pngOf(7071, 7071, 8, 6, 4, 0)
	out["png of deep ones"] = pngOf(5100, 5100, 16, 6, 8, 0)
	m := image.NewGray(image.Rect(0, 0, 7000, 7000))
	draw.Draw(m, m.Rect, image.NewUniform(color.Gray{90}), image.Point{}, draw.Src)
	out["jpeg of 49 megapixels"] = asJPEG(m)
	frame := image.NewPaletted(image.Rect(0, 0, 1900, 1000), color.Palette{red, green, blue, yellow})
	draw.Draw(frame, frame.Rect, four(1900, 1000), image.Point{}, draw.Src)
	out["gif of 95 megapixels"] = asGIF(&gif.GIF{Image: slices.Repeat([]*image.Paletted{frame}, 50), Delay: make([]int, 50)})
	return out
}

// None of many hostile files ends the process, and accepted files are encoded from pixels. In make proof, there are more
// and larger files, and the process must not exceed the memory limit of an upload. IMAGES is the number of files. A child process
// converts them, so that the kernel reports its peak memory.
func TestConvert_a_crowd_of_hostile_files(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CONVERT_CROWD")
	if dir != "" {
		convertAll(t, dir)
		return
	}
	if runtime.GOOS != "linux" || raceEnabled {
		t.Skip("needs Linux, and not the race detector, which takes memory itself")
	}
	n := testkit.Size(260, 500)
	if s, err := strconv.Atoi(os.Getenv("IMAGES")); err == nil {
		n = s
	}
	dir = t.TempDir()
	files := crowd(t, n)
	for i, name := range slices.Sorted(maps.Keys(files)) {
		testkit.Must(t, os.WriteFile(fmt.Sprintf("%s/%05d %s", dir, i, strings.ReplaceAll(name, "/", " of ")), files[name], 0o600))
	}
	child := exec.Command(os.Args[0], "-test.run=^TestConvert_a_crowd_of_hostile_files$")
	child.Env = append(os.Environ(), "CONVERT_CROWD="+dir)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var accepted, refused, peak int
	_, line, ok := strings.Cut(string(out), "crowd: ")
	if _, err := fmt.Sscanf(line, "%d accepted, %d refused, %d KiB", &accepted, &refused, &peak); !ok || err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%d files: %d accepted and drawn anew, %d refused, none with a trace of what was planted; peak %d MiB",
		accepted+refused, accepted,
		refused, peak>>10)
	if accepted+refused < n || accepted < n/10 || refused < n/10 {
		t.Error("that is not the crowd that was meant")
	}
	if testkit.Size(false, true) && peak > 256<<10 {
		t.Errorf("peak %d MiB, want at most 256", peak>>10)
	}
}

// convertAll converts the files of a folder, one at a time, like uploads.
func convertAll(t *testing.T, dir string) {
	entries, err := os.ReadDir(dir)
	testkit.Must(t, err)
	accepted, refused := 0, 0
	for _, e := range entries {
		file, err := os.ReadFile(dir + "/" + e.Name())
		testkit.Must(t, err)
		p, err := picture.Convert(t.Context(), file)
		if err != nil {
			if !problem.Is(err, problem.Invalid) {
				t.Fatalf("%s: %v", e.Name(), err)
			}
			refused++
			continue
		}
		accepted++
		for _, s := range []string{planted, "SPY\x00", "Exif", "EXIF", "<script", "PK\x03\x04", "xmp"} {
			if bytes.Contains(p.Bytes, []byte(s)) {
				t.Errorf("%s: %q is left", e.Name(), s)
			}
		}
		magic := "RIFF"
		if p.Ext == picture.GIF {
			magic = "GIF89a"
		}
		if !bytes.HasPrefix(p.Bytes, []byte(magic)) || p.Width < 1 || p.Width > picture.MaxWidth || p.Height < 1 ||
			p.Height > picture.MaxHeight {
			t.Errorf("%s: a %s of %d by %d", e.Name(), p.Ext, p.Width, p.Height)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	testkit.Must(t, err)
	for line := range strings.Lines(string(status)) {
		if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Printf("crowd: %d accepted, %d refused, %s KiB\n", accepted, refused, strings.Fields(peak)[0])
		}
	}
}

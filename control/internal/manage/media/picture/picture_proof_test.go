//go:build proof

package picture_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Converts the largest allowed images in a child process, so that the kernel reports its peak memory.
func TestConvert_bounds_memory(t *testing.T) {
	t.Parallel()
	if os.Getenv("CONVERT_CHILD") == "yes" {
		for _, file := range [][]byte{pngOf(7071, 7071, 8, 6, 4, 0), pngOf(50000, 1000, 8, 2, 3, 0), pngOf(1000, 50000, 8, 0, 1, 0),
			pngOf(5100, 5100, 16, 6, 8, 0)} {
			if _, err := picture.Convert(t.Context(), file); err != nil {
				t.Fatal(err)
			}
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip(err)
		}
		for line := range strings.Lines(string(status)) {
			if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				fmt.Printf("peak %s\n", strings.Fields(peak)[0])
			}
		}
		return
	}
	if runtime.GOOS != "linux" || raceEnabled {
		t.Skip("needs Linux, and not the race detector, which takes memory itself")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestConvert_bounds_memory$")
	child.Env = append(os.Environ(), "CONVERT_CHILD=yes")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, peak, ok := strings.Cut(string(out), "peak ")
	if !ok {
		t.Skip("no peak is known here")
	}
	kib, err := strconv.Atoi(strings.Fields(peak)[0])
	testkit.Must(t, err)
	t.Logf("peak %d MiB", kib>>10)
	if kib > 256<<10 {
		t.Errorf("peak %d MiB, want at most 256", kib>>10)
	}
}

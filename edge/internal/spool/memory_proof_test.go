//go:build proof && linux

package spool_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// resident returns how many bytes of the files in a folder are in this process's memory.
func resident(t *testing.T, dir string) (bytes int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	testkit.Must(t, err)
	ours := false
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 5 && strings.Contains(f[0], "-"):
			ours = strings.Contains(line, dir+"/")
		case ours && f[0] == "Rss:":
			kib, err := strconv.Atoi(f[1])
			testkit.Must(t, err)
			bytes += kib << 10
		}
	}
	return bytes
}

// In every mode, clicks that wait for hours take disk space but no process memory, and none is lost.
func TestSpool_keeps_no_written_pages_in_memory(t *testing.T) {
	t.Parallel()
	for _, mode := range []spool.SyncMode{spool.SyncInterval, spool.SyncNone} {
		dir := t.TempDir() // on a real disk
		s := open(t, spool.Config{Dir: dir, Lanes: 1, Sync: mode, MinFreePercent: -1})
		const clicks = 300_000
		for id := range clicks {
			e := event(id)
			if !s.Append(0, &e) {
				t.Fatal("no room")
			}
		}
		var bytes int
		testkit.Eventually(t, "no more is in memory than may be prepared ahead", func() bool {
			bytes = resident(t, dir)
			return bytes < 20<<20
		})
		if bytes == 0 {
			t.Error("nothing is mapped: the test measures the wrong files")
		}
		taken := newLedger()
		taken.take(t, s.Spool)
		taken.wantIDs(t, 0, clicks)
		s.stop()
	}
}

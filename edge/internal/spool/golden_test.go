package spool_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "write a golden segment of the newest format where there is none")

// TestSpool_reads_segments_of_every_version opens the segments in testdata. The release that introduced a format wrote its
// segment with the clicks 1 to 20. Never rewrite these files.
func TestSpool_reads_segments_of_every_version(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/v*/*.seg.gz")
	testkit.Must(t, err)
	if *update && len(files) == 0 {
		files = []string{writeGolden(t, "testdata/v1")}
	}
	if len(files) == 0 {
		t.Fatal("no golden segments")
	}
	for _, path := range files {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			packed, err := os.ReadFile(path)
			testkit.Must(t, err)
			unpacked, err := gzip.NewReader(bytes.NewReader(packed))
			testkit.Must(t, err)
			image, err := io.ReadAll(unpacked)
			testkit.Must(t, err)
			cfg := small(scratch(t))
			testkit.Must(t, os.WriteFile(filepath.Join(cfg.Dir, strings.TrimSuffix(filepath.Base(path), ".gz")), image, 0o600))
			s := open(t, cfg)
			if s.Stats().Damaged != 0 {
				t.Error("it counts as damaged")
			}
			l := newLedger()
			l.take(t, s.Spool)
			l.wantIDs(t, 1, 21)
		})
	}
}

func writeGolden(t *testing.T, dir string) string {
	h := recordHistory(t, 20, 0)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(h.image)
	w.Close()
	path := filepath.Join(dir, h.name+".gz")
	testkit.Must(t, os.MkdirAll(dir, 0o755))
	testkit.Must(t, os.WriteFile(path, packed.Bytes(), 0o644))
	return path
}

// Starts without clicks leave no segments behind.
func TestOpen_cleans_up_after_itself(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	for range 5 {
		s, err := spool.Open(cfg)
		testkit.Must(t, err)
		testkit.Must(t, s.Close())
	}
	if files, _ := filepath.Glob(filepath.Join(cfg.Dir, "*.seg")); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}

package agent_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// imaged serves until the source's state is on disk with its image, and then applies some deltas for the log.
func imaged(t testing.TB, dir string, s *source, change func(*agent.Config)) {
	t.Helper()
	e := start(t, dir, s, change)
	e.reaches(t, s.cur)
	awaitImage(t, dir)
	e.reaches(t, s.put(plain(5000)))
	s.drop(plain(3).Key)
	e.reaches(t, s.cur)
	e.stop()
}

func awaitImage(t testing.TB, dir string) {
	t.Helper()
	testkit.Eventually(t, "the image", func() bool { return exists(filepath.Join(dir, "links.image")) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func copyFiles(t testing.TB, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		testkit.Must(t, err)
	}
}

// started boots from a copy of a folder and reports whether it loaded the image. It checks that the state is the source's.
func started(t testing.TB, dir string, s *source, change func(*agent.Config)) bool {
	t.Helper()
	e := boot(t, dir, dead{}, change)
	defer e.close(t)
	if !e.Ready() || e.Applied() != s.cur || e.Status().StateHash != s.hash().String() || !reflect.DeepEqual(e.contents(t), s.links) {
		t.Fatalf("at %v with %d links instead of %v with %d", e.Applied(), e.table.Len(), s.cur, len(s.links))
	}
	if n := e.Stats().DiskErrors; n != 0 {
		t.Fatalf("%d disk errors", n)
	}
	return e.Stats().FromImage
}

func TestImage_is_what_the_document_is(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	broken := plain(7)
	broken.SmartRouting = true
	broken.Rules = []link.Rule{{ID: link.ID{1}, Target: "https://a.example", Conditions: []byte(`{"field":"no such thing"}`)}}
	s.put(append(plains(500), broken)...)
	imaged(t, dir, s, nil)
	if !started(t, dir, s, nil) {
		t.Error("the image was not loaded")
	}
	from := boot(t, dir, dead{}, nil)
	testkit.Must(t, os.Remove(filepath.Join(dir, "links.image")))
	without := boot(t, dir, dead{}, nil)
	if !from.Stats().FromImage || without.Stats().FromImage {
		t.Fatal("both starts loaded from the same file")
	}
	a, b := from.Status(), without.Status()
	if a.Run, b.Run = "", ""; !reflect.DeepEqual(a, b) || a.SetAsideCount != 1 {
		t.Errorf("from the image %+v, from the document %+v", a, b)
	}
	from.close(t)
	without.close(t)
	// A start without an image writes one, even if there are no changes.
	e := start(t, dir, dead{}, nil)
	awaitImage(t, dir)
	e.stop()
	if !started(t, dir, s, nil) {
		t.Error("the new image was not loaded")
	}
}

// A start with a bad image works like a start without an image.
func TestImage_in_doubt_the_document(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(200)...)
	imaged(t, dir, s, nil)
	image, err := os.ReadFile(filepath.Join(dir, "links.image"))
	testkit.Must(t, err)
	try := func(t *testing.T, image []byte) {
		t.Helper()
		to := t.TempDir()
		copyFiles(t, dir, to, "links.state", "links.log")
		testkit.Must(t, os.WriteFile(filepath.Join(to, "links.image"), image, 0o600))
		if started(t, to, s, nil) {
			t.Error("the image was loaded")
		}
	}
	t.Run("cut", func(t *testing.T) {
		for n := 0; n < len(image); n += 1 + len(image)/40 {
			try(t, image[:n])
		}
		try(t, image[:len(image)-1])
	})
	t.Run("a byte flipped", func(t *testing.T) {
		for i := 0; i < len(image); i += 1 + len(image)/60 {
			other := bytes.Clone(image)
			other[i] ^= 4
			try(t, other)
		}
	})
	t.Run("rubbish", func(t *testing.T) { try(t, bytes.Repeat([]byte("rubbish"), 1000)) })
	t.Run("a folder", func(t *testing.T) {
		to := t.TempDir()
		copyFiles(t, dir, to, "links.state", "links.log")
		testkit.Must(t, os.Mkdir(filepath.Join(to, "links.image"), 0o700))
		if started(t, to, s, nil) {
			t.Error("the image was loaded")
		}
	})
	t.Run("another release of the program", func(t *testing.T) {
		to := t.TempDir()
		copyFiles(t, dir, to, "links.state", "links.log", "links.image")
		next := func(c *agent.Config) { c.Version = "2" }
		if started(t, to, s, next) {
			t.Error("the image was loaded")
		}
		e := start(t, to, dead{}, next)
		testkit.Eventually(t, "an image of its own", func() bool {
			b, err := os.ReadFile(filepath.Join(to, "links.image"))
			return err == nil && !bytes.Equal(b, image)
		})
		e.stop()
		if !started(t, to, s, next) || started(t, to, s, nil) {
			t.Error("a release loaded the image of another release")
		}
	})
	t.Run("of the state before", func(t *testing.T) {
		newer := t.TempDir()
		copyFiles(t, dir, newer, "links.state", "links.log")
		e := start(t, newer, s, func(c *agent.Config) { c.LogBytes = 1 }) // each change rewrites the state file
		cur := s.put(plain(5001))
		e.reaches(t, cur)
		e.stop()
		copyFiles(t, dir, newer, "links.image")
		if started(t, newer, s, nil) {
			t.Error("an image older than the document was loaded")
		}
		// The same for an image newer than document and log, as after a restore of only these two files.
		older := t.TempDir()
		copyFiles(t, newer, older, "links.state", "links.log")
		e = start(t, older, dead{}, nil)
		awaitImage(t, older)
		e.stop()
		copyFiles(t, dir, older, "links.state", "links.log")
		again := boot(t, older, dead{}, nil)
		defer again.close(t)
		if again.Stats().FromImage || again.Applied().Revision >= cur.Revision || !again.has(plain(1).Key) || again.has(plain(5001).Key) {
			t.Errorf("at %v, from the image: %v", again.Applied(), again.Stats().FromImage)
		}
	})
}

// An image without a document is not used.
func TestImage_alone_is_not_taken(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(50)...)
	imaged(t, dir, s, nil)
	testkit.Must(t, os.Remove(filepath.Join(dir, "links.state")))
	e := boot(t, dir, dead{}, nil)
	defer e.close(t)
	if e.Ready() || e.table.Len() != 0 {
		t.Error("it serves links without a document")
	}
}

func TestImage_that_cannot_be_written_stops_nothing(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(50)...)
	// A leftover file of a killed process is overwritten. A folder with that name makes writing fail.
	blocked := filepath.Join(dir, "links.image.new")
	testkit.Must(t, os.Mkdir(blocked, 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(blocked, "x"), nil, 0o600))
	e := start(t, dir, s, func(c *agent.Config) { c.LogBytes = 500 })
	e.reaches(t, s.cur)
	testkit.Eventually(t, "an error", func() bool { return e.Stats().DiskErrors > 0 })
	for i := range 50 {
		s.put(plain(100 + i))
	}
	e.reaches(t, s.cur)
	e.stop()
	if started(t, dir, s, nil) {
		t.Error("loaded from an image that cannot exist")
	}
	testkit.Must(t, os.RemoveAll(blocked))
	testkit.Must(t, os.WriteFile(blocked, []byte("left over"), 0o600))
	e = start(t, dir, s, nil)
	awaitImage(t, dir)
	e.stop()
	if !started(t, dir, s, nil) || exists(blocked) {
		t.Error("the image was not written after the repair")
	}
}

// After two failed starts, the next start skips the image, in case the image is the cause.
func TestImage_is_left_out_after_dead_starts(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(50)...)
	imaged(t, dir, s, nil)
	for i, want := range []bool{true, true, false, true} {
		if e := dies(t, dir); e.Stats().FromImage != want || e.Applied() != s.cur {
			t.Fatalf("start %d: from the image %v, at %v", i, e.Stats().FromImage, e.Applied())
		}
	}
}

// Processes are killed while they write images. Each start finds a state that the source had.
func TestImage_killed_while_it_is_written(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := 0
	for round := range 6 {
		child := exec.Command(os.Args[0], "-test.run=^TestAgent_killed$", "-test.timeout=60s")
		child.Env = append(os.Environ(), "AGENT_TEST_KILLED_DIR="+dir)
		testkit.Must(t, child.Start())
		before, _ := os.Stat(filepath.Join(dir, "links.image"))
		testkit.Eventually(t, "an image of its own", func() bool {
			now, err := os.Stat(filepath.Join(dir, "links.image"))
			return err == nil && (before == nil || !os.SameFile(before, now))
		})
		// Kill it when the next image is being written, or has just replaced the old one.
		next, _ := os.Stat(filepath.Join(dir, "links.image"))
		testkit.Eventually(t, "the next image", func() bool {
			now, err := os.Stat(filepath.Join(dir, "links.image"))
			return exists(filepath.Join(dir, "links.image.new")) || err == nil && next != nil && !os.SameFile(next, now)
		})
		_ = child.Process.Kill()
		_ = child.Wait() // fails because of the kill
		if err := os.Remove(filepath.Join(dir, "starts")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err) // otherwise the image would be skipped
		}
		e := boot(t, dir, dead{}, nil)
		var hash snapshot.StateHash
		for _, r := range e.contents(t) {
			hash.Add(r.Key, r.Num, r.Revision)
		}
		if !e.Ready() || e.table.Len() < 500 || e.Status().StateHash != hash.String() || e.Stats().DiskErrors != 0 {
			t.Fatalf("round %d: ready %v, %d links, %+v", round, e.Ready(), e.table.Len(), e.Stats())
		}
		if e.Stats().FromImage {
			taken++
		}
		e.close(t)
	}
	t.Logf("%d of 6 starts took the image", taken)
}

// A table does not read from the image file after the start, so truncating the file does no harm.
func TestImage_cut_off_while_it_is_served(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	long := plains(300)
	for i := range long {
		long[i].Title = strings.Repeat("t", 5000)
	}
	s.put(long...)
	imaged(t, dir, s, nil)
	e := boot(t, dir, dead{}, nil)
	defer e.close(t)
	testkit.Must(t, os.Truncate(filepath.Join(dir, "links.image"), 0))
	if !e.Stats().FromImage || !reflect.DeepEqual(e.contents(t), s.links) {
		t.Error("links are missing after the file was truncated")
	}
}

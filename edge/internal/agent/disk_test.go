package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestAgent_starts_from_disk_alone(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(200)...)
	dir := t.TempDir()
	e := start(t, dir, s, nil)
	e.reaches(t, s.cur)
	for i := range 30 {
		s.put(plain(200 + i))
		s.drop(plain(i).Key)
	}
	e.reaches(t, s.cur)
	e.stop()
	for range 3 { // starting does not change the files
		again := boot(t, dir, dead{}, nil)
		if !again.Ready() || again.Applied() != s.cur || !reflect.DeepEqual(again.contents(t), s.links) {
			t.Fatalf("at %v with %d links instead of %v with %d", again.Applied(), again.table.Len(), s.cur, len(s.links))
		}
		again.close(t)
	}
	// It keeps serving while the source fails, and continues with deltas from its state.
	offline := start(t, dir, dead{}, nil)
	testkit.Eventually(t, "failed calls", func() bool { return offline.Stats().SourceErrors > 3 })
	if !offline.Ready() || offline.table.Len() != len(s.links) {
		t.Error("the state is lost")
	}
	offline.stop()
	fulls := s.fulls
	online := start(t, dir, s, nil)
	online.reaches(t, s.put(plain(1000)))
	if s.fulls != fulls {
		t.Error("it requested a full document although it has a state")
	}
}

// A copy of the folder at a random moment is like the folder after a kill, or worse, because the two files are copied at
// different moments. Each copy must start with a state that the source had.
func TestAgent_any_moment_on_disk_starts(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(300)...)
	dir := t.TempDir()
	e := start(t, dir, s, func(c *agent.Config) { c.LogBytes = 2000 }) // rewrites the state file every few changes
	e.reaches(t, s.cur)
	history := map[uint64]string{s.cur.Revision: s.hash().String()}
	copies, started := 0, 0
	for i := range 200 {
		r := plain(i % 150)
		r.Title = strings.Repeat("t", i)
		s.put(r)
		history[s.cur.Revision] = s.hash().String()
		if i%10 == 5 {
			e.reaches(t, s.cur)
		}
		if i%2 == 0 {
			to := t.TempDir()
			for _, name := range []string{"links.state", "links.log"} {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
					testkit.Must(t, os.WriteFile(filepath.Join(to, name), b, 0o600))
				}
			}
			copies++
			again := boot(t, to, dead{}, nil)
			if !again.Ready() {
				continue
			}
			started++
			if want := history[again.Applied().Revision]; again.Status().StateHash != want {
				t.Fatalf("copy %d: revision %d has hash %s, not %s", copies, again.Applied().Revision, again.Status().StateHash, want)
			}
		}
	}
	if started < copies/2 {
		t.Errorf("only %d of %d copies started", started, copies)
	}
}

func TestAgent_torn_or_damaged_files(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(20)...)
	dir := t.TempDir()
	e := start(t, dir, s, nil)
	e.reaches(t, s.cur)
	testkit.Eventually(t, "the state file", func() bool { return e.Stats().LastWritten != 0 })
	base := s.cur.Revision
	hashes := map[uint64]string{base: s.hash().String()}
	for i := range 4 {
		e.reaches(t, s.put(plain(30+i)))
		hashes[s.cur.Revision] = s.hash().String()
	}
	e.stop()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		testkit.Must(t, err)
		return b
	}
	state, log := read("links.state"), read("links.log")
	if len(log) == 0 {
		t.Fatal("the log is empty")
	}
	try := func(what string, state, log []byte) snapshot.Cursor {
		t.Helper()
		to := t.TempDir()
		testkit.Must(t, os.WriteFile(filepath.Join(to, "links.state"), state, 0o600))
		testkit.Must(t, os.WriteFile(filepath.Join(to, "links.log"), log, 0o600))
		again := boot(t, to, dead{}, nil)
		if again.Ready() && again.Status().StateHash != hashes[again.Applied().Revision] {
			t.Fatalf("%s: a state that the source never had", what)
		}
		if !again.Ready() && again.table.Len() != 0 {
			t.Fatalf("%s: not ready, but it has links", what)
		}
		return again.Applied()
	}
	if at := try("nothing", state, log); at != s.cur {
		t.Fatal(at, s.cur)
	}
	for i := 0; i < len(log); i += 7 {
		if at := try("cut log", state, log[:i]); at.Revision < base {
			t.Fatalf("log cut at %d: at %v", i, at)
		}
		flipped := bytes.Clone(log)
		flipped[i] ^= 0x10
		if at := try("flipped log", state, flipped); at.Revision < base || at == s.cur {
			t.Fatalf("log flipped at %d: at %v", i, at)
		}
	}
	for i := 0; i < len(state); i += 11 {
		flipped := bytes.Clone(state)
		flipped[i] ^= 0x10
		if at := try("flipped state", flipped, log); at != (snapshot.Cursor{}) {
			t.Fatalf("state flipped at %d: at %v", i, at)
		}
		try("cut state", state[:i], log)
	}
	// With a damaged state it loads a full document and replaces the file.
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "links.state"), state[:len(state)/2], 0o600))
	repaired := start(t, dir, s, nil)
	repaired.reaches(t, s.cur)
	repaired.stop()
	if again := boot(t, dir, dead{}, nil); again.Applied() != s.cur {
		t.Error("the damaged file was not replaced")
	}
}

func TestAgent_disk_that_fails_does_not_stop_changes(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(10)...)
	dir := t.TempDir()
	// A folder with the name of the new state file makes writing fail.
	testkit.Must(t, os.Mkdir(filepath.Join(dir, "links.state.new"), 0o700))
	e := start(t, dir, s, nil)
	e.reaches(t, s.cur)
	testkit.Eventually(t, "a disk error", func() bool { return e.Stats().DiskErrors > 0 })
	for i := range 50 {
		s.put(plain(20 + i))
	}
	e.reaches(t, s.cur)
	testkit.Must(t, os.Remove(filepath.Join(dir, "links.state.new")))
	e.stop() // writes the rest
	if again := boot(t, dir, dead{}, nil); again.Applied() != s.cur {
		t.Errorf("at %v instead of %v", again.Applied(), s.cur)
	}
}

// TestAgent_killed runs itself as another process that follows a busy source, and kills that process.
func TestAgent_killed(t *testing.T) {
	const dirVariable = "AGENT_TEST_KILLED_DIR"
	if dir := os.Getenv(dirVariable); dir != "" {
		s := newSource()
		s.cur.Incarnation = uint64(time.Now().UnixNano()) // a new log of changes in each process
		s.put(plains(500)...)
		e := start(t, dir, s, func(c *agent.Config) { c.LogBytes = 20_000 })
		for i := 0; ; i++ {
			r := plain(i % 700)
			r.Title = fmt.Sprint(i)
			s.put(r)
			s.mu.Lock()
			s.log = s.log[max(0, len(s.log)-5000):]
			s.mu.Unlock()
			testkit.Eventually(t, "the agent keeps up", func() bool { return e.Applied().Revision+100 > uint64(i) })
		}
	}
	t.Parallel()
	dir := t.TempDir()
	for round := range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestAgent_killed$", "-test.timeout=1h")
		child.Env = append(os.Environ(), dirVariable+"="+dir)
		testkit.Must(t, child.Start())
		path := filepath.Join(dir, "links.state")
		before, _ := os.Stat(path)
		testkit.Eventually(t, "a new state file", func() bool {
			now, err := os.Stat(path)
			return err == nil && (before == nil || !os.SameFile(before, now))
		})
		testkit.Eventually(t, "a log whose length differs in each round", func() bool {
			log, err := os.Stat(filepath.Join(dir, "links.log"))
			return err == nil && log.Size() >= int64(round)*3000
		})
		_ = child.Process.Kill()
		_ = child.Wait() // fails because of the kill
		e := boot(t, dir, dead{}, nil)
		var hash snapshot.StateHash
		for _, r := range e.contents(t) {
			hash.Add(r.Key, r.Num, r.Revision)
		}
		if !e.Ready() || e.table.Len() < 500 || e.Status().StateHash != hash.String() || e.Stats().DiskErrors != 0 {
			t.Fatalf("round %d: ready %v, %d links, %+v", round, e.Ready(), e.table.Len(), e.Stats())
		}
		t.Logf("killed at %v", e.Applied())
		e.close(t)
	}
}

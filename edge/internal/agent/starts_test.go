package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// quickly shortens the time to prove a state, and makes the ban longer than a test.
func quickly(c *agent.Config) { c.Proof, c.Shun = 50*time.Millisecond, time.Hour }

// dies simulates a start that loads its state and then crashes.
func dies(t *testing.T, dir string) *edge { return boot(t, dir, dead{}, quickly) }

// proven serves until the present state counts as proven.
func proven(t *testing.T, dir string, s *source, change func(*agent.Config)) {
	t.Helper()
	e := start(t, dir, s, func(c *agent.Config) {
		quickly(c)
		if change != nil {
			change(c)
		}
	})
	e.reaches(t, s.cur)
	testkit.Eventually(t, "the state on disk", func() bool { return e.Stats().LastWritten != 0 })
	testkit.Eventually(t, "the state proven", func() bool {
		var ledger struct{ Proven snapshot.Cursor }
		text, err := os.ReadFile(filepath.Join(dir, "starts"))
		return err == nil && json.Unmarshal(text, &ledger) == nil && ledger.Proven == s.cur
	})
	e.stop()
}

// The state that crashes the process is in the log of deltas.
func TestAgent_goes_back_after_three_dead_starts(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(20)...)
	proven(t, dir, s, nil)
	good := s.cur
	takesAndDies(t, dir, s, nil)
	bad := s.cur
	for i := range 3 {
		if at := dies(t, dir).Applied(); at != bad {
			t.Fatalf("start %d is at %v, want the newest state, %v", i, at, bad)
		}
	}
	asked := s.questions()
	back := start(t, dir, s, quickly)
	if back.Applied() != good || !back.Ready() || back.has("s01000") {
		t.Fatalf("after three failed starts at %v, want %v", back.Applied(), good)
	}
	testkit.Eventually(t, "the reason in a report", func() bool {
		return strings.Contains(back.Status().Refused, "3 starts died with revision")
	})
	testkit.Eventually(t, "it asks for news", func() bool { return s.questions() > asked })
	if back.Applied() != good {
		t.Fatalf("it applied %v again", back.Applied())
	}
	back.stop()
	// The ban continues after a restart, and ends with a newer state.
	again := start(t, dir, s, quickly)
	if again.Applied() != good {
		t.Fatalf("the next start is at %v, want %v", again.Applied(), good)
	}
	s.drop("s01000")
	again.reaches(t, s.cur)
	if again.has("s01000") || again.table.Len() != 20 {
		t.Errorf("%d links after the repair", again.table.Len())
	}
	again.stop()
	if at := dies(t, dir).Applied(); at != s.cur {
		t.Errorf("the state on disk is %v, not the repaired one", at)
	}
}

// takesAndDies makes an agent apply a change and write it to disk, and then leaves the folder as after a crash, with a start
// that did not end. (The agent is stopped, because two agents cannot use one folder. The failed starts that follow undo
// what it wrote about its end.)
func takesAndDies(t *testing.T, dir string, s *source, change func(*agent.Config)) {
	t.Helper()
	e := start(t, dir, s, func(c *agent.Config) {
		c.Proof, c.Shun = time.Hour, time.Hour
		if change != nil {
			change(c)
		}
	})
	e.reaches(t, s.put(plain(1000)))
	e.stop()
}

// The state that crashes the process is in the state file.
func TestAgent_goes_back_to_the_other_slot(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(20)...)
	proven(t, dir, s, nil)
	good := s.cur
	takesAndDies(t, dir, s, func(c *agent.Config) { c.LogBytes = 1 })
	bad := s.cur
	for range 3 {
		if at := dies(t, dir).Applied(); at != bad {
			t.Fatalf("at %v, want %v", at, bad)
		}
	}
	back := start(t, dir, dead{}, quickly)
	if back.Applied() != good || back.has("s01000") || back.table.Len() != 20 {
		t.Fatalf("at %v, want %v", back.Applied(), good)
	}
	testkit.Eventually(t, "the good state written again", func() bool { return back.Stats().LastWritten != 0 })
	back.stop()
	if at := dies(t, dir).Applied(); at != good {
		t.Errorf("then at %v, want %v", at, good)
	}
}

func TestAgent_goes_back_only_for_starts_that_died(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(20)...)
	proven(t, dir, s, nil)
	takesAndDies(t, dir, s, nil)
	for range 5 {
		dies(t, dir).close(t) // a clean stop
	}
	dies(t, dir)
	dies(t, dir)
	start(t, dir, s, quickly).stop() // a clean stop
	dies(t, dir)
	dies(t, dir)
	if at := dies(t, dir).Applied(); at != s.cur {
		t.Errorf("at %v, want %v", at, s.cur)
	}
}

func TestAgent_stays_where_nothing_is_proven(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(20)...)
	takesAndDies(t, dir, s, nil)
	for range 6 {
		if e := dies(t, dir); e.Applied() != s.cur || !e.Ready() {
			t.Fatalf("at %v, want %v", e.Applied(), s.cur)
		}
	}
}

func TestAgent_ban_ends(t *testing.T) {
	t.Parallel()
	s, dir := newSource(), t.TempDir()
	s.put(plains(20)...)
	proven(t, dir, s, nil)
	good := s.cur
	takesAndDies(t, dir, s, nil)
	for range 3 {
		dies(t, dir)
	}
	back := start(t, dir, s, func(c *agent.Config) { c.Proof, c.Shun = time.Hour, 3*time.Second })
	if back.Applied() == (snapshot.Cursor{}) || back.Applied() == s.cur {
		t.Fatalf("at %v, want %v", back.Applied(), good)
	}
	back.reaches(t, s.cur)
}

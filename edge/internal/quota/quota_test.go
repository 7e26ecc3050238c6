package quota_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// open opens a table that is not closed, as in a process that will be killed.
func open(t testing.TB, dir string, exchange limit.Exchange, edge string) *quota.Table {
	t.Helper()
	q, err := quota.Open(quota.Config{Dir: dir, Exchange: exchange, Edge: edge, Logger: silent})
	testkit.Must(t, err)
	return q
}

// granted takes clicks until one is refused, at most 100,000, and returns how many were granted.
func granted(q *quota.Table, num uint64, l link.Limit) (n int) {
	for n < 100_000 && q.Take(num, l) == quota.Granted {
		n++
	}
	return n
}

func TestTake_is_exact_in_one_process(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := link.Limit{Since: 5, Clicks: 70_001}
	var total atomic.Int64
	for range 4 { // each round is a process that is killed
		q := open(t, dir, nil, "")
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				for range 1200 {
					if q.Take(7, l) == quota.Granted {
						total.Add(1)
					}
				}
			})
		}
		group.Wait()
	}
	if total.Load() != int64(l.Clicks) {
		t.Errorf("%d clicks granted, want %d", total.Load(), l.Clicks)
	}
	q := open(t, dir, nil, "")
	if !q.Spent(7, l) || q.Take(7, l) != quota.Spent {
		t.Error("the limit is not used up after another start")
	}
	for name, other := range map[string]struct {
		num uint64
		l   link.Limit
	}{"another link": {8, l}, "a new limit": {7, link.Limit{Since: 6, Clicks: 1}},
		"a raised limit": {7, link.Limit{Since: 5, Clicks: 70_002}}} {
		if q.Take(other.num, other.l) != quota.Granted {
			t.Errorf("%s is refused", name)
		}
	}
	if !q.Spent(9, link.Limit{Since: 1}) || q.Take(9, link.Limit{Since: 1}) != quota.Spent {
		t.Error("a limit without clicks is not used up")
	}
}

func TestTake_many_links(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const links = 5000 // several chunks
	for round := range 3 {
		q := open(t, dir, nil, "")
		var group sync.WaitGroup
		for part := range 4 {
			group.Go(func() {
				for num := range uint64(links) {
					if int(num)%4 == part && q.Take(num+1, link.Limit{Since: 5, Clicks: 3}) != quota.Granted {
						t.Errorf("link %d is refused in round %d", num+1, round)
					}
				}
			})
		}
		group.Wait()
		if got := q.Stats().Counters; got != links {
			t.Fatalf("%d counters, want %d", got, links)
		}
	}
	q := open(t, dir, nil, "")
	for num := range uint64(links) {
		if q.Take(num+1, link.Limit{Since: 5, Clicks: 3}) != quota.Spent {
			t.Fatalf("link %d is followed four times", num+1)
		}
	}
}

func TestTake_does_not_allocate(t *testing.T) {
	q := open(t, t.TempDir(), nil, "")
	l := link.Limit{Since: 5, Clicks: 1 << 39}
	q.Take(7, l)
	if n := testing.AllocsPerRun(1000, func() {
		q.Spent(7, l)
		q.Take(7, l)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// damage changes one byte of the file of counts.
func damage(t testing.TB, dir string, at int) {
	t.Helper()
	path := filepath.Join(dir, "counts")
	b, err := os.ReadFile(path)
	testkit.Must(t, err)
	b[at] ^= 0x10
	testkit.Must(t, os.WriteFile(path, b, 0o600))
}

func TestOpen_detects_damage(t *testing.T) {
	t.Parallel()
	const head, slot = 64 << 10, 64
	used := head + 1023*slot // slots come into use from the last of a chunk
	for _, at := range []int{0, 9, 17, 64, used, used + 8, used + 16, used + 24, used + 32, used + 35, used + 40, used + 48} {
		dir := t.TempDir()
		q := open(t, dir, nil, "")
		granted(q, 7, link.Limit{Since: 5, Clicks: 10})
		testkit.Must(t, q.Close())
		damage(t, dir, at)
		q = open(t, dir, nil, "")
		if _, err := os.Stat(filepath.Join(dir, "counts.damaged")); err != nil {
			t.Errorf("byte %d: the damaged file was not set aside: %v", at, err)
		}
		if q.Take(7, link.Limit{Since: 5, Clicks: 10}) != quota.Granted {
			t.Errorf("byte %d: the new file does not work", at)
		}
	}
	t.Run("truncated", func(t *testing.T) {
		dir := t.TempDir()
		granted(open(t, dir, nil, ""), 7, link.Limit{Since: 5, Clicks: 10})
		testkit.Must(t, os.Truncate(filepath.Join(dir, "counts"), head+1000*slot))
		open(t, dir, nil, "")
		if _, err := os.Stat(filepath.Join(dir, "counts.damaged")); err != nil {
			t.Errorf("the file was not set aside: %v", err)
		}
	})
}

// FuzzOpen opens files with two changed bytes. No change may stop the edge, and every change of a count is noticed.
func FuzzOpen(f *testing.F) {
	f.Add(uint32(0), byte(1), uint32(70000), byte(3))
	f.Add(uint32(131000), byte(255), uint32(64), byte(0))
	l := link.Limit{Since: 5, Clicks: 10}
	f.Fuzz(func(t *testing.T, at uint32, x byte, other uint32, y byte) {
		dir := t.TempDir()
		q := open(t, dir, nil, "")
		granted(q, 7, link.Limit{Since: 5, Clicks: 4})
		testkit.Must(t, q.Close())
		path := filepath.Join(dir, "counts")
		b, err := os.ReadFile(path)
		testkit.Must(t, err)
		b[int(at)%len(b)] ^= x
		b[int(other)%len(b)] ^= y
		testkit.Must(t, os.WriteFile(path, b, 0o600))
		q = open(t, dir, nil, "")
		got := granted(q, 7, l)
		_, err = os.Stat(path + ".damaged")
		if errors.Is(err, os.ErrNotExist) && got != 6 || err == nil && got != 10 {
			t.Fatalf("%d clicks of 10 granted after 4, damage found: %v", got, err == nil)
		}
	})
}

func TestSweep_frees_counters_of_links_without_a_limit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	limited := map[uint64]bool{1: true, 2: true}
	q, err := quota.Open(quota.Config{Dir: dir, Logger: silent, Limited: func(yield func(uint64, int64)) error {
		for num := range limited {
			yield(num, 5)
		}
		return nil
	}})
	testkit.Must(t, err)
	l := link.Limit{Since: 5, Clicks: 2}
	granted(q, 1, l)
	granted(q, 2, l)
	q.Sweep()
	delete(limited, 2)
	q.Sweep()
	if n := q.Stats().Counters; n != 2 {
		t.Fatalf("%d counters after the first sweep without the link, want 2", n)
	}
	q.Sweep()
	if n := q.Stats().Counters; n != 1 {
		t.Fatalf("%d counters, want 1", n)
	}
	if !q.Spent(1, l) {
		t.Error("a counter of a limited link was freed")
	}
	if n := granted(q, 3, l); n != 2 { // in the slot that is free now
		t.Errorf("%d clicks of another link granted, want 2", n)
	}
	q = open(t, dir, nil, "")
	if n := q.Stats().Counters; n != 2 || !q.Spent(1, l) || !q.Spent(3, l) || q.Spent(2, l) {
		t.Errorf("%d counters after a start, want those of links 1 and 3", n)
	}
}

// TestSweep_while_clicks_come frees and reuses slots under clicks. The race detector and exact sums find a click that is
// counted for another link.
func TestSweep_while_clicks_come(t *testing.T) {
	t.Parallel()
	var keep atomic.Bool
	q, err := quota.Open(quota.Config{Dir: t.TempDir(), Logger: silent, Limited: func(yield func(uint64, int64)) error {
		yield(1, 5)
		if keep.Load() {
			yield(2, 5)
		}
		return nil
	}})
	testkit.Must(t, err)
	const clicks = 20_000
	l := link.Limit{Since: 5, Clicks: clicks}
	var total atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range clicks {
				q.Take(2, l)
				if q.Take(1, l) == quota.Granted {
					total.Add(1)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for {
		q.Sweep()
		select {
		case <-done:
			if total.Load() != clicks {
				t.Errorf("%d clicks granted, want %d", total.Load(), clicks)
			}
			return
		default:
		}
	}
}

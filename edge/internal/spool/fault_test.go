//go:build linux

package spool_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fullDisk fills the disk of a spool, frees it, and compares the dropped clicks with the missing ones.
func fullDisk(t *testing.T, cfg spool.Config, free func()) {
	t.Helper()
	s := open(t, cfg)
	l := newLedger()
	appended, kept := 0, 0
	fill := func(n int) {
		for range n {
			e := event(appended)
			if s.Append(uint32(appended), &e) {
				kept++
			}
			appended++
		}
	}
	for s.Stats().Dropped < 1000 {
		fill(100)
	}
	// Restart in the middle without a free block: the edge must start and know which clicks were dropped.
	dropped := s.Stats().Dropped
	s.stop()
	s = open(t, cfg)
	fill(1000)
	free()
	testkit.Eventually(t, "space after the disk was freed", func() bool { return s.Stats().State != spool.Shedding })
	fill(100)
	testkit.Eventually(t, "all given out", func() bool {
		l.take(t, s.Spool)
		return s.Stats().Pending == 0 && l.lost == dropped+s.Stats().Dropped
	})
	if l.clicks != kept || uint64(appended-kept) != l.lost {
		t.Errorf("appended %d, stored %d, read %d, reported by markers %d, counted as dropped %d",
			appended, kept, l.clicks, l.lost, dropped+s.Stats().Dropped)
	}
}

func TestSpool_full_disk_is_counted_exactly(t *testing.T) {
	t.Parallel()
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
			t.Skipf("a file system of its own can't be mounted here: %v", err)
		}
		t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
		cfg := small(filepath.Join(dir, "spool"))
		cfg.CapBytes = 1 << 30
		cfg.SegmentBytes = 128 << 10
		// A foreign file takes most of the disk and is deleted later.
		other := filepath.Join(dir, "other")
		testkit.Must(t, os.WriteFile(other, make([]byte, 1<<20), 0o600))
		fullDisk(t, cfg, func() { os.Remove(other) })
	})
	t.Run("simulated", func(t *testing.T) {
		t.Parallel()
		var left atomic.Int64
		left.Store(6 * 16 << 10)
		cfg := small(scratch(t))
		real := allocator()
		cfg = spool.WithFaults(cfg, spool.Faults{Allocate: func(f *os.File, size int64) error {
			if size > spool.HeaderSize && left.Add(-size) < 0 {
				left.Add(size)
				return syscall.ENOSPC
			}
			return real(f, size)
		}})
		fullDisk(t, cfg, func() { left.Store(1 << 30) })
	})
}

func allocator() func(*os.File, int64) error {
	return func(f *os.File, size int64) error { return syscall.Fallocate(int(f.Fd()), 0, 0, size) }
}

func TestSpool_failed_sync_retires_the_segment(t *testing.T) {
	t.Parallel()
	for _, mode := range []spool.SyncMode{spool.SyncInterval, spool.SyncAlways} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			cfg := small(scratch(t))
			cfg.Lanes = 1
			cfg.Sync = mode
			var calls, fail atomic.Int64
			cfg = spool.WithFaults(cfg, spool.Faults{Sync: func([]byte) error {
				calls.Add(1)
				if fail.Add(-1) == 0 {
					return syscall.EIO
				}
				return nil
			}})
			s := open(t, cfg)
			e := event(0)
			s.Append(0, &e)
			testkit.Eventually(t, "a sync", func() bool { return calls.Load() > 0 })
			segments := s.Stats().Segments
			fail.Store(1)
			e = event(1)
			if confirmed := s.Append(0, &e); confirmed == (mode == spool.SyncAlways) {
				t.Errorf("Append returned %v", confirmed)
			}
			testkit.Eventually(t, "the sync fails", func() bool { return s.Stats().SyncErrors == 1 })
			for i := 2; i < 12; i++ {
				e := event(i)
				s.Append(0, &e)
			}
			testkit.Eventually(t, "another segment", func() bool { return s.Stats().Segments > segments })
			l := newLedger()
			l.take(t, s.Spool)
			l.wantIDs(t, 0, 12)
			if n := s.Stats().SyncErrors; n != 1 {
				t.Errorf("%d failed syncs: the sync was retried", n)
			}
		})
	}
}

func TestSpool_sync_always_has_synced_when_append_returns(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	cfg.Sync = spool.SyncAlways
	var bytes atomic.Int64
	cfg = spool.WithFaults(cfg, spool.Faults{Sync: func(mem []byte) error {
		bytes.Add(int64(len(mem)))
		return nil
	}})
	s := open(t, cfg)
	for i := range 100 {
		before := bytes.Load()
		e := event(i)
		s.Append(uint32(i), &e)
		if bytes.Load() == before {
			t.Fatalf("append %d returned without a sync", i)
		}
	}
}

// TestSpool_segment_cut_while_in_use truncates the file under the mapping, as a failing disk would, so that the next write
// faults. The edge must continue in another segment, and markers must report the lost clicks.
func TestSpool_segment_cut_while_in_use(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	cfg.Lanes = 1
	s := open(t, cfg)
	for i := range 20 {
		e := event(i)
		s.Append(0, &e)
	}
	files, _ := filepath.Glob(filepath.Join(cfg.Dir, "*-00000000.seg"))
	if len(files) != 1 {
		t.Fatalf("segments %v", files)
	}
	testkit.Must(t, os.Truncate(files[0], 0))
	for i := 20; i < 200; i++ {
		e := event(i)
		if !s.Append(0, &e) {
			t.Fatalf("append %d: dropped", i)
		}
	}
	l := newLedger()
	l.take(t, s.Spool)
	if s.Stats().Faults == 0 {
		t.Error("no fault is counted")
	}
	if l.lost != 20 || s.Stats().Lost != 20 {
		t.Errorf("markers report %d, counted %d, want 20", l.lost, s.Stats().Lost)
	}
	l.wantIDs(t, 20, 200)
}

// A spool keeps a part of the disk free for other programs, but of a large disk no more than they need.
func TestSpool_keeps_room_on_the_disk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		free, total int64
		drops       bool
	}{
		{"a tenth of a small disk", 9 << 20, 100 << 20, true},
		{"more than a tenth of a small disk", 20 << 20, 100 << 20, false},
		{"less than a tenth of a large disk", 20 << 30, 1000 << 30, false},
		{"4 GiB of a large disk", 4 << 30, 1000 << 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := small(scratch(t))
			cfg.Lanes, cfg.MinFreePercent = 1, 10
			s := open(t, spool.WithFaults(cfg, spool.Faults{Space: func(string) (free, total int64, err error) {
				return c.free, c.total, nil
			}}))
			e := event(0)
			s.Append(0, &e)
			if got := s.Stats().Dropped == 1; got != c.drops {
				t.Errorf("with %d of %d bytes free, the click was dropped: %t", c.free, c.total, got)
			}
		})
	}
}

// With SyncAlways, clicks that were put before a sync share it. If it fails, none of them is confirmed, and later clicks go to another
// segment.
func TestSpool_receipts_share_a_sync(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	cfg.Lanes, cfg.Sync = 1, spool.SyncAlways
	var records, fails atomic.Int64
	cfg = spool.WithFaults(cfg, spool.Faults{Sync: func(mem []byte) error {
		if len(mem) > spool.HeaderSize { // not the header
			records.Add(1)
		}
		if fails.Load() > 0 {
			return syscall.EIO
		}
		return nil
	}})
	s := open(t, cfg)
	put := func() (receipts []spool.Receipt) {
		for i := range 50 { // more than a page
			e := event(i)
			r, ok := s.Put(0, &e)
			if !ok {
				t.Fatal("a click was dropped")
			}
			receipts = append(receipts, r)
		}
		return receipts
	}
	receipts := put()
	for _, r := range receipts {
		if !spool.Durable([]spool.Receipt{r}) {
			t.Error("a click was not confirmed")
		}
	}
	if n := records.Load(); n != 1 {
		t.Errorf("%d syncs for clicks that were put before the first", n)
	}
	fails.Store(1)
	lost := put()
	for _, r := range lost {
		if spool.Durable([]spool.Receipt{receipts[0], r}) {
			t.Error("a click was confirmed after a failed sync")
		}
	}
	fails.Store(0)
	for _, r := range lost {
		if spool.Durable([]spool.Receipt{r}) {
			t.Error("a click was confirmed by a sync after the failed one")
		}
	}
	if !spool.Durable(put()) || !spool.Durable(nil) || !spool.Durable([]spool.Receipt{{}}) {
		t.Error("a click was not confirmed")
	}
}

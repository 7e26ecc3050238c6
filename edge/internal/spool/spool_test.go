package spool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// scratch returns a folder in memory if possible, because many tests open thousands of spools.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "spool")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// small returns settings with which a few hundred clicks fill a segment.
func small(dir string) spool.Config {
	return spool.Config{Dir: dir, Lanes: 2, SegmentBytes: 16 << 10, CapBytes: 1 << 20, MinFreePercent: -1, SyncEvery: 5 * time.Millisecond}
}

func event(id int) click.Event {
	return click.Event{
		Time: 1790000000000 + int64(id), Link: uint64(id), Owner: 7,
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		Referer:   "https://example.org/", UTM: link.UTM{Content: strconv.Itoa(id)},
	}
}

// running is an open spool whose Run is running.
type running struct {
	*spool.Spool
	stop func() // ends Run and closes the spool
}

func open(t testing.TB, cfg spool.Config) *running {
	t.Helper()
	s, err := spool.Open(cfg)
	testkit.Must(t, err)
	end := testkit.Run(t, s.Run)
	r := &running{Spool: s}
	r.stop = sync.OnceFunc(func() {
		end()
		testkit.Must(t, s.Close())
	})
	t.Cleanup(r.stop)
	return r
}

// ledger collects the output of readers. It requires ascending numbers, so no number can come twice.
type ledger struct {
	clicks   int
	contents map[string]int // how often each UTM content came
	lost     uint64         // numbers reported by markers
	events   int
	high     map[click.Lane]uint64
}

func newLedger() *ledger {
	return &ledger{contents: map[string]int{}, high: map[click.Lane]uint64{}}
}

// take reads all waiting clicks. It checks that every number up to the last one is a click or reported by a marker,
// exactly once and in order.
func (l *ledger) take(t testing.TB, s *spool.Spool) {
	t.Helper()
	for _, r := range s.Readers() {
		for {
			b := r.Next(100, 20_000)
			if b == nil {
				break
			}
			l.add(t, b)
			r.Ack()
		}
	}
}

func (l *ledger) add(t testing.TB, b *click.Batch) {
	t.Helper()
	d := click.NewDecoder(b)
	for {
		var e click.Event
		ok, err := d.Next(&e)
		if err != nil {
			t.Fatalf("lane %+v: %v", b.Lane, err)
		}
		if !ok {
			return
		}
		l.events++
		want := l.high[b.Lane] + 1
		if e.LostTo != 0 {
			if e.LostFrom != want || e.Seq != e.LostTo {
				t.Fatalf("lane %+v: marker %d for %d to %d, want %d next", b.Lane, e.Seq, e.LostFrom, e.LostTo, want)
			}
			l.lost += e.LostTo - e.LostFrom + 1
		} else {
			if e.Seq != want {
				t.Fatalf("lane %+v: number %d, want %d next", b.Lane, e.Seq, want)
			}
			l.clicks++
			l.contents[e.UTM.Content]++
		}
		l.high[b.Lane] = e.Seq
	}
}

func (l *ledger) wantIDs(t testing.TB, from, to int) {
	t.Helper()
	got := l.contents
	for id := from; id < to; id++ {
		if n := got[strconv.Itoa(id)]; n != 1 {
			t.Errorf("click %d came %d times", id, n)
		}
	}
	if len(got) != to-from {
		t.Errorf("%d clicks, want %d", len(got), to-from)
	}
}

func TestSpool_gives_out_what_was_appended_in_order(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	cfg.CapBytes = 64 << 20
	s := open(t, cfg)
	const each, goroutines = 2000, 4
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				e := event(g*each + i)
				if !s.Append(uint32(g), &e) {
					t.Errorf("click %d was dropped", g*each+i)
				}
			}
		})
	}
	l := newLedger()
	appended := make(chan struct{})
	go func() { wg.Wait(); close(appended) }()
	for going := true; going; {
		select {
		case <-appended:
			going = false
		default:
		}
		l.take(t, s.Spool)
	}
	l.take(t, s.Spool)
	l.wantIDs(t, 0, each*goroutines)
	if st := s.Stats(); st.Pending != 0 || st.Appended != each*goroutines || st.Dropped != 0 || st.State != spool.Healthy {
		t.Errorf("stats %+v", st)
	}
}

func TestSpool_restart_gives_out_what_is_left_and_begins_an_epoch(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	l := newLedger()
	var edge uint64
	for epoch := 1; epoch <= 5; epoch++ {
		cfg.Lanes = 1 + epoch%3 // the number of lanes changes
		s := open(t, cfg)
		if edge == 0 {
			edge = s.Edge()
		}
		if s.Edge() != edge || s.Epoch() != uint32(epoch) {
			t.Fatalf("edge %x epoch %d, want %x and %d", s.Edge(), s.Epoch(), edge, epoch)
		}
		if epoch == 4 {
			l.take(t, s.Spool)
		}
		for i := range 300 {
			e := event((epoch-1)*300 + i)
			s.Append(uint32(i), &e)
		}
		if epoch == 2 { // half of the waiting clicks
			for _, r := range s.Readers() {
				l.add(t, r.Next(70, 1<<20))
				r.Ack()
			}
		}
		s.stop()
	}
	s := open(t, cfg)
	l.take(t, s.Spool)
	l.wantIDs(t, 0, 5*300)
}

func TestOpen_refuses_a_directory_in_use(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	s := open(t, cfg)
	if _, err := spool.Open(cfg); !errors.Is(err, spool.ErrInUse) {
		t.Fatalf("error %v", err)
	}
	s.stop()
	open(t, cfg)
}

func TestOpen_reports_every_bad_setting(t *testing.T) {
	t.Parallel()
	err := spool.Config{Lanes: 65, SegmentBytes: 5, CapBytes: 3, MinFreePercent: 99, Sync: "x", SyncEvery: -1}.Validate()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) || len(all.Unwrap()) != 7 {
		t.Errorf("got %v", err)
	}
}

func TestReader_gives_the_same_batch_until_it_is_acknowledged(t *testing.T) {
	t.Parallel()
	s := open(t, small(scratch(t)))
	for i := range 10 {
		e := event(i)
		s.Append(0, &e)
	}
	r := s.Readers()[0]
	first := string(r.Next(4, 1<<20).Records)
	e := event(10)
	s.Append(0, &e)
	if again := r.Next(1000, 1<<20); again.Count != 4 || string(again.Records) != first {
		t.Error("the batch changed")
	}
	r.Ack()
	if b := r.Next(1000, 1<<20); b.First != 5 || b.Count != 7 {
		t.Errorf("then came %d from %d", b.Count, b.First)
	}
}

func TestReader_wakes_for_an_append(t *testing.T) {
	t.Parallel()
	s := open(t, small(scratch(t)))
	r := s.Readers()[1]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 200 {
		woken := make(chan error, 1)
		go func() { woken <- r.Wait(ctx) }()
		e := event(i)
		s.Append(1, &e)
		testkit.Must(t, <-woken)
		if b := r.Next(10, 1<<20); b == nil || b.Count != 1 {
			t.Fatalf("append %d: woken for %+v", i, b)
		}
		r.Ack()
	}
	cancel()
	if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSpool_at_its_cap_drops_and_counts_exactly(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart=%v", killed), func(t *testing.T) {
			t.Parallel()
			cfg := small(scratch(t))
			cfg.CapBytes = 6 * 16 << 10
			s := open(t, cfg)
			l := newLedger()
			kept, appended, dropped := 0, 0, uint64(0)
			fill := func() {
				for range 4000 {
					e := event(appended)
					appended++
					if s.Append(uint32(appended), &e) {
						kept++
					}
				}
			}
			fill()
			if s.Stats().Dropped == 0 {
				t.Fatalf("the cap has no effect: %+v", s.Stats())
			}
			if st := s.Stats(); st.Bytes > cfg.CapBytes {
				t.Errorf("%d bytes on the disk, cap is %d", st.Bytes, cfg.CapBytes)
			}
			testkit.Eventually(t, "shedding is reported", func() bool { return s.Stats().State == spool.Shedding })
			if killed {
				dropped += s.Stats().Dropped
				s.stop()
				s = open(t, cfg)
			}
			l.take(t, s.Spool)
			testkit.Eventually(t, "space after the disk was freed", func() bool { return s.Stats().State != spool.Shedding })
			testkit.Eventually(t, "markers for all that was dropped", func() bool {
				l.take(t, s.Spool)
				return l.lost == dropped+s.Stats().Dropped
			})
			fill()
			testkit.Eventually(t, "all given out", func() bool {
				l.take(t, s.Spool)
				return l.lost == dropped+s.Stats().Dropped && s.Stats().Pending == 0
			})
			if l.clicks != kept || uint64(appended-kept) != l.lost {
				t.Errorf("appended %d, stored %d, read %d, reported by markers %d", appended, kept, l.clicks, l.lost)
			}
		})
	}
}

func TestSpool_deletes_what_was_retained_long_enough_and_nothing_else(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	cfg.RetainFor = -1
	s := open(t, cfg)
	l := newLedger()
	for i := range 600 {
		e := event(i)
		s.Append(uint32(i), &e)
	}
	segments := func() int {
		files, _ := filepath.Glob(filepath.Join(cfg.Dir, "*.seg"))
		return len(files)
	}
	before := segments()
	l.take(t, s.Spool)
	testkit.Eventually(t, "segments deleted", func() bool { return segments() <= 4 && segments() < before })
	l.wantIDs(t, 0, 600)
	for i := 600; i < 1200; i++ {
		e := event(i)
		s.Append(uint32(i), &e)
	}
	s.stop()
	s = open(t, cfg)
	l.take(t, s.Spool)
	l.wantIDs(t, 0, 1200)
}

func TestReship_gives_retained_clicks_again(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	cfg.Lanes = 1
	s := open(t, cfg)
	lane := click.Lane{Edge: s.Edge(), Epoch: s.Epoch()}
	for i := range 500 {
		e := event(i)
		s.Append(0, &e)
	}
	newLedger().take(t, s.Spool)
	s.stop()
	s = open(t, cfg)
	r := s.Readers()[0]
	if b := r.Next(1, 1<<20); b != nil {
		t.Fatalf("something is left: %+v", b)
	}
	if n, err := s.Reship(lane, 101, 350); n != 250 || err != nil {
		t.Fatalf("Reship gives %d, %v", n, err)
	}
	testkit.Must(t, r.Wait(t.Context()))
	next := uint64(101)
	for {
		b := r.Next(60, 1<<20)
		if b == nil {
			break
		}
		if b.First != next || !b.Repair || b.Lane != lane {
			t.Fatalf("batch %+v, want a repair from %d", b, next)
		}
		next += uint64(b.Count)
		r.Ack()
	}
	if next != 351 {
		t.Errorf("ended before %d", next)
	}
	if _, err := s.Reship(click.Lane{Edge: 1, Epoch: 99}, 1, 2); !errors.Is(err, spool.ErrNotRetained) {
		t.Errorf("unknown lane: %v", err)
	}
	if _, err := s.Reship(lane, 501, 900); !errors.Is(err, spool.ErrNotRetained) {
		t.Errorf("numbers beyond: %v", err)
	}
}

func TestSpool_without_its_small_files_repeats_but_loses_nothing(t *testing.T) {
	t.Parallel()
	cfg := small(scratch(t))
	s := open(t, cfg)
	edge := s.Edge()
	for i := range 100 {
		e := event(i)
		s.Append(uint32(i), &e)
	}
	newLedger().take(t, s.Spool)
	s.stop()
	for _, name := range []string{"shipped", "epoch", "instance.id"} {
		testkit.Must(t, os.WriteFile(filepath.Join(cfg.Dir, name), []byte("rubbish that is no such file"), 0o600))
	}
	s = open(t, cfg)
	if s.Edge() == edge || s.Edge() == 0 || s.Epoch() != 2 {
		t.Errorf("edge %x (was %x), epoch %d", s.Edge(), edge, s.Epoch())
	}
	l := newLedger()
	l.take(t, s.Spool)
	l.wantIDs(t, 0, 100)
}

func TestAppend_does_not_allocate(t *testing.T) {
	cfg := spool.Config{Dir: scratch(t), MinFreePercent: -1}
	s := open(t, cfg)
	e := event(1)
	if n := testing.AllocsPerRun(20_000, func() { s.Append(3, &e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	cfg = small(scratch(t))
	cfg.CapBytes = 4 * 16 << 10
	s = open(t, cfg)
	for s.Append(0, &e) {
	}
	if n := testing.AllocsPerRun(1000, func() { s.Append(3, &e) }); n != 0 {
		t.Errorf("%v allocations at the cap", n)
	}
}

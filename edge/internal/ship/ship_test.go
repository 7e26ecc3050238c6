package ship_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var errUnknown = errors.New("outcome unknown")

// store is a sink that keeps each sequence number once, and checks how it is called.
type store struct {
	t      testing.TB
	refuse func(b *click.Batch) (before, after bool) // returns an error before or after the batch is stored; nil: never

	mu       sync.Mutex
	busy     map[click.Lane]bool
	high     map[click.Lane]uint64
	pending  map[click.Lane][]byte // the rejected batch, which must be the next one
	clicks   map[click.Lane]map[uint64]uint64
	lost     uint64
	repeats  int
	failures int
	batches  int
}

func newStore(t testing.TB) *store {
	return &store{
		t: t, busy: map[click.Lane]bool{}, high: map[click.Lane]uint64{}, pending: map[click.Lane][]byte{},
		clicks: map[click.Lane]map[uint64]uint64{},
	}
}

func (s *store) Deliver(ctx context.Context, b *click.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[b.Lane] {
		s.t.Error("two batches of a lane at once")
	}
	s.busy[b.Lane] = true
	s.mu.Unlock()
	var before, after bool
	if s.refuse != nil {
		before, after = s.refuse(b)
	}
	s.mu.Lock()
	s.busy[b.Lane] = false

	frame := click.AppendBatch(nil, b)
	if old, ok := s.pending[b.Lane]; ok && !bytes.Equal(old, frame) {
		s.t.Errorf("lane %+v: another batch than the one that failed", b.Lane)
	}
	delete(s.pending, b.Lane)
	if before || after {
		s.failures++
		s.pending[b.Lane] = frame
	}
	if before {
		return errUnknown
	}
	s.batches++
	if s.clicks[b.Lane] == nil {
		s.clicks[b.Lane] = map[uint64]uint64{}
	}
	d := click.NewDecoder(b)
	var e click.Event
	for {
		ok, err := d.Next(&e)
		if err != nil {
			s.t.Error(err)
		}
		if !ok {
			break
		}
		if link, again := s.clicks[b.Lane][e.Seq]; again {
			s.repeats++
			if link != e.Link {
				s.t.Errorf("lane %+v: number %d names two clicks", b.Lane, e.Seq)
			}
		} else if e.Seq != s.high[b.Lane]+1 && e.LostFrom != s.high[b.Lane]+1 {
			s.t.Errorf("lane %+v: %d comes after %d", b.Lane, e.Seq, s.high[b.Lane])
		}
		s.high[b.Lane] = max(s.high[b.Lane], e.Seq)
		if e.LostTo != 0 {
			s.lost += e.LostTo - e.LostFrom + 1
		}
		s.clicks[b.Lane][e.Seq] = e.Link
	}
	if after {
		return errUnknown
	}
	return nil
}

func (s *store) links() map[uint64]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := map[uint64]int{}
	for _, lane := range s.clicks {
		for _, link := range lane {
			m[link]++
		}
	}
	return m
}

func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ship")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func settings(dir string) spool.Config {
	return spool.Config{Dir: dir, Lanes: 3, SegmentBytes: 32 << 10, CapBytes: 64 << 20, MinFreePercent: -1}
}

// start runs something until the returned function is called, which waits for it to return.
func start(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func openSpool(t testing.TB, cfg spool.Config) *spool.Spool {
	t.Helper()
	s, err := spool.Open(cfg)
	testkit.Must(t, err)
	return s
}

func newShipper(t testing.TB, s *spool.Spool, sink click.Sink) *ship.Shipper {
	t.Helper()
	sh, err := ship.New(ship.Config{Linger: time.Millisecond, BatchEvents: 50, RetryFirst: time.Millisecond,
		RetryMost: 4 * time.Millisecond},
		s, sink)
	testkit.Must(t, err)
	return sh
}

func TestShipper_delivers_once_each_through_failures_and_restarts(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	sink := newStore(t)
	sink.refuse = func(*click.Batch) (before, after bool) {
		n := rand.IntN(10)
		return n < 2, n == 2 || n == 3
	}
	const rounds, each = 5, 1500
	for round := range rounds {
		s := openSpool(t, settings(dir))
		stopSpool := start(t, s.Run)
		sh := newShipper(t, s, sink)
		stopShip := start(t, sh.Run)
		for i := range each {
			e := click.Event{Link: uint64(round*each + i + 1), UserAgent: "test"}
			if !s.Append(uint32(i), &e) {
				t.Fatal("dropped")
			}
		}
		if round == rounds-1 {
			testkit.Eventually(t, "all shipped", func() bool { return s.Stats().Pending == 0 })
			if st := sh.Stats(); st.Failing != 0 || st.Failures == 0 || st.LastSuccess.IsZero() {
				t.Errorf("stats %+v", st)
			}
		}
		stopShip()
		sink.mu.Lock()
		clear(sink.pending) // after a restart, the rest may be cut into other batches
		sink.mu.Unlock()
		stopSpool()
		testkit.Must(t, s.Close())
	}
	links := sink.links()
	for link := uint64(1); link <= rounds*each; link++ {
		if links[link] != 1 {
			t.Errorf("click %d is stored %d times", link, links[link])
		}
	}
	if len(links) != rounds*each || sink.lost != 0 {
		t.Errorf("%d clicks stored, want %d; %d named by markers", len(links), rounds*each, sink.lost)
	}
	if sink.repeats == 0 || sink.failures == 0 {
		t.Errorf("the test proves nothing: %d repeats, %d failures", sink.repeats, sink.failures)
	}
}

func TestShipper_one_stuck_lane_does_not_hold_up_others(t *testing.T) {
	t.Parallel()
	s := openSpool(t, settings(scratch(t)))
	defer s.Close()
	sink := newStore(t)
	sink.refuse = func(b *click.Batch) (before, after bool) { return b.Lane.Lane == 1, false }
	sh := newShipper(t, s, sink)
	stop := start(t, sh.Run)
	for i := range 90 {
		e := click.Event{Link: uint64(i + 1)}
		s.Append(uint32(i), &e)
	}
	testkit.Eventually(t, "two lanes are through", func() bool { return len(sink.links()) == 60 })
	testkit.Eventually(t, "a lane is failing", func() bool { return sh.Stats().Failing == 1 })
	stop()
	if n := sh.Stats().Failing; n != 0 {
		t.Errorf("%d lanes fail after the stop", n)
	}
	if n := s.Stats().Pending; n != 30 {
		t.Errorf("%d pending, want 30", n)
	}
}

func TestShipper_drain(t *testing.T) {
	t.Parallel()
	s := openSpool(t, settings(scratch(t)))
	defer s.Close()
	for i := range 400 {
		e := click.Event{Link: uint64(i + 1)}
		s.Append(uint32(i), &e)
	}
	sink := newStore(t)
	sink.refuse = func(*click.Batch) (before, after bool) { return true, false }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := newShipper(t, s, sink).Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	sink.refuse = nil
	if err := newShipper(t, s, sink).Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(sink.links()); n != 400 || s.Stats().Pending != 0 {
		t.Errorf("%d stored, %d pending", n, s.Stats().Pending)
	}
}

func TestShipper_linger_makes_company(t *testing.T) {
	t.Parallel()
	cfg := settings(scratch(t))
	cfg.Lanes = 1
	s := openSpool(t, cfg)
	defer s.Close()
	sink := newStore(t)
	sh, err := ship.New(ship.Config{Linger: 200 * time.Millisecond}, s, sink)
	testkit.Must(t, err)
	stop := start(t, sh.Run)
	for i := range 100 {
		e := click.Event{Link: uint64(i + 1)}
		s.Append(0, &e)
	}
	testkit.Eventually(t, "all shipped", func() bool { return s.Stats().Pending == 0 })
	stop()
	if sink.batches > 5 {
		t.Errorf("100 clicks at once went in %d batches", sink.batches)
	}
}

func TestNew_reports_every_bad_setting(t *testing.T) {
	t.Parallel()
	_, err := ship.New(ship.Config{BatchEvents: -1, BatchBytes: 1, RetryFirst: -1, RetryMost: -2, Linger: time.Hour}, nil, nil)
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) || len(all.Unwrap()) != 5 {
		t.Errorf("got %v", err)
	}
}

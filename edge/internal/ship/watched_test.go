package ship_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// While nobody looks, clicks wait for others; when somebody begins to look, those that wait leave at once.
func TestA6_clicks_wait_longer_while_nobody_looks(t *testing.T) {
	t.Parallel()
	cfg := settings(scratch(t))
	cfg.Lanes = 1
	s := openSpool(t, cfg)
	defer s.Close()
	sink := newStore(t)
	var asked atomic.Int64
	var watched atomic.Bool
	sh, err := ship.New(ship.Config{Linger: time.Millisecond, Unwatched: 10 * time.Second, Watched: func() bool {
		asked.Add(1)
		return watched.Load()
	}}, s, sink)
	testkit.Must(t, err)
	start(t, sh.Run)
	for i := range 20 {
		before := asked.Load()
		e := click.Event{Link: uint64(i + 1)}
		s.Append(0, &e)
		testkit.Eventually(t, "several looks", func() bool { return asked.Load() >= before+5 })
	}
	if n := sh.Stats().Batches; n != 0 {
		t.Errorf("%d batches were shipped while nobody looked", n)
	}
	watched.Store(true)
	testkit.Eventually(t, "all shipped", func() bool { return s.Stats().Pending == 0 })
	if n := sh.Stats().Batches; n != 1 {
		t.Errorf("20 clicks went in %d batches", n)
	}
}

// Nobody looks for long, and the clicks leave in the end.
func TestA6_clicks_leave_although_nobody_looks(t *testing.T) {
	t.Parallel()
	cfg := settings(scratch(t))
	cfg.Lanes = 1
	s := openSpool(t, cfg)
	defer s.Close()
	nobody := func() bool { return false }
	sh, err := ship.New(ship.Config{Linger: time.Millisecond, Unwatched: 20 * time.Millisecond, Watched: nobody}, s, newStore(t))
	testkit.Must(t, err)
	start(t, sh.Run)
	e := click.Event{Link: 1}
	s.Append(0, &e)
	testkit.Eventually(t, "it is shipped", func() bool { return s.Stats().Pending == 0 })
}

// Package ship reads clicks from the spool and delivers them to a click.Sink, lane by lane and in order.
//
// It owns the pace: how long a batch waits for more clicks, and the delay after a failure before the same batch is
// retried. Each lane has one batch in flight, with unchanged bytes until the sink returns nil; only then is it
// acknowledged to the spool. The spool provides durability, and the sink counts each click once. A batch that a sink
// rejects permanently blocks its lane, so the sink must handle such batches. While shipping is held (see Hold), clicks
// stay in the spool.
package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
)

// Config has the settings. A zero value means the default.
type Config struct {
	// Linger is how long a batch waits for more clicks after its first one; default 25 ms. A negative value disables
	// it.
	Linger time.Duration
	// Watched reports whether somebody looks at clicks. While it returns false, a batch waits up to Unwatched, default half a
	// second, because many small batches cost a sink much more than a few larger ones. nil: somebody always looks. It has no
	// effect if Linger is negative or longer than Unwatched.
	Watched     func() bool
	Unwatched   time.Duration
	BatchEvents int           // maximum events in one batch, default 10,000
	BatchBytes  int           // maximum bytes of records in one batch, default 1,000,000
	RetryFirst  time.Duration // delay after the first failure, default 50 ms; it doubles with each further failure
	RetryMost   time.Duration // longest delay, default 5 s; each delay is shortened by up to a half at random
	Origin      click.Origin  // of this edge; every batch carries it
	Logger      *slog.Logger  // default: no logging
}

func (c Config) withDefaults() Config {
	c.Linger = cmp.Or(c.Linger, 25*time.Millisecond)
	c.Unwatched = cmp.Or(c.Unwatched, 500*time.Millisecond)
	c.BatchEvents = cmp.Or(c.BatchEvents, 10_000)
	c.BatchBytes = cmp.Or(c.BatchBytes, 1_000_000)
	c.RetryFirst = cmp.Or(c.RetryFirst, 50*time.Millisecond)
	c.RetryMost = cmp.Or(c.RetryMost, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Validate reports all invalid settings, after defaults are applied.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("ship: "+format, args...))
		}
	}
	check(c.Linger <= 10*time.Second, "linger of %v must be at most 10 s", c.Linger)
	check(c.Unwatched > 0 && c.Unwatched <= 10*time.Second, "linger of %v while nobody looks must be at most 10 s", c.Unwatched)
	check(c.BatchEvents > 0, "batches of %d events: must be at least 1", c.BatchEvents)
	check(c.BatchBytes >= click.MaxRecord, "batches of %d bytes: must be at least %d", c.BatchBytes, click.MaxRecord)
	check(c.RetryFirst > 0, "first retry delay of %v must be positive", c.RetryFirst)
	check(c.RetryMost >= c.RetryFirst, "longest retry delay of %v must be at least the first one", c.RetryMost)
	return errors.Join(problems...)
}

// Shipper ships one spool to one sink.
type Shipper struct {
	cfg   Config
	log   *slog.Logger
	spool *spool.Spool
	sink  click.Sink

	busy sync.Mutex // one Run or Drain at a time, because a reader is for one goroutine

	batches     atomic.Uint64
	events      atomic.Uint64
	bytes       atomic.Uint64
	failures    atomic.Uint64
	failing     atomic.Int64
	lastSuccess atomic.Int64

	hold gate

	// waiting is, for each lane, the time of the first click of the current batch in Unix milliseconds; 0 without a
	// batch.
	waiting []atomic.Int64
}

// New returns a Shipper, or an error about its settings. The spool must stay open while Run or Drain runs.
func New(cfg Config, from *spool.Spool, to click.Sink) (*Shipper, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Shipper{cfg: cfg, log: cfg.Logger, spool: from, sink: to, waiting: make([]atomic.Int64, len(from.Readers()))}, nil
}

// Run ships until the context ends, and returns nil. A delivery that this interrupts counts as not done.
func (s *Shipper) Run(ctx context.Context) error {
	s.each(func(lane int, r *spool.Reader) {
		for r.Wait(ctx) == nil {
			s.linger(ctx, r)
			if b := r.Next(s.cfg.BatchEvents, s.cfg.BatchBytes); b != nil && s.deliver(ctx, lane, b) {
				r.Ack()
			}
		}
	})
	return nil
}

// linger waits for more clicks. It looks up every Linger, so that clicks arrive soon after somebody begins to look at them.
func (s *Shipper) linger(ctx context.Context, r *spool.Reader) {
	for waited := time.Duration(0); s.cfg.Linger > 0 && r.Backlog() < int64(s.cfg.BatchBytes); {
		if !backoff.Sleep(ctx, s.cfg.Linger) {
			return
		}
		if waited += s.cfg.Linger; s.cfg.Watched == nil || waited >= s.cfg.Unwatched || s.cfg.Watched() {
			return
		}
	}
}

// Drain ships what is in the spool now, without lingering. It returns nil when everything was acknowledged, the
// context's error if that ended first, or ErrHeld. It waits until Run has returned.
func (s *Shipper) Drain(ctx context.Context) error {
	var cut atomic.Bool
	s.each(func(lane int, r *spool.Reader) {
		for {
			b := r.Next(s.cfg.BatchEvents, s.cfg.BatchBytes)
			if b == nil {
				return
			}
			if s.hold.shut() || !s.deliver(ctx, lane, b) {
				cut.Store(true)
				return
			}
			r.Ack()
		}
	})
	if cut.Load() {
		if err := ctx.Err(); err != nil {
			return err
		}
		return ErrHeld
	}
	return nil
}

// each runs work for every lane and waits for all lanes.
func (s *Shipper) each(work func(lane int, r *spool.Reader)) {
	s.busy.Lock()
	defer s.busy.Unlock()
	var lanes sync.WaitGroup
	for i, r := range s.spool.Readers() {
		lanes.Go(func() { work(i, r) })
	}
	lanes.Wait()
}

// deliver delivers the batch, with retries. It returns false if the context ended first.
func (s *Shipper) deliver(ctx context.Context, lane int, b *click.Batch) bool {
	if !b.Repair { // a repaired batch was acknowledged before
		s.waiting[lane].Store(begins(b))
		defer s.waiting[lane].Store(0)
	}
	for tries := 1; ; tries++ {
		if !s.hold.wait(ctx) {
			if tries > 1 {
				s.failing.Add(-1)
			}
			return false
		}
		b.Origin = s.cfg.Origin
		err := s.sink.Deliver(ctx, b)
		if err == nil {
			if tries > 1 {
				s.failing.Add(-1)
				s.log.Info("click delivery recovered", "epoch", b.Epoch, "lane", b.Lane.Lane, "attempts", tries)
			}
			s.batches.Add(1)
			s.events.Add(uint64(b.Count))
			s.bytes.Add(uint64(len(b.Records)))
			s.lastSuccess.Store(time.Now().UnixMilli())
			return true
		}
		s.failures.Add(1)
		if tries == 1 {
			s.failing.Add(1)
			s.log.Warn("click delivery failed, retrying", "epoch", b.Epoch, "lane", b.Lane.Lane, "first", b.First, "events", b.Count,
				"error", err)
		}
		backoff.Sleep(ctx, backoff.Policy{First: s.cfg.RetryFirst, Most: s.cfg.RetryMost}.Delay(tries))
	}
}

// begins returns the time of a batch's first click, or 0 if its bytes are not valid clicks.
func begins(b *click.Batch) int64 {
	var e click.Event
	d := click.NewDecoder(b)
	if ok, err := d.Next(&e); !ok || err != nil {
		return 0
	}
	return e.Time
}

// Stats has the current figures of a Shipper. Counters start with the process.
type Stats struct {
	Batches     uint64        // acknowledged
	Events      uint64        // acknowledged, loss markers included
	Bytes       uint64        // of records acknowledged
	Failures    uint64        // deliveries that returned an error
	Failing     int           // lanes whose current batch failed and is not delivered yet
	Held        bool          // shipping is held, see Hold
	Oldest      time.Duration // age of the oldest click in a delivery; 0 without a delivery
	LastSuccess time.Time
}

// Stats returns the current figures. It may be called at any time.
func (s *Shipper) Stats() Stats {
	st := Stats{
		Batches: s.batches.Load(), Events: s.events.Load(), Bytes: s.bytes.Load(),
		Failures: s.failures.Load(), Failing: int(s.failing.Load()), Held: s.hold.shut(),
	}
	for i := range s.waiting {
		if at := s.waiting[i].Load(); at != 0 {
			st.Oldest = max(st.Oldest, time.Since(time.UnixMilli(at)))
		}
	}
	if at := s.lastSuccess.Load(); at != 0 {
		st.LastSuccess = time.UnixMilli(at)
	}
	return st
}

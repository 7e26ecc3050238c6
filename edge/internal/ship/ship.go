// Package ship takes clicks out of the spool and gives them to a click.Sink, lane by lane and in order.
//
// It owns the pace: how long to wait for company before a batch leaves, and how long after a failure before the
// same batch is tried again. It promises one batch in flight a lane, the very same bytes until the sink has
// returned nil, and an acknowledgement to the spool only then. It leaves durability to the spool and counting
// once to the sink; a batch that a sink refuses for ever holds up its lane for ever, and is for the sink to deal
// with. Nothing leaves while it is held (see Hold); clicks then stay in the spool.
package ship

import (
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

// Config holds the settings. The zero value of each means its default.
type Config struct {
	// Linger is how long a batch waits for more clicks after its first. Default 25 ms; negative: not at all.
	Linger      time.Duration
	BatchEvents int           // most in one batch, default 10,000
	BatchBytes  int           // most bytes of records in one batch, default 1,000,000
	RetryFirst  time.Duration // wait after a first failure, default 50 ms; it doubles with each further one
	RetryMost   time.Duration // up to this, default 5 s; each wait is shortened by up to a half at random
	Origin      click.Origin  // of the batches
	Logger      *slog.Logger  // default: says nothing
}

func (c Config) withDefaults() Config {
	if c.Linger == 0 {
		c.Linger = 25 * time.Millisecond
	}
	if c.BatchEvents == 0 {
		c.BatchEvents = 10_000
	}
	if c.BatchBytes == 0 {
		c.BatchBytes = 1_000_000
	}
	if c.RetryFirst == 0 {
		c.RetryFirst = 50 * time.Millisecond
	}
	if c.RetryMost == 0 {
		c.RetryMost = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports every setting that makes no sense, defaults being filled in first.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("ship: "+format, args...))
		}
	}
	check(c.Linger <= 10*time.Second, "lingering for %v, must be at most 10 s", c.Linger)
	check(c.BatchEvents > 0, "batches of %d events, must be at least 1", c.BatchEvents)
	check(c.BatchBytes >= click.MaxRecord, "batches of %d bytes, must be at least %d", c.BatchBytes, click.MaxRecord)
	check(c.RetryFirst > 0, "first retry after %v, must be positive", c.RetryFirst)
	check(c.RetryMost >= c.RetryFirst, "retries up to %v apart, must be at least the first wait", c.RetryMost)
	return errors.Join(problems...)
}

// Shipper ships one spool to one sink.
type Shipper struct {
	cfg   Config
	log   *slog.Logger
	spool *spool.Spool
	sink  click.Sink

	busy sync.Mutex // one Run or Drain at a time: a reader is for one goroutine

	batches     atomic.Uint64
	events      atomic.Uint64
	bytes       atomic.Uint64
	failures    atomic.Uint64
	failing     atomic.Int64
	lastSuccess atomic.Int64

	hold gate

	// waiting is, by lane, the time of the first click of the batch in hand, Unix milliseconds; 0: none is in hand.
	waiting []atomic.Int64
}

// New returns a shipper, or an error about its settings. The spool must be open for as long as Run or Drain run.
func New(cfg Config, from *spool.Spool, to click.Sink) (*Shipper, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Shipper{cfg: cfg, log: cfg.Logger, spool: from, sink: to, waiting: make([]atomic.Int64, len(from.Readers()))}, nil
}

// Run ships until the context ends, and returns nil. A delivery that is cut off by that counts as not done.
func (s *Shipper) Run(ctx context.Context) error {
	s.each(func(lane int, r *spool.Reader) {
		for r.Wait(ctx) == nil {
			if s.cfg.Linger > 0 && r.Backlog() < int64(s.cfg.BatchBytes) {
				backoff.Sleep(ctx, s.cfg.Linger)
			}
			if b := r.Next(s.cfg.BatchEvents, s.cfg.BatchBytes); b != nil && s.deliver(ctx, lane, b) {
				r.Ack()
			}
		}
	})
	return nil
}

// Drain ships what is in the spool now, without lingering, and returns nil when all of it was acknowledged, or
// the context's error when that ended before, or ErrHeld. It waits for Run to return first.
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

// each runs work for every lane and waits for all.
func (s *Shipper) each(work func(lane int, r *spool.Reader)) {
	s.busy.Lock()
	defer s.busy.Unlock()
	var lanes sync.WaitGroup
	for i, r := range s.spool.Readers() {
		lanes.Go(func() { work(i, r) })
	}
	lanes.Wait()
}

// deliver gives the batch to the sink as often as it takes. It returns false if the context ended first.
func (s *Shipper) deliver(ctx context.Context, lane int, b *click.Batch) bool {
	if !b.Repair { // what is shipped once more was acknowledged before
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
				s.log.Info("clicks are delivered again", "epoch", b.Epoch, "lane", b.Lane.Lane, "tries", tries)
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
			s.log.Warn("clicks can't be delivered, trying again", "epoch", b.Epoch, "lane", b.Lane.Lane, "first", b.First, "events", b.Count, "error", err)
		}
		backoff.Sleep(ctx, backoff.Policy{First: s.cfg.RetryFirst, Most: s.cfg.RetryMost}.Delay(tries))
	}
}

// begins is the time of a batch's first click, 0 if its bytes are no clicks.
func begins(b *click.Batch) int64 {
	var e click.Event
	d := click.NewDecoder(b)
	if ok, err := d.Next(&e); !ok || err != nil {
		return 0
	}
	return e.Time
}

// Stats is a moment's account. Counters count from the start of the process.
type Stats struct {
	Batches     uint64        // acknowledged
	Events      uint64        // acknowledged, loss markers included
	Bytes       uint64        // of records acknowledged
	Failures    uint64        // deliveries that returned an error
	Failing     int           // lanes whose batch failed and is not through yet
	Held        bool          // nothing is shipped, see Hold
	Oldest      time.Duration // how long the oldest click of those that are being delivered has waited; 0 if none is
	LastSuccess time.Time
}

// Stats returns the account. It may be called at any time.
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

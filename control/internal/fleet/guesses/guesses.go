// Package guesses counts wrong guesses at links' passwords at all edges together: it is the guess.Exchange that edges
// tell and hear each other through.
//
// It promises that reports that come to different replicas are counted together, that a report is answered with what is
// counted then, and that every edge that asks hears of a change at once from the replica that took it and within some 250
// ms from any other. What it keeps is bounded: addresses stay in the database until nothing is held against them any more
// (ten minutes after the last guess or the end of the lock), and beyond MaxRows those that would go first go at once.
// Who may ask is left to others. Known weakness: replicas compare times by their own clocks.
package guesses

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/guess"
)

// Config has a working zero value.
type Config struct {
	// Hold is how long News waits; 0 means 25 s.
	Hold time.Duration
	// MaxRows is how many clients are remembered at most, as of the last sweep; 0 means 100,000.
	MaxRows int
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

const (
	pollEvery  = 250 * time.Millisecond // for what other replicas have taken
	sweepEvery = 30 * time.Second
	maxWaiting = 64 // reports that wait for their turn
	maxReady   = 16 // answers that are kept for other edges
)

// Book is safe for concurrent use. It is a service: Run looks for what other replicas have taken, and forgets.
type Book struct {
	cfg     Config
	store   *store.Store
	turn    chan struct{} // capacity 1
	waiting atomic.Int32
	asking  atomic.Int32

	mu      sync.Mutex
	mark    uint64
	changed chan struct{}     // closed and replaced when mark is another one
	ready   map[uint64]answer // by the mark asked after; of mark

	told, busy, failed atomic.Uint64
	success            atomic.Int64
}

// answer is what changed up to a mark.
type answer struct {
	next uint64
	rows []store.GuessRow
}

var _ guess.Exchange = (*Book)(nil)

// New makes a Book of an open store.
func New(cfg Config, st *store.Store) *Book {
	if cfg.Hold == 0 {
		cfg.Hold = 25 * time.Second
	}
	if cfg.MaxRows == 0 {
		cfg.MaxRows = 100_000
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Book{cfg: cfg, store: st, turn: make(chan struct{}, 1), changed: make(chan struct{}), ready: map[uint64]answer{}}
}

// Tell is guess.Exchange's. The report has been validated. The error wraps guess.ErrBusy where too many others wait.
func (b *Book) Tell(ctx context.Context, r guess.Report) ([]guess.Standing, error) {
	if b.waiting.Add(1) > maxWaiting {
		b.waiting.Add(-1)
		b.busy.Add(1)
		return nil, guess.ErrBusy
	}
	defer b.waiting.Add(-1)
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if len(r.Tries) == 0 {
		return nil, nil
	}
	now := b.cfg.Now()
	var rows []store.GuessRow
	err := b.store.Tx(ctx, func(tx *store.Tx) (err error) {
		told := make(map[guess.Client]guess.Told, len(r.Tries))
		rows = rows[:0]
		for _, t := range r.Tries {
			if _, twice := told[t.Client]; !twice {
				rows = append(rows, store.GuessRow{Link: t.Link, Client: t.From.String()})
			}
			told[t.Client] = t
		}
		rows, err = tx.ChangeGuesses(ctx, rows, func(g *store.GuessRow) {
			from, _ := netip.ParseAddr(g.Client) // written by us
			count(g, told[guess.Client{Link: g.Link, From: from}], now)
		})
		return err
	})
	if err != nil {
		b.failed.Add(1)
		return nil, fmt.Errorf("count guesses: %w", err)
	}
	b.told.Add(uint64(len(rows)))
	b.success.Store(now.UnixMilli())
	if len(rows) > 0 {
		b.advance(rows[0].Mark)
	}
	return standings(rows, now), nil
}

// count adds what was told to what is known.
func count(g *store.GuessRow, t guess.Told, now time.Time) {
	var was guess.Tries
	if g.Mark != 0 && !t.Right {
		was = guess.Tries{Count: g.Count, Last: time.UnixMilli(g.LastAt)}
	}
	is := was.With(t.Count, now.Add(-time.Duration(t.AgoMs)*time.Millisecond))
	g.Count, g.LastAt, g.ForgetAt = is.Count, is.Last.UnixMilli(), is.ForgetAt().UnixMilli()
}

func standings(rows []store.GuessRow, now time.Time) []guess.Standing {
	out := make([]guess.Standing, 0, len(rows))
	for _, g := range rows {
		from, err := netip.ParseAddr(g.Client)
		if err != nil {
			continue // not ours
		}
		out = append(out, guess.Standing{Client: guess.Client{Link: g.Link, From: from}, Count: g.Count, AgoMs: guess.Ago(time.UnixMilli(g.LastAt), now), Mark: g.Mark})
	}
	return out
}

// News is guess.Exchange's.
func (b *Book) News(ctx context.Context, after uint64) (guess.News, error) {
	b.asking.Add(1)
	defer b.asking.Add(-1)
	wait, cancel := context.WithTimeout(ctx, b.cfg.Hold)
	defer cancel()
	b.mu.Lock()
	behind := b.mark == 0 || after > b.mark
	b.mu.Unlock()
	if behind {
		if err := b.refresh(ctx); err != nil {
			return guess.News{}, err
		}
	}
	for {
		b.mu.Lock()
		mark, changed := b.mark, b.changed
		b.mu.Unlock()
		again := after > mark // the database is another one, or was put back
		if again {
			after = 0
		}
		if mark > after || again {
			a, err := b.since(ctx, after, mark)
			if err != nil {
				return guess.News{}, err
			}
			if again || len(a.rows) > 0 {
				return guess.News{Next: a.next, Standings: standings(a.rows, b.cfg.Now())}, nil
			}
			after = a.next
		}
		select {
		case <-changed:
		case <-wait.Done():
			return guess.News{Next: after}, ctx.Err()
		}
	}
}

// since reads what changed after a mark, once for all edges that ask the same.
func (b *Book) since(ctx context.Context, after, mark uint64) (answer, error) {
	b.mu.Lock()
	a, ok := b.ready[after]
	ok = ok && b.mark == mark
	b.mu.Unlock()
	if ok {
		return a, nil
	}
	rows, err := b.store.GuessesAfter(ctx, after, b.cfg.Now().UnixMilli(), guess.MaxStandings-guess.MaxTold)
	if err != nil {
		return a, fmt.Errorf("read guesses: %w", err)
	}
	a = answer{max(mark, after), rows}
	if n := len(rows); n >= guess.MaxStandings-guess.MaxTold || n > 0 && rows[n-1].Mark > mark {
		a.next = rows[n-1].Mark // there may be more, or there is more already
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mark == mark && len(b.ready) < maxReady {
		b.ready[after] = a
	}
	return a, nil
}

// refresh looks for what other replicas have taken.
func (b *Book) refresh(ctx context.Context) error {
	mark, err := b.store.GuessMark(ctx)
	if err != nil {
		b.failed.Add(1)
		return fmt.Errorf("read the mark of guesses: %w", err)
	}
	b.mu.Lock()
	known := b.mark
	b.mu.Unlock()
	if mark < known { // a read that was overtaken by a report, or a database that was put back
		if mark, err = b.store.GuessMark(ctx); err != nil {
			return err
		}
		b.put(mark)
		return nil
	}
	b.advance(mark)
	return nil
}

func (b *Book) advance(mark uint64) {
	b.mu.Lock()
	known := b.mark
	b.mu.Unlock()
	if mark > known {
		b.put(mark)
	}
}

func (b *Book) put(mark uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if mark == b.mark {
		return
	}
	b.mark = mark
	clear(b.ready)
	close(b.changed)
	b.changed = make(chan struct{})
}

// Run keeps the book up to date while edges ask, and forgets what is over, until ctx ends.
func (b *Book) Run(ctx context.Context) error {
	poll, sweep := time.NewTicker(pollEvery), time.NewTicker(sweepEvery)
	defer poll.Stop()
	defer sweep.Stop()
	failing := false
	for {
		var err error
		select {
		case <-poll.C:
			if b.asking.Load() == 0 {
				continue
			}
			err = b.refresh(ctx)
		case <-sweep.C:
			err = b.Sweep(ctx)
		case <-ctx.Done():
			return nil
		}
		if err != nil && ctx.Err() == nil && !failing {
			b.cfg.Logger.Error("guesses of edges can't be shared for now, each edge counts for itself", "error", err.Error())
		}
		failing = err != nil
	}
}

// Sweep forgets what is over, and what is too much.
func (b *Book) Sweep(ctx context.Context) error {
	err := b.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.ForgetGuesses(ctx, b.cfg.Now().UnixMilli(), b.cfg.MaxRows)
	})
	if err != nil {
		b.failed.Add(1)
		return fmt.Errorf("forget guesses: %w", err)
	}
	b.mu.Lock()
	clear(b.ready)
	b.mu.Unlock()
	return nil
}

var (
	toldDesc   = prometheus.NewDesc("shortline_guesses_told_total", "Clients of whose guesses at links' passwords edges have told.", nil, nil)
	busyDesc   = prometheus.NewDesc("shortline_guesses_busy_total", "Reports of guesses that were refused because too many waited.", nil, nil)
	failedDesc = prometheus.NewDesc("shortline_guesses_errors_total", "Reports and readings of guesses that failed.", nil, nil)
	lastDesc   = prometheus.NewDesc("shortline_guesses_last_success_timestamp_seconds", "When a report of guesses was last counted, 0 for never.", nil, nil)
)

// Describe and Collect make the Book a prometheus.Collector.
func (b *Book) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{toldDesc, busyDesc, failedDesc, lastDesc} {
		ch <- d
	}
}

// Collect reads the counters.
func (b *Book) Collect(ch chan<- prometheus.Metric) {
	total := func(d *prometheus.Desc, v uint64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	total(toldDesc, b.told.Load())
	total(busyDesc, b.busy.Load())
	total(failedDesc, b.failed.Load())
	ch <- prometheus.MustNewConstMetric(lastDesc, prometheus.GaugeValue, float64(b.success.Load())/1000)
}

// Package ingest takes clicks from edges into the analytics store, once each, and keeps the counters that the
// control plane shows true to it.
//
// It owns enrichment (who and where the visitor was) and the counters clickCount and matchCount. It promises that a
// delivery which returned nil is stored and counted exactly once, whatever was repeated, reordered between lanes
// or interrupted: the store takes rows and lane marks together and knows every click by its identity. Counters are
// set to what the store counts, never added up, so whatever goes wrong with them heals.
//
// Who must hear of every click (webhooks) is told before it is stored: a process that dies in between is given the
// click again and tells it again, so an Observer hears of each at least once and knows repetitions by Row.ID. Who
// only wants to be quick (caches, live feeds) is told after, and may miss some when a process dies.
package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
)

// Observer must hear of every click: nothing of a delivery is stored, and it is not acknowledged, until Note has
// returned nil. So it hears of each at least once, in no promised order between lanes, and answers for what it has
// acknowledged. The rows are shared: they must not be changed or kept. It is called on the path of delivery, so it
// must be quick.
type Observer interface {
	Note(ctx context.Context, rows []analytics.Row) error
}

// Config has a working zero value.
type Config struct {
	// Every is how often counters are set while clicks come in; 0 means 500 ms.
	Every time.Duration
	// HealEvery is how often all counters are compared with the store, besides at the start; 0 means 10 minutes.
	HealEvery time.Duration
	// Retention is for how many days clicks are kept, by their own time; 0 means for ever. Counters go on counting those
	// that are gone.
	Retention int
	// Observer is told of clicks before they are stored; nil for nobody.
	Observer Observer
	// Stored are called with clicks that a reader of the store can see from now on, for those who may miss some.
	// They must neither wait nor change or keep the rows.
	Stored []func([]analytics.Row)
	// Logger nil means slog.Default().
	Logger *slog.Logger
}

// Ingester is a click.Sink. Run keeps its counters.
type Ingester struct {
	cfg    Config
	store  *store.Store
	clicks analytics.Store
	enrich *Enricher

	turn chan struct{} // held while committing
	// marks is what the store is known to have of each lane, nil before it was asked; only who holds the turn uses it.
	marks map[click.Lane]uint64

	mu      sync.Mutex
	waiting []*delivery
	dirty   map[uint64]touched

	expired atomic.Pointer[store.ExpiredTotals] // nil before they were read

	wake  chan struct{} // has room for one: counters have something to do
	stats counts
}

var _ click.Sink = (*Ingester)(nil)

// New returns an Ingester. It reads nothing from the stores: the first delivery reads the mark of each lane. With a nil
// Enricher, the Ingester makes one that knows no places.
func New(cfg Config, s *store.Store, clicks analytics.Store, enrich *Enricher) *Ingester {
	if enrich == nil {
		enrich = NewEnricher(nil)
	}
	if cfg.Every <= 0 {
		cfg.Every = 500 * time.Millisecond
	}
	if cfg.HealEvery <= 0 {
		cfg.HealEvery = 10 * time.Minute
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Ingester{
		cfg: cfg, store: s, clicks: clicks, enrich: enrich,
		turn: make(chan struct{}, 1), dirty: map[uint64]touched{}, wake: make(chan struct{}, 1),
	}
}

// ReloadMarks reads again what the store has of each lane, for whoever takes lanes over from another process. It
// waits for the commit under way, and may be called while clicks are delivered. After an error the marks are as
// they were.
func (in *Ingester) ReloadMarks(ctx context.Context) error {
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := in.loadMarks(ctx); err != nil {
		return fmt.Errorf("ingest: read again what is stored: %w", err)
	}
	return nil
}

// loadMarks is for who holds the turn.
func (in *Ingester) loadMarks(ctx context.Context) error {
	list, err := in.clicks.Marks(ctx)
	if err != nil {
		return err
	}
	in.marks = make(map[click.Lane]uint64, len(list))
	for _, m := range list {
		in.marks[m.Lane] = m.Seq
	}
	return nil
}

// delivery is one batch on its way, decoded and enriched.
type delivery struct {
	lane   click.Lane
	repair bool
	first  uint64
	last   uint64
	rows   []analytics.Row
	losses []analytics.Loss

	done bool // with err; written and read by who holds the turn
	err  error
}

// maxGroup bounds the clicks that one insert takes, unless a single batch has more. On their way into the store they
// take about 3 KiB each.
const maxGroup = 25_000

// Deliver implements click.Sink. Deliveries that meet are committed together. Bytes that are no clicks give an
// error that wraps click.ErrCorrupt or click.ErrSchema; delivering them again will not help.
func (in *Ingester) Deliver(ctx context.Context, b *click.Batch) error {
	d, err := in.enrich.read(b)
	if err != nil {
		in.stats.refused.Add(1)
		return fmt.Errorf("ingest: %w", err)
	}
	if b.Count == 0 {
		return nil
	}
	in.mu.Lock()
	in.waiting = append(in.waiting, d)
	in.mu.Unlock()
	for {
		select {
		case in.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err() // somebody else may still commit it, which a repetition won't mind
		}
		if !d.done {
			in.commit(ctx)
		}
		done, err := d.done, d.err
		<-in.turn
		if done {
			return err
		}
	}
}

// commit inserts what is waiting, up to a bound. Only who holds the turn calls it.
func (in *Ingester) commit(ctx context.Context) {
	in.mu.Lock()
	n, clicks := 0, 0
	for n < len(in.waiting) && (n == 0 || clicks+len(in.waiting[n].rows) <= maxGroup) {
		clicks += len(in.waiting[n].rows)
		n++
	}
	group := in.waiting[:n:n]
	in.waiting = in.waiting[n:]
	in.mu.Unlock()

	// The group is not only this caller's, so its context does not end it.
	ctx = context.WithoutCancel(ctx)
	var err error
	if in.marks == nil {
		err = in.loadMarks(ctx)
	}
	var batch analytics.Batch
	var seen uint64
	if err == nil {
		batch, seen = in.gather(group)
	}
	for _, d := range group {
		d.rows, d.losses = nil, nil // the batch has copies, and a delivery that fails is decoded anew
	}
	if len(batch.Rows) > 0 && in.cfg.Observer != nil {
		err = in.cfg.Observer.Note(ctx, batch.Rows)
	}
	if err == nil && len(batch.Rows)+len(batch.Losses)+len(batch.Marks) > 0 {
		err = in.clicks.Insert(ctx, batch)
	}
	if err != nil {
		in.stats.failed.Add(1)
		err = fmt.Errorf("ingest: %w", err)
	} else {
		for _, m := range batch.Marks {
			in.marks[m.Lane] = m.Seq
		}
		in.stats.stored.Add(uint64(len(batch.Rows)))
		in.stats.repeated.Add(seen)
		for _, l := range batch.Losses {
			in.stats.lost.Add(l.To - l.From + 1)
		}
		in.stats.last.Store(time.Now().UnixMilli())
		in.touch(batch.Rows)
		if len(batch.Rows) > 0 {
			for _, f := range in.cfg.Stored {
				f(batch.Rows)
			}
		}
	}
	for _, d := range group {
		d.done = true
		if d.err == nil {
			d.err = err
		}
	}
}

// gather makes one batch of a group, without what is known to be stored, and says how many clicks that were.
func (in *Ingester) gather(group []*delivery) (b analytics.Batch, known uint64) {
	lifted := map[click.Lane]uint64{}
	mark := func(l click.Lane) uint64 { return max(in.marks[l], lifted[l]) }
	var taken map[analytics.Identity]bool // with a repair only: its clicks may meet the same ones in the group
	rows := 0
	for _, d := range group {
		rows += len(d.rows)
		if d.repair && taken == nil {
			taken = map[analytics.Identity]bool{}
		}
	}
	b.Rows = make([]analytics.Row, 0, rows)
	for _, d := range group {
		above := mark(d.lane)
		if d.repair {
			if d.last > above {
				d.err = click.ErrTooFar
				continue
			}
			above = 0
		}
		for i := range d.rows {
			id := d.rows[i].Identity
			if id.Seq <= above || taken[id] {
				known++
				continue
			}
			if taken != nil {
				taken[id] = true
			}
			b.Rows = append(b.Rows, d.rows[i])
		}
		for _, l := range d.losses {
			if l.Seq > above && !d.repair {
				b.Losses = append(b.Losses, l)
			}
		}
		if d.last > above && !d.repair {
			lifted[d.lane] = d.last
		}
	}
	for lane, seq := range lifted {
		b.Marks = append(b.Marks, analytics.Mark{Lane: lane, Seq: seq})
	}
	return b, known
}

// Stats is what was done since the start.
type Stats struct {
	Stored   uint64 // clicks
	Repeated uint64 // clicks that were delivered again and passed over
	Lost     uint64 // clicks that edges report as lost for want of room
	Refused  uint64 // batches that were no clicks
	Failed   uint64 // inserts that failed and will be repeated

	LastStored  time.Time // zero: never
	LastCounted time.Time // when counters were last set, or found right
	CountFailed uint64
}

type counts struct {
	stored, repeated, lost, refused, failed, countFailed atomic.Uint64
	last, counted                                        atomic.Int64
}

// Stats reads the counters.
func (in *Ingester) Stats() Stats {
	at := func(ms int64) time.Time {
		if ms == 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms)
	}
	c := &in.stats
	return Stats{c.stored.Load(), c.repeated.Load(), c.lost.Load(), c.refused.Load(), c.failed.Load(), at(c.last.Load()), at(c.counted.Load()), c.countFailed.Load()}
}

// Package ingest stores clicks from edges in the click store, each exactly once, and keeps the counters in the database
// equal to it.
//
// It owns enrichment (visitor's place, device and bot detection) and the counters clickCount and matchCount. If a
// delivery returns nil, its clicks are stored and counted exactly once, whatever was repeated, interrupted, or
// reordered between lanes. This works because the store inserts rows and lane marks together and knows every click by
// its identity. Counters are set to what the store counts and never incremented, so wrong counters correct themselves.
//
// An Observer (webhooks) receives clicks before they are stored. If the process ends in between, the clicks are
// delivered and observed again. An Observer therefore receives each click at least once, and recognizes repetitions by
// Row.ID. The functions of Config.Stored (caches, live feeds) are called after the insert, and miss clicks if the
// process ends before.
package ingest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/metric"
)

// Observer receives every click at least once: a delivery is neither stored nor acknowledged before Note returns nil.
// The order between lanes is undefined. When Note returns nil, the Observer is responsible for these clicks. It must
// not change or keep the rows. Note delays the delivery, so it must be fast.
type Observer interface {
	Note(ctx context.Context, rows []analytics.Row) error
}

// Config has a usable zero value.
type Config struct {
	// Every is the minimum interval between updates of counters; 0 means 500 ms.
	Every time.Duration
	// RepairEvery is the interval between comparisons of counters with the click store; 0 means 10 minutes. The first
	// comparison is at the start.
	RepairEvery time.Duration
	// CompareLinks is how many links one comparison covers; 0 means 100,000. The next one continues there.
	CompareLinks int
	// CommitEvery is the minimum interval between commits of few clicks, for a store to which an insert costs much more than a
	// click; 0 means no minimum. Commits of many clicks do not wait.
	CommitEvery time.Duration
	// Retention is how many days clicks are kept, by their own time; 0 means forever. Counters keep counting expired
	// clicks.
	Retention int
	// Observer receives clicks before they are stored; nil means none.
	Observer Observer
	// Stored are called with clicks that readers of the click store can see from now on. They may miss clicks when the
	// process ends. They must not block, and must not change or keep the rows.
	Stored []func([]analytics.Row)
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// Ingester is a click.Sink. Run keeps its counters up to date.
type Ingester struct {
	metric.Set // makes it a prometheus.Collector

	cfg    Config
	store  *store.Store
	clicks analytics.Store
	enrich *Enricher

	turn chan struct{} // held while committing
	// marks are the known high-water marks of lanes; nil before they were read. Only the holder of turn uses them.
	marks map[click.Lane]uint64
	began time.Time // when the last commit began; only the holder of turn uses it

	mu      sync.Mutex
	waiting []*delivery
	queued  int // clicks of waiting
	dirty   map[uint64]touched

	many chan struct{} // capacity 1: signals that many clicks wait

	uncounted uncountedHours

	expired atomic.Pointer[store.ExpiredTotals] // nil before they were read

	wake  chan struct{} // capacity 1: signals that counters are dirty
	stats counts
}

var _ click.Sink = (*Ingester)(nil)

// New returns an Ingester. It reads nothing from the stores: the first delivery reads the mark of each lane. With a nil
// Enricher, the Ingester makes one without a geo database, so places stay unknown.
func New(cfg Config, s *store.Store, clicks analytics.Store, enrich *Enricher) *Ingester {
	if enrich == nil {
		enrich = NewEnricher(nil)
	}
	if cfg.Every <= 0 {
		cfg.Every = 500 * time.Millisecond
	}
	if cfg.RepairEvery <= 0 {
		cfg.RepairEvery = 10 * time.Minute
	}
	if cfg.CompareLinks <= 0 {
		cfg.CompareLinks = 100_000
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	in := &Ingester{
		cfg: cfg, store: s, clicks: clicks, enrich: enrich,
		turn: make(chan struct{}, 1), dirty: map[uint64]touched{}, many: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		uncounted: newUncountedHours(),
	}
	in.Set = in.metrics()
	return in
}

// ReloadMarks reads the marks of all lanes again, when this process takes over lanes from another one. It waits for the
// commit in progress, and may be called during deliveries. After an error the marks are unchanged.
func (in *Ingester) ReloadMarks(ctx context.Context) error {
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := in.loadMarks(ctx); err != nil {
		return fmt.Errorf("ingest: reload lane marks: %w", err)
	}
	return nil
}

// loadMarks reads the marks. The caller holds the turn.
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

// delivery is one decoded and enriched batch that waits for its commit.
type delivery struct {
	lane   click.Lane
	repair bool
	first  uint64
	last   uint64
	rows   []analytics.Row
	losses []analytics.Loss

	done bool // done and err are written and read by the holder of the turn
	err  error
}

// maxGroup limits the clicks of one insert, unless a single batch has more. During an insert, each click takes about 3
// KiB.
const maxGroup = 25_000

// Deliver implements click.Sink. Concurrent deliveries are committed together. Bytes that are not clicks return an
// error that wraps click.ErrCorrupt or click.ErrSchema; repeating the delivery does not help.
func (in *Ingester) Deliver(ctx context.Context, b *click.Batch) error {
	d, err := in.enrich.decode(b)
	if err != nil {
		in.stats.refused.Add(1)
		return fmt.Errorf("ingest: %w", err)
	}
	if b.Count == 0 {
		return nil
	}
	in.queue(d)
	for {
		select {
		case in.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err() // another caller may still commit the batch; repeating it is harmless
		}
		if !d.done {
			in.awaitMore(ctx)
			in.commit(ctx)
		}
		done, err := d.done, d.err
		<-in.turn
		if done {
			return err
		}
	}
}

// commit inserts waiting deliveries, up to maxGroup clicks. The caller holds the turn.
func (in *Ingester) commit(ctx context.Context) {
	in.mu.Lock()
	n, clicks := 0, 0
	for n < len(in.waiting) && (n == 0 || clicks+len(in.waiting[n].rows) <= maxGroup) {
		clicks += len(in.waiting[n].rows)
		n++
	}
	group := in.waiting[:n:n]
	in.waiting = in.waiting[n:]
	in.queued -= clicks
	in.mu.Unlock()

	// The group contains other callers' batches, so this caller's context must not end it.
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
		d.rows, d.losses = nil, nil // the batch has copies, and a failed delivery is decoded again
	}
	if len(batch.Rows) > 0 && in.cfg.Observer != nil {
		err = in.cfg.Observer.Note(ctx, batch.Rows)
	}
	if err == nil && len(batch.Rows)+len(batch.Losses)+len(batch.Marks) > 0 {
		in.recordHours(ctx, batch.Rows, time.Now())
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

// gather makes one batch of a group, without clicks that are known to be stored, and returns the number of these.
func (in *Ingester) gather(group []*delivery) (b analytics.Batch, known uint64) {
	lifted := map[click.Lane]uint64{}
	mark := func(l click.Lane) uint64 { return max(in.marks[l], lifted[l]) }
	var taken map[analytics.Identity]bool // only if there is a repair, whose clicks may repeat others of the group
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

// Stats has totals since the start of the process.
type Stats struct {
	Stored   uint64 // clicks
	Repeated uint64 // repeated clicks that were skipped
	Lost     uint64 // clicks that edges report as lost because their spool was full
	Refused  uint64 // batches that are not valid clicks
	Failed   uint64 // failed inserts, which are repeated
}

type counts struct {
	stored, repeated, lost, refused, failed, countFailed atomic.Uint64
	last, counted                                        atomic.Int64 // Unix milliseconds; 0: never
}

// Stats returns the current totals.
func (in *Ingester) Stats() Stats {
	c := &in.stats
	return Stats{c.stored.Load(), c.repeated.Load(), c.lost.Load(), c.refused.Load(), c.failed.Load()}
}

package convert

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

// Observer receives conversions before they are stored, at least once each. It recognises repetitions by the id of their key.
// It must not change or keep them. An error delays the delivery.
type Observer interface {
	NoteConversions(ctx context.Context, list []analytics.Conversion) error
}

// IngestConfig has a usable zero value.
type IngestConfig struct {
	// Observer receives conversions before they are stored; nil means none.
	Observer Observer
	// Stored are called with the clicks of conversions that readers can see from now on. They may miss some when the process
	// ends. They must not block, and must not change or keep the rows.
	Stored []func([]analytics.Row)
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// maxGroup limits the conversions of one insert, unless a single batch has more.
const maxGroup = 5000

// Ingester is a click.Sink for conversions. Run attributes those whose clicks arrive later. It is safe for concurrent use.
type Ingester struct {
	job.Group  // attributes stored conversions whose clicks arrive later, for seven days; several processes may run it
	metric.Set // makes it a prometheus.Collector

	cfg    IngestConfig
	store  *store.Store
	clicks analytics.Conversions

	turn chan struct{} // held while committing

	mu      sync.Mutex
	waiting []*delivery

	sweeps attribution
	stats  ingestStats
}

type ingestStats struct {
	stored, repeated, foreign, tooMany, unreadable, refused, failed counter
	attributed, expired                                             counter
	pending                                                         atomic.Int64
	last                                                            atomic.Int64 // Unix milliseconds
}

var _ click.Sink = (*Ingester)(nil)

// NewIngester returns an Ingester.
func NewIngester(cfg IngestConfig, st *store.Store, clicks analytics.Conversions) *Ingester {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	in := &Ingester{cfg: cfg, store: st, clicks: clicks, turn: make(chan struct{}, 1)}
	const name, help = "shortline_conversions_total",
		"Conversions by result: stored; repeated (a duplicate that was skipped); foreign (sent by a browser with the key of another " +
			"workspace, or the link is gone); too_many_goals; unreadable; refused (with 503, because the spool of an edge was full)."
	s := &in.stats
	in.Group = job.Group{{Name: "late_clicks", Every: sweepEvery, Retry: retrySweep, Do: in.sweep, Logger: cfg.Logger}}
	in.Set = metric.Set{
		metric.Total(name, help, s.stored.Load, "result", "stored"),
		metric.Total(name, help, s.repeated.Load, "result", "repeated"),
		metric.Total(name, help, s.foreign.Load, "result", "foreign"),
		metric.Total(name, help, s.tooMany.Load, "result", "too_many_goals"),
		metric.Total(name, help, s.unreadable.Load, "result", "unreadable"),
		metric.Total(name, help, s.refused.Load, "result", "refused"),
		metric.Total("shortline_conversions_errors_total", "Failed inserts of conversions. Each is repeated.", s.failed.Load),
		metric.Time("shortline_conversions_last_success_timestamp_seconds",
			"Time of the last successful insert of conversions; 0 if there was none.", s.last.Load),
		metric.Total("shortline_conversions_attributed_total",
			"Conversions that were attributed after they had been stored, because their click arrived later.", s.attributed.Load),
		metric.Total("shortline_conversions_expired_total",
			"Conversions whose click did not arrive within seven days. They stay stored without its facts.", s.expired.Load),
		metric.Gauge("shortline_conversions_pending", "Conversions without a click at the last full search.", s.pending.Load),
	}
	return in
}

// delivery is one decoded batch that waits for its commit.
type delivery struct {
	list []conversion.Conversion
	done bool // done and err are written and read by the holder of the turn
	err  error
}

// Deliver implements click.Sink. Concurrent deliveries are committed together. Bytes that are not events return an error that
// wraps click.ErrCorrupt or click.ErrSchema. Events that are not conversions are counted and skipped.
func (in *Ingester) Deliver(ctx context.Context, b *click.Batch) error {
	d, err := in.decode(b)
	if err != nil {
		return fmt.Errorf("conversions: %w", err)
	}
	if len(d.list) == 0 {
		return nil
	}
	in.mu.Lock()
	in.waiting = append(in.waiting, d)
	in.mu.Unlock()
	for {
		select {
		case in.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err() // another caller may still commit the batch; repeating it is harmless
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

func (in *Ingester) decode(b *click.Batch) (*delivery, error) {
	d := &delivery{}
	dec := click.NewDecoder(b)
	var e click.Event
	for {
		more, err := dec.Next(&e)
		if err != nil {
			return nil, err
		}
		if !more {
			return d, nil
		}
		if e.LostTo != 0 {
			// The edge acknowledged none of these, so nothing is lost.
			in.stats.refused.Add(e.LostTo - e.LostFrom + 1)
			continue
		}
		c, err := conversion.FromEvent(&e)
		if err != nil {
			in.stats.unreadable.Add(1)
			in.cfg.Logger.Error("conversion not readable", "seq", e.Seq, "error", err.Error())
			continue
		}
		d.list = append(d.list, c)
	}
}

// commit stores waiting deliveries, up to maxGroup conversions. The caller holds the turn.
func (in *Ingester) commit(ctx context.Context) {
	in.mu.Lock()
	var group []*delivery
	var list []conversion.Conversion
	for len(in.waiting) > 0 && (len(group) == 0 || len(list)+len(in.waiting[0].list) <= maxGroup) {
		group, list = append(group, in.waiting[0]), append(list, in.waiting[0].list...)
		in.waiting = in.waiting[1:]
	}
	in.mu.Unlock()
	err := in.insertNew(context.WithoutCancel(ctx), list) // the group contains other callers' batches
	if err != nil {
		in.stats.failed.Add(1)
		err = fmt.Errorf("conversions: %w", err)
	}
	for _, d := range group {
		d.done, d.err = true, err
	}
}

// putWithin is the timeout of one commit. The source repeats it.
const putWithin = time.Minute

// insertNew stores those conversions that count.
func (in *Ingester) insertNew(ctx context.Context, list []conversion.Conversion) error {
	ctx, cancel := context.WithTimeout(ctx, putWithin)
	defer cancel()
	rows, dropped, err := in.screen(ctx, list)
	if err != nil {
		return err
	}
	fresh, err := in.unknown(ctx, rows)
	if err != nil {
		return err
	}
	if len(fresh) > 0 {
		if err := in.attribute(ctx, fresh); err != nil {
			return err
		}
		if in.cfg.Observer != nil {
			if err := in.cfg.Observer.NoteConversions(ctx, fresh); err != nil {
				return fmt.Errorf("note conversions: %w", err)
			}
		}
		if err := in.clicks.InsertConversions(ctx, fresh); err != nil {
			return fmt.Errorf("insert conversions: %w", err)
		}
		in.notifyStored(fresh)
	}
	in.stats.foreign.Add(dropped.foreign)
	in.stats.tooMany.Add(dropped.tooMany)
	in.stats.repeated.Add(uint64(len(rows) - len(fresh)))
	in.stats.stored.Add(uint64(len(fresh)))
	in.stats.last.Store(in.cfg.Now().UnixMilli())
	return nil
}

type drops struct{ foreign, tooMany uint64 }

// screen drops conversions of browsers that do not count: those of links of another workspace, and those with a name that the
// link has no room for. Conversions of the API were accepted, so they stay even if their link was deleted since.
func (in *Ingester) screen(ctx context.Context, list []conversion.Conversion) (rows []analytics.Conversion, d drops, err error) {
	owners, err := in.store.LinkWorkspaces(ctx, linksOf(list))
	if err != nil {
		return nil, d, fmt.Errorf("find links: %w", err)
	}
	var wanted []store.Goal
	for i := range list {
		if c := &list[i]; !c.Browser || owners[c.Click.Link] == c.Workspace {
			wanted = append(wanted, goalOf(c))
		}
	}
	known, err := register(ctx, in.store, wanted, in.cfg.Now().UnixMilli())
	if err != nil {
		return nil, d, fmt.Errorf("register goals: %w", err)
	}
	for i := range list {
		c := &list[i]
		owner, exists := owners[c.Click.Link]
		switch {
		case c.Browser && (!exists || owner != c.Workspace):
			d.foreign++
			continue
		case c.Browser && !known[goalOf(c)]:
			d.tooMany++
			continue
		case !exists:
			owner = c.Workspace
		}
		rows = append(rows, analytics.Conversion{Conversion: *c, Row: analytics.Row{Link: c.Click.Link, Owner: owner, Time: c.Click.Time}})
	}
	return rows, d, nil
}

// unknown returns the conversions that are not stored and count, once each.
func (in *Ingester) unknown(ctx context.Context, rows []analytics.Conversion) ([]analytics.Conversion, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	keys := each.At(rows, func(c *analytics.Conversion) analytics.ConversionKey { return c.Key() })
	stored, err := in.clicks.StoredConversions(ctx, store.Distinct(keys))
	if err != nil {
		return nil, fmt.Errorf("look for stored conversions: %w", err)
	}
	refused := make([]bool, len(rows))
	for {
		fresh := make([]analytics.Conversion, 0, len(rows))
		var places []int
		seen := make(map[analytics.ConversionKey]bool, len(rows))
		for i := range rows {
			if !stored[keys[i]] && !seen[keys[i]] && !refused[i] {
				seen[keys[i]] = true
				fresh, places = append(fresh, rows[i]), append(places, i)
			}
		}
		counting, err := in.claim(ctx, fresh)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(counting, false) {
			return fresh, nil
		}
		// A conversion whose number another click has does not hide the next one of its click.
		for i, place := range places {
			refused[place] = !counting[i]
		}
	}
}

// claim claims the numbers of conversions, and reports for each whether it may count.
func (in *Ingester) claim(ctx context.Context, rows []analytics.Conversion) ([]bool, error) {
	list := each.At(rows, func(c *analytics.Conversion) conversion.Conversion { return c.Conversion })
	counting, err := claim(ctx, in.store, list, in.cfg.Now().UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("claim numbers of conversions: %w", err)
	}
	return counting, nil
}

// attribute completes the conversions whose clicks are stored.
func (in *Ingester) attribute(ctx context.Context, list []analytics.Conversion) error {
	ids := each.At(list, func(c *analytics.Conversion) conversion.ClickID { return c.Click })
	found, err := in.clicks.FindClicks(ctx, store.Distinct(ids))
	if err != nil {
		return fmt.Errorf("find clicks: %w", err)
	}
	for i := range list {
		if row, ok := found[list[i].Click]; ok {
			list[i].Row, list[i].Attributed = row, true
		}
	}
	return nil
}

func (in *Ingester) notifyStored(list []analytics.Conversion) {
	rows := each.At(list, func(c *analytics.Conversion) analytics.Row { return c.Row })
	for _, f := range in.cfg.Stored {
		f(rows)
	}
}

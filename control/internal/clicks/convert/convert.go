// Package convert takes conversions in: it checks those that shops send to the API, stores those that arrive from there and
// from edges, and attributes them to their clicks.
//
// A Desk answers shops. It hands accepted conversions to a Queue (Kafka in a fleet, the edge's spool in a standalone) before it
// answers. The Queue leads to an Ingester, which is a click.Sink. Delivery is at least once everywhere, and a conversion has a
// natural key (click, name, externalId), so the click store keeps each conversion once, whatever was repeated. No
// high-water marks are needed. An externalId also counts once for all clicks together: see claim.
//
// Conversions of browsers are checked at edges, except for what edges do not know: whose link it is, and how many names of
// conversions it has. The Ingester drops and counts these.
package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/metric"
)

// Queue carries accepted conversions to an Ingester. It is safe for concurrent use.
type Queue interface {
	// Send returns nil only when every conversion is stored durably on its way. After an error, the outcome is unknown, and
	// the caller may send all of them again.
	Send(ctx context.Context, list []conversion.Conversion) error
}

// QueueFunc is a function as a Queue.
type QueueFunc func(ctx context.Context, list []conversion.Conversion) error

// Send implements Queue. A nil QueueFunc returns ErrClosed.
func (f QueueFunc) Send(ctx context.Context, list []conversion.Conversion) error {
	if f == nil {
		return ErrClosed
	}
	return f(ctx, list)
}

// Config of a Desk. Queue is required.
type Config struct {
	Queue Queue
	// Secrets are those from which the keys of click ids are derived. Without one, every id is refused as forged.
	Secrets [][]byte
	// Window is the age of a click up to which conversions count; 0 means 90 days.
	Window time.Duration
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

const (
	lookUp     = time.Second     // timeout of looking for duplicates
	sendWithin = 5 * time.Second // timeout of the Queue
)

// Acceptor accepts conversions of the API. It is safe for concurrent use.
type Acceptor struct {
	metric.Set // makes it a prometheus.Collector

	cfg    Config
	store  *store.Store
	clicks analytics.Conversions

	mu     sync.Mutex
	period int64            // of keys
	keys   *conversion.Keys // nil before the first use

	recent   recent
	verdicts verdicts
	stats    struct{ failed counter }
}

// New returns a Desk.
func New(cfg Config, st *store.Store, clicks analytics.Conversions) *Acceptor {
	cfg.Window = cmp.Or(cfg.Window, 90*24*time.Hour)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := &Acceptor{cfg: cfg, store: st, clicks: clicks}
	const name, help = "shortline_conversions_requested_total", "Conversions that shops sent to the API, by verdict."
	for i, v := range allVerdicts {
		d.Set = append(d.Set, metric.Total(name, help, d.verdicts[i].Load, "verdict", string(v)))
	}
	d.Set = append(d.Set,
		metric.Total("shortline_conversions_queue_errors_total", "Requests that were refused because conversions could not be handed on.",
			d.stats.failed.Load),
	)
	return d
}

// Result tells what became of one item of a request.
type Result struct {
	Verdict conversion.Verdict
	Field   string // to blame; "" if there is none
	Message string // "" if the item was accepted
}

// Accept checks items and sends the accepted ones on. It returns one result for each item. If it returns an error, the caller
// sends the whole request again; a part of it may have been accepted, which is harmless.
func (d *Acceptor) Accept(ctx context.Context, p auth.Principal, items []conversion.Item) ([]Result, error) {
	results, list, at := d.checkItems(items)
	if err := d.own(ctx, p, results, list, at); err != nil {
		return nil, fmt.Errorf("accept conversions: %w", err)
	}
	entered, err := d.repeats(ctx, results, list, at)
	if err != nil {
		return nil, fmt.Errorf("accept conversions: %w", err)
	}
	sent := map[analytics.ConversionKey]bool{}
	defer func() { d.recent.release(entered, sent) }()
	accepted, err := d.sendNew(ctx, results, list, at)
	if err != nil {
		return nil, err
	}
	for i := range accepted {
		sent[keyOf(&accepted[i])] = true
	}
	for i := range results {
		d.verdicts.count(results[i].Verdict)
	}
	return results, nil
}

// sendNew sends those conversions on that count, and returns them.
func (d *Acceptor) sendNew(ctx context.Context, results []Result, list []conversion.Conversion, at []int) ([]conversion.Conversion, error) {
	if err := d.goals(ctx, results, list, at); err != nil {
		return nil, fmt.Errorf("accept conversions: %w", err)
	}
	if err := d.numbers(ctx, results, list, at); err != nil {
		return nil, fmt.Errorf("accept conversions: %w", err)
	}
	accepted := make([]conversion.Conversion, 0, len(list))
	for i := range list {
		if results[at[i]].Verdict == conversion.Accepted {
			accepted = append(accepted, list[i])
		}
	}
	if len(accepted) > 0 {
		ctx, cancel := context.WithTimeout(ctx, sendWithin)
		defer cancel()
		if err := d.cfg.Queue.Send(ctx, accepted); err != nil {
			d.stats.failed.Add(1)
			d.cfg.Logger.Warn("conversions not accepted", "count", len(accepted), "error", err.Error())
			return nil, &problem.Error{Kind: problem.Unavailable,
				Message:    "Conversions cannot be stored at the moment. Send the request again.",
				RetryAfter: time.Second}
		}
	}
	return accepted, nil
}

// keysAt returns the keys of click ids, which change with each period.
func (d *Acceptor) keysAt(now time.Time) *conversion.Keys {
	d.mu.Lock()
	defer d.mu.Unlock()
	if period := conversion.Period(now.UnixMilli()); d.keys == nil || d.period != period {
		first, last := conversion.PeriodsAt(now, d.cfg.Window)
		keys, err := conversion.NewKeys(conversion.Derive(d.cfg.Secrets, first, last))
		if err != nil {
			panic("BUG: convert: derived keys: " + err.Error())
		}
		d.keys, d.period = keys, period
	}
	return d.keys
}

// checkItems returns the results of what an item says itself, and the conversions of items without a problem. at has the places
// of these in results.
func (d *Acceptor) checkItems(items []conversion.Item) (results []Result, list []conversion.Conversion, at []int) {
	now := d.cfg.Now()
	checker := conversion.Checker{Keys: d.keysAt(now), Window: d.cfg.Window, Now: now}
	results = make([]Result, len(items))
	for i := range items {
		c, bad := checker.Check(&items[i])
		if bad != nil {
			results[i] = Result{bad.Verdict, bad.Field, bad.Message}
			continue
		}
		results[i].Verdict = conversion.Accepted
		list, at = append(list, c), append(at, i)
	}
	return results, list, at
}

// own refuses conversions of links that the caller does not reach, and sets the workspaces of the others.
func (d *Acceptor) own(ctx context.Context, p auth.Principal, results []Result, list []conversion.Conversion, at []int) error {
	owners, err := d.store.LinkWorkspaces(ctx, linksOf(list))
	if err != nil {
		return err
	}
	for i := range list {
		owner, exists := owners[list[i].Click.Link]
		if !exists || !p.Sees(owner) {
			results[at[i]] = Result{conversion.Foreign, "clickId", "is of a link that is not in this workspace"}
		}
		list[i].Workspace = owner
	}
	return nil
}

// duplicate is the result of a conversion that was accepted before.
var duplicate = Result{conversion.Duplicate, "", "was accepted before"}

// repeats finds conversions that an earlier item of the request has, that this process has accepted lately, and that are stored.
// The click store may not answer, and then removes duplicates later. The caller passes the keys to recent.release.
func (d *Acceptor) repeats(
	ctx context.Context, results []Result, list []conversion.Conversion, at []int,
) (entered []analytics.ConversionKey, err error) {
	first := make(map[analytics.ConversionKey]int, len(list))
	keys := make([]analytics.ConversionKey, 0, len(list))
	for i := range list {
		if results[at[i]].Verdict != conversion.Accepted {
			continue
		}
		key := keyOf(&list[i])
		if _, known := first[key]; known {
			results[at[i]] = duplicate
			continue
		}
		first[key] = i
		keys = append(keys, key)
	}
	known, err := d.recent.acquire(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if known[key] {
			results[at[first[key]]] = duplicate
		} else {
			entered = append(entered, key)
		}
	}
	if len(entered) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookUp)
	defer cancel()
	stored, err := d.clicks.StoredConversions(ctx, entered)
	if err != nil {
		d.cfg.Logger.Warn("conversions not compared with stored ones", "count", len(entered), "error", err.Error())
		return entered, nil
	}
	for _, key := range entered {
		if stored[key] {
			results[at[first[key]]] = duplicate
		}
	}
	return entered, nil
}

// numbers claims the numbers (externalId) of conversions, and finds those whose number another click has.
func (d *Acceptor) numbers(ctx context.Context, results []Result, list []conversion.Conversion, at []int) error {
	var wanted []conversion.Conversion
	var places []int
	for i := range list {
		if results[at[i]].Verdict == conversion.Accepted {
			wanted, places = append(wanted, list[i]), append(places, at[i])
		}
	}
	counting, err := claim(ctx, d.store, wanted, d.cfg.Now().UnixMilli())
	if err != nil {
		return err
	}
	for i, ok := range counting {
		if !ok {
			results[places[i]] = Result{conversion.Duplicate, "externalId", "was accepted before, with another click"}
		}
	}
	return nil
}

// goals registers the names of conversions, and refuses those that a link has no room for.
func (d *Acceptor) goals(ctx context.Context, results []Result, list []conversion.Conversion, at []int) error {
	var wanted []store.Goal
	for i := range list {
		if results[at[i]].Verdict == conversion.Accepted {
			wanted = append(wanted, goalOf(&list[i]))
		}
	}
	known, err := register(ctx, d.store, wanted, d.cfg.Now().UnixMilli())
	if err != nil {
		return err
	}
	for i := range list {
		if results[at[i]].Verdict == conversion.Accepted && !known[goalOf(&list[i])] {
			results[at[i]] = Result{conversion.TooManyGoals, "name", fmt.Sprintf("is new, but the link has conversions of %d names already",
				conversion.MaxGoals)}
		}
	}
	return nil
}

// register adds names of conversions, and returns which of them exist afterwards. It writes nothing if all are known.
func register(ctx context.Context, st *store.Store, wanted []store.Goal, now int64) (known map[store.Goal]bool, err error) {
	wanted = store.Distinct(wanted)
	var links []uint64
	for _, g := range wanted {
		links = append(links, g.Link)
	}
	list, err := st.GoalsOf(ctx, store.Distinct(links))
	if err != nil {
		return nil, err
	}
	known = make(map[store.Goal]bool, len(list))
	for _, g := range list {
		known[g] = true
	}
	var missing []store.Goal
	for _, g := range wanted {
		if !known[g] {
			missing = append(missing, g)
		}
	}
	if len(missing) == 0 {
		return known, nil
	}
	var added map[store.Goal]bool
	err = st.Tx(ctx, func(tx *store.Tx) (err error) {
		added, err = tx.RegisterGoals(ctx, missing, conversion.MaxGoals, now)
		return err
	})
	for g := range added {
		known[g] = true
	}
	return known, err
}

func goalOf(c *conversion.Conversion) store.Goal { return store.Goal{Link: c.Click.Link, Name: c.Name} }

func keyOf(c *conversion.Conversion) analytics.ConversionKey {
	return analytics.ConversionKey{Click: c.Click, Name: c.Name, Once: c.Once()}
}

func linksOf(list []conversion.Conversion) []uint64 {
	links := each.At(list, func(c *conversion.Conversion) uint64 { return c.Click.Link })
	return store.Distinct(links)
}

// ErrClosed is the error of a Queue that leads nowhere.
var ErrClosed = errors.New("convert: this process has no queue for conversions")

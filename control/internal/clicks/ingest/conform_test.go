package ingest_test

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/click/clicktest"
)

// eventOf returns the event that a row was made of.
func eventOf(r *analytics.Row) (clicktest.ID, click.Event) {
	return clicktest.ID{Lane: r.Lane, Seq: r.Seq}, click.Event{
		Seq: r.Seq, Time: r.Time, Link: r.Link, Owner: r.Owner, Variant: r.Variant, Rule: r.Rule, IP: r.IP, UserAgent: r.UserAgent,
		Referer: r.Referer, UTM: r.UTM,
	}
}

func TestIngester_conforms_to_click_Sink(t *testing.T) {
	t.Parallel()
	clicktest.Run(t, func(t *testing.T) clicktest.Target {
		w := newWorld(t, storetest.Open(t))
		flaky := &flakyStore{Store: w.clicks}
		return clicktest.Target{
			Open: func(*testing.T) click.Sink { return ingest.New(ingest.Config{}, w.store, flaky, nil) },
			Clicks: func(t *testing.T) map[clicktest.ID]click.Event {
				all := map[clicktest.ID]click.Event{}
				w.ok(w.clicks.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 1<<20, func(r *analytics.Row) error {
					id, e := eventOf(r)
					if _, twice := all[id]; twice {
						t.Errorf("%+v is stored twice", id)
					}
					all[id] = e
					return nil
				}))
				return all
			},
			Lost: func(t *testing.T) uint64 {
				n, err := w.clicks.Losses(t.Context())
				w.ok(err)
				return n
			},
			Break: func(*testing.T) func() {
				flaky.broken.Store(true)
				return func() { flaky.broken.Store(false) }
			},
		}
	})
}

// flakyStore fails every second insert while it is broken, half of these after the insert took effect.
type flakyStore struct {
	analytics.Store
	broken atomic.Bool
	calls  atomic.Uint64
}

func (f *flakyStore) Insert(ctx context.Context, b analytics.Batch) error {
	if !f.broken.Load() {
		return f.Store.Insert(ctx, b)
	}
	n := f.calls.Add(1)
	if n%4 == 1 {
		return errFlaky
	}
	if err := f.Store.Insert(ctx, b); err != nil {
		return err
	}
	if n%4 == 3 {
		return errFlaky
	}
	return nil
}

// An observer receives every click at least once, so the suite's reader removes repetitions.
func TestObserverSink_conforms_to_click_Sink(t *testing.T) {
	t.Parallel()
	clicktest.Run(t, func(*testing.T) clicktest.Target {
		o := &collector{all: map[clicktest.ID]click.Event{}}
		return clicktest.Target{
			Open: func(*testing.T) click.Sink { return ingest.NewObserverSink(o, ingest.NewEnricher(nil)) },
			Clicks: func(*testing.T) map[clicktest.ID]click.Event {
				o.mu.Lock()
				defer o.mu.Unlock()
				return maps.Clone(o.all)
			},
			Break: func(*testing.T) func() {
				o.fails.Store(true)
				return func() { o.fails.Store(false) }
			},
		}
	})
}

// collector is an Observer that keeps clicks, and can fail after it has kept them.
type collector struct {
	fails atomic.Bool
	mu    sync.Mutex
	all   map[clicktest.ID]click.Event
}

func (c *collector) Note(_ context.Context, rows []analytics.Row) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range rows {
		id, e := eventOf(&rows[i])
		c.all[id] = e
	}
	if c.fails.Load() {
		return errFlaky
	}
	return nil
}

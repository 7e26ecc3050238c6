package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/cluster/moves"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	look    = 2 * time.Minute // how far back to query clicks, by their own time
	ahead   = 2 * time.Minute // how far an edge's clock may be ahead
	perPoll = 1000            // maximum clicks of one scope and poll
)

// window remembers which clicks of a scope were seen, for as long as a poll can return them again.
type window struct {
	mu   sync.Mutex
	seen map[analytics.Identity]int64 // value: the click's time
}

func isMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

// openWindow creates the window of a scope if there is none. Clicks that are stored by now count as seen.
func (f *Feed) openWindow(ctx context.Context, s scope) error {
	f.mu.Lock()
	w, known := f.polled[s]
	if !known {
		w = &window{seen: map[analytics.Identity]int64{}}
		w.mu.Lock() // nobody polls before the window is filled
		f.polled[s] = w
	}
	f.mu.Unlock()
	if known {
		return nil
	}
	defer w.mu.Unlock()
	_, _, err := f.fresh(ctx, s, w)
	if err != nil {
		f.mu.Lock()
		delete(f.polled, s)
		f.mu.Unlock()
	}
	return err
}

// poll queries new clicks for every scope with a subscription, and removes the windows of other scopes.
func (f *Feed) poll(ctx context.Context) error {
	f.mu.Lock()
	wanted := map[scope]bool{}
	for s := range f.subs {
		wanted[s.scope] = true
	}
	windows := map[scope]*window{}
	for s, w := range f.polled {
		if wanted[s] {
			windows[s] = w
		} else {
			delete(f.polled, s)
		}
	}
	f.mu.Unlock()
	var problems []error
	for s, w := range windows {
		w.mu.Lock()
		rows, full, err := f.fresh(ctx, s, w)
		if err == nil && len(rows) > 0 {
			// Only to subscriptions of this scope: other scopes have their own windows.
			missed := uint64(0)
			if full {
				missed = 1 // at least
			}
			err = f.give(ctx, rows, missed, func(sub *Subscription) bool { return sub.scope == s })
			if err != nil {
				for i := range rows { // they were not delivered, so they are still news
					delete(w.seen, rows[i].Identity)
				}
			}
		}
		w.mu.Unlock()
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// selects completes a query for the clicks of a scope. A query for one link names no owner, because pick compares the
// link's present owner.
func (f *Feed) selects(ctx context.Context, s scope, q analytics.Scope) (analytics.Scope, error) {
	if s.link != 0 {
		q.Links = []uint64{s.link}
	} else {
		q.Owner = s.owner
	}
	return moves.Apply(ctx, f.store, f.clicks, q)
}

// fresh returns the clicks of a scope that were not seen before, oldest first. full reports that there may be more than
// those returned. The caller holds the window's lock.
func (f *Feed) fresh(ctx context.Context, s scope, w *window) (rows []analytics.Row, full bool, err error) {
	now := time.Now()
	q, err := f.selects(ctx, s, analytics.Scope{From: now.Add(-look).UnixMilli(), To: now.Add(ahead).UnixMilli(), Bots: analytics.Everyone})
	if err != nil {
		return nil, false, err
	}
	err = f.clicks.Clicks(ctx, q, perPoll, func(r *analytics.Row) error {
		if _, known := w.seen[r.Identity]; !known {
			rows = append(rows, *r)
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for i := range rows {
		w.seen[rows[i].Identity] = rows[i].Time
	}
	for id, at := range w.seen {
		if at < q.From {
			delete(w.seen, id)
		}
	}
	slices.Reverse(rows)
	return rows, len(rows) == perPoll, nil
}

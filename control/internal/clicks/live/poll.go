package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	look    = 2 * time.Minute // how far back clicks are asked for, by their own time
	ahead   = 2 * time.Minute // how far edges' clocks may be ahead
	perPoll = 1000            // clicks of one scope
)

// window is which clicks of a scope were seen, of those that may be asked for again.
type window struct {
	mu   sync.Mutex
	seen map[analytics.Identity]int64 // with the click's time
}

func isMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

// open makes the window of a scope, if there is none: what is stored by now counts as seen.
func (f *Feed) open(ctx context.Context, s scope) error {
	f.mu.Lock()
	w, known := f.polled[s]
	if !known {
		w = &window{seen: map[analytics.Identity]int64{}}
		w.mu.Lock() // nobody asks for news before it is filled
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

// poll asks for news in every scope that somebody subscribes to, and forgets the others.
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
			// To the scope's own subscribers: the others have windows of their own.
			missed := uint64(0)
			if full {
				missed = 1 // at least
			}
			err = f.give(ctx, rows, missed, func(sub *Subscription) bool { return sub.scope == s })
			if err != nil {
				for i := range rows { // they are news still
					delete(w.seen, rows[i].Identity)
				}
			}
		}
		w.mu.Unlock()
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// fresh lists the clicks of a scope that were not seen before, the oldest first. full says that there may be more of
// them than it lists. The caller holds the window.
func (f *Feed) fresh(ctx context.Context, s scope, w *window) (rows []analytics.Row, full bool, err error) {
	now := time.Now()
	q := analytics.Scope{Owner: s.owner, From: now.Add(-look).UnixMilli(), To: now.Add(ahead).UnixMilli(), Bots: analytics.Everyone}
	if s.link != 0 {
		q.Links = []uint64{s.link}
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

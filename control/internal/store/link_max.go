package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// LinksFull is the error of a transaction that would create more links than edges can load. Nothing was changed.
type LinksFull struct{ Max int }

func (e *LinksFull) Error() string {
	return fmt.Sprintf("the service has %d links, and edges load no more: delete links before you create others", e.Max)
}

const (
	// countEvery is how often a process counts all links. Meanwhile it only adds those that it creates itself.
	countEvery = time.Minute
	// countAlways is how close to the limit, as a divisor of it or in links, each creation counts all links. All processes together
	// create far fewer links within countEvery.
	countAlways, countAlwaysLinks = 50, 1000
)

// room is what a process knows of the number of links.
type room struct {
	mu      sync.Mutex
	links   int
	counted time.Time
}

// addCreated adds created links. It reports whether all links have to be counted.
func (r *room) addCreated(created, limit int, now time.Time) (count bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links += created
	return now.Sub(r.counted) > countEvery || r.links > limit-max(limit/countAlways, countAlwaysLinks)
}

func (r *room) set(links int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links, r.counted = links, now
}

// checkRoom fails if the transaction has created a link too many. The figures of link_counts are kept by triggers, so this
// reads a few rows per workspace and not the links, and far from the limit it reads nothing most of the time. It must be
// the last thing that a transaction does, because it locks the head of the change log: transactions near the limit are
// checked one after the other.
func (s *Store) checkRoom(ctx context.Context, tx *Tx) error {
	if tx.created == 0 || !s.room.addCreated(tx.created, s.maxLinks, time.Now()) {
		return nil
	}
	var links int
	if err := tx.Row(ctx, `SELECT revision FROM config_head WHERE id = 1`+tx.forUpdate()).Scan(&links); err != nil {
		return fmt.Errorf("lock the head of the change log: %w", err)
	}
	if err := tx.Row(ctx, `SELECT coalesce(sum(links), 0) FROM link_counts`).Scan(&links); err != nil {
		return fmt.Errorf("count all links: %w", err)
	}
	if links > s.maxLinks {
		s.room.set(links-tx.created, time.Now())
		return &LinksFull{Max: s.maxLinks}
	}
	s.room.set(links, time.Now())
	return nil
}

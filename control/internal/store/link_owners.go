package store

import (
	"context"
	"fmt"
	"sync"
)

// Owners knows the present workspaces of links that have moved. A click names the workspace that owned its link when it
// happened, which may be long ago. Owners keeps about 40 bytes in memory for each link that has moved. It is safe for
// concurrent use.
type Owners struct {
	store *Store

	reading sync.Mutex // held while reading the log
	mu      sync.RWMutex
	log     uint64
	at      LinkMove          // newest entry that was read
	head    uint64            // revision up to which everything was read
	owners  map[uint64]uint64 // nil before the first Refresh
}

// Owners returns the one Owners of the store. It has read nothing until Refresh.
func (s *Store) Owners() *Owners { return &s.owners }

// ownersChunk is the number of moves that Refresh reads at a time.
const ownersChunk = 50_000

// Refresh reads the moves since the last call. It needs one small query if there are none.
func (o *Owners) Refresh(ctx context.Context) error {
	o.reading.Lock()
	defer o.reading.Unlock()
	last, err := o.store.LastMove(ctx, 0)
	if err != nil {
		return fmt.Errorf("read the newest move of links: %w", err)
	}
	o.mu.Lock()
	if o.log != last.Log || o.owners == nil { // a restored database has another log
		o.log, o.at, o.head, o.owners = last.Log, LinkMove{}, 0, map[uint64]uint64{}
	}
	at, done := o.at, o.head >= last.Revision
	o.mu.Unlock()
	for !done {
		list, err := o.store.MovesAfter(ctx, at.Revision, at.Link, ownersChunk)
		if err != nil {
			return fmt.Errorf("read moves of links: %w", err)
		}
		done = len(list) < ownersChunk
		o.mu.Lock()
		for _, m := range list {
			o.owners[m.Link], o.at = m.To, m
		}
		at = o.at
		o.mu.Unlock()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head = last.Head
	return nil
}

// Of returns the workspace of a link according to the last Refresh. named is the workspace that a click names.
func (o *Owners) Of(link, named uint64) uint64 {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if now, moved := o.owners[link]; moved {
		return now
	}
	return named
}

// Current reports whether the last Refresh knew all changes of links that this process knows.
func (o *Owners) Current() bool { return o.Cover(o.store.KnownRevision()) }

// Cover reports whether the last Refresh knew all changes of links up to and including a revision.
func (o *Owners) Cover(revision uint64) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.owners != nil && o.head >= revision
}

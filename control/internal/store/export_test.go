package store

import (
	"context"
	"time"
)

// KeepColumns reads the columns of lists of any number of links, and keeps them up to date from then on.
func (s *Store) KeepColumns() error {
	s.columns.most, s.columns.few, s.columns.used = 1<<40, 0, time.Now()
	return s.columns.load()
}

// ColumnsKept reports whether lists are answered from memory.
func (s *Store) ColumnsKept() bool {
	s.columns.mu.Lock()
	defer s.columns.mu.Unlock()
	return s.columns.table != nil
}

// JournalEnd returns the present end of the journal, for TrimJournal.
func (s *Store) JournalEnd(ctx context.Context) (uint64, error) {
	p, err := s.journalPlace(ctx)
	return p.next, err
}

// Room is what a process knows of the number of links.
type Room struct{ room }

// Add adds created links, and reports whether all links have to be counted.
func (r *Room) Add(created, limit int, now time.Time) bool { return r.addCreated(created, limit, now) }

// Set stores a count.
func (r *Room) Set(links int, now time.Time) { r.set(links, now) }

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/shortline/shortline/shared/backoff"
)

// Tx is one transaction. Order of locks: first the rows that are changed, then Touch (the head of the change
// log), last the audit row (the head of the audit chain); always in this order, so that two can't deadlock.
type Tx struct {
	Conn
	revision  uint64 // taken by the first Touch
	auditKeys [][]byte
}

// Tx runs f in a transaction and commits if it returns nil. When Tx returns nil, everything that f did is
// durable; when it returns an error, nothing is, except after a lost connection during commit, where nobody can
// know: that error must become a 5xx, never a success.
func (s *Store) Tx(ctx context.Context, f func(tx *Tx) error) (err error) {
	raw, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if err != nil {
			_ = raw.Rollback() // the connection may be gone, and then so is the transaction
		}
	}()
	tx := &Tx{Conn: Conn{db: raw, pg: s.pg}, auditKeys: s.auditKeys}
	if err := f(tx); err != nil {
		return err
	}
	if tx.revision > 0 && s.pg {
		if _, err := tx.Exec(ctx, `SELECT pg_notify('shortline_revision', ?)`, fmt.Sprint(tx.revision)); err != nil {
			return fmt.Errorf("announce revision: %w", err)
		}
	}
	if err := raw.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if tx.revision > 0 {
		s.advance(tx.revision)
		if c, ok := ctx.Value(commitsKey{}).(*Commits); ok {
			c.note(tx.revision)
		}
	}
	return nil
}

type commitsKey struct{}

// Commits is the newest revision of links that was committed under one context.
type Commits struct{ revision atomic.Uint64 }

// WithCommits returns a context whose transactions are noted in the result.
func WithCommits(ctx context.Context) (context.Context, *Commits) {
	c := &Commits{}
	return context.WithValue(ctx, commitsKey{}, c), c
}

// Revision is 0 if no transaction changed a link.
func (c *Commits) Revision() uint64 { return c.revision.Load() }

func (c *Commits) note(revision uint64) {
	for {
		have := c.revision.Load()
		if have >= revision || c.revision.CompareAndSwap(have, revision) {
			return
		}
	}
}

// Touch notes in the log of link changes that a link is not what it was: made, changed or deleted. All that
// one transaction touches carries one revision. Publishing reads the log; an edge hears of it at once. A link
// that is about to be deleted is best touched before: see TouchAll.
func (tx *Tx) Touch(ctx context.Context, num uint64, slug string) error {
	return tx.TouchAll(ctx, []LinkRef{{num, slug}})
}

// Revision is the one that this transaction took, 0 if it touched no link.
func (tx *Tx) Revision() uint64 { return tx.revision }

// Revision reads the newest committed revision.
func (s *Store) Revision(ctx context.Context) (rev uint64, err error) {
	err = s.Row(ctx, `SELECT revision FROM config_head WHERE id = 1`).Scan(&rev)
	return rev, err
}

// Incarnation names this database's log of changes; it is drawn once, when the schema is made.
func (s *Store) Incarnation(ctx context.Context) (uint64, error) {
	var n int64
	err := s.Row(ctx, `SELECT incarnation FROM config_head WHERE id = 1`).Scan(&n)
	return uint64(n), err
}

// WaitRevision returns as soon as the newest known revision is greater than after, or with ctx's error.
func (s *Store) WaitRevision(ctx context.Context, after uint64) (uint64, error) {
	for {
		s.mu.Lock()
		rev, changed := s.revision, s.changed
		s.mu.Unlock()
		if rev > after {
			return rev, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return rev, ctx.Err()
		}
	}
}

func (s *Store) advance(rev uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rev > s.revision {
		s.revision = rev
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// Run keeps the known revision fresh when other processes write too (Postgres): it listens for notifications,
// which can be lost, and polls beneath them.
func (s *Store) Run(ctx context.Context) error {
	if !s.pg {
		<-ctx.Done()
		return nil
	}
	for ctx.Err() == nil {
		if err := s.listen(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("listening for revisions failed, trying again", "error", err.Error())
			backoff.Sleep(ctx, time.Second)
		}
	}
	return nil
}

// ErrNotFound is sql.ErrNoRows by the name that use cases know.
var ErrNotFound = sql.ErrNoRows

// Unique reports whether err says that a unique constraint was broken, and what it said of it: a text that
// holds the constraint's name (Postgres) or its columns (SQLite), both of which hold the column's name.
func Unique(err error) (constraint string, broken bool) {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "23505" {
		return pe.ConstraintName, true
	}
	var se *sqlite.Error
	if errors.As(err, &se) && strings.Contains(se.Error(), "UNIQUE constraint failed") {
		return se.Error(), true
	}
	return "", false
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/shortline/shortline/shared/backoff"
)

// Tx is one transaction. To prevent deadlocks, every transaction takes its locks in this order: the rows to change,
// Touch (the head of the change log), the audit row (the head of the audit chain).
type Tx struct {
	Conn
	revision  uint64 // reserved by the first Touch
	created   int    // links
	auditKeys [][]byte
	trash     bool // deleted links go to the trash
	committed []func()
}

// AfterCommit has f called once the transaction is committed. Nothing calls f after a rollback, or if the process ends
// before. f must not block.
func (tx *Tx) AfterCommit(f func()) { tx.committed = append(tx.committed, f) }

// Tx runs f in a transaction and commits if f returns nil. If Tx returns nil, all changes of f are durable. If it
// returns an error, none are, with one exception: after a connection is lost during the commit, the result is unknown.
// So report such an error as a 5xx, never as a success.
func (s *Store) Tx(ctx context.Context, f func(tx *Tx) error) (err error) {
	raw, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	ended := false
	defer func() {
		if !ended { // also if f panics: SQLite has one transaction at a time that writes
			_ = raw.Rollback() // fails if the connection is lost, which also ends the transaction
		}
		err = orEnded(ctx, err)
	}()
	tx := &Tx{Conn: Conn{db: raw, pg: s.pg, base: s.base}, auditKeys: s.auditKeys, trash: s.trash > 0}
	if err := f(tx); err != nil {
		return err
	}
	if err := s.checkRoom(ctx, tx); err != nil {
		return err
	}
	if err := tx.commitRequest(ctx); err != nil {
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
	ended = true
	if tx.revision > 0 {
		s.advance(tx.revision)
		if c, ok := ctx.Value(commitsKey{}).(*Commits); ok {
			c.note(tx.revision)
		}
	}
	for _, f := range tx.committed {
		f()
	}
	return nil
}

// orEnded adds why a transaction is over: database/sql rolls back as soon as ctx ends and, depending on the moment, then says only
// that there is no transaction.
func orEnded(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}

type commitsKey struct{}

// Commits records the newest link revision committed under one context.
type Commits struct{ revision atomic.Uint64 }

// WithCommits returns a context that records the revisions of its transactions in the result.
func WithCommits(ctx context.Context) (context.Context, *Commits) {
	c := &Commits{}
	return context.WithValue(ctx, commitsKey{}, c), c
}

// Revision returns the recorded revision, or 0 if no transaction changed a link.
func (c *Commits) Revision() uint64 { return c.revision.Load() }

func (c *Commits) note(revision uint64) {
	for {
		have := c.revision.Load()
		if have >= revision || c.revision.CompareAndSwap(have, revision) {
			return
		}
	}
}

// Touch records in the log of link changes that a link was created, changed or deleted. All changes of one transaction
// share one revision. Publishing reads the log and notifies edges at once. Touch a link before deleting it; see
// TouchAll.
func (tx *Tx) Touch(ctx context.Context, num uint64, key string) error {
	return tx.TouchAll(ctx, []LinkRef{{num, key}})
}

// Revision returns the revision of this transaction, or 0 if it touched no link.
func (tx *Tx) Revision() uint64 { return tx.revision }

// Revision reads the newest committed revision.
func (s *Store) Revision(ctx context.Context) (uint64, error) {
	return column[uint64](s.Row(ctx, `SELECT revision FROM config_head WHERE id = 1`))
}

// Incarnation identifies the log of changes of this database. It is drawn at random when the schema is created.
func (s *Store) Incarnation(ctx context.Context) (uint64, error) {
	var n int64
	err := s.Row(ctx, `SELECT incarnation FROM config_head WHERE id = 1`).Scan(&n)
	return uint64(n), err
}

// KnownRevision returns the newest revision that this process knows. It is at least the revision of every transaction
// that this process has committed.
func (s *Store) KnownRevision() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// WaitRevision returns as soon as the newest known revision exceeds after, or when ctx ends, with its error.
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

// Run runs the jobs, and keeps the known revision up to date when other processes write to Postgres. It listens for
// notifications and also polls, because notifications can get lost.
func (s *Store) Run(ctx context.Context) error {
	if !s.pg {
		return s.Group.Run(ctx)
	}
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { _ = s.Group.Run(ctx) })
	for ctx.Err() == nil {
		if err := s.listen(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("listening for revisions failed", "error", err.Error())
			backoff.Sleep(ctx, time.Second)
		}
	}
	return nil
}

// ErrNotFound is sql.ErrNoRows under a name for use cases.
var ErrNotFound = sql.ErrNoRows

// WorkspaceGone reports whether err says that a row names a workspace that does not exist, because it was deleted after
// the request had chosen it. SQLite does not tell which reference is broken; no other one breaks by concurrent requests.
func WorkspaceGone(err error) bool {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code == "23503" && strings.HasSuffix(pe.ConstraintName, "_workspace_num_fkey")
	}
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
}

// Unique reports whether err is the violation of a unique constraint. The returned text is the constraint's name
// (Postgres) or its columns (SQLite); both contain the column's name.
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

// inserted reports whether an INSERT with ON CONFLICT DO NOTHING RETURNING has returned a row. err is that of Scan.
func inserted(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// unlessTaken runs a statement that gives a row a name, unless taken says that another row has it. It reports whether it was free.
func (tx *Tx) unlessTaken(ctx context.Context, taken *sql.Row, query string, args ...any) (free bool, err error) {
	var is bool
	if err := taken.Scan(&is); err != nil || is {
		return false, err
	}
	err = tx.Do(ctx, query, args...)
	if _, is := Unique(err); is {
		return false, nil // another transaction took the name meanwhile; PostgreSQL has ended this one
	}
	return err == nil, err
}

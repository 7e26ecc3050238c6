package imports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
)

const (
	stepRows = 200 // in one transaction
	// turn is the number of steps after which other imports get their turn.
	turn = 25
	// lease is how long other processes wait for one that does not finish a step.
	lease = time.Minute
	poll  = time.Second
	// tries is how often a step is repeated at once because links have changed meanwhile.
	tries      = 5
	sweepEvery = time.Hour
	sweepPart  = 20
)

var retry = backoff.Policy{First: time.Second, Most: time.Minute}

// opened is the file that Run has read last.
type opened struct {
	num    uint64
	table  *table
	reader *reader
}

// errLost says that an import was cancelled or deleted, or that another process holds it.
var errLost = errors.New("the import no longer belongs to this process")

// Run imports the rows of imports that were started, and deletes old imports, until ctx ends. Any number of processes may
// run it, but each Service once.
func (s *Service) Run(ctx context.Context) error {
	if !s.store.Shared() { // leases are those of a process that has ended
		if err := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReleaseImports(ctx) }); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("import interrupted", "error", err.Error())
		}
	}
	return s.Group.Run(ctx)
}

// Next imports some rows of the import that waits longest, and reports whether there was one.
func (s *Service) Next(ctx context.Context) (more bool, err error) {
	waits, err := s.store.ImportWaits(ctx)
	if err != nil || !waits {
		s.last = opened{}
		return false, err
	}
	var i store.Import
	err = s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		i, err = tx.ClaimImport(ctx, s.holder, lease)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("claim an import: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if released := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReleaseImport(ctx, i.Num, s.holder) }); err == nil &&
			released != nil {
			err = fmt.Errorf("release an import: %w", released)
		}
	}()
	for range turn {
		ended, err := job.Through(ctx, min(stepRows, max(i.Rows-i.Done, 1)), func(step job.Step) (bool, error) {
			err := s.step(ctx, &i, step)
			return i.Status != store.ImportRunning, err
		})
		if errors.Is(err, job.ErrBroken) {
			ended, err = true, s.failImport(ctx, &i, "The service failed at the import several times. Its log says why.")
		}
		switch {
		case errors.Is(err, errLost):
			return true, nil
		case err != nil:
			return true, fmt.Errorf("import %s: %w", i.ID, err)
		case ended:
			return true, nil
		}
	}
	return true, nil
}

// skipped is the problem of a row that makes an import panic.
var skipped = fmt.Sprintf("could not be imported: the service failed at it %d times, and its log says why", job.Attempts)

// step imports the next rows of an import that this process holds.
func (s *Service) step(ctx context.Context, i *store.Import, step job.Step) error {
	p, refused, err := auth.ActingFor(ctx, s.store.Conn, i.Workspace, i.UserID, "import", auth.Editor)
	if errors.Is(err, store.ErrNotFound) {
		return errLost // the import was deleted with its user or workspace
	}
	if err != nil {
		return err
	}
	if refused != "" {
		return s.failImport(ctx, i, refused)
	}
	if err := s.load(ctx, i); err != nil {
		var e *problem.Error
		if !errors.As(err, &e) {
			return err
		}
		return s.failImport(ctx, i, e.Error())
	}
	rows := s.last.table.rows
	rows = rows[min(i.Done, len(rows)):min(i.Done+step.Units, len(rows))]
	if step.Failed {
		return s.storeProgress(ctx, i, func(tx *store.Tx, next *store.Import) error {
			next.Done += len(rows)
			next.Failed += len(rows)
			var problems []store.ImportProblem
			for n := range rows {
				problems = append(problems, s.last.reader.problemsOf(&rows[n], []problem.Field{{Message: skipped}})...)
			}
			return tx.InsertImportProblems(ctx, i.Num, problems)
		})
	}
	for try := 1; ; try++ {
		drafts, _, err := s.draft(ctx, p, s.last.reader, rows)
		if err != nil {
			return err
		}
		if err := s.links.ScreenImports(ctx, drafts); err != nil {
			return fmt.Errorf("check destinations: %w", err)
		}
		err = s.importBatch(ctx, p, i, rows, drafts)
		var full *store.LinksFull
		switch {
		case errors.As(err, &full): // trying again does not help
			const reason = "The service has %d links, which is the limit. Delete links, and import the other rows again."
			return s.failImport(ctx, i, fmt.Sprintf(reason, full.Max))
		case !errors.Is(err, links.ErrChanged) || try == tries:
			return err
		}
	}
}

// load reads the file of an import, unless it is the last one that was read.
func (s *Service) load(ctx context.Context, i *store.Import) error {
	if s.last.num == i.Num {
		return nil
	}
	t, err := s.readTable(ctx, i)
	if err != nil {
		return err
	}
	plan, err := PlanOf(i)
	if err != nil {
		return err
	}
	_, r, err := plan.prepare(t)
	if err != nil {
		return err
	}
	s.last = opened{i.Num, t, r}
	return nil
}

// importBatch imports drafts in one transaction that also counts them.
func (s *Service) importBatch(ctx context.Context, p auth.Principal, i *store.Import, rows []row, drafts []*links.Draft) error {
	return s.storeProgress(ctx, i, func(tx *store.Tx, next *store.Import) error {
		if len(drafts) > 0 {
			if err := s.links.ImportMany(ctx, tx, p, drafts, links.Conflicts(i.Conflicts), i.ID); err != nil {
				return err
			}
		}
		return problem.Doing("store problems of an import", tx.InsertImportProblems(ctx, i.Num, s.countOutcomes(next, rows, drafts)))
	})
}

// storeProgress does a part of an import and stores its progress in one transaction, if this process still holds the import. i is the
// import as it was read last, and becomes what is stored.
func (s *Service) storeProgress(ctx context.Context, i *store.Import, do func(tx *store.Tx, next *store.Import) error) error {
	next := *i
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		held, err := tx.HoldImport(ctx, i.Num, s.holder, lease)
		if errors.Is(err, store.ErrNotFound) || err == nil && held.Done != i.Done {
			return errLost
		}
		if err != nil {
			return fmt.Errorf("renew the lease of an import: %w", err)
		}
		next = held
		if err := do(tx, &next); err != nil {
			return err
		}
		var entries []audit.Entry
		if next.Done >= next.Rows {
			next.Status, next.FinishedAt = store.ImportDone, store.Now()
			entries = append(entries, entry(i.UserID, "IMPORT_FINISHED", nil, &next))
		}
		if err := tx.UpdateImport(ctx, &next); err != nil {
			return fmt.Errorf("store the progress of an import: %w", err)
		}
		return audit.Append(ctx, tx, entries...)
	})
	if err == nil {
		*i = next
	}
	return err
}

// countOutcomes adds the outcomes of drafts to an import, and returns the problems of those that are not imported.
func (s *Service) countOutcomes(i *store.Import, rows []row, drafts []*links.Draft) (problems []store.ImportProblem) {
	for n, d := range drafts {
		i.Done++
		switch d.Outcome {
		case links.RowCreates:
			i.Created++
		case links.RowUpdates:
			i.Updated++
		case links.RowSkips:
			i.Skipped++
		case links.RowRenames:
			i.Renamed++
		default:
			i.Failed++
		}
		problems = append(problems, s.last.reader.problemsOf(&rows[n], d.Reasons())...)
	}
	return problems
}

// failImport makes an import FAILED.
func (s *Service) failImport(ctx context.Context, i *store.Import, reason string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		held, err := tx.HoldImport(ctx, i.Num, s.holder, lease)
		if errors.Is(err, store.ErrNotFound) {
			return errLost
		}
		if err != nil {
			return err
		}
		*i = held
		i.Status, i.Failure, i.FinishedAt = store.ImportFailed, reason, store.Now()
		if err := tx.UpdateImport(ctx, i); err != nil {
			return err
		}
		return audit.Append(ctx, tx, entry(i.UserID, "IMPORT_FAILED", &held, i))
	})
	return problem.Doing("end an import", err)
}

// Sweep deletes imports that have been kept long enough.
func (s *Service) Sweep(ctx context.Context) error {
	before := s.cfg.Now().Add(-Keep).UnixMilli()
	for {
		var n int64
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.DeleteOldImports(ctx, before, sweepPart)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete old imports: %w", err)
		}
		if n < sweepPart {
			return nil
		}
	}
}

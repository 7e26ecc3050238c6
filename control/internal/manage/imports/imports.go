// Package imports implements imports of links from CSV files.
//
// An import has three steps. Create stores the file and suggests which column fills which field. Preview checks every row
// like a new link and changes nothing. Start makes the import run: a process at a time claims it with a lease and imports
// rows in transactions that also count them, so every row is imported once, whatever happens to the process.
package imports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

const (
	maxName = 100 // characters
	samples = 3   // values of each column
	// Keep is how long imports are kept after their end, or after the upload if they were not started.
	Keep = 30 * 24 * time.Hour
)

// Config configures New.
type Config struct {
	// PerWorkspace limits the imports that a workspace keeps; 0 means 20.
	PerWorkspace int
	// Logger receives failures of Run; nil means slog.Default().
	Logger *slog.Logger
	// Now returns the time at which old imports are deleted; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	job.Group

	cfg    Config
	store  *store.Store
	links  *links.Service
	holder string        // of leases
	wake   chan struct{} // an import was started
	last   opened        // for Run
}

// New returns a Service for an open store.
func New(cfg Config, s *store.Store, l *links.Service) *Service {
	cfg.PerWorkspace = cmp.Or(cfg.PerWorkspace, 20)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	i := &Service{cfg: cfg, store: s, links: l, holder: store.NewID(), wake: make(chan struct{}, 1)}
	i.Group = job.Group{
		{Name: "imports", Every: poll, Do: job.UntilDone(i.Next), Wake: i.wake, Retry: retry, Logger: cfg.Logger},
		{Name: "old_imports", Every: sweepEvery, Do: i.Sweep, Logger: cfg.Logger},
	}
	return i
}

// Column is a column of a file.
type Column struct {
	Name      string   `json:"name"`
	Sample    []string `json:"sample"`    // the first values that are not empty, cut
	Suggested string   `json:"suggested"` // a field of links, or ""
}

// Columns returns the columns of an import.
func Columns(i *store.Import) (list []Column, err error) {
	if err := json.Unmarshal([]byte(i.Columns), &list); err != nil {
		return nil, fmt.Errorf("columns of an import: %w", err)
	}
	return list, nil
}

func columnsOf(t *table) []Column {
	list := make([]Column, len(t.columns))
	for i, field := range suggest(t.columns) {
		list[i] = Column{t.columns[i], []string{}, field}
		for n := 0; n < len(t.rows) && len(list[i].Sample) < samples; n++ {
			if cell := t.rows[n].cell(i); cell != "" {
				list[i].Sample = append(list[i].Sample, problem.Clip(cell))
			}
		}
	}
	return list
}

// audited returns the audited fields.
func audited(i *store.Import) map[string]any {
	return map[string]any{"name": i.Name, "status": i.Status, "rows": i.Rows, "done": i.Done, "created": i.Created, "updated": i.Updated,
		"skipped": i.Skipped, "renamed": i.Renamed, "failed": i.Failed}
}

// Create stores a CSV file as an import into the caller's workspace. The name "" stands for "Import".
func (s *Service) Create(ctx context.Context, p auth.Principal, name string, content []byte) (store.Import, error) {
	var v problem.Fields
	i := store.Import{ID: store.NewID(), Workspace: p.Workspace.Num, UserID: p.UserID,
		Name:   v.Name("name", cmp.Or(name, "Import"), maxName),
		Status: store.ImportMapping, CreatedAt: store.Now()}
	if err := v.Err(); err != nil {
		return i, err
	}
	t, err := parse(content)
	if err != nil {
		return i, err
	}
	columns, err := json.Marshal(columnsOf(t))
	if err != nil {
		return i, fmt.Errorf("write columns: %w", err)
	}
	i.Delimiter, i.Columns, i.Rows = string(t.delimiter), string(columns), len(t.rows)
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is valid
	if _, err := z.Write(content); err != nil {
		return i, fmt.Errorf("compress a file: %w", err)
	}
	if err := z.Close(); err != nil {
		return i, fmt.Errorf("compress a file: %w", err)
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, i.Workspace); err != nil {
			return err
		}
		n, err := tx.CountImports(ctx, i.Workspace)
		if err != nil {
			return err
		}
		if n >= s.cfg.PerWorkspace {
			return problem.New(problem.Conflict, "The workspace has %d imports, which is the limit. Delete one first.", n)
		}
		if err := tx.InsertImport(ctx, &i, packed.Bytes()); err != nil {
			return err
		}
		return audit.Append(ctx, tx, entry(p.UserID, "IMPORT_CREATED", nil, &i))
	})
	if err != nil {
		return i, fmt.Errorf("create import: %w", err)
	}
	return i, nil
}

// entry returns an audit entry. A state that is nil does not exist.
func entry(userID, action string, before, after *store.Import) audit.Entry {
	i := cmp.Or(after, before)
	e := audit.Entry{UserID: userID, Action: action, EntityType: "import", EntityID: i.ID, Workspace: i.Workspace}
	if before != nil {
		e.Old = audited(before)
	}
	if after != nil {
		e.New = audited(after)
	}
	return e
}

// visible wraps a store call that returns an import. It returns the same error for a missing import and for an import that
// the caller may not see.
func visible(p auth.Principal) func(store.Import, error) (store.Import, error) {
	return auth.Visible("Import", func(i *store.Import) bool { return p.Sees(i.Workspace) })
}

// Get reads one import.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.Import, error) {
	return visible(p)(s.store.ImportByID(ctx, id))
}

// List reads a page of the workspace's imports, newest first, and counts all of them. For an ADMIN who chose no workspace it
// lists the imports of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, offset, limit int) ([]store.Import, int, error) {
	list, total, err := s.store.Imports(ctx, p.Scope(), offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list imports: %w", err)
	}
	return list, total, nil
}

// Delete removes an import with its file. Links that it has made stay. An import that runs is a Conflict.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		i, err := visible(p)(tx.LockImport(ctx, id))
		if err != nil {
			return err
		}
		if i.Status == store.ImportRunning {
			return problem.New(problem.Conflict, "The import is running. Cancel it first.")
		}
		if err := tx.DeleteImport(ctx, i.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, entry(p.UserID, "IMPORT_DELETED", &i, nil))
	})
	return problem.Doing("delete import", err)
}

// readTable reads and parses the file of an import.
func (s *Service) readTable(ctx context.Context, i *store.Import) (*table, error) {
	packed, err := s.store.ImportContent(ctx, i.Num)
	if err != nil {
		return nil, auth.Missing("Import", err) // it may be deleted meanwhile
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the file of an import: %w", err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack the file of an import: %w", err)
	}
	return parse(content)
}

func notMapping(i *store.Import) error {
	if i.Status == store.ImportMapping {
		return nil
	}
	return problem.New(problem.Conflict, "The import was started already. Its status is %s.", i.Status)
}

// Start makes an import run. The rows are imported by Run, of this process or another one.
func (s *Service) Start(ctx context.Context, p auth.Principal, id string, plan Plan) (store.Import, error) {
	i, err := s.Get(ctx, p, id)
	if err != nil {
		return i, err
	}
	if err := notMapping(&i); err != nil {
		return i, err
	}
	t, err := s.readTable(ctx, &i)
	if err != nil {
		return i, err
	}
	how, r, err := plan.prepare(t)
	if err != nil {
		return i, err
	}
	kept, err := r.stored()
	if err != nil {
		return i, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if i, err = visible(p)(tx.LockImport(ctx, id)); err != nil {
			return err
		}
		if err := notMapping(&i); err != nil {
			return err
		}
		before := i
		i.Status, i.Mapping, i.Conflicts, i.StartedAt = store.ImportRunning, kept, string(how), store.Now()
		if err := tx.UpdateImport(ctx, &i); err != nil {
			return err
		}
		return audit.Append(ctx, tx, entry(p.UserID, "IMPORT_STARTED", &before, &i))
	})
	if err != nil {
		return i, fmt.Errorf("start import: %w", err)
	}
	select {
	case s.wake <- struct{}{}:
	default: // Run looks soon anyway
	}
	return i, nil
}

// Cancel ends an import that runs. Rows that were imported stay.
func (s *Service) Cancel(ctx context.Context, p auth.Principal, id string) (i store.Import, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if i, err = visible(p)(tx.LockImport(ctx, id)); err != nil {
			return err
		}
		if i.Status != store.ImportRunning {
			return problem.New(problem.Conflict, "The import is not running. Its status is %s.", i.Status)
		}
		before := i
		i.Status, i.FinishedAt = store.ImportCancelled, store.Now()
		if err := tx.UpdateImport(ctx, &i); err != nil {
			return err
		}
		return audit.Append(ctx, tx, entry(p.UserID, "IMPORT_CANCELLED", &before, &i))
	})
	if err != nil {
		return i, fmt.Errorf("cancel import: %w", err)
	}
	return i, nil
}

package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/shortline/shortline/shared/link"
)

// Statuses of an import.
const (
	ImportMapping   = "MAPPING"
	ImportRunning   = "RUNNING"
	ImportDone      = "DONE"
	ImportFailed    = "FAILED"
	ImportCancelled = "CANCELLED"
)

// Import is a file of links. Times are Unix milliseconds.
type Import struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64 // number of the workspace that gets the links
	UserID    string // who imports
	Name      string
	Status    string
	Delimiter string
	Columns   string // JSON
	Mapping   string // JSON; "" before the start
	Conflicts string // "" before the start
	Rows      int

	// Done counts finished rows, which are the first ones of the file. Each is in one of the other counts.
	Done, Created, Updated, Skipped, Renamed, Failed int

	Failure    string // why the status is FAILED
	CreatedAt  int64
	StartedAt  int64 // 0: not yet
	FinishedAt int64 // 0: not yet
}

const importColumns = `num, id, workspace_num, user_id, name, status, delimiter, columns, mapping, conflicts, row_count, done, created, updated, skipped, renamed, failed, failure,
	created_at, started_at, finished_at`

func scanImport(row interface{ Scan(...any) error }) (i Import, err error) {
	return i, row.Scan(&i.Num, &i.ID, &i.Workspace, &i.UserID, &i.Name, &i.Status, &i.Delimiter, &i.Columns, &i.Mapping,
		&i.Conflicts, &i.Rows,
		&i.Done, &i.Created, &i.Updated,
		&i.Skipped, &i.Renamed, &i.Failed, &i.Failure, &i.CreatedAt, orZero(&i.StartedAt), orZero(&i.FinishedAt))
}

// ImportByID reads one import, or returns ErrNotFound.
func (c Conn) ImportByID(ctx context.Context, id string) (Import, error) {
	return scanImport(c.Row(ctx, `SELECT `+importColumns+` FROM imports WHERE id = ?`, id))
}

// Imports reads one page of imports, newest first, and counts all of them. Workspace 0 stands for all.
func (c Conn) Imports(ctx context.Context, workspace uint64, offset, limit int) (list []Import, total int, err error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	return pageOf(ctx, c, scanImport, importColumns, `imports`+w.String(), `num DESC`, w.args, limit, offset)
}

// LockImport reads an import and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockImport(ctx context.Context, id string) (Import, error) {
	return scanImport(tx.Row(ctx, `SELECT `+importColumns+` FROM imports WHERE id = ?`+tx.forUpdate(), id))
}

// CountImports counts the imports of a workspace. The caller has locked the workspace.
func (tx *Tx) CountImports(ctx context.Context, workspace uint64) (n int, err error) {
	err = tx.Row(ctx, `SELECT count(*) FROM imports WHERE workspace_num = ?`, workspace).Scan(&n)
	return n, err
}

// InsertImport adds an import with its file.
func (tx *Tx) InsertImport(ctx context.Context, i *Import, content []byte) error {
	err := tx.Row(ctx, `INSERT INTO imports (id, workspace_num, user_id, name, status, delimiter, columns, mapping, conflicts, row_count, done,
		created, updated, skipped, renamed, failed,
		failure, holder, lease_until, created_at) VALUES (`+In(9)+`, ?, 0, 0, 0, 0, 0, 0, '', '', 0, ?) RETURNING num`,
		i.ID, i.Workspace, i.UserID, i.Name, i.Status, i.Delimiter, i.Columns, i.Mapping, i.Conflicts, i.Rows, i.CreatedAt).Scan(&i.Num)
	if err != nil {
		return err
	}
	return tx.Do(ctx, `INSERT INTO import_files (import_num, content) VALUES (?, ?)`, i.Num, content)
}

// ImportContent reads the file of an import, or returns ErrNotFound.
func (c Conn) ImportContent(ctx context.Context, num uint64) (content []byte, err error) {
	err = c.Row(ctx, `SELECT content FROM import_files WHERE import_num = ?`, num).Scan(&content)
	return content, err
}

// UpdateImport writes everything that changes, and ends the lease if the import does not run. The caller has locked the
// import.
func (tx *Tx) UpdateImport(ctx context.Context, i *Import) error {
	return tx.Do(ctx, `UPDATE imports SET status = ?, mapping = ?, conflicts = ?, done = ?, created = ?, updated = ?, skipped = ?,
		renamed = ?, failed = ?, failure = ?,
		started_at = ?, finished_at = ?, holder = CASE WHEN CAST(? AS TEXT) = '`+ImportRunning+`' THEN holder ELSE '' END WHERE num = ?`,
		i.Status, i.Mapping, i.Conflicts, i.Done, i.Created, i.Updated, i.Skipped, i.Renamed, i.Failed, i.Failure, null(i.StartedAt),
		null(i.FinishedAt), i.Status, i.Num)
}

// DeleteImport removes an import with its file and its problems.
func (tx *Tx) DeleteImport(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM imports WHERE num = ?`, num)
}

// DeleteOldImports removes imports that do not run and were finished, or else uploaded, before a time. It removes at most
// limit, and returns their number.
func (tx *Tx) DeleteOldImports(ctx context.Context, before int64, limit int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM imports WHERE num IN (SELECT num FROM imports WHERE status <> '`+ImportRunning+
		`' AND coalesce(finished_at, created_at) < ? ORDER BY num LIMIT ?)`, before, limit)
}

// ImportWaits reports whether there is a running import that no process holds.
func (c Conn) ImportWaits(ctx context.Context) (waits bool, err error) {
	err = c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM imports WHERE status = '`+ImportRunning+`' AND lease_until <= `+c.clock()+`)`).
		Scan(&waits)
	return waits, err
}

// ClaimImport gives the running import that waits longest to a process for a time. It returns ErrNotFound if there is none
// that no process holds.
func (tx *Tx) ClaimImport(ctx context.Context, holder string, lease time.Duration) (Import, error) {
	skip := ""
	if tx.pg {
		skip = ` FOR UPDATE SKIP LOCKED`
	}
	return scanImport(tx.Row(ctx, `UPDATE imports SET holder = ?, lease_until = `+tx.clock()+` + CAST(? AS BIGINT) WHERE num = (SELECT num
		FROM imports
		WHERE status = '`+ImportRunning+`' AND lease_until <= `+tx.clock()+` ORDER BY lease_until,
		num LIMIT 1`+skip+`) RETURNING `+importColumns, holder, lease.Milliseconds()))
}

// HoldImport locks an import until the commit and renews the lease of its holder. It returns ErrNotFound if the import no
// longer runs, or another process holds it.
func (tx *Tx) HoldImport(ctx context.Context, num uint64, holder string, lease time.Duration) (Import, error) {
	return scanImport(tx.Row(ctx, `UPDATE imports SET lease_until = `+tx.clock()+
		` + CAST(? AS BIGINT) WHERE num = ? AND holder = ? AND status = '`+ImportRunning+`' RETURNING `+importColumns,
		lease.Milliseconds(), num, holder))
}

// ReleaseImport ends the lease of a holder. The import then waits behind those that wait already.
func (tx *Tx) ReleaseImport(ctx context.Context, num uint64, holder string) error {
	return tx.Do(ctx, `UPDATE imports SET holder = '', lease_until = `+tx.clock()+` WHERE num = ? AND holder = ?`, num, holder)
}

// ReleaseImports ends all leases. Call it when a process starts that is the only one.
func (tx *Tx) ReleaseImports(ctx context.Context) error {
	return tx.Do(ctx, `UPDATE imports SET holder = '', lease_until = 0 WHERE holder <> ''`)
}

// ImportProblem is what is wrong with a cell of a file.
type ImportProblem struct {
	Line    int // of the row in the file, from 1
	Part    int // number of the problem in the row
	Field   string
	Column  string // "" if the field has no column
	Value   string
	Message string
}

// InsertImportProblems adds problems of an import.
func (tx *Tx) InsertImportProblems(ctx context.Context, num uint64, list []ImportProblem) error {
	for part := range slices.Chunk(list, batch) {
		args := make([]any, 0, 7*len(part))
		for _, p := range part {
			args = append(args, num, p.Line, p.Part, p.Field, p.Column, p.Value, p.Message)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO import_problems (import_num, line, part, field, column_name, value, message) VALUES `+
			values(len(part), "("+In(7)+")"), args...); err != nil {
			return err
		}
	}
	return nil
}

func scanImportProblem(row interface{ Scan(...any) error }) (p ImportProblem, err error) {
	return p, row.Scan(&p.Line, &p.Part, &p.Field, &p.Column, &p.Value, &p.Message)
}

const importProblems = `SELECT line, part, field, column_name, value, message FROM import_problems WHERE import_num = ?`

// ImportProblems reads one page of the problems of an import in the order of the file, and counts all of them.
func (c Conn) ImportProblems(ctx context.Context, num uint64, offset, limit int) (list []ImportProblem, total int, err error) {
	if err := c.Row(ctx, `SELECT count(*) FROM import_problems WHERE import_num = ?`, num).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = All(ctx, c, scanImportProblem, importProblems+` ORDER BY line, part LIMIT ? OFFSET ?`, num, limit, offset)
	return list, total, err
}

// ImportProblemsAfter reads up to limit problems of an import that follow a line and a part.
func (c Conn) ImportProblemsAfter(ctx context.Context, num uint64, line, part, limit int) ([]ImportProblem, error) {
	return All(ctx, c, scanImportProblem, importProblems+
		` AND (line, part) > (CAST(? AS BIGINT), CAST(? AS BIGINT)) ORDER BY line, part LIMIT ?`, num, line, part, limit)
}

// TakenLink is a link that has a slug or an external id.
type TakenLink struct {
	ID         string
	Key        string
	Workspace  uint64
	ExternalID string
}

// foldedLink is a TakenLink with the key that its domain compares; "" if the domain distinguishes cases.
type foldedLink struct {
	TakenLink
	folded string
}

func scanTaken(row interface{ Scan(...any) error }) (l TakenLink, err error) {
	return l, row.Scan(&l.ID, &l.Key, &l.Workspace, orZero(&l.ExternalID))
}

// LinksWithKeys reads the links that have the keys, by these. On a domain that does not distinguish cases, a link may have a key in
// another case.
func (c Conn) LinksWithKeys(ctx context.Context, keys []string) (map[string]TakenLink, error) {
	found := map[string]TakenLink{}
	for part := range slices.Chunk(keys, batch) {
		spelled := make(map[string][]string, len(part)) // by folded key
		for _, key := range part {
			spelled[link.Fold(key)] = append(spelled[link.Fold(key)], key)
		}
		folded := slices.Collect(maps.Keys(spelled))
		list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (l foldedLink, err error) {
			return l, row.Scan(&l.ID, &l.Key, &l.Workspace, orZero(&l.ExternalID), orZero(&l.folded))
		}, `SELECT id, slug, coalesce(workspace_num, 0), external_id, folded FROM urls WHERE slug IN (`+In(len(part))+`) OR folded IN (`+
			In(len(folded))+`)`, append(Args(part), Args(folded)...)...)
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			found[l.Key] = l.TakenLink
			for _, key := range spelled[l.folded] {
				found[key] = l.TakenLink
			}
		}
	}
	return found, nil
}

// LinksWithExternalIDs reads the links of a workspace that have the external ids, by these.
func (c Conn) LinksWithExternalIDs(ctx context.Context, workspace uint64, ids []string) (map[string]TakenLink, error) {
	found := map[string]TakenLink{}
	for part := range slices.Chunk(ids, batch) {
		list, err := All(ctx, c, scanTaken,
			`SELECT id, slug, coalesce(workspace_num, 0), external_id FROM urls WHERE workspace_num = ? AND external_id IN (`+
				In(len(part))+`)`,
			append([]any{workspace}, Args(part)...)...)
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			found[l.ExternalID] = l
		}
	}
	return found, nil
}

// SlugsSuspended returns those of the keys that deleted links had which were suspended; see SlugSuspended.
func (c Conn) SlugsSuspended(ctx context.Context, keys []string) (map[string]bool, error) {
	found := map[string]bool{}
	for part := range slices.Chunk(keys, batch) {
		list, err := All(ctx, c, column[string], `SELECT slug FROM suspended_slugs WHERE slug IN (`+In(len(part))+`)`, Args(part)...)
		if err != nil {
			return nil, err
		}
		for _, key := range list {
			found[key] = true
		}
	}
	return found, nil
}

// KeysSuspended is SlugsSuspended where some domains, as folds tells for a key, do not distinguish cases.
func (c Conn) KeysSuspended(ctx context.Context, keys []string, folds func(key string) bool) (map[string]bool, error) {
	found, err := c.SlugsSuspended(ctx, keys)
	if err != nil {
		return nil, err
	}
	spelled := map[string][]string{} // by folded key
	for _, key := range keys {
		if folds(key) {
			spelled[link.Fold(key)] = append(spelled[link.Fold(key)], key)
		}
	}
	for part := range slices.Chunk(slices.Collect(maps.Keys(spelled)), batch) {
		list, err := All(ctx, c, column[string], `SELECT lower(slug) FROM suspended_slugs WHERE lower(slug) IN (`+In(len(part))+`)`,
			Args(part)...)
		if err != nil {
			return nil, err
		}
		for _, folded := range list {
			for _, key := range spelled[folded] {
				found[key] = true
			}
		}
	}
	return found, nil
}

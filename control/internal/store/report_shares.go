package store

import "context"

// SharedReport is a report that people without an account see at an address with a secret token.
type SharedReport struct {
	Num          uint64 // dense, assigned by the database
	ID           string
	Workspace    uint64 // number of the workspace whose clicks it counts
	CreatedBy    string // user; "" if that user was deleted
	Name         string
	About        string // workspace, link, tag, bundle or domain
	Target       string // id of the link, tag or bundle; host name of the domain; "" for the workspace
	Selection    string // JSON: range, time zone, comparison and filters
	ShowLinks    bool   // the report lists the links with most clicks
	TokenHash    string // SHA-256 of the token, in hexadecimal
	TokenSealed  string // the token, encrypted
	PasswordHash *string
	Origins      string // whose pages may embed the report, separated by spaces
	ExpiresAt    int64  // 0: never
	CreatedAt    int64
	UpdatedAt    int64
}

const sharedReportColumns = `num, id, workspace_num, created_by, name, about, target, selection, show_links, token_hash, token_sealed,
	password_hash, origins, expires_at, created_at, updated_at`

func scanSharedReport(row interface{ Scan(...any) error }) (r SharedReport, err error) {
	return r, row.Scan(&r.Num, &r.ID, &r.Workspace, orZero(&r.CreatedBy), &r.Name, &r.About, &r.Target, &r.Selection, &r.ShowLinks,
		&r.TokenHash, &r.TokenSealed, &r.PasswordHash, &r.Origins, orZero(&r.ExpiresAt), &r.CreatedAt, &r.UpdatedAt)
}

// SharedReportFilter selects shared reports. A zero field selects everything.
type SharedReportFilter struct {
	Workspace     uint64
	About, Target string
	Offset, Limit int
}

// SharedReports reads one page of shared reports, the newest first, and counts all of them.
func (c Conn) SharedReports(ctx context.Context, f SharedReportFilter) (list []SharedReport, total int, err error) {
	var w conditions
	w.and(f.Workspace != 0, `workspace_num = ?`, f.Workspace)
	w.and(f.About != "", `about = ?`, f.About)
	w.and(f.Target != "", `target = ?`, f.Target)
	return pageOf(ctx, c, scanSharedReport, sharedReportColumns, `shared_reports`+w.String(), `created_at DESC, num DESC`, w.args, f.Limit,
		f.Offset)
}

// SharedReportByID reads a shared report, or returns ErrNotFound.
func (c Conn) SharedReportByID(ctx context.Context, id string) (SharedReport, error) {
	return scanSharedReport(c.Row(ctx, `SELECT `+sharedReportColumns+` FROM shared_reports WHERE id = ?`, id))
}

// SharedReportByToken reads a shared report by the hash of its token, or returns ErrNotFound. The personal workspace of a user who was
// deactivated shares nothing.
func (c Conn) SharedReportByToken(ctx context.Context, hash string) (SharedReport, error) {
	return scanSharedReport(c.Row(ctx, `SELECT `+sharedReportColumns+` FROM shared_reports
		WHERE token_hash = ?
		AND NOT EXISTS (SELECT 1 FROM users WHERE users.num = shared_reports.workspace_num AND NOT users.active)`, hash))
}

// LockSharedReport reads a shared report and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockSharedReport(ctx context.Context, id string) (SharedReport, error) {
	return scanSharedReport(tx.Row(ctx, `SELECT `+sharedReportColumns+` FROM shared_reports WHERE id = ?`+tx.forUpdate(), id))
}

// LockSharedReportsOf makes transactions wait for each other that add shared reports to a workspace, and returns how many it has.
func (tx *Tx) LockSharedReportsOf(ctx context.Context, workspace uint64) (count int, err error) {
	if tx.pg {
		if _, err := tx.Exec(ctx, `SELECT num FROM workspaces WHERE num = ? FOR NO KEY UPDATE`, workspace); err != nil {
			return 0, err
		}
	}
	err = tx.Row(ctx, `SELECT count(*) FROM shared_reports WHERE workspace_num = ?`, workspace).Scan(&count)
	return count, err
}

// InsertSharedReport adds a shared report and sets its Num.
func (tx *Tx) InsertSharedReport(ctx context.Context, r *SharedReport) error {
	return tx.Row(ctx, `INSERT INTO shared_reports (id, workspace_num, created_by, name, about, target, selection, show_links, token_hash,
		token_sealed, password_hash, origins, expires_at, created_at, updated_at) VALUES (`+In(15)+`) RETURNING num`,
		r.ID, r.Workspace, null(r.CreatedBy), r.Name, r.About, r.Target, r.Selection, r.ShowLinks, r.TokenHash, r.TokenSealed,
		r.PasswordHash, r.Origins, null(r.ExpiresAt), r.CreatedAt, r.UpdatedAt).Scan(&r.Num)
}

// UpdateSharedReport writes the fields that can change. The caller has locked the shared report.
func (tx *Tx) UpdateSharedReport(ctx context.Context, r *SharedReport) error {
	return tx.Do(ctx, `UPDATE shared_reports SET name = ?, selection = ?, show_links = ?, password_hash = ?, origins = ?, expires_at = ?,
		updated_at = ? WHERE num = ?`, r.Name, r.Selection, r.ShowLinks, r.PasswordHash, r.Origins, null(r.ExpiresAt), r.UpdatedAt, r.Num)
}

// DeleteSharedReport removes a shared report.
func (tx *Tx) DeleteSharedReport(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM shared_reports WHERE num = ?`, num)
}

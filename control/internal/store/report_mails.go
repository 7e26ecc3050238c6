package store

import (
	"context"
	"slices"

	"github.com/shortline/shortline/shared/each"
)

// Intervals of a MailReport, and states of a MailRecipient.
const (
	MailWeekly  = "WEEK"
	MailMonthly = "MONTH"

	RecipientPending      = "PENDING"   // has not confirmed the address
	RecipientConfirmed    = "CONFIRMED" // or a member, who needs not confirm
	RecipientUnsubscribed = "UNSUBSCRIBED"
)

// MailReport is a report that is sent by e-mail.
type MailReport struct {
	Num        uint64 // dense, assigned by the database
	ID         string
	Workspace  uint64 // number of the workspace that owns it
	UserID     string // who made it
	Segment    uint64 // number of the segment; 0: all clicks
	SegmentID  string // of Segment
	Name       string
	Every      string // MailWeekly or MailMonthly
	Zone       string // IANA name
	Active     bool
	DueAt      int64 // when the next one is sent, Unix milliseconds
	CreatedAt  int64
	UpdatedAt  int64
	Recipients []MailRecipient
}

// MailRecipient is an address to which a report is sent.
type MailRecipient struct {
	Num       uint64
	ID        string
	Report    uint64 // number of the report
	Email     string
	Member    bool // added as a member of the workspace, who gets nothing after leaving it
	State     string
	CreatedAt int64 // or when the address was asked again to confirm
}

const reportColumns = `r.num, r.id, r.workspace_num, r.user_id, r.segment_num, s.id, r.name, r.every, r.timezone, r.active, r.due_at, r.created_at, r.updated_at`

const reportTable = `mail_reports r LEFT JOIN segments s ON s.num = r.segment_num`

func scanReport(row interface{ Scan(...any) error }) (r MailReport, err error) {
	return r, row.Scan(&r.Num, &r.ID, &r.Workspace, &r.UserID, orZero(&r.Segment), orZero(&r.SegmentID), &r.Name, &r.Every, &r.Zone,
		&r.Active, &r.DueAt, &r.CreatedAt, &r.UpdatedAt)
}

const recipientColumns = `num, id, report_num, email, member, state, created_at`

func scanRecipient(row interface{ Scan(...any) error }) (r MailRecipient, err error) {
	return r, row.Scan(&r.Num, &r.ID, &r.Report, &r.Email, &r.Member, &r.State, &r.CreatedAt)
}

// withRecipients reads the recipients of reports.
func (c Conn) withRecipients(ctx context.Context, list []MailReport) error {
	for part := range slices.Chunk(list, batch) {
		nums := each.At(part, func(r *MailReport) uint64 { return r.Num })
		found, err := All(ctx, c, scanRecipient, `SELECT `+recipientColumns+` FROM mail_report_recipients WHERE report_num IN (`+
			In(len(nums))+`) ORDER BY num`, Args(nums)...)
		if err != nil {
			return err
		}
		for i := range part {
			part[i].Recipients = slices.DeleteFunc(slices.Clone(found), func(r MailRecipient) bool { return r.Report != part[i].Num })
		}
	}
	return nil
}

// MailReports reads one page of reports in the order of their creation, with their recipients, and counts all. Workspace 0 stands
// for all.
func (c Conn) MailReports(ctx context.Context, workspace uint64, offset, limit int) (list []MailReport, total int, err error) {
	var w conditions
	w.and(workspace != 0, `r.workspace_num = ?`, workspace)
	list, total, err = pageOf(ctx, c, scanReport, reportColumns, reportTable+w.String(), `r.num`, w.args, limit, offset)
	if err == nil {
		err = c.withRecipients(ctx, list)
	}
	return list, total, err
}

// MailReportsDue reads the active reports that are due by now, the longest overdue first, at most limit.
func (c Conn) MailReportsDue(ctx context.Context, now int64, limit int) ([]MailReport, error) {
	return All(ctx, c, scanReport, `SELECT `+reportColumns+` FROM `+reportTable+` WHERE r.active AND r.due_at <= ? ORDER BY r.due_at, r.num
		LIMIT ?`, now, limit)
}

// LockMailReport reads a report with its recipients and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockMailReport(ctx context.Context, id string) (MailReport, error) {
	if tx.pg { // a join that may have no row on one side cannot be locked
		if _, err := tx.Exec(ctx, `SELECT num FROM mail_reports WHERE id = ? FOR UPDATE`, id); err != nil {
			return MailReport{}, err
		}
	}
	r, err := scanReport(tx.Row(ctx, `SELECT `+reportColumns+` FROM `+reportTable+` WHERE r.id = ?`, id))
	if err != nil {
		return r, err
	}
	list := []MailReport{r}
	err = tx.withRecipients(ctx, list)
	return list[0], err
}

// InsertMailReport adds a report without recipients.
func (tx *Tx) InsertMailReport(ctx context.Context, r *MailReport) error {
	return tx.Row(ctx, `INSERT INTO mail_reports (id, workspace_num, user_id, segment_num, name, every, timezone, active, due_at, created_at,
		updated_at) VALUES (`+In(11)+`) RETURNING num`, r.ID, r.Workspace, r.UserID, null(r.Segment), r.Name, r.Every, r.Zone, r.Active,
		r.DueAt, r.CreatedAt, r.UpdatedAt).Scan(&r.Num)
}

// UpdateMailReport writes a report, which the caller has locked, without its recipients.
func (tx *Tx) UpdateMailReport(ctx context.Context, r *MailReport) error {
	return tx.Do(ctx, `UPDATE mail_reports SET segment_num = ?, name = ?, every = ?, timezone = ?, active = ?, due_at = ?, updated_at = ?
		WHERE num = ?`, null(r.Segment), r.Name, r.Every, r.Zone, r.Active, r.DueAt, r.UpdatedAt, r.Num)
}

// DeleteMailReport removes a report with its recipients.
func (tx *Tx) DeleteMailReport(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM mail_reports WHERE num = ?`, num)
}

// PutRecipient adds a recipient of a report, or changes its state.
func (tx *Tx) PutRecipient(ctx context.Context, r *MailRecipient) error {
	return tx.Row(ctx, `INSERT INTO mail_report_recipients (id, report_num, email, email_key, member, state, created_at) VALUES (`+In(7)+`)
		ON CONFLICT (report_num, email_key) DO UPDATE SET member = excluded.member, state = excluded.state, created_at = excluded.created_at RETURNING num, id`,
		r.ID, r.Report, r.Email, EmailKey(r.Email), r.Member, r.State, r.CreatedAt).Scan(&r.Num, &r.ID)
}

// DeleteRecipient removes a recipient.
func (tx *Tx) DeleteRecipient(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM mail_report_recipients WHERE num = ?`, num)
}

// RecipientReport reads the id of the report of a recipient, or returns ErrNotFound.
func (c Conn) RecipientReport(ctx context.Context, id string) (string, error) {
	return column[string](c.Row(ctx, `SELECT r.id FROM mail_report_recipients p JOIN mail_reports r ON r.num = p.report_num WHERE p.id = ?`,
		id))
}

// MarkSent records that a period of a report is sent, and reports false if it was recorded before.
func (tx *Tx) MarkSent(ctx context.Context, report uint64, period string, at int64) (bool, error) {
	return tx.Changes(ctx, `INSERT INTO mail_report_runs (report_num, period, sent_at) VALUES (?, ?, ?)
		ON CONFLICT (report_num, period) DO NOTHING`, report, period, at)
}

// AskRecipient records that an address is asked to confirm. It returns how many e-mails a workspace, and how many all workspaces
// have sent to the address since a time, with this one. It forgets earlier ones.
func (tx *Tx) AskRecipient(ctx context.Context, workspace uint64, email string, at, since int64) (ofWorkspace, ofAddress int, err error) {
	if _, err := tx.Exec(ctx, `DELETE FROM mail_report_asked WHERE at < ?`, since); err != nil {
		return 0, 0, err
	}
	if err := tx.Do(ctx, `INSERT INTO mail_report_asked (id, workspace_num, email_key, at) VALUES (?, ?, ?, ?)`, NewID(), workspace,
		EmailKey(email), at); err != nil {
		return 0, 0, err
	}
	err = tx.Row(ctx, `SELECT count(CASE WHEN workspace_num = ? THEN 1 END), count(CASE WHEN email_key = ? THEN 1 END) FROM mail_report_asked`,
		workspace, EmailKey(email)).Scan(&ofWorkspace, &ofAddress)
	return ofWorkspace, ofAddress, err
}

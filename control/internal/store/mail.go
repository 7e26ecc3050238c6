package store

import (
	"context"
	"slices"
	"strings"
)

// Mail is one e-mail that has not been sent yet.
type Mail struct {
	ID        string // constant over all attempts
	Recipient string
	Kind      string
	Content   string // encrypted
	Attempts  int    // made so far
	DueAt     int64
	Lease     string // id of the current claim; "": unclaimed
	LastError string // of the last attempt; contains no secret and no address
	CreatedAt int64
	ExpiresAt int64 // from then on the e-mail is useless
}

const mailColumns = `id, recipient, kind, content, attempts, due_at, lease, last_error, created_at, expires_at`

func scanMail(row interface{ Scan(...any) error }) (m Mail, err error) {
	err = row.Scan(&m.ID, &m.Recipient, &m.Kind, &m.Content, &m.Attempts, &m.DueAt, &m.Lease, &m.LastError, &m.CreatedAt, &m.ExpiresAt)
	return m, err
}

// InsertMail adds an e-mail, which is due at DueAt.
func (tx *Tx) InsertMail(ctx context.Context, m *Mail) error {
	return tx.Do(ctx, `INSERT INTO mail_outbox (id, recipient, kind, content, due_at, created_at, expires_at) VALUES (`+In(7)+`)`,
		m.ID, m.Recipient, m.Kind, m.Content, m.DueAt, m.CreatedAt, m.ExpiresAt)
}

// MailDue reports whether an e-mail is due by now.
func (c Conn) MailDue(ctx context.Context, now int64) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM mail_outbox WHERE due_at <= ?)`, now))
}

// ClaimMail claims up to limit e-mails that are due and have not expired, longest overdue first. Until the time given,
// no other process can claim them.
func (tx *Tx) ClaimMail(ctx context.Context, now, until int64, lease string, limit int) ([]Mail, error) {
	// MATERIALIZED, because a subquery may run more than once and lock different rows each time.
	list, err := All(ctx, tx.Conn, scanMail, `WITH picked AS MATERIALIZED (
			SELECT id FROM mail_outbox WHERE due_at <= ? AND expires_at > ? ORDER BY due_at, id LIMIT ?`+tx.skipLocked()+`)
		UPDATE mail_outbox SET due_at = ?, lease = ? WHERE id IN (SELECT id FROM picked) RETURNING `+mailColumns,
		now, now, limit, until, lease)
	slices.SortFunc(list, func(a, b Mail) int { return strings.Compare(a.ID, b.ID) })
	return list, err
}

// FinishMail removes an e-mail if the lease still holds it.
func (tx *Tx) FinishMail(ctx context.Context, id, lease string) error {
	return tx.Do(ctx, `DELETE FROM mail_outbox WHERE id = ? AND lease = ?`, id, lease)
}

// PostponeMail releases the lease if it still holds the e-mail. It stores the number of attempts, the time of the next
// one and the last error.
func (tx *Tx) PostponeMail(ctx context.Context, id, lease string, attempts int, dueAt int64, lastError string) error {
	return tx.Do(ctx, `UPDATE mail_outbox SET attempts = ?, due_at = ?, lease = '', last_error = ? WHERE id = ? AND lease = ?`,
		attempts, dueAt, lastError, id, lease)
}

// ReleaseMail releases the leases of a previous process. Only SQLite can know that the process is gone, since one
// process at a time uses it. On Postgres leases expire by themselves.
func (tx *Tx) ReleaseMail(ctx context.Context, now int64) error {
	if tx.pg {
		return nil
	}
	return tx.Do(ctx, `UPDATE mail_outbox SET due_at = ?, lease = '' WHERE lease <> ''`, now)
}

// DropExpiredMail removes up to limit expired e-mails that nobody is sending, and returns them without their content.
func (tx *Tx) DropExpiredMail(ctx context.Context, now int64, limit int) ([]Mail, error) {
	return All(ctx, tx.Conn, scanMail, `WITH picked AS MATERIALIZED (
			SELECT id FROM mail_outbox WHERE due_at <= ? AND expires_at <= ? ORDER BY due_at LIMIT ?`+tx.skipLocked()+`)
		DELETE FROM mail_outbox WHERE id IN (SELECT id FROM picked)
		RETURNING id, recipient, kind, '', attempts, due_at, lease, last_error, created_at, expires_at`, now, now, limit)
}

// MailQueue counts the waiting e-mails, up to limit. It also returns the creation time of the oldest one, or 0 if there
// is none.
func (c Conn) MailQueue(ctx context.Context, limit int) (n int, oldest int64, err error) {
	err = c.Row(ctx,
		`SELECT count(*), coalesce(min(created_at), 0) FROM (SELECT created_at FROM mail_outbox ORDER BY created_at LIMIT ?) AS queue`,
		limit).
		Scan(&n, &oldest)
	return n, oldest, err
}

// MailIDs lists the ids of all waiting e-mails.
func (c Conn) MailIDs(ctx context.Context) ([]string, error) {
	return All(ctx, c, column[string], `SELECT id FROM mail_outbox ORDER BY id`)
}

// LockMail reads an e-mail and locks it until the transaction ends. Without the e-mail, it returns ErrNotFound.
func (tx *Tx) LockMail(ctx context.Context, id string) (Mail, error) {
	return scanMail(tx.Row(ctx, `SELECT `+mailColumns+` FROM mail_outbox WHERE id = ?`+tx.forUpdate(), id))
}

// ReplaceMailContent stores newly encrypted content of an e-mail.
func (tx *Tx) ReplaceMailContent(ctx context.Context, id, content string) error {
	return tx.Do(ctx, `UPDATE mail_outbox SET content = ? WHERE id = ?`, content, id)
}

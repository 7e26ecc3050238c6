package store

import (
	"context"
)

// States of an invitation.
const (
	InvitationPending  = "PENDING"
	InvitationAccepted = "ACCEPTED"
	InvitationRevoked  = "REVOKED"
)

// invitationMemory is how long an invitation is kept after it has expired, in milliseconds.
const invitationMemory = 30 * 24 * 60 * 60 * 1000

// Invitation is an invitation of an e-mail address to a workspace.
type Invitation struct {
	ID           string
	Workspace    uint64
	Email        string
	Role         string
	InvitedBy    string // id of a user; "": deleted
	InviterEmail string // derived
	InviterName  string // derived
	ShownHash    string // SHA-256 of the token that was shown
	MailedHash   string // SHA-256 of the token that was sent by e-mail; "": none was sent
	State        string
	CreatedAt    int64
	ExpiresAt    int64
	MadeBy       string // id of the API key with which it was made; only InsertInvitation uses it
}

const invitationRows = `SELECT i.id, i.workspace_num, i.email, i.role, i.invited_by, u.email, u.name, i.shown_hash, i.mailed_hash, i.state,
	i.created_at, i.expires_at
	FROM invitations i LEFT JOIN users u ON u.id = i.invited_by WHERE `

func scanInvitation(row interface{ Scan(...any) error }) (i Invitation, err error) {
	return i, row.Scan(&i.ID, &i.Workspace, &i.Email, &i.Role, orZero(&i.InvitedBy), orZero(&i.InviterEmail), orZero(&i.InviterName),
		&i.ShownHash, orZero(&i.MailedHash), &i.State, &i.CreatedAt, &i.ExpiresAt)
}

// InsertInvitation writes a new invitation.
func (tx *Tx) InsertInvitation(ctx context.Context, i Invitation) error {
	return tx.Do(ctx,
		`INSERT INTO invitations (id, workspace_num, email, email_key, role, invited_by, shown_hash, mailed_hash, state, created_at, `+
			`expires_at, made_by_key) VALUES (`+In(12)+`)`,
		i.ID, i.Workspace, i.Email, EmailKey(i.Email), i.Role, null(i.InvitedBy), i.ShownHash, null(i.MailedHash), i.State, i.CreatedAt,
		i.ExpiresAt, null(i.MadeBy))
}

// Invitations reads one page of a workspace's pending invitations, newest first, and counts all. It includes those that
// have expired.
func (c Conn) Invitations(ctx context.Context, workspace uint64, limit, offset int) (list []Invitation, total int, err error) {
	if err := c.Row(ctx, `SELECT count(*) FROM invitations WHERE workspace_num = ? AND state = 'PENDING'`, workspace).
		Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = All(ctx, c, scanInvitation,
		invitationRows+`i.workspace_num = ? AND i.state = 'PENDING' ORDER BY i.created_at DESC, i.id DESC LIMIT ? OFFSET ?`, workspace,
		limit, offset)
	return list, total, err
}

// InvitationsSince counts the invitations to a workspace since a time, whatever became of them.
func (c Conn) InvitationsSince(ctx context.Context, workspace uint64, at int64) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM invitations WHERE workspace_num = ? AND created_at > ?`, workspace, at))
}

// InvitationsBy counts the invitations of a user since a time, in all workspaces.
func (c Conn) InvitationsBy(ctx context.Context, userID string, at int64) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM invitations WHERE invited_by = ? AND created_at > ?`, userID, at))
}

// InvitationsTo counts the invitations of an address since a time, in all workspaces.
func (c Conn) InvitationsTo(ctx context.Context, email string, at int64) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM invitations WHERE email_key = ? AND created_at > ?`, EmailKey(email), at))
}

// InvitationByHash finds an invitation by the SHA-256 of one of its tokens.
func (c Conn) InvitationByHash(ctx context.Context, hash string) (Invitation, error) {
	return scanInvitation(c.Row(ctx, invitationRows+`(i.shown_hash = ? OR i.mailed_hash = ?)`, hash, hash))
}

// PendingInvitation finds a pending invitation of a workspace.
func (c Conn) PendingInvitation(ctx context.Context, workspace uint64, id string) (Invitation, error) {
	return scanInvitation(c.Row(ctx, invitationRows+`i.workspace_num = ? AND i.id = ? AND i.state = 'PENDING'`, workspace, id))
}

// CloseInvitation changes the state of a pending invitation, and reports whether it was pending. Of two concurrent
// calls, one returns true.
func (tx *Tx) CloseInvitation(ctx context.Context, id, state string) (bool, error) {
	return tx.Changes(ctx, `UPDATE invitations SET state = ? WHERE id = ? AND state = 'PENDING'`, state, id)
}

// RevokeInvitations revokes the pending invitations of an address to a workspace, and returns their number.
func (tx *Tx) RevokeInvitations(ctx context.Context, workspace uint64, email string) (int64, error) {
	return tx.Exec(ctx, `UPDATE invitations SET state = 'REVOKED' WHERE workspace_num = ? AND email_key = ? AND state = 'PENDING'`,
		workspace, EmailKey(email))
}

// VerifyEmail records that a user's address was proven.
func (tx *Tx) VerifyEmail(ctx context.Context, userID string) error {
	return tx.Do(ctx, `UPDATE users SET email_verified = TRUE WHERE id = ?`, userID)
}

package store

import (
	"context"
	"errors"
)

// Passkey is a row of passkeys. Bytes are base64url without padding.
type Passkey struct {
	ID             string
	UserID         string
	CredentialID   string // chosen by the authenticator
	PublicKey      string // COSE
	SignCount      uint32 // of the newest accepted signature; 0 for authenticators that do not count
	AAGUID         string // model of the authenticator; "": not told
	Transports     string // separated by spaces
	BackupEligible bool
	BackedUp       bool
	Name           string
	CreatedAt      int64
	LastUsedAt     *int64
	ClonedAt       *int64 // newest refusal because the counter did not increase
}

const passkeyColumns = `id, user_id, credential_id, public_key, sign_count, aaguid, transports, backup_eligible, backed_up, name, created_at, last_used_at, cloned_at`

func scanPasskey(row interface{ Scan(...any) error }) (p Passkey, err error) {
	err = row.Scan(&p.ID, &p.UserID, &p.CredentialID, &p.PublicKey, &p.SignCount, &p.AAGUID, &p.Transports, &p.BackupEligible, &p.BackedUp,
		&p.Name, &p.CreatedAt, &p.LastUsedAt, &p.ClonedAt)
	return p, err
}

// InsertPasskey inserts a passkey. A credential that is in use violates the unique constraint on credential_id.
func (c Conn) InsertPasskey(ctx context.Context, p Passkey) error {
	return c.Do(ctx, `INSERT INTO passkeys (`+passkeyColumns+`) VALUES (`+In(13)+`)`,
		p.ID, p.UserID, p.CredentialID, p.PublicKey, p.SignCount, p.AAGUID, p.Transports, p.BackupEligible, p.BackedUp, p.Name, p.CreatedAt,
		p.LastUsedAt, p.ClonedAt)
}

// Passkeys lists a user's passkeys, oldest first.
func (c Conn) Passkeys(ctx context.Context, userID string) ([]Passkey, error) {
	return All(ctx, c, scanPasskey, `SELECT `+passkeyColumns+` FROM passkeys WHERE user_id = ? ORDER BY created_at, id`, userID)
}

// CountPasskeys returns the number of a user's passkeys.
func (c Conn) CountPasskeys(ctx context.Context, userID string) (int, error) {
	return column[int](c.Row(ctx, `SELECT COUNT(*) FROM passkeys WHERE user_id = ?`, userID))
}

// PasskeyByCredential finds a passkey by the id that its authenticator chose.
func (c Conn) PasskeyByCredential(ctx context.Context, credentialID string) (Passkey, error) {
	return scanPasskey(c.Row(ctx, `SELECT `+passkeyColumns+` FROM passkeys WHERE credential_id = ?`, credentialID))
}

// UsePasskey stores the counter of a signature and the time of its use. It returns false if the counter did not
// increase: of two uses with one counter, only one succeeds. Counters of 0 belong to authenticators that do not count.
func (tx *Tx) UsePasskey(ctx context.Context, id string, signCount uint32, backedUp bool, at int64) (bool, error) {
	// The database compares, so that two replicas cannot both pass a check.
	return tx.Changes(ctx, `UPDATE passkeys SET sign_count = ?, backed_up = ?, last_used_at = ? WHERE id = ? AND sign_count < ?`,
		signCount, backedUp, at, id, max(int64(signCount), 1))
}

// NotePasskeyCloned stores the time at which the passkey was refused because its counter did not increase.
func (tx *Tx) NotePasskeyCloned(ctx context.Context, id string, at int64) error {
	return tx.Do(ctx, `UPDATE passkeys SET cloned_at = ? WHERE id = ?`, at, id)
}

// RenamePasskey changes the name of a user's passkey and returns the passkey, or ErrNotFound.
func (tx *Tx) RenamePasskey(ctx context.Context, userID, id, name string) (Passkey, error) {
	return scanPasskey(tx.Row(ctx, `UPDATE passkeys SET name = ? WHERE id = ? AND user_id = ? RETURNING `+passkeyColumns, name, id, userID))
}

// DeletePasskey removes a user's passkey and returns it, or ErrNotFound.
func (tx *Tx) DeletePasskey(ctx context.Context, userID, id string) (Passkey, error) {
	return scanPasskey(tx.Row(ctx, `DELETE FROM passkeys WHERE id = ? AND user_id = ? RETURNING `+passkeyColumns, id, userID))
}

// DeletePasskeys removes all passkeys of a user, and registrations in progress. It returns the number of passkeys.
func (tx *Tx) DeletePasskeys(ctx context.Context, userID string) (int64, error) {
	if _, err := tx.Exec(ctx, `DELETE FROM passkey_ceremonies WHERE user_id = ?`, userID); err != nil {
		return 0, err
	}
	return tx.Exec(ctx, `DELETE FROM passkeys WHERE user_id = ?`, userID)
}

// PasskeyCeremony is a registration or a sign-in in progress.
type PasskeyCeremony struct {
	Challenge string // SHA-256 of the challenge
	UserID    string // who registers; "": a sign-in
	SessionID string // of the one who registers; "": a sign-in
	ExpiresAt int64
}

// InsertPasskeyCeremony stores a ceremony.
func (tx *Tx) InsertPasskeyCeremony(ctx context.Context, p PasskeyCeremony) error {
	var user, session *string
	if p.UserID != "" {
		user, session = &p.UserID, &p.SessionID
	}
	return tx.Do(ctx, `INSERT INTO passkey_ceremonies (challenge, user_id, session_id, expires_at) VALUES (?, ?, ?, ?)`, p.Challenge,
		user, session, p.ExpiresAt)
}

// TakePasskeyCeremony removes a ceremony and reports whether it existed and had not expired by now. userID and
// sessionID are those of a registration, and "" for a sign-in. A ceremony of another user or session is not removed.
func (tx *Tx) TakePasskeyCeremony(ctx context.Context, challenge, userID, sessionID string, now int64) (bool, error) {
	var expires int64
	err := tx.Row(ctx,
		`DELETE FROM passkey_ceremonies WHERE challenge = ? AND COALESCE(user_id, '') = ? AND COALESCE(session_id, '') = ? RETURNING expires_at`,
		challenge, userID, sessionID).Scan(&expires)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && expires > now, err
}

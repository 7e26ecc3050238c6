package store

import "context"

// InsertPasswordReset stores the SHA-256 of a token with which a user may set a new password until a time.
func (c Conn) InsertPasswordReset(ctx context.Context, hash, userID string, expiresAt int64) error {
	return c.Do(ctx, `INSERT INTO password_resets (hash, user_id, expires_at) VALUES (?, ?, ?)`, hash, userID, expiresAt)
}

// PasswordResetUser finds the user of a token that has not expired by now.
func (c Conn) PasswordResetUser(ctx context.Context, hash string, now int64) (User, error) {
	return scanUser(c.Row(ctx, `SELECT `+userColumns+
		` FROM password_resets r JOIN users u ON u.id = r.user_id WHERE r.hash = ? AND r.expires_at > ?`, hash, now))
}

// UsePasswordReset removes a token that has not expired by now, and reports whether it existed. Only one of two
// concurrent calls returns true.
func (c Conn) UsePasswordReset(ctx context.Context, hash string, now int64) (bool, error) {
	return c.Changes(ctx, `DELETE FROM password_resets WHERE hash = ? AND expires_at > ?`, hash, now)
}

// DeletePasswordResets removes all tokens of a user.
func (c Conn) DeletePasswordResets(ctx context.Context, userID string) error {
	return c.Do(ctx, `DELETE FROM password_resets WHERE user_id = ?`, userID)
}

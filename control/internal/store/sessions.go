package store

import "context"

// Session is a sign-in that has not ended.
type Session struct {
	ID        string
	UserID    string
	CreatedAt int64
	ExpiresAt int64

	LastSeenAt   *int64 // with a precision of one minute; nil: not since CreatedAt
	IP           string // "": unknown
	UserAgent    string // "": unknown
	SecondFactor bool   // whether the sign-in used one
}

// InsertSession writes a new session.
func (c Conn) InsertSession(ctx context.Context, s Session) error {
	_, err := c.Exec(ctx, `INSERT INTO sessions (id, user_id, created_at, expires_at, last_seen_at, ip, user_agent, second_factor) VALUES (?, ?, ?, ?, ?, NULLIF(?, ''), NULLIF(?, ''), ?)`,
		s.ID, s.UserID, s.CreatedAt, s.ExpiresAt, s.LastSeenAt, s.IP, s.UserAgent, s.SecondFactor)
	return err
}

// SessionUser finds the user of a session that has neither expired by now nor been ended.
func (c Conn) SessionUser(ctx context.Context, id string, now int64) (User, error) {
	return scanUser(c.Row(ctx, `SELECT `+userColumns+` FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = ? AND s.expires_at > ?`, id, now))
}

// DeleteSession ends one session of a user.
func (c Conn) DeleteSession(ctx context.Context, userID, id string) error {
	_, err := c.Exec(ctx, `DELETE FROM sessions WHERE id = ? AND user_id = ?`, id, userID)
	return err
}

// DeleteSessions ends all sessions of a user except one; "" keeps none.
func (c Conn) DeleteSessions(ctx context.Context, userID, except string) error {
	_, err := c.Exec(ctx, `DELETE FROM sessions WHERE user_id = ? AND id <> ?`, userID, except)
	return err
}

package store

import (
	"context"
	"database/sql"
	"strings"
)

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
	return c.Do(ctx,
		`INSERT INTO sessions (id, user_id, created_at, expires_at, last_seen_at, ip, user_agent, second_factor) VALUES (?, ?, ?, ?, ?, `+
			`NULLIF(?, ''), NULLIF(?, ''), ?)`,
		s.ID, s.UserID, s.CreatedAt, s.ExpiresAt, s.LastSeenAt, s.IP, s.UserAgent, s.SecondFactor)
}

// SessionOwner is the user of a session.
type SessionOwner struct {
	User
	MustEnrol bool // the installation requires a second factor, and the user has none
}

// Require2FA is the key of the system setting that requires a second factor, and Require2FAOn its value if it does.
const (
	Require2FA   = "require_2fa"
	Require2FAOn = `{"enabled":true}`
)

// mustEnrol is the condition that user u has to set up a second factor first.
const mustEnrol = `(NOT u.totp_enabled AND EXISTS (SELECT 1 FROM system_settings WHERE key = '` + Require2FA + `' AND value = '` + Require2FAOn + `')
	AND NOT EXISTS (SELECT 1 FROM passkeys WHERE passkeys.user_id = u.id))`

// sessionValid is the condition that session s has not ended. Its arguments are the present time, and the time since
// which the session must have been seen, or -1.
const sessionValid = `s.expires_at > ? AND COALESCE(s.last_seen_at, s.created_at) > ?`

// SessionUser finds the user of a session that has not expired by now, was seen after a time (-1: whenever), and was not
// ended.
func (c Conn) SessionUser(ctx context.Context, id string, now, seenAfter int64) (o SessionOwner, err error) {
	o.User, err = scanUser(moreColumns{c.Row(ctx, `SELECT `+userColumns+`, `+mustEnrol+` FROM sessions s JOIN users u ON u.id = s.user_id
		WHERE s.id = ? AND `+sessionValid, id, now, seenAfter), []any{&o.MustEnrol}})
	return o, err
}

// moreColumns scans further columns at the end of a row.
type moreColumns struct {
	row  interface{ Scan(...any) error }
	more []any
}

func (m moreColumns) Scan(dest ...any) error { return m.row.Scan(append(dest, m.more...)...) }

// Sessions reads one page of a user's valid sessions, newest first, and counts all of them. The arguments now and
// seenAfter are those of SessionUser.
func (c Conn) Sessions(ctx context.Context, userID string, now, seenAfter int64, limit, offset int) (list []Session, total int, err error) {
	const where = ` FROM sessions s WHERE s.user_id = ? AND ` + sessionValid
	if err := c.Row(ctx, `SELECT COUNT(*)`+where, userID, now, seenAfter).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = All(ctx, c, scanSession, `SELECT `+sessionColumns+where+` ORDER BY s.created_at DESC, s.id DESC LIMIT ? OFFSET ?`,
		userID, now,
		seenAfter, limit, offset)
	return list, total, err
}

const sessionColumns = `id, user_id, created_at, expires_at, last_seen_at, COALESCE(ip, ''), COALESCE(user_agent, ''), second_factor`

func scanSession(row interface{ Scan(...any) error }) (s Session, err error) {
	return s, row.Scan(&s.ID, &s.UserID, &s.CreatedAt, &s.ExpiresAt, &s.LastSeenAt, &s.IP, &s.UserAgent, &s.SecondFactor)
}

// SessionIDs lists the ids of a user's sessions, including expired ones.
func (c Conn) SessionIDs(ctx context.Context, userID string) ([]string, error) {
	return All(ctx, c, column[string],
		`SELECT id FROM sessions WHERE user_id = ?`, userID)
}

// NoteSessionUse stores when a session was last seen, unless it was seen within interval milliseconds before.
func (c Conn) NoteSessionUse(ctx context.Context, id string, at, interval int64) error {
	return c.Do(ctx, `UPDATE sessions SET last_seen_at = ? WHERE id = ? AND COALESCE(last_seen_at, created_at) <= ?`, at, id,
		at-interval)
}

// DeleteSession ends one session of a user and returns it. The error is ErrNotFound if there is no such session.
func (c Conn) DeleteSession(ctx context.Context, userID, id string) (Session, error) {
	return scanSession(c.Row(ctx, `DELETE FROM sessions WHERE id = ? AND user_id = ? RETURNING `+sessionColumns, id, userID))
}

// DeleteSessions ends all sessions of a user except one, and returns their number; "" keeps none.
func (c Conn) DeleteSessions(ctx context.Context, userID, except string) (int64, error) {
	return c.Exec(ctx, `DELETE FROM sessions WHERE user_id = ? AND id <> ?`, userID, except)
}

// ValidCredentials returns the role of the user for each session and API key that is still valid, by
// the id of the session or the lookup of the key.
func (c Conn) ValidCredentials(ctx context.Context, sessions, keys []string, now, seenAfter int64) (roles map[string]string, err error) {
	var parts []string
	var args []any
	if len(sessions) > 0 {
		parts = append(parts, `SELECT s.id, u.role FROM sessions s JOIN users u ON u.id = s.user_id
			WHERE s.id IN (`+In(len(sessions))+`) AND `+sessionValid+` AND u.active AND NOT `+mustEnrol)
		args = append(append(args, Args(sessions)...), now, seenAfter)
	}
	if len(keys) > 0 {
		parts = append(parts, `SELECT k.lookup, u.role FROM api_keys k JOIN users u ON u.id = k.user_id
			WHERE k.lookup IN (`+In(len(keys))+`) AND (k.expires_at IS NULL OR k.expires_at > ?) AND u.active`)
		args = append(append(args, Args(keys)...), now)
	}
	roles = map[string]string{}
	if len(parts) == 0 {
		return roles, nil
	}
	err = c.each(ctx, func(rows *sql.Rows) error {
		var id, role string
		err := rows.Scan(&id, &role)
		roles[id] = role
		return err
	}, strings.Join(parts, ` UNION ALL `), args...)
	return roles, err
}

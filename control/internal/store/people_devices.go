package store

import "context"

// NoteDevice stores that a user has signed in from a device. known reports whether the user did so before, and first
// whether the user has no device yet.
func (c Conn) NoteDevice(ctx context.Context, userID, device string, at int64) (known, first bool, err error) {
	if err := c.Row(ctx, `SELECT NOT EXISTS (SELECT 1 FROM known_devices WHERE user_id = ?)`, userID).Scan(&first); err != nil {
		return false, false, err
	}
	n, err := c.Exec(ctx, `INSERT INTO known_devices (user_id, device, last_seen_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		userID, device, at)
	if err != nil || n == 1 {
		return false, first, err
	}
	_, err = c.Exec(ctx, `UPDATE known_devices SET last_seen_at = ? WHERE user_id = ? AND device = ?`, at, userID, device)
	return true, false, err
}

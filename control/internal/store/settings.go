package store

import "context"

// Setting is a row of system_settings. Value is JSON text.
type Setting struct {
	ID          string
	Key         string
	Value       string
	Description *string
	CreatedAt   int64
	UpdatedAt   int64
}

const settingColumns = `id, key, value, description, created_at, updated_at`

func scanSetting(row interface{ Scan(...any) error }) (s Setting, err error) {
	return s, row.Scan(&s.ID, &s.Key, &s.Value, &s.Description, &s.CreatedAt, &s.UpdatedAt)
}

// Settings lists all settings by key.
func (c Conn) Settings(ctx context.Context) ([]Setting, error) {
	return All(ctx, c, scanSetting, `SELECT `+settingColumns+` FROM system_settings ORDER BY key`)
}

// SettingByKey finds a setting.
func (c Conn) SettingByKey(ctx context.Context, key string) (Setting, error) {
	return scanSetting(c.Row(ctx, `SELECT `+settingColumns+` FROM system_settings WHERE key = ?`, key))
}

// PutSetting inserts a setting, or replaces its value and description. It returns the stored row.
func (c Conn) PutSetting(ctx context.Context, s Setting) (Setting, error) {
	return scanSetting(c.Row(ctx, `INSERT INTO system_settings (`+settingColumns+`) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, description = excluded.description, updated_at = excluded.updated_at
		RETURNING `+settingColumns, s.ID, s.Key, s.Value, s.Description, s.CreatedAt, s.UpdatedAt))
}

// DeleteSetting removes a setting and reports whether it existed.
func (c Conn) DeleteSetting(ctx context.Context, key string) (bool, error) {
	return c.Changes(ctx, `DELETE FROM system_settings WHERE key = ?`, key)
}

// Requires2FA reports whether the installation requires a second factor.
func (c Conn) Requires2FA(ctx context.Context) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM system_settings WHERE key = ? AND value = ?)`, Require2FA, Require2FAOn))
}

// HasSecondFactor reports whether a user can prove a second factor: by a code or by a passkey.
func (c Conn) HasSecondFactor(ctx context.Context, userID string) (bool, error) {
	return column[bool](c.Row(ctx,
		`SELECT EXISTS (SELECT 1 FROM users WHERE id = ? AND totp_enabled) OR EXISTS (SELECT 1 FROM passkeys WHERE user_id = ?)`,
		userID, userID))
}

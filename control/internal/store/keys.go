package store

import (
	"context"
	"slices"
)

// Key is a row of api_keys. The key itself is not stored: Lookup is its SHA-256, Hash is its bcrypt hash.
type Key struct {
	ID         string
	UserID     string // who created it, and whose role limits it
	Workspace  uint64 // number of the workspace that it works in
	Name       string
	Prefix     string
	Lookup     string
	Hash       string
	ExpiresAt  *int64
	LastUsedAt *int64
	CreatedAt  int64
}

const keyColumns = `k.id, k.user_id, k.workspace_num, k.name, k.prefix, k.lookup, k.hash, k.expires_at, k.last_used_at, k.created_at`

func (k *Key) fields() []any {
	return []any{&k.ID, &k.UserID, &k.Workspace, &k.Name, &k.Prefix, &k.Lookup, &k.Hash, &k.ExpiresAt, &k.LastUsedAt, &k.CreatedAt}
}

func scanKey(row interface{ Scan(...any) error }) (k Key, err error) {
	return k, row.Scan(k.fields()...)
}

// InsertKey writes a new key.
func (c Conn) InsertKey(ctx context.Context, k Key) error {
	_, err := c.Exec(ctx, `INSERT INTO api_keys (id, user_id, workspace_num, name, prefix, lookup, hash, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.UserID, null(k.Workspace), k.Name, k.Prefix, k.Lookup, k.Hash, k.ExpiresAt, k.CreatedAt)
	return err
}

// KeyUser finds a key by its SHA-256, even if it has expired, the user who created it, and the membership of this user
// in the key's workspace.
func (c Conn) KeyUser(ctx context.Context, lookup string) (k Key, u User, m Membership, err error) {
	err = c.Row(ctx, `SELECT `+keyColumns+`, `+userColumns+`, `+membershipColumns+` FROM api_keys k JOIN users u ON u.id = k.user_id
		JOIN workspaces w ON w.num = k.workspace_num LEFT JOIN workspace_members m ON m.workspace_num = w.num AND m.user_id = u.id WHERE k.lookup = ?`,
		lookup).Scan(slices.Concat(k.fields(), u.fields(), m.fields())...)
	return k, u, m, err
}

// Keys lists a user's keys, newest first.
func (c Conn) Keys(ctx context.Context, userID string) ([]Key, error) {
	return All(ctx, c, scanKey, `SELECT `+keyColumns+` FROM api_keys k WHERE k.user_id = ? ORDER BY k.created_at DESC, k.id DESC`, userID)
}

// KeyByID finds a key.
func (c Conn) KeyByID(ctx context.Context, id string) (Key, error) {
	return scanKey(c.Row(ctx, `SELECT `+keyColumns+` FROM api_keys k WHERE k.id = ?`, id))
}

// DeleteKey removes a key and reports whether it existed.
func (c Conn) DeleteKey(ctx context.Context, id string) (bool, error) {
	n, err := c.Exec(ctx, `DELETE FROM api_keys WHERE id = ?`, id)
	return n == 1, err
}

// DeleteKeys removes all keys of a user and returns their number.
func (c Conn) DeleteKeys(ctx context.Context, userID string) (int64, error) {
	return c.Exec(ctx, `DELETE FROM api_keys WHERE user_id = ?`, userID)
}

// NoteKeyUse stores when a key was last used, unless a later use is already stored.
func (c Conn) NoteKeyUse(ctx context.Context, id string, at int64) error {
	_, err := c.Exec(ctx, `UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)`, at, id, at)
	return err
}

package store

import (
	"context"
	"slices"
)

// Key is a row of api_keys. The key itself is not stored: Lookup is its SHA-256, Hash is its bcrypt hash.
type Key struct {
	ID          string
	UserID      string // who created it, and whose role limits it
	Workspace   uint64 // number of the workspace that it works in
	Name        string
	Prefix      string
	Lookup      string
	Hash        string
	Scopes      string // names, separated by spaces; "": no limit
	AllowedIPs  string // networks, separated by spaces; "": no limit
	Checksummed bool   // false: made by a release before checksums
	ExpiresAt   *int64
	LastUsedAt  *int64
	LastUsedIP  string // "": not used, or not since a release that stores it
	CreatedAt   int64
	MadeBy      string // id of the API key with which it was created, which ends it; "": a session

	// Only read.
	WorkspaceID   string
	WorkspaceSlug string
	Email         string // of the user
}

const (
	keyColumns = `k.id, k.user_id, k.workspace_num, k.name, k.prefix, k.lookup, k.hash, k.scopes, k.allowed_ips, k.checksummed, k.expires_at, k.last_used_at, k.last_used_ip, k.created_at, k.made_by_key, w.id, w.slug, u.email`
	keyTables  = `api_keys k JOIN users u ON u.id = k.user_id JOIN workspaces w ON w.num = k.workspace_num`
)

func (k *Key) scanInto() []any {
	return []any{&k.ID, &k.UserID, &k.Workspace, &k.Name, &k.Prefix, &k.Lookup, &k.Hash, &k.Scopes, &k.AllowedIPs, &k.Checksummed,
		&k.ExpiresAt, &k.LastUsedAt, &k.LastUsedIP, &k.CreatedAt, orZero(&k.MadeBy), &k.WorkspaceID, &k.WorkspaceSlug, &k.Email}
}

func scanKey(row interface{ Scan(...any) error }) (k Key, err error) {
	return k, row.Scan(k.scanInto()...)
}

// InsertKey writes a new key.
func (c Conn) InsertKey(ctx context.Context, k Key) error {
	return c.Do(ctx,
		`INSERT INTO api_keys (id, user_id, workspace_num, name, prefix, lookup, hash, scopes, allowed_ips, checksummed, expires_at, `+
			`created_at, made_by_key) VALUES (`+In(13)+`)`,
		k.ID, k.UserID, null(k.Workspace), k.Name, k.Prefix, k.Lookup, k.Hash, k.Scopes, k.AllowedIPs, k.Checksummed, k.ExpiresAt,
		k.CreatedAt, null(k.MadeBy))
}

// ReplaceKey stores the prefix, the hashes, the form and the expiry of k, and forgets the last use. It reports whether the
// row still had the lookup was: false means that another transaction has replaced or deleted the key.
func (c Conn) ReplaceKey(ctx context.Context, k Key, was string) (bool, error) {
	return c.Changes(ctx,
		`UPDATE api_keys SET prefix = ?, lookup = ?, hash = ?, checksummed = ?, expires_at = ?, last_used_at = NULL, last_used_ip = '' WHERE `+
			`id = ? AND lookup = ?`,
		k.Prefix, k.Lookup, k.Hash, k.Checksummed, k.ExpiresAt, k.ID, was)
}

// KeyUser finds a key by its SHA-256, even if it has expired, the user who created it, and the membership of this user
// in the key's workspace.
func (c Conn) KeyUser(ctx context.Context, lookup string) (k Key, u User, m Membership, err error) {
	err = c.Row(ctx, `SELECT `+keyColumns+`, `+userColumns+`, `+membershipColumns+` FROM `+keyTables+`
		LEFT JOIN workspace_members m ON m.workspace_num = w.num AND m.user_id = u.id WHERE k.lookup = ?`,
		lookup).Scan(slices.Concat(k.scanInto(), u.scanInto(), m.scanInto())...)
	return k, u, m, err
}

// Keys lists the keys that a user has created in any workspace, newest first.
func (c Conn) Keys(ctx context.Context, userID string) ([]Key, error) {
	return All(ctx, c, scanKey, `SELECT `+keyColumns+` FROM `+keyTables+` WHERE k.user_id = ? ORDER BY k.created_at DESC, k.id DESC`,
		userID)
}

// WorkspaceKeys lists the keys of a workspace, newest first.
func (c Conn) WorkspaceKeys(ctx context.Context, workspace uint64) ([]Key, error) {
	return All(ctx, c, scanKey, `SELECT `+keyColumns+` FROM `+keyTables+` WHERE k.workspace_num = ? ORDER BY k.created_at DESC, k.id DESC`,
		workspace)
}

// AllKeys lists the keys of all users, newest first. If legacy is true, it lists only those without a checksum.
func (c Conn) AllKeys(ctx context.Context, legacy bool) ([]Key, error) {
	return All(ctx, c, scanKey, `SELECT `+keyColumns+` FROM `+keyTables+
		` WHERE NOT k.checksummed OR NOT ? ORDER BY k.created_at DESC, k.id DESC`, legacy)
}

// KeyByID finds a key.
func (c Conn) KeyByID(ctx context.Context, id string) (Key, error) {
	return scanKey(c.Row(ctx, `SELECT `+keyColumns+` FROM `+keyTables+` WHERE k.id = ?`, id))
}

// MadeByKey returns the keys that were made with a key, directly or with another one of them, the first ones first.
func (c Conn) MadeByKey(ctx context.Context, id string) (list []Key, err error) {
	makers := []string{id}
	for len(makers) > 0 { // a key is made with an earlier one, so this ends
		made, err := All(ctx, c, scanKey, `SELECT `+keyColumns+` FROM `+keyTables+`
			WHERE k.made_by_key IN (`+In(len(makers))+`) ORDER BY k.created_at, k.id`, Args(makers)...)
		if err != nil {
			return nil, err
		}
		makers = nil
		for i := range made {
			makers = append(makers, made[i].ID)
		}
		list = append(list, made...)
	}
	return list, nil
}

// DeleteKey removes a key and reports whether it existed.
func (c Conn) DeleteKey(ctx context.Context, id string) (bool, error) {
	return c.Changes(ctx, `DELETE FROM api_keys WHERE id = ?`, id)
}

// DeleteKeys removes all keys of a user and returns their number.
func (c Conn) DeleteKeys(ctx context.Context, userID string) (int64, error) {
	return c.Exec(ctx, `DELETE FROM api_keys WHERE user_id = ?`, userID)
}

// NoteKeyUse stores when and from where a key was last used, unless a later use is already stored. It finds the key by its
// SHA-256, so that a use of a replaced key does not count for its successor.
func (c Conn) NoteKeyUse(ctx context.Context, lookup, ip string, at int64) error {
	return c.Do(ctx,
		`UPDATE api_keys SET last_used_at = ?, last_used_ip = ? WHERE lookup = ? AND (last_used_at IS NULL OR last_used_at < ?)`, at,
		ip, lookup, at)
}

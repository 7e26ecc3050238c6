package store

import (
	"context"
	"strings"
)

// User is a row of users. Optional texts are nil if unset.
type User struct {
	Num           uint64
	ID            string
	Email         string
	Name          string
	Role          string // ADMIN or USER
	Active        bool
	PasswordHash  *string // nil: no sign-in with a password
	TOTPSecret    *string // encrypted; stored by the set-up, before the second factor is on
	TOTPEnabled   bool
	TOTPLastStep  int64  // newest time step whose code was used
	MadeBy        string // id of the API key with which it was made; only InsertUser uses it
	EmailUnproven bool   // nobody has proven that the address belongs to the user; UpdateUser ignores it
	HasPasskeys   bool   // derived, so UpdateUser ignores it
	CreatedAt     int64
	UpdatedAt     int64
}

const userColumns = `u.num, u.id, u.email, u.name, u.role, u.active, u.password_hash, u.totp_secret, u.totp_enabled, u.totp_last_step,
	NOT u.email_verified,
	EXISTS (SELECT 1 FROM passkeys pk WHERE pk.user_id = u.id), u.created_at, u.updated_at`

func scanUser(row interface{ Scan(...any) error }) (u User, err error) {
	return u, row.Scan(u.scanInto()...)
}

// scanInto returns where Scan writes userColumns.
func (u *User) scanInto() []any {
	return []any{&u.Num, &u.ID, &u.Email, &u.Name, &u.Role, &u.Active, &u.PasswordHash, &u.TOTPSecret, &u.TOTPEnabled, &u.TOTPLastStep,
		&u.EmailUnproven, &u.HasPasskeys, &u.CreatedAt, &u.UpdatedAt}
}

// EmailKey returns the form in which emails are compared.
func EmailKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// InsertUser inserts a user and returns its number. An email in use violates the unique constraint on email_key.
func (c Conn) InsertUser(ctx context.Context, u User) (uint64, error) {
	return column[uint64](c.Row(ctx, `INSERT INTO users (id, email, email_key, name, role, active, password_hash, email_verified, created_at, updated_at,
		made_by_key)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING num`,
		u.ID, u.Email, EmailKey(u.Email), u.Name, u.Role, u.Active, u.PasswordHash, !u.EmailUnproven, u.CreatedAt, u.UpdatedAt,
		null(u.MadeBy)))
}

// UsersByID reads the users that exist, by id.
func (c Conn) UsersByID(ctx context.Context, ids []string) (map[string]User, error) {
	out := map[string]User{}
	if len(ids) == 0 {
		return out, nil
	}
	list, err := All(ctx, c, scanUser, `SELECT `+userColumns+` FROM users u WHERE u.id IN (`+In(len(ids))+`)`, Args(ids)...)
	for _, u := range list {
		out[u.ID] = u
	}
	return out, err
}

// UserByID finds a user.
func (c Conn) UserByID(ctx context.Context, id string) (User, error) {
	return scanUser(c.Row(ctx, `SELECT `+userColumns+` FROM users u WHERE u.id = ?`, id))
}

// UserByEmail finds a user by email, case-insensitive.
func (c Conn) UserByEmail(ctx context.Context, email string) (User, error) {
	return scanUser(c.Row(ctx, `SELECT `+userColumns+` FROM users u WHERE u.email_key = ?`, EmailKey(email)))
}

// LockUser finds a user and locks the row until the transaction ends.
func (tx *Tx) LockUser(ctx context.Context, id string) (User, error) {
	return scanUser(tx.Row(ctx, `SELECT `+userColumns+` FROM users u WHERE u.id = ?`+tx.forUpdate(), id))
}

// forUpdate returns the clause that locks selected rows. SQLite needs none, because it has one writer.
func (c Conn) forUpdate() string {
	if c.pg {
		return " FOR UPDATE"
	}
	return ""
}

// skipLocked ends a query that locks rows until the commit, and leaves out those that another transaction has locked.
func (c Conn) skipLocked() string {
	if c.pg {
		return ` FOR UPDATE SKIP LOCKED`
	}
	return ""
}

// UserFilter selects users. A zero field selects everything.
type UserFilter struct {
	Search string // text in email or name, case-insensitive
	Role   string
	Active *bool
}

// Users reads one page of users, newest first, and counts all users that the filter selects.
func (c Conn) Users(ctx context.Context, f UserFilter, limit, offset int) (users []User, total int, err error) {
	var w conditions
	like := LikeContains(f.Search)
	w.and(f.Search != "", `(u.email_key LIKE ? ESCAPE '\' OR LOWER(u.name) LIKE ? ESCAPE '\')`, like, like)
	w.and(f.Role != "", `u.role = ?`, f.Role)
	w.and(f.Active != nil, `u.active = ?`, f.Active)
	return pageOf(ctx, c, scanUser, userColumns, `users u`+w.String(), `u.created_at DESC, u.num DESC`, w.args, limit, offset)
}

// FirstUser finds the user who was created first.
func (c Conn) FirstUser(ctx context.Context) (User, error) {
	return scanUser(c.Row(ctx, `SELECT `+userColumns+` FROM users u ORDER BY u.num LIMIT 1`))
}

// HasSignedIn reports whether a user has ever signed in, by the audit log.
func (c Conn) HasSignedIn(ctx context.Context, userID string) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM audit_logs WHERE user_id = ? AND action = 'USER_LOGIN')`, userID))
}

// LockAdmins locks the rows of the active administrators and returns their ids. The lock keeps the last administrator
// from being removed between a check and a change.
func (tx *Tx) LockAdmins(ctx context.Context) ([]string, error) {
	return All(ctx, tx.Conn, column[string],
		`SELECT id FROM users WHERE role = 'ADMIN' AND active ORDER BY id`+tx.forUpdate())
}

// UpdateUser writes the columns that accounts change: name, role, active, password and second factor.
func (c Conn) UpdateUser(ctx context.Context, u User) error {
	return c.change(ctx,
		`UPDATE users SET name = ?, role = ?, active = ?, password_hash = ?, totp_secret = ?, totp_enabled = ?, totp_last_step = ?, `+
			`updated_at = ? WHERE id = ?`,
		u.Name, u.Role, u.Active, u.PasswordHash, u.TOTPSecret, u.TOTPEnabled, u.TOTPLastStep, u.UpdatedAt, u.ID)
}

// UsersWithTOTP lists the ids of users with a secret for a second factor.
func (c Conn) UsersWithTOTP(ctx context.Context) ([]string, error) {
	return All(ctx, c, column[string],
		`SELECT id FROM users WHERE totp_secret IS NOT NULL ORDER BY num`)
}

// UseTOTPStep records that the code of a time step was used. It returns false if this step or a later one was already
// used, so only one of two requests with the same code succeeds.
func (c Conn) UseTOTPStep(ctx context.Context, userID string, step int64) (bool, error) {
	return c.Changes(ctx, `UPDATE users SET totp_last_step = ? WHERE id = ? AND totp_last_step < ?`, step, userID, step)
}

// SetRecoveryCodes replaces a user's recovery codes, given as hashes. An empty list removes all codes.
func (c Conn) SetRecoveryCodes(ctx context.Context, userID string, hashes []string) error {
	if _, err := c.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = ?`, userID); err != nil {
		return err
	}
	for _, h := range hashes {
		if _, err := c.Exec(ctx, `INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)`, userID, h); err != nil {
			return err
		}
	}
	return nil
}

// UseRecoveryCode removes a code and reports whether it existed.
func (c Conn) UseRecoveryCode(ctx context.Context, userID, hash string) (bool, error) {
	return c.Changes(ctx, `DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?`, userID, hash)
}

// DeleteUser removes a user with the personal workspace, which has no links, and with sessions and keys. Clicks and audit
// rows stay. Call HandOver and HandOverWebhooks before.
func (tx *Tx) DeleteUser(ctx context.Context, id string) error {
	return tx.change(ctx, `DELETE FROM users WHERE id = ?`, id)
}

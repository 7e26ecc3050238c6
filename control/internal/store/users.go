package store

import (
	"context"
	"fmt"
	"strings"
)

// User is a row of users. Text that may be missing is nil.
type User struct {
	Num          uint64
	ID           string
	Email        string
	Name         string
	Role         string // ADMIN or USER
	Active       bool
	PasswordHash *string // nil: can't sign in with a password
	TOTPSecret   *string // sealed; set by the set-up, before the factor is on
	TOTPEnabled  bool
	TOTPLastStep int64 // the newest time step whose code was used
	CreatedAt    int64
	UpdatedAt    int64
}

const userColumns = `u.num, u.id, u.email, u.name, u.role, u.active, u.password_hash, u.totp_secret, u.totp_enabled, u.totp_last_step, u.created_at, u.updated_at`

func scanUser(row interface{ Scan(...any) error }) (u User, err error) {
	err = row.Scan(&u.Num, &u.ID, &u.Email, &u.Name, &u.Role, &u.Active, &u.PasswordHash, &u.TOTPSecret, &u.TOTPEnabled, &u.TOTPLastStep, &u.CreatedAt, &u.UpdatedAt)
	return u, err
}

// EmailKey is the form in which emails are compared.
func EmailKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// InsertUser writes a new user and returns its number. A used email breaks the constraint on email_key.
func (c Conn) InsertUser(ctx context.Context, u User) (num uint64, err error) {
	err = c.Row(ctx, `INSERT INTO users (id, email, email_key, name, role, active, password_hash, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING num`,
		u.ID, u.Email, EmailKey(u.Email), u.Name, u.Role, u.Active, u.PasswordHash, u.CreatedAt, u.UpdatedAt).Scan(&num)
	return num, err
}

// UsersByID reads those of the users that still exist, by id.
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

// UserByEmail finds a user by email, ignoring case.
func (c Conn) UserByEmail(ctx context.Context, email string) (User, error) {
	return scanUser(c.Row(ctx, `SELECT `+userColumns+` FROM users u WHERE u.email_key = ?`, EmailKey(email)))
}

// LockUser finds a user and keeps the row from changing until the transaction ends.
func (tx *Tx) LockUser(ctx context.Context, id string) (User, error) {
	return scanUser(tx.Row(ctx, `SELECT `+userColumns+` FROM users u WHERE u.id = ?`+tx.forUpdate(), id))
}

// forUpdate locks the selected rows. SQLite has one writer, who needs no row locks.
func (c Conn) forUpdate() string {
	if c.pg {
		return " FOR UPDATE"
	}
	return ""
}

// UserFilter narrows a list of users. Zero fields don't.
type UserFilter struct {
	Search string // in email and name, ignoring case
	Role   string
	Active *bool
}

// Users lists users, newest first, and counts them all.
func (c Conn) Users(ctx context.Context, f UserFilter, limit, offset int) (users []User, total int, err error) {
	where, args := "1 = 1", []any{}
	if f.Search != "" {
		where += ` AND (u.email_key LIKE ? ESCAPE '\' OR LOWER(u.name) LIKE ? ESCAPE '\')`
		args = append(args, LikeContains(f.Search), LikeContains(f.Search))
	}
	if f.Role != "" {
		where += " AND u.role = ?"
		args = append(args, f.Role)
	}
	if f.Active != nil {
		where += " AND u.active = ?"
		args = append(args, *f.Active)
	}
	if err := c.Row(ctx, `SELECT COUNT(*) FROM users u WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	users, err = All(ctx, c, scanUser,
		`SELECT `+userColumns+` FROM users u WHERE `+where+` ORDER BY u.created_at DESC, u.num DESC LIMIT ? OFFSET ?`, append(args, limit, offset)...)
	return users, total, err
}

// AnyUser reports whether there is a user at all.
func (c Conn) AnyUser(ctx context.Context) (any bool, err error) {
	err = c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM users)`).Scan(&any)
	return any, err
}

// LockAdmins locks the active admins' rows and returns their ids, so that the last of them can't vanish between
// a check and a change.
func (tx *Tx) LockAdmins(ctx context.Context) ([]string, error) {
	return All(ctx, tx.Conn, func(row interface{ Scan(...any) error }) (id string, err error) { return id, row.Scan(&id) },
		`SELECT id FROM users WHERE role = 'ADMIN' AND active ORDER BY id`+tx.forUpdate())
}

// UpdateUser writes the columns that accounts change: name, role, active, password and the second factor's.
func (c Conn) UpdateUser(ctx context.Context, u User) error {
	n, err := c.Exec(ctx, `UPDATE users SET name = ?, role = ?, active = ?, password_hash = ?, totp_secret = ?, totp_enabled = ?, totp_last_step = ?, updated_at = ? WHERE id = ?`,
		u.Name, u.Role, u.Active, u.PasswordHash, u.TOTPSecret, u.TOTPEnabled, u.TOTPLastStep, u.UpdatedAt, u.ID)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// UsersWithTOTP lists the ids of users who have a secret for a second factor.
func (c Conn) UsersWithTOTP(ctx context.Context) ([]string, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (id string, err error) { return id, row.Scan(&id) },
		`SELECT id FROM users WHERE totp_secret IS NOT NULL ORDER BY num`)
}

// UseTOTPStep notes that the code of a time step was used. It reports false if that step, or a later one, was
// used before: of two requests with the same code, one wins.
func (c Conn) UseTOTPStep(ctx context.Context, userID string, step int64) (bool, error) {
	n, err := c.Exec(ctx, `UPDATE users SET totp_last_step = ? WHERE id = ? AND totp_last_step < ?`, step, userID, step)
	return n == 1, err
}

// SetRecoveryCodes replaces a user's recovery codes, given as hashes; none removes them all.
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

// UseRecoveryCode removes a code and reports whether it was there.
func (c Conn) UseRecoveryCode(ctx context.Context, userID, hash string) (bool, error) {
	n, err := c.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?`, userID, hash)
	return n == 1, err
}

// DeleteUser removes a user with all that is theirs: links (which edges are told of), sessions, keys. Clicks
// and audit rows stay. It returns how many links went.
func (tx *Tx) DeleteUser(ctx context.Context, id string) (links int, err error) {
	if _, err := tx.LockUser(ctx, id); err != nil { // no link can be made for the user from here on
		return 0, err
	}
	gone, err := All(ctx, tx.Conn, func(row interface{ Scan(...any) error }) (l LinkRef, err error) { return l, row.Scan(&l.Num, &l.Slug) },
		`SELECT num, slug FROM urls WHERE user_id = ? ORDER BY num`+tx.forUpdate(), id)
	if err != nil {
		return 0, fmt.Errorf("lock links: %w", err)
	}
	if tx.pg {
		// An administrator may have put them into bundles; see LockBundlesOf.
		if _, err := tx.Exec(ctx, `SELECT num FROM bundles WHERE id IN (SELECT bundle_id FROM bundle_urls JOIN urls ON urls.id = url_id WHERE urls.user_id = ?)
			ORDER BY num FOR UPDATE`, id); err != nil {
			return 0, fmt.Errorf("lock bundles: %w", err)
		}
	}
	if err := tx.TouchAll(ctx, gone); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM urls WHERE user_id = ?`, id); err != nil {
		return 0, fmt.Errorf("delete links: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM users WHERE id = ?`, id)
	return len(gone), err
}

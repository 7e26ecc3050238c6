package store

import (
	"context"
	"fmt"
)

// File is a file of the ACME client.
type File struct {
	Name      string // parts separated by slashes
	Sealed    string
	Size      int64 // of the content, in bytes
	UpdatedAt int64 // Unix milliseconds
}

func scanFile(row interface{ Scan(...any) error }) (f File, err error) {
	return f, row.Scan(&f.Name, &f.Sealed, &f.Size, &f.UpdatedAt)
}

const fileColumns = `name, sealed, size, updated_at`

// under is the condition that a file is in a folder. Its arguments are those of bounds.
const under = `name > ? AND name < ?`

// bounds returns the names before and after all names in a folder; "0" is the character after the slash.
func bounds(folder string) []any { return []any{folder + "/", folder + "0"} }

// PutFile adds or replaces a file.
func (tx *Tx) PutFile(ctx context.Context, f File) error {
	return tx.Do(ctx, `INSERT INTO acme_files (`+fileColumns+`) VALUES (`+In(4)+`)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, size = excluded.size, updated_at = excluded.updated_at`,
		f.Name, f.Sealed, f.Size, f.UpdatedAt)
}

// ReplaceFile writes a file that was sealed again. It does nothing if the file has changed or is gone.
func (tx *Tx) ReplaceFile(ctx context.Context, name, from, to string) error {
	return tx.Do(ctx, `UPDATE acme_files SET sealed = ? WHERE name = ? AND sealed = ?`, to, name, from)
}

// FileNamed reads a file, or returns ErrNotFound.
func (c Conn) FileNamed(ctx context.Context, name string) (File, error) {
	return scanFile(c.Row(ctx, `SELECT `+fileColumns+` FROM acme_files WHERE name = ?`, name))
}

// FilesIn lists the files in a folder and in the folders below, without their contents, ordered by name. The folder ""
// stands for all files.
func (c Conn) FilesIn(ctx context.Context, folder string) ([]File, error) {
	if folder == "" {
		return All(ctx, c, scanFile, `SELECT name, '', size, updated_at FROM acme_files ORDER BY name`)
	}
	return All(ctx, c, scanFile, `SELECT name, '', size, updated_at FROM acme_files WHERE `+under+` ORDER BY name`, bounds(folder)...)
}

// HasFile reports whether there is a file or a folder with the name.
func (c Conn) HasFile(ctx context.Context, name string) (has bool, err error) {
	return has, c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM acme_files WHERE name = ? OR `+under+`)`,
		append([]any{name}, bounds(name)...)...).Scan(&has)
}

// DeleteFiles removes the file with a name, and all files in the folder with this name.
func (tx *Tx) DeleteFiles(ctx context.Context, name string) error {
	return tx.Do(ctx, `DELETE FROM acme_files WHERE name = ? OR `+under, append([]any{name}, bounds(name)...)...)
}

// TakeLock takes a lock for some milliseconds, and reports whether nobody else holds it.
func (tx *Tx) TakeLock(ctx context.Context, name, holder string, ms int64) (bool, error) {
	return tx.Changes(ctx, `INSERT INTO acme_locks (name, holder, expires_at) VALUES (?, ?, `+tx.clock()+` + CAST(? AS BIGINT))
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at WHERE acme_locks.expires_at < `+
		tx.clock(),
		name, holder, ms)
}

// KeepLock holds a lock for some more milliseconds from now on, and reports whether it was still held.
func (tx *Tx) KeepLock(ctx context.Context, name, holder string, ms int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE acme_locks SET expires_at = `+tx.clock()+` + CAST(? AS BIGINT) WHERE name = ? AND holder = ?`, ms,
		name, holder)
}

// DropLock releases a lock. It does nothing if somebody else has taken it meanwhile.
func (tx *Tx) DropLock(ctx context.Context, name, holder string) error {
	return tx.Do(ctx, `DELETE FROM acme_locks WHERE name = ? AND holder = ?`, name, holder)
}

// Order is an order of a certificate. Times are Unix milliseconds.
type Order struct {
	Num       uint64
	Directory string // URL of the certificate authority
	Hostname  string
	Doubtful  bool // likely to fail: only a share of the budget is for such orders
	StartedAt int64
}

// OrderBudget limits the orders at one certificate authority.
type OrderBudget struct {
	Window       int64 // milliseconds
	Most         int   // orders that start within Window
	Doubtful     int   // of them, those that are likely to fail
	Open         int   // orders in progress
	OpenDoubtful int   // of them, those that are likely to fail
	Lost         int64 // milliseconds after which an order is no longer in progress, because its control plane was killed
}

// busy is how long an order waits, in milliseconds, if too many are in progress.
const busy = 5000

// BeginOrder adds an order, and sets its Num, if the budget allows it. Otherwise it returns when to try again. The caller
// holds the lock of the host name, so earlier orders of this name that have not ended were lost with their control planes.
func (tx *Tx) BeginOrder(ctx context.Context, o *Order, b OrderBudget) (retryAt int64, err error) {
	if tx.pg {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(7305519645)`); err != nil { // control planes take turns
			return 0, err
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE acme_orders SET ended_at = ?, outcome = 'lost' WHERE hostname = ? AND ended_at IS NULL`, o.StartedAt,
		o.Hostname); err != nil {
		return 0, fmt.Errorf("end lost orders: %w", err)
	}
	var all, doubtful, open, openDoubtful int
	var first, firstDoubtful int64
	err = tx.Row(ctx, `SELECT count(*), count(*) FILTER (WHERE doubtful), coalesce(min(started_at), 0),
		coalesce(min(started_at) FILTER (WHERE doubtful), 0),
		count(*) FILTER (WHERE ended_at IS NULL AND started_at > ?), count(*) FILTER (WHERE ended_at IS NULL AND started_at > ? AND doubtful)
		FROM acme_orders WHERE directory = ? AND started_at > ?`,
		o.StartedAt-b.Lost, o.StartedAt-b.Lost, o.Directory, o.StartedAt-b.Window).Scan(&all, &doubtful, &first, &firstDoubtful, &open,
		&openDoubtful)
	switch {
	case err != nil:
		return 0, fmt.Errorf("count orders: %w", err)
	case all >= b.Most:
		return first + b.Window, nil
	case o.Doubtful && doubtful >= b.Doubtful:
		return firstDoubtful + b.Window, nil
	case open >= b.Open, o.Doubtful && openDoubtful >= b.OpenDoubtful:
		return o.StartedAt + busy, nil
	}
	err = tx.Row(ctx, `INSERT INTO acme_orders (directory, hostname, doubtful, started_at) VALUES (`+In(4)+`) RETURNING num`, o.Directory,
		o.Hostname, o.Doubtful, o.StartedAt).Scan(&o.Num)
	return 0, err
}

// RepeatOrder counts an order that was placed once more, as if it were another one.
func (tx *Tx) RepeatOrder(ctx context.Context, num uint64, now int64) error {
	return tx.Do(ctx, `INSERT INTO acme_orders (directory, hostname, doubtful, started_at, ended_at, outcome)
		SELECT directory, hostname, doubtful, CAST(? AS BIGINT), CAST(? AS BIGINT), 'repeated' FROM acme_orders WHERE num = ?`,
		now, now, num)
}

// EndOrder stores the outcome of an order: "" or an error.
func (tx *Tx) EndOrder(ctx context.Context, num uint64, now int64, outcome string) error {
	return tx.Do(ctx, `UPDATE acme_orders SET ended_at = ?, outcome = ? WHERE num = ? AND ended_at IS NULL`, now, outcome, num)
}

// TrimACME removes orders and challenges that began before a time, and locks that expired before it.
func (tx *Tx) TrimACME(ctx context.Context, before int64) error {
	for _, statement := range []string{
		`DELETE FROM acme_orders WHERE started_at < ?`, `DELETE FROM acme_challenges WHERE created_at < ?`,
		`DELETE FROM acme_locks WHERE expires_at < ?`,
	} {
		if _, err := tx.Exec(ctx, statement, before); err != nil {
			return err
		}
	}
	return nil
}

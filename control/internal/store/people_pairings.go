package store

import "context"

// Pairing is a program that waits for a user to confirm it.
type Pairing struct {
	Hash      string // SHA-256 of the device code
	Code      string // what the user compares
	Name      string // what the program calls itself
	IP        string // of the program
	Status    string // PENDING, APPROVED or REFUSED
	UserID    string // who has confirmed it
	Workspace string // id
	Key       string // JSON of the fields of the API key
	CreatedAt int64
	ExpiresAt int64
}

const pairingColumns = `hash, code, name, ip, status, COALESCE(user_id, ''), workspace_id, key, created_at, expires_at`

func scanPairing(row interface{ Scan(...any) error }) (p Pairing, err error) {
	err = row.Scan(&p.Hash, &p.Code, &p.Name, &p.IP, &p.Status, &p.UserID, &p.Workspace, &p.Key, &p.CreatedAt, &p.ExpiresAt)
	return p, err
}

// InsertPairing stores a program that waits.
func (tx *Tx) InsertPairing(ctx context.Context, p Pairing) error {
	return tx.Do(ctx, `INSERT INTO pairings (hash, code, name, ip, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)`,
		p.Hash, p.Code, p.Name, p.IP, p.CreatedAt, p.ExpiresAt)
}

// PendingPairing finds a program that waits for its code to be confirmed and has not expired by now.
func (c Conn) PendingPairing(ctx context.Context, code string, now int64) (Pairing, error) {
	return scanPairing(c.Row(ctx, `SELECT `+pairingColumns+` FROM pairings WHERE code = ? AND status = 'PENDING' AND expires_at > ?`,
		code, now))
}

// PairingByHash finds a program by its device code, if it has not expired by now.
func (c Conn) PairingByHash(ctx context.Context, hash string, now int64) (Pairing, error) {
	return scanPairing(c.Row(ctx, `SELECT `+pairingColumns+` FROM pairings WHERE hash = ? AND expires_at > ?`, hash, now))
}

// AnswerPairing stores what a user has decided, and reports whether the program still waited for it.
func (tx *Tx) AnswerPairing(ctx context.Context, p Pairing, now int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE pairings SET status = ?, user_id = ?, workspace_id = ?, key = ?
		WHERE code = ? AND status = 'PENDING' AND expires_at > ?`, p.Status, p.UserID, p.Workspace, p.Key, p.Code, now)
}

// TakePairing removes a program that was confirmed, and reports whether it existed. Only one of two concurrent calls returns true.
func (tx *Tx) TakePairing(ctx context.Context, hash string, now int64) (bool, error) {
	return tx.Changes(ctx, `DELETE FROM pairings WHERE hash = ? AND status = 'APPROVED' AND expires_at > ?`, hash, now)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// AuditRow is one stored row of the audit log. Old, New and Metadata are JSON.
type AuditRow struct {
	Seq        int64
	ID         string
	UserID     sql.NullString
	Action     string
	EntityType string
	EntityID   sql.NullString
	Old, New   sql.NullString
	IP         sql.NullString
	UserAgent  sql.NullString
	Metadata   string
	CreatedAt  int64
	Hash       string
	MAC        sql.NullString // NULL: written without a key
	Workspace  uint64         // number of the workspace that it belongs to; 0: none. The hash does not cover it.
}

const auditColumns = `seq, id, user_id, action, entity_type, entity_id, old_value, new_value, ip_address, user_agent, metadata, created_at, hash, mac, workspace_num`

func scanAudit(row interface{ Scan(...any) error }) (r AuditRow, err error) {
	err = row.Scan(&r.Seq, &r.ID, &r.UserID, &r.Action, &r.EntityType, &r.EntityID, &r.Old, &r.New, &r.IP, &r.UserAgent, &r.Metadata, &r.CreatedAt, &r.Hash, &r.MAC, orZero(&r.Workspace))
	return r, err
}

// LockAudit serializes writers of the audit log until they commit. SQLite needs no lock: it has one writer.
func (tx *Tx) LockAudit(ctx context.Context) error {
	if !tx.pg {
		return nil
	}
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(7305519642)`)
	return err
}

// AuditHead returns the sequence number, hash and HMAC of the newest row; zero values if the log is empty.
func (c Conn) AuditHead(ctx context.Context) (seq int64, hash string, mac sql.NullString, err error) {
	err = c.Row(ctx, `SELECT seq, hash, mac FROM audit_logs ORDER BY seq DESC LIMIT 1`).Scan(&seq, &hash, &mac)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", mac, nil
	}
	return seq, hash, mac, err
}

// AuditHash returns the hash of one row, or "" if there is no such row.
func (c Conn) AuditHash(ctx context.Context, seq int64) (hash string, err error) {
	err = c.Row(ctx, `SELECT hash FROM audit_logs WHERE seq = ?`, seq).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return hash, err
}

// AuditKeys returns the keys that sign audit rows. The first key signs; the others only verify.
func (tx *Tx) AuditKeys() [][]byte { return tx.auditKeys }

// InsertAudit appends a row.
func (tx *Tx) InsertAudit(ctx context.Context, r AuditRow) error {
	_, err := tx.Exec(ctx, `INSERT INTO audit_logs (`+auditColumns+`) VALUES (`+In(15)+`)`,
		r.Seq, r.ID, r.UserID, r.Action, r.EntityType, r.EntityID, r.Old, r.New, r.IP, r.UserAgent, r.Metadata, r.CreatedAt, r.Hash, r.MAC, null(r.Workspace))
	return err
}

// EachAudit calls f for every row in order. It holds one row in memory at a time.
func (c Conn) EachAudit(ctx context.Context, f func(AuditRow) error) error {
	return c.each(ctx, func(rows *sql.Rows) error {
		r, err := scanAudit(rows)
		if err != nil {
			return err
		}
		return f(r)
	}, `SELECT `+auditColumns+` FROM audit_logs ORDER BY seq`)
}

// AuditFilter selects audit rows. A zero field selects everything.
type AuditFilter struct {
	Workspace                            uint64
	Action, EntityType, EntityID, UserID string
	From, To                             int64  // created in [From, To); To 0: no end
	SortBy                               string // one of AuditSorts; "" means createdAt
	Ascending                            bool
	Offset, Limit                        int
}

// AuditSorts maps the API's sort keys of the audit log to columns.
var AuditSorts = map[string]string{"createdAt": "created_at", "action": "action", "entityType": "entity_type", "userId": "user_id"}

// AuditLogs reads one page, and counts the rows that the filter selects up to MaxTotal; exact is false if there are more.
// Without a filter it counts all rows.
func (c Conn) AuditLogs(ctx context.Context, f AuditFilter) (rows []AuditRow, total int, exact bool, err error) {
	where, args := []string{"1 = 1"}, []any{}
	for _, eq := range []struct{ column, value string }{{"action", f.Action}, {"entity_type", f.EntityType}, {"entity_id", f.EntityID}, {"user_id", f.UserID}} {
		if eq.value != "" {
			where, args = append(where, eq.column+" = ?"), append(args, eq.value)
		}
	}
	if f.Workspace != 0 {
		where, args = append(where, "workspace_num = ?"), append(args, f.Workspace)
	}
	if f.From > 0 {
		where, args = append(where, "created_at >= ?"), append(args, f.From)
	}
	if f.To > 0 {
		where, args = append(where, "created_at < ?"), append(args, f.To)
	}
	cond := strings.Join(where, " AND ")
	if len(args) == 0 { // rows are never deleted and their numbers have no gaps
		err = c.Row(ctx, `SELECT coalesce((SELECT max(seq) FROM audit_logs), 0) - coalesce((SELECT min(seq) FROM audit_logs), 1) + 1`).Scan(&total)
		exact = true
	} else {
		total, err = c.count(ctx, MaxTotal, `SELECT 1 FROM audit_logs WHERE `+cond, args)
		if exact = total <= MaxTotal; !exact {
			total = MaxTotal
		}
	}
	if err != nil {
		return nil, 0, false, err
	}
	column, ok := AuditSorts[f.SortBy]
	if !ok {
		column = "created_at"
	}
	dir := "DESC"
	if f.Ascending {
		dir = "ASC"
	}
	order := " " + dir
	switch column {
	case "user_id": // the dialects sort NULL differently
		order += " NULLS LAST"
	case "action", "entity_type":
		order += ", created_at " + dir // as the index has it
	}
	rows, err = All(ctx, c, scanAudit, fmt.Sprintf(`SELECT %s FROM audit_logs WHERE %s ORDER BY %s%s, seq %s LIMIT ? OFFSET ?`, auditColumns, cond, column, order, dir),
		append(args, f.Limit, f.Offset)...)
	return rows, total, exact, err
}

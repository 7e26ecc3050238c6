package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
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
	err = row.Scan(&r.Seq, &r.ID, &r.UserID, &r.Action, &r.EntityType, &r.EntityID, &r.Old, &r.New, &r.IP, &r.UserAgent, &r.Metadata,
		&r.CreatedAt, &r.Hash, &r.MAC, orZero(&r.Workspace))
	return r, err
}

// LockAudit serializes writers of the audit log until they commit. SQLite needs no lock: it has one writer.
func (tx *Tx) LockAudit(ctx context.Context) error {
	if !tx.pg {
		return nil
	}
	return tx.Do(ctx, `SELECT pg_advisory_xact_lock(7305519642)`)
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
	return tx.Do(ctx, `INSERT INTO audit_logs (`+auditColumns+`) VALUES (`+In(15)+`)`,
		r.Seq, r.ID, r.UserID, r.Action, r.EntityType, r.EntityID, r.Old, r.New, r.IP, r.UserAgent, r.Metadata, r.CreatedAt, r.Hash, r.MAC,
		null(r.Workspace))
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
	rare := ""
	few := MaxTotal
	for _, eq := range []struct {
		column, index string
		value         any
		set           bool
	}{
		{"action", "action", f.Action, f.Action != ""}, {"entity_type", "type", f.EntityType, f.EntityType != ""},
		{"entity_id", "by_entity", f.EntityID, f.EntityID != ""},
		{"user_id", "user", f.UserID, f.UserID != ""}, {"workspace_num", "workspace", f.Workspace, f.Workspace != 0},
	} {
		if !eq.set {
			continue
		}
		where, args = append(where, eq.column+" = ?"), append(args, eq.value)
		if c.pg {
			continue
		}
		// SQLite has no statistics and would choose any index.
		n, err := c.countRows(ctx, few, `SELECT 1 FROM audit_logs INDEXED BY audit_logs_`+eq.index+` WHERE `+eq.column+` = ?`,
			[]any{eq.value})
		if err != nil {
			return nil, 0, false, err
		}
		if n <= few {
			rare, few = " INDEXED BY audit_logs_"+eq.index, n
		}
	}
	if f.From > 0 {
		where, args = append(where, "created_at >= ?"), append(args, f.From)
	}
	if f.To > 0 {
		where, args = append(where, "created_at < ?"), append(args, f.To)
	}
	cond := strings.Join(where, " AND ")
	if len(args) == 0 { // rows are never deleted and their numbers have no gaps
		err = c.Row(ctx, `SELECT coalesce((SELECT max(seq) FROM audit_logs), 0) - coalesce((SELECT min(seq) FROM audit_logs), 1) + 1`).
			Scan(&total)
		exact = true
	} else {
		total, err = c.countRows(ctx, MaxTotal, `SELECT 1 FROM audit_logs`+rare+` WHERE `+cond, args)
		if exact = total <= MaxTotal; !exact {
			total = MaxTotal
		}
	}
	if err != nil {
		return nil, 0, false, err
	}
	rows, err = c.auditPage(ctx, &f, rare, exact && len(args) > 0, cond, args)
	return rows, total, exact, err
}

// auditPage reads a page of the rows that a condition selects. rare names the index of SQLite by which few rows are found, if
// there is one. few says that the condition selects few rows.
func (c Conn) auditPage(ctx context.Context, f *AuditFilter, rare string, few bool, cond string, args []any) ([]AuditRow, error) {
	column, ok := AuditSorts[f.SortBy]
	if !ok {
		column = "created_at"
	}
	dir := " DESC"
	if f.Ascending {
		dir = " ASC"
	}
	order := column + dir + ", created_at" + dir + ", seq" + dir // as the index has it
	switch column {
	case "created_at":
		order = "created_at" + dir + ", seq" + dir
	case "user_id": // the dialects sort NULL differently
		order = "user_id" + dir + " NULLS LAST, seq" + dir
	}
	if column == "action" && f.Action != "" || column == "entity_type" && f.EntityType != "" { // all are equal
		order = "created_at" + dir + ", seq" + dir
	}
	byUser := ` INDEXED BY audit_logs_by_user`
	if c.pg {
		byUser = ``
	}
	from, where, given := `audit_logs`, cond, args
	switch {
	case few && c.pg: // OFFSET 0 keeps the planner from reading all rows in order
		from, where = `(SELECT * FROM audit_logs WHERE `+cond+` OFFSET 0) AS audit_logs`, `1 = 1`
	case rare != "":
		from = `audit_logs` + rare
	case column == "user_id" && f.UserID != "": // all are equal
		from, order = `audit_logs`+byUser, "seq"+dir
	case column == "user_id":
		// An index has NULL at one end, so each part comes from the index by itself.
		most := f.Offset + f.Limit
		part := `SELECT * FROM (SELECT seq, user_id FROM audit_logs` + byUser + ` WHERE ` + cond + ` AND user_id IS `
		from, where = `(`+part+`NOT NULL ORDER BY user_id`+dir+`, seq`+dir+` LIMIT ?) AS named UNION ALL `+part+`NULL ORDER BY seq`+dir+
			` LIMIT ?) AS unnamed) AS audit_logs`, `1 = 1`
		given = slices.Concat(args, []any{most}, args, []any{most})
	}
	return All(ctx, c, scanAudit, `SELECT `+auditColumns+` FROM audit_logs WHERE seq IN (SELECT seq FROM `+from+` WHERE `+where+
		` ORDER BY `+
		order+` LIMIT ? OFFSET ?) ORDER BY `+order,
		append(slices.Clone(given), f.Limit, f.Offset)...)
}
